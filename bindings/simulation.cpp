#include "simulation.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <tuple>
#include <vector>

#include "values.hpp"

namespace ranvier::bindings {

namespace {

using engine::Simulation;
using engine::SimulationOptions;

using Progress = nb::typed<nb::callable, void()>;
using Callback = std::optional<Progress>;

engine::Poll make_poll(const Callback& progress) { return bindings::make_poll(progress ? &*progress : nullptr); }

/// (population, indices of neurons in it, values)
using InputChange = std::tuple<std::uint32_t, InputArray<std::int64_t>, InputValues>;

void set(Simulation& self, const std::vector<InputChange>& changes) {
    std::vector<network::NeuronChange> all;
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
                  const std::optional<InputValue>& weight, const std::map<std::string, Step>& steps) {
    auto changed_values = to_values(values);
    auto changed_sequences = to_lists(sequences);
    std::optional<network::Values> changed_weight;
    if (weight) changed_weight = to_values(*weight);
    const Unlocked unlocked;
    self.set_stimulus(stimulus, std::move(changed_values), std::move(changed_sequences), std::move(changed_weight),
                      {steps.begin(), steps.end()});
}

void set_spike_times(Simulation& self, std::uint32_t population, const InputArray<std::int64_t>& units,
                     const InputArray<double>& times, const InputArray<std::int64_t>& counts) {
    const std::vector<std::uint64_t> chosen = to_vector<std::uint64_t>(units);
    const std::vector<std::vector<double>> lists = to_lists(times, counts);
    const Unlocked unlocked;
    self.set_spike_times(PopulationId(population), chosen, lists);
}

void set_sequences(Simulation& self, std::uint32_t population, const InputSequences& sequences) {
    auto copied = to_lists(sequences);
    const Unlocked unlocked;
    self.set_sequences(PopulationId(population), std::move(copied));
}

void bind_changes(nb::class_<Simulation>& simulation) {
    simulation.def("set", set, nb::arg("changes"), "Set parameters and variables of neurons, all or none.")
        .def("set_stimulus", set_stimulus, nb::arg("stimulus"), nb::arg("values"), nb::arg("sequences"),
             nb::arg("weight").none(), nb::arg("steps") = std::map<std::string, Step>(),
             "Change values of a stimulus from the next step on; `steps` are those after which values were "
             "given.")
        .def("set_sequences", set_sequences, nb::arg("population"), nb::arg("sequences"),
             "Change sequences of sources of a stimulator from the next step on.")
        .def("set_spike_times", set_spike_times, nb::arg("population"), nb::arg("units"), nb::arg("times"),
             nb::arg("counts"), "Change the spikes that units play; unit i plays the next counts[i] of the times.");
}

/// Construction and runs.
void bind_construction_and_runs(nb::class_<Simulation>& simulation) {
    simulation
        .def(
            "__init__",
            [](Simulation* self, const network::Network& network, const SimulationOptions& options,
               std::shared_ptr<comm::Communicator> communicator, const Callback& progress) {
                const engine::Poll poll = make_poll(progress);
                // Other threads may change the description once the lock is released.
                network::Network copy = network;
                SimulationOptions copied_options = options;
                const Unlocked unlocked;
                new (self) Simulation(std::move(copy), std::move(copied_options), poll, std::move(communicator));
            },
            nb::arg("network"), nb::arg("options"), nb::arg("communicator").none(),
            nb::arg("progress").none() = nb::none(), "A single process if the communicator is None.")
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
        .def_prop_ro("timed_steps", &Simulation::timed_steps,
                     "Steps since the last reset_counts, or since a state was loaded.")
        .def_prop_ro("resolution", &Simulation::resolution);
}

/// Machine resources of the simulation, and the division of the network.
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
        .def("costs", &Simulation::costs, "Mean seconds per step of a neuron, by population.")
        .def(
            "crowding",
            [](const Simulation& s) {
                const engine::Crowding crowding = s.crowding();
                return std::tuple(crowding.delayed, crowding.crowded, crowding.taken_over, crowding.asleep);
            },
            "Return the seconds for which threads waited for a processor, those in which they were not bound for that, "
            "how often a shard was advanced in place of a preempted thread, and the seconds for which the process "
            "slept "
            "while it waited for others.")
        .def(
            "stealing_counts",
            [](const Simulation& s) {
                std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> all;
                for (const parallel::StealingCounts& counts : s.stealing_counts()) {
                    all.emplace_back(counts.assigned, counts.local, counts.remote);
                }
                return all;
            },
            "By thread of this process: numbers of updated shards that belong to it, to its node, and to others.")
        .def_prop_ro("shared_deliveries", &Simulation::shared_deliveries,
                     "How often a thread of this process has delivered spikes to a shard of another one.")
        .def(
            "stepping",
            [](const Simulation& s) {
                const engine::SteppingCounts stepping = s.stepping();
                return std::tuple(stepping.is_asynchronous, stepping.visits, stepping.moved_bytes);
            },
            "Return whether stepping is asynchronous, how often a shard of this process was advanced, and the bytes "
            "that this accessed.")
        .def("visits", &Simulation::visits,
             "How often a shard of this process advanced by 0, 1, ... steps at a time; empty if all advance together.")
        .def_prop_ro("ranks", &Simulation::ranks)
        .def_prop_ro("sorts_connections", &Simulation::sorts_connections)
        .def_prop_ro("instruction_set", &Simulation::instruction_set)
        .def_prop_ro("epoch_steps", &Simulation::epoch_steps);
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
    bind_synapse_parameters(simulation);
    bind_state(simulation);
    bind_changes(simulation);
    bind_saved_state(module);
    bind_forecasts(module);
}

}  // namespace ranvier::bindings
