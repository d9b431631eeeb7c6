// Rules by distance against laws that are computed pair by pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "connect/rules/pair_weights.hpp"
#include "connect/rules/reversed.hpp"
#include "connect/space/partner_index.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/placement/placement.hpp"
#include "space_testing.hpp"
#include "statistics.hpp"

namespace TEST_FILE {

using namespace space_testing;
using connect::DisplacementBox;
using connect::PartnerIndex;
using connect::SpaceBox;
using statistics::significance;

// ---------------------------------------------------------------------------------------------------------- the index

/// Checks a node and those below it; returns the number of neurons of its leaves.
std::uint64_t check_node(const PartnerIndex& index, const PartnerIndex::Node& node) {
    if (!node.is_leaf()) {
        std::uint64_t inside = 0;
        std::uint32_t next = node.begin;
        for (std::uint32_t child = 0; child < node.children; ++child) {
            const PartnerIndex::Node& below = index.nodes()[node.first_child + child];
            EXPECT_EQ(below.begin, next);
            EXPECT_GT(below.level, node.level);
            next += below.count;
            inside += check_node(index, below);
        }
        EXPECT_EQ(inside, node.count);
        return inside;
    }
    const SpaceBox box = index.box(node);
    for (std::uint32_t place = node.begin; place < node.begin + node.count; ++place) {
        const Point position = index.position(place);
        for (std::size_t axis = 0; axis < index.dimensions(); ++axis) {
            EXPECT_LE(box.low[axis], position[axis]);
            EXPECT_GE(box.high[axis], position[axis]);
        }
    }
    return node.count;
}

TEST(PartnerIndex, HasEachNeuronInItsBox) {
    for (const Scene& scene : scenes()) {
        SCOPED_TRACE(scene.name);
        const PairPositions& positions = *scene.pairs.positions;
        const PartnerIndex index(*positions.space, positions.sources, positions.dimensions);
        ASSERT_EQ(index.nodes()[0].count, scene.pairs.sources);
        check_node(index, index.nodes()[0]);
        std::vector<std::uint32_t> all(index.neurons().begin(), index.neurons().end());
        std::ranges::sort(all);
        for (std::uint32_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
        for (std::uint32_t place = 0; place < index.size(); ++place) {
            ASSERT_EQ(index.position(place), positions.source(index.neuron(place)));
        }
        // Leaves are small but for neurons at the same place.
        std::uint32_t most = 0;
        for (const PartnerIndex::Node& node : index.nodes()) {
            if (node.is_leaf()) most = std::max(most, node.count);
        }
        EXPECT_LE(most, scene.name == "clusters" ? 140U : 64U);
    }
}

TEST(PartnerIndex, DividesSpaceInTheSameWayIfItHoldsAPart) {
    std::uint64_t not_held = 0;
    for (const Scene& scene : scenes()) {
        SCOPED_TRACE(scene.name);
        const PairPositions& positions = *scene.pairs.positions;
        const PartnerIndex all(*positions.space, positions.sources, positions.dimensions);
        const auto needed = [](const SpaceBox& box) { return box.low[0] < 0.1 && box.high[0] > -0.2; };
        const PartnerIndex part(*positions.space, positions.sources, positions.dimensions, needed);
        EXPECT_LE(part.neurons().size(), all.neurons().size());
        not_held += all.neurons().size() - part.neurons().size();
        const auto box_of = [](const SpaceBox& box) {
            return std::array{box.low[0], box.low[1], box.low[2], box.high[0], box.high[1], box.high[2]};
        };
        std::map<std::array<double, 6>, const PartnerIndex::Node*> nodes;
        for (const PartnerIndex::Node& node : all.nodes()) nodes[box_of(all.box(node))] = &node;
        for (const PartnerIndex::Node& node : part.nodes()) {
            const SpaceBox box = part.box(node);
            const auto found = nodes.find(box_of(box));
            ASSERT_NE(found, nodes.end());
            EXPECT_EQ(found->second->count, node.count);
            if (!needed(box) || !node.is_leaf()) continue;
            ASSERT_TRUE(found->second->is_leaf());
            for (std::uint32_t i = 0; i < node.count; ++i) {
                EXPECT_EQ(part.neuron(node.begin + i), all.neuron(found->second->begin + i));
            }
        }
    }
    EXPECT_GT(not_held, 200U);
}

TEST(PartnerIndex, IsEmptyWithoutNeurons) {
    const Scene scene = make_scene("one", {random_box(2, 1.0)}, {1});
    EXPECT_TRUE(PartnerIndex(*scene.pairs.positions->space, IdSequence(), 2).nodes().empty());
    EXPECT_TRUE(PartnerIndex(0).nodes().empty());
    EXPECT_EQ(PartnerIndex(*scene.pairs.positions->space, scene.pairs.positions->sources, 2).nodes().size(), 1U);
}

// ----------------------------------------------------------------------------------------------------------- the masks

TEST(Mask, ClassifiesBoxesAsThePointsInThem) {
    SequentialRandom random({make_key(1, Purpose::test, 0), 0, 0});
    const auto number = [&](double width) { return width * (2.0 * random.next_unit() - 1.0); };
    std::map<Mask::Place, int> places;
    for (const Mask::Pointer& mask : masks()) {
        if (mask == nullptr) continue;
        const DisplacementBox bounds = mask->bounds();
        for (int trial = 0; trial < 3000; ++trial) {
            DisplacementBox box;
            for (std::size_t axis = 0; axis < 2; ++axis) {
                box.low[axis] = number(0.6);
                box.high[axis] = box.low[axis] + 0.2 * random.next_unit() * random.next_unit();
            }
            const Mask::Place place = mask->classify(box);
            ++places[place];
            for (int point = 0; point < 12; ++point) {
                Point at{};
                for (std::size_t axis = 0; axis < 2; ++axis) {
                    // Corners too.
                    const double part = point < 4 ? static_cast<double>((point >> axis) & 1) : random.next_unit();
                    at[axis] = box.low[axis] + part * (box.high[axis] - box.low[axis]);
                }
                const bool inside = mask->contains(at);
                if (place == Mask::Place::inside) {
                    ASSERT_TRUE(inside);
                }
                if (place == Mask::Place::outside) {
                    ASSERT_FALSE(inside);
                }
                for (std::size_t axis = 0; inside && axis < 2; ++axis) {
                    ASSERT_GE(at[axis], bounds.low[axis]);
                    ASSERT_LE(at[axis], bounds.high[axis]);
                }
            }
        }
    }
    EXPECT_GT(places[Mask::Place::inside], 500);
    EXPECT_GT(places[Mask::Place::outside], 5000);
}

TEST(Mask, ContainsItsSurfaceAlsoWhereThatIsRounded) {
    // 3 * 0.1 is more than 0.3.
    EXPECT_TRUE(disc(0.3)->contains({3 * 0.1, 0.0, 0.0}));
    EXPECT_FALSE(disc(0.3)->contains({0.3001, 0.0, 0.0}));
    const auto square = Mask::box(2, {0.0, -0.3, 0.0}, {0.3, 0.3, 0.0});
    EXPECT_TRUE(square->contains({0.0, -3 * 0.1, 0.0}));
    EXPECT_FALSE(square->contains({-0.001, 0.0, 0.0}));
    // What is taken away takes its surface with it.
    const auto donut = Mask::combined(Mask::Kind::without, disc(0.3), disc(0.1));
    EXPECT_FALSE(donut->contains({0.1, 0.0, 0.0}));
    EXPECT_TRUE(donut->contains({0.0, -0.3, 0.0}));
}

TEST(Mask, IsTurnedAboutItsCenter) {
    const auto bar = Mask::box(2, {1.0, 1.9, 0.0}, {3.0, 2.1, 0.0}, turned(std::numbers::pi / 4));
    EXPECT_TRUE(bar->contains({2.6, 2.6, 0.0}));
    EXPECT_TRUE(bar->contains({1.4, 1.4, 0.0}));
    EXPECT_FALSE(bar->contains({2.9, 2.0, 0.0}));
    EXPECT_FALSE(bar->contains({1.4, 2.6, 0.0}));
}

TEST(Mask, LimitsTwoOfThreeDimensions) {
    EXPECT_TRUE(disc(0.3)->contains({0.1, 0.1, 17.0}));
    const auto slice = Mask::combined(Mask::Kind::both, Mask::ellipsoid(3, {}, {1.0, 1.0, 1.0}),
                                      Mask::box(3, {-1.0, -1.0, -0.1}, {1.0, 1.0, 0.1}));
    EXPECT_TRUE(slice->contains({0.5, 0.5, 0.05}));
    EXPECT_FALSE(slice->contains({0.5, 0.5, 0.2}));
}

TEST(Mask, RefusesWhatIsNoRegion) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THROW(disc(0.0), ValueOutOfBoundsError);
    EXPECT_THROW(disc(-1.0), ValueOutOfBoundsError);
    EXPECT_THROW(disc(infinity), ValueOutOfBoundsError);
    EXPECT_THROW(disc(std::nan("")), ValueOutOfBoundsError);
    EXPECT_THROW(Mask::box(2, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}), ValueOutOfBoundsError);
    EXPECT_THROW(Mask::combined(Mask::Kind::both, disc(1.0), Mask::ellipsoid(3, {}, {1.0, 1.0, 1.0})),
                 ValueOutOfBoundsError);
}

// ----------------------------------------------------------------------------------------------------------- the rules

RuleSpec bernoulli_by(connect::RuleValue probability, Mask::Pointer mask, bool autapses = true) {
    return {"pairwise_bernoulli",
            {{"probability", std::move(probability)}, {"allow_autapses", autapses}, {"mask", std::move(mask)}}};
}

struct Case {
    std::string name;
    connect::RuleValue probability;
};

std::vector<Case> probabilities() {
    return {{"constant", 0.3},
            {"gaussian", gaussian(0.6, 0.12)},
            {"narrow", gaussian(1.0, 0.03)},
            {"anisotropic", anisotropic(0.7)},
            {"ring", ring(0.7)},
            {"mixed", mixed()},
            {"by index", by_index(0.9, 20.0)}};
}

/// The value of each pair, by target and source.
std::vector<double> values_of(const RuleSpec& spec, const PairSpace& pairs, std::string_view parameter) {
    std::vector<double> all;
    for (std::uint64_t target = 0; target < pairs.targets; ++target) {
        for (std::uint64_t source = 0; source < pairs.sources; ++source) {
            all.push_back(
                value_of(pairs, spec.mask("mask"), spec.pair_value(parameter), source, target, allows_autapses(spec)));
        }
    }
    return all;
}

/// p-value of counts of pairs that are joined by a property, a number below `groups`.
template <class GroupOf>
double p_value_by(std::size_t groups, const std::vector<double>& counts, const std::vector<double>& expected,
                  GroupOf group_of) {
    std::vector<double> found(groups);
    std::vector<double> wanted(groups);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        found[group_of(i)] += counts[i];
        wanted[group_of(i)] += expected[i];
    }
    return statistics::chi_square_p_value(found, wanted);
}

/// Whether counts of pairs follow their expected values: by target, by source, and by the value.
void expect_law(const std::vector<double>& counts, const std::vector<double>& expected, std::uint64_t sources) {
    const double most = std::ranges::max(expected);
    EXPECT_GT(p_value_by(counts.size() / sources, counts, expected, [&](std::size_t i) { return i / sources; }),
              significance);
    EXPECT_GT(p_value_by(sources, counts, expected, [&](std::size_t i) { return i % sources; }), significance);
    EXPECT_GT(p_value_by(101, counts, expected,
                         [&](std::size_t i) {
                             return static_cast<std::size_t>(100.0 * std::sqrt(expected[i] / std::max(most, 1e-300)));
                         }),
              significance);
}

/// Draws networks of several seeds.
void expect_probabilities(const RuleSpec& spec, const Scene& scene, int seeds) {
    const std::uint64_t sources = scene.pairs.sources;
    std::vector<double> expected = values_of(spec, scene.pairs, "probability");
    std::vector<double> counts(expected.size());
    double sum = 0.0;
    double variance = 0.0;
    for (const double p : expected) {
        sum += p;
        variance += p * (1.0 - p);
    }
    double total = 0.0;
    for (int seed = 0; seed < seeds; ++seed) {
        const auto sampler = bind(spec, scene.pairs, static_cast<std::uint64_t>(seed));
        EXPECT_NEAR(sampler->expected_synapses(), sum, 1e-9 * sum);
        const Partners partners = draw_all(*sampler, scene.pairs);
        for (std::uint64_t target = 0; target < partners.size(); ++target) {
            for (const std::uint64_t source : partners[target]) ++counts[target * sources + source];
        }
        total += static_cast<double>(count_synapses(partners));
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
        ASSERT_LE(counts[i], expected[i] == 0.0 ? 0.0 : seeds);
        if (expected[i] == 1.0) {
            ASSERT_EQ(counts[i], seeds);
        }
        expected[i] *= seeds;
    }
    const double z = (total - seeds * sum) / std::sqrt(std::max(seeds * variance, 1e-9));
    EXPECT_GT(2.0 * statistics::normal_cumulative(-std::abs(z)), significance);
    expect_law(counts, expected, sources);
}

TEST(PairwiseBernoulli, ConnectsEachPairWithItsProbability) {
    const std::vector<Mask::Pointer> all = masks();
    std::size_t next = 0;
    for (const Scene& scene : scenes()) {
        for (const auto& [name, probability] : probabilities()) {
            // Each mask meets each probability in some scene.
            const std::size_t mask = next++ % all.size();
            SCOPED_TRACE(scene.name + ", " + name + ", mask " + std::to_string(mask));
            expect_probabilities(bernoulli_by(probability, all[mask], next % 3 != 0), scene, 4);
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST(PairwisePoisson, DrawsTheMeanOfEachPair) {
    const std::vector<Mask::Pointer> all = masks();
    std::size_t next = 0;
    for (const Scene& scene : scenes()) {
        for (const auto& [name, mean] :
             {Case{"constant", 1.3}, Case{"gaussian", gaussian(2.5, 0.1)}, Case{"mixed", mixed()}}) {
            const std::size_t mask = next++ % all.size();
            SCOPED_TRACE(scene.name + ", " + name + ", mask " + std::to_string(mask));
            const RuleSpec spec("pairwise_poisson",
                                {{"mean", mean}, {"allow_autapses", next % 3 != 0}, {"mask", all[mask]}});
            const std::uint64_t sources = scene.pairs.sources;
            std::vector<double> expected = values_of(spec, scene.pairs, "mean");
            std::vector<double> counts(expected.size());
            const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
            double repeats = 0.0;
            for (const double value : expected) repeats += 0.5 * value * value;
            constexpr int seeds = 4;
            double pairs = 0.0;
            for (std::uint64_t seed = 0; seed < seeds; ++seed) {
                const auto sampler = bind(spec, scene.pairs, seed);
                EXPECT_NEAR(sampler->expected_synapses(), sum, 1e-9 * sum);
                EXPECT_NEAR(sampler->expected_repeats(), repeats, 1e-9 * repeats);
                std::vector<double> of_seed(counts.size());
                const Partners partners = draw_all(*sampler, scene.pairs);
                for (std::uint64_t target = 0; target < partners.size(); ++target) {
                    for (const std::uint64_t source : partners[target]) ++of_seed[target * sources + source];
                }
                for (std::size_t i = 0; i < counts.size(); ++i) {
                    counts[i] += of_seed[i];
                    pairs += 0.5 * of_seed[i] * (of_seed[i] - 1.0);
                }
            }
            for (double& value : expected) value *= seeds;
            expect_law(counts, expected, sources);
            // The variance of n (n - 1) / 2 for a Poisson number is m^2 / 2 + m^3.
            double variance = 0.0;
            for (const double value : expected) {
                const double of_seed = value / seeds;
                variance += seeds * of_seed * of_seed * (0.5 + of_seed);
            }
            const double z = (pairs - seeds * repeats) / std::sqrt(std::max(variance, 1e-9));
            EXPECT_GT(2.0 * statistics::normal_cumulative(-std::abs(z)), significance);
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST(PairwiseBernoulli, RefusesAnExpressionOfWhichTheBoundsAreOfNoUse) {
    using enum program::Operation;
    // 1e-7 + |dx - dx|: bounds do not know that both are the same.
    program::Writer writer(1);
    const auto width = writer.add(absolute, {writer.add(subtract, {0, 0})});
    const auto result = writer.add(minimum, {writer.add(add, {width, writer.constant(1e-7)}), writer.constant(1.0)});
    const Function useless = make_function({PairQuantity::displacement_x}, "useless", writer.finish({result}));
    const Scene small = make_scene("small", {random_box(2, 1.0)}, {2000});
    EXPECT_NEAR(bind(bernoulli_by(useless, nullptr), small.pairs)->expected_synapses(), 0.4, 10.0);
    const Scene large = make_scene("large", {random_box(2, 1.0)}, {400000});
    try {
        static_cast<void>(bind(bernoulli_by(useless, nullptr), large.pairs)->expected_synapses());
        FAIL();
    } catch (const RuleError& error) {
        EXPECT_NE(std::string(error.what()).find("s of one thread; limit the pairs by a mask"), std::string::npos);
    }
    // A narrow mask is a remedy.
    EXPECT_LT(bind(bernoulli_by(useless, disc(0.01)), large.pairs)->expected_synapses(), 100.0);
}

TEST(PairwiseBernoulli, EstimatesTheNumberOfSynapses) {
    // The mean of a target is the density times the integral of the kernel: exact on a torus.
    const double pi = std::numbers::pi;
    for (const std::uint64_t sources : {20000, 3000000}) {
        const double density = static_cast<double>(sources);
        for (const Positions& positions : {random_box(2, 1.0, 1.0), grid({sources / 1000, 1000}, 0.001)}) {
            Positions layout = positions;
            if (std::holds_alternative<Positions::Grid>(layout.form)) {
                std::get<Positions::Grid>(layout.form).spacing[0] = 1000.0 / density;
                std::get<Positions::Grid>(layout.form).first[0] = -0.5;
                layout.period = {1.0, 1.0, 0.0};
                layout.origin = {-0.5, -0.5, 0.0};
            }
            const Scene scene = make_scene("torus", {layout, random_box(2, 1.0, 1.0)}, {sources, 500});
            const double width = 0.05;
            const double mean = density * 0.02 * 2.0 * pi * width * width;
            const double found = bind(bernoulli_by(gaussian(0.02, width), nullptr), scene.pairs)->expected_synapses();
            // 256 neurons with as many synapses each, or half as many where they are few.
            const double deviation = 1.0 / std::sqrt(256.0 * mean);
            EXPECT_NEAR(found / (500.0 * mean), 1.0, 5.0 * deviation + 0.01) << sources;
            const double in_mask = bind(bernoulli_by(0.05, disc(0.1)), scene.pairs)->expected_synapses();
            EXPECT_NEAR(in_mask / (500.0 * density * 0.05 * pi * 0.01), 1.0, 0.05) << sources;
        }
    }
}

/// At one density, neither the candidates nor the segments of a target grow with the number of sources.
TEST(PairWeights, CostsWhatIsMade) {
    std::vector<double> segments_of;
    for (const double side : {1.0, 2.0, 4.0, 8.0}) {
        const auto sources = static_cast<std::uint64_t>(4000.0 * side * side);
        const Scene scene = make_scene("sheet", {random_box(2, side, side), random_box(2, side, side)}, {sources, 100});
        const connect::PairWeights weights({.major = RuleSampler::Major::target,
                                            .positions = scene.pairs.positions,
                                            .mask = nullptr,
                                            .value = gaussian(0.3, 0.1),
                                            .most = 1.0,
                                            .object = "probability",
                                            .mask_object = "mask"},
                                           connect::MajorView(scene.pairs, RuleSampler::Major::target, true));
        double segments = 0.0;
        double candidates = 0.0;
        double synapses = 0.0;
        for (std::uint64_t target = 0; target < 100; ++target) {
            std::vector<connect::PairWeights::Segment> found;
            const auto neuron = weights.neuron(target);
            weights.divide_by_waste(weights.index(), neuron, 10.0, found);
            segments += static_cast<double>(found.size());
            for (const auto& segment : found) candidates += segment.weight();
            synapses += weights.total(neuron, 10.0).sum;
        }
        EXPECT_LT(candidates, 2.5 * synapses);
        segments_of.push_back(segments);
    }
    // 64 times as many sources, and a few more boxes on each of 3 levels at most.
    EXPECT_LT(segments_of.back(), 1.8 * segments_of.front());
}

/// With limits of all sizes, for all pairs.
TEST(PairWeights, DecidesByTheDistanceAsByTheValue) {
    const std::vector<Mask::Pointer> radial{nullptr, disc(0.25),
                                            Mask::combined(Mask::Kind::without, disc(0.3), disc(0.15))};
    SequentialRandom random({make_key(7, Purpose::test, 0), 0, 0});
    std::size_t decided = 0;
    std::size_t all = 0;
    for (const Scene& scene : scenes()) {
        for (const connect::PairValue& value : std::vector<connect::PairValue>{0.4, gaussian(0.9, 0.2), ring(0.7)}) {
            for (const Mask::Pointer& mask : radial) {
                // A circle is a cylinder in three dimensions.
                if (mask != nullptr && scene.pairs.positions->dimensions > 2) continue;
                if (mask == nullptr && std::holds_alternative<double>(value)) continue;
                const connect::PairWeights weights({.major = RuleSampler::Major::target,
                                                    .positions = scene.pairs.positions,
                                                    .mask = mask,
                                                    .value = value,
                                                    .most = 1.0,
                                                    .object = "probability",
                                                    .mask_object = "mask"},
                                                   connect::MajorView(scene.pairs, RuleSampler::Major::target, true));
                ASSERT_TRUE(weights.is_by_distance());
                const PartnerIndex& index = weights.index();
                for (std::uint64_t target = 0; target < scene.pairs.targets; target += 17) {
                    connect::CandidatePairs pairs;
                    pairs.reserve(index.size());
                    for (std::uint32_t place = 0; place < index.size(); ++place) {
                        pairs.add(0, place, random.next_unit(), 1.0, mask != nullptr);
                    }
                    const std::vector<connect::PairWeights::MajorNeuron> neurons{weights.neuron(target)};
                    connect::PairScratch scratch;
                    weights.evaluate(InstructionSet::baseline, index, neurons, pairs, scratch);
                    for (const InstructionSet set : available_instruction_sets()) {
                        std::vector<std::uint8_t> decisions(index.size());
                        weights.decide(set, index, neurons[0], pairs.places, pairs.limits.data(), decisions.data());
                        for (std::size_t i = 0; i < index.size(); ++i) {
                            ++all;
                            if (decisions[i] == connect::DistanceBounds::undecided) continue;
                            ++decided;
                            ASSERT_EQ(decisions[i] == connect::DistanceBounds::taken,
                                      pairs.limits[i] < scratch.values[i])
                                << scene.name << ", place " << i;
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(static_cast<double>(decided), 0.95 * static_cast<double>(all));
}

RuleSpec degree_by(std::string_view name, std::uint64_t degree, connect::RuleValue probability, Mask::Pointer mask,
                   bool autapses, bool multapses) {
    return {name,
            {{name == "fixed_indegree" ? "indegree" : "outdegree", degree},
             {"allow_autapses", autapses},
             {"allow_multapses", multapses},
             {"mask", std::move(mask)},
             {"probability", std::move(probability)}}};
}

TEST(FixedDegree, DrawsPartnersInProportionToTheProbability) {
    const std::vector<Mask::Pointer> all{nullptr, disc(0.3), Mask::box(2, {-0.4, -0.5, 0.0}, {0.5, 0.4, 0.0})};
    std::size_t next = 0;
    for (const Scene& scene : scenes()) {
        for (const auto& [name, probability] : probabilities()) {
            const Mask::Pointer& mask = all[next++ % all.size()];
            const bool by_target = next % 2 == 0;
            const bool autapses = next % 3 != 0;
            SCOPED_TRACE(scene.name + ", " + name + ", case " + std::to_string(next));
            constexpr std::uint64_t degree = 90;
            const RuleSpec spec =
                degree_by(by_target ? "fixed_indegree" : "fixed_outdegree", degree, probability, mask, autapses, true);
            const std::uint64_t sources = scene.pairs.sources;
            const std::uint64_t targets = scene.pairs.targets;
            std::vector<double> expected = values_of(spec, scene.pairs, "probability");
            const auto normalise = [&](std::uint64_t begin, std::uint64_t stride, std::uint64_t count) {
                double sum = 0.0;
                double squares = 0.0;
                for (std::uint64_t i = 0; i < count; ++i) sum += expected[begin + i * stride];
                for (std::uint64_t i = 0; i < count; ++i) {
                    double& value = expected[begin + i * stride];
                    value *= degree / sum;
                    squares += value * value / (degree * degree);
                }
                return 0.5 * degree * (degree - 1) * squares;
            };
            double repeats = 0.0;
            for (std::uint64_t i = 0; i < (by_target ? targets : sources); ++i) {
                repeats += by_target ? normalise(i * sources, 1, sources) : normalise(i, sources, targets);
            }
            const auto sampler = bind(spec, scene.pairs, next);
            // The number of repeated pairs is estimated from some neurons, which may have special neighbours.
            EXPECT_NEAR(sampler->expected_repeats(), repeats, (name == "narrow" ? 0.7 : 0.2) * repeats);
            EXPECT_EQ(sampler->expected_synapses(), static_cast<double>(degree * (by_target ? targets : sources)));
            std::vector<double> counts(expected.size());
            const Partners partners = draw_all(*sampler, scene.pairs);
            for (std::uint64_t major = 0; major < partners.size(); ++major) {
                ASSERT_EQ(partners[major].size(), degree);
                for (const std::uint64_t partner : partners[major]) {
                    ++counts[by_target ? major * sources + partner : partner * sources + major];
                }
            }
            expect_law(counts, expected, sources);
            if (testing::Test::HasFailure()) return;
        }
    }
}

/// Targets at the origin, and sources at some distances.
Scene distances(const std::vector<double>& from, std::uint64_t targets) {
    std::vector<double> coordinates;
    for (const double distance : from) {
        coordinates.push_back(distance);
        coordinates.push_back(0.0);
    }
    Positions sources;
    sources.form = Positions::Array{SharedArray(std::move(coordinates))};
    Positions center;
    center.form = Positions::Array{SharedArray(std::vector<double>(2 * targets))};
    return make_scene("distances", {sources, center}, {from.size(), targets});
}

TEST(UniformIndegree, DrawsTheSamePartnersAsAFixedDegree) {
    for (const Scene& scene : scenes()) {
        const auto arguments = [&](std::uint64_t least) {
            return RuleSpec("uniform_indegree", {{"indegree_min", least},
                                                 {"indegree_max", 8},
                                                 {"mask", disc(0.4)},
                                                 {"probability", gaussian(0.6, 0.1)}});
        };
        // Degrees and partners are drawn with different keys.
        const Partners fixed =
            draw_all(degree_by("fixed_indegree", 8, gaussian(0.6, 0.1), disc(0.4), true, true), scene.pairs);
        EXPECT_EQ(draw_all(arguments(8), scene.pairs), fixed) << scene.name;
        const auto sampler = bind(arguments(2), scene.pairs);
        EXPECT_GT(sampler->expected_repeats(), 0.0);
        const Partners drawn = draw_all(*sampler, scene.pairs);
        for (std::size_t target = 0; target < drawn.size(); ++target) {
            ASSERT_GE(drawn[target].size(), 2U);
            ASSERT_LE(drawn[target].size(), 8U);
            for (const std::uint64_t source : drawn[target]) {
                ASSERT_GT(value_of(scene.pairs, disc(0.4), gaussian(0.6, 0.1), source, target, true), 0.0);
            }
        }
    }
}

TEST(FixedDegree, DrawsOneAfterAnotherWithoutMultapses) {
    constexpr std::uint64_t targets = 20000;
    // Alike; unlike; so unlike that neurons look at all of their sources.
    for (const double width : {10.0, 0.25, 0.09}) {
        const std::vector<double> from{0.0, 0.1, 0.2, 0.3, 0.45, 0.5};
        const Scene scene = distances(from, targets);
        const auto sampler =
            bind(degree_by("fixed_indegree", 3, gaussian(1.0, width), nullptr, true, false), scene.pairs);
        const Partners partners = draw_all(*sampler, scene.pairs);
        std::vector<double> counts(216);
        for (const auto& drawn : partners) ++counts[drawn[0] * 36 + drawn[1] * 6 + drawn[2]];
        std::vector<double> expected(216);
        std::vector<double> weights;
        for (const double distance : from) weights.push_back(std::exp(-0.5 * distance * distance / (width * width)));
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::size_t i = 0; i < 216; ++i) {
            const std::size_t a = i / 36;
            const std::size_t b = i / 6 % 6;
            const std::size_t c = i % 6;
            if (a == b || a == c || b == c) continue;
            expected[i] = targets * weights[a] / sum * weights[b] / (sum - weights[a]) * weights[c] /
                          (sum - weights[a] - weights[b]);
        }
        EXPECT_GT(statistics::chi_square_p_value(counts, expected), significance) << width;
        EXPECT_EQ(sampler->expected_repeats(), 0.0);
    }
}

TEST(FixedDegree, TakesAllPartnersWithinAMask) {
    for (const Scene& scene : scenes()) {
        SCOPED_TRACE(scene.name);
        const RuleSpec all = {"all_to_all", {{"mask", disc(0.3)}, {"allow_autapses", false}}};
        Partners expected = draw_all(all, scene.pairs);
        std::uint64_t least = expected[0].size();
        for (const auto& partners : expected) least = std::min<std::uint64_t>(least, partners.size());
        ASSERT_GT(least, 0U);
        const Partners drawn = draw_all(degree_by("fixed_indegree", least, 1.0, disc(0.3), false, false), scene.pairs);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            std::vector<std::uint64_t> sorted = drawn[i];
            std::ranges::sort(sorted);
            std::ranges::sort(expected[i]);
            EXPECT_TRUE(std::ranges::includes(expected[i], sorted));
            EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
            EXPECT_EQ(sorted.size(), least);
        }
        // One more is too many for some neuron.
        EXPECT_THROW(draw_all(degree_by("fixed_indegree", least + 1, 1.0, disc(0.3), false, false), scene.pairs),
                     RuleError);
    }
}

TEST(FixedDegree, NamesANeuronWithTooFewCandidates) {
    const Scene scene = distances({0.0, 0.1, 0.2, 0.9}, 5);
    const auto text_of = [&](const RuleSpec& spec) {
        try {
            bind(spec, scene.pairs);
        } catch (const RuleError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(text_of(degree_by("fixed_indegree", 4, 1.0, disc(0.5), true, false)).find("has 3 sources"),
              std::string::npos);
    EXPECT_NE(text_of(degree_by("fixed_indegree", 1, 0.0, nullptr, true, true)).find("has 0 sources"),
              std::string::npos);
    EXPECT_NE(text_of(degree_by("fixed_outdegree", 1, 1.0, disc(0.5), true, true)).find("source 3 of 4"),
              std::string::npos);
    EXPECT_EQ(text_of(degree_by("fixed_indegree", 4, 1.0, disc(0.5), true, true)), "");
    EXPECT_EQ(text_of(degree_by("fixed_indegree", 0, 0.0, disc(0.5), true, true)), "");
}

RuleSpec total_by(std::uint64_t number, connect::RuleValue probability, Mask::Pointer mask, bool multapses) {
    return {"fixed_total_number",
            {{"number", number},
             {"allow_autapses", false},
             {"allow_multapses", multapses},
             {"mask", std::move(mask)},
             {"probability", std::move(probability)}}};
}

TEST(FixedTotalNumber, DrawsPairsInProportionToTheProbability) {
    const std::vector<Mask::Pointer> all = masks();
    std::size_t next = 0;
    for (const Scene& scene : scenes()) {
        for (const auto& [name, probability] : probabilities()) {
            const Mask::Pointer& mask = all[next++ % all.size()];
            // Each scene and each probability in every second case.
            if (next % 2 == 0) continue;
            SCOPED_TRACE(scene.name + ", " + name + ", case " + std::to_string(next));
            const std::uint64_t number = 20000;
            const RuleSpec spec = total_by(number, probability, mask, true);
            std::vector<double> expected = values_of(spec, scene.pairs, "probability");
            const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
            double squares = 0.0;
            for (double& value : expected) {
                value *= static_cast<double>(number) / sum;
                squares += value * value;
            }
            const auto sampler = bind(spec, scene.pairs, next);
            EXPECT_NEAR(sampler->expected_repeats(), 0.5 * squares, 0.01 * squares);
            std::vector<double> counts(expected.size());
            const Partners partners = draw_all(*sampler, scene.pairs, 3);
            EXPECT_EQ(count_synapses(partners), number);
            // A part of the work by other threads, beforehand.
            const auto prepared = bind(spec, scene.pairs, next);
            for (std::uint64_t part = prepared->preparations(); part-- > 0;) prepared->prepare(part);
            EXPECT_EQ(draw_all(*prepared, scene.pairs, 3), partners);
            for (std::uint64_t target = 0; target < partners.size(); ++target) {
                for (const std::uint64_t source : partners[target]) ++counts[target * scene.pairs.sources + source];
            }
            expect_law(counts, expected, scene.pairs.sources);
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST(FixedTotalNumber, TakesAllPairsWithinAMask) {
    for (const Scene& scene : scenes()) {
        SCOPED_TRACE(scene.name);
        Partners all = draw_all({"all_to_all", {{"mask", disc(0.2)}, {"allow_autapses", false}}}, scene.pairs);
        const std::uint64_t number = count_synapses(all);
        Partners drawn = draw_all(total_by(number, 1.0, disc(0.2), false), scene.pairs);
        for (Partners* const partners : {&all, &drawn}) {
            for (auto& own : *partners) std::ranges::sort(own);
        }
        EXPECT_EQ(drawn, all);
        const Partners half = draw_all(total_by(number / 2, 0.3, disc(0.2), false), scene.pairs);
        EXPECT_EQ(count_synapses(half), number / 2);
        for (std::size_t i = 0; i < half.size(); ++i) {
            std::vector<std::uint64_t> own = half[i];
            std::ranges::sort(own);
            EXPECT_TRUE(std::ranges::includes(all[i], own));
            EXPECT_EQ(std::ranges::adjacent_find(own), own.end());
        }
        EXPECT_THROW(bind(total_by(number + 1, 1.0, disc(0.2), false), scene.pairs), RuleError);
    }
}

TEST(FixedTotalNumber, RefusesWhatItCannotDraw) {
    const Scene scene = scenes()[0];
    EXPECT_THROW(bind(total_by(1, 1.0, disc(1e-9), true), scene.pairs), RuleError);
    EXPECT_THROW(bind(total_by(1, 0.0, nullptr, true), scene.pairs), RuleError);
    EXPECT_THROW(bind(total_by(1, gaussian(0.5, 0.1), nullptr, false), scene.pairs), RuleError);
    EXPECT_EQ(count_synapses(draw_all(total_by(0, 0.0, disc(1e-9), false), scene.pairs)), 0U);
}

TEST(FilteredRules, KeepSynapsesWithTheProbabilityOfThePair) {
    const Scene scene = make_scene("torus", {random_box(2, 1.0, 1.0)}, {500});
    std::vector<std::uint64_t> sources;
    std::vector<std::uint64_t> targets;
    SequentialRandom random({make_key(1, Purpose::test, 0), 0, 0});
    for (int i = 0; i < 5000; ++i) {
        sources.push_back(random.next_below(500));
        targets.push_back(random.next_below(500));
    }
    for (const RuleSpec& plain : {nearest_neighbors(40), explicit_list(sources, targets), rule("one_to_one")}) {
        for (const auto& [name, probability] : {Case{"gaussian", gaussian(0.9, 0.2)}, Case{"constant", 0.4}}) {
            SCOPED_TRACE(std::string(plain.name()) + ", " + name);
            std::vector<connect::RuleArgument> arguments;
            for (std::size_t i = 0; i < plain.values().size(); ++i) {
                arguments.emplace_back(plain.info().parameters[i].name, plain.values()[i]);
            }
            for (connect::RuleArgument& argument : arguments) {
                if (argument.parameter == "probability") argument.value = probability;
                if (argument.parameter == "mask") argument.value = disc(0.4);
            }
            const RuleSpec spec(plain.info(), arguments);
            const Partners all = draw_all(plain, scene.pairs);
            double sum = 0.0;
            double variance = 0.0;
            for (std::uint64_t target = 0; target < all.size(); ++target) {
                for (const std::uint64_t source : all[target]) {
                    const double p =
                        value_of(scene.pairs, disc(0.4), spec.pair_value("probability"), source, target, true);
                    sum += p;
                    variance += p * (1.0 - p);
                }
            }
            const auto sampler = bind(spec, scene.pairs, 3);
            const Partners drawn = draw_all(*sampler, scene.pairs);
            EXPECT_EQ(draw_all(*sampler, scene.pairs, 3, 7), drawn);
            // An explicit list is drawn when it is bound, the others know their means.
            EXPECT_NEAR(sampler->expected_synapses(),
                        plain.name() == "explicit" ? static_cast<double>(count_synapses(drawn)) : sum, 1e-9 * sum);
            const double z = (static_cast<double>(count_synapses(drawn)) - sum) / std::sqrt(variance);
            EXPECT_GT(2.0 * statistics::normal_cumulative(-std::abs(z)), significance);
            for (std::uint64_t target = 0; target < all.size(); ++target) {
                // In the same order.
                std::size_t place = 0;
                for (const std::uint64_t source : drawn[target]) {
                    while (place < all[target].size() && all[target][place] != source) ++place;
                    ASSERT_LT(place++, all[target].size());
                }
            }
        }
    }
}

TEST(RulesByDistance, DrawTheSameHoweverTheWorkIsCut) {
    for (const Scene& scene : scenes()) {
        for (const RuleSpec& spec :
             {bernoulli_by(gaussian(0.6, 0.2), disc(0.3)), bernoulli_by(by_index(0.5, 30.0), nullptr),
              RuleSpec("pairwise_poisson", {{"mean", gaussian(1.5, 0.1)}}),
              degree_by("fixed_indegree", 7, gaussian(0.6, 0.1), nullptr, true, true),
              degree_by("fixed_outdegree", 5, mixed(), nullptr, true, false),
              RuleSpec("uniform_indegree",
                       {{"indegree_min", 3}, {"indegree_max", 9}, {"probability", gaussian(0.6, 0.1)}}),
              total_by(3000, gaussian(1.0, 0.1), nullptr, true), total_by(300, 1.0, disc(0.2), false)}) {
            SCOPED_TRACE(scene.name + ", " + std::string(spec.name()));
            const auto sampler = bind(spec, scene.pairs, 4);
            const Partners expected = draw_all(*sampler, scene.pairs);
            EXPECT_GT(count_synapses(expected), 100U);
            for (const InstructionSet set : available_instruction_sets()) {
                for (const std::uint64_t stride : {1, 2, 5}) {
                    for (const std::uint64_t batch : {1, 13, 1000}) {
                        EXPECT_EQ(draw_all(*sampler, scene.pairs, stride, batch, set), expected);
                    }
                }
            }
            EXPECT_NE(draw_all(*bind(spec, scene.pairs, 5), scene.pairs), expected);
            EXPECT_NE(draw_all(*bind(spec, scene.pairs, 4, 1), scene.pairs), expected);
        }
    }
}

/// The neurons that a process has if it has a part of space.
IdSequence in_corner(const Scene& scene, double upper) {
    const PairPositions& positions = *scene.pairs.positions;
    std::vector<std::uint64_t> ids;
    for (std::uint64_t target = 0; target < scene.pairs.targets; ++target) {
        const Point at = positions.target(target);
        if (at[0] < upper && at[1] < upper) ids.push_back(positions.targets[target].value);
    }
    const std::uint64_t size = ids.size();
    return {std::make_shared<const std::vector<std::uint64_t>>(std::move(ids)), 0, size};
}

TEST(RulesByDistance, DrawTheSameFromPartnersWithinReach) {
    std::vector<Scene> large;
    large.push_back(make_scene("box", {random_box(2, 1.0), random_box(2, 1.0)}, {4000, 600}));
    large.push_back(make_scene("torus", {random_box(2, 1.0, 1.0)}, {2500}));
    large.push_back(make_scene("periodic grid", {grid({50, 40}, 0.02, true)}, {2000}));
    large.push_back(make_scene("three dimensions", {random_box(3, 1.0, 1.0)}, {3000}));
    large.push_back(make_scene("clusters", {clusters(3000)}, {3000}));
    std::uint64_t held = 0;
    std::uint64_t all = 0;
    std::uint64_t synapses = 0;
    std::size_t next = 0;
    for (const Scene& scene : large) {
        const std::shared_ptr<const Space>& space = scene.pairs.positions->space;
        for (const Mask::Pointer& mask : masks()) {
            // Each mask in one or two scenes.
            if (mask == nullptr || next++ % 5 != 0) continue;
            // Of the last, all candidates are looked at; of rare ones, cells are not divided.
            for (const RuleSpec& spec :
                 {bernoulli_by(0.004, mask), bernoulli_by(gaussian(0.5, 0.05), mask), bernoulli_by(mixed(), mask),
                  degree_by("fixed_indegree", 5, gaussian(0.6, 0.2), mask, true, true),
                  degree_by("fixed_indegree", 2, gaussian(0.6, 0.02), mask, true, false)}) {
                SCOPED_TRACE(scene.name + ", " + std::string(spec.name()));
                for (const double upper : {-0.3, 0.21}) {
                    const IdSequence neurons = in_corner(scene, upper);
                    std::unique_ptr<RuleSampler> whole;
                    try {
                        whole = bind(spec, scene.pairs, 4);
                    } catch (const RuleError&) {
                        // Some neuron has too few candidates.
                        continue;
                    }
                    const auto part = bind(spec, scene.pairs, 4);
                    connect::ProcessIndexes indexes(space, neurons);
                    part->use(indexes);
                    EXPECT_EQ(part->expected_synapses(), whole->expected_synapses());
                    const std::uint64_t expected_bytes = indexes.bytes();
                    std::vector<std::uint32_t> degrees[2];
                    std::vector<std::uint64_t> partners[2];
                    for (std::uint64_t i = 0; i < neurons.size(); i += 11) {
                        const std::uint64_t target = *scene.pairs.positions->targets.find(neurons[i]);
                        try {
                            whole->draw(detect_instruction_set(), target, 1, 1, degrees[0], partners[0]);
                        } catch (const RuleError&) {
                            EXPECT_THROW(part->draw(detect_instruction_set(), target, 1, 1, degrees[1], partners[1]),
                                         RuleError);
                            continue;
                        }
                        part->draw(detect_instruction_set(), target, 1, 1, degrees[1], partners[1]);
                        synapses += partners[1].size();
                        ASSERT_EQ(degrees[0], degrees[1]);
                        ASSERT_EQ(partners[0], partners[1]);
                    }
                    if (neurons.empty()) continue;
                    held += indexes.bytes();
                    const auto neurons_here = static_cast<double>(scene.pairs.sources);
                    EXPECT_NEAR(static_cast<double>(expected_bytes), static_cast<double>(indexes.bytes()),
                                0.12 * static_cast<double>(indexes.bytes()) + 0.04 * 22.0 * neurons_here);
                    connect::ProcessIndexes whole_indexes(space);
                    whole->use(whole_indexes);
                    all += whole_indexes.bytes();
                    if (testing::Test::HasFailure()) return;
                }
            }
        }
    }
    // In small periodic spaces, and with clusters, most are within reach.
    EXPECT_LT(held, all * 95 / 100);
    EXPECT_GT(synapses, 1000U);
}

TEST(RulesByDistance, DrawForAllNeuronsWhereSourcesAndTargetsAreExchanged) {
    const Scene scene = make_scene("torus", {random_box(2, 1.0, 1.0)}, {1500});
    const Mask::Pointer mask = disc(0.1);
    const RuleSpec specs[] = {bernoulli_by(0.1, mask),
                              degree_by("fixed_indegree", 3, gaussian(0.6, 0.2), mask, true, true),
                              total_by(4000, gaussian(0.6, 0.2), mask, true)};
    for (const RuleSpec& spec : specs) {
        SCOPED_TRACE(spec.name());
        const auto whole = bind(spec, scene.pairs);
        // Of a process in a corner, which draws for sources anywhere.
        const auto part = connect::reversed(bind(spec, scene.pairs));
        connect::ProcessIndexes indexes(scene.pairs.positions->space, in_corner(scene, -0.3));
        part->use(indexes);
        EXPECT_EQ(draw_all(*part, scene.pairs, 3), draw_all(*whole, scene.pairs, 3));
        EXPECT_FALSE(part->expected_synapses_here().has_value());
    }
}

TEST(RulesByDistance, HoldFewerPartnersOnMoreProcesses) {
    const Scene scene = make_scene("torus", {random_box(2, 1.0, 1.0)}, {20000});
    const std::shared_ptr<const Space>& space = scene.pairs.positions->space;
    const std::uint64_t neurons = 3 + scene.pairs.sources;
    std::map<std::int32_t, std::uint64_t> most;
    for (const std::int32_t ranks : {1, 4, 16, 64}) {
        const connect::Placement placement(neurons, ranks, connect::PlacementKind::space, 1, space);
        for (const std::int32_t rank : {0, ranks / 2, ranks - 1}) {
            const IdSequence ids = placement.ids(Rank{rank}).within(NeuronId{3}, scene.pairs.sources);
            connect::ProcessIndexes indexes(space, ids);
            const auto sampler = bind(bernoulli_by(0.1, disc(0.04)), scene.pairs);
            sampler->use(indexes);
            const std::uint64_t expected = indexes.bytes();
            std::vector<std::uint32_t> degrees;
            std::vector<std::uint64_t> partners;
            sampler->draw(detect_instruction_set(), ids[0].value - 3, 1, 1, degrees, partners);
            EXPECT_NEAR(static_cast<double>(expected), static_cast<double>(indexes.bytes()),
                        0.1 * static_cast<double>(indexes.bytes()) + 0.02 * 22.0 * 20000.0);
            most[ranks] = std::max(most[ranks], indexes.bytes());
        }
    }
    EXPECT_GT(most[1], 20 * scene.pairs.sources);
    // Of a square with a side of 1/2, 1/4 and 1/8, with 0.04 and a cell around it.
    EXPECT_LT(most[4], most[1] * 45 / 100);
    EXPECT_LT(most[16], most[1] * 18 / 100);
    EXPECT_LT(most[64], most[1] * 8 / 100);
    // Where neurons are anywhere, all are within reach.
    connect::ProcessIndexes anywhere(space, IdSequence(NeuronId{3}, 64, scene.pairs.sources / 64));
    const auto sampler = bind(bernoulli_by(0.1, disc(0.04)), scene.pairs);
    sampler->use(anywhere);
    EXPECT_NEAR(static_cast<double>(anywhere.bytes()), static_cast<double>(most[1]),
                0.05 * static_cast<double>(most[1]));
}

}  // namespace TEST_FILE
