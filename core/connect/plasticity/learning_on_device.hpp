#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "connect/plasticity/learning_rule.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// What a table of synapses that learn from pairs of spikes knows between two steps, when all of them have learnt from the
/// spikes that have arrived. Steps count from the beginning of the simulation; a source that has not fired has `never`.
struct LearningState {
    static constexpr Step never = std::numeric_limits<Step>::min();

    std::vector<float> weights;         ///< by synapse
    std::vector<float> synapse_traces;  ///< by synapse, if each has a trace
    /// By TraceKind, where each synapse has one since time constants differ.
    std::array<std::vector<float>, trace_kinds> timed_traces;
    std::vector<Step> last;             ///< presynaptic spike, by row
    std::vector<double> traces;         ///< after that spike
    std::vector<double> same_side;      ///< empty without such traces, as below
    /// Presynaptic spikes on their way to synapses, by row and step.
    struct Waiting {
        std::uint32_t row = 0;
        Step stamp = 0;
        Step last = never;       ///< spike before it
        float trace = 0.0F;      ///< after that
        float same_side = 0.0F;  ///< before this one
    };
    std::vector<Waiting> waiting;
    // With a transmitter:
    struct Pulse {
        Step step = 0;
        double after = 0.0;  ///< concentration
    };
    std::vector<float> eligibility;  ///< by synapse
    std::vector<float> remainders;
    std::vector<Pulse> pulses;
    // By neuron, from the first that learns:
    std::vector<double> last_traces;  ///< after the newest spike
    std::vector<double> last_same_side;
    std::vector<std::uint32_t> spike_begin;  ///< of the following, and the end of the last neuron's
    // By spike, the newest of a neuron first:
    std::vector<Step> steps;
    std::vector<float> after;   ///< trace
    std::vector<float> before;  ///< trace that postsynaptic spikes read
    float greatest = 0.0F;      ///< LearningSynapses::greatest_added()
};

/// A table whose synapses may learn on a device between two calls. Its weights are in single precision.
class LearningOnDevice {
   public:
    virtual const Learning& plasticity() const = 0;
    virtual const LearningRule<float>& rule() const = 0;
    /// The values of a parameter that the rule reads, by synapse; empty if all share it.
    virtual std::span<const float> parameter_of_rule(std::size_t parameter) const = 0;
    /// The time constants (ms) of a trace by synapse; empty if all share one.
    virtual std::span<const float> time_constants(TraceKind kind) const = 0;
    /// Whether each synapse has a trace, since time constants differ.
    virtual bool has_timed_trace(TraceKind kind) const = 0;
    /// The neurons that learn, by local index, from the first to the last.
    virtual std::uint32_t first_learning_neuron() const = 0;
    virtual std::uint32_t learning_neurons() const = 0;

    /// @param now the last step
    virtual void get_state(Step now, LearningState& state) = 0;
    virtual void set_state(Step now, const LearningState& state) = 0;

   protected:
    ~LearningOnDevice() = default;
};

}  // namespace ranvier::connect
