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
#include "engine/fields/spike_kernels.hpp"
#include "geometry.hpp"
#include "ranvier/base/choice.hpp"
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

/// Potentials of line pieces at points by the fast multipole method.
class FieldSolver {
   public:
    FieldSolver(std::vector<fmm::LinePiece> pieces, std::vector<Point> targets, const fmm::SolverOptions& options,
                parallel::Team& team)
        : pieces_(std::move(pieces)),
          points_(std::move(targets)),
          plane_(options.plane),
          solver_(std::make_unique<fmm::Solver>(pieces_, points_, options, team)) {}

    fmm::Solver& solver() const { return *solver_; }
    const std::vector<fmm::LinePiece>& pieces() const { return pieces_; }
    const std::vector<Point>& points() const { return points_; }
    const std::optional<fmm::Plane>& plane() const { return plane_; }

   private:
    std::vector<fmm::LinePiece> pieces_;
    std::vector<Point> points_;
    std::optional<fmm::Plane> plane_;
    std::unique_ptr<fmm::Solver> solver_;
};

void make_solver(FieldSolver* self, const InputTriples& begin, const InputTriples& end,
                 const InputArray<double>& radius, const InputTriples& targets, std::uint32_t order,
                 std::uint32_t capacity, std::string_view precision, const InputPlane& plane, std::uint32_t part,
                 std::uint32_t parts, const engine::Simulation& simulation) {
    const fmm::SolverOptions options{.order = order,
                                     .capacity = capacity,
                                     .precision = parse_choice<fmm::Precision>(precision),
                                     .plane = plane_of(plane),
                                     .part = part,
                                     .parts = parts};
    std::vector<fmm::LinePiece> pieces = pieces_of(begin, end, radius);
    std::vector<Point> points = points_of(targets);
    const Unlocked unlocked;
    new (self) FieldSolver(std::move(pieces), std::move(points), options, simulation.team());
}

/// One row for each source, bin or target.
using InputRows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

OutputArray<double> evaluate_fields(const FieldSolver& self, const InputRows& strengths) {
    const std::size_t samples = strengths.shape(1);
    std::vector<double> potentials(self.solver().targets().size() * samples);
    {
        const Unlocked unlocked;
        self.solver().evaluate({strengths.data(), strengths.size()}, samples, potentials);
    }
    return to_array<double>(std::move(potentials));
}

OutputArray<double> sum_fields_directly(const FieldSolver& self, const InputRows& strengths,
                                        const InputArray<std::int64_t>& targets) {
    std::vector<Point> sample(targets.size());
    for (std::size_t i = 0; i < sample.size(); ++i) {
        sample[i] = self.points().at(static_cast<std::size_t>(targets.data()[i]));
    }
    std::vector<double> potentials(sample.size() * strengths.shape(1));
    {
        const Unlocked unlocked;
        fmm::sum_directly(self.pieces(), sample, {strengths.data(), strengths.size()}, strengths.shape(1), potentials,
                          {}, self.plane());
    }
    return to_array<double>(std::move(potentials));
}

void bind_solver(nb::module_& module) {
    nb::class_<FieldSolver>(module, "FieldSolver",
                            "Potentials of line pieces at targets by the fast multipole method. A piece of strength 1 "
                            "has the potential 1 / distance, far from it.")
        .def("__init__", make_solver, nb::arg("begin"), nb::arg("end"), nb::arg("radius"), nb::arg("targets"),
             nb::kw_only(), nb::arg("order"), nb::arg("capacity"), nb::arg("precision"), nb::arg("plane").none(),
             nb::arg("part"), nb::arg("parts"), nb::arg("simulation"), nb::keep_alive<1, 12>(),
             "Make a solver that uses the threads of a simulation, between its runs. It evaluates one of several parts "
             "of the targets; potentials have the same bits for any number of parts. A plane is a point, its normal, "
             "and the strength of images.")
        .def("evaluate", evaluate_fields, nb::arg("strengths"),
             "Return the potentials for strengths of the shape (pieces, samples), by target of the part, then sample.")
        .def("sum_directly", sum_fields_directly, nb::arg("strengths"), nb::arg("targets"),
             "Return the potentials at some targets, summed pair by pair.")
        .def(
            "find_inside",
            [](const FieldSolver& self) {
                const Unlocked unlocked;
                return self.solver().find_inside(self.points());
            },
            "Return the first target of the part within the radius of a piece, and that piece; or None.")
        .def(
            "targets",
            [](const FieldSolver& self) {
                const auto targets = self.solver().targets();
                return to_array<std::int64_t>(std::vector<std::uint64_t>(targets.begin(), targets.end()));
            },
            "Return the indices of the targets of the part, ascending.")
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
