#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "connect/plasticity/learning_rule.hpp"
#include "models/equations/compiled_events.hpp"
#include "models/equations/program_synapse.hpp"

namespace ranvier::models {

struct RuleParameters {
    std::span<const double> values;  ///< values of all parameters
    /// Whether some parameters differ between synapses, and which of those are read by events, ascending.
    bool some_differ = false;
    std::vector<std::uint32_t> per_synapse = {};
};

/// The learning rule of user-defined synapses for one table. It must not be shared by tables, since it has scratch
/// memory.
/// @param memory must outlive the rule; null: the rule only states its needs
/// @param compiled the compiled programs; none: they are interpreted
template <class Real>
connect::LearningRule<Real> make_program_rule(const SynapseProgramDescription& description,
                                              const RuleParameters& parameters, std::pmr::memory_resource* memory,
                                              std::optional<CompiledEvents> compiled);

/// Bytes of `memory` that the rule takes.
struct ProgramRuleBytes {
    std::size_t compiled = 0;
    std::size_t interpreted = 0;
};
template <class Real>
ProgramRuleBytes program_rule_bytes(const SynapseProgramDescription& description, const RuleParameters& parameters);

/// A parameter rounded to the precision in which weights are stored; subnormal values become 0.
template <class Real>
double rounded_parameter(double value) {
    const auto rounded = static_cast<Real>(value);
    return std::abs(rounded) < std::numeric_limits<Real>::min() ? 0.0 : static_cast<double>(rounded);
}

}  // namespace ranvier::models
