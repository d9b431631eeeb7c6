#include "engine/stepping/pair_delays.hpp"

#include <algorithm>
#include <tuple>

namespace ranvier::engine {

namespace {

/// The shortest delays from each shard to one; 0 without synapses.
class LeastDelays {
   public:
    explicit LeastDelays(const connect::ProcessLayout& layout) : layout_(layout), least_(layout.shards().size(), 0) {}

    void add(const connect::SynapseTable& table) {
        for (std::uint32_t row = 0; row < table.rows(); ++row) {
            if (!sends_spikes(table, RowIndex{row})) continue;
            const NeuronId source = table.source(RowIndex{row});
            if (!layout_.owns(source)) continue;
            Step& least = least_[layout_.shard_of(source).value];
            // Skips rows once the shortest delay of the table is reached, as for most pairs.
            if (least != 0 && least <= static_cast<Step>(table.least_delay())) continue;
            const Step delay = table.least_delay_of(RowIndex{row});
            least = least == 0 ? delay : std::min(least, delay);
        }
    }
    std::span<const Step> get() const { return least_; }

   private:
    const connect::ProcessLayout& layout_;
    std::vector<Step> least_;
};

constexpr auto comes_first = [](const PairDelays::Pair& a, const PairDelays::Pair& b) {
    return std::tie(a.least, a.shard) < std::tie(b.least, b.shard);
};

}  // namespace

PairDelays::PairDelays(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout,
                       parallel::Team& team, const RemotePairs& remote)
    : sources_(shards.size()), targets_(shards.size() + remote.routes.inlets.size()), within_shards_(shards.size(), 0) {
    const auto count = static_cast<std::uint32_t>(shards.size());
    for (const RemotePairs::Reader& reader : remote.readers) {
        sources_[reader.shard].push_back({.shard = count + reader.inlet, .least = reader.least});
    }
    const auto find = [&](std::uint32_t shard) {
        LeastDelays delays(layout);
        for (const auto& table : shards[shard]->synapses().tables()) {
            if (table) delays.add(*table);
        }
        for (std::uint32_t source = 0; source < count; ++source) {
            const Step least = delays.get()[source];
            if (least == 0) continue;
            if (source == shard) {
                within_shards_[shard] = least;
            } else {
                sources_[shard].push_back({.shard = source, .least = least});
            }
        }
        std::ranges::sort(sources_[shard], comes_first);
    };
    team.run([&](std::uint32_t worker) { team.for_assigned_items(worker, count, find); });
    for (std::uint32_t shard = 0; shard < count; ++shard) {
        for (const Pair& pair : sources_[shard]) targets_[pair.shard].push_back(shard);
    }
}

bool PairDelays::is_lockstep(std::uint64_t all) const {
    const auto hears_at_once = [this](std::uint32_t shard, std::uint32_t source) {
        // Sorted by shortest delay, then by shard.
        const Pair wanted{.shard = source, .least = 1};
        return std::ranges::binary_search(sources_[shard], wanted, comes_first);
    };
    if (all > sources_.size()) {
        // Targets on other processes are not listed here.
        return std::ranges::all_of(sources_, [all](const std::vector<Pair>& pairs) {
            return pairs.size() + 1 == all &&
                   std::ranges::all_of(pairs, [](const Pair& pair) { return pair.least == 1; });
        });
    }
    bool is_connected = sources_.size() == 1;
    for (std::uint32_t shard = 0; shard < sources_.size(); ++shard) {
        if (sources_[shard].empty()) continue;
        is_connected = true;
        const bool has_partner = std::ranges::any_of(
            sources_[shard], [&](const Pair& pair) { return pair.least == 1 && hears_at_once(pair.shard, shard); });
        if (!has_partner) return false;
    }
    return is_connected;
}

}  // namespace ranvier::engine
