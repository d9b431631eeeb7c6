#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "connect/plasticity/modulation.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// The pairs of spikes that a synapse evaluates.
enum class Pairing {
    all,  ///< all, or the nearest ones if traces do not accumulate
    /// Only consecutive spikes: of the postsynaptic spikes between two presynaptic ones, the first is paired with the
    /// previous presynaptic one, and the last with the next. Traces must not accumulate.
    restricted,
    /// Each presynaptic spike with the previous and the next postsynaptic one. So a postsynaptic spike is paired with
    /// all presynaptic ones since the last postsynaptic one: each synapse has a separate presynaptic trace.
    presynaptic_centred,
};

/// Weights are changed in multiples of this: one widest register of single precision, or two of double.
inline constexpr std::size_t rule_lanes = 16;

/// Greatest number of traces of the same side that a spike may read, in addition to that of the other side.
inline constexpr std::size_t most_same_side_traces = 1;

/// Greatest number of per-synapse parameters of a rule.
inline constexpr std::size_t most_rule_parameters = 5;

/// A function that changes weights.
template <class Function>
struct WeightChange {
    // Implicit, as functions are what rules are made of.
    constexpr WeightChange(Function* given = nullptr,
                           std::string_view name = {})  // NOLINT(google-explicit-constructor)
        : function(given), rule(name) {}

    template <class... Arguments>
    void operator()(Arguments... arguments) const {
        function(arguments...);
    }

    Function* function;
    /// Kernels of devices name the rule by this C++ type; empty: the function is not made of one.
    std::string_view rule;
};

/// Changes the weights of synapses with per-synapse parameters.
template <class Real>
struct PerSynapseRule {
    /// As LearningRule::Change. @param parameters an array of these synapses for each parameter that the rule reads
    using Change = WeightChange<void(InstructionSet set, Real* weights, const Real* traces, const Real* same_side,
                                     const Real* const* parameters, std::size_t count, const void* constants)>;
    struct Parameter {
        Real shared = 0;
        std::optional<std::size_t> column = {};  ///< of the table, if the parameter is per synapse
    };

    Change postsynaptic;  ///< null: all synapses of a table share all parameters
    Change presynaptic;
    std::array<Parameter, most_rule_parameters> parameters = {};
    std::size_t parameter_count = 0;
    const void* constants = nullptr;  ///< owned by LearningRule::constants, if the functions need them

    bool any() const { return postsynaptic.function != nullptr; }
};

/// Changes of weights by spikes. Tables and their loops are the same for all rules: a rule changes arrays of weights
/// (connect/plasticity/rule_loops.hpp derives it from equations for a single weight).
template <class Real>
struct LearningRule {
    /// Changes each weight by one spike.
    /// @param weights of synapses that the spike changes, in the order of the other arrays
    /// @param traces of the spikes of the other side
    /// @param same_side traces of the same side, before this spike; null if the rule reads none
    /// @param count a multiple of `rule_lanes`; all arrays are aligned to cache lines
    using Change = WeightChange<void(InstructionSet set, Real* weights, const Real* traces, const Real* same_side,
                                     std::size_t count, const void* constants)>;

    Change postsynaptic;
    Change presynaptic;
    std::shared_ptr<const void> constants;
    std::size_t constant_bytes = 0;  ///< of constants that kernels may copy
    Pairing pairing = Pairing::all;
    bool presynaptic_trace_accumulates = true;  ///< otherwise each spike sets it to 1
    bool postsynaptic_trace_accumulates = true;
    std::size_t same_side_presynaptic_traces = 0;
    std::size_t same_side_postsynaptic_traces = 0;
    /// If a transmitter modulates learning, replaces the functions above; otherwise null.
    std::shared_ptr<const ModulationConstants> modulation = nullptr;
    PerSynapseRule<Real> per_synapse = {};  ///< replaces the functions above for synapses with per-synapse parameters
};

/// The traces of a synapse: of the spikes of each side, read by spikes of the other side or of the same side.
enum class TraceKind : std::uint8_t { presynaptic, postsynaptic, same_side_presynaptic, same_side_postsynaptic };
inline constexpr std::size_t trace_kinds = 4;

/// Per-synapse time constants.
struct PerSynapseTimes {
    std::array<std::optional<std::size_t>, trace_kinds> columns = {};  ///< of the table, by TraceKind
    double resolution = 0.1;  ///< ms, as the columns are

    bool any() const {
        return std::ranges::any_of(columns, [](const auto& column) { return column.has_value(); });
    }
    std::optional<std::size_t> of(TraceKind kind) const { return columns[static_cast<std::size_t>(kind)]; }
};

/// Learning parameters of the synapses of a table, beside the rule.
struct Learning {
    double presynaptic_steps = 1.0;  ///< time constants of the traces, in steps of the resolution
    double postsynaptic_steps = 1.0;
    /// The same for traces read by spikes of the same side, as many as the rule has.
    std::vector<double> same_side_presynaptic_steps = {};
    std::vector<double> same_side_postsynaptic_steps = {};
    PerSynapseTimes per_synapse_times = {};  ///< replaces these for synapses with per-synapse time constants
    /// Axonal fraction of the delay: the rest is dendritic, and also delays postsynaptic spikes on their way to the
    /// synapse.
    double axonal_fraction = 0.0;
    /// Grid to which weights are rounded when they are added to the inputs: a power of two.
    double quantum = 0x1p-32;

    /// Steps of a delay before the presynaptic spike reaches the synapse.
    DelaySteps axonal(DelaySteps delay) const { return axonal_steps(axonal_fraction, delay); }
};

/// A table of synapses that learn (connect/plasticity/plastic_table.hpp). @param columns whose rows are sorted by delay
template <class Target, class Real>
std::unique_ptr<SynapseTable> make_plastic_table(TableColumns<Target, Real> columns, const Learning& learning,
                                                 LearningRule<Real> rule, const PlasticTableArguments& arguments);
/// Memory of such a table on a shard, beside its columns: the same for all widths of targets.
template <class Real>
PlasticTableMemory plastic_table_memory(const Learning& learning, const LearningRule<Real>& rule);

}  // namespace ranvier::connect
