#include "ranvier/base/choice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ranvier/base/errors.hpp"

namespace TEST_FILE {

enum class Fruit : std::uint8_t { apple, pear, secret };

}  // namespace TEST_FILE

namespace ranvier {

/// The last value has no name.
template <>
struct ChoiceNames<TEST_FILE::Fruit> {
    static constexpr std::string_view kind = "fruit";
    static constexpr std::array<std::string_view, 2> names{"apple", "pear"};
};

}  // namespace ranvier

namespace TEST_FILE {

using namespace ranvier;

template <class Make>
std::string message_of(const Make& make) {
    try {
        make();
    } catch (const UnknownNameError& error) {
        return error.what();
    }
    return "";
}

TEST(Choice, IsGivenByValueOrName) {
    Choice<Fruit> choice = Fruit::apple;
    EXPECT_EQ(choice.name(), "apple");
    choice = "pear";
    EXPECT_TRUE(choice == Fruit::pear);
    choice = std::string("apple");
    EXPECT_TRUE(choice == Fruit::apple);
}

TEST(Choice, RefusesNamesThatDoNotExist) {
    const std::string message = message_of([] { Choice<Fruit>("paer"); });
    EXPECT_NE(message.find("fruit is 'paer'"), std::string::npos) << message;
    EXPECT_NE(message.find("did you mean 'pear'"), std::string::npos) << message;
    EXPECT_NE(message_of([] { Choice<Fruit>("secret"); }), "");
    EXPECT_NE(message_of([] { Choice<Fruit>("auto"); }), "");
}

TEST(AutoChoice, IsAutomaticUnlessGiven) {
    AutoChoice<Fruit> choice;
    EXPECT_TRUE(choice.is_automatic());
    EXPECT_EQ(choice.name(), "auto");
    EXPECT_EQ(choice.value_or(Fruit::pear), Fruit::pear);
    EXPECT_FALSE(choice == Fruit::pear);
    choice = "pear";
    EXPECT_TRUE(choice == Fruit::pear);
    EXPECT_EQ(choice.value_or(Fruit::apple), Fruit::pear);
    choice = "auto";
    EXPECT_TRUE(choice.is_automatic());
    EXPECT_NE(message_of([] { AutoChoice<Fruit>("peach"); }).find("auto, apple, pear"), std::string::npos);
}

}  // namespace TEST_FILE
