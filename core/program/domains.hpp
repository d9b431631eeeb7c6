#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/intervals.hpp"
#include "program/program.hpp"

namespace ranvier::program {

/// Whether a result may follow from an operation that is not defined for its operands: a division by 0, a root or logarithm
/// of what has none, or a power that is not a number.
struct DomainCheck {
    enum class Outcome : std::uint8_t {
        defined,  ///< never
        shown,    ///< perhaps; it is then not finite itself
        hidden,   ///< perhaps, and it may be finite nevertheless, as max(0/0, 1) is
    };

    Outcome outcome = Outcome::defined;
    std::optional<Operation> operation = std::nullopt;  ///< that is not defined
};

/// One for each result of a program, where its inputs are finite and in their intervals. What a condition has not chosen does
/// not matter, and conditions narrow the ranges of what they compare: `where(y > 0, x/y, 0)` is defined. What only overflows
/// is defined.
/// @pre check() has passed the program, and it has neither draws nor loops
std::vector<DomainCheck> check_domains(const Program& program, std::span<const Interval> inputs);

/// What an operation does where it is not defined, for errors: " divides by what may be 0".
std::string undefined(Operation operation);

}  // namespace ranvier::program
