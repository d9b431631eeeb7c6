#include "ranvier/base/errors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/counted.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace TEST_FILE {

using namespace ranvier;

constexpr std::array<std::string_view, 4> rules{"fixed_indegree", "fixed_outdegree", "one_to_one", "all_to_all"};

TEST(Error, TellsObjectValueBoundAndRemedy) {
    const RuleError error({.object = "in-degree", .value = "7", .bound = "there are 3 sources", .remedy = "lower it"});
    EXPECT_STREQ(error.what(), "in-degree is 7, but there are 3 sources; lower it");
    EXPECT_EQ(error.fields().object, "in-degree");
    EXPECT_EQ(error.fields().value, "7");
    EXPECT_EQ(error.fields().bound, "there are 3 sources");
    EXPECT_EQ(error.fields().remedy, "lower it");
    EXPECT_STREQ(Error({.object = "network", .value = "", .bound = "it is empty", .remedy = ""}).what(),
                 "network: it is empty");
}

TEST(Error, OfAUserIsNotABug) {
    EXPECT_TRUE((std::is_base_of_v<Error, GridError>));
    EXPECT_TRUE((std::is_base_of_v<Error, DelayError>));
    EXPECT_FALSE((std::is_base_of_v<Error, InternalError>));
    EXPECT_NE(std::string(InternalError("x").what()).find("please report: x"), std::string::npos);
}

TEST(Counted, HasTheNounInTheSingularOrThePlural) {
    EXPECT_EQ(counted(0, "neuron"), "0 neurons");
    EXPECT_EQ(counted(1, "neuron"), "1 neuron");
    EXPECT_EQ(counted(2, "process"), "2 processes");
    EXPECT_EQ(there_are(1, "source"), "there is 1 source");
    EXPECT_EQ(there_are(3, "source"), "there are 3 sources");
}

TEST(NearestName, FindsSlipsOfTheFinger) {
    EXPECT_EQ(nearest_name("fixed_indegre", rules), "fixed_indegree");
    EXPECT_EQ(nearest_name("fixed_out_degree", rules), "fixed_outdegree");
    EXPECT_EQ(nearest_name("oneToOne", rules), "one_to_one");
    EXPECT_EQ(nearest_name("all_to_all", rules), "all_to_all");
    EXPECT_EQ(nearest_name("ALL_TO_ALL", rules), "all_to_all");
    const std::vector<std::string_view> populations{"exc", "inh"};
    EXPECT_EQ(nearest_name("ecx", populations), "exc");
    EXPECT_EQ(nearest_name("hni", populations), "");
}

TEST(NearestName, FindsWhatAPartMeans) {
    EXPECT_EQ(nearest_name("one", rules), "one_to_one");
    EXPECT_EQ(nearest_name("outdegree", rules), "fixed_outdegree");
    EXPECT_EQ(nearest_name("Indegree", rules), "fixed_indegree");
    EXPECT_EQ(nearest_name("x", rules), "");
}

TEST(NearestName, FindsNothingWhereNothingIsNear) {
    EXPECT_EQ(nearest_name("xyzzy", rules), "");
    // Four of six letters are wrong.
    const std::vector<std::string_view> sequences{"times", "amplitudes", "start", "stop"};
    EXPECT_EQ(nearest_name("values", sequences), "");
    EXPECT_EQ(nearest_name("amplitude_times", sequences), "times");
    EXPECT_EQ(nearest_name("amplitude_values", sequences), "amplitudes");
    EXPECT_EQ(nearest_name("", rules), "");
    EXPECT_EQ(nearest_name("anything", {}), "");
}

TEST(UnknownName, ListsAllAndProposesTheNearest) {
    const UnknownNameError error = unknown_name("rule", "all_to_al", rules);
    EXPECT_EQ(error.fields().value, "'all_to_al'");
    EXPECT_NE(error.fields().remedy.find("did you mean 'all_to_all'?"), std::string::npos);
    for (const std::string_view name : rules) EXPECT_NE(error.fields().remedy.find(name), std::string::npos);
    EXPECT_EQ(unknown_name("rule", "xyzzy", rules).fields().remedy.find("did you mean"), std::string::npos);
}

TEST(ToText, KeepsNumbersApart) {
    EXPECT_EQ(to_text(0.1), "0.1");
    EXPECT_EQ(to_text(-65.0), "-65");
    EXPECT_NE(to_text(0.1), to_text(std::nextafter(0.1, 1.0)));
    EXPECT_EQ(to_text(HUGE_VAL), "inf");
    EXPECT_EQ(to_text(std::nan("")), "nan");
}

TEST(InstructionSets, AreChosenByName) {
    EXPECT_EQ(parse_instruction_set("auto"), detect_instruction_set());
    EXPECT_EQ(available_instruction_sets().front(), InstructionSet::baseline);
    EXPECT_EQ(available_instruction_sets().back(), detect_instruction_set());
    for (const InstructionSet set : available_instruction_sets()) EXPECT_EQ(parse_instruction_set(to_string(set)), set);
    EXPECT_THROW(parse_instruction_set("avx"), UnknownNameError);
    if (detect_instruction_set() != InstructionSet::avx512) {
        EXPECT_THROW(parse_instruction_set("avx512"), ValueOutOfBoundsError);
    }
}

}  // namespace TEST_FILE
