#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "connect/space/pair_arrays.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

using Random = Positions::Random;

std::shared_ptr<const Positions> positions_of(unsigned dimensions,
                                              std::variant<Positions::Array, Positions::Grid, Random> form,
                                              Point period = {}) {
    Positions made;
    made.dimensions = dimensions;
    made.form = std::move(form);
    made.period = period;
    made.origin = {-0.5, -0.5, -0.5};
    return std::make_shared<const Positions>(std::move(made));
}

/// Populations of all forms, in a space of these dimensions.
std::shared_ptr<const Space> space_of(unsigned dimensions, Point period = {}) {
    std::vector<double> coordinates;
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> real(-0.5, 0.5);
    for (unsigned i = 0; i < 40 * dimensions; ++i) coordinates.push_back(real(random));
    const Random box{.shape = Random::Shape::box, .lower = {-0.5, -0.5, -0.5}, .extent = {1.0, 0.9, 0.8}};
    Random ball = box;
    ball.shape = Random::Shape::ellipsoid;
    const std::uint64_t depth = dimensions == 3 ? 5 : 1;
    const Positions::Grid grid{.shape = {7, 11, depth}, .first = {-0.4, -0.3, 0.1}, .spacing = {0.1, 0.07, 0.03}};
    std::vector<Space::Part> parts;
    std::uint64_t first = 0;
    const auto add = [&](std::uint64_t size, std::shared_ptr<const Positions> positions) {
        parts.push_back({NeuronId{first}, size, std::move(positions), make_key(1, Purpose::test, parts.size())});
        first += size;
    };
    add(40, positions_of(dimensions, Positions::Array{SharedArray(coordinates)}, period));
    add(1000, positions_of(dimensions, box, period));
    add(77 * depth, positions_of(dimensions, grid, period));
    add(50, positions_of(dimensions, ball, period));
    return std::make_shared<const Space>(std::move(parts));
}

TEST(PairArrays, CoordinatesAreThoseOfSingleNeurons) {
    for (const unsigned dimensions : {2U, 3U}) {
        const auto space = space_of(dimensions);
        const std::uint64_t neurons = space->parts().back().first.value + space->parts().back().size;
        std::mt19937_64 random(5);
        // In any order, also one population after another.
        std::vector<std::uint64_t> ids(neurons + 700);
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i < neurons ? i : random() % neurons;
        for (const InstructionSet set : available_instruction_sets()) {
            std::array<std::vector<double>, most_dimensions> found;
            for (std::vector<double>& axis : found) axis.resize(ids.size());
            copy_coordinates(set, *space, ids, dimensions, {found[0].data(), found[1].data(), found[2].data()});
            for (std::size_t i = 0; i < ids.size(); ++i) {
                const Point expected = space->at(NeuronId{ids[i]});
                for (std::size_t axis = 0; axis < dimensions; ++axis) ASSERT_EQ(found[axis][i], expected[axis]) << i;
            }
        }
    }
}

TEST(PairArrays, QuantitiesAreThoseOfSinglePairs) {
    for (const Point period : {Point{}, Point{1.0, 0.0, 1.5}}) {
        const auto space = space_of(3, period);
        const IdSequence sources(NeuronId{100}, 2, 400);
        const IdSequence targets(NeuronId{20}, 1, 60);
        PairNeurons neurons{.positions = pair_positions(space, sources, targets, "a test"),
                            .sources = sources,
                            .targets = targets,
                            .first_source = NeuronId{100},
                            .first_target = NeuronId{20}};
        std::vector<std::uint64_t> from;
        std::vector<std::uint64_t> to;
        for (std::uint64_t i = 0; i < 399; ++i) {
            from.push_back(2 * i);
            to.push_back((7 * i) % 60);
        }
        for (std::size_t only = 0; only < pair_quantity_count; ++only) {
            PairArrays::Needed needed{};
            needed[only] = true;
            PairArrays arrays;
            arrays.compute(available_instruction_sets().back(), neurons, needed, from, to);
            const double* const found = arrays.quantities(1)[only];
            for (std::size_t i = 1; i < from.size(); ++i) {
                const Point source = space->at(NeuronId{100 + from[i]});
                const Point target = space->at(NeuronId{20 + to[i]});
                const Point step = neurons.positions->displacement(source, target);
                const std::array<double, pair_quantity_count> expected{PairPositions::length(step),
                                                                       step[0],
                                                                       step[1],
                                                                       step[2],
                                                                       source[0],
                                                                       source[1],
                                                                       source[2],
                                                                       target[0],
                                                                       target[1],
                                                                       target[2],
                                                                       static_cast<double>(from[i] / 2),
                                                                       static_cast<double>(to[i])};
                ASSERT_EQ(found[i - 1], expected[only]) << i;
            }
            for (std::size_t q = 0; q < pair_quantity_count; ++q)
                EXPECT_EQ(arrays.quantities()[q] != nullptr, q == only);
        }
        // By places in an index, of either side, three for each major neuron.
        for (const bool of_sources : {false, true}) {
            const IdSequence& partners = of_sources ? sources : targets;
            const PartnerIndex index(*space, partners, 3);
            const std::vector<std::uint32_t> degrees(19, 3);
            std::vector<std::uint32_t> places;
            std::vector<std::uint64_t> of_partners;
            std::vector<std::uint64_t> of_majors;
            for (std::uint64_t i = 0; i < 57; ++i) {
                places.push_back(static_cast<std::uint32_t>(i * i % partners.size()));
                const NeuronId partner = partners[index.neuron(places.back())];
                of_partners.push_back(partner.value - (of_sources ? 100 : 20));
                of_majors.push_back(4 + 2 * (i / 3));
            }
            const PlacedPairs placed{.index = &index,
                                     .begin = 4,
                                     .stride = 2,
                                     .degrees = degrees,
                                     .places = places,
                                     .partners_are_sources = of_sources};
            PairArrays::Needed all{};
            all.fill(true);
            PairArrays expected;
            PairArrays found;
            const auto& sources_of_pairs = of_sources ? of_partners : of_majors;
            const auto& targets_of_pairs = of_sources ? of_majors : of_partners;
            expected.compute(InstructionSet::baseline, neurons, all, sources_of_pairs, targets_of_pairs);
            found.compute(detect_instruction_set(), neurons, all, sources_of_pairs, targets_of_pairs, &placed);
            for (std::size_t q = 0; q < pair_quantity_count; ++q) {
                for (std::size_t i = 0; i < places.size(); ++i) {
                    ASSERT_EQ(found.quantities()[q][i], expected.quantities()[q][i]) << q << ", pair " << i;
                }
            }
        }
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
