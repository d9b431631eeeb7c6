#include "device/cuda/program_source.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/subnormals.hpp"
#include "device/kernel/block.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

using program::Instruction;
using program::Operation;
using program::Program;
using program::Type;

/// A literal with these bits, whatever the locale.
std::string number_text(double number) {
    number = without_subnormal(number);
    std::array<char, 32> digits{};
    char* const end = digits.data() + digits.size();
    if (std::isfinite(number)) {
        const auto made = std::to_chars(digits.data(), end, std::abs(number), std::chars_format::hex);
        return (std::signbit(number) ? "-0x" : "0x") + std::string(digits.data(), made.ptr);
    }
    const auto made = std::to_chars(digits.data(), end, std::bit_cast<std::uint64_t>(number), 16);
    return "std::bit_cast<double>(0x" + std::string(digits.data(), made.ptr) + "ULL)";
}

std::string_view type_text(Type type) { return type == Type::number ? "double" : "bool"; }

/// The C++ name of an operation on numbers. Its name in Python differs where that is a keyword of C++.
std::string call_text(Operation operation) {
    return "lane::apply<Operation::" + std::string(program::to_string(operation)) + ">";
}

/// Writes the statements of a program. Values are names.
class StepText {
   public:
    explicit StepText(const DeviceProgram& model) : model_(model) {}

    /// Statements in this depth of loops. Returns the names of the results.
    std::vector<std::string> add(const Program& program, std::vector<std::string> names, std::size_t depth) {
        const std::string indent(8 + 4 * depth, ' ');
        for (const Instruction& instruction : program.instructions) {
            std::vector<std::string> operands;
            operands.reserve(instruction.operands.size());
            for (const std::uint32_t operand : instruction.operands) operands.push_back(names[operand]);
            if (instruction.operation == Operation::loop) {
                const std::vector<std::string> made = add_loop(instruction, operands, depth);
                names.insert(names.end(), made.begin(), made.end());
                continue;
            }
            const Type type = program::signature(instruction.operation).result;
            names.push_back(next_name());
            text_ += indent + "const " + std::string(type_text(type)) + " " + names.back() + " = " +
                     expression(instruction, operands) + ";\n";
        }
        std::vector<std::string> results;
        results.reserve(program.results.size());
        for (const std::uint32_t result : program.results) results.push_back(names[result]);
        return results;
    }

    std::string next_name() { return "v" + std::to_string(count_++); }
    void line(const std::string& statement) { text_ += "        " + statement + "\n"; }
    const std::string& text() const { return text_; }

   private:
    /// The random bits of a draw.
    std::string draw_text(const Instruction& draw) const {
        const auto index = static_cast<u32>(draw.number);
        return "view.draw(" + std::to_string(index) + ", " + (model_.is_unpaired(index) ? "true" : "false") + ")";
    }

    std::string expression(const Instruction& instruction, const std::vector<std::string>& operands) const {
        switch (instruction.operation) {
            case Operation::constant:
                return number_text(model_.is_single ? static_cast<double>(static_cast<float>(instruction.number))
                                                    : instruction.number);
            case Operation::less:
                return operands[0] + " < " + operands[1];
            case Operation::less_equal:
                return operands[0] + " <= " + operands[1];
            case Operation::equal:
                return operands[0] + " == " + operands[1];
            case Operation::both:
                return operands[0] + " && " + operands[1];
            case Operation::either:
                return operands[0] + " || " + operands[1];
            case Operation::negation:
                return "!" + operands[0];
            case Operation::select:
                return operands[0] + " ? " + operands[1] + " : " + operands[2];
            case Operation::uniform_draw:
            case Operation::normal_draw:
                return call_text(instruction.operation) + "(std::bit_cast<double>(" + draw_text(instruction) + "))";
            default:
                break;
        }
        std::string call = call_text(instruction.operation) + "(" + operands[0];
        if (operands.size() == 2) call += ", " + operands[1];
        call += ')';
        if (model_.is_single && program::rounds_to_single(instruction.operation)) return "rounded(" + call + ")";
        return may_be_subnormal(instruction.operation) ? "flushed(" + call + ")" : call;
    }

    std::vector<std::string> add_loop(const Instruction& loop, const std::vector<std::string>& operands,
                                      std::size_t depth) {
        const std::string indent(8 + 4 * depth, ' ');
        const std::string inner = indent + "    ";
        std::vector<std::string> names = operands;
        std::vector<std::string> carried;
        for (std::uint32_t k = 0; k < loop.count; ++k) {
            carried.push_back(next_name());
            names[k] = carried.back();
            text_ +=
                indent + std::string(type_text(loop.body->inputs[k])) + " " + carried[k] + " = " + operands[k] + ";\n";
        }
        const std::string has_ended = next_name();
        const std::string iteration = next_name();
        text_ += indent + "bool " + has_ended + " = false;\n";
        text_ += indent + "for (u32 " + iteration + " = 0; " + iteration + " < " +
                 std::to_string(static_cast<std::uint32_t>(loop.number)) + "U; ++" + iteration + ") {\n";
        const std::vector<std::string> results = add(*loop.body, names, depth + 1);
        text_ += inner + "if (!" + results[0] + ") {\n" + inner + "    " + has_ended + " = true;\n" + inner +
                 "    break;\n" + inner + "}\n";
        // All next values are there before the first one is taken: they may be carried values themselves.
        std::string taken;
        for (std::uint32_t k = 0; k < loop.count; ++k) {
            const std::string next = next_name();
            text_ += inner + "const " + std::string(type_text(loop.body->inputs[k])) + " " + next + " = " +
                     results[k + 1] + ";\n";
            taken += inner + carried[k] + " = " + next + ";\n";
        }
        text_ += taken + indent + "}\n";
        carried.push_back(has_ended);
        return carried;
    }

    const DeviceProgram& model_;
    std::string text_;
    std::size_t count_ = 0;
};

void check_shape(const DeviceProgram& model) {
    const Program& step = *model.step;
    const std::size_t inputs = std::size_t{model.variables} + model.constants + model.receptors +
                               (model.takes_current ? 1 : 0) + 1 + (model.needs_last ? 1 : 0);
    if (step.inputs.size() != inputs || step.results.size() <= model.variables) {
        throw InternalError("the program of a step has other inputs or results than its description");
    }
    if (model.receptors > most_receptors) {
        throw StateError({.object = "number of receptors of a neuron",
                          .value = std::to_string(model.receptors),
                          .bound = "on a GPU, a neuron can have " + std::to_string(most_receptors),
                          .remedy = "simulate on processors: leave out `device`"});
    }
}

/// The body of the function of a program.
std::string step_text(const DeviceProgram& model) {
    check_shape(model);
    const Program& step = *model.step;
    StepText text(model);
    std::vector<std::string> inputs;
    const auto read = [&](const std::string& value) {
        const Type type = step.inputs[inputs.size()];
        inputs.push_back(text.next_name());
        text.line("const " + std::string(type_text(type)) + " " + inputs.back() + " = " + value + ";");
    };
    const auto place = [](std::size_t variable) { return "view.state(" + std::to_string(variable) + ")"; };
    for (u32 v = 0; v < model.variables; ++v) read(place(v));
    for (u32 c = 0; c < model.constants; ++c) read("view.constant(" + std::to_string(c) + ")");
    const auto stored = [&](const std::string& input) { return model.is_single ? "rounded(" + input + ")" : input; };
    for (u32 r = 0; r < model.receptors; ++r) read(stored("view.input(" + std::to_string(r) + ")"));
    if (model.takes_current) read(stored("view.current()"));
    read("view.is_refractory");
    if (model.needs_last) read("view.is_last_refractory");
    const std::vector<std::string> results = text.add(step, inputs, 0);
    for (u32 v = 0; v < model.variables; ++v) {
        if (results[v] != inputs[v]) text.line(place(v) + " = " + results[v] + ";");
    }
    text.line("u32 flags = " + results[model.variables] + " ? step_fires : 0;");
    for (std::size_t k = model.variables + std::size_t{1}; k < results.size(); ++k) {
        text.line("if (!" + results[k] + ") flags |= step_fails;");
    }
    text.line("return flags;");
    return text.text();
}

/// A function of constants that are given as words.
std::string constants_text(std::span<const u32> words) {
    std::string text = "            struct Words {\n                u32 values[" + std::to_string(words.size()) +
                       "];\n            };\n            constexpr Words words{{";
    for (std::size_t w = 0; w < words.size(); ++w) text += (w == 0 ? "" : ", ") + std::to_string(words[w]) + "U";
    return text + "}};\n            const auto constants = std::bit_cast<typename Rule::Constants>(words);\n";
}

/// What the spikes of a side do to a weight, by the type of a rule.
std::string typed_change_text(const LearningRule& rule, bool is_postsynaptic) {
    std::string text =
        "            using Rule = " + (is_postsynaptic ? rule.postsynaptic_type : rule.presynaptic_type) + ";\n";
    if (rule.parameter_count > 0) {
        text += "            const float* const values[] = {";
        for (u32 k = 0; k < rule.parameter_count; ++k) {
            text += (k == 0 ? "parameters" : ", parameters + " + std::to_string(k));
        }
        text += "};\n            const auto constants = Rule::constants(values, 0);\n";
    } else {
        text += constants_text(rule.constants);
    }
    const bool has_same_side = is_postsynaptic ? rule.has_same_side_postsynaptic : rule.has_same_side_presynaptic;
    return text + "            return Rule::" + (is_postsynaptic ? "postsynaptic" : "presynaptic") +
           "(weight, trace, " + (has_same_side ? "same_side_trace, " : "") + "constants);\n";
}

/// The same by a program. Weights and traces are in single precision, and what is between them in double precision.
std::string program_change_text(const LearningRule& rule, bool is_postsynaptic) {
    const Program& event = is_postsynaptic ? *rule.postsynaptic : *rule.presynaptic;
    std::vector<std::string> inputs{"static_cast<double>(weight)", "static_cast<double>(trace)",
                                    "static_cast<double>(same_side_trace)"};
    for (const double value : rule.parameters) inputs.push_back(number_text(value));
    for (std::size_t k = 0; k < rule.per_synapse_parameters.size(); ++k) {
        inputs[3 + rule.per_synapse_parameters[k]] = "static_cast<double>(parameters[" + std::to_string(k) + "])";
    }
    if (event.inputs.size() != inputs.size()) throw InternalError("inputs of the program of a synapse");
    const DeviceProgram no_draws;
    StepText text(no_draws);
    std::vector<std::string> names;
    for (const std::string& input : inputs) {
        names.push_back(text.next_name());
        text.line("    const double " + names.back() + " = " + input + ";");
    }
    const std::vector<std::string> results = text.add(event, names, 1);
    text.line("    return static_cast<float>(" + results[0] + ");");
    return text.text();
}

/// Whether the synapses of a row have different factors.
bool differs_in_row(const ReleaseRule& rule) { return rule.draws || rule.has_parameters; }

/// The factor of a row.
std::string typed_release_text(const ReleaseRule& rule) {
    const std::string begin = "            using Rule = " + rule.type + ";\n" + constants_text(rule.constants);
    if (rule.draws) {
        return begin + R"(            double own[Rule::states];
            for (u32 k = 0; k < Rule::states; ++k) own[k] = values[k * u64{stride}];
            Rule::spike(own, step, last, constants);
            for (u32 k = 0; k < Rule::states; ++k) values[k * u64{stride}] = own[k];
            last = step;
            return 0.0;
)";
    }
    return begin + R"(            typename Rule::State state;
            for (u32 k = 0; k < Rule::states; ++k) state.values[k] = values[k * u64{stride}];
            state.last = last;
            const double factor = Rule::release(state, step, constants);
            for (u32 k = 0; k < Rule::states; ++k) values[k * u64{stride}] = state.values[k];
            last = state.last;
            return factor;
)";
}

/// The same by a program.
std::string program_release_text(const ReleaseRule& rule) {
    const DeviceProgram no_draws;
    StepText text(no_draws);
    std::vector<std::string> names;
    const auto read = [&](const std::string& input) {
        names.push_back(text.next_name());
        text.line("    const double " + names.back() + " = " + input + ";");
    };
    const auto place = [](u32 state) { return "values[" + std::to_string(state) + " * u64{stride}]"; };
    for (u32 k = 0; k < rule.states; ++k) read(place(k));
    read("last == -1 ? 0.0 : static_cast<double>(step - last) * " + number_text(rule.resolution));
    for (const double value : rule.parameters) read(number_text(value));
    if (rule.release->inputs.size() != names.size()) throw InternalError("inputs of the program of a release");
    const std::vector<std::string> results = text.add(*rule.release, names, 1);
    for (u32 k = 0; k < rule.states; ++k) text.line("    " + place(k) + " = " + results[k] + ";");
    text.line("    last = step;");
    text.line("    return " + results[rule.states] + ";");
    return text.text();
}

/// The factor of a synapse.
std::string synapse_release_text(const ReleaseRule& rule) {
    const std::string begin = "            using Rule = " + rule.type + ";\n" +
                              (rule.has_parameters ? "            const auto constants = Rule::constants(parameters, " +
                                                         number_text(rule.resolution) + ");\n"
                                                   : constants_text(rule.constants));
    if (rule.draws) {
        return begin +
               "            const auto spike = Rule::spike(values, step, last, constants);\n"
               "            return static_cast<double>(Rule::released(spike, count, draws));\n";
    }
    return begin + R"(            typename Rule::State state;
            for (u32 k = 0; k < Rule::states; ++k) state.values[k] = values[k];
            state.last = last;
            const double factor = Rule::release(state, step, constants);
            for (u32 k = 0; k < Rule::states; ++k) values[k] = state.values[k];
            return factor;
)";
}

/// The functions of rules. Types are those that kernels know.
std::string rules_text(const SynapseRules& rules) {
    std::string text;
    for (const bool is_postsynaptic : {false, true}) {
        text += std::string("\n    RANVIER_DEVICE float ") + (is_postsynaptic ? "postsynaptic" : "presynaptic") +
                "(u32 rule, float weight, float trace, float same_side_trace, "
                "const float* parameters) const {\n";
        for (std::size_t r = 0; r < rules.learning.size(); ++r) {
            const LearningRule& rule = rules.learning[r];
            if (rule.has_modulation) continue;
            text += "        if (rule == " + std::to_string(r) + ") {\n" +
                    (rule.presynaptic ? program_change_text(rule, is_postsynaptic)
                                      : typed_change_text(rule, is_postsynaptic)) +
                    "        }\n";
        }
        text += "        return weight;\n    }\n";
    }
    text += "\n    RANVIER_DEVICE double release(u32 rule, double* values, u32 stride, i64& last, i64 step) const {\n";
    for (std::size_t r = 0; r < rules.release.size(); ++r) {
        const ReleaseRule& rule = rules.release[r];
        if (rule.has_parameters || (rule.draws && rule.states == 0)) continue;
        text += "        if (rule == " + std::to_string(r) + ") {\n" +
                (rule.release ? program_release_text(rule) : typed_release_text(rule)) + "        }\n";
    }
    text += "        return 0.0;\n    }\n";
    text +=
        "\n    RANVIER_DEVICE double release_synapse(u32 rule, double* values, i64 last, i64 step, "
        "const double* parameters, const SynapseDraws& draws, u32& count) const {\n";
    for (std::size_t r = 0; r < rules.release.size(); ++r) {
        const ReleaseRule& rule = rules.release[r];
        if (!differs_in_row(rule)) continue;
        text += "        if (rule == " + std::to_string(r) + ") {\n" + synapse_release_text(rule) + "        }\n";
    }
    return text + "        return 0.0;\n    }\n";
}

// Cells.

/// Statements that read the inputs of a program, as names.
std::vector<std::string> read_inputs(StepText& text, const std::vector<std::string>& inputs) {
    std::vector<std::string> names;
    for (const std::string& input : inputs) {
        names.push_back(text.next_name());
        text.line("const double " + names.back() + " = " + input + ";");
    }
    return names;
}

/// The text of a function of a mechanism. Inputs of its programs are states, PlaceInput, and parameters.
class MechanismText {
   public:
    explicit MechanismText(const MechanismProgram& mechanism) : mechanism_(mechanism), text_(none_) {}

    std::string currents() {
        std::vector<std::string> states = read_inputs(text_, states_of_view());
        std::string has_ended = "true";
        if (mechanism_.has_half) {
            const std::vector<std::string> results = add(*mechanism_.step, states, "view.half_step()");
            states.assign(results.begin(), results.begin() + mechanism_.states);
            has_ended = all_of(results);
        }
        const std::vector<std::string> results = add(*mechanism_.current, states, "view.input(input_step)");
        for (u32 k = 0; k < 2 * mechanism_.currents; ++k) {
            text_.line("view.result(" + std::to_string(k) + ") = " + results[k] + ";");
        }
        text_.line("return " + has_ended + ";");
        return text_.text();
    }

    std::string advance() {
        const std::vector<std::string> results =
            add(*mechanism_.step, read_inputs(text_, states_of_view()), "view.input(input_step)");
        for (u32 s = 0; s < mechanism_.states; ++s) {
            text_.line("view.state(" + std::to_string(s) + ") = " + results[s] + ";");
        }
        text_.line("return " + all_of(results) + ";");
        return text_.text();
    }

   private:
    std::vector<std::string> states_of_view() const {
        std::vector<std::string> states;
        states.reserve(mechanism_.states);
        for (u32 s = 0; s < mechanism_.states; ++s) states.push_back("view.state(" + std::to_string(s) + ")");
        return states;
    }

    std::vector<std::string> add(const Program& program, std::vector<std::string> names, const std::string& step) {
        std::vector<std::string> inputs;
        inputs.reserve(program.inputs.size());
        for (u32 which = 0; which < place_inputs; ++which) {
            inputs.push_back(which == input_step ? step : "view.input(" + std::to_string(which) + "U)");
        }
        for (std::size_t p = 0; mechanism_.states + place_inputs + p < program.inputs.size(); ++p) {
            inputs.push_back("view.parameter(" + std::to_string(p) + ")");
        }
        const std::vector<std::string> read = read_inputs(text_, inputs);
        names.insert(names.end(), read.begin(), read.end());
        if (names.size() != program.inputs.size()) throw InternalError("inputs of the program of a mechanism");
        return text_.add(program, names, 0);
    }

    /// Whether all loops have ended.
    std::string all_of(const std::vector<std::string>& results) const {
        std::string all = "true";
        for (std::size_t k = mechanism_.states; k < results.size(); ++k) all += " && " + results[k];
        return all;
    }

    const MechanismProgram& mechanism_;
    const DeviceProgram none_;
    StepText text_;
};

std::string rate_text(const RateProgram& rate) {
    const DeviceProgram none;
    StepText text(none);
    std::vector<std::string> inputs{"argument"};
    if (rate.inputs == 2) inputs.emplace_back("logarithm");
    for (std::size_t p = 0; inputs.size() < rate.program->inputs.size(); ++p) {
        inputs.push_back("parameters[" + std::to_string(p) + "]");
    }
    const std::vector<std::string> results = text.add(*rate.program, read_inputs(text, inputs), 0);
    text.line("steady = " + results[0] + ";");
    text.line("tau = " + results[1] + ";");
    return text.text();
}

/// What a CellThread needs.
std::string cells_text(const CellPrograms& cells) {
    std::string text = R"(
    RANVIER_DEVICE void rates(u32 program, double argument, double logarithm, const double* parameters, double& steady,
                              double& tau) const {
)";
    for (std::size_t k = 0; k < cells.rates.size(); ++k) {
        text += "        if (program == " + std::to_string(k) + ") {\n" + rate_text(cells.rates[k]) +
                "        return;\n        }\n";
    }
    text += "    }\n";
    for (const bool advances : {false, true}) {
        text += std::string("\n    template <class View>\n    RANVIER_DEVICE bool ") +
                (advances ? "advance_place" : "place_currents") + "(u32 program, const View& view) const {\n";
        for (std::size_t k = 0; k < cells.mechanisms.size(); ++k) {
            MechanismText mechanism(cells.mechanisms[k]);
            text += "        if (program == " + std::to_string(k) + ") {\n" +
                    (advances ? mechanism.advance() : mechanism.currents()) + "        }\n";
        }
        text += "        return false;\n    }\n";
    }
    return text;
}

}  // namespace

bool may_be_subnormal(program::Operation operation) {
    switch (operation) {
        case Operation::add:
        case Operation::subtract:
        case Operation::multiply:
        case Operation::divide:
        case Operation::expm1_over:
            return true;
        default:
            return false;
    }
}

std::string models_source(std::span<const DeviceProgram> programs, const KernelShape& shape, const SynapseRules& rules,
                          const CellPrograms& cells) {
    // Populations of one model have programs that are alike.
    std::vector<std::string> steps;
    std::vector<std::size_t> step_of;
    for (const DeviceProgram& model : programs) {
        std::string text = step_text(model);
        const auto found = std::ranges::find(steps, text);
        step_of.push_back(static_cast<std::size_t>(found - steps.begin()));
        if (found == steps.end()) steps.push_back(std::move(text));
    }
    std::string source = R"(#include <bit>
#include <cmath>

#include "device/kernel/block.hpp"
#include "program/operations.hpp"
)";
    std::vector<std::string> headers;
    for (const LearningRule& rule : rules.learning) headers.push_back(rule.header);
    for (const ReleaseRule& rule : rules.release) headers.push_back(rule.header);
    std::ranges::sort(headers);
    const auto repeated = std::ranges::unique(headers);
    headers.erase(repeated.begin(), repeated.end());
    for (const std::string& header : headers) {
        if (!header.empty()) source += "#include \"" + header + "\"\n";
    }
    source += R"(
namespace ranvier::device {

namespace lane = program::lane;
using program::Operation;

// As without_subnormal() in base/subnormals.hpp. Of all forms, the compiler makes the shortest code of this one.
RANVIER_DEVICE double flushed(double number) {
    return std::abs(number) < lane::least_normal ? std::copysign(0.0, number) : number;
}

// To single precision, as x86-64 does if it flushes subnormal numbers: those that round to the least normal one do not count.
RANVIER_DEVICE double rounded(double number) {
    return std::abs(number) < 0x1.ffffffp-127 ? std::copysign(0.0, number)
                                              : static_cast<double>(static_cast<float>(number));
}

struct Models {
    static constexpr u32 registers = )";
    source += std::to_string(shape.registers) +
              ";\n    static constexpr u32 signals = " + std::to_string(shape.signals) +
              ";\n    static constexpr bool has_rules = " +
              (rules.learning.empty() && rules.release.empty() ? "false" : "true") +
              ";\n    static constexpr bool has_synapse_releases = " +
              (std::ranges::any_of(rules.release, differs_in_row) ? "true" : "false") +
              ";\n    static constexpr bool has_timed_traces = " +
              (std::ranges::any_of(rules.learning, &LearningRule::has_timed_traces) ? "true" : "false") +
              ";\n    static constexpr bool has_axonal_delays = " +
              (std::ranges::any_of(rules.learning, &LearningRule::has_axonal_delays) ? "true" : "false") +
              ";\n    static constexpr bool has_modulation = " +
              (std::ranges::any_of(rules.learning, &LearningRule::has_modulation) ? "true" : "false") +
              ";\n    static constexpr bool has_cells = " + (cells.has_cells ? "true" : "false") + R"(;

    template <class View>
    RANVIER_DEVICE u32 step(u32 program, View& view) const {
        switch (program) {
)";
    for (std::size_t s = 0; s < steps.size(); ++s) {
        for (std::size_t p = 0; p < step_of.size(); ++p) {
            if (step_of[p] == s) source += "            case " + std::to_string(p) + ":\n";
        }
        source += "                return step_" + std::to_string(s) + "(view);\n";
    }
    source += "            default:\n                return step_fails;\n        }\n    }\n";
    for (std::size_t s = 0; s < steps.size(); ++s) {
        source += "\n    template <class View>\n    RANVIER_DEVICE static u32 step_" + std::to_string(s) +
                  "(View& view) {\n" + steps[s] + "    }\n";
    }
    if (cells.has_cells) source += cells_text(cells);
    return source + rules_text(rules) + "};\n\n}  // namespace ranvier::device\n";
}

std::string kernel_source(std::span<const DeviceProgram> programs, const KernelShape& shape, const SynapseRules& rules,
                          const CellPrograms& cells) {
    const std::string bounds = shape.threads == 0 ? ""
                                                  : " __launch_bounds__(" + std::to_string(shape.threads) + ", " +
                                                        std::to_string(shape.blocks) + ")";
    return models_source(programs, shape, rules, cells) + "\n#define RANVIER_LAUNCH_BOUNDS" + bounds +
           (shape.has_clocks ? "\n#define RANVIER_CLOCKS" : "") + "\n#include \"device/cuda/kernel_entry.cuh\"\n";
}

std::string construction_source() { return "#include \"device/cuda/construction_entry.cuh\"\n"; }

}  // namespace ranvier::device
