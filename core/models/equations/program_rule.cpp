#include "models/equations/program_rule.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/subnormals.hpp"
#include "program/block_code.hpp"
#include "program/interpreter.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::models {

namespace {

using connect::TraceKind;
using program::InputForm;
using program::Interpreter;

/// Inputs of a program of an event, before the parameters.
enum EventInput : std::size_t { weight_input, trace_input, same_side_trace_input, event_inputs };

template <class Real>
program::BlockCode code_of_event(const program::Program& event, const RuleParameters& parameters) {
    // Values that depend on parameters alone are calculated here with the same flags as all others.
    const FlushSubnormals flush;
    std::vector<InputForm> inputs(event_inputs, InputForm{.kind = InputForm::Kind::lanes});
    for (const double value : parameters.values) {
        inputs.push_back({.kind = InputForm::Kind::uniform, .value = rounded_parameter<Real>(value)});
    }
    for (const std::uint32_t parameter : parameters.per_synapse)
        inputs[event_inputs + parameter] = {.kind = InputForm::Kind::lanes};
    const program::OutputForm weight{.result = event.results[0],
                                     .kind = program::OutputForm::Kind::in_place,
                                     .input = static_cast<std::uint32_t>(weight_input)};
    return program::lower(event, inputs, {&weight, 1});
}

/// Copies numbers and flushes subnormal ones to 0: see StepArguments.
template <class To, class From>
struct CopyLanes {
    RANVIER_ALWAYS_INLINE static void run(To* to, const From* from, std::size_t count) {
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]) + To{0};
    }
};

/// The weights that a spike changes, and the inputs of the change.
template <class Real>
struct Changed {
    Real* weights;
    const Real* traces;
    const Real* same_side_traces;
    const Real* const* parameters;  ///< parameters that differ between synapses
    std::size_t count;
};

/// Applies a spike of one side to weights, one block after another.
template <class Real>
class InterpretedEvent {
   public:
    InterpretedEvent(const program::Program& event, const RuleParameters& parameters, bool reads_same_side_trace,
                     std::pmr::memory_resource* memory)
        : interpreter_(code_of_event<Real>(event, parameters), InstructionSet::baseline, memory),
          per_synapse_parameters_(parameters.per_synapse.begin(), parameters.per_synapse.end(), memory),
          keeps_weights_(event.results[0] == weight_input),
          reads_same_side_trace_(reads_same_side_trace) {}

    void change(InstructionSet set, const Changed<Real>& changed) {
        if (keeps_weights_) return;
        Lanes weight(interpreter_, weight_input);
        Lanes trace(interpreter_, trace_input);
        Lanes before(interpreter_, same_side_trace_input);
        std::array<Lanes, connect::most_rule_parameters> parameters;
        for (std::size_t k = 0; k < per_synapse_parameters_.size(); ++k) {
            interpreter_.set_input(event_inputs + per_synapse_parameters_[k], parameters[k].numbers.data());
        }
        const std::size_t block = std::min(most_lanes, interpreter_.most_lanes());
        interpreter_.use(set);
        for (std::size_t begin = 0; begin < changed.count; begin += block) {
            const std::size_t some = std::min(block, changed.count - begin);
            weight.load(set, changed.weights + begin, some);
            trace.load(set, changed.traces + begin, some);
            if (reads_same_side_trace_) before.load(set, changed.same_side_traces + begin, some);
            for (std::size_t k = 0; k < per_synapse_parameters_.size(); ++k) {
                parameters[k].load(set, changed.parameters[k] + begin, some);
            }
            interpreter_.run({.lanes = some, .valid = some});
            Dispatched<CopyLanes<Real, double>>::call(set, changed.weights + begin,
                                                      static_cast<const double*>(weight.numbers.data()), some);
        }
    }

   private:
    static constexpr std::size_t most_lanes = 256;
    static_assert(connect::rule_lanes % program::lanes_of_kernel == 0);

    /// The lanes of one input.
    struct Lanes {
        Lanes() = default;
        Lanes(Interpreter& interpreter, std::size_t input) { interpreter.set_input(input, numbers.data()); }

        void load(InstructionSet set, const Real* from, std::size_t count) {
            Dispatched<CopyLanes<double, Real>>::call(set, numbers.data(), from, count);
        }

        alignas(64) std::array<double, most_lanes> numbers;
    };

    Interpreter interpreter_;
    AlignedVector<std::uint32_t> per_synapse_parameters_;
    bool keeps_weights_;
    bool reads_same_side_trace_;
};

/// Upper limit of the number of values that the code of an event calculates from parameters.
std::size_t most_uniforms(const program::Program& event) { return event.inputs.size() + event.instructions.size(); }

/// The same with compiled code.
template <class Real>
class CalledEvent {
   public:
    CalledEvent(const program::Program& event, const RuleParameters& parameters, CompiledEvent compiled,
                std::pmr::memory_resource* memory)
        : run_(compiled.run),
          per_synapse_parameters_(parameters.per_synapse.size()),
          uniforms_(most_uniforms(event), 0.0, memory) {
        std::vector<double> rounded;
        for (const double value : parameters.values) rounded.push_back(rounded_parameter<Real>(value));
        const FlushSubnormals flush;
        compiled.prepare(rounded.data(), uniforms_.data());
    }

    void change(InstructionSet /*set*/, const Changed<Real>& changed) const {
        std::array<const void*, connect::most_rule_parameters> parameters = {};
        for (std::size_t k = 0; k < per_synapse_parameters_; ++k) parameters[k] = changed.parameters[k];
        const program::EventArguments arguments{.count = changed.count,
                                                .weights = changed.weights,
                                                .traces = changed.traces,
                                                .same_side = changed.same_side_traces,
                                                .parameters = parameters.data(),
                                                .uniforms = uniforms_.data()};
        run_(&arguments);
    }

   private:
    program::EventFunction run_;
    std::size_t per_synapse_parameters_;
    AlignedVector<double> uniforms_;
};
static_assert(connect::rule_lanes % program::event_multiple == 0);

/// The events of both sides.
template <class Real, class Event>
class ProgramRule {
   public:
    ProgramRule(Event presynaptic, Event postsynaptic, std::shared_ptr<const void> owner)
        : owner_(std::move(owner)), presynaptic_(std::move(presynaptic)), postsynaptic_(std::move(postsynaptic)) {}

    static void change_presynaptic(InstructionSet set, Real* weights, const Real* traces, const Real* same_side_traces,
                                   std::size_t count, const void* constants) {
        of(constants).presynaptic_.change(set, {weights, traces, same_side_traces, nullptr, count});
    }
    static void change_postsynaptic(InstructionSet set, Real* weights, const Real* traces, const Real* same_side_traces,
                                    std::size_t count, const void* constants) {
        of(constants).postsynaptic_.change(set, {weights, traces, same_side_traces, nullptr, count});
    }
    // With parameters that differ between synapses.
    static void change_presynaptic_per_synapse(InstructionSet set, Real* weights, const Real* traces,
                                               const Real* same_side_traces, const Real* const* parameters,
                                               std::size_t count, const void* constants) {
        of(constants).presynaptic_.change(set, {weights, traces, same_side_traces, parameters, count});
    }
    static void change_postsynaptic_per_synapse(InstructionSet set, Real* weights, const Real* traces,
                                                const Real* same_side_traces, const Real* const* parameters,
                                                std::size_t count, const void* constants) {
        of(constants).postsynaptic_.change(set, {weights, traces, same_side_traces, parameters, count});
    }

   private:
    // Each table has a separate rule, which one thread uses at a time.
    static ProgramRule& of(const void* constants) { return *static_cast<ProgramRule*>(const_cast<void*>(constants)); }

    std::shared_ptr<const void> owner_;  ///< keeps compiled code in memory
    Event presynaptic_;
    Event postsynaptic_;
};

/// @param make makes the event of a side; null: the rule only states its needs
template <class Event, class Real, class Make>
void use(connect::LearningRule<Real>& rule, bool some_differ, std::shared_ptr<const void> owner, const Make* make) {
    using Rule = ProgramRule<Real, Event>;
    if (some_differ) {
        rule.per_synapse.postsynaptic = Rule::change_postsynaptic_per_synapse;
        rule.per_synapse.presynaptic = Rule::change_presynaptic_per_synapse;
    }
    rule.postsynaptic = Rule::change_postsynaptic;
    rule.presynaptic = Rule::change_presynaptic;
    if (make == nullptr) return;
    rule.constants = std::make_shared<Rule>((*make)(true), (*make)(false), std::move(owner));
    rule.per_synapse.constants = rule.constants.get();
}

}  // namespace

template <class Real>
connect::LearningRule<Real> make_program_rule(const SynapseProgramDescription& description,
                                              const RuleParameters& parameters, std::pmr::memory_resource* memory,
                                              std::optional<CompiledEvents> compiled) {
    connect::LearningRule<Real> rule;
    rule.presynaptic_trace_accumulates = description.presynaptic_traces_accumulate;
    rule.postsynaptic_trace_accumulates = description.postsynaptic_traces_accumulate;
    const bool reads_presynaptic_trace = description.trace(TraceKind::same_side_presynaptic).is_read;
    const bool reads_postsynaptic_trace = description.trace(TraceKind::same_side_postsynaptic).is_read;
    rule.same_side_presynaptic_traces = reads_presynaptic_trace ? 1 : 0;
    rule.same_side_postsynaptic_traces = reads_postsynaptic_trace ? 1 : 0;
    rule.per_synapse.parameter_count = parameters.per_synapse.size();
    const auto program_of = [&](bool is_presynaptic) -> const program::Program& {
        return is_presynaptic ? description.presynaptic : description.postsynaptic;
    };
    if (compiled) {
        const auto called = [&](bool is_presynaptic) {
            return CalledEvent<Real>(program_of(is_presynaptic), parameters,
                                     is_presynaptic ? compiled->presynaptic : compiled->postsynaptic, memory);
        };
        use<CalledEvent<Real>>(rule, parameters.some_differ, compiled->owner, memory == nullptr ? nullptr : &called);
    } else {
        const auto interpreted = [&](bool is_presynaptic) {
            return InterpretedEvent<Real>(program_of(is_presynaptic), parameters,
                                          is_presynaptic ? reads_presynaptic_trace : reads_postsynaptic_trace, memory);
        };
        use<InterpretedEvent<Real>>(rule, parameters.some_differ, nullptr, memory == nullptr ? nullptr : &interpreted);
    }
    return rule;
}

template <class Real>
ProgramRuleBytes program_rule_bytes(const SynapseProgramDescription& description, const RuleParameters& parameters) {
    ProgramRuleBytes bytes;
    for (const program::Program* const event : {&description.presynaptic, &description.postsynaptic}) {
        bytes.compiled += sizeof(double) * most_uniforms(*event);
        bytes.interpreted += Interpreter::bytes(code_of_event<Real>(*event, parameters)) +
                             sizeof(std::uint32_t) * parameters.per_synapse.size();
    }
    return bytes;
}

template connect::LearningRule<float> make_program_rule(const SynapseProgramDescription&, const RuleParameters&,
                                                        std::pmr::memory_resource*, std::optional<CompiledEvents>);
template connect::LearningRule<double> make_program_rule(const SynapseProgramDescription&, const RuleParameters&,
                                                         std::pmr::memory_resource*, std::optional<CompiledEvents>);
template ProgramRuleBytes program_rule_bytes<float>(const SynapseProgramDescription&, const RuleParameters&);
template ProgramRuleBytes program_rule_bytes<double>(const SynapseProgramDescription&, const RuleParameters&);

}  // namespace ranvier::models
