#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program_building.hpp"
#include "ranvier/connect/space/mask.hpp"
#include "ranvier/connect/space/pair_function.hpp"
#include "ranvier/connect/space/positions.hpp"
#include "rule_testing.hpp"

/// Helpers of tests of rules by distance.
namespace space_testing {

using namespace rule_testing;
using connect::Mask;
using connect::PairFunction;
using connect::PairPositions;
using connect::PairQuantity;
using connect::Point;
using connect::Positions;
using connect::Space;

using Function = std::shared_ptr<const PairFunction>;

inline Function make_function(std::vector<PairQuantity> inputs, std::string text, program::Program made) {
    return std::make_shared<const PairFunction>(std::move(made), std::move(inputs), std::move(text));
}

/// peak exp(-d^2 / (2 width^2)).
inline Function gaussian(double peak, double width) {
    using enum program::Operation;
    program::Writer writer(1);
    const auto square = writer.add(multiply, {0, 0});
    const auto scaled = writer.add(multiply, {square, writer.constant(-0.5 / (width * width))});
    const auto result = writer.add(multiply, {writer.add(exp, {scaled}), writer.constant(peak)});
    return make_function({PairQuantity::distance}, "gaussian", writer.finish({result}));
}

/// value where d is from 0.2 to 0.3, and otherwise 0.02.
inline Function ring(double value) {
    using enum program::Operation;
    program::Writer writer(1);
    const auto far = writer.add(less, {writer.constant(0.2), 0});
    const auto near = writer.add(less, {0, writer.constant(0.3)});
    const auto result =
        writer.add(select, {writer.add(both, {far, near}), writer.constant(value), writer.constant(0.02)});
    return make_function({PairQuantity::distance}, "ring", writer.finish({result}));
}

/// An anisotropic function of displacements, indices and a coordinate: 0.5 exp(-(dx/0.3)^2) / (1 + x_post^2) where
/// i + j > 20, and otherwise 0.1.
inline Function mixed() {
    using enum program::Operation;
    program::Writer writer(4);
    const auto scaled = writer.add(divide, {0, writer.constant(0.3)});
    const auto gauss = writer.add(exp, {writer.add(negate, {writer.add(multiply, {scaled, scaled})})});
    const auto below = writer.add(add, {writer.constant(1.0), writer.add(multiply, {1, 1})});
    const auto value = writer.add(divide, {writer.add(multiply, {writer.constant(0.5), gauss}), below});
    const auto large = writer.add(less, {writer.constant(20.0), writer.add(add, {2, 3})});
    const auto result = writer.add(select, {large, value, writer.constant(0.1)});
    return make_function(
        {PairQuantity::displacement_x, PairQuantity::target_x, PairQuantity::source_index, PairQuantity::target_index},
        "mixed", writer.finish({result}));
}

/// peak exp(-(dx / 0.25)^2 - d / 0.2), and 0.1 more to the right.
inline Function anisotropic(double peak) {
    using enum program::Operation;
    program::Writer writer(2);
    const auto scaled = writer.add(divide, {0, writer.constant(0.25)});
    const auto square = writer.add(multiply, {scaled, scaled});
    const auto sum = writer.add(add, {square, writer.add(divide, {1, writer.constant(0.2)})});
    const auto value = writer.add(multiply, {writer.add(exp, {writer.add(negate, {sum})}), writer.constant(peak)});
    const auto right = writer.add(less, {writer.constant(0.0), 0});
    const auto result = writer.add(select, {right, writer.add(add, {value, writer.constant(0.1)}), value});
    return make_function({PairQuantity::displacement_x, PairQuantity::distance}, "anisotropic",
                         writer.finish({result}));
}

/// factor / d.
inline Function reciprocal(double factor) {
    using enum program::Operation;
    program::Writer writer(1);
    return make_function({PairQuantity::distance}, "reciprocal",
                         writer.finish({writer.add(divide, {writer.constant(factor), 0})}));
}

/// peak exp(-|i - j| / width): without positions.
inline Function by_index(double peak, double width) {
    using enum program::Operation;
    program::Writer writer(2);
    const auto apart = writer.add(absolute, {writer.add(subtract, {0, 1})});
    const auto scaled = writer.add(multiply, {apart, writer.constant(-1.0 / width)});
    return make_function({PairQuantity::source_index, PairQuantity::target_index}, "by index",
                         writer.finish({writer.add(multiply, {writer.add(exp, {scaled}), writer.constant(peak)})}));
}

/// Sources and targets with positions: two populations, or one that is connected to itself.
struct Scene {
    std::string name;
    PairSpace pairs;
};

inline Scene make_scene(std::string name, std::vector<Positions> populations, std::vector<std::uint64_t> sizes) {
    std::vector<Space::Part> parts;
    std::uint64_t first = 3;
    for (std::size_t i = 0; i < populations.size(); ++i) {
        populations[i].check(sizes[i], name);
        parts.push_back({NeuronId{first}, sizes[i], std::make_shared<const Positions>(std::move(populations[i])),
                         make_key(5, Purpose::position, i)});
        first += sizes[i];
    }
    const auto space = std::make_shared<const Space>(parts);
    const Space::Part& from = parts.front();
    const Space::Part& to = parts.back();
    PairSpace pairs{.first_source = from.first, .sources = from.size, .first_target = to.first, .targets = to.size};
    pairs.positions = connect::pair_positions(space, IdSequence(from.first, 1, from.size),
                                              IdSequence(to.first, 1, to.size), "a test");
    return {std::move(name), std::move(pairs)};
}

inline Positions random_box(unsigned dimensions, double extent, double period = 0.0) {
    Positions made;
    made.dimensions = dimensions;
    Positions::Random box;
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        box.lower[axis] = -0.5 * extent;
        box.extent[axis] = extent;
        made.period[axis] = period;
        made.origin[axis] = -0.5 * extent;
    }
    made.form = box;
    return made;
}

inline Positions grid(std::vector<std::uint64_t> shape, double spacing, bool periodic = false) {
    Positions made;
    made.dimensions = static_cast<unsigned>(shape.size());
    Positions::Grid form;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        form.shape[axis] = shape[axis];
        form.spacing[axis] = spacing;
        const double extent = spacing * static_cast<double>(shape[axis]);
        form.first[axis] = 0.5 * (spacing - extent);
        made.origin[axis] = -0.5 * extent;
        if (periodic) made.period[axis] = extent;
    }
    made.form = form;
    return made;
}

/// Nearly all neurons are in two tight clusters, some of them at the same place.
inline Positions clusters(std::uint64_t size) {
    SequentialRandom random({make_key(9, Purpose::test, 0), 0, 0});
    std::vector<double> coordinates;
    for (std::uint64_t i = 0; i < size; ++i) {
        const double center = i % 2 == 0 ? 0.1 : 0.35;
        const double width = i % 10 == 0 ? 0.4 : (i % 3 == 0 ? 0.0 : 0.01);
        coordinates.push_back(center + width * random.next_unit());
        coordinates.push_back(0.2 + width * random.next_unit());
    }
    Positions made;
    made.form = Positions::Array{SharedArray(std::move(coordinates))};
    return made;
}

/// Small networks in two and three dimensions, with and without edges.
inline std::vector<Scene> scenes() {
    std::vector<Scene> made;
    made.push_back(make_scene("box", {random_box(2, 1.0)}, {150}));
    made.push_back(make_scene("torus", {random_box(2, 1.0, 1.0)}, {170}));
    made.push_back(make_scene("two populations", {random_box(2, 1.0), grid({9, 7}, 0.12)}, {240, 63}));
    made.push_back(make_scene("grid", {grid({17, 9}, 0.06)}, {153}));
    made.push_back(make_scene("periodic grid", {grid({12, 12}, 0.08, true)}, {144}));
    made.push_back(make_scene("three dimensions", {random_box(3, 0.8)}, {160}));
    made.push_back(make_scene("periodic in three dimensions", {random_box(3, 0.8, 0.8)}, {140}));
    made.push_back(make_scene("clusters", {clusters(400)}, {400}));
    return made;
}

inline Mask::Pointer disc(double radius, Point center = {}) {
    return Mask::ellipsoid(2, center, {radius, radius, radius});
}
inline Mask::Rotation turned(double angle) {
    return {{{std::cos(angle), std::sin(angle), 0.0}, {-std::sin(angle), std::cos(angle), 0.0}, {0.0, 0.0, 1.0}}};
}

/// Masks of two dimensions, each kind among them.
inline std::vector<Mask::Pointer> masks() {
    return {
        nullptr,
        disc(0.25),
        disc(0.2, {0.1, -0.05, 0.0}),
        Mask::box(2, {-0.1, -0.2, 0.0}, {0.3, 0.1, 0.0}),
        Mask::box(2, {-0.3, -0.05, 0.0}, {0.3, 0.05, 0.0}, turned(0.6)),
        Mask::ellipsoid(2, {}, {0.35, 0.1, 0.0}, turned(-0.4)),
        Mask::combined(Mask::Kind::without, disc(0.3), disc(0.15)),
        Mask::combined(Mask::Kind::either, disc(0.1), Mask::box(2, {0.2, 0.0, 0.0}, {0.4, 0.2, 0.0})),
        Mask::combined(Mask::Kind::both, disc(0.25), Mask::box(2, {0.0, -1.0, 0.0}, {1.0, 1.0, 0.0})),
    };
}

/// The value of a pair that may be connected, by definition.
inline double value_of(const PairSpace& pairs, const Mask::Pointer& mask, const connect::PairValue& value,
                       std::uint64_t source, std::uint64_t target, bool autapses) {
    if (!autapses && pairs.source_of_target(target) == source) return 0.0;
    Point from{};
    Point to{};
    Point displacement{};
    if (pairs.positions != nullptr) {
        from = pairs.positions->source(source);
        to = pairs.positions->target(target);
        displacement = pairs.positions->displacement(from, to);
    }
    if (mask != nullptr && !mask->contains(displacement)) return 0.0;
    if (const auto* const number = std::get_if<double>(&value)) return *number;
    const std::array<double, connect::pair_quantity_count> quantities{PairPositions::length(displacement),
                                                                      displacement[0],
                                                                      displacement[1],
                                                                      displacement[2],
                                                                      from[0],
                                                                      from[1],
                                                                      from[2],
                                                                      to[0],
                                                                      to[1],
                                                                      to[2],
                                                                      static_cast<double>(source),
                                                                      static_cast<double>(target)};
    std::array<const double*, connect::pair_quantity_count> places{};
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = &quantities[i];
    double result = 0.0;
    std::get<Function>(value)->evaluate(InstructionSet::baseline, 1, places, {}, &result);
    return result;
}

}  // namespace space_testing
