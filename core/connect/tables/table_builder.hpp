#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/synapse_weights.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/page_memory.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/connect/tables/input_sums.hpp"
#include "ranvier/connect/tables/table.hpp"
#include "ranvier/connect/tables/table_choices.hpp"
#include "ranvier/connect/tables/table_columns.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::connect {

struct BuildOptions {
    InstructionSet instruction_set = InstructionSet::baseline;
    double resolution = 0.1;      ///< ms
    bool double_weights = false;  ///< store weights in double precision
    TableLayout layout = TableLayout::automatic;
    bool divides_rows = false;  ///< into parts that are delivered by several threads; see DividedDelivery
    /// Call compiled code for synapses from equations and this instruction set, if available.
    bool compiled_rules = false;
    /// Numbering of rows; chosen if not given: dense if most of the possible sources have targets on this process.
    std::optional<RowNumbering> numbering = std::nullopt;
    /// By projection: whether a device draws its synapses, so that the process has no tables of them. Empty: none.
    std::vector<bool> drawn = {};
    bool keep_sources = true;  ///< after the presynaptic tables have been built
    std::uint64_t buffer_bytes = std::uint64_t{128} << 20;  ///< limit of the data sent to other processes at a time
};

/// The memory resources of the tables of a shard, which must outlive them.
struct TableMemory {
    std::pmr::memory_resource* synapses = page_memory();
    std::pmr::memory_resource* spikes = page_memory();  ///< lists of spikes that have not reached all of their targets
};

/// The tables of one shard, by kind, null for kinds without synapses; then those of transmitters, which have no
/// synapses.
using ShardTables = std::vector<std::unique_ptr<SynapseTable>>;

/// Builds the synapses of all shards of a process. Each worker builds those of its shards (Team::for_assigned_items()).
///
/// The rules are evaluated twice, so that the tables are written in place and no other copy is needed: the first pass
/// counts the synapses of each row, the second draws the same synapses again and stores them; partners that take long to
/// draw are kept for it in part (KeptPartners). `finish` then sorts the rows by delay. The synapses, and their order within a row, do not depend on the number of shards or processes.
///
/// Synapses drawn by target are drawn on the target's shard. Those drawn by source are drawn by each process and worker
/// for its share of the sources, and sent to the target's shard, in rounds of bounded size.
class TableBuilder final : public SynapseWeights {
   public:
    /// @param network must outlive the builder, like the layout and the team
    TableBuilder(const NetworkPlan& network, const ProcessLayout& layout, BuildOptions options, parallel::Team& team,
                 std::shared_ptr<comm::Communicator> communicator);
    ~TableBuilder();

    /// Numbering of the rows of all tables of this process.
    RowNumbering numbering() const;
    /// Keeps what inputs() returns. Called before build.
    void keep_inputs();
    using MemoryOfShard = std::function<TableMemory(std::uint32_t shard)>;
    /// @note Called by all workers of the team together, and on all processes. @throws Cancelled when a stop was
    /// requested.
    void build(std::uint32_t worker, const MemoryOfShard& memory_of = [](std::uint32_t) { return TableMemory{}; });
    /// @note Called after build, like most_inputs().
    WeightRange weights(std::size_t plan, std::uint32_t receptor) const override;
    std::uint64_t most_inputs(std::uint32_t receptor) const override;
    /// Synapses onto a receptor by neuron of a shard, as most_inputs() counts them; empty without tables. @pre keep_inputs()
    std::span<const std::uint64_t> inputs(std::uint32_t shard, std::uint32_t receptor) const;
    /// The static tables of a shard, which finish() then leaves out; called before it.
    ShardTables finish_static(std::uint32_t shard);
    /// @param quanta by kind, grid of the contributions of plastic synapses to inputs
    /// @note Called by each worker for each of its shards, after build.
    ShardTables finish(std::uint32_t shard, std::span<const double> quanta = {});

   private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace ranvier::connect
