#include "engine/simulation.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <map>
#include <string>
#include <tuple>

#include "bindings.hpp"
#include "values.hpp"

namespace ranvier::bindings {

namespace {

using engine::ConnectionData;
using engine::ConnectionQuery;
using engine::Simulation;
using engine::SimulationOptions;
using models::Precision;

using OptionalIds = std::optional<InputArray<std::int64_t>>;
using Progress = nb::typed<nb::callable, void()>;
using Callback = std::optional<Progress>;

engine::Poll make_poll(const Callback& progress) { return bindings::make_poll(progress ? &*progress : nullptr); }

std::map<std::string, std::uint64_t> to_map(const std::vector<engine::MemoryItem>& items) {
    std::map<std::string, std::uint64_t> result;
    for (const engine::MemoryItem& item : items) result[item.component] += item.bytes;
    return result;
}

/// By the number of the node, or "any" for memory of threads that are bound to none; then by component.
auto to_map(const std::vector<engine::NodeMemoryItem>& items) {
    std::map<std::string, std::map<std::string, std::uint64_t>> result;
    for (const engine::NodeMemoryItem& item : items) {
        result[item.node ? std::to_string(*item.node) : "any"][item.component] += item.bytes;
    }
    return result;
}

/// By the number of the node; pages that lie nowhere, or nobody knows where, by a word.
auto to_map(const parallel::PagesByNode& pages) {
    std::map<std::string, std::uint64_t> result;
    for (std::size_t node = 0; node < pages.on_node.size(); ++node) {
        if (pages.on_node[node] > 0) result[std::to_string(node)] = pages.on_node[node];
    }
    if (pages.untouched > 0) result["untouched"] = pages.untouched;
    if (pages.unknown > 0) result["unknown"] = pages.unknown;
    return result;
}

auto own_ids(const Simulation& self, std::uint64_t first, std::uint64_t size) {
    const IdSequence ids = self.own_ids().within(NeuronId{first}, size);
    std::vector<std::uint64_t> list;
    if (!ids.is_progression()) list.assign(ids.list().begin(), ids.list().end());
    const std::uint64_t begin = ids.empty() ? first : ids[0].value;
    return std::tuple(begin, ids.is_progression() ? ids.stride() : 0, ids.size(),
                      to_array<std::int64_t>(std::move(list)));
}

ConnectionQuery make_query(const OptionalIds& sources, const OptionalIds& targets,
                           std::optional<std::uint32_t> projection) {
    ConnectionQuery query;
    if (sources) query.sources = to_vector<std::uint64_t>(*sources);
    if (targets) query.targets = to_vector<std::uint64_t>(*targets);
    if (projection) query.projection = ProjectionId(*projection);
    return query;
}

auto connections(const Simulation& simulation, const OptionalIds& sources, const OptionalIds& targets,
                 std::optional<std::uint32_t> projection) {
    const ConnectionQuery query = make_query(sources, targets, projection);
    ConnectionData data;
    {
        const Unlocked unlocked;
        data = simulation.connections(query);
    }
    return std::tuple(to_array<std::int64_t>(std::move(data.sources)), to_array<std::int64_t>(std::move(data.targets)),
                      to_array<double>(std::move(data.weights)), to_array<std::uint32_t>(std::move(data.delays)),
                      to_array<std::uint32_t>(std::move(data.projections)),
                      to_array<std::uint64_t>(std::move(data.handles)));
}

models::Precision to_precision(bool is_double) {
    return is_double ? Precision::double_precision : Precision::single_precision;
}

void bind_options(nb::module_& module) {
    nb::class_<SimulationOptions>(module, "SimulationOptions", "How a simulation is built and run.")
        .def(nb::init<>())
        .def_rw("threads", &SimulationOptions::threads)
        .def_prop_rw(
            "double_state", [](const SimulationOptions& o) { return o.precision == Precision::double_precision; },
            [](SimulationOptions& o, bool is_double) { o.precision = to_precision(is_double); })
        .def_prop_rw(
            "double_weights",
            [](const SimulationOptions& o) { return o.weight_precision == Precision::double_precision; },
            [](SimulationOptions& o, bool is_double) { o.weight_precision = to_precision(is_double); })
        .def_rw("instruction_set", &SimulationOptions::instruction_set)
        .def_rw("table_layout", &SimulationOptions::table_layout)
        .def_rw("delivery_window", &SimulationOptions::delivery_window)
        .def_rw("pinning", &SimulationOptions::pinning)
        .def_rw("shards", &SimulationOptions::shards)
        .def_rw("stealing", &SimulationOptions::stealing)
        .def_rw("costs", &SimulationOptions::costs)
        .def_rw("measure_costs", &SimulationOptions::measure_costs)
        .def_rw("memory_limit", &SimulationOptions::memory_limit)
        .def_rw("placement", &SimulationOptions::placement)
        .def(
            "set_ranks",
            [](SimulationOptions& o, const InputArray<std::int32_t>& ranks) {
                o.ranks = std::make_shared<const std::vector<std::int32_t>>(to_vector<std::int32_t>(ranks));
            },
            nb::arg("ranks"), "A rank for each neuron and source, which goes before the placement.")
        .def_rw("exchange", &SimulationOptions::exchange)
        .def_rw("intervals", &SimulationOptions::intervals)
        .def_rw("spike_buffer", &SimulationOptions::spike_buffer)
        .def_rw("allgather_spikes", &SimulationOptions::allgather_spikes)
        .def_rw("connection_buffer", &SimulationOptions::connection_buffer)
        .def_rw("sort_connections", &SimulationOptions::sort_connections, nb::for_setter(nb::arg("value").none()))
        .def_rw("keep_sources", &SimulationOptions::keep_sources)
        .def_rw("row_numbering", &SimulationOptions::row_numbering)
        .def_rw("wait_apart", &SimulationOptions::wait_apart)
        .def_rw("trace_epochs", &SimulationOptions::trace_epochs)
        .def_rw("invented_rates", &SimulationOptions::invented_rates);
}

engine::Gather to_gather(std::string_view name) {
    if (name == "everywhere") return engine::Gather::everywhere;
    if (name == "root") return engine::Gather::root;
    return engine::Gather::local;
}

/// Columns of equal length, by name.
std::map<std::string, std::vector<double>> to_columns(const std::vector<engine::WorkerTimes>& times) {
    std::map<std::string, std::vector<double>> columns;
    for (const engine::WorkerTimes& t : times) {
        columns["update"].push_back(t.update);
        columns["collocate"].push_back(t.collocate);
        columns["communicate"].push_back(t.communicate);
        columns["deliver"].push_back(t.deliver);
        columns["wait"].push_back(t.wait);
        columns["record"].push_back(t.record);
    }
    return columns;
}

auto epoch_times(const Simulation& simulation) {
    std::vector<double> compute;
    std::vector<double> wait;
    std::vector<double> exchange;
    std::vector<std::uint64_t> received;
    for (const engine::EpochTimes& epoch : simulation.epoch_times()) {
        compute.push_back(epoch.compute);
        wait.push_back(epoch.wait);
        exchange.push_back(epoch.exchange);
        received.push_back(epoch.spikes_received);
    }
    return std::tuple(to_array<double>(std::move(compute)), to_array<double>(std::move(wait)),
                      to_array<double>(std::move(exchange)), to_array<std::int64_t>(std::move(received)));
}

std::map<std::string, std::uint64_t> traffic_counts(const engine::Traffic& traffic) {
    const comm::ExchangeCounts& counts = traffic.counts;
    return {{"spikes_sent", counts.spikes_sent},
            {"spikes_received", counts.spikes_received},
            {"bytes_sent", counts.bytes_sent},
            {"messages", counts.messages},
            {"exchanges", counts.exchanges},
            {"rounds", counts.rounds},
            {"buffer_bytes", counts.buffer_bytes},
            {"presynaptic_entries", traffic.presynaptic_entries},
            {"presynaptic_bytes", traffic.presynaptic_bytes},
            {"build_rounds", traffic.build_rounds}};
}

void bind_results(nb::module_& module) {
    nb::class_<engine::PhaseTimes>(module, "PhaseTimes", "Seconds of wall-clock time in each phase.")
        .def_ro("build", &engine::PhaseTimes::build)
        .def_ro("init", &engine::PhaseTimes::init)
        .def_ro("simulation", &engine::PhaseTimes::simulation)
        .def_ro("update", &engine::PhaseTimes::update)
        .def_ro("collocate", &engine::PhaseTimes::collocate)
        .def_ro("communicate", &engine::PhaseTimes::communicate)
        .def_ro("deliver", &engine::PhaseTimes::deliver)
        .def_ro("wait", &engine::PhaseTimes::wait)
        .def_ro("record", &engine::PhaseTimes::record);
    nb::class_<engine::Counts>(module, "Counts", "What there is and what happened.")
        .def_ro("neurons", &engine::Counts::neurons)
        .def_ro("synapses", &engine::Counts::synapses)
        .def_ro("spikes", &engine::Counts::spikes)
        .def_ro("synaptic_events", &engine::Counts::synaptic_events)
        .def_ro("steps", &engine::Counts::steps)
        .def_ro("population_spikes", &engine::Counts::population_spikes);
}

/// (population, indices of neurons in it, values)
using InputChange = std::tuple<std::uint32_t, InputArray<std::int64_t>, InputValues>;

void set(Simulation& self, const std::vector<InputChange>& changes) {
    std::vector<engine::NeuronChange> all;
    all.reserve(changes.size());
    for (const auto& [population, indices, values] : changes) {
        all.push_back({.population = PopulationId(population),
                       .indices = to_vector<std::uint64_t>(indices),
                       .values = to_values(values)});
    }
    const Unlocked unlocked;
    self.set(all);
}

void set_stimulus(Simulation& self, std::size_t stimulus, const InputValues& values, const InputSequences& sequences,
                  const std::optional<InputValue>& weight) {
    auto own_values = to_values(values);
    auto own_sequences = to_lists(sequences);
    std::optional<engine::Values> own_weight;
    if (weight) own_weight = to_values(*weight);
    const Unlocked unlocked;
    self.set_stimulus(stimulus, std::move(own_values), std::move(own_sequences), std::move(own_weight));
}

void set_spike_times(Simulation& self, std::uint32_t population, const InputArray<std::int64_t>& units,
                     const InputArray<double>& times, const InputArray<std::int64_t>& counts) {
    const std::vector<std::uint64_t> chosen = to_vector<std::uint64_t>(units);
    const std::vector<std::vector<double>> lists = to_lists(times, counts);
    const Unlocked unlocked;
    self.set_spike_times(PopulationId(population), chosen, lists);
}

void bind_changes(nb::class_<Simulation>& simulation) {
    simulation
        .def("set", set, nb::arg("changes"), "Values of parameters and variables of neurons, all together or none.")
        .def("set_stimulus", set_stimulus, nb::arg("stimulus"), nb::arg("values"), nb::arg("sequences"),
             nb::arg("weight").none(), "Other values of a stimulus from the next step on.")
        .def("set_spike_times", set_spike_times, nb::arg("population"), nb::arg("units"), nb::arg("times"),
             nb::arg("counts"), "Other spikes for units to play; unit i plays the next counts[i] of the times.");
}

/// What builds a network and runs it.
void bind_construction_and_runs(nb::class_<Simulation>& simulation) {
    simulation
        .def(
            "__init__",
            [](Simulation* self, const engine::Network& network, const SimulationOptions& options,
               std::shared_ptr<comm::Communicator> communicator, const Callback& progress) {
                const engine::Poll poll = make_poll(progress);
                // Other threads may change the description as soon as the lock is given away.
                engine::Network copy = network;
                SimulationOptions own_options = options;
                const Unlocked unlocked;
                new (self) Simulation(std::move(copy), std::move(own_options), poll, std::move(communicator));
            },
            nb::arg("network"), nb::arg("options"), nb::arg("communicator").none(),
            nb::arg("progress").none() = nb::none(), "One process alone where the communicator is None.")
        .def(
            "run",
            [](Simulation& self, Step steps, const Callback& progress) {
                const engine::Poll poll = make_poll(progress);
                const Unlocked unlocked;
                self.run(steps, poll);
            },
            nb::arg("steps"), nb::arg("progress").none() = nb::none(),
            "Run; `progress` is called about 20 times a second, and what it raises stops the run after a whole step.")
        .def_prop_ro("step", &Simulation::step)
        .def_prop_ro("resolution", &Simulation::resolution);
}

/// What the simulation uses of the machine, and how it has cut the network.
void bind_machine(nb::class_<Simulation>& simulation) {
    simulation.def_prop_ro("threads", &Simulation::threads)
        .def_prop_ro("shards", &Simulation::shards)
        .def_prop_ro(
            "places",
            [](const Simulation& s) {
                std::vector<std::pair<int, std::uint32_t>> places;
                for (const parallel::Place& place : s.places()) places.emplace_back(place.processor, place.node);
                return places;
            },
            "Of each thread of this process: its processor, -1 if it is not pinned, and its node.")
        .def_prop_ro("is_crowded", &Simulation::is_crowded)
        .def("costs", &Simulation::costs, "Seconds a step of a neuron of each population, on average.")
        .def(
            "crowding",
            [](const Simulation& s) {
                const engine::Crowding crowding = s.crowding();
                return std::tuple(crowding.delayed, crowding.crowded, crowding.taken_over, crowding.asleep);
            },
            "Return the seconds for which threads waited for a processor, those in which they were not bound for that, "
            "how often a shard was advanced for a thread that was put aside, and the seconds for which the process "
            "slept "
            "while it waited for others.")
        .def(
            "stealing_counts",
            [](const Simulation& s) {
                std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> all;
                for (const parallel::StealingCounts& counts : s.stealing_counts()) {
                    all.emplace_back(counts.own, counts.local, counts.remote);
                }
                return all;
            },
            "Of each thread of this process: shards that it updated, its own, those of its node, and others.")
        .def_prop_ro("ranks", &Simulation::ranks)
        .def_prop_ro("sorts_connections", &Simulation::sorts_connections)
        .def_prop_ro("instruction_set", &Simulation::instruction_set)
        .def_prop_ro("epoch_steps", &Simulation::epoch_steps);
}

/// What has happened, how long it took and what memory it takes.
void bind_accounts(nb::class_<Simulation>& simulation) {
    simulation.def("counts", &Simulation::counts, nb::call_guard<Unlocked>())
        .def("reset_counts", &Simulation::reset_counts)
        .def("times", &Simulation::times)
        .def(
            "worker_times", [](const Simulation& self) { return to_columns(self.worker_times()); },
            "Seconds by phase, for each thread of this process.")
        .def("epoch_times", epoch_times,
             "Seconds of computation, waiting and exchange of each epoch that was traced, and spikes received in it.")
        .def_prop_ro("exchange", [](const Simulation& self) { return self.traffic().method; })
        .def(
            "traffic", [](const Simulation& self) { return traffic_counts(self.traffic()); },
            "What this process has exchanged.")
        .def(
            "memory", [](const Simulation& self) { return to_map(self.memory()); }, "Bytes by component.")
        .def(
            "memory_by_node", [](const Simulation& self) { return to_map(self.memory_by_node()); },
            "Bytes by NUMA node (or \"any\") and component.")
        .def(
            "memory_pages", [](const Simulation& self) { return to_map(self.memory_pages()); },
            "Bytes of the pages of larger arrays by the NUMA node that they lie on.");
}

/// What recorders have recorded.
void bind_recordings(nb::class_<Simulation>& simulation) {
    simulation
        .def(
            "take_spikes",
            [](Simulation& self, engine::RecorderIndex recorder, std::string_view gather) {
                engine::SpikeData data;
                {
                    const Unlocked unlocked;
                    data = self.take_spikes(recorder, to_gather(gather));
                }
                return std::pair(to_array<std::int64_t>(std::move(data.steps)),
                                 to_array<std::int64_t>(std::move(data.neurons)));
            },
            nb::arg("recorder"), nb::arg("gather"),
            "Steps and neurons of what was recorded since they were taken last: everywhere, at the root, or local.")
        .def("own_ids", own_ids, nb::arg("first"), nb::arg("size"),
             "Ids of this process among `size` from `first` on: the first, the stride and the number of them; with "
             "stride 0 "
             "they follow no rule but stand in the array.")
        .def(
            "take_state",
            [](Simulation& self, engine::RecorderIndex recorder, std::string_view gather) {
                engine::StateData data;
                {
                    const Unlocked unlocked;
                    data = self.take_state(recorder, to_gather(gather));
                }
                return std::tuple(to_array<std::int64_t>(std::move(data.steps)),
                                  to_array<double>(std::move(data.values)),
                                  to_array<std::int64_t>(std::move(data.places)));
            },
            nb::arg("recorder"), nb::arg("gather"),
            "Steps, values (by sample, variable, neuron) recorded since they were taken last, and which neurons of the "
            "recorder they are of.")
        .def_prop_ro("recorded_bytes", &Simulation::recorded_bytes);
}

/// Queries of connections, and changes of their weights.
void bind_connections(nb::class_<Simulation>& simulation) {
    simulation
        .def(
            "count_connections",
            [](const Simulation& self, const OptionalIds& sources, const OptionalIds& targets,
               std::optional<std::uint32_t> projection) {
                const ConnectionQuery query = make_query(sources, targets, projection);
                const Unlocked unlocked;
                return self.count_connections(query);
            },
            nb::arg("sources").none(), nb::arg("targets").none(), nb::arg("projection").none())
        .def("connections", connections, nb::arg("sources").none(), nb::arg("targets").none(),
             nb::arg("projection").none(), "Sources, targets, weights, delays (steps), projections, handles.")
        .def(
            "weights",
            [](const Simulation& self, const InputArray<std::uint64_t>& handles) {
                std::vector<double> weights;
                {
                    const Unlocked unlocked;
                    weights = self.weights(to_span(handles));
                }
                return to_array<double>(std::move(weights));
            },
            nb::arg("handles"))
        .def(
            "stored_here",
            [](const Simulation& self, const InputArray<std::uint64_t>& handles) {
                std::vector<std::uint64_t> indices;
                {
                    const Unlocked unlocked;
                    indices = self.stored_here(to_span(handles));
                }
                return to_array<std::int64_t>(std::move(indices));
            },
            nb::arg("handles"), "Which of some synapses are stored on this process.")
        .def(
            "set_weights",
            [](Simulation& self, const InputArray<std::uint64_t>& handles, const InputArray<double>& weights) {
                const Unlocked unlocked;
                self.set_weights(to_span(handles), to_span(weights));
            },
            nb::arg("handles"), nb::arg("weights"));
}

/// Parameters and variables of neurons.
void bind_state(nb::class_<Simulation>& simulation) {
    simulation.def(
        "get",
        [](const Simulation& self, std::uint32_t population, std::string_view name,
           const InputArray<std::int64_t>& indices) {
            const std::vector<std::uint64_t> chosen = to_vector<std::uint64_t>(indices);
            std::vector<double> values;
            {
                const Unlocked unlocked;
                values = self.get(PopulationId(population), name, chosen);
            }
            return to_array<double>(std::move(values));
        },
        nb::arg("population"), nb::arg("name"), nb::arg("indices"));
}

/// What is told without a simulation.
void bind_forecasts(nb::module_& module) {
    module.def(
        "exchanges",
        [] {
            std::map<std::string, std::string> methods;
            for (const comm::ExchangeInfo* info : comm::exchanges()) methods.emplace(info->name, info->summary);
            return methods;
        },
        "The methods of exchanging spikes, by name, with a summary of each.");
    module.def(
        "predict_memory",
        [](const engine::Network& network, const SimulationOptions& options, std::int32_t ranks, std::int32_t rank,
           double rate, double most_in_step, double most_in_epoch, double most_of_late) {
            return to_map(engine::predict_memory(network, options, ranks, Rank{rank},
                                                 {.rate = rate,
                                                  .most_in_step = most_in_step,
                                                  .most_in_epoch = most_in_epoch,
                                                  .most_of_late = most_of_late}));
        },
        nb::arg("network"), nb::arg("options"), nb::arg("ranks") = 1, nb::arg("rank") = 0, nb::arg("rate") = 10.0,
        nb::arg("most_in_step") = 0.0, nb::arg("most_in_epoch") = 0.0, nb::arg("most_of_late") = 0.0,
        "Bytes by component that a simulation would take.");
    module.def("sorts_connections", engine::sorts_connections, nb::arg("network"), nb::arg("options"), nb::arg("ranks"),
               "Whether connections would be sorted by source.");
}

}  // namespace

void bind_simulation(nb::module_& module) {
    bind_options(module);
    bind_results(module);
    nb::class_<Simulation> simulation(module, "Simulation",
                                      "A network that has been built, and its state at one point in time.");
    bind_construction_and_runs(simulation);
    bind_machine(simulation);
    bind_accounts(simulation);
    bind_recordings(simulation);
    bind_connections(simulation);
    bind_state(simulation);
    bind_changes(simulation);
    bind_forecasts(module);
}

}  // namespace ranvier::bindings
