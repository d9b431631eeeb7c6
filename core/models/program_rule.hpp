#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>

#include "connect/plasticity/learning_rule.hpp"
#include "models/program_synapse.hpp"

namespace ranvier::models {

/// The learning rule of synapses of programs, for one table: it must not be shared by tables, since it has memory of its own
/// for what it calculates. @param memory which must outlive the rule
template <class Real>
connect::LearningRule<Real> make_program_rule(const SynapseProgramDescription& description,
                                              std::span<const double> parameters, std::pmr::memory_resource* memory);

/// What it takes of this memory.
template <class Real>
std::size_t program_rule_bytes(const SynapseProgramDescription& description, std::span<const double> parameters);

/// A parameter as rules use it where weights are stored in that precision.
template <class Real>
double rounded_parameter(double value) {
    return static_cast<double>(static_cast<Real>(value));
}

}  // namespace ranvier::models
