#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ranvier/base/choice.hpp"

namespace ranvier::models {

/// Precision of stored floating-point numbers.
enum class Precision : std::uint8_t { single_precision, double_precision };

}  // namespace ranvier::models

namespace ranvier {

template <>
struct ChoiceNames<models::Precision> {
    static constexpr std::string_view kind = "precision";
    static constexpr std::array<std::string_view, 2> names{"single", "double"};
};

}  // namespace ranvier
