#pragma once

#include <cstdint>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::connect {

/// The names of a process's rows for other processes: the *address* sent with a spike.
///
/// Where rows are dense, that is where most sources have targets on most shards, the address is the id of the source:
/// one for all shards, each of which finds its row by arithmetic. Otherwise the rows of all tables are numbered, shard
/// by shard and kind by kind, and a source has an address for each table that it reaches, usually one.
class RowAddresses {
   public:
    RowAddresses() = default;
    /// @param tables of each shard; they must outlive the addresses
    RowAddresses(RowNumbering numbering, const NetworkPlan& network, std::vector<const ShardTables*> tables);

    bool are_sources() const { return numbering_ == RowNumbering::dense; }
    /// One more than the largest address.
    std::uint64_t limit() const { return limit_; }
    struct Place {
        std::uint32_t table = 0;  ///< shard * tables per shard + index among these
        RowIndex row;
    };
    /// The table and row of an address. @pre address < limit(), !are_sources()
    Place find(std::uint64_t address) const {
        // Without branches: addresses come in unpredictable order.
        std::size_t table = 0;
        for (std::size_t rest = firsts_.size(); rest > 1;) {
            const std::size_t half = rest / 2;
            table = firsts_[table + half] <= address ? table + half : table;
            rest -= half;
        }
        return {static_cast<std::uint32_t>(table), RowIndex{static_cast<std::uint32_t>(address - firsts_[table])}};
    }

    /// Greatest possible number of addresses: the range of list().
    std::uint64_t candidates() const { return candidates_; }
    struct Entry {
        NeuronId source;
        std::uint64_t address = 0;
    };
    /// Appends those of the candidates [begin, end) that exist. Thread-safe.
    void list(std::uint64_t begin, std::uint64_t end, std::vector<Entry>& entries) const;

   private:
    void list_sources(std::uint64_t begin, std::uint64_t end, std::vector<Entry>& entries) const;

    RowNumbering numbering_ = RowNumbering::dense;
    std::vector<const ShardTables*> tables_;
    std::size_t kinds_ = 0;  ///< tables of a shard
    RowMap sources_;  ///< of all projections
    std::vector<std::uint64_t> firsts_;
    std::uint64_t limit_ = 0;
    std::uint64_t candidates_ = 0;
};

}  // namespace ranvier::connect
