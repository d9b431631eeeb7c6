// What must hold exactly for every network that a rule makes, over many sizes, parameters and seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "connect/rules/reversed.hpp"
#include "ranvier/base/errors.hpp"
#include "rule_testing.hpp"

namespace TEST_FILE {

using namespace rule_testing;

/// Rules that connect no pair twice: everything up to all that is there, and just that.
void add_without_repetition(std::vector<RuleSpec>& specs, const PairSpace& pairs, bool autapses,
                            SequentialRandom& random) {
    const auto up_to = [&](std::uint64_t most) { return random.next_below(most + 1); };
    const std::uint64_t sources = pairs.sources - (autapses || pairs.sources == 0 ? 0 : 1);
    const std::uint64_t targets = pairs.targets - (autapses || pairs.targets == 0 ? 0 : 1);
    std::uint64_t allowed = pairs.sources * pairs.targets;
    for (std::uint64_t target = 0; target < pairs.targets; ++target) {
        if (!autapses && pairs.source_of_target(target)) --allowed;
    }
    for (const std::uint64_t number : {up_to(sources), up_to(sources / 3), sources / 2, sources}) {
        specs.push_back(rule("fixed_indegree", number, autapses, false));
    }
    for (const std::uint64_t number : {up_to(targets), targets / 2, targets}) {
        specs.push_back(rule("fixed_outdegree", number, autapses, false));
    }
    for (const std::uint64_t number : {up_to(allowed), up_to(allowed / 5), allowed / 2, allowed}) {
        specs.push_back(rule("fixed_total_number", number, autapses, false));
    }
}

/// All rules on one pair space, with parameters that can be carried out there; `random` picks them.
std::vector<RuleSpec> possible_specs(const PairSpace& pairs, SequentialRandom& random) {
    std::vector<RuleSpec> specs;
    const auto up_to = [&](std::uint64_t most) { return random.next_below(most + 1); };
    for (const bool autapses : {true, false}) {
        specs.push_back(rule("all_to_all", 0, autapses));
        if (pairs.sources == pairs.targets) specs.push_back(rule("one_to_one", 0, autapses));
        for (const double probability : {0.0, 1e-300, 1e-12, 0.01, 0.3, random.next_unit(), 0.97, 1.0 - 1e-15, 1.0}) {
            specs.push_back(bernoulli(probability, autapses));
        }
        for (const double mean : {0.0, 1e-12, 0.2, 1.0, 2.5}) specs.push_back(poisson(mean, autapses));
        for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, up_to(7), up_to(300)}) {
            for (const char* name : {"fixed_indegree", "fixed_outdegree", "fixed_total_number"}) {
                specs.push_back(rule(name, number, autapses, true));
            }
        }
        add_without_repetition(specs, pairs, autapses, random);
    }
    std::vector<std::uint64_t> list_sources;
    std::vector<std::uint64_t> list_targets;
    for (std::uint64_t i = 0; pairs.sources * pairs.targets > 0 && i < 50; ++i) {
        list_sources.push_back(random.next_below(pairs.sources));
        list_targets.push_back(random.next_below(pairs.targets));
    }
    specs.push_back(explicit_list(list_sources, list_targets));
    std::vector<std::uint64_t> starts{0};
    for (std::uint64_t target = 0; target < pairs.targets; ++target) {
        starts.push_back(starts.back() + std::min<std::uint64_t>(up_to(3), list_sources.size() - starts.back()));
    }
    list_sources.resize(starts.back());
    specs.push_back(explicit_rows(std::move(starts), std::move(list_sources)));
    for (const bool autapses : {true, false}) {
        const std::uint64_t sources = pairs.sources - (autapses || pairs.sources == 0 ? 0 : 1);
        for (const std::uint64_t greatest : {std::uint64_t{0}, std::uint64_t{1}, up_to(300)}) {
            specs.push_back(uniform_indegree(up_to(greatest), greatest, autapses, true));
        }
        specs.push_back(uniform_indegree(sources / 2, sources, autapses, false));
        specs.push_back(uniform_indegree(sources, sources, autapses, false));
    }
    if (pairs.first_source == pairs.first_target && pairs.sources == pairs.targets) {
        // None, some, and all that there are.
        const std::uint64_t most = pairs.sources == 0 ? 0 : (pairs.sources - 1) / 2;
        for (const std::uint64_t half : {std::uint64_t{0}, up_to(most), most}) {
            specs.push_back(nearest_neighbors(2 * half));
            specs.push_back(unordered_bernoulli(std::array{0.0, 1e-12, 0.3, 1.0}[random.next_below(4)]));
            for (const double rewiring : {0.0, 0.1, 1.0}) specs.push_back(small_world(2 * half, rewiring));
        }
    }
    return specs;
}

std::string describe(const RuleSpec& spec, const PairSpace& pairs) {
    const std::string probability = is_pairwise(spec) ? " probability or mean " + to_text(number_of_pairs(spec)) : "";
    return std::string(spec.name()) + " number " + std::to_string(number_of(spec)) + probability +
           (allows_autapses(spec) ? "" : " no autapses") + (allows_multapses(spec) ? "" : " no multapses") +
           ", sources " + std::to_string(pairs.first_source.value) + "+" + std::to_string(pairs.sources) +
           ", targets " + std::to_string(pairs.first_target.value) + "+" + std::to_string(pairs.targets);
}

bool positive_number_on_nothing(const RuleSpec& spec, const PairSpace& pairs) {
    if (is_list(spec) || is_pairwise(spec) || is_ring(spec)) return false;
    if (number_of(spec) == 0) return false;
    const bool per_target = spec.name() == "fixed_indegree" || spec.name() == "uniform_indegree";
    const bool per_source = spec.name() == "fixed_outdegree";
    if (per_target && pairs.targets == 0) return false;
    if (per_source && pairs.sources == 0) return false;
    bool some_without = false;
    bool any_with = false;
    const std::uint64_t majors = per_source ? pairs.sources : pairs.targets;
    for (std::uint64_t i = 0; i < majors; ++i) {
        const auto own = per_source ? pairs.target_of_source(i) : pairs.source_of_target(i);
        const std::uint64_t partners =
            (per_source ? pairs.targets : pairs.sources) - (own && !allows_autapses(spec) ? 1 : 0);
        (partners > 0 ? any_with : some_without) = true;
    }
    return per_target || per_source ? some_without : !any_with;
}

/// Calls a function for many combinations of sizes, pair spaces and rules.
template <class Function>
void for_each_case(const Function& function) {
    SequentialRandom random({make_key(5, Purpose::test, 3), 0, 0});
    std::uint64_t seed = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes;
    for (std::uint64_t sources = 0; sources <= 4; ++sources) {
        for (std::uint64_t targets = 0; targets <= 4; ++targets) sizes.emplace_back(sources, targets);
    }
    for (const std::uint64_t size : {5, 63, 64, 65, 130}) {
        sizes.emplace_back(size, size);
        sizes.emplace_back(size, random.next_below(100));
        sizes.emplace_back(random.next_below(100), size);
    }
    // Large enough that few partners are kept in a hash table instead of a bitmap.
    sizes.emplace_back(20000, 2);
    sizes.emplace_back(2, 1000);
    for (const auto& [sources, targets] : sizes) {
        for (const PairSpace& pairs : spaces(sources, targets)) {
            for (const RuleSpec& spec : possible_specs(pairs, random)) {
                SCOPED_TRACE(describe(spec, pairs));
                if (spec.name() != "one_to_one" && spec.name() != "all_to_all" &&
                    positive_number_on_nothing(spec, pairs)) {
                    EXPECT_THROW(bind(spec, pairs, seed), RuleError);
                    continue;
                }
                function(spec, pairs, seed++);
                if (testing::Test::HasFailure()) return;
            }
        }
    }
}

void expect_constraints(const RuleSpec& spec, const RuleSampler& sampler, const PairSpace& pairs,
                        const Partners& partners) {
    const std::uint64_t most = sampler.major() == RuleSampler::Major::target ? pairs.sources : pairs.targets;
    ASSERT_EQ(partners.size(), majors(sampler, pairs)) << "draw() returned lists that do not fit together";
    std::uint64_t distinct = 0;
    for (std::uint64_t major = 0; major < partners.size(); ++major) {
        for (const std::uint64_t partner : partners[major]) {
            ASSERT_LT(partner, most);
            if (!allows_autapses(spec)) {
                ASSERT_NE(partner, self(sampler, pairs, major)) << "autapse";
            }
        }
        std::vector<std::uint64_t> sorted = partners[major];
        std::ranges::sort(sorted);
        distinct += sorted.size() - std::ranges::unique(sorted).size();
    }
    if (!allows_multapses(spec)) {
        ASSERT_EQ(distinct, count_synapses(partners)) << "multapse";
    }
}

void expect_degrees(const RuleSpec& spec, const RuleSampler& sampler, const PairSpace& pairs,
                    const Partners& partners) {
    const std::uint64_t synapses = count_synapses(partners);
    if (spec.name() == "uniform_indegree") {
        const double targets = static_cast<double>(pairs.targets);
        ASSERT_EQ(sampler.expected_synapses(),
                  targets * static_cast<double>(spec.count("indegree_min") + number_of(spec)) / 2.0);
    } else if (!is_pairwise(spec)) {
        ASSERT_EQ(sampler.expected_synapses(), static_cast<double>(synapses));
    }
    const bool fixed_degree = spec.name() == "fixed_indegree" || spec.name() == "fixed_outdegree" || is_ring(spec);
    for (std::uint64_t major = 0; major < partners.size(); ++major) {
        const std::vector<std::uint64_t>& own = partners[major];
        if (fixed_degree) {
            ASSERT_EQ(own.size(), number_of(spec));
        }
        if (spec.name() == "all_to_all" || (spec.name() == "pairwise_bernoulli" && number_of_pairs(spec) == 1.0)) {
            std::vector<std::uint64_t> allowed(pairs.sources);
            std::iota(allowed.begin(), allowed.end(), 0);
            if (!allows_autapses(spec)) std::erase(allowed, self(sampler, pairs, major));
            ASSERT_EQ(own, allowed);
        }
        if (spec.name() == "unordered_bernoulli") {
            for (const std::uint64_t source : own) {
                ASSERT_EQ(std::ranges::count(partners[source], major), 0) << "a pair was decided twice";
            }
            if (number_of_pairs(spec) == 1.0) {
                ASSERT_EQ(2 * synapses, pairs.targets * (pairs.targets - 1));
            }
        }
        if (spec.name() != "pairwise_poisson" && is_pairwise(spec) && number_of_pairs(spec) <= 1e-12) {
            ASSERT_TRUE(own.empty());
        }
        if (spec.name() == "uniform_indegree") {
            ASSERT_GE(own.size(), spec.count("indegree_min"));
            ASSERT_LE(own.size(), number_of(spec));
        }
        if (spec.name() == "one_to_one") {
            const bool is_self = self(sampler, pairs, major) == major;
            const bool excluded = is_self && !allows_autapses(spec);
            ASSERT_EQ(own, excluded ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{major});
        }
    }
    if (spec.name() == "fixed_total_number") {
        ASSERT_EQ(synapses, number_of(spec));
    }
}

TEST(EveryRule, IsAmongTheCases) {
    const PairSpace pairs{NeuronId{0}, 5, NeuronId{0}, 5};
    SequentialRandom random({make_key(5, Purpose::test, 4), 0, 0});
    const std::vector<RuleSpec> specs = possible_specs(pairs, random);
    for (const connect::RuleInfo* info : connect::rules()) {
        EXPECT_TRUE(std::ranges::any_of(specs, [&](const RuleSpec& spec) { return &spec.info() == info; }))
            << info->name << " is not in possible_specs()";
    }
}

TEST(EveryRule, KeepsItsConstraints) {
    int cases = 0;
    for_each_case([&](const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed) {
        const auto sampler = bind(spec, pairs, seed);
        const Partners partners = draw_all(*sampler, pairs);
        expect_constraints(spec, *sampler, pairs, partners);
        expect_degrees(spec, *sampler, pairs, partners);
        ++cases;
    });
    EXPECT_GT(cases, 3000);
}

TEST(EveryRule, DrawsTheSameHoweverItsNeuronsAreDealt) {
    for_each_case([&](const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed) {
        const auto sampler = bind(spec, pairs, seed);
        const Partners expected = draw_all(*sampler, pairs);
        for (const std::uint64_t stride : {2, 7}) {
            // One neuron at a time for small cases, to save time.
            const std::uint64_t batch = expected.size() < 70 ? 1 + stride % 3 : 500;
            ASSERT_EQ(draw_all(*sampler, pairs, stride, batch), expected) << "stride " << stride;
        }
        if (expected.size() < 70) {
            ASSERT_EQ(draw_all(*bind(spec, pairs, seed), pairs, 1, 1), expected);
        }
    });
}

TEST(EveryRule, DrawsTheSameOnEveryInstructionSet) {
    for_each_case([&](const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed) {
        const auto sampler = bind(spec, pairs, seed);
        const Partners expected = draw_all(*sampler, pairs, 1, 1000, InstructionSet::baseline);
        for (const InstructionSet set : available_instruction_sets()) {
            ASSERT_EQ(draw_all(*sampler, pairs, 1, 1000, set), expected) << to_string(set);
        }
    });
}

TEST(EveryRule, GivesEachSynapseItsOwnPlaceInArrays) {
    for_each_case([&](const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed) {
        const auto sampler = bind(spec, pairs, seed);
        const auto length = sampler->array_length();
        const bool has_order =
            spec.name() != "fixed_total_number" && !is_pairwise(spec) && spec.name() != "uniform_indegree";
        ASSERT_EQ(length.has_value(), has_order);
        if (!length) return;
        const Partners partners = draw_all(*sampler, pairs);
        std::vector<int> used(*length);
        for (std::uint64_t major = 0; major < partners.size(); ++major) {
            for (std::uint64_t ordinal = 0; ordinal < partners[major].size(); ++ordinal) {
                const std::uint64_t position = sampler->array_position(major, ordinal);
                ASSERT_LT(position, *length);
                ASSERT_EQ(used[position]++, 0) << "two synapses share a place";
                if (spec.name() == "all_to_all") {
                    ASSERT_EQ(position, major * pairs.sources + partners[major][ordinal]);
                }
                if (spec.name() == "explicit_rows") {
                    ASSERT_EQ(position, spec.indices("starts")[major] + ordinal);
                    ASSERT_EQ(spec.indices("sources")[position], partners[major][ordinal]);
                }
                if (spec.name() == "explicit") {
                    ASSERT_EQ(spec.indices("targets")[position], major);
                    ASSERT_EQ(spec.indices("sources")[position], partners[major][ordinal]);
                }
            }
        }
        const auto total = static_cast<std::uint64_t>(std::accumulate(used.begin(), used.end(), 0));
        // Only excluded pairs of the rules that fix their pairs have a place without a synapse.
        const bool may_skip = !allows_autapses(spec) && (spec.name() == "all_to_all" || spec.name() == "one_to_one");
        if (!may_skip) {
            ASSERT_EQ(total, *length);
        }
    });
}

TEST(EveryRule, DependsOnSeedAndProjection) {
    const PairSpace apart{NeuronId{0}, 200, NeuronId{0}, 100};
    const PairSpace same{NeuronId{0}, 100, NeuronId{0}, 100};
    for (const RuleSpec& spec :
         {rule("fixed_indegree", 50), rule("fixed_outdegree", 50), rule("fixed_total_number", 5000),
          rule("fixed_indegree", 50, true, false), rule("fixed_total_number", 5000, true, false), bernoulli(0.25),
          uniform_indegree(30, 60), small_world(20, 0.3), unordered_bernoulli(0.5)}) {
        const bool needs_same = is_ring(spec) || spec.name() == "unordered_bernoulli";
        const PairSpace& pairs = needs_same ? same : apart;
        const Partners one = draw_all(*bind(spec, pairs, 1, 0), pairs);
        EXPECT_EQ(draw_all(*bind(spec, pairs, 1, 0), pairs), one) << spec.name();
        EXPECT_NE(draw_all(*bind(spec, pairs, 2, 0), pairs), one) << spec.name();
        EXPECT_NE(draw_all(*bind(spec, pairs, 1, 1), pairs), one) << spec.name();
        // The partners of two neurons of one network agree only by chance.
        EXPECT_NE(one[98], one[99]) << spec.name();
    }
}

TEST(EveryRule, IsReversed) {
    for_each_case([&](const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed) {
        const auto forward = bind(spec, pairs, seed, 3);
        const PairSpace turned = connect::reversed(pairs);
        const auto back = bind(spec.reversed({.of = ProjectionId{3}}), turned, seed, 7);
        ASSERT_NE(back->major(), forward->major());
        ASSERT_EQ(majors(*back, turned), majors(*forward, pairs));
        ASSERT_EQ(draw_all(*back, turned), draw_all(*forward, pairs));
        ASSERT_EQ(back->expected_synapses(), forward->expected_synapses());
        ASSERT_EQ(back->expected_repeats(), forward->expected_repeats());
        ASSERT_EQ(back->array_length(), forward->array_length());
    });
}

TEST(ExplicitList, KeepsTheOrderOfTheListWithinATarget) {
    const PairSpace pairs{NeuronId{0}, 10, NeuronId{10}, 4};
    const RuleSpec spec = explicit_list({7, 3, 3, 9, 0, 3}, {2, 0, 2, 2, 3, 2});
    EXPECT_EQ(draw_all(spec, pairs), (Partners{{3}, {}, {7, 3, 9, 3}, {0}}));
    const auto sampler = bind(spec, pairs);
    EXPECT_EQ(sampler->array_position(2, 0), 0U);
    EXPECT_EQ(sampler->array_position(2, 1), 2U);
    EXPECT_EQ(sampler->array_position(2, 3), 5U);
    EXPECT_EQ(sampler->array_position(3, 0), 4U);
}

TEST(ExplicitList, TakesNoMoreWhereNeuronsAreMany) {
    const std::uint64_t size = std::uint64_t{1} << 48;
    const PairSpace pairs{NeuronId{0}, size, NeuronId{0}, size};
    const auto sampler = bind(explicit_list({size - 1, 5, 0, 7}, {12, size - 1, 12, 3}), pairs);
    EXPECT_EQ(sampler->array_position(12, 1), 2U);
    EXPECT_EQ(sampler->array_position(size - 1, 0), 1U);
    std::vector<std::uint32_t> degrees;
    std::vector<std::uint64_t> partners;
    sampler->draw(InstructionSet::baseline, 0, 3, 6, degrees, partners);
    EXPECT_EQ(degrees, (std::vector<std::uint32_t>{0, 1, 0, 0, 2, 0}));
    EXPECT_EQ(partners, (std::vector<std::uint64_t>{7, size - 1, 0}));
    sampler->draw(InstructionSet::baseline, 4, (size - 5) / 2, 3, degrees, partners);
    EXPECT_EQ(degrees, (std::vector<std::uint32_t>{0, 0, (size - 5) % 2 == 0 ? 1U : 0U}));
    sampler->draw(InstructionSet::baseline, size - 2, 1, 2, degrees, partners);
    EXPECT_EQ(degrees, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(partners, (std::vector<std::uint64_t>{5}));
}

TEST(NearestNeighbors, StandOnARing) {
    const PairSpace pairs{NeuronId{3}, 6, NeuronId{3}, 6};
    EXPECT_EQ(draw_all(nearest_neighbors(2), pairs), (Partners{{5, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}}));
    const Partners four = draw_all(nearest_neighbors(4), pairs);
    EXPECT_EQ(four[0], (std::vector<std::uint64_t>{4, 5, 1, 2}));
    EXPECT_EQ(four[1], (std::vector<std::uint64_t>{5, 0, 2, 3}));
    EXPECT_EQ(four[3], (std::vector<std::uint64_t>{1, 2, 4, 5}));
    EXPECT_EQ(four[5], (std::vector<std::uint64_t>{3, 4, 0, 1}));
    EXPECT_EQ(draw_all(nearest_neighbors(2), {NeuronId{0}, 3, NeuronId{0}, 3}), (Partners{{2, 1}, {0, 2}, {1, 0}}));
}

TEST(SmallWorld, KeepsTheRingWithoutRewiring) {
    for (const std::uint64_t degree : {2, 4, 10}) {
        const PairSpace pairs{NeuronId{3}, 11, NeuronId{3}, 11};
        EXPECT_EQ(draw_all(small_world(degree, 0.0), pairs), draw_all(nearest_neighbors(degree), pairs));
    }
}

TEST(FixedTotalNumber, WorksWherePairsAndNumbersAreHuge) {
    // 2^60 pairs; one neuron in 2^30 is looked at, which must not take the time of all.
    const std::uint64_t size = std::uint64_t{1} << 30;
    const PairSpace pairs{NeuronId{0}, size, NeuronId{0}, size};
    for (const bool multapses : {true, false}) {
        const auto sampler = bind(rule("fixed_total_number", size * 100, false, multapses), pairs);
        std::vector<std::uint32_t> degrees;
        std::vector<std::uint64_t> partners;
        sampler->draw(detect_instruction_set(), 12345, size / 4, 4, degrees, partners);
        std::uint64_t sum = 0;
        for (const std::uint32_t degree : degrees) {
            EXPECT_NEAR(degree, 100, 60);
            sum += degree;
        }
        ASSERT_EQ(partners.size(), sum);
        for (const std::uint64_t partner : partners) EXPECT_LT(partner, size);
        EXPECT_TRUE(std::ranges::any_of(partners, [&](std::uint64_t partner) { return partner > size / 2; }));
    }
}

TEST(FixedIndegree, WorksWithMoreSourcesThan32BitsCount) {
    const std::uint64_t sources = std::uint64_t{5} << 32;
    const PairSpace pairs{NeuronId{0}, sources, NeuronId{7}, 100};
    for (const bool multapses : {true, false}) {
        const RuleSpec spec = rule("fixed_indegree", 200, false, multapses);
        const auto sampler = bind(spec, pairs);
        const Partners partners = draw_all(*sampler, pairs);
        expect_constraints(spec, *sampler, pairs, partners);
        expect_degrees(spec, *sampler, pairs, partners);
        EXPECT_EQ(draw_all(*sampler, pairs, 3, 10), partners);
        std::vector<int> fifths(5);
        for (const auto& own : partners) {
            for (const std::uint64_t partner : own) ++fifths[partner >> 32];
        }
        for (const int count : fifths) EXPECT_NEAR(count, 4000, 400);
    }
}

}  // namespace TEST_FILE
