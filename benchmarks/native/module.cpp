#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "container_measurements.hpp"
#include "parallel_measurements.hpp"
#include "peak_flops.hpp"

namespace ranvier::benchmarks {

namespace {

namespace nb = nanobind;

using bindings::Unlocked;
using Places = std::vector<std::pair<int, std::uint32_t>>;

void make_measurement(ParallelMeasurement* measurement, const Places& pairs, std::string_view stealing,
                      const std::vector<std::vector<std::uint32_t>>& distances) {
    std::vector<parallel::Place> places;
    for (const auto& [processor, node] : pairs) places.push_back({.processor = processor, .node = node});
    if (places.empty()) {
        throw ShapeError({.object = "places of threads",
                          .value = "none",
                          .bound = "a team has at least one worker",
                          .remedy = "give the place of each"});
    }
    std::vector<std::uint32_t> rows;
    for (const std::vector<std::uint32_t>& row : distances) {
        if (row.size() != distances.size()) {
            throw ShapeError({.object = "distances of NUMA nodes",
                              .value = std::to_string(distances.size()) + " x " + std::to_string(row.size()),
                              .bound = "they are from each node to each",
                              .remedy = "give a square"});
        }
        rows.insert(rows.end(), row.begin(), row.end());
    }
    new (measurement) ParallelMeasurement(std::move(places),
                                          {.stealing = parse_choice<parallel::StealingPolicy>(stealing),
                                           .distances = parallel::NodeDistances(std::move(rows))},
                                          bindings::make_poll(nullptr));
}

Places places_of(const ParallelMeasurement& measurement) {
    Places places;
    for (const parallel::Place& place : measurement.team().places()) places.emplace_back(place.processor, place.node);
    return places;
}

nb::typed<nb::dict, nb::str, nb::any> describe(const TaskRuns& runs) {
    nb::list workers;
    for (const parallel::TaskCounts& counts : runs.counts) {
        nb::dict worker;
        worker["executed"] = counts.executed;
        worker["stolen_locally"] = counts.stolen_locally;
        worker["stolen_remotely"] = counts.stolen_remotely;
        worker["failed_searches"] = counts.failed_searches;
        worker["sleeps"] = counts.sleeps;
        workers.append(worker);
    }
    nb::dict description;
    description["seconds"] = runs.seconds;
    description["tasks"] = runs.tasks;
    description["workers"] = workers;
    description["operations"] = runs.operations;
    description["node_operations"] = runs.node_operations;
    return description;
}

/// Rejects counts without work, or by which results would be divided.
void check_positive(std::string_view name, std::uint32_t value) {
    if (value > 0) return;
    throw ValueOutOfBoundsError(
        {.object = std::string(name), .value = "0", .bound = "it must be at least 1", .remedy = ""});
}

/// A repeated measurement as a method in Python, which releases the interpreter lock meanwhile.
template <class Result>
auto repeated(Result (ParallelMeasurement::*measure)(std::uint32_t, std::uint32_t), const char* size) {
    return [measure, size](ParallelMeasurement& measurement, std::uint32_t number, std::uint32_t repetitions) {
        check_positive(size, number);
        check_positive("repetitions", repetitions);
        const auto run = [&] {
            const Unlocked unlocked;
            return (measurement.*measure)(number, repetitions);
        };
        if constexpr (std::is_same_v<Result, TaskRuns>) {
            return describe(run());
        } else {
            return run();
        }
    };
}

void bind_containers(nb::module_& module) {
    module.def(
        "measure_containers",
        [](std::string_view kind, std::uint32_t neurons, Step steps, Step steps_at_once) {
            const Unlocked unlocked;
            const ContainerRun run =
                measure_containers(kind, {.neurons = neurons, .steps = steps, .steps_at_once = steps_at_once});
            return std::tuple(run.seconds, run.iterations, run.events, run.checksum);
        },
        nb::arg("kind"), nb::arg("neurons"), nb::arg("steps"), nb::arg("steps_at_once"),
        "Return the seconds of the work with the containers, the number of turns of all neurons, the number of events, "
        "and a checksum of all results.");
}

void bind_parallel(nb::module_& module) {
    nb::class_<ParallelMeasurement>(module, "ParallelMeasurement", "Measures the costs of a team of threads.")
        .def(
            "__init__", make_measurement, nb::arg("places"), nb::arg("stealing"),
            nb::arg("distances") = std::vector<std::vector<std::uint32_t>>{},
            "Start threads at these places: (processor or -1, number of the NUMA node) each; with rows of distances of "
            "the nodes, by which victims are ordered.")
        .def("places", places_of, "Return where the threads are; -1 also where the system refused to bind one.")
        .def(
            "spins", [](const ParallelMeasurement& measurement) { return measurement.team().spins() > 0; },
            "Return whether waiting threads spin for a while before they sleep.")
        .def("barrier", repeated(&ParallelMeasurement::barrier, "rounds"), nb::arg("rounds"), nb::arg("repetitions"),
             "Return the seconds of one barrier, the mean of the rounds, in each repetition.")
        .def("rounds", repeated(&ParallelMeasurement::rounds, "rounds"), nb::arg("rounds"), nb::arg("repetitions"),
             "Return the seconds of one round of an empty item for each thread.")
        .def(
            "job",
            [](ParallelMeasurement& measurement, std::uint32_t repetitions) {
                const Unlocked unlocked;
                return measurement.job(repetitions);
            },
            nb::arg("repetitions"), "Return the seconds of an empty job, from call to return.")
        .def("empty_tasks", repeated(&ParallelMeasurement::empty_tasks, "tasks per worker"),
             nb::arg("tasks_per_worker"), nb::arg("repetitions"),
             "Create this number of empty tasks on each thread, and execute them.")
        .def("unbalanced_tree", repeated(&ParallelMeasurement::unbalanced_tree, "depth"), nb::arg("depth"),
             nb::arg("repetitions"), "Execute an unbalanced tree of tasks that starts on one thread.")
        .def(
            "tree_reduction",
            [](ParallelMeasurement& measurement, std::uint32_t levels, std::uint32_t repetitions, bool uneven,
               bool by_cost) {
                check_positive("levels", levels);
                check_positive("repetitions", repetitions);
                const auto run = [&] {
                    const Unlocked unlocked;
                    return measurement.tree_reduction(levels, repetitions, {.uneven = uneven, .by_cost = by_cost});
                };
                return describe(run());
            },
            nb::arg("levels"), nb::arg("repetitions"), nb::arg("uneven") = false, nb::arg("by_cost") = false,
            "Sum numbers up a binary tree of this number of levels, and check the sums. Boxes of an uneven tree have "
            "different numbers; by cost, the tree is divided among the nodes by counted operations.");
    module.def(
        "measure_peak",
        [](const std::vector<int>& processors, double seconds) {
            const Unlocked unlocked;
            const PeakFlops peak = measure_peak(processors, seconds);
            return std::tuple(peak.per_second, peak.instruction_set, peak.per_instruction);
        },
        nb::arg("processors"), nb::arg("seconds"),
        "Return the peak of double-precision operations per second of fused multiply-adds on these processors, the "
        "instruction set that was used, and the operations of one instruction.");
}

}  // namespace

}  // namespace ranvier::benchmarks

NB_MODULE(_measurements, module) {
    module.doc() = "Measurements in C++ of the benchmarks `containers` and `parallel`.";
    // Errors of the core become those of ranvier.errors, and the interpreter waits for running measurements, as in
    // _core.
    ranvier::bindings::bind_interpreter_lock(module);
    ranvier::bindings::bind_errors(module);
    ranvier::benchmarks::bind_containers(module);
    ranvier::benchmarks::bind_parallel(module);
}
