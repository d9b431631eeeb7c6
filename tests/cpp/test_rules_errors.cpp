// The errors that rules throw.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"
#include "rule_testing.hpp"

namespace TEST_FILE {

using namespace rule_testing;

/// Expects an error of a type whose message holds all of some texts.
template <class ErrorType>
void expect_error(const RuleSpec& spec, const PairSpace& pairs, const std::vector<std::string>& texts) {
    SCOPED_TRACE(spec.name());
    const ErrorFields fields = fields_of<ErrorType>([&] { bind(spec, pairs); }, texts);
    EXPECT_FALSE(fields.value.empty());
}

/// The same of a rule that no neurons could have.
template <class ErrorType, class Make>
void expect_refusal(const Make& make, const std::vector<std::string>& texts) {
    const ErrorFields fields = fields_of<ErrorType>(make, texts);
    EXPECT_FALSE(fields.value.empty());
}

const PairSpace apart{NeuronId{0}, 10, NeuronId{10}, 20};
const PairSpace same{NeuronId{0}, 10, NeuronId{0}, 10};

TEST(Registry, DescribesItsRulesAndListsThemByName) {
    std::vector<std::string_view> names;
    for (const connect::RuleInfo* info : connect::rules()) {
        names.push_back(info->name);
        EXPECT_FALSE(info->summary.empty());
        for (const connect::RuleParameterInfo& parameter : info->parameters) {
            EXPECT_FALSE(parameter.name.empty() || parameter.meaning.empty() || describe_values(parameter).empty());
        }
        EXPECT_EQ(&connect::find_rule(info->name), info);
    }
    EXPECT_FALSE(names.empty());
    EXPECT_TRUE(std::ranges::is_sorted(names, std::less_equal<>()));  // without repetition
}

TEST(Registry, NamesTheNearestRule) {
    expect_refusal<UnknownNameError>([] { RuleSpec("fixed_in_degree", {{"indegree", 3}}); },
                                     {"'fixed_in_degree'", "did you mean 'fixed_indegree'"});
    expect_refusal<UnknownNameError>([] { RuleSpec(""); }, {"all_to_all"});
}

TEST(RuleSpec, HoldsTheValuesOfAllParameters) {
    const RuleSpec spec("fixed_indegree", {{"allow_multapses", false}, {"indegree", 7}});
    EXPECT_EQ(spec.name(), "fixed_indegree");
    EXPECT_EQ(spec.count("indegree"), 7U);
    EXPECT_TRUE(spec.flag("allow_autapses"));
    EXPECT_FALSE(spec.flag("allow_multapses"));
    EXPECT_EQ(spec.values().size(), spec.info().parameters.size());
    EXPECT_THROW(static_cast<void>(spec.count("outdegree")), InternalError);
}

TEST(RuleSpec, RefusesArgumentsThatDoNotFitTheDescription) {
    expect_refusal<UnknownNameError>([] { RuleSpec("fixed_indegree", {{"in_degree", 7}}); },
                                     {"parameter of rule 'fixed_indegree'", "did you mean 'indegree'"});
    fields_of<RuleError>([] { RuleSpec("fixed_indegree"); }, {"it needs indegree"});
    fields_of<RuleError>([] { RuleSpec("explicit", {{"sources", SharedIndices()}}); }, {"it needs targets"});
    expect_refusal<ValueOutOfBoundsError>([] { RuleSpec("fixed_indegree", {{"indegree", 0.5}}); },
                                          {"indegree of rule 'fixed_indegree'", "0.5", "a whole number >= 0"});
    expect_refusal<ValueOutOfBoundsError>([] { RuleSpec("all_to_all", {{"allow_autapses", 1}}); }, {"true or false"});
}

TEST(FixedIndegree, RefusesMoreThanTheAllowedSources) {
    expect_error<RuleError>(rule("fixed_indegree", 11, true, false), apart, {"indegree", "11", "10 allowed sources"});
    expect_error<RuleError>(rule("fixed_indegree", 10, false, false), same,
                            {"9 allowed sources", "at most 9", "autapses"});
    EXPECT_NO_THROW(bind(rule("fixed_indegree", 10, false, false), apart));
    EXPECT_NO_THROW(bind(rule("fixed_indegree", 9, false, false), same));
    EXPECT_NO_THROW(bind(rule("fixed_indegree", 1000, false, true), same));
}

TEST(FixedIndegree, RefusesATargetWithoutAnySource) {
    const PairSpace single{NeuronId{3}, 1, NeuronId{0}, 5};
    expect_error<RuleError>(rule("fixed_indegree", 1, false, true), single, {"0 allowed sources"});
    expect_error<RuleError>(rule("fixed_indegree", 1), {NeuronId{0}, 0, NeuronId{0}, 5}, {"0 allowed sources"});
    EXPECT_NO_THROW(bind(rule("fixed_indegree", 1), {NeuronId{0}, 0, NeuronId{0}, 0}));
    EXPECT_NO_THROW(bind(rule("fixed_indegree", 0), {NeuronId{0}, 0, NeuronId{0}, 5}));
}

TEST(UniformIndegree, RefusesWhatNoTargetCanHave) {
    expect_refusal<RuleError>([] { uniform_indegree(5, 4); }, {"indegree_min", "5", "indegree_max, 4"});
    expect_error<RuleError>(uniform_indegree(3, 11, true, false), apart, {"indegree_max", "11", "10 allowed sources"});
    expect_error<RuleError>(uniform_indegree(3, 10, false, false), same, {"9 allowed sources"});
    expect_error<RuleError>(uniform_indegree(0, std::uint64_t{1} << 32), same, {"indegree_max", "2^32"});
    expect_error<RuleError>(uniform_indegree(0, 1), {NeuronId{0}, 0, NeuronId{0}, 5}, {"0 allowed sources"});
    EXPECT_NO_THROW(bind(uniform_indegree(0, 9, false, false), same));
    EXPECT_NO_THROW(bind(uniform_indegree(4, 4), apart));
}

TEST(NearestNeighbors, RefuseWhatHasNoNeighbors) {
    expect_error<RuleError>(nearest_neighbors(2), apart, {"sources", "from id 0", "from id 10"});
    expect_error<RuleError>(nearest_neighbors(2), {NeuronId{0}, 10, NeuronId{0}, 9}, {"10 neurons", "9 neurons"});
    expect_error<RuleError>(nearest_neighbors(2), {NeuronId{0}, 9, NeuronId{1}, 9}, {"from id 1 on"});
    expect_refusal<RuleError>([] { nearest_neighbors(3); }, {"indegree", "3", "even"});
    expect_error<RuleError>(nearest_neighbors(10), same, {"indegree", "10", "less than the number of sources, 10"});
    EXPECT_NO_THROW(bind(nearest_neighbors(8), same));
    const std::uint64_t many = std::uint64_t{1} << 33;
    expect_error<RuleError>(nearest_neighbors(std::uint64_t{1} << 32), {NeuronId{0}, many, NeuronId{0}, many},
                            {"2^32"});
    expect_error<RuleError>(nearest_neighbors((std::uint64_t{1} << 32) - 2), {NeuronId{0}, many, NeuronId{0}, many},
                            {"2^62"});
    EXPECT_NO_THROW(bind(nearest_neighbors(2), {NeuronId{0}, 0, NeuronId{0}, 0}));
}

TEST(ExplicitRows, RefuseWhatDoesNotFit) {
    const PairSpace pairs{NeuronId{0}, 4, NeuronId{0}, 3};
    expect_refusal<RuleError>([] { explicit_rows({}, {}); }, {"length of starts", "is 0", "one more"});
    expect_refusal<RuleError>([] { explicit_rows({1, 2}, {0, 0}); }, {"element 0 of starts", "1", "must be 0"});
    expect_refusal<RuleError>([] { explicit_rows({0, 2, 1, 3}, {0, 0, 0}); },
                              {"element 2 of starts", "1", "below the one before it, 2"});
    expect_refusal<RuleError>([] { explicit_rows({0, 2}, {0, 0, 0}); }, {"last element of starts", "3 sources"});
    expect_error<ShapeError>(explicit_rows({0, 1, 2}, {0, 0}), pairs, {"number of rows", "2", "3 targets"});
    expect_error<ValueOutOfBoundsError>(explicit_rows({0, 1, 1, 3}, {0, 3, 4}), pairs,
                                        {"source at position 2", "of target 2", "is 4", "below 4"});
    expect_error<RuleError>(explicit_rows({0, 1, 2, 3}, {1, 1, 3}, false), pairs, {"position 1", "(1, 1)", "itself"});
    expect_error<RuleError>(explicit_rows({0, 1, 4, 4}, {2, 3, 1, 3}, true, false), pairs,
                            {"position 3", "(3, 1)", "already contains"});
    EXPECT_NO_THROW(bind(explicit_rows({0, 1, 4, 4}, {2, 3, 2, 0}, false, false), pairs));
    EXPECT_NO_THROW(bind(explicit_rows({0}, {}), {NeuronId{0}, 4, NeuronId{0}, 0}));
}

TEST(ExplicitRows, NoticeRepeatedPairs) {
    const PairSpace pairs{NeuronId{0}, 4, NeuronId{0}, 3};
    EXPECT_EQ(bind(explicit_rows({0, 2, 4, 6}, {3, 1, 0, 2, 2, 1}), pairs)->expected_repeats(), 0.0);
    EXPECT_GT(bind(explicit_rows({0, 2, 4, 6}, {3, 1, 0, 2, 2, 2}), pairs)->expected_repeats(), 1.0);
}

TEST(UnorderedBernoulli, NeedsOnePopulation) {
    expect_error<RuleError>(unordered_bernoulli(0.1), apart, {"sources of rule 'unordered_bernoulli'", "from id 10"});
    expect_refusal<ValueOutOfBoundsError>([] { unordered_bernoulli(1.5); }, {"probability", "1.5", "from 0 to 1"});
}

TEST(SmallWorld, RefusesWhatHasNoNeighbors) {
    expect_error<RuleError>(small_world(2, 0.1), apart, {"sources of rule 'small_world'", "from id 0", "from id 10"});
    expect_refusal<RuleError>([] { small_world(3, 0.1); }, {"indegree of rule 'small_world'", "3", "even"});
    expect_error<RuleError>(small_world(10, 0.1), same, {"indegree", "10", "less than the number of sources, 10"});
    expect_refusal<ValueOutOfBoundsError>([] { small_world(2, 1.5); }, {"rewiring", "1.5", "from 0 to 1"});
    EXPECT_NO_THROW(bind(small_world(8, 1.0), same));
}

TEST(FixedOutdegree, RefusesMoreThanTheAllowedTargets) {
    expect_error<RuleError>(rule("fixed_outdegree", 21, true, false), apart, {"outdegree", "21", "20 allowed targets"});
    expect_error<RuleError>(rule("fixed_outdegree", 10, false, false), same, {"9 allowed targets"});
    expect_error<RuleError>(rule("fixed_outdegree", 1), {NeuronId{0}, 5, NeuronId{0}, 0}, {"0 allowed targets"});
    EXPECT_NO_THROW(bind(rule("fixed_outdegree", 1), {NeuronId{0}, 0, NeuronId{0}, 5}));
}

TEST(FixedDegrees, RefuseWhat32BitsCannotCount) {
    expect_error<RuleError>(rule("fixed_indegree", std::uint64_t{1} << 32), apart, {"2^32"});
    const PairSpace huge{NeuronId{0}, 10, NeuronId{0}, std::uint64_t{1} << 40};
    expect_error<RuleError>(rule("fixed_indegree", std::uint64_t{1} << 31), huge, {"2^62"});
}

TEST(FixedTotalNumber, RefusesWhatThePairsCannotHold) {
    expect_error<RuleError>(rule("fixed_total_number", 201, true, false), apart, {"201", "200 allowed pairs"});
    expect_error<RuleError>(rule("fixed_total_number", 91, false, false), same, {"90 allowed pairs"});
    expect_error<RuleError>(rule("fixed_total_number", 1), {NeuronId{0}, 0, NeuronId{0}, 5}, {"no pair"});
    expect_error<RuleError>(rule("fixed_total_number", 1, false), {NeuronId{2}, 1, NeuronId{2}, 1}, {"no pair"});
    EXPECT_NO_THROW(bind(rule("fixed_total_number", 90, false, false), same));
}

TEST(FixedTotalNumber, RefusesWhatCannotBeCounted) {
    const std::uint64_t large = std::uint64_t{1} << 40;
    expect_error<RuleError>(rule("fixed_total_number", 1), {NeuronId{0}, large, NeuronId{0}, large}, {"2^62"});
    expect_error<RuleError>(rule("fixed_total_number", std::numeric_limits<std::uint64_t>::max()), apart, {"2^62"});
    expect_error<RuleError>(rule("fixed_total_number", large), apart, {"2^32"});
}

TEST(PairwiseBernoulli, RefusesWhatIsNoProbability) {
    for (const double bad :
         {-1e-9, 1.0000001, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        expect_refusal<ValueOutOfBoundsError>([bad] { bernoulli(bad); }, {"probability", "from 0 to 1"});
    }
}

TEST(OneToOne, RefusesDifferentSizes) { expect_error<RuleError>(rule("one_to_one"), apart, {"10", "20"}); }

TEST(ExplicitList, RefusesBadLists) {
    expect_refusal<ShapeError>([] { explicit_list({0, 1, 2}, {0, 1}); }, {"2", "3"});
    expect_error<ValueOutOfBoundsError>(explicit_list({0, 10, 11}, {0, 1, 2}), apart, {"source", "position 1", "10"});
    expect_error<ValueOutOfBoundsError>(explicit_list({0, 1, 2}, {0, 1, 20}), apart, {"target", "position 2", "20"});
    EXPECT_NO_THROW(bind(explicit_list({0, 4, 5}, {1, 4, 5}), same));
    const RuleSpec no_autapses = explicit_list({0, 4, 5}, {1, 4, 5}, false);
    EXPECT_NO_THROW(bind(no_autapses, apart));
    expect_error<RuleError>(no_autapses, same, {"position 1", "itself"});
    EXPECT_NO_THROW(bind(explicit_list({0, 4, 4, 0, 4}, {1, 2, 3, 1, 2}), apart));
    const RuleSpec no_multapses = explicit_list({0, 4, 4, 0, 4}, {1, 2, 3, 1, 2}, true, false);
    expect_error<RuleError>(no_multapses, apart, {"position 3", "already"});
}

TEST(ExplicitList, MayBeEmpty) {
    const auto sampler = bind(explicit_list({}, {}), apart);
    EXPECT_EQ(sampler->expected_synapses(), 0.0);
    EXPECT_EQ(sampler->array_length(), 0U);
    EXPECT_EQ(count_synapses(draw_all(*sampler, apart)), 0U);
}

}  // namespace TEST_FILE
