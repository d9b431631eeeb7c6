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
    std::span<const double> values;  ///< of all
    /// Whether synapses have values of their own of some, and of which of those that events read, ascending.
    bool some_differ = false;
    std::vector<std::uint32_t> own = {};
};

/// The learning rule of synapses of programs, for one table: it must not be shared by tables, since it has memory of its own
/// for what it calculates. @param memory which must outlive the rule; null: of a rule that only tells what it needs
/// @param compiled what carries the programs out; none: they are interpreted
template <class Real>
connect::LearningRule<Real> make_program_rule(const SynapseProgramDescription& description,
                                              const RuleParameters& parameters, std::pmr::memory_resource* memory,
                                              std::optional<CompiledEvents> compiled);

/// What it takes of this memory.
struct ProgramRuleBytes {
    std::size_t compiled = 0;
    std::size_t interpreted = 0;
};
template <class Real>
ProgramRuleBytes program_rule_bytes(const SynapseProgramDescription& description, const RuleParameters& parameters);

/// A parameter as rules use it where weights are stored in that precision: none that is subnormal in it.
template <class Real>
double rounded_parameter(double value) {
    const auto rounded = static_cast<Real>(value);
    return std::abs(rounded) < std::numeric_limits<Real>::min() ? 0.0 : static_cast<double>(rounded);
}

}  // namespace ranvier::models
