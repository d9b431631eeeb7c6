#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace ranvier {

/// The names of the values of an enumeration that users may choose. Specialise it beside the enumeration, with
///
///     static constexpr std::string_view kind = "placement";                        // in errors
///     static constexpr std::array<std::string_view, 2> names{"shuffle", "consecutive"};  // of the first values, in order
template <class Enum>
struct ChoiceNames;

template <class Enum>
constexpr std::string_view name_of(Enum value) {
    return ChoiceNames<Enum>::names[static_cast<std::size_t>(value)];
}

/// The index of a name in a list; nothing for "auto" where that is allowed.
/// @throws UnknownNameError
std::optional<std::size_t> find_choice(std::string_view kind, std::span<const std::string_view> names,
                                       std::string_view name, bool allows_automatic);

/// @throws UnknownNameError
template <class Enum>
Enum parse_choice(std::string_view name) {
    return static_cast<Enum>(find_choice(ChoiceNames<Enum>::kind, ChoiceNames<Enum>::names, name, false).value());
}

inline constexpr std::string_view automatic_choice = "auto";

/// A value of an enumeration, which can also be given by name.
template <class Enum>
class Choice {
   public:
    constexpr explicit(false) Choice(Enum value) : value_(value) {}
    /// @throws UnknownNameError
    template <std::convertible_to<std::string_view> Name>
    explicit(false) Choice(const Name& name) : value_(parse_choice<Enum>(name)) {}

    constexpr explicit(false) operator Enum() const { return value_; }
    constexpr std::string_view name() const { return name_of(value_); }

   private:
    Enum value_;
};

/// A value of an enumeration, or "auto": the program chooses.
template <class Enum>
class AutoChoice {
   public:
    constexpr AutoChoice() = default;
    constexpr explicit(false) AutoChoice(Enum value) : value_(value) {}
    /// @throws UnknownNameError
    template <std::convertible_to<std::string_view> Name>
    explicit(false) AutoChoice(const Name& name) {
        const auto found = find_choice(ChoiceNames<Enum>::kind, ChoiceNames<Enum>::names, name, true);
        if (found) value_ = static_cast<Enum>(*found);
    }

    /// Nothing for "auto".
    constexpr const std::optional<Enum>& value() const { return value_; }
    constexpr bool is_automatic() const { return !value_; }
    constexpr Enum value_or(Enum otherwise) const { return value_.value_or(otherwise); }
    constexpr std::string_view name() const { return value_ ? name_of(*value_) : automatic_choice; }
    friend constexpr bool operator==(const AutoChoice& choice, Enum value) { return choice.value_ == value; }

   private:
    std::optional<Enum> value_;
};

}  // namespace ranvier
