#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/intervals.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::program {

/// Whether a result may follow from an operation that is not defined for its operands: a division by 0, or an undefined
/// root, logarithm or power.
struct DomainCheck {
    enum class Outcome : std::uint8_t {
        defined,  ///< never
        shown,    ///< it may; the result is then not finite
        hidden,   ///< it may, and the result may be finite nevertheless, such as max(0/0, 1)
    };

    Outcome outcome = Outcome::defined;
    std::optional<Operation> operation = std::nullopt;  ///< that is not defined
};

/// One for each result of a program, for finite inputs in their intervals. Branches that a condition does not choose are
/// ignored, and conditions narrow the ranges of the values that they compare: `where(y > 0, x/y, 0)` is defined. An overflow
/// is defined.
/// @pre check() has passed the program, and it has neither draws nor loops
std::vector<DomainCheck> check_domains(const Program& program, std::span<const Interval> inputs);

/// What an operation may do where it is not defined, for errors: " may divide by 0".
std::string undefined(Operation operation);

}  // namespace ranvier::program
