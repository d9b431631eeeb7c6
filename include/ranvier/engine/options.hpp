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
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::engine {

/// How shards advance.
enum class SteppingMode : std::uint8_t {
    bsp,    ///< bulk-synchronous: all by the shortest delay, then all meet
    async,  ///< each as far as the shards that it gets spikes from allow (engine/stepping/async_stepping.hpp)
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

/// What a user chooses for a simulation. A new option is a member with its default and a line in `visit_options`; Python
/// describes it in ranvier/simulation/options.py. engine/option_choices.hpp tells what the options come to.
struct SimulationOptions {
    std::uint32_t threads = 0;  ///< 0: one for each processor that the process may use
    Choice<models::Precision> precision = models::Precision::double_precision;         ///< of the state of neurons
    Choice<models::Precision> weight_precision = models::Precision::single_precision;  ///< of stored weights
    Choice<SteppingMode> stepping = SteppingMode::bsp;
    AutoChoice<InstructionSet> instruction_set = {};  ///< "auto": the widest that the processor has
    /// Call the code that was compiled for neurons of equations and this instruction set, where there is such; else programs
    /// are interpreted. Bits are the same.
    bool compiled_programs = false;
    /// The same for synapses of equations; in a prediction, whether there will be such code.
    bool compiled_rules = false;
    /// Populations, by index, for whose programs there will be such code when the simulation is built: for predictions only.
    std::vector<std::uint32_t> programs_to_compile = {};
    Choice<connect::TableLayout> table_layout = connect::TableLayout::automatic;  ///< how tables deliver
    std::uint32_t delivery_window = 0;  ///< steps whose inputs runs are added to at a time, a power of two; 0: chosen
    /// How workers are bound to processors: "auto" (one to each processor or each core, if there are as many), "equal",
    /// "compact", "none", or a list of processors (parallel/pinning.hpp).
    std::string pinning = "auto";
    /// Into how many shards the neurons of this process are divided; 0: chosen (engine/option_choices.hpp).
    std::uint32_t shards = 0;
    /// From which workers a worker without work takes shards; "auto": from none, or from any with asynchronous stepping.
    AutoChoice<parallel::StealingPolicy> stealing = {};
    /// Of a neuron of each population, in any unit: shards get neurons by their cost, not by their number. None: by number.
    std::vector<double> costs = {};
    bool measure_costs = false;  ///< find out what the populations cost; see Simulation::costs()
    std::uint64_t memory_limit =
        0;  ///< bytes that the network may take on this process; 0: what the machine has available

    // For several processes.
    Choice<connect::PlacementKind> placement = connect::PlacementKind::round_robin;  ///< of neurons
    /// A rank for each neuron and source, in the order of ids; goes before `placement`.
    std::shared_ptr<const std::vector<std::int32_t>> ranks = nullptr;
    /// Method of exchanging spikes in epochs. Empty: "alltoall", or no method with asynchronous stepping.
    comm::ExchangeChoice exchange = {};
    /// With asynchronous stepping: how processes notify each other of the progress of their shards.
    Choice<comm::Notifications> notifications = comm::Notifications::packed;
    std::uint32_t intervals = 1;  ///< into which the shortest delay is divided, where the method can use it: 1 or 2
    std::uint64_t spike_buffer = std::uint64_t{32} << 20;  ///< bytes; see comm::ExchangeOptions
    std::uint32_t allgather_spikes = 16;  ///< see comm::ExchangeOptions
    /// Bytes of the buffers through which processes tell each other of synapses while the network is built.
    std::uint64_t connection_buffer = std::uint64_t{128} << 20;
    /// Sort synapses by source, so that one message tells a rank of a spike. If false, each synapse gets a message. None: the
    /// core chooses what takes less memory (engine/option_choices.hpp).
    std::optional<bool> sort_connections = std::nullopt;
    bool keep_sources = true;  ///< so that connections can be asked for
    AutoChoice<connect::RowNumbering> row_numbering = {};  ///< of tables; "auto": what takes less memory
    bool wait_apart = false;  ///< meet before each exchange, so that waiting is told apart from exchanging
    bool trace_epochs = false;  ///< keep the times of each epoch
    /// In a dry run: the rate (spikes/s) at which each neuron is taken to send spikes, in place of its own spikes, which are
    /// still recorded. One rate for all, or one for each population (sources that play spikes keep theirs). Without rates,
    /// the other processes are taken to send what this one sends.
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
    visit("instruction_set", &Options::instruction_set, OnRanks::may_differ);
    visit("compiled_programs", &Options::compiled_programs, OnRanks::may_differ);
    visit("compiled_rules", &Options::compiled_rules, OnRanks::may_differ);
    visit("programs_to_compile", &Options::programs_to_compile, OnRanks::may_differ);
    visit("table_layout", &Options::table_layout, OnRanks::may_differ);
    visit("delivery_window", &Options::delivery_window, OnRanks::may_differ);
    visit("pinning", &Options::pinning, OnRanks::may_differ);
    visit("shards", &Options::shards, OnRanks::may_differ);
    visit("stealing", &Options::stealing, OnRanks::may_differ);
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
    visit("connection_buffer", &Options::connection_buffer, OnRanks::same);
    visit("sort_connections", &Options::sort_connections, OnRanks::same);
    visit("keep_sources", &Options::keep_sources, OnRanks::same);
    visit("row_numbering", &Options::row_numbering, OnRanks::may_differ);
    visit("wait_apart", &Options::wait_apart, OnRanks::same);
    visit("trace_epochs", &Options::trace_epochs, OnRanks::may_differ);
    visit("invented_rates", &Options::invented_rates, OnRanks::may_differ);
}

}  // namespace ranvier::engine
