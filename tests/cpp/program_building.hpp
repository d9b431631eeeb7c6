#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::program {

/// Writes a program instruction by instruction; values are their numbers.
class Writer {
   public:
    explicit Writer(std::vector<Type> inputs) { made_.inputs = std::move(inputs); }
    explicit Writer(std::size_t numbers) : Writer(std::vector<Type>(numbers, Type::number)) {}

    std::uint32_t add(Operation operation, std::vector<std::uint32_t> operands = {}, double number = 0.0) {
        made_.instructions.push_back({.operation = operation, .operands = std::move(operands), .number = number});
        return static_cast<std::uint32_t>(value_count(made_) - 1);
    }
    std::uint32_t constant(double value) { return add(Operation::constant, {}, value); }
    /// Returns the first of the values that it makes.
    std::uint32_t loop(std::vector<std::uint32_t> operands, std::uint32_t count, double most, Program body) {
        const auto first = static_cast<std::uint32_t>(value_count(made_));
        made_.instructions.push_back({.operation = Operation::loop,
                                      .operands = std::move(operands),
                                      .number = most,
                                      .body = std::make_shared<const Program>(std::move(body)),
                                      .count = count});
        return first;
    }
    Program finish(std::vector<std::uint32_t> results) {
        made_.results = std::move(results);
        return made_;
    }

   private:
    Program made_;
};

}  // namespace ranvier::program

namespace ranvier::models {

inline void describe_prepare(ProgramDescription& made) {
    using enum program::Operation;
    using program::Writer;
    enum : std::uint32_t { E_L, C_m, tau_m, t_ref, V_th, V_reset, I_e, tau_syn_ex, tau_syn_in };
    Writer writer(10);
    const auto one = writer.constant(1.0);
    const auto leak = writer.add(negate, {writer.add(divide, {one, tau_m})});
    const auto per_capacitance = writer.add(divide, {one, C_m});
    const auto leak_ex = writer.add(negate, {writer.add(divide, {one, tau_syn_ex})});
    const auto leak_in = writer.add(negate, {writer.add(divide, {one, tau_syn_in})});
    const auto fits = writer.add(less, {V_reset, V_th});
    made.prepare = writer.finish({E_L, I_e, V_th, V_reset, t_ref, leak, per_capacitance, leak_ex, leak_in, fits});
    made.conditions = {{9, "V_reset must be below V_th"}};
    // Rows: potential, excitatory current, inhibitory current, constant.
    made.propagators = {{.size = 4,
                         .entries = {5, 6, 6, 6, -1, 7, -1, -1, -1, -1, 8, -1, -1, -1, -1, -1},
                         .outputs = {{0, 0, 4}, {0, 1, 5}, {0, 2, 6}, {0, 3, 7}, {1, 1, 8}, {2, 2, 9}}}};
}

inline void describe_step(ProgramDescription& made) {
    using enum program::Operation;
    using program::Writer;
    std::vector<program::Type> inputs(16, program::Type::number);
    inputs.push_back(program::Type::truth);
    Writer writer(inputs);
    enum : std::uint32_t {
        v,
        ex,
        in,
        rest,
        drive,
        threshold,
        reset,
        decay,
        gain_ex,
        gain_in,
        gain,
        decay_ex,
        decay_in
    };
    enum : std::uint32_t { weights_ex = 13, weights_in, current, refractory };
    const auto left = writer.add(multiply, {decay, writer.add(subtract, {v, rest})});
    const auto with_ex = writer.add(add, {left, writer.add(multiply, {gain_ex, ex})});
    const auto with_in = writer.add(add, {with_ex, writer.add(multiply, {gain_in, in})});
    const auto injected = writer.add(multiply, {gain, writer.add(add, {drive, current})});
    const auto moved = writer.add(add, {rest, writer.add(add, {with_in, injected})});
    const auto potential = writer.add(select, {refractory, v, moved});
    const auto next_ex = writer.add(add, {writer.add(multiply, {decay_ex, ex}), weights_ex});
    const auto next_in = writer.add(add, {writer.add(multiply, {decay_in, in}), weights_in});
    const auto above = writer.add(less_equal, {threshold, potential});
    const auto fires = writer.add(both, {above, writer.add(negation, {refractory})});
    const auto next = writer.add(select, {fires, reset, potential});
    made.step = writer.finish({next, next_ex, next_in, fires});
}

/// iaf_psc_exp (see its file) written as programs. Its propagators come from one matrix of the potential above E_L, the two
/// currents, and a constant 1 pA.
inline ProgramDescription described_iaf_psc_exp() {
    using program::Writer;
    ProgramDescription made{.name = "described_iaf_psc_exp",
                            .summary = "Leaky integrate-and-fire neuron",
                            .equations = "dv/dt = (E_L - v) / tau_m + (I_ex + I_in + I_e) / C_m",
                            .reference = "",
                            .parameters = {{"E_L", "mV", -70.0, {}, "Resting potential"},
                                           {"C_m", "pF", 250.0, positive, "Capacitance"},
                                           {"tau_m", "ms", 10.0, positive, "Time constant of the membrane"},
                                           {"t_ref", "ms", 2.0, not_negative, "Refractory period"},
                                           {"V_th", "mV", -55.0, {}, "Threshold"},
                                           {"V_reset", "mV", -70.0, {}, "Potential after a spike"},
                                           {"I_e", "pA", 0.0, {}, "Constant current"},
                                           {"tau_syn_ex", "ms", 2.0, positive, "Of the excitatory current"},
                                           {"tau_syn_in", "ms", 2.0, positive, "Of the inhibitory current"}},
                            .variables = {{"V_m", "mV", "Potential", "E_L", 0.0},
                                          {"I_syn_ex", "pA", "Excitatory current", "", 0.0},
                                          {"I_syn_in", "pA", "Inhibitory current", "", 0.0}},
                            .derived = {{"I_syn", "pA", "Both currents"}},
                            .receptors = {"excitatory", "inhibitory"},
                            .sign_chooses_receptor = true,
                            .weight_unit = "pA",
                            .takes_current = true,
                            .prepare = {},
                            .conditions = {},
                            .propagators = {},
                            .constants = 10,
                            .refractory = 4,
                            .step = {},
                            .observe = {},
                            .failure = {}};
    describe_prepare(made);
    describe_step(made);
    Writer writer(13);
    made.observe = writer.finish({writer.add(program::Operation::add, {1, 2})});
    return made;
}

}  // namespace ranvier::models
