#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "connect/rules/selected.hpp"
#include "ranvier/base/errors.hpp"
#include "rule_testing.hpp"

/// Rules between neurons whose ids have gaps between them.

namespace TEST_FILE {

using namespace rule_testing;
using connect::bind_selected;
using connect::SelectedRule;

IdSequence list(std::vector<std::uint64_t> ids) {
    const std::uint64_t size = ids.size();
    return {std::make_shared<const std::vector<std::uint64_t>>(std::move(ids)), 0, size};
}

/// The pairs of ids that a rule connects, in the order of its drawing.
std::vector<std::pair<std::uint64_t, std::uint64_t>> draw_ids(const SelectedRule& rule, std::uint64_t stride = 1,
                                                              std::uint64_t batch = 1000) {
    const bool by_target = rule.sampler->major() == RuleSampler::Major::target;
    const std::uint64_t major = (by_target ? rule.hull.first_target : rule.hull.first_source).value;
    const std::uint64_t partner = (by_target ? rule.hull.first_source : rule.hull.first_target).value;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    const Partners all = draw_all(*rule.sampler, rule.hull, stride, batch);
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const std::uint64_t own : all[i]) found.emplace_back(major + i, partner + own);
    }
    return found;
}

const std::vector<std::pair<IdSequence, IdSequence>> cases{
    {list({2, 3, 7, 11, 40, 41, 42, 60}), IdSequence(NeuronId{3}, 4, 10)},
    {IdSequence(NeuronId{0}, 1, 30), list({1, 2, 5, 25, 29, 33, 34})},
    {IdSequence(NeuronId{10}, 3, 12), IdSequence(NeuronId{100}, 1, 20)},
    {IdSequence(NeuronId{5}, 2, 9), IdSequence(NeuronId{5}, 2, 9)},
};

std::vector<RuleSpec> make_specs(bool autapses) {
    return {
        rule("all_to_all", 0, autapses),
        rule("fixed_indegree", 5, autapses, true),
        rule("fixed_indegree", 5, autapses, false),
        rule("fixed_outdegree", 4, autapses, true),
        rule("fixed_total_number", 25, autapses, false),
        uniform_indegree(1, 5, autapses, true),
        bernoulli(0.4, autapses),
    };
}

TEST(SelectedRules, ConnectTheNeuronsThatTheRuleConnectsByTheirPlaces) {
    for (const auto& [sources, targets] : cases) {
        for (const RuleSpec& spec : make_specs(true)) {
            const SelectedRule selected = bind_selected(spec, sources, targets, 1, ProjectionId{2});
            // The same numbers of neurons, without gaps.
            const PairSpace places{NeuronId{0}, sources.size(), NeuronId{1000}, targets.size()};
            const auto plain = bind(spec, places, 1, 2);
            const bool by_target = plain->major() == RuleSampler::Major::target;
            const IdSequence& majors = by_target ? targets : sources;
            const IdSequence& partners = by_target ? sources : targets;
            std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
            const Partners all = draw_all(*plain, places);
            for (std::size_t i = 0; i < all.size(); ++i) {
                for (const std::uint64_t own : all[i]) expected.emplace_back(majors[i].value, partners[own].value);
            }
            EXPECT_EQ(draw_ids(selected), expected) << spec.name();
            EXPECT_EQ(selected.sampler->expected_synapses(), plain->expected_synapses()) << spec.name();
        }
    }
}

TEST(SelectedRules, DrawTheSameHoweverTheWorkIsCut) {
    for (const auto& [sources, targets] : cases) {
        for (const RuleSpec& spec : make_specs(false)) {
            const SelectedRule selected = bind_selected(spec, sources, targets, 3, ProjectionId{0});
            for (const auto& [stride, batch] : {std::pair(2, 1000), std::pair(3, 2), std::pair(1, 1)}) {
                EXPECT_EQ(draw_ids(selected, static_cast<std::uint64_t>(stride), static_cast<std::uint64_t>(batch)),
                          draw_ids(selected))
                    << spec.name();
            }
        }
    }
}

TEST(SelectedRules, ConnectNoNeuronToItselfUnlessAllowed) {
    const IdSequence sources = list({1, 4, 5, 9});
    const IdSequence targets(NeuronId{0}, 1, 10);
    const auto pairs = draw_ids(bind_selected(rule("all_to_all", 0, false), sources, targets, 1, ProjectionId{0}));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
    for (std::uint64_t target = 0; target < 10; ++target) {
        for (const std::uint64_t source : {1, 4, 5, 9}) {
            if (source != target) expected.emplace_back(target, source);
        }
    }
    EXPECT_EQ(pairs, expected);
    for (const auto& [from, to] : cases) {
        for (const RuleSpec& spec : make_specs(false)) {
            const SelectedRule selected = bind_selected(spec, from, to, 5, ProjectionId{0});
            const auto drawn = draw_ids(selected);
            for (const auto& [major, partner] : drawn) EXPECT_NE(major, partner) << spec.name();
        }
    }
}

TEST(SelectedRules, CountWhatOneToOneLeavesOut) {
    const IdSequence sources = list({1, 4, 5, 9});
    const IdSequence targets = list({2, 4, 6, 9});
    const auto selected = bind_selected(rule("one_to_one", 0, false), sources, targets, 1, ProjectionId{0});
    EXPECT_EQ(draw_ids(selected), (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{2, 1}, {6, 5}}));
    EXPECT_EQ(selected.sampler->expected_synapses(), 2.0);
}

TEST(SelectedRules, MakeARingOfNeuronsWithGaps) {
    const IdSequence ring = list({3, 4, 8, 9, 20});
    const auto selected = bind_selected(nearest_neighbors(2), ring, ring, 1, ProjectionId{0});
    EXPECT_EQ(draw_ids(selected),
              (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                  {3, 20}, {3, 4}, {4, 3}, {4, 8}, {8, 4}, {8, 9}, {9, 8}, {9, 20}, {20, 9}, {20, 3}}));
    EXPECT_THROW(bind_selected(nearest_neighbors(2), ring, list({3, 4, 8, 9, 21}), 1, ProjectionId{0}), RuleError);
}

TEST(SelectedRules, FindArrayElementsByPlace) {
    const IdSequence sources = list({1, 4, 9});
    const IdSequence targets(NeuronId{2}, 5, 4);
    const auto selected = bind_selected(rule("all_to_all"), sources, targets, 1, ProjectionId{0});
    EXPECT_EQ(selected.sampler->array_length(), 12U);
    EXPECT_EQ(selected.sampler->array_position(10, 2), 2 * 3U + 2);
    const auto pairs = bind_selected(explicit_list({2, 0}, {3, 1}), sources, targets, 1, ProjectionId{0});
    EXPECT_EQ(draw_ids(pairs), (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{7, 1}, {17, 9}}));
    EXPECT_EQ(pairs.sampler->array_position(15, 0), 0U);
}

}  // namespace TEST_FILE
