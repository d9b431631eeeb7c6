#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <vector>

#include "connect/tables/network_plan.hpp"
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
    double resolution = 0.1;     ///< ms
    bool double_weights = false;  ///< store weights in double precision
    TableLayout layout = TableLayout::automatic;
    /// Call the code that was compiled for synapses of equations and this instruction set, where there is such.
    bool compiled_rules = false;
    /// How rows are numbered; chosen when not given: dense where most of the possible sources have targets on this process.
    std::optional<RowNumbering> numbering = std::nullopt;
    bool keep_sources = true;  ///< after the presynaptic tables have been built
    std::uint64_t buffer_bytes = std::uint64_t{128} << 20;  ///< of what goes to other processes at a time
};

/// Where the tables of a shard take their memory from, which must outlive them.
struct TableMemory {
    std::pmr::memory_resource* synapses = page_memory();
    std::pmr::memory_resource* spikes = page_memory();  ///< lists of those that have not reached all of their targets
};

/// The tables of one shard, by kind, null where there are no synapses of a kind; and then those of transmitters, which have
/// no synapses.
using ShardTables = std::vector<std::unique_ptr<SynapseTable>>;

/// Builds the synapses of all shards of a process. Each worker builds those that belong to it (Team::for_assigned_items()).
///
/// It goes over the rules twice, so that the tables are written in place and nothing but the tables is ever held: the
/// first counts the synapses of each row, the second draws the same synapses again and stores them. `finish` then sorts
/// the rows by delay. Which synapses there are, and their order within a row, does not depend on the number of shards
/// or processes.
///
/// Synapses that are drawn by target are drawn where the target lives. Those that are drawn by source are drawn anywhere, by
/// each process and worker in its share of the sources, and handed to where the target lives, in rounds of bounded size.
class TableBuilder {
   public:
    /// @param network must outlive the builder, like the layout and the team
    TableBuilder(const NetworkPlan& network, const ProcessLayout& layout, BuildOptions options, parallel::Team& team,
                 std::shared_ptr<comm::Communicator> communicator);
    ~TableBuilder();

    /// How the rows of all tables of this process are numbered.
    RowNumbering numbering() const;
    using MemoryOfShard = std::function<TableMemory(std::uint32_t shard)>;
    /// @note Called by all workers of the team together, and on all processes. @throws Cancelled when the team was told to stop.
    void build(std::uint32_t worker, const MemoryOfShard& memory_of = [](std::uint32_t) { return TableMemory{}; });
    /// The range of the weights of a projection (by its place in the list) onto a receptor, as stored on this process,
    /// without the numbers of inputs. @note After build.
    WeightRange weights(std::size_t plan, std::uint32_t receptor) const;
    /// Most synapses of all kinds onto a receptor that a neuron of this process has; see WeightRange. @note After build.
    std::uint64_t most_inputs(std::uint32_t receptor) const;
    /// @param quanta by kind, what synapses that learn add to the inputs is rounded to these
    /// @note Called by each worker for each of its own shards, after build.
    ShardTables finish(std::uint32_t shard, std::span<const double> quanta = {});

   private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace ranvier::connect
