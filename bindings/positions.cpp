#include "positions.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "connect/space/spacing.hpp"
#include "values.hpp"

namespace ranvier::bindings {

namespace {

using connect::LengthUnit;
using connect::Point;
using connect::Positions;

/// One number for each dimension.
using InputPoint = std::vector<double>;
/// What all forms have: unit, period and origin.
using InputFrame = std::tuple<std::string, InputPoint, InputPoint>;
/// One row for each neuron.
using InputPoints = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Point to_point(const InputPoint& numbers) {
    Point point{};
    std::copy_n(numbers.begin(), std::min(numbers.size(), point.size()), point.begin());
    return point;
}

std::shared_ptr<const Positions> to_positions(std::size_t dimensions, decltype(Positions::form) form,
                                              const InputFrame& frame) {
    const auto& [unit, period, origin] = frame;
    return std::make_shared<const Positions>(
        Positions{.dimensions = static_cast<unsigned>(dimensions),
                  .unit = unit == "um" ? LengthUnit::micrometre : LengthUnit::millimetre,
                  .form = std::move(form),
                  .period = to_point(period),
                  .origin = to_point(origin)});
}

/// What keeps numbers as long as an array needs them.
nb::capsule owned(std::unique_ptr<std::vector<double>> numbers) {
    const nb::capsule capsule(numbers.get(),
                              [](void* pointer) noexcept { delete static_cast<std::vector<double>*>(pointer); });
    numbers.release();
    return capsule;
}

}  // namespace

OutputPoints coordinates_of(const connect::Space& space, const IdSequence& neurons) {
    const std::size_t count = neurons.size();
    const std::size_t dimensions = space.part_of(neurons[0]).positions->dimensions;
    auto owner = std::make_unique<std::vector<double>>(count * dimensions);
    double* const data = owner->data();
    for (const connect::Space::Part& part : space.parts()) {
        const IdSequence within = neurons.within(part.first, part.size);
        double* out = data + neurons.count_below(part.first) * dimensions;
        for (std::uint64_t i = 0; i < within.size(); ++i, out += dimensions) {
            const Point position = part.positions->at(within[i].value - part.first.value, part.key);
            std::copy_n(position.begin(), dimensions, out);
        }
    }
    return OutputPoints(data, {count, dimensions}, owned(std::move(owner)));
}

OutputMatrices rotations_of(const network::Network& network, const IdSequence& neurons) {
    constexpr std::size_t dimensions = connect::most_dimensions;
    auto owner = std::make_unique<std::vector<double>>();
    owner->reserve(neurons.size() * dimensions * dimensions);
    for (std::uint64_t i = 0; i < neurons.size(); ++i) {
        for (const Point& row : network.rotation(neurons[i])) owner->insert(owner->end(), row.begin(), row.end());
    }
    double* const data = owner->data();
    return OutputMatrices(data, {neurons.size(), dimensions, dimensions}, owned(std::move(owner)));
}

void bind_positions(nb::module_& module) {
    nb::class_<Positions>(module, "Positions", "The positions of the neurons of a population.")
        .def_static(
            "array",
            [](const InputPoints& points, const InputFrame& frame) {
                const auto owner = std::make_shared<const InputPoints>(points);
                const SharedArray coordinates(std::shared_ptr<const double>(owner, owner->data()), owner->size());
                return to_positions(points.shape(1), Positions::Array{coordinates}, frame);
            },
            nb::arg("coordinates"), nb::arg("frame"))
        .def_static(
            "grid",
            [](const std::vector<std::uint64_t>& shape, const InputPoint& first, const InputPoint& spacing,
               const InputFrame& frame) {
                Positions::Grid grid{.first = to_point(first), .spacing = to_point(spacing)};
                std::copy_n(shape.begin(), std::min(shape.size(), grid.shape.size()), grid.shape.begin());
                return to_positions(shape.size(), grid, frame);
            },
            nb::arg("shape"), nb::arg("first"), nb::arg("spacing"), nb::arg("frame"))
        .def_static(
            "random",
            [](std::string_view shape, const InputPoint& lower, const InputPoint& extent, double min_distance,
               const InputFrame& frame) {
                using Shape = Positions::Random::Shape;
                static const std::map<std::string_view, Shape> shapes{{"box", Shape::box},
                                                                      {"ellipsoid", Shape::ellipsoid},
                                                                      {"cylinder", Shape::cylinder},
                                                                      {"surface", Shape::surface}};
                const Positions::Random random{.shape = shapes.at(shape),
                                               .lower = to_point(lower),
                                               .extent = to_point(extent),
                                               .min_distance = min_distance};
                return to_positions(extent.size(), random, frame);
            },
            nb::arg("shape"), nb::arg("lower"), nb::arg("extent"), nb::arg("min_distance"), nb::arg("frame"));
    using connect::Rotations;
    nb::class_<Rotations>(module, "Rotations", "The rotations of the cells of a population.")
        .def_static(
            "of_steps",
            [](const std::vector<std::tuple<std::string, InputPoint, InputArray<double>>>& steps) {
                static const std::map<std::string_view, Rotations::Kind> kinds{{"given", Rotations::Kind::given},
                                                                               {"random", Rotations::Kind::random},
                                                                               {"any", Rotations::Kind::any}};
                auto made = std::make_shared<Rotations>();
                for (const auto& [kind, axis, angles] : steps) {
                    made->steps.push_back(
                        {.kind = kinds.at(kind), .axis = to_point(axis), .angles = to_shared_array(angles)});
                }
                return std::shared_ptr<const Rotations>(std::move(made));
            },
            nb::arg("steps"));
    module.def(
        "find_near_pair",
        [](const InputPoints& points, double distance,
           const InputFrame& frame) -> std::optional<std::tuple<std::uint64_t, std::uint64_t, double>> {
            const auto& [unit, period, origin] = frame;
            const connect::CellGrid::Box box{.dimensions = static_cast<unsigned>(points.shape(1)),
                                             .lower = to_point(origin),
                                             .extent = to_point(period),
                                             .period = to_point(period)};
            const auto pair = connect::find_near_pair({points.data(), points.size()}, box, distance);
            if (!pair) return std::nullopt;
            return std::tuple(pair->first, pair->second, pair->distance);
        },
        nb::arg("coordinates"), nb::arg("distance"), nb::arg("frame"),
        "Two positions that are nearer than a distance, and their distance.");
}

}  // namespace ranvier::bindings
