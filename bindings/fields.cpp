#include "bindings.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fmm/near_field.hpp"
#include "ranvier/base/choice.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/fmm/accuracy.hpp"
#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/solver.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::bindings {

namespace {

using fmm::Point;
/// One row for each point.
using InputTriples = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

Point point_of(const InputTriples& points, std::size_t row) {
    const double* const numbers = points.data() + 3 * row;
    return {numbers[0], numbers[1], numbers[2]};
}

/// Potentials of line pieces of unit strength, [piece][target], and for each piece whether a target is nearer to it than its
/// radius: the number of the first one, or -1.
std::tuple<OutputArray<double>, OutputArray<std::int64_t>> line_potentials(const InputTriples& begin,
                                                                           const InputTriples& end,
                                                                           const InputArray<double>& radius,
                                                                           const InputTriples& targets) {
    const std::size_t pieces = begin.shape(0);
    const std::size_t count = targets.shape(0);
    std::vector<double> potentials(pieces * count);
    std::vector<std::int64_t> inside(pieces, -1);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const Point from = point_of(begin, piece);
        const Point whole = point_of(end, piece) - from;
        const double length = std::sqrt(dot(whole, whole));
        const Point along = length > 0.0 ? (1.0 / length) * whole : Point{};
        const double square_radius = radius.data()[piece] * radius.data()[piece];
        const fmm::NearSource<double> source{from.x,
                                             from.y,
                                             from.z,
                                             along.x,
                                             along.y,
                                             along.z,
                                             length > 0.0 ? length : fmm::NearSource<double>::min_length,
                                             square_radius,
                                             1.0 / (length > 0.0 ? length : fmm::NearSource<double>::min_length)};
        for (std::size_t target = 0; target < count; ++target) {
            const Point place = point_of(targets, target);
            potentials[piece * count + target] =
                fmm::line_potential<false>(source, place.x, place.y, place.z).potential;
            const Point offset = place - from;
            const double at = std::min(std::max(dot(offset, along), 0.0), length);
            const Point nearest = offset - at * along;
            if (inside[piece] < 0 && dot(nearest, nearest) < square_radius) {
                inside[piece] = static_cast<std::int64_t>(target);
            }
        }
    }
    return {to_array<double>(std::move(potentials)), to_array<std::int64_t>(std::move(inside))};
}

std::vector<Point> points_of(const InputTriples& rows) {
    std::vector<Point> points(rows.shape(0));
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = point_of(rows, i);
    return points;
}

std::vector<fmm::LinePiece> pieces_of(const InputTriples& begin, const InputTriples& end,
                                      const InputArray<double>& radius) {
    if (end.shape(0) != begin.shape(0) || radius.shape(0) != begin.shape(0)) {
        throw InternalError("line pieces with different numbers of ends and radii");
    }
    std::vector<fmm::LinePiece> pieces(begin.shape(0));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        pieces[i] = {point_of(begin, i), point_of(end, i), radius.data()[i]};
    }
    return pieces;
}

/// A point of the plane, its normal, and the strength of images.
using InputPlane = std::optional<std::tuple<std::array<double, 3>, std::array<double, 3>, double>>;

std::optional<fmm::Plane> plane_of(const InputPlane& given) {
    if (!given) return std::nullopt;
    const auto& [point, normal, image] = *given;
    return fmm::Plane{{point[0], point[1], point[2]}, {normal[0], normal[1], normal[2]}, image};
}

/// Potentials of line pieces at points by the fast multipole method, on the threads of a simulation, or on separate ones.
class FieldSolver {
   public:
    FieldSolver(std::vector<fmm::LinePiece> pieces, std::vector<Point> targets, const fmm::SolverOptions& options,
                const engine::Simulation* simulation, std::uint32_t threads)
        : pieces_(std::move(pieces)), points_(std::move(targets)), plane_(options.plane) {
        if (simulation == nullptr) team_ = std::make_unique<parallel::Team>(std::vector<parallel::Place>(threads));
        solver_ = std::make_unique<fmm::Solver>(pieces_, points_, options,
                                                simulation == nullptr ? *team_ : simulation->team());
    }

    fmm::Solver& solver() const { return *solver_; }
    const std::vector<fmm::LinePiece>& pieces() const { return pieces_; }
    const std::vector<Point>& points() const { return points_; }
    const std::optional<fmm::Plane>& plane() const { return plane_; }

   private:
    std::vector<fmm::LinePiece> pieces_;
    std::vector<Point> points_;
    std::optional<fmm::Plane> plane_;
    std::unique_ptr<parallel::Team> team_;
    std::unique_ptr<fmm::Solver> solver_;
};

void make_solver(FieldSolver* self, const InputTriples& begin, const InputTriples& end,
                 const InputArray<double>& radius, const InputTriples& targets, std::uint32_t order,
                 std::uint32_t capacity, std::string_view precision, bool gradients, const InputPlane& plane,
                 std::uint32_t part, std::uint32_t parts, const engine::Simulation* simulation, std::uint32_t threads) {
    const fmm::SolverOptions options{.order = order,
                                     .capacity = capacity,
                                     .precision = parse_choice<fmm::Precision>(precision),
                                     .has_gradient = gradients,
                                     .plane = plane_of(plane),
                                     .part = part,
                                     .parts = parts};
    std::vector<fmm::LinePiece> pieces = pieces_of(begin, end, radius);
    std::vector<Point> points = points_of(targets);
    const Unlocked unlocked;
    new (self) FieldSolver(std::move(pieces), std::move(points), options, simulation, threads);
}

/// One row for each source or target.
using InputRows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Potentials, [target][sample], and their gradients if wanted, [target][sample][axis].
std::pair<OutputArray<double>, OutputArray<double>> evaluate_fields(const FieldSolver& self, const InputRows& strengths,
                                                                    bool gradients) {
    const std::size_t samples = strengths.shape(1);
    const std::size_t size = self.solver().targets().size() * samples;
    std::vector<double> potentials;
    std::vector<double> slopes;
    {
        const Unlocked unlocked;
        potentials.resize(size);
        slopes.resize(gradients ? 3 * size : 0);
        self.solver().evaluate({strengths.data(), strengths.shape(0) * samples}, samples, potentials, slopes);
    }
    return {to_array<double>(std::move(potentials)), to_array<double>(std::move(slopes))};
}

/// The same sums at some of the targets, pair by pair.
OutputArray<double> sum_fields_directly(const FieldSolver& self, const InputRows& strengths,
                                        const InputArray<std::int64_t>& targets) {
    std::vector<Point> sample;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        sample.push_back(self.points().at(static_cast<std::size_t>(targets.data()[i])));
    }
    std::vector<double> potentials(sample.size() * strengths.shape(1));
    {
        const Unlocked unlocked;
        fmm::sum_directly(self.pieces(), sample, {strengths.data(), strengths.shape(0) * strengths.shape(1)},
                          strengths.shape(1), potentials, {}, self.plane());
    }
    return to_array<double>(std::move(potentials));
}

std::map<std::string, std::uint64_t> counts_of(const FieldSolver& self) {
    const fmm::SolverCounts& counts = self.solver().counts();
    return {{"boxes", counts.boxes},
            {"depth", counts.depth},
            {"source_parts", counts.source_parts},
            {"near_pairs", counts.near_pairs},
            {"translations", counts.translations},
            {"tasks", counts.tasks},
            {"operations", counts.operations},
            {"bytes", counts.bytes},
            {"sample_bytes", counts.sample_bytes}};
}

void bind_solver(nb::module_& module) {
    nb::class_<FieldSolver>(module, "FieldSolver",
                            "Potentials of line pieces at targets by the fast multipole method. A piece of unit "
                            "strength has the potential 1 / distance, far from it.")
        .def("__init__", make_solver, nb::arg("begin"), nb::arg("end"), nb::arg("radius"), nb::arg("targets"),
             nb::kw_only(), nb::arg("order"), nb::arg("capacity"), nb::arg("precision"), nb::arg("gradients") = false,
             nb::arg("plane").none() = nb::none(), nb::arg("part") = 0, nb::arg("parts") = 1,
             nb::arg("simulation").none() = nb::none(), nb::arg("threads") = 1, nb::keep_alive<1, 13>(),
             "On the threads of a simulation, between its runs, or on some more. Of several parts of the targets, "
             "potentials "
             "of one are computed; they have the same bits for any number of parts and threads. A plane is a point, "
             "its normal, and the strength of images.")
        .def("evaluate", evaluate_fields, nb::arg("strengths"), nb::arg("gradients") = false,
             "Return the potentials for strengths of the shape (pieces, samples): by target of the part, then sample; "
             "and their gradients, if wanted, by target, sample and axis.")
        .def("sum_directly", sum_fields_directly, nb::arg("strengths"), nb::arg("targets"),
             "Return the same potentials at some targets, summed pair by pair.")
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
        .def_prop_ro("counts", counts_of, "Boxes, pairs, operations of one sample, and bytes.");
    module.def(
        "choose_field_options",
        [](double accuracy, std::uint64_t sources, std::uint64_t targets) {
            const fmm::SolverOptions options = fmm::choose_options(accuracy, sources, targets, false);
            return std::tuple(options.order, options.capacity, to_string(options.precision));
        },
        nb::arg("accuracy"), nb::arg("sources"), nb::arg("targets"),
        "Return order, capacity and precision of a FieldSolver for an accuracy.");
}

/// An array with three dimensions.
using InputStack = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// Sums of kernels, [set][lag][output], times numbers of spikes, [bin][set], at some bins: [sample][output]. There are no
/// spikes before the first bin. A sum has the order of the sets, then of the lags, whatever other bins there are.
OutputArray<double> convolved(const InputRows& counts, const InputStack& kernels,
                              const InputArray<std::int64_t>& bins) {
    const std::size_t sets = kernels.shape(0);
    const std::size_t lags = kernels.shape(1);
    const std::size_t outputs = kernels.shape(2);
    std::vector<double> sums(bins.size() * outputs, 0.0);
    for (std::size_t sample = 0; sample < bins.size(); ++sample) {
        const auto bin = static_cast<std::size_t>(bins.data()[sample]);
        double* const sum = sums.data() + sample * outputs;
        for (std::size_t set = 0; set < sets; ++set) {
            for (std::size_t lag = 0; lag < lags && lag <= bin; ++lag) {
                const double count = counts.data()[(bin - lag) * sets + set];
                if (count == 0.0) continue;
                const double* const kernel = kernels.data() + (set * lags + lag) * outputs;
                for (std::size_t output = 0; output < outputs; ++output) sum[output] += count * kernel[output];
            }
        }
    }
    return to_array<double>(std::move(sums));
}

}  // namespace

void bind_fields(nb::module_& module) {
    module.def("line_potentials", line_potentials, nb::arg("begin"), nb::arg("end"), nb::arg("radius"),
               nb::arg("targets"),
               "Potentials of line pieces of unit strength at targets, by piece, then target, in one over the unit of "
               "length; and the first target within the radius of each piece, or -1.");
    bind_solver(module);
    module.def(
        "convolved", convolved, nb::arg("counts"), nb::arg("kernels"), nb::arg("bins"),
        "Sums of kernels (by set, lag, output) times counts (by bin, set) at some bins: by sample, then output.");
}

}  // namespace ranvier::bindings
