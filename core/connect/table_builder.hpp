#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/instruction_set.hpp"
#include "connect/layout.hpp"
#include "connect/projection_plan.hpp"
#include "connect/table.hpp"
#include "parallel/team.hpp"

namespace ranvier::connect {

/// How tables deliver spikes; see RunTable and RingTable.
enum class TableLayout : std::uint8_t { automatic, runs, ring };

struct BuildOptions {
    InstructionSet instruction_set = InstructionSet::baseline;
    double resolution = 0.1;     ///< ms
    bool double_weights = false;  ///< store weights in double precision
    TableLayout layout = TableLayout::automatic;
};

/// The tables of one shard, by receptor; null where a receptor has no synapses.
using ShardTables = std::vector<std::unique_ptr<SynapseTable>>;

/// Builds the synapses of all shards, one worker each.
///
/// Two passes over the rules, so that the tables are written in place and nothing but them is ever held: the first counts
/// the synapses of each row, the second draws the same synapses again and stores them. `finish` then sorts the rows by
/// delay. Which synapses there are, and their order within a row, does not depend on the number of shards.
class TableBuilder {
   public:
    static constexpr std::uint32_t receptors = 2;

    TableBuilder(std::span<const ProjectionPlan> plans, std::span<const ShardLayout> layouts, BuildOptions options,
                 parallel::Team& team);
    ~TableBuilder();

    /// @note Called by all workers of the team together. @throws Cancelled when the team was told to stop.
    void build(std::uint32_t worker);
    /// @note Called by each worker for its own shard, after build.
    ShardTables finish(std::uint32_t worker);

   private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// Bytes that the tables of all shards of a process take, when built and while they are being built.
struct TableEstimate {
    double final_bytes = 0.0;
    double peak_bytes = 0.0;
    DelaySteps reach = 0;  ///< longest delay of those tables that would deliver through a ring
};
TableEstimate estimate_tables(std::span<const ProjectionPlan> plans, std::span<const ShardLayout> layouts,
                              const BuildOptions& options);

}  // namespace ranvier::connect
