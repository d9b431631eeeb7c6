#include "models/program_rule.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

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

/// What spikes of both sides do to weights, block by block.
template <class Real>
class ProgramRule {
   public:
    ProgramRule(const SynapseProgramDescription& description, std::span<const double> parameters,
                std::pmr::memory_resource* memory)
        : presynaptic_(code_of_event<Real>(description.presynaptic, parameters), InstructionSet::baseline, memory),
          postsynaptic_(code_of_event<Real>(description.postsynaptic, parameters), InstructionSet::baseline, memory),
          reads_own_presynaptic_(description.trace(TraceKind::own_presynaptic).is_read),
          reads_own_postsynaptic_(description.trace(TraceKind::own_postsynaptic).is_read) {}

    static void change_presynaptic(InstructionSet set, Real* weights, const Real* traces, const Real* own,
                                   std::size_t count, const void* constants) {
        // A rule belongs to one table, which one thread uses at a time.
        auto& self = *static_cast<ProgramRule*>(const_cast<void*>(constants));
        change(self.presynaptic_, set, weights, traces, self.reads_own_presynaptic_ ? own : nullptr, count);
    }
    static void change_postsynaptic(InstructionSet set, Real* weights, const Real* traces, const Real* own,
                                    std::size_t count, const void* constants) {
        auto& self = *static_cast<ProgramRule*>(const_cast<void*>(constants));
        change(self.postsynaptic_, set, weights, traces, self.reads_own_postsynaptic_ ? own : nullptr, count);
    }

   private:
    static constexpr std::size_t most_lanes = 256;

    static void change(Interpreter& interpreter, InstructionSet set, Real* weights, const Real* traces, const Real* own,
                       std::size_t count) {
        if (interpreter.code().instructions.empty()) return;
        alignas(64) std::array<double, most_lanes> weight;
        alignas(64) std::array<double, most_lanes> trace;
        alignas(64) std::array<double, most_lanes> before;
        const std::size_t block = std::min(most_lanes, interpreter.most_lanes());
        interpreter.use(set);
        interpreter.set_input(weight_input, weight.data());
        interpreter.set_input(trace_input, trace.data());
        interpreter.set_input(own_input, before.data());
        for (std::size_t begin = 0; begin < count; begin += block) {
            const std::size_t some = std::min(block, count - begin);
            const std::size_t lanes =
                (some + program::lane_multiple - 1) / program::lane_multiple * program::lane_multiple;
            load(set, weight, weights + begin, some, lanes);
            load(set, trace, traces + begin, some, lanes);
            if (own != nullptr) load(set, before, own + begin, some, lanes);
            interpreter.run({.lanes = lanes, .valid = some});
            Dispatched<CopyLanes<Real, double>>::call(set, weights + begin, static_cast<const double*>(weight.data()),
                                                      some);
        }
    }
    static void load(InstructionSet set, std::array<double, most_lanes>& to, const Real* from, std::size_t count,
                     std::size_t lanes) {
        Dispatched<CopyLanes<double, Real>>::call(set, to.data(), from, count);
        std::fill(to.begin() + static_cast<std::ptrdiff_t>(count), to.begin() + static_cast<std::ptrdiff_t>(lanes),
                  0.0);
    }

    Interpreter presynaptic_;
    Interpreter postsynaptic_;
    bool reads_own_presynaptic_;
    bool reads_own_postsynaptic_;
};

}  // namespace

template <class Real>
connect::LearningRule<Real> make_program_rule(const SynapseProgramDescription& description,
                                              std::span<const double> parameters, std::pmr::memory_resource* memory) {
    connect::LearningRule<Real> rule;
    rule.postsynaptic = ProgramRule<Real>::change_postsynaptic;
    rule.presynaptic = ProgramRule<Real>::change_presynaptic;
    if (memory != nullptr) rule.constants = std::make_shared<ProgramRule<Real>>(description, parameters, memory);
    rule.presynaptic_trace_accumulates = description.presynaptic_traces_accumulate;
    rule.postsynaptic_trace_accumulates = description.postsynaptic_traces_accumulate;
    rule.own_presynaptic_traces = description.trace(TraceKind::own_presynaptic).is_read ? 1 : 0;
    rule.own_postsynaptic_traces = description.trace(TraceKind::own_postsynaptic).is_read ? 1 : 0;
    return rule;
}

template <class Real>
std::size_t program_rule_bytes(const SynapseProgramDescription& description, std::span<const double> parameters) {
    return Interpreter::bytes(code_of_event<Real>(description.presynaptic, parameters)) +
           Interpreter::bytes(code_of_event<Real>(description.postsynaptic, parameters));
}

template connect::LearningRule<float> make_program_rule(const SynapseProgramDescription&, std::span<const double>,
                                                        std::pmr::memory_resource*);
template connect::LearningRule<double> make_program_rule(const SynapseProgramDescription&, std::span<const double>,
                                                         std::pmr::memory_resource*);
template std::size_t program_rule_bytes<float>(const SynapseProgramDescription&, std::span<const double>);
template std::size_t program_rule_bytes<double>(const SynapseProgramDescription&, std::span<const double>);

}  // namespace ranvier::models
