#include "engine/simulation.hpp"

#include <map>
#include <string>
#include <tuple>

#include "bindings.hpp"

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

SimulationOptions make_options(std::uint32_t threads, bool double_state, bool double_weights,
                               std::string instruction_set, std::string table_layout, std::uint32_t delivery_window,
                               bool pin, std::uint64_t memory_limit) {
    return {.threads = threads,
            .precision = double_state ? Precision::double_precision : Precision::single_precision,
            .weight_precision = double_weights ? Precision::double_precision : Precision::single_precision,
            .instruction_set = std::move(instruction_set),
            .table_layout = std::move(table_layout),
            .delivery_window = delivery_window,
            .pin_threads = pin,
            .memory_limit = memory_limit};
}

std::map<std::string, std::uint64_t> to_map(const std::vector<engine::MemoryItem>& items) {
    std::map<std::string, std::uint64_t> result;
    for (const engine::MemoryItem& item : items) result[item.component] += item.bytes;
    return result;
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
        const nb::gil_scoped_release unlocked;
        data = simulation.connections(query);
    }
    return std::tuple(to_array<std::int64_t>(std::move(data.sources)), to_array<std::int64_t>(std::move(data.targets)),
                      to_array<double>(std::move(data.weights)), to_array<std::uint32_t>(std::move(data.delays)),
                      to_array<std::uint32_t>(std::move(data.projections)),
                      to_array<std::uint64_t>(std::move(data.handles)));
}

void bind_results(nb::module_& module) {
    nb::class_<engine::PhaseTimes>(module, "PhaseTimes", "Seconds of wall-clock time in each phase.")
        .def_ro("build", &engine::PhaseTimes::build)
        .def_ro("init", &engine::PhaseTimes::init)
        .def_ro("simulation", &engine::PhaseTimes::simulation)
        .def_ro("update", &engine::PhaseTimes::update)
        .def_ro("deliver", &engine::PhaseTimes::deliver)
        .def_ro("communicate", &engine::PhaseTimes::communicate)
        .def_ro("record", &engine::PhaseTimes::record);
    nb::class_<engine::Counts>(module, "Counts", "What there is and what happened.")
        .def_ro("neurons", &engine::Counts::neurons)
        .def_ro("synapses", &engine::Counts::synapses)
        .def_ro("spikes", &engine::Counts::spikes)
        .def_ro("synaptic_events", &engine::Counts::synaptic_events)
        .def_ro("steps", &engine::Counts::steps)
        .def_ro("population_spikes", &engine::Counts::population_spikes);
}

}  // namespace

void bind_simulation(nb::module_& module) {
    bind_results(module);
    nb::class_<Simulation>(module, "Simulation", "A network that has been built, and its state at one point in time.")
        .def(
            "__init__",
            [](Simulation* self, const engine::Network& network, std::uint32_t threads, bool double_state,
               bool double_weights, std::string instruction_set, std::string table_layout,
               std::uint32_t delivery_window, bool pin, std::uint64_t memory_limit, const Callback& progress) {
                const SimulationOptions options =
                    make_options(threads, double_state, double_weights, std::move(instruction_set),
                                 std::move(table_layout), delivery_window, pin, memory_limit);
                const engine::Poll poll = make_poll(progress);
                const nb::gil_scoped_release unlocked;
                new (self) Simulation(network, options, poll);
            },
            nb::arg("network"), nb::kw_only(), nb::arg("threads"), nb::arg("double_state"), nb::arg("double_weights"),
            nb::arg("instruction_set"), nb::arg("table_layout"), nb::arg("delivery_window"), nb::arg("pin"),
            nb::arg("memory_limit"), nb::arg("progress").none() = nb::none())
        .def(
            "run",
            [](Simulation& self, Step steps, const Callback& progress) {
                const engine::Poll poll = make_poll(progress);
                const nb::gil_scoped_release unlocked;
                self.run(steps, poll);
            },
            nb::arg("steps"), nb::arg("progress").none() = nb::none(),
            "Run; `progress` is called about 20 times a second, and what it raises stops the run after a whole step.")
        .def_prop_ro("step", &Simulation::step)
        .def_prop_ro("resolution", &Simulation::resolution)
        .def_prop_ro("threads", &Simulation::threads)
        .def_prop_ro("ranks", &Simulation::ranks)
        .def_prop_ro("instruction_set", &Simulation::instruction_set)
        .def("counts", &Simulation::counts)
        .def("reset_counts", &Simulation::reset_counts)
        .def("times", &Simulation::times)
        .def(
            "memory", [](const Simulation& self) { return to_map(self.memory()); }, "Bytes by component.")
        .def(
            "take_spikes",
            [](Simulation& self, engine::RecorderIndex recorder) {
                engine::SpikeData data = self.take_spikes(recorder);
                return std::pair(to_array<std::int64_t>(std::move(data.steps)),
                                 to_array<std::int64_t>(std::move(data.neurons)));
            },
            nb::arg("recorder"), "Steps and neurons of what was recorded since they were taken last.")
        .def(
            "take_state",
            [](Simulation& self, engine::RecorderIndex recorder) {
                engine::StateData data = self.take_state(recorder);
                return std::pair(to_array<std::int64_t>(std::move(data.steps)),
                                 to_array<double>(std::move(data.values)));
            },
            nb::arg("recorder"), "Steps and values (by sample, variable, neuron) recorded since they were taken last.")
        .def_prop_ro("recorded_bytes", &Simulation::recorded_bytes)
        .def(
            "count_connections",
            [](const Simulation& self, const OptionalIds& sources, const OptionalIds& targets,
               std::optional<std::uint32_t> projection) {
                const ConnectionQuery query = make_query(sources, targets, projection);
                const nb::gil_scoped_release unlocked;
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
                    const nb::gil_scoped_release unlocked;
                    weights = self.weights(to_span(handles));
                }
                return to_array<double>(std::move(weights));
            },
            nb::arg("handles"))
        .def(
            "set_weights",
            [](Simulation& self, const InputArray<std::uint64_t>& handles, const InputArray<double>& weights) {
                const nb::gil_scoped_release unlocked;
                self.set_weights(to_span(handles), to_span(weights));
            },
            nb::arg("handles"), nb::arg("weights"))
        .def(
            "get",
            [](const Simulation& self, std::uint32_t population, std::string_view name,
               const InputArray<std::int64_t>& indices) {
                return to_array<double>(self.get(PopulationId(population), name, to_vector<std::uint32_t>(indices)));
            },
            nb::arg("population"), nb::arg("name"), nb::arg("indices"))
        .def(
            "set",
            [](Simulation& self, std::uint32_t population, std::string_view name,
               const InputArray<std::int64_t>& indices, const InputArray<double>& values) {
                self.set(PopulationId(population), name, to_vector<std::uint32_t>(indices), to_span(values));
            },
            nb::arg("population"), nb::arg("name"), nb::arg("indices"), nb::arg("values"));

    module.def(
        "predict_memory",
        [](const engine::Network& network, std::uint32_t threads, bool double_state, bool double_weights,
           std::string instruction_set, std::string table_layout, std::uint32_t delivery_window, bool pin) {
            return to_map(engine::predict_memory(
                network, make_options(threads, double_state, double_weights, std::move(instruction_set),
                                      std::move(table_layout), delivery_window, pin, 0)));
        },
        nb::arg("network"), nb::kw_only(), nb::arg("threads"), nb::arg("double_state"), nb::arg("double_weights"),
        nb::arg("instruction_set"), nb::arg("table_layout"), nb::arg("delivery_window"), nb::arg("pin"),
        "Bytes by component that a simulation would take.");
}

}  // namespace ranvier::bindings
