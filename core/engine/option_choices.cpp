#include "engine/option_choices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/counted.hpp"
#include "comm/exchange/host_tables.hpp"
#include "connect/tables/table_plan.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::engine {

namespace {

/// Default number of steps in a delivery window; measured on the full-scale microcircuit.
constexpr std::uint32_t default_window = 4;
/// Default if neurons advance by a window at once.
constexpr std::uint32_t window_of_stretches = 32;
constexpr std::uint32_t most_threads = 4096;
/// Bytes that a step of the neurons of a shard accesses with asynchronous stepping: half of the second-level cache of
/// a processor. Smaller shards have fewer synapses that limit how far they may advance, but the fixed cost of a visit
/// weighs more; measured with the network "layers".
constexpr double group_bytes = 524288.0;
/// Equal cells that are advanced together.
constexpr std::uint32_t cells_together = 8;
/// Shards per thread, if there are enough cells: first some, so that a thread always finds one that can advance; then
/// more, as long as they have enough cells to make the cost of a visit negligible. When another program preempts a
/// thread, the shard it was advancing is held up: the smaller it is, the longer the others find work.
constexpr double groups_of_thread = 4.0;
constexpr double most_groups_of_thread = 16.0;
constexpr double cells_of_group = 4.0 * cells_together;
/// Maximum number of steps of a shard at a time with asynchronous stepping: enough that data read once for all of
/// them cost little, and few enough that its inputs for these steps fit into the cache.
constexpr Step most_steps_of_stretches = 128;
constexpr Step most_steps_of_points = 16;

void check_invented_rates(const SimulationOptions& options, const network::Network& network, bool is_dry_run) {
    const std::vector<double>& rates = options.invented_rates;
    if (rates.empty()) return;
    if (!is_dry_run) {
        throw StateError({.object = "invented rate",
                          .value = to_text(rates.front()) + " spikes/s",
                          .bound = "spikes are invented only in dry runs",
                          .remedy = "leave it out, or make a dry run"});
    }
    if (rates.size() != 1 && rates.size() != network.populations().size()) {
        throw ShapeError({.object = "invented rates",
                          .value = counted(rates.size(), "number"),
                          .bound = "the network has " + counted(network.populations().size(), "population"),
                          .remedy = "give one rate for all, or one for each"});
    }
    for (const double rate : rates) {
        // Neurons cannot fire more than once a step.
        if (rate >= 0.0 && rate * network.resolution() <= 1000.0) continue;
        throw ValueOutOfBoundsError({.object = "invented rate",
                                     .value = to_text(rate) + " spikes/s",
                                     .bound = "it must be >= 0, and at most one spike per step",
                                     .remedy = "give the mean rate of the neurons"});
    }
}

void check_precision(const SimulationOptions& options, const network::Network& network) {
    if (options.precision == models::Precision::double_precision) return;
    for (const network::Population& population : network.populations()) {
        if (!population.model->needs_double_precision) continue;
        throw ValueOutOfBoundsError({.object = "precision",
                                     .value = "single",
                                     .bound = "the state of population '" + population.name + "', whose model is '" +
                                              std::string(population.model->name) +
                                              "', can only be kept in double precision",
                                     .remedy = "leave the precision at double"});
    }
}

/// A number of shards near the wanted one that gives each an equal number of cells, a multiple of eight, if there is
/// one: the rest of the cells of a shard takes more time.
double whole_eights(double cells, double wanted) {
    const double blocks = cells / cells_together;
    if (blocks != std::floor(blocks)) return wanted;
    const auto divides = [blocks](double shards) { return std::fmod(blocks, shards) == 0.0; };
    for (std::uint64_t k = 0; static_cast<double>(k) <= wanted / 2.0; ++k) {
        const auto by = static_cast<double>(k);
        if (by <= wanted / 3.0 && divides(wanted - by)) return wanted - by;
        if (divides(wanted + by)) return wanted + by;
    }
    return wanted;
}

bool has_stretches(const network::Network& network) {
    return std::ranges::any_of(network.populations(), [](const network::Population& population) {
        return population.size > 0 && population.model->stretch_gain == models::StretchGain::much;
    });
}

/// Checks for options that asynchronous stepping excludes.
void check_asynchronous(const SimulationOptions& options, std::int32_t ranks, bool is_dry_run) {
    if (!is_asynchronous(options)) return;
    const auto refuse = [](std::string bound, std::string remedy) {
        throw StateError(
            {.object = "stepping", .value = "async", .bound = std::move(bound), .remedy = std::move(remedy)});
    };
    if (is_dry_run) {
        refuse("the other ranks of a dry run report no progress to wait for", "use stepping=bsp");
    }
    if (ranks > 1 && !options.exchange.empty()) {
        refuse("exchange=" + std::string(options.exchange.name()) +
                   " exchanges spikes in epochs, at whose ends all processes meet",
               "leave out the exchange, so that processes notify each other (notifications=packed or single); or use "
               "stepping=bsp");
    }
    if (ranks > 1 && !options.keep_sources) {
        refuse("spikes are delivered by the ids of their sources, so these must be kept",
               "keep sources, or use stepping=bsp");
    }
    if (ranks > 1 && options.wait_apart) {
        refuse("there are no exchanges before which processes could meet", "leave out wait_apart, or use stepping=bsp");
    }
    if (!options.sort_connections.value_or(true)) {
        refuse("unsorted connections receive spikes in epochs only", "sort connections, or use stepping=bsp");
    }
    if (options.trace_epochs) refuse("there are no epochs to trace", "leave out trace_epochs, or use stepping=bsp");
}

/// Checks that the numbering of rows fits the exchange method and the tables.
void check_numbering(const SimulationOptions& options, const comm::ExchangeInfo& method) {
    if (options.row_numbering.is_automatic()) return;
    if (!options.sort_connections.value_or(true)) {
        throw StateError({.object = "row_numbering",
                          .value = std::string(options.row_numbering.name()),
                          .bound = "unsorted connections have no rows of sources",
                          .remedy = "leave it out, or sort connections"});
    }
    if (options.row_numbering == connect::RowNumbering::sparse && (method.directed || method.name == "auto")) {
        throw StateError({.object = "row_numbering",
                          .value = std::string(options.row_numbering.name()),
                          .bound = "its index is for methods that send the ids of sources",
                          .remedy = "use it with exchange=allgather, or choose another numbering"});
    }
}

}  // namespace

std::uint32_t choose_threads(const SimulationOptions& options, std::uint32_t unless) {
    if (options.threads > most_threads) {
        throw ValueOutOfBoundsError({.object = "threads",
                                     .value = std::to_string(options.threads),
                                     .bound = "at most " + std::to_string(most_threads),
                                     .remedy = "use one thread for each processor"});
    }
    return options.threads > 0 ? options.threads : unless;
}

bool is_asynchronous(const SimulationOptions& options) { return options.stepping == SteppingMode::async; }

const comm::ExchangeInfo& choose_exchange(const SimulationOptions& options, std::int32_t ranks) {
    if (!options.exchange.empty()) return *options.exchange.method();
    // With a section for each process, time and memory of an exchange grow with their number.
    return comm::find_exchange(ranks > most_ranks_of_sections ? "grid" : "alltoall");
}

bool pools_small_blocks(const SimulationOptions& options, bool pinned, const parallel::Topology& topology) {
    // On one node, the heap is as near as a pool, and shares its pages among the workers.
    const bool spread = pinned && topology.nodes().size() > 1;
    return options.small_blocks.value_or(spread ? parallel::SmallBlocks::pool : parallel::SmallBlocks::heap) ==
           parallel::SmallBlocks::pool;
}

parallel::StealingPolicy choose_stealing(const SimulationOptions& options) {
    return options.stealing.value_or(is_asynchronous(options) ? parallel::StealingPolicy::local_and_remote
                                                              : parallel::StealingPolicy::none);
}

parallel::StealingPolicy choose_part_stealing(const SimulationOptions& options) {
    if (is_asynchronous(options)) return parallel::StealingPolicy::none;
    return options.stealing.value_or(parallel::StealingPolicy::prefer_local);
}

Step choose_most_steps(const SimulationOptions& options, const network::Network& network) {
    if (!is_asynchronous(options)) return 1;
    return has_stretches(network) ? most_steps_of_stretches : most_steps_of_points;
}

std::uint32_t emulated_blocks(const SimulationOptions& options, std::uint32_t threads) {
    constexpr std::uint32_t least_blocks = 4;
    return options.shards > 0 ? options.shards : std::max(threads, least_blocks);
}

std::uint32_t choose_shards(const SimulationOptions& options, const network::Network& network, std::int32_t ranks,
                            std::uint32_t threads) {
    if (options.shards == 0) {
        if (!is_asynchronous(options)) return threads;
        double shards = 0.0;
        for (const network::Population& population : network.populations()) {
            const double neurons = static_cast<double>(population.size) / static_cast<double>(ranks);
            if (population.model->stretch_gain != models::StretchGain::much) continue;
            constexpr double together = cells_together;
            const double fit = group_bytes / population.model->step_bytes;
            const double few = std::min(cells_of_group, neurons / (groups_of_thread * threads));
            const double balanced = threads == 1 ? fit : std::max(few, neurons / (most_groups_of_thread * threads));
            const double of_shard = std::max(together, std::floor(std::min(fit, balanced) / together) * together);
            shards += whole_eights(neurons, std::ceil(neurons / of_shard));
        }
        return std::max(threads, static_cast<std::uint32_t>(std::min<double>(shards, most_threads)));
    }
    if (options.shards < threads || options.shards > most_threads) {
        throw ValueOutOfBoundsError(
            {.object = "shards",
             .value = std::to_string(options.shards),
             .bound = "from the number of threads, " + std::to_string(threads) + ", to " + std::to_string(most_threads),
             .remedy = "use a small multiple of the threads"});
    }
    return options.shards;
}

std::vector<double> choose_costs(const SimulationOptions& options, const network::Network& network) {
    const std::vector<double>& costs = options.costs;
    if (costs.empty()) {
        // Keeps neighbours on one shard: they are often connected, or equal.
        return std::vector<double>(is_asynchronous(options) ? network.populations().size() : 0, 1.0);
    }
    if (costs.size() != network.populations().size()) {
        throw ShapeError({.object = "costs",
                          .value = counted(costs.size(), "number"),
                          .bound = "the network has " + counted(network.populations().size(), "population"),
                          .remedy = "give one for each"});
    }
    for (std::size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] >= 0.0 && costs[i] <= 1e30) continue;
        throw ValueOutOfBoundsError({.object = "cost of population '" + network.populations()[i].name + "'",
                                     .value = to_text(costs[i]),
                                     .bound = "it must be from 0 to 1e30",
                                     .remedy = "give the cost of one of its neurons relative to others"});
    }
    return costs;
}

std::uint32_t choose_window(const SimulationOptions& options, const network::Network& network) {
    const std::uint32_t chosen = has_stretches(network) ? window_of_stretches : default_window;
    const std::uint32_t window = options.delivery_window > 0 ? options.delivery_window : chosen;
    if (!std::has_single_bit(window) || window > 1024) {
        throw ValueOutOfBoundsError({.object = "delivery_window",
                                     .value = std::to_string(window),
                                     .bound = "a power of two from 1 to 1024",
                                     .remedy = "leave it at 0, which chooses one"});
    }
    return window;
}

connect::BuildOptions make_build_options(const network::Network& network, const SimulationOptions& options,
                                         Step shortest_delay, std::int32_t ranks, std::uint32_t shards) {
    // EpochStepping leaves parts of deliveries only then.
    const bool leaves_parts = shortest_delay == 1 && (ranks == 1 || choose_exchange(options, ranks).on_host) &&
                              choose_part_stealing(options) != parallel::StealingPolicy::none;
    return {.instruction_set = available_instruction_set(options.instruction_set),
            .resolution = network.resolution(),
            .double_weights = options.weight_precision == models::Precision::double_precision,
            .layout = options.table_layout,
            .divides_rows = shards > 1 && leaves_parts,
            .compiled_rules = options.compiled_rules,
            .numbering = options.row_numbering.value(),
            .keep_sources = options.keep_sources,
            .buffer_bytes = options.connection_buffer};
}

bool choose_sorting(const SimulationOptions& options, const connect::NetworkPlan& network, std::int32_t ranks,
                    std::uint32_t shards) {
    if (options.sort_connections) return *options.sort_connections;
    const bool needed = ranks == 1 || !options.row_numbering.is_automatic() || is_asynchronous(options) ||
                        !choose_exchange(options, ranks).directed;
    return needed || connect::rows_save_memory(network, ranks, shards);
}

connect::Placement make_placement(const network::Network& network, const SimulationOptions& options,
                                  std::int32_t ranks) {
    if (options.ranks) return {network.unit_count(), ranks, options.ranks};
    return {network.unit_count(), ranks, options.placement, network.seed(), network.space()};
}

void check_host_ranks(const SimulationOptions& options, const comm::Communicator& communicator) {
    const comm::ExchangeInfo& method = choose_exchange(options, communicator.size());
    if (method.groups_by_host) {
        comm::checked_host_ranks(communicator, options.host_ranks);
    } else if (options.host_ranks > 0) {
        throw StateError({.object = "host_ranks",
                          .value = std::to_string(options.host_ranks),
                          .bound = "exchange=" + std::string(method.name) + " does not group processes by host",
                          .remedy = "use it with exchange=hierarchical or auto, or leave it out"});
    }
}

void check_options(const SimulationOptions& options, const network::Network& network, connect::PlacementKind placement,
                   const comm::Communicator& communicator) {
    const bool is_dry_run = communicator.is_dry_run();
    check_asynchronous(options, communicator.size(), is_dry_run);
    check_precision(options, network);
    if (options.notifications == comm::Notifications::single && !is_asynchronous(options)) {
        throw StateError({.object = "notifications",
                          .value = std::string(options.notifications.name()),
                          .bound = "with stepping=bsp, processes exchange spikes in epochs",
                          .remedy = "leave it out, or use stepping=async"});
    }
    if (options.intervals < 1 || options.intervals > 2) {
        throw ValueOutOfBoundsError({.object = "intervals",
                                     .value = std::to_string(options.intervals),
                                     .bound = "the shortest delay can be divided into 1 or 2",
                                     .remedy = "use 1 or 2"});
    }
    if (is_dry_run && placement != connect::PlacementKind::round_robin) {
        throw StateError({.object = "placement",
                          .value = options.ranks ? "an array" : std::string(options.placement.name()),
                          .bound = "a dry run assumes that all ranks are alike, which only round_robin ensures",
                          .remedy = "use round_robin"});
    }
    check_invented_rates(options, network, is_dry_run);
    const comm::ExchangeInfo& method = choose_exchange(options, communicator.size());
    if (!method.directed && !options.sort_connections.value_or(true)) {
        throw StateError({.object = "exchange",
                          .value = std::string(method.name),
                          .bound = "it sends the ids of sources, and unsorted connections cannot be found by id",
                          .remedy = "sort connections, or use a method that sends spikes only where they are needed"});
    }
    check_numbering(options, method);
    check_host_ranks(options, communicator);
    const auto refuse_on_host = [&](std::string bound, std::string remedy) {
        throw StateError({.object = "exchange",
                          .value = std::string(method.name),
                          .bound = std::move(bound),
                          .remedy = std::move(remedy)});
    };
    if (method.on_host && is_dry_run) {
        refuse_on_host("the other processes of a dry run share no memory with this one", "choose another method");
    }
    if (method.on_host && options.wait_apart) {
        refuse_on_host("threads wait while they exchange spikes, so that the two have no separate times",
                       "leave out wait_apart, or choose another method");
    }
    if (!method.directed && !options.keep_sources) {
        throw StateError({.object = "exchange",
                          .value = std::string(method.name),
                          .bound = "it sends the ids of sources, so these must be kept",
                          .remedy = "keep sources, or use a method that sends spikes only where they are needed"});
    }
}

}  // namespace ranvier::engine
