#include "engine/stepping/remote_pairs.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "comm/redistribution.hpp"

namespace ranvier::engine {

namespace {

/// Sent to the process of the source of a row.
struct TargetRow {
    std::uint64_t place = 0;  ///< index of the source on its process
    std::uint32_t shard = 0;  ///< location of the row
    DelaySteps least = 0;
};

/// Sent back to the process of the targets.
struct ShardPair {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    Step least = 0;
};

/// Iterates over the rows of a shard, a part at a time.
class RowWalk {
   public:
    explicit RowWalk(const Shard& shard) : shard_(shard) {}

    bool is_over() const { return kind_ == shard_.synapses().tables().size(); }
    /// Visits at most a number of rows whose sources are on other processes.
    template <class Visit>
    void go_on(const connect::ProcessLayout& layout, std::uint64_t most, Visit visit) {
        for (; !is_over(); ++kind_, row_ = 0) {
            const connect::SynapseTable* const table = shard_.synapses().tables()[kind_].get();
            if (table == nullptr) continue;
            for (; row_ < table->rows(); ++row_) {
                const RowIndex row{row_};
                if (!sends_spikes(*table, row)) continue;
                const NeuronId source = table->source(row);
                if (layout.owns(source)) continue;
                if (most-- == 0) return;
                visit(source, table->least_delay_of(row));
            }
        }
    }

   private:
    const Shard& shard_;
    std::size_t kind_ = 0;
    std::uint32_t row_ = 0;
};

/// The least delays of pairs of shards, by rank of the target, collected on the rank of the source.
using PairsByRank = std::map<Rank, std::unordered_map<std::uint64_t, Step>>;

struct ListedRow {
    Rank rank;
    TargetRow row;
};

/// Records for other processes, sorted by rank.
template <class Record>
class Packed {
   public:
    explicit Packed(std::int32_t ranks) : counts_(static_cast<std::size_t>(ranks), 0) {}

    /// @param listed pairs of a rank and a record, ascending by rank
    template <class List, class RankOf, class RecordOf>
    void pack(const List& listed, RankOf rank_of, RecordOf record_of) {
        records_.clear();
        std::ranges::fill(counts_, 0);
        for (const auto& item : listed) {
            records_.push_back(record_of(item));
            ++counts_[static_cast<std::size_t>(rank_of(item).value)];
        }
    }
    std::span<const Record> records() const { return records_; }
    std::span<const std::uint64_t> counts() const { return counts_; }

   private:
    std::vector<Record> records_;
    std::vector<std::uint64_t> counts_;
};

PairsByRank collect_pairs(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout,
                          comm::Communicator& communicator, std::uint64_t buffer_bytes, parallel::Team& team) {
    PairsByRank pairs;
    std::vector<RowWalk> walks;
    for (const auto& shard : shards) walks.emplace_back(*shard);
    const auto count = static_cast<std::uint32_t>(shards.size());
    // Lists, packed, sent and received records.
    const std::uint64_t most =
        std::max<std::uint64_t>(1, buffer_bytes / 4 / sizeof(ListedRow) / std::max<std::uint32_t>(1, count));
    std::vector<std::vector<ListedRow>> listed(count);
    std::vector<ListedRow> all;
    Packed<TargetRow> packed(communicator.size());
    comm::Redistribution<TargetRow> exchange(communicator, buffer_bytes / 4);
    const auto is_over = [](const RowWalk& walk) { return walk.is_over(); };
    while (communicator.greatest(std::ranges::all_of(walks, is_over) ? 0 : 1) == 1) {
        team.run([&](std::uint32_t worker) {
            team.for_assigned_items(worker, count, [&](std::uint32_t shard) {
                listed[shard].clear();
                walks[shard].go_on(layout, most, [&](NeuronId source, DelaySteps least) {
                    const auto [rank, place] = layout.placement().locate(source);
                    listed[shard].push_back({rank, {place, shard, least}});
                });
            });
        });
        all.clear();
        for (const std::vector<ListedRow>& of_shard : listed) all.insert(all.end(), of_shard.begin(), of_shard.end());
        std::ranges::stable_sort(all, {}, &ListedRow::rank);
        packed.pack(
            all, [](const ListedRow& item) { return item.rank; }, [](const ListedRow& item) { return item.row; });
        exchange.run(packed.records(), packed.counts(), [&](const comm::Redistribution<TargetRow>::Piece& piece) {
            std::unordered_map<std::uint64_t, Step>& of_rank = pairs[piece.from];
            for (const TargetRow& row : piece.records) {
                const NeuronId source = layout.placement().id_at(layout.rank(), row.place);
                const std::uint64_t key = std::uint64_t{layout.shard_of(source).value} << 32 | row.shard;
                const auto least = static_cast<Step>(row.least);
                const auto [found, is_new] = of_rank.try_emplace(key, least);
                if (!is_new) found->second = std::min(found->second, least);
            }
        });
    }
    return pairs;
}

struct RankedPair {
    Rank rank;
    ShardPair pair;
};

/// Sorted by rank, source and target.
std::vector<RankedPair> sorted_pairs(const PairsByRank& pairs) {
    std::vector<RankedPair> sorted;
    for (const auto& [rank, of_rank] : pairs) {
        const auto begin = static_cast<std::ptrdiff_t>(sorted.size());
        for (const auto& [key, least] : of_rank) {
            sorted.push_back(
                {rank, {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key & UINT32_MAX), least}});
        }
        std::sort(sorted.begin() + begin, sorted.end(), [](const RankedPair& a, const RankedPair& b) {
            return std::pair(a.pair.source, a.pair.target) < std::pair(b.pair.source, b.pair.target);
        });
    }
    return sorted;
}

/// Whether a pair has the same route as the previous one.
bool shares_way(comm::Notifications notifications, const ShardPair& pair, const ShardPair& before) {
    return notifications == comm::Notifications::packed && pair.source == before.source;
}

}  // namespace

RemotePairs find_remote_pairs(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout,
                              comm::Communicator& communicator, comm::Notifications notifications,
                              std::uint64_t buffer_bytes, parallel::Team& team) {
    const std::vector<RankedPair> pairs = sorted_pairs(collect_pairs(shards, layout, communicator, buffer_bytes, team));
    RemotePairs result;
    result.routes.groups = static_cast<std::uint32_t>(shards.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& [rank, pair] = pairs[i];
        std::vector<comm::ProgressOutlet>& outlets = result.routes.outlets;
        if (i > 0 && pairs[i - 1].rank == rank && shares_way(notifications, pair, pairs[i - 1].pair)) {
            outlets.back().delay = std::min(outlets.back().delay, pair.least);
        } else {
            outlets.push_back({.group = pair.source, .to = rank, .delay = pair.least});
        }
    }
    Packed<ShardPair> packed(communicator.size());
    packed.pack(
        pairs, [](const RankedPair& item) { return item.rank; }, [](const RankedPair& item) { return item.pair; });
    // The pairs of one process may arrive in several rounds, in order.
    std::map<Rank, std::vector<ShardPair>> arrived;
    comm::Redistribution<ShardPair> exchange(communicator, buffer_bytes / 4);
    exchange.run(packed.records(), packed.counts(), [&](const comm::Redistribution<ShardPair>::Piece& piece) {
        std::vector<ShardPair>& from = arrived[piece.from];
        from.insert(from.end(), piece.records.begin(), piece.records.end());
    });
    for (const auto& [rank, of_rank] : arrived) {
        for (std::size_t i = 0; i < of_rank.size(); ++i) {
            const ShardPair& pair = of_rank[i];
            if (i == 0 || !shares_way(notifications, pair, of_rank[i - 1])) result.routes.inlets.push_back(rank);
            result.readers.push_back({.inlet = static_cast<std::uint32_t>(result.routes.inlets.size() - 1),
                                      .shard = pair.target,
                                      .least = pair.least});
        }
    }
    return result;
}

}  // namespace ranvier::engine
