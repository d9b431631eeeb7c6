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
#include "field_measurements.hpp"
#include "parallel_measurements.hpp"
#include "peak_flops.hpp"
#include "ranvier/fmm/accuracy.hpp"

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
    description["checksum"] = runs.checksum;
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

using Numbers = bindings::InputArray<double>;

/// Rows of 7 numbers: begin, end and radius.
std::vector<fmm::LinePiece> read_pieces(const Numbers& numbers) {
    std::vector<fmm::LinePiece> pieces(numbers.size() / 7);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const double* const row = numbers.data() + 7 * i;
        pieces[i] = {{row[0], row[1], row[2]}, {row[3], row[4], row[5]}, row[6]};
    }
    return pieces;
}
/// Rows of 3 numbers.
std::vector<fmm::Point> read_points(const Numbers& numbers) {
    std::vector<fmm::Point> points(numbers.size() / 3);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double* const row = numbers.data() + 3 * i;
        points[i] = {row[0], row[1], row[2]};
    }
    return points;
}

void bind_fields(nb::module_& module) {
    module.def(
        "measure_fields",
        [](const Numbers& pieces, const Numbers& targets, const Numbers& strengths, std::size_t samples,
           std::uint32_t order, std::uint32_t capacity, std::string_view precision, std::string_view translation,
           const Places& pairs, std::uint32_t repetitions) {
            check_positive("repetitions", repetitions);
            std::vector<parallel::Place> places;
            for (const auto& [processor, node] : pairs) places.push_back({.processor = processor, .node = node});
            const fmm::SolverOptions options{.order = order,
                                             .capacity = capacity,
                                             .translation = parse_choice<fmm::Translation>(translation),
                                             .precision = parse_choice<fmm::Precision>(precision)};
            FieldRun run;
            {
                const auto sources = read_pieces(pieces);
                const auto points = read_points(targets);
                const auto poll = bindings::make_poll(nullptr);
                const Unlocked unlocked;
                parallel::Team team(std::move(places), {});
                run = measure_fields(sources, points, bindings::to_span(strengths), samples, options, team, repetitions,
                                     poll);
            }
            nb::dict counts;
            counts["boxes"] = run.counts.boxes;
            counts["leaves"] = run.counts.leaves;
            counts["depth"] = run.counts.depth;
            counts["source_parts"] = run.counts.source_parts;
            counts["near_pairs"] = run.counts.near_pairs;
            counts["translations"] = run.counts.translations;
            counts["multipole_targets"] = run.counts.multipole_targets;
            counts["source_locals"] = run.counts.source_locals;
            counts["tasks"] = run.counts.tasks;
            counts["operations"] = run.counts.operations;
            counts["bytes"] = run.counts.bytes;
            nb::dict result;
            result["setup_s"] = run.setup_seconds;
            result["seconds"] = run.seconds;
            result["counts"] = counts;
            return std::pair(result, bindings::to_array<double>(std::move(run.potentials)));
        },
        nb::arg("pieces"), nb::arg("targets"), nb::arg("strengths"), nb::arg("samples"), nb::arg("order"),
        nb::arg("capacity"), nb::arg("precision"), nb::arg("translation"), nb::arg("places"), nb::arg("repetitions"),
        "Return seconds and counts of the fast multipole method, and the potentials. Pieces are rows of 7 numbers "
        "(begin, "
        "end, radius), targets of 3, strengths of one for each sample.");
    module.def(
        "sum_fields_directly",
        [](const Numbers& pieces, const Numbers& targets, const Numbers& strengths, std::size_t samples) {
            std::vector<double> potentials;
            {
                const auto sources = read_pieces(pieces);
                const auto points = read_points(targets);
                potentials.resize(points.size() * samples);
                const Unlocked unlocked;
                fmm::sum_directly(sources, points, bindings::to_span(strengths), samples, potentials);
            }
            return bindings::to_array<double>(std::move(potentials));
        },
        nb::arg("pieces"), nb::arg("targets"), nb::arg("strengths"), nb::arg("samples"),
        "Return the potentials summed pair by pair.");
    module.def(
        "choose_field_options",
        [](double accuracy, std::uint64_t sources, std::uint64_t targets, bool are_points) {
            const fmm::SolverOptions options = fmm::choose_options(accuracy, sources, targets, are_points);
            return std::tuple(options.order, options.capacity, to_string(options.precision));
        },
        nb::arg("accuracy"), nb::arg("sources"), nb::arg("targets"), nb::arg("are_points"),
        "Return the order, capacity and precision for an accuracy.");
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
            "fmm",
            [](ParallelMeasurement& measurement, std::uint32_t points, std::uint32_t order, std::uint32_t depth,
               std::uint32_t repetitions) {
                check_positive("points", points);
                check_positive("repetitions", repetitions);
                const auto run = [&] {
                    const Unlocked unlocked;
                    return measurement.fmm(points, order, depth, repetitions);
                };
                return describe(run());
            },
            nb::arg("points"), nb::arg("order"), nb::arg("depth"), nb::arg("repetitions"),
            "Compute potentials and fields of uniform points at each other by the fast multipole method, and check "
            "that "
            "all runs give the same bits.")
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
    module.doc() = "Measurements in C++ of the benchmarks `containers`, `parallel` and `fmm`.";
    // Errors of the core become those of ranvier.errors, and the interpreter waits for running measurements, as in
    // _core.
    ranvier::bindings::bind_interpreter_lock(module);
    ranvier::bindings::bind_errors(module);
    ranvier::benchmarks::bind_containers(module);
    ranvier::benchmarks::bind_parallel(module);
    ranvier::benchmarks::bind_fields(module);
}
