#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "engine/fields/line_potentials.hpp"
#include "engine/fields/process_group.hpp"
#include "engine/fields/spike_kernels.hpp"
#include "geometry.hpp"
#include "ranvier/base/choice.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/fmm/accuracy.hpp"
#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/solver.hpp"

namespace ranvier::bindings {

namespace {

using fmm::Point;

auto line_potentials(const InputTriples& begin, const InputTriples& end, const InputArray<double>& radius,
                     const InputTriples& targets) {
    const std::vector<fmm::LinePiece> pieces = pieces_of(begin, end, radius);
    const std::vector<Point> points = points_of(targets);
    engine::LinePotentials found;
    {
        const Unlocked unlocked;
        found = engine::line_potentials(pieces, points);
    }
    return std::pair(to_array<double>(std::move(found.potentials)), to_array<std::int64_t>(std::move(found.inside)));
}

/// A point of the plane, its normal, and the strength of images.
using InputPlane = std::optional<std::tuple<std::array<double, 3>, std::array<double, 3>, double>>;

std::optional<fmm::Plane> plane_of(const InputPlane& given) {
    if (!given) return std::nullopt;
    const auto& [point, normal, image] = *given;
    return fmm::Plane{{point[0], point[1], point[2]}, {normal[0], normal[1], normal[2]}, image};
}

/// The numbers of pieces or targets of one process among those of all.
std::vector<std::uint32_t> numbers_of(const InputArray<std::int64_t>& numbers) {
    return {numbers.data(), numbers.data() + numbers.size()};
}

/// Potentials of line pieces at points by the fast multipole method: of those of this process, or of those of several.
class FieldSolver {
   public:
    /// What this process has. All of it, if there is no communicator: then there are no numbers.
    struct Given {
        std::vector<fmm::LinePiece> pieces;
        std::vector<std::uint32_t> piece_numbers;
        std::vector<Point> targets;
        std::vector<std::uint32_t> target_numbers;

        fmm::Portion portion() const {
            return {
                .pieces = pieces, .piece_numbers = piece_numbers, .targets = targets, .target_numbers = target_numbers};
        }
    };

    FieldSolver(Given given, const fmm::SolverOptions& options, parallel::Team& team, comm::Communicator* communicator)
        : given_(std::move(given)), target_count_(given_.targets.size()), plane_(options.plane) {
        if (communicator != nullptr) processes_.emplace(*communicator);
        solver_ = std::make_unique<fmm::Solver>(given_.portion(), options, team, group());
    }

    fmm::Solver& solver() const { return *solver_; }
    fmm::SolverGroup& group() {
        if (processes_) return *processes_;
        return fmm::lone_group();
    }
    const Given& given() const { return given_; }
    std::size_t target_count() const { return target_count_; }
    const std::optional<fmm::Plane>& plane() const { return plane_; }
    void release() { given_ = {}; }

   private:
    Given given_;
    std::size_t target_count_;
    std::optional<fmm::Plane> plane_;
    std::optional<engine::ProcessGroup> processes_;
    std::unique_ptr<fmm::Solver> solver_;
};

/// Numbers, where processes have a part each.
using OptionalNumbers = std::optional<InputArray<std::int64_t>>;

void make_solver(FieldSolver* self, const InputTriples& begin, const InputTriples& end,
                 const InputArray<double>& radius, const InputTriples& targets, std::uint32_t order,
                 std::uint32_t capacity, std::string_view precision, const InputPlane& plane,
                 const engine::Simulation& simulation, comm::Communicator* communicator,
                 const OptionalNumbers& piece_numbers, const OptionalNumbers& target_numbers) {
    const fmm::SolverOptions options{.order = order,
                                     .capacity = capacity,
                                     .precision = parse_choice<fmm::Precision>(precision),
                                     .plane = plane_of(plane)};
    FieldSolver::Given given;
    given.pieces = pieces_of(begin, end, radius);
    given.targets = points_of(targets);
    if (piece_numbers) given.piece_numbers = numbers_of(*piece_numbers);
    if (target_numbers) given.target_numbers = numbers_of(*target_numbers);
    const Unlocked unlocked;
    new (self) FieldSolver(std::move(given), options, simulation.team(), communicator);
}

/// One row for each source, bin or target.
using InputRows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

OutputArray<double> evaluate_fields(const FieldSolver& self, const InputRows& strengths) {
    const std::size_t samples = strengths.shape(1);
    std::vector<double> potentials(self.target_count() * samples);
    {
        const Unlocked unlocked;
        self.solver().evaluate({strengths.data(), strengths.size()}, samples, potentials);
    }
    return to_array<double>(std::move(potentials));
}

/// The same sums at some points, pair by pair.
OutputArray<double> sum_fields_directly(FieldSolver& self, const InputRows& strengths, const InputTriples& targets) {
    const std::vector<Point> points = points_of(targets);
    const std::size_t samples = strengths.shape(1);
    if (strengths.shape(0) != self.given().pieces.size()) {
        throw InternalError("strengths of other pieces than those of a solver");
    }
    std::vector<double> potentials(points.size() * samples);
    {
        const Unlocked unlocked;
        fmm::sum_in_group(self.given().pieces, points, {strengths.data(), strengths.size()}, samples, potentials,
                          self.plane(), self.group());
    }
    return to_array<double>(std::move(potentials));
}

void bind_solver(nb::module_& module) {
    nb::class_<FieldSolver>(module, "FieldSolver",
                            "Potentials of line pieces at targets by the fast multipole method. A piece of strength 1 "
                            "has the potential 1 / distance, far from it.")
        .def("__init__", make_solver, nb::arg("begin"), nb::arg("end"), nb::arg("radius"), nb::arg("targets"),
             nb::kw_only(), nb::arg("order"), nb::arg("capacity"), nb::arg("precision"), nb::arg("plane").none(),
             nb::arg("simulation"), nb::arg("communicator").none(), nb::arg("piece_numbers").none(),
             nb::arg("target_numbers").none(), nb::keep_alive<1, 10>(), nb::keep_alive<1, 11>(),
             "Make a solver that uses the threads of a simulation, between its runs. With a communicator, each process "
             "gives some of the pieces and targets, with their ascending numbers among those of all; potentials have "
             "the "
             "same bits for any division. Then all methods are collective. A plane is a point, its normal, and the "
             "strength of images.")
        .def("evaluate", evaluate_fields, nb::arg("strengths"),
             "Return the potentials for strengths of the shape (pieces, samples), by target, then sample.")
        .def("sum_directly", sum_fields_directly, nb::arg("strengths"), nb::arg("targets"),
             "Return the potentials at some points, the same on all processes, summed pair by pair.")
        .def(
            "find_inside",
            [](const FieldSolver& self) {
                const Unlocked unlocked;
                return self.solver().find_inside(self.given().targets);
            },
            "Return the first target within the radius of a piece, and that piece; or None.")
        .def("release_geometry", &FieldSolver::release,
             "Release the copies of pieces and targets, which sum_directly and find_inside need.")
        .def_prop_ro(
            "pieces", [](const FieldSolver& self) { return self.solver().counts().pieces; },
            "Number of pieces whose places this process has.")
        .def_prop_ro(
            "bytes", [](const FieldSolver& self) { return self.solver().counts().bytes; },
            "Bytes of the solver, with those of one sample.")
        .def_prop_ro(
            "sample_bytes", [](const FieldSolver& self) { return self.solver().counts().sample_bytes; },
            "Bytes for each further sample that is evaluated at once.");
    module.def(
        "choose_field_options",
        [](double accuracy, std::uint64_t sources, std::uint64_t targets) {
            const fmm::SolverOptions options = fmm::choose_options(accuracy, sources, targets, false);
            return std::tuple(options.order, options.capacity, to_string(options.precision));
        },
        nb::arg("accuracy"), nb::arg("sources"), nb::arg("targets"),
        "Return order, capacity and precision of a FieldSolver for an accuracy.");
    module.attr("finest_field_accuracy") = fmm::finest_accuracy;
}

/// An array with three dimensions.
using InputStack = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

OutputArray<double> sum_kernels(const InputStack& kernels, const InputRows& counts,
                                const InputArray<std::int64_t>& bins) {
    const engine::SpikeKernels given{.values = {kernels.data(), kernels.size()},
                                     .sets = kernels.shape(0),
                                     .lags = kernels.shape(1),
                                     .outputs = kernels.shape(2)};
    std::vector<double> sums;
    {
        const Unlocked unlocked;
        sums = engine::sum_kernels(given, {counts.data(), counts.size()}, to_span(bins));
    }
    return to_array<double>(std::move(sums));
}

}  // namespace

void bind_fields(nb::module_& module) {
    module.def("line_potentials", line_potentials, nb::arg("begin"), nb::arg("end"), nb::arg("radius"),
               nb::arg("targets"),
               "Return the potentials of line pieces of strength 1 at targets, by piece, then target, in one over the "
               "unit of length; and the first target within the radius of each piece, or -1.");
    bind_solver(module);
    module.def("sum_kernels", sum_kernels, nb::arg("kernels"), nb::arg("counts"), nb::arg("bins"),
               "Return the sums of kernels (by set, lag, output) for numbers of spikes (by bin, set) in some bins: by "
               "bin, then output.");
}

}  // namespace ranvier::bindings
