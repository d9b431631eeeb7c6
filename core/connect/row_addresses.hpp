#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "connect/layout.hpp"
#include "connect/projection_plan.hpp"
#include "connect/table_builder.hpp"

namespace ranvier::connect {

/// What the rows of a process are called by others: the *address* that comes with a spike.
///
/// Where rows are dense, that is where most sources have targets on most shards, the address is the id of the source: one
/// for all shards, each of which finds its row by arithmetic. Elsewhere the rows of all tables are counted through, shard
/// by shard and receptor by receptor, and a source has an address for each table that it reaches: mostly one.
class RowAddresses {
   public:
    RowAddresses() = default;
    /// @param tables of each shard; they must outlive the addresses
    RowAddresses(RowNumbering numbering, std::span<const ProjectionPlan> plans, std::vector<const ShardTables*> tables);

    bool are_sources() const { return numbering_ == RowNumbering::dense; }
    /// One more than the largest address.
    std::uint64_t limit() const { return limit_; }
    /// Address of the first row of a table; those of its other rows follow. @pre !are_sources()
    std::uint64_t first(std::uint32_t shard, std::uint32_t receptor) const {
        return firsts_[shard * TableBuilder::receptors + receptor];
    }

    /// How many addresses there could be: what visit() counts through.
    std::uint64_t candidates() const { return candidates_; }
    struct Entry {
        NeuronId source;
        std::uint64_t address = 0;
    };
    /// Appends those of the candidates [begin, end) that exist. Safe to call from several threads.
    void list(std::uint64_t begin, std::uint64_t end, std::vector<Entry>& entries) const;

   private:
    void list_sources(std::uint64_t begin, std::uint64_t end, std::vector<Entry>& entries) const;

    RowNumbering numbering_ = RowNumbering::dense;
    std::vector<const ShardTables*> tables_;
    RowMap sources_;  ///< of all projections
    std::vector<std::uint64_t> firsts_;
    std::uint64_t limit_ = 0;
    std::uint64_t candidates_ = 0;
};

}  // namespace ranvier::connect
