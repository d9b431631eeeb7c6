#include "ranvier/connect/placement/input_layout.hpp"

#include <algorithm>
#include <string>

#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

InputLayout::InputLayout(const ShardLayout& shard, std::span<const std::uint32_t> sites)
    : shard_(&shard), size_(shard.size()) {
    std::uint64_t end = 0;
    for (std::size_t population = 0; population < sites.size(); ++population) {
        end = (end + ShardLayout::alignment - 1) / ShardLayout::alignment * ShardLayout::alignment;
        parts_.push_back({static_cast<std::uint32_t>(end), sites[population]});
        end += shard.shares()[population].ids.size() * sites[population];
        if (end <= UINT32_MAX) continue;
        throw ValueOutOfBoundsError({.object = "sites of a receptor on one shard",
                                     .value = std::to_string(end),
                                     .bound = "a shard holds at most 4294967295",
                                     .remedy = "use more threads or processes, or fewer sites"});
    }
    if (has_sites()) size_ = static_cast<std::uint32_t>(end);
}

InputLayout::Site InputLayout::site(std::uint32_t input) const {
    if (!has_sites()) return {LocalIndex{input}, 0};
    // Populations without inputs start where the next one does.
    const auto after = std::ranges::upper_bound(parts_, input, {}, [](const Part& part) { return part.first; });
    const auto population = static_cast<std::size_t>(after - parts_.begin()) - 1;
    const Part& part = parts_[population];
    const std::uint32_t place = input - part.first;
    return {LocalIndex{shard_->shares()[population].offset + place / part.sites}, place % part.sites};
}

void InputLayout::copy_neurons(std::span<std::uint32_t> neurons) const {
    std::ranges::fill(neurons, 0U);
    for (std::uint32_t population = 0; population < shard_->shares().size(); ++population) {
        const ShardLayout::PopulationShare& share = shard_->shares()[population];
        const std::uint32_t sites = this->sites(PopulationId{population});
        std::uint32_t input = first(PopulationId{population});
        for (std::uint32_t i = 0; i < share.ids.size(); ++i) {
            for (std::uint32_t site = 0; site < sites; ++site) neurons[input++] = share.offset + i;
        }
    }
}

}  // namespace ranvier::connect
