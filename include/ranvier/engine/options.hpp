#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/choice.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/comm/exchange/exchange_choice.hpp"
#include "ranvier/comm/progress/notifications.hpp"
#include "ranvier/connect/placement/placement.hpp"
#include "ranvier/connect/tables/table_choices.hpp"
#include "ranvier/models/precision.hpp"
#include "ranvier/parallel/node_pool.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::engine {

/// The stepping of shards.
enum class SteppingMode : std::uint8_t {
    bsp,    ///< bulk-synchronous: all by the shortest delay, then all synchronise
    async,  ///< each as far as its sources allow (engine/stepping/async_stepping.hpp)
};

}  // namespace ranvier::engine

namespace ranvier {

template <>
struct ChoiceNames<engine::SteppingMode> {
    static constexpr std::string_view kind = "stepping";
    static constexpr std::array<std::string_view, 2> names{"bsp", "async"};
};

}  // namespace ranvier

namespace ranvier::engine {

/// The options of a simulation. A new option is a member with its default and a line in `visit_options`; Python
/// describes it in ranvier/simulation/options.py. engine/option_choices.hpp resolves automatic choices.
struct SimulationOptions {
    std::uint32_t threads = 0;  ///< 0: one for each processor that the process may use
    Choice<models::Precision> precision = models::Precision::double_precision;         ///< of the state of neurons
    Choice<models::Precision> weight_precision = models::Precision::single_precision;  ///< of stored weights
    Choice<SteppingMode> stepping = SteppingMode::bsp;
    /// Where steps run: "cpu"; "cuda" or "cuda:2", a GPU by its number; "cuda-emulator", an emulator of one (core/device).
    std::string device = "cpu";
    /// Paths of the libraries of NVRTC that compile the kernels of a GPU: the first one that the driver is new enough for
    /// is used. Empty: by its names.
    std::vector<std::string> device_compilers = {};
    AutoChoice<InstructionSet> instruction_set = {};  ///< "auto": the widest that the processor has
    /// Call the compiled code of user-defined neurons for this instruction set, if available; otherwise programs are
    /// interpreted. Bits are the same.
    bool compiled_programs = false;
    /// The same for user-defined synapses; in a prediction, whether there will be such code.
    bool compiled_rules = false;
    /// Populations, by index, whose programs will be compiled when the simulation is built: for predictions only.
    std::vector<std::uint32_t> programs_to_compile = {};
    Choice<connect::TableLayout> table_layout = connect::TableLayout::automatic;  ///< delivery of spikes by tables
    std::uint32_t delivery_window = 0;  ///< steps of a delivery window, a power of two; 0: chosen
    /// Binding of workers to processors: "auto" (one to each processor or each core, if there are as many), "equal",
    /// "compact", "none", or a list of processors (parallel/pinning.hpp).
    std::string pinning = "auto";
    /// Number of shards of this process; 0: chosen (engine/option_choices.hpp).
    std::uint32_t shards = 0;
    /// The workers from which an idle worker takes shards; "auto": none, or any with asynchronous stepping.
    AutoChoice<parallel::StealingPolicy> stealing = {};
    /// Source of small blocks of memory; "auto": a pool for each worker, if they are bound and the machine has several
    /// NUMA nodes.
    AutoChoice<parallel::SmallBlocks> small_blocks = {};
    /// Cost of a neuron of each population, in any unit: neurons are divided among shards by cost. Empty: by number.
    std::vector<double> costs = {};
    bool measure_costs = false;  ///< measure the costs of populations; see Simulation::costs()
    std::uint64_t memory_limit =
        0;  ///< maximum number of bytes of the network on this process; 0: the available memory

    // For several processes.
    Choice<connect::PlacementKind> placement = connect::PlacementKind::round_robin;  ///< of neurons
    /// A rank for each neuron and source, in the order of ids; overrides `placement`.
    std::shared_ptr<const std::vector<std::int32_t>> ranks = nullptr;
    /// Method of exchanging spikes in epochs. Empty: "alltoall", or "grid" on many processes, or no method with
    /// asynchronous stepping.
    comm::ExchangeChoice exchange = {};
    /// With asynchronous stepping: how processes notify each other of the progress of their shards.
    Choice<comm::Notifications> notifications = comm::Notifications::packed;
    std::uint32_t intervals = 1;  ///< 1 or 2: number of intervals of the shortest delay, if the method supports it
    std::uint64_t spike_buffer = std::uint64_t{32} << 20;  ///< bytes; see comm::ExchangeOptions
    std::uint32_t allgather_spikes = 16;  ///< see comm::ExchangeOptions
    /// With exchange=hierarchical: processes of a host that act as a host together; 0: all of a host.
    std::uint32_t host_ranks = 0;
    /// Bytes of the buffers for sending synapses between processes while the network is built.
    std::uint64_t connection_buffer = std::uint64_t{128} << 20;
    /// Sort synapses by source, so that one message notifies a rank of a spike. If false, each synapse gets a
    /// message. None: the choice that takes less memory (engine/option_choices.hpp).
    std::optional<bool> sort_connections = std::nullopt;
    bool keep_sources = true;  ///< needed for queries of connections
    AutoChoice<connect::RowNumbering> row_numbering = {};  ///< of tables; "auto": what takes less memory
    bool wait_apart = false;  ///< synchronise before each exchange, to time waiting and exchanging separately
    bool trace_epochs = false;  ///< keep the times of each epoch
    std::uint32_t trace = 0;  ///< number of pieces of work of each thread that are kept, the latest ones
    /// In a dry run: the rate (spikes/s) of the spikes that replace those of each neuron, which are still recorded.
    /// One rate for all, or one for each population (sources that play spikes keep theirs). Without rates, the other
    /// processes are assumed to send the same spikes as this one.
    std::vector<double> invented_rates = {};
};

/// Whether all processes must choose the same.
enum class OnRanks : std::uint8_t { may_differ, same };

/// Calls visit(name, member, on_ranks) for each option. The setting of options by name and their comparison between ranks
/// follow from it.
template <class Visit>
void visit_options(Visit visit) {
    using Options = SimulationOptions;
    visit("threads", &Options::threads, OnRanks::may_differ);
    visit("precision", &Options::precision, OnRanks::same);
    visit("weight_precision", &Options::weight_precision, OnRanks::same);
    visit("stepping", &Options::stepping, OnRanks::same);
    visit("device", &Options::device, OnRanks::same);
    visit("device_compilers", &Options::device_compilers, OnRanks::may_differ);
    visit("instruction_set", &Options::instruction_set, OnRanks::may_differ);
    visit("compiled_programs", &Options::compiled_programs, OnRanks::may_differ);
    visit("compiled_rules", &Options::compiled_rules, OnRanks::may_differ);
    visit("programs_to_compile", &Options::programs_to_compile, OnRanks::may_differ);
    visit("table_layout", &Options::table_layout, OnRanks::may_differ);
    visit("delivery_window", &Options::delivery_window, OnRanks::may_differ);
    visit("pinning", &Options::pinning, OnRanks::may_differ);
    visit("shards", &Options::shards, OnRanks::may_differ);
    visit("stealing", &Options::stealing, OnRanks::may_differ);
    visit("small_blocks", &Options::small_blocks, OnRanks::may_differ);
    visit("costs", &Options::costs, OnRanks::may_differ);
    visit("measure_costs", &Options::measure_costs, OnRanks::may_differ);
    visit("memory_limit", &Options::memory_limit, OnRanks::may_differ);
    visit("placement", &Options::placement, OnRanks::same);
    visit("ranks", &Options::ranks, OnRanks::same);
    visit("exchange", &Options::exchange, OnRanks::same);
    visit("notifications", &Options::notifications, OnRanks::same);
    visit("intervals", &Options::intervals, OnRanks::same);
    visit("spike_buffer", &Options::spike_buffer, OnRanks::same);
    visit("allgather_spikes", &Options::allgather_spikes, OnRanks::same);
    visit("host_ranks", &Options::host_ranks, OnRanks::same);
    visit("connection_buffer", &Options::connection_buffer, OnRanks::same);
    visit("sort_connections", &Options::sort_connections, OnRanks::same);
    visit("keep_sources", &Options::keep_sources, OnRanks::same);
    visit("row_numbering", &Options::row_numbering, OnRanks::may_differ);
    visit("wait_apart", &Options::wait_apart, OnRanks::same);
    visit("trace_epochs", &Options::trace_epochs, OnRanks::may_differ);
    visit("trace", &Options::trace, OnRanks::may_differ);
    visit("invented_rates", &Options::invented_rates, OnRanks::may_differ);
}

}  // namespace ranvier::engine
