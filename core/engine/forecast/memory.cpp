#include "engine/forecast/memory.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/saturation.hpp"
#include "connect/tables/run_table.hpp"
#include "connect/tables/table_estimate.hpp"
#include "connect/tables/weight_estimate.hpp"
#include "engine/fields/field_coupling.hpp"
#include "engine/forecast/device_memory.hpp"
#include "engine/forecast/memory_samples.hpp"
#include "engine/option_choices.hpp"
#include "engine/shard/shard.hpp"
#include "parallel/memory_room.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/connect/tables/expected_spikes.hpp"

namespace ranvier::engine {

namespace {

/// How spikes come to the tables of a process (engine/spike_traffic.hpp).
struct Arrivals {
    const network::LoweredNetwork& network;
    const Activity& activity;
    bool travel =
        false;     ///< through an exchange: what arrives in an epoch is shared by the workers, who sort it by step
    bool by_source = false;  ///< tables look up their rows
    double records_per_step = 0.0;
    double steps_per_epoch = 1.0;
    double spikes_of_one = 0.0;    ///< of each neuron, in a step
    double spikes_per_step = 0.0;  ///< of the process: each leads to many records and rows, which come together
    double spikes_of_all = 0.0;    ///< of the network, in a step
    double steps = 0.0;            ///< that are simulated
};

/// What a table of synapses that are not static keeps of spikes, on one shard.
double bytes_of_dynamics(const connect::TableEstimate::Table& table, const Arrivals& arrivals) {
    const connect::PlasticTableMemory memory = table.dynamics->memory(table.double_weights);
    if (!memory.spike_bytes) return 0.0;
    connect::ExpectedSpikes spikes{.of_neuron = arrivals.spikes_of_one,
                                   .of_process = arrivals.spikes_per_step,
                                   .most_in_step = arrivals.activity.most_in_step,
                                   .steps = arrivals.steps,
                                   .rows = table.rows,
                                   .runs = table.runs,
                                   .synapses = table.synapses,
                                   .targets = table.targets,
                                   .from_first_to_last = table.from_first_to_last,
                                   .delays = table.delays,
                                   .longest_delay = table.longest_delay};
    if (const connect::Transmitter* const transmitter = table.dynamics->transmitter()) {
        const ExpectedPulses pulses =
            expected_pulses(arrivals.network, *transmitter, arrivals.spikes_of_one, arrivals.steps);
        spikes.pulses = pulses.number;
        spikes.pulses_per_step = pulses.per_step;
    }
    return memory.spike_bytes(spikes);
}

/// What a table keeps of spikes until all of their synapses are reached, on one shard.
double bytes_kept(const connect::TableEstimate::Table& table, const Arrivals& arrivals) {
    if (table.dynamics != nullptr) return bytes_of_dynamics(table, arrivals);
    const double rows_per_step = arrivals.spikes_of_one * table.rows;
    // Spikes are kept until the longest delay has passed, beside those of an epoch. One of these epochs has the most.
    const double steps = table.longest_delay + arrivals.steps_per_epoch;
    const double most_in_epoch = arrivals.activity.most_in_epoch;
    const double most =
        most_in_epoch > 0.0 ? 1.0 + (most_in_epoch - 1.0) * arrivals.steps_per_epoch / steps : most_in_epoch;
    const double kept = connect::largest_list(rows_per_step * steps, arrivals.spikes_per_step * steps, most);
    if (table.reach == 0) return sizeof(connect::detail::ActiveSpike) * kept;
    const double at_once =
        connect::largest_list(rows_per_step, arrivals.spikes_per_step, arrivals.activity.most_in_step);
    return sizeof(RowIndex) * kept + 2.0 * sizeof(std::uint64_t) * std::min(1024.0, at_once);
}

/// The most that a worker takes of what arrives in a step, relative to its mean: its share of the most spikes, which is as
/// uneven as a standard deviation of chance makes it.
double most_of_part(const Arrivals& arrivals, double rows_per_step, double parts) {
    const double most = arrivals.activity.most_in_step;
    const double events = std::min(arrivals.spikes_of_all, rows_per_step);
    if (most <= 0.0 || events <= 0.0) return most;
    return most + std::sqrt(most * (parts - 1.0) / events);
}

/// Lists of spikes that arrive, and of those that tables keep.
double arrival_bytes(const connect::TableEstimate& tables, const Arrivals& arrivals, double shards) {
    const double parts = arrivals.travel ? shards : 1.0;  // of what arrives in a step
    const double steps = arrivals.travel ? arrivals.steps_per_epoch : 1.0;
    double bytes = 0.0;
    double most_rows = 0.0;
    bool any_learns = false;
    if (arrivals.by_source)
        bytes += sizeof(NeuronId) * shards * steps *
                 connect::largest_list(arrivals.records_per_step / parts, arrivals.spikes_per_step,
                                       arrivals.activity.most_in_step);
    const auto add_rows = [&](double rows) {
        const double rows_per_step = arrivals.spikes_of_one * rows;
        const double rows_at_once = connect::largest_list(rows_per_step / parts, arrivals.spikes_per_step,
                                                          most_of_part(arrivals, rows_per_step, parts));
        most_rows = std::max(most_rows, rows_at_once);
        if (!arrivals.by_source) bytes += sizeof(RowIndex) * shards * shards * steps * rows_at_once;
    };
    for (const double neurons_of_transmitter : tables.transmitters) add_rows(neurons_of_transmitter);
    for (const connect::TableEstimate::Table& table : tables.tables) {
        if (!table.used) continue;
        add_rows(table.rows);
        bytes += shards * bytes_kept(table, arrivals);
        any_learns = any_learns || (table.dynamics != nullptr && table.dynamics->greatest_factor() == 0.0);
    }
    // Those of a step, for the tables that learn.
    if (any_learns) {
        const double of_step = arrivals.spikes_per_step / shards;
        bytes +=
            sizeof(std::uint32_t) * shards * connect::largest_list(of_step, of_step, arrivals.activity.most_in_step);
    }
    return bytes + (arrivals.by_source ? sizeof(RowIndex) * shards * most_rows : 0.0);
}

bool advances_by_stretches(const network::Network& network, const connect::ShardLayout& shard) {
    return std::ranges::any_of(network.populations(), [&](const network::Population& population) {
        return population.model->stretch_gain != models::StretchGain::none && !shard.share(population.id).ids.empty();
    });
}

/// What shards have emitted in two epochs, and, where they advance by stretches, once more what they put in order.
double outbox_bytes(double spikes_of_epoch, double shards, const Activity& activity,
                    const network::LoweredNetwork& network, const connect::ProcessLayout& layout) {
    const bool by_stretches = std::ranges::any_of(layout.shards(), [&](const connect::ShardLayout& shard) {
        return advances_by_stretches(network.network(), shard);
    });
    const double of_shard = spikes_of_epoch / shards;
    const double lists = by_stretches ? 3.0 : 2.0;
    return lists * sizeof(comm::EmittedSpike) * shards *
           connect::largest_list(of_shard, of_shard, activity.most_in_epoch);
}

/// Bytes of the rings of inputs of all shards.
double input_bytes(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                   const connect::TableEstimate& tables, bool double_weights, std::uint32_t window, Step most_steps) {
    // By receptor: slots of the sums that tables add to, 0 where there is no table.
    std::vector<std::uint64_t> slots(network.receptors(), 0);
    const auto waiting = static_cast<std::uint32_t>(network.network().longest_stride() - 1);
    for (std::size_t kind = 0; kind < tables.tables.size(); ++kind) {
        if (!tables.tables[kind].used) continue;
        std::uint64_t& slots_of_receptor = slots[network.plan().kinds[kind].receptor];
        slots_of_receptor = std::max<std::uint64_t>(
            slots_of_receptor, input_slots(window, tables.tables[kind].reach, waiting, most_steps));
    }
    std::vector<bool> is_wide;
    is_wide.reserve(slots.size());
    for (std::uint32_t receptor = 0; receptor < slots.size(); ++receptor) {
        is_wide.push_back(slots[receptor] > 0 &&
                          !connect::expected_weights(network.plan(), receptor, double_weights).fits_double());
    }
    double inputs = 0.0;
    for (const connect::ShardLayout& shard : layout.shards()) {
        // Of steps that the shard advances by at once.
        const std::uint64_t rows = advances_by_stretches(network.network(), shard) ? window : 1;
        std::uint64_t bytes = 0;
        for (std::uint32_t receptor = 0; receptor < slots.size(); ++receptor) {
            // Wide sums are rounded to numbers.
            const std::uint64_t of_input = is_wide[receptor]
                                               ? slots[receptor] * sizeof(connect::WideSum) + rows * sizeof(double)
                                               : slots[receptor] * sizeof(double);
            bytes += of_input * network.plan().inputs_at(receptor, shard).size();
        }
        const std::vector<bool> stimulated = network.stimulated_receptors(shard);
        std::uint64_t single = 0;  // inputs of receptors without tables
        std::uint64_t unreached = 0;
        for (std::uint32_t receptor = 0; receptor < slots.size(); ++receptor) {
            if (slots[receptor] > 0) continue;
            const std::uint64_t input_count = network.plan().inputs_at(receptor, shard).size();
            if (stimulated[receptor]) {
                single += rows * input_count;
            } else {
                unreached = std::max(unreached, input_count);
            }
        }
        inputs += static_cast<double>(bytes + (single + unreached) * sizeof(double));
        for (const network::Population& population : network.network().populations()) {
            const std::vector<bool> electrodes = network.stimulated_electrodes(shard, population);
            const auto injecting = static_cast<std::uint64_t>(std::ranges::count(electrodes, true));
            inputs += static_cast<double>(injecting * rows * shard.share(population.id).ids.size() * sizeof(double));
        }
    }
    return inputs;
}

/// The tables of a process whose device draws projections: static ones of the others stay until the device has them.
connect::TableEstimate tables_beside_device(const network::LoweredNetwork& network,
                                            const connect::ProcessLayout& layout, const connect::BuildOptions& build) {
    std::vector<bool> is_static;
    for (const connect::ProjectionPlan& plan : network.plans()) {
        is_static.push_back(network.plan().dynamics_of(plan.positive_kind) == nullptr);
    }
    const connect::TableEstimate while_built = connect::estimate_tables(
        connect::without(network.plan(), build.drawn), layout, build, static_cast<double>(network.index_bytes()));
    connect::TableEstimate kept = connect::estimate_tables(connect::without(network.plan(), is_static), layout, build);
    kept.peak_bytes = std::max(kept.peak_bytes, while_built.peak_bytes);
    return kept;
}

/// Adds to the peak what building the presynaptic table takes; returns the bytes that stay.
double add_presynaptic_peak(const connect::ProcessLayout& layout, const connect::TableEstimate& tables,
                            const SimulationOptions& options, MemoryEstimate& estimate) {
    const PresynapticEstimate presynaptic = estimate_presynaptic(layout, tables);
    // While it is built, buffers too, which are not larger than what has to go through them.
    const double buffers = std::min(static_cast<double>(options.connection_buffer), 64.0 * tables.addresses);
    const std::uint64_t built = to_saturated(presynaptic.peak_bytes + buffers);
    estimate.peak_bytes = std::max(estimate.peak_bytes, add_saturated(estimate.final_bytes, built));
    return presynaptic.final_bytes;
}

/// Compartments of some cells on this process.
double local_compartments(const network::Network& network, const connect::ProcessLayout& layout,
                          const IdSequence& cells) {
    double compartments = 0.0;
    for (const PopulationId id : network.populations_of(cells)) {
        const network::Population& population = network.population(id);
        for (const connect::ShardLayout& shard : layout.shards()) {
            const IdSequence ids = shard.share(id).ids.among(cells);
            for (std::uint64_t i = 0; i < ids.size(); ++i) {
                const std::uint64_t neuron = ids[i].value - population.first.value;
                compartments += static_cast<double>(population.model->compartments(neuron));
            }
        }
    }
    return compartments;
}

/// The weights of recorders of potentials, and the places of samples of compartments, of the neurons of this process.
double readout_bytes(const network::Network& network, const connect::ProcessLayout& layout) {
    double bytes = 0.0;
    const double share = nearby_share(static_cast<double>(layout.placement().ranks()));
    for (const network::StateRecorder& recorder : network.state_recorders()) {
        if (!recorder.at_compartments) continue;
        bytes += static_cast<double>(recorder.evaluation_bytes) +
                 share * static_cast<double>(recorder.divided_evaluation_bytes);
        const double compartments = local_compartments(network, layout, recorder.neurons);
        const std::size_t places = recorder.by_neuron ? 0 : sizeof(std::size_t);
        bytes += compartments * static_cast<double>(places + recorder.outputs * sizeof(double));
    }
    return bytes;
}

double field_bytes(const network::Network& network, const connect::ProcessLayout& layout) {
    double bytes = 0.0;
    for (const network::OutsideField& field : network.outside_fields()) {
        if (!field.couples()) continue;
        const auto all = static_cast<double>(network.first_compartments(field.cells).back());
        bytes += coupling_bytes(field, all, local_compartments(network, layout, field.cells),
                                static_cast<double>(layout.placement().ranks()));
    }
    return bytes;
}

}  // namespace

std::string bytes_as_text(std::uint64_t bytes) {
    constexpr std::array<const char*, 6> units{"kB", "MB", "GB", "TB", "PB", "EB"};
    std::string text = std::to_string(bytes) + " bytes";
    if (bytes < 1000) return text;
    std::size_t chosen = 0;
    std::uint64_t unit = 1000;
    while (chosen + 1 < units.size() && bytes / unit >= 1000) {
        unit *= 1000;
        ++chosen;
    }
    const std::uint64_t tenth = unit / 10;
    const std::uint64_t tenths = bytes / tenth + (bytes % tenth >= tenth / 2 ? 1 : 0);
    return text + " (" + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + units[chosen] + ")";
}

std::vector<MemoryItem> items_of(const device::DeviceBytes& bytes) {
    std::vector<MemoryItem> items;
    for (std::size_t i = 0; i < device::device_byte_names.size(); ++i) {
        items.push_back({"device " + std::string(device::device_byte_names[i]), bytes.values()[i]});
    }
    return items;
}

std::uint64_t available_memory(std::int32_t processes) { return parallel::memory_room().of_one(processes); }

MemoryEstimate estimate_memory(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                               const connect::BuildOptions& build, const SimulationOptions& options,
                               std::uint32_t window, const Activity& activity) {
    connect::TableEstimate tables =
        connect::estimate_tables(network.plan(), layout, build, static_cast<double>(network.index_bytes()));
    MemoryEstimate estimate;
    if (options.device != "cpu")
        estimate.device = estimate_device_memory(network, layout, tables, options, !build.drawn.empty());
    if (!build.drawn.empty()) tables = tables_beside_device(network, layout, build);
    const GroupSample groups = sample_groups(network, layout, options);
    const bool travels = layout.placement().ranks() > 1 || build.numbering == connect::RowNumbering::unsorted;
    const double steps_per_epoch = static_cast<double>(std::min<Step>(network.shortest_delay(), longest_epoch));
    const double spikes_of_one = activity.rate * network.network().resolution() / 1000.0;  // in a step
    const double spikes_per_step = spikes_of_one * groups.neurons;
    const auto add = [&](const char* component, double bytes) {
        estimate.items.push_back({component, to_saturated(bytes)});
        estimate.final_bytes = add_saturated(estimate.final_bytes, to_saturated(bytes));
    };
    add("synapses", tables.final_bytes);
    add("neurons", groups.neuron_bytes + static_cast<double>(layout.bytes()));
    add("inputs", input_bytes(network, layout, tables, build.double_weights, window,
                              choose_most_steps(options, network.network())));
    add("stimuli", groups.stimulus_bytes);
    if (const double readouts = readout_bytes(network.network(), layout); readouts > 0.0) add("recordings", readouts);
    if (const double fields = field_bytes(network.network(), layout); fields > 0.0) add("fields", fields);
    estimate.held_bytes = network.array_bytes();
    if (estimate.held_bytes > 0) add("arrays", static_cast<double>(estimate.held_bytes));
    estimate.peak_bytes = add_saturated(estimate.final_bytes, to_saturated(tables.peak_bytes - tables.final_bytes));
    // Then spikes come with the ids of their sources, to each shard apart.
    const bool notifies = travels && is_asynchronous(options);
    bool directed = true;
    double presynaptic_until_built = 0.0;
    if (travels) {
        const comm::ExchangeInfo& method = choose_exchange(options, layout.placement().ranks());
        directed = method.directed;
        if (directed) {
            const double presynaptic = add_presynaptic_peak(layout, tables, options, estimate);
            if (method.keeps_destinations || !options.keep_sources) {
                add("presynaptic", presynaptic);
            } else {
                presynaptic_until_built = presynaptic;
            }
        }
    }
    // The following grows while the network runs, when the memory for building has been given back.
    const double spikes_of_all = spikes_of_one * static_cast<double>(network.network().neuron_count());
    const double of_travel = directed ? spikes_of_one * tables.addresses : spikes_of_all;
    const Arrivals arrivals{
        .network = network,
        .activity = activity,
        .travel = travels && !notifies,
        .by_source = !travels || notifies || !directed || tables.dense,
        .records_per_step = travels ? of_travel : spikes_per_step,
        .steps_per_epoch = steps_per_epoch,
        .spikes_of_one = spikes_of_one,
        .spikes_per_step = spikes_per_step,
        .spikes_of_all = spikes_of_all,
        .steps = activity.time / network.network().resolution(),
    };
    const double mean_of_epoch = spikes_per_step * steps_per_epoch;
    add("spikes", outbox_bytes(mean_of_epoch, groups.shards, activity, network, layout) + groups.output_bytes +
                      arrival_bytes(tables, arrivals, groups.shards));
    if (notifies) {
        add("exchange", notification_bytes(layout, tables, options, spikes_of_one, steps_per_epoch));
    } else if (travels) {
        const ExchangeSample exchange =
            sample_exchange(layout, tables, build, options, mean_of_epoch, steps_per_epoch, activity);
        const std::uint64_t before = estimate.final_bytes;
        add("exchange", exchange.bytes);
        const std::uint64_t both = to_saturated(presynaptic_until_built + exchange.bytes);
        estimate.peak_bytes = std::max(estimate.peak_bytes, add_saturated(before, both));
        if (exchange.of_trial > 0.0) add("trial", exchange.of_trial);
    }
    estimate.peak_bytes = std::max(estimate.peak_bytes, estimate.final_bytes);
    // The memory of an emulator is that of the host.
    if (options.device == "cuda-emulator") {
        estimate.peak_bytes = add_saturated(estimate.peak_bytes, estimate.device->sum());
    }
    return estimate;
}

void check_memory(const MemoryEstimate& estimate, std::uint64_t limit, std::int32_t processes) {
    const std::string object = "memory that the network needs";
    const std::string remedy = "make the network smaller, or run it on a larger machine";
    if (limit == 0) {
        // What is held already is not available any more, but counts for a limit.
        check_room(object, estimate.peak_bytes - estimate.held_bytes, processes, remedy);
    } else if (estimate.peak_bytes > limit) {
        throw InsufficientMemoryError({.object = object,
                                       .value = bytes_as_text(estimate.peak_bytes),
                                       .bound = "memory_limit is " + bytes_as_text(limit),
                                       .remedy = "give a larger memory_limit, or " + remedy});
    }
}

void check_room(const std::string& object, std::uint64_t bytes, std::int32_t processes, const std::string& remedy) {
    const std::uint64_t available = available_memory(processes);
    if (bytes <= available) return;
    throw InsufficientMemoryError({.object = object,
                                   .value = bytes_as_text(bytes),
                                   .bound = "there are " + bytes_as_text(available) +
                                            (processes > 1 ? " available for each process here" : " available"),
                                   .remedy = remedy});
}

}  // namespace ranvier::engine
