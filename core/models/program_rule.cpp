#include "models/program_rule.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/instruction_set.hpp"
#include "base/subnormals.hpp"
#include "program/block_code.hpp"
#include "program/interpreter.hpp"
#include "program/step_function.hpp"

namespace ranvier::models {

namespace {

using connect::TraceKind;
using program::InputForm;
using program::Interpreter;

/// Inputs of a program of an event, before the parameters.
enum EventInput : std::size_t { weight_input, trace_input, own_input, event_inputs };

template <class Real>
program::BlockCode code_of_event(const program::Program& event, std::span<const double> parameters) {
    // What follows from parameters alone is calculated here, and in the same way as all else.
    const FlushSubnormals flush;
    std::vector<InputForm> inputs(event_inputs, InputForm{.kind = InputForm::Kind::lanes});
    for (const double value : parameters) {
        inputs.push_back({.kind = InputForm::Kind::uniform, .value = rounded_parameter<Real>(value)});
    }
    const program::OutputForm weight{.result = event.results[0],
                                     .kind = program::OutputForm::Kind::in_place,
                                     .input = static_cast<std::uint32_t>(weight_input)};
    return program::lower(event, inputs, {&weight, 1});
}

/// What lists have in common with lanes: `count` numbers, which are copied with their rest of a whole block. Subnormal ones
/// become 0: see StepArguments.
template <class To, class From>
struct CopyLanes {
    RANVIER_ALWAYS_INLINE static void run(To* to, const From* from, std::size_t count) {
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]) + To{0};
    }
};

/// Weights of synapses that a spike changes, and what the change depends on.
template <class Real>
struct Changed {
    Real* weights;
    const Real* traces;
    const Real* own;
    std::size_t count;
};

/// What a spike of one side does to weights, block by block.
template <class Real>
class InterpretedEvent {
   public:
    InterpretedEvent(const program::Program& event, std::span<const double> parameters, bool reads_own,
                     std::pmr::memory_resource* memory)
        : interpreter_(code_of_event<Real>(event, parameters), InstructionSet::baseline, memory),
          keeps_weights_(event.results[0] == weight_input),
          reads_own_(reads_own) {}

    void change(InstructionSet set, const Changed<Real>& changed) {
        if (keeps_weights_) return;
        alignas(64) std::array<double, most_lanes> weight;
        alignas(64) std::array<double, most_lanes> trace;
        alignas(64) std::array<double, most_lanes> before;
        const std::size_t block = std::min(most_lanes, interpreter_.most_lanes());
        interpreter_.use(set);
        interpreter_.set_input(weight_input, weight.data());
        interpreter_.set_input(trace_input, trace.data());
        interpreter_.set_input(own_input, before.data());
        for (std::size_t begin = 0; begin < changed.count; begin += block) {
            const std::size_t some = std::min(block, changed.count - begin);
            const std::size_t lanes =
                (some + program::lane_multiple - 1) / program::lane_multiple * program::lane_multiple;
            load(set, weight, changed.weights + begin, some, lanes);
            load(set, trace, changed.traces + begin, some, lanes);
            if (reads_own_) load(set, before, changed.own + begin, some, lanes);
            interpreter_.run({.lanes = lanes, .valid = some});
            Dispatched<CopyLanes<Real, double>>::call(set, changed.weights + begin,
                                                      static_cast<const double*>(weight.data()), some);
        }
    }

   private:
    static constexpr std::size_t most_lanes = 256;

    static void load(InstructionSet set, std::array<double, most_lanes>& to, const Real* from, std::size_t count,
                     std::size_t lanes) {
        Dispatched<CopyLanes<double, Real>>::call(set, to.data(), from, count);
        std::fill(to.begin() + static_cast<std::ptrdiff_t>(count), to.begin() + static_cast<std::ptrdiff_t>(lanes),
                  0.0);
    }

    Interpreter interpreter_;
    bool keeps_weights_;
    bool reads_own_;
};

/// As many numbers as the code of an event makes of parameters, at most.
std::size_t most_uniforms(const program::Program& event) { return event.inputs.size() + event.instructions.size(); }

/// The same by compiled code.
template <class Real>
class CalledEvent {
   public:
    CalledEvent(const program::Program& event, std::span<const double> parameters, CompiledEvent compiled,
                std::pmr::memory_resource* memory)
        : run_(compiled.run), uniforms_(most_uniforms(event), 0.0, memory) {
        std::vector<double> rounded;
        for (const double value : parameters) rounded.push_back(rounded_parameter<Real>(value));
        const FlushSubnormals flush;
        compiled.prepare(rounded.data(), uniforms_.data());
    }

    void change(InstructionSet /*set*/, const Changed<Real>& changed) const {
        const program::EventArguments arguments{.count = changed.count,
                                                .weights = changed.weights,
                                                .traces = changed.traces,
                                                .own = changed.own,
                                                .parameters = nullptr,
                                                .uniforms = uniforms_.data()};
        run_(&arguments);
    }

   private:
    program::EventFunction run_;
    AlignedVector<double> uniforms_;
};
static_assert(connect::rule_lanes % program::event_multiple == 0);

/// What spikes of both sides do.
template <class Real, class Event>
class ProgramRule {
   public:
    ProgramRule(Event presynaptic, Event postsynaptic, std::shared_ptr<const void> owner)
        : owner_(std::move(owner)), presynaptic_(std::move(presynaptic)), postsynaptic_(std::move(postsynaptic)) {}

    static void change_presynaptic(InstructionSet set, Real* weights, const Real* traces, const Real* own,
                                   std::size_t count, const void* constants) {
        of(constants).presynaptic_.change(set, {weights, traces, own, count});
    }
    static void change_postsynaptic(InstructionSet set, Real* weights, const Real* traces, const Real* own,
                                    std::size_t count, const void* constants) {
        of(constants).postsynaptic_.change(set, {weights, traces, own, count});
    }

   private:
    // A rule belongs to one table, which one thread uses at a time.
    static ProgramRule& of(const void* constants) { return *static_cast<ProgramRule*>(const_cast<void*>(constants)); }

    std::shared_ptr<const void> owner_;  ///< of compiled code
    Event presynaptic_;
    Event postsynaptic_;
};

template <class Real, class Event>
void use(connect::LearningRule<Real>& rule, std::shared_ptr<const ProgramRule<Real, Event>> made) {
    rule.postsynaptic = ProgramRule<Real, Event>::change_postsynaptic;
    rule.presynaptic = ProgramRule<Real, Event>::change_presynaptic;
    rule.constants = std::move(made);
}

}  // namespace

template <class Real>
connect::LearningRule<Real> make_program_rule(const SynapseProgramDescription& description,
                                              std::span<const double> parameters, std::pmr::memory_resource* memory,
                                              std::optional<CompiledEvents> compiled) {
    connect::LearningRule<Real> rule;
    rule.presynaptic_trace_accumulates = description.presynaptic_traces_accumulate;
    rule.postsynaptic_trace_accumulates = description.postsynaptic_traces_accumulate;
    const bool reads_own_presynaptic = description.trace(TraceKind::own_presynaptic).is_read;
    const bool reads_own_postsynaptic = description.trace(TraceKind::own_postsynaptic).is_read;
    rule.own_presynaptic_traces = reads_own_presynaptic ? 1 : 0;
    rule.own_postsynaptic_traces = reads_own_postsynaptic ? 1 : 0;
    if (memory == nullptr) return rule;
    if (compiled) {
        using Event = CalledEvent<Real>;
        const auto event = [&](const program::Program& program, CompiledEvent code) {
            return Event(program, parameters, code, memory);
        };
        use<Real, Event>(rule, std::make_shared<ProgramRule<Real, Event>>(
                                   event(description.presynaptic, compiled->presynaptic),
                                   event(description.postsynaptic, compiled->postsynaptic), compiled->owner));
    } else {
        using Event = InterpretedEvent<Real>;
        use<Real, Event>(rule,
                         std::make_shared<ProgramRule<Real, Event>>(
                             Event(description.presynaptic, parameters, reads_own_presynaptic, memory),
                             Event(description.postsynaptic, parameters, reads_own_postsynaptic, memory), nullptr));
    }
    return rule;
}

template <class Real>
ProgramRuleBytes program_rule_bytes(const SynapseProgramDescription& description, std::span<const double> parameters) {
    ProgramRuleBytes bytes;
    for (const program::Program* const event : {&description.presynaptic, &description.postsynaptic}) {
        bytes.compiled += sizeof(double) * most_uniforms(*event);
        bytes.interpreted += Interpreter::bytes(code_of_event<Real>(*event, parameters));
    }
    return bytes;
}

template connect::LearningRule<float> make_program_rule(const SynapseProgramDescription&, std::span<const double>,
                                                        std::pmr::memory_resource*, std::optional<CompiledEvents>);
template connect::LearningRule<double> make_program_rule(const SynapseProgramDescription&, std::span<const double>,
                                                         std::pmr::memory_resource*, std::optional<CompiledEvents>);
template ProgramRuleBytes program_rule_bytes<float>(const SynapseProgramDescription&, std::span<const double>);
template ProgramRuleBytes program_rule_bytes<double>(const SynapseProgramDescription&, std::span<const double>);

}  // namespace ranvier::models
