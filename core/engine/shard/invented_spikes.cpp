#include "engine/shard/invented_spikes.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"

namespace ranvier::engine {

InventedSpikes::InventedSpikes(const connect::ShardLayout& layout, std::span<const Sender> senders, std::uint64_t seed,
                               std::pmr::memory_resource* memory)
    : key_(make_key(seed, Purpose::invented_spikes, 0)), queue_(memory) {
    for (const Sender& sender : senders) {
        if (sender.rate == 0.0) continue;
        const connect::ShardLayout::PopulationShare& share = layout.share(sender.population);
        const auto size = static_cast<std::uint32_t>(share.ids.size());
        for (std::uint32_t i = 0; i < size; ++i) {
            Next next{.rate = sender.rate,
                      .neuron = share.ids[i],
                      .local = share.offset + i,
                      .stride = static_cast<std::uint32_t>(sender.stride)};
            draw(next);
            queue_.push_back(next);
        }
    }
    std::make_heap(queue_.begin(), queue_.end(), is_later);
}

void InventedSpikes::append(Step step, std::uint32_t lag, std::pmr::vector<comm::EmittedSpike>& outbox) {
    while (!queue_.empty() && queue_.front().step <= step) {
        std::pop_heap(queue_.begin(), queue_.end(), is_later);
        Next& next = queue_.back();
        outbox.push_back({next.neuron, next.local, lag});
        draw(next);
        std::push_heap(queue_.begin(), queue_.end(), is_later);
    }
}

void InventedSpikes::draw(Next& next) const {
    constexpr double never = 0x1p60;  // later than any step of a simulation
    const RandomStream random{.key = key_, .stream = next.neuron.value};
    next.time -= math::log(to_open_unit(random.word64(next.drawn++))) / next.rate;
    const auto stride = static_cast<double>(next.stride);
    next.step = static_cast<Step>(std::ceil(std::min(next.time, never) / stride)) * next.stride;
}

}  // namespace ranvier::engine
