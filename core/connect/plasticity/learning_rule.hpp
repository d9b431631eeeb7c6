#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "connect/plasticity/modulation.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// Which spikes of the two sides a synapse pairs.
enum class Pairing {
    all,  ///< all, or the nearest ones if traces do not accumulate
    /// Only spikes that follow each other: of the postsynaptic spikes between two presynaptic ones, the first is paired
    /// with the presynaptic one before, and the last with that after. Traces must not accumulate.
    restricted,
    /// Each presynaptic spike with the postsynaptic one before it and that after it. So a postsynaptic spike is paired
    /// with all presynaptic ones since the last postsynaptic one: each synapse has a presynaptic trace of its own.
    presynaptic_centred,
};

/// Weights are changed so many at a time, at least: a widest register of single precision, or two of double.
inline constexpr std::size_t rule_lanes = 16;

/// How many traces of its own side a spike may read, beside that of the other side.
inline constexpr std::size_t most_own_traces = 1;

/// How many parameters of a rule synapses may have values of their own for.
inline constexpr std::size_t most_rule_parameters = 5;

/// What changes weights of synapses that have parameters of their own.
template <class Real>
struct OwnRule {
    /// As LearningRule::Change. @param parameters an array for each that the rule reads, of these synapses
    using Change = void (*)(InstructionSet set, Real* weights, const Real* traces, const Real* own,
                            const Real* const* parameters, std::size_t count, const void* constants);
    struct Parameter {
        Real shared = 0;
        std::optional<std::size_t> column = {};  ///< of the table, where each synapse has a value of its own
    };

    Change postsynaptic = nullptr;  ///< null: all synapses of a table share all parameters
    Change presynaptic = nullptr;
    std::array<Parameter, most_rule_parameters> parameters = {};
    std::size_t parameter_count = 0;
    const void* constants = nullptr;  ///< what LearningRule::constants keeps, if the functions need it

    bool any() const { return postsynaptic != nullptr; }
};

/// How weights change with spikes. Tables and their loops are the same for all rules: a rule changes arrays of weights
/// (connect/plasticity/rule_loops.hpp makes one from equations for a single weight).
template <class Real>
struct LearningRule {
    /// Changes each weight by one spike.
    /// @param weights of synapses that the spike changes, in their order in the other arrays
    /// @param traces of the spikes of the other side
    /// @param own of the spikes of the same side, before this one; null if the rule reads none
    /// @param count a multiple of `rule_lanes`; all arrays begin at a cache line
    using Change = void (*)(InstructionSet set, Real* weights, const Real* traces, const Real* own, std::size_t count,
                            const void* constants);

    Change postsynaptic = nullptr;
    Change presynaptic = nullptr;
    std::shared_ptr<const void> constants;
    Pairing pairing = Pairing::all;
    bool presynaptic_trace_accumulates = true;  ///< else it is set to 1 with each spike
    bool postsynaptic_trace_accumulates = true;
    std::size_t own_presynaptic_traces = 0;
    std::size_t own_postsynaptic_traces = 0;
    /// Where a transmitter modulates what is learnt, in place of the functions above; else null.
    std::shared_ptr<const ModulationConstants> modulation = nullptr;
    OwnRule<Real> own = {};  ///< in place of the functions above, where synapses have parameters of their own
};

/// The traces of a synapse: of the spikes of each side, which those of the other side read or those of their own.
enum class TraceKind : std::uint8_t { presynaptic, postsynaptic, own_presynaptic, own_postsynaptic };
inline constexpr std::size_t trace_kinds = 4;

/// Time constants of which each synapse has a value of its own.
struct OwnTimes {
    std::array<std::optional<std::size_t>, trace_kinds> columns = {};  ///< of the table, by TraceKind
    double resolution = 0.1;  ///< ms, as the columns are

    bool any() const {
        return std::ranges::any_of(columns, [](const auto& column) { return column.has_value(); });
    }
    std::optional<std::size_t> of(TraceKind kind) const { return columns[static_cast<std::size_t>(kind)]; }
};

/// How the synapses of a table learn, beside their rule.
struct Learning {
    double presynaptic_steps = 1.0;  ///< time constants of the traces, in steps of the resolution
    double postsynaptic_steps = 1.0;
    /// The same of the traces that spikes of their own side read, as many as the rule has.
    std::vector<double> own_presynaptic_steps = {};
    std::vector<double> own_postsynaptic_steps = {};
    OwnTimes own_times = {};  ///< in place of these, where synapses have some of their own
    /// Which part of the delay is axonal: the rest is dendritic, which postsynaptic spikes take to the synapse too.
    double axonal_fraction = 0.0;
    /// What weights are rounded to when they are added to the inputs: a power of two.
    double quantum = 0x1p-32;

    /// Steps of a delay that the presynaptic spike takes to the synapse.
    DelaySteps axonal(DelaySteps delay) const { return axonal_steps(axonal_fraction, delay); }
};

/// A table of synapses that learn (connect/plasticity/plastic_table.hpp). @param columns whose rows are sorted by delay
template <class Target, class Real>
std::unique_ptr<SynapseTable> make_plastic_table(TableColumns<Target, Real> columns, const Learning& learning,
                                                 LearningRule<Real> rule, const PlasticTableArguments& arguments);
/// What such a table takes on a shard, beside its columns: the same for all widths of targets.
template <class Real>
PlasticTableMemory plastic_table_memory(const Learning& learning, const LearningRule<Real>& rule);

}  // namespace ranvier::connect
