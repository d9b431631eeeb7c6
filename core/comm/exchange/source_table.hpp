#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/redistribution.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::comm {

/// The name of a source in messages with the same content for all receivers: unique on its process.
constexpr std::uint64_t source_name(std::uint32_t shard, std::uint32_t local) {
    return std::uint64_t{shard} << 32 | local;
}
static_assert(ArrivedSpike::address_bits >= 48, "16 bits of a shard and 32 of a source must fit an address");

/// Values for the sources of other processes, by process and name: lists of values, stored consecutively. The size is
/// that of the lists, not of the number of processes.
template <class Value>
class SourceTable {
   public:
    /// A record that one process sends to another about one of its sources.
    struct Record {
        std::uint64_t name;
        Value value;
    };
    /// Fills the table.
    /// @param visit visit(shard, local, give), called once for every source of this process, calls give(rank, value)
    /// @note Collective. Buffers are bounded, except that the values of one source are sent together.
    template <class Visit>
    SourceTable(Communicator& communicator, const Destinations& destinations, const ExchangeOptions& options,
                Visit visit) {
        std::vector<Incoming> incoming;
        std::vector<Outgoing> outgoing;
        Redistribution<Record> exchange(communicator, options.buffer_bytes);
        const std::uint64_t most = std::max<std::uint64_t>(1, options.buffer_bytes / sizeof(Outgoing));
        std::uint32_t shard = 0;
        std::uint32_t local = 0;
        const auto skip_finished_shards = [&] {
            while (shard < options.workers && local == destinations.sources(shard)) {
                ++shard;
                local = 0;
            }
        };
        for (skip_finished_shards(); communicator.greatest(shard < options.workers ? 1 : 0) == 1;) {
            while (shard < options.workers && outgoing.size() < most) {
                const std::uint64_t name = source_name(shard, local);
                visit(shard, local, [&](Rank to, const Value& value) { outgoing.push_back({to, {name, value}}); });
                ++local;
                skip_finished_shards();
            }
            send(exchange, outgoing, static_cast<std::size_t>(communicator.size()), incoming);
            outgoing.clear();
        }
        build(incoming);
    }

    std::span<const Value> find(Rank from, std::uint64_t name) const {
        const auto process = std::lower_bound(processes_.begin(), processes_.end(), from,
                                              [](const Process& a, Rank b) { return a.rank < b; });
        if (process == processes_.end() || process->rank != from) return {};
        const auto end = names_.begin() + static_cast<std::ptrdiff_t>(process->end);
        const auto found = std::lower_bound(names_.begin() + static_cast<std::ptrdiff_t>(process->begin), end, name);
        if (found == end || *found != name) return {};
        const auto list = static_cast<std::size_t>(found - names_.begin());
        return std::span(values_).subspan(offsets_[list], offsets_[list + 1] - offsets_[list]);
    }

    std::uint64_t bytes() const {
        return bytes_of(processes_) + bytes_of(names_) + bytes_of(offsets_) + bytes_of(values_);
    }

   private:
    struct Outgoing {
        Rank to;
        Record record;
    };
    struct Incoming {
        Rank from;
        Record record;
    };
    struct Process {
        Rank rank;
        std::size_t begin;  ///< of its names
        std::size_t end;
    };

    static void send(Redistribution<Record>& exchange, std::vector<Outgoing>& outgoing, std::size_t ranks,
                     std::vector<Incoming>& incoming) {
        std::stable_sort(outgoing.begin(), outgoing.end(),
                         [](const Outgoing& a, const Outgoing& b) { return a.to < b.to; });
        std::vector<Record> records;
        records.reserve(outgoing.size());
        std::vector<std::uint64_t> counts(ranks);
        for (const Outgoing& item : outgoing) {
            records.push_back(item.record);
            ++counts[static_cast<std::size_t>(item.to.value)];
        }
        exchange.run(records, counts, [&](const Redistribution<Record>::Piece& piece) {
            for (const Record& record : piece.records) incoming.push_back({piece.from, record});
        });
    }

    void build(std::vector<Incoming>& incoming) {
        const auto key = [](const Incoming& item) { return std::tuple(item.from, item.record.name); };
        // Values of one list keep their order.
        std::stable_sort(incoming.begin(), incoming.end(),
                         [&](const Incoming& a, const Incoming& b) { return key(a) < key(b); });
        values_.reserve(incoming.size());
        for (std::size_t i = 0; i < incoming.size(); ++i) {
            const bool other_process = i == 0 || incoming[i].from != incoming[i - 1].from;
            if (other_process) {
                if (i > 0) processes_.back().end = names_.size();
                processes_.push_back({incoming[i].from, names_.size(), 0});
            }
            if (other_process || incoming[i].record.name != incoming[i - 1].record.name) {
                names_.push_back(incoming[i].record.name);
                offsets_.push_back(values_.size());
            }
            values_.push_back(incoming[i].record.value);
        }
        if (!processes_.empty()) processes_.back().end = names_.size();
        offsets_.push_back(values_.size());
        processes_.shrink_to_fit();
        names_.shrink_to_fit();
        offsets_.shrink_to_fit();
    }

    std::vector<Process> processes_;
    std::vector<std::uint64_t> names_;  ///< of the sources, ascending for each process
    std::vector<std::size_t> offsets_;  ///< of their lists, and the end
    std::vector<Value> values_;
};

}  // namespace ranvier::comm
