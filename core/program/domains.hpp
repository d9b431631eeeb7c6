#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/intervals.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::program {

/// Whether a result may depend on an undefined operation: a division by 0, or an undefined root, logarithm or power.
struct DomainCheck {
    enum class Outcome : std::uint8_t {
        defined,  ///< never
        shown,  ///< possible; the result is then not finite
        hidden,  ///< possible, and the result may still be finite, such as max(0/0, 1)
    };

    Outcome outcome = Outcome::defined;
    std::optional<Operation> operation = std::nullopt;  ///< the undefined one
};

/// One outcome for each result of a program, for finite inputs in their intervals. Branches that a condition does not
/// select are ignored, and conditions narrow the ranges of the values that they compare: `where(y > 0, x/y, 0)` is
/// defined. An overflow is defined.
/// @pre check() has passed the program, and it has neither draws nor loops
std::vector<DomainCheck> check_domains(const Program& program, std::span<const Interval> inputs);

/// Description of an undefined operation, for errors: " may divide by 0".
std::string undefined(Operation operation);

}  // namespace ranvier::program
