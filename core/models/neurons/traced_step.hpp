#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "models/neurons/point_neuron_step.hpp"
#include "program/traced_number.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::models::point_neuron {

/// The step of a model (point_neuron.hpp) with threshold and reset as the program of a StepProgram.
template <class Model>
class TracedStep {
    using Number = program::TracedNumber;
    using State = Model::template State<Number>;
    using Constants = Model::template Constants<Number>;
    using Input = StepInput<Number, Model::receptor_count>;
    static constexpr std::size_t state_count = member_count<State, Number>;
    static constexpr std::size_t constant_count = member_count<Constants, Number>;
    static constexpr std::size_t first_received = state_count + constant_count;
    static constexpr std::size_t current = first_received + Model::receptor_count;

   public:
    static std::shared_ptr<const program::Program> make(bool has_current) {
        std::vector<program::Type> inputs(current + (has_current ? 1 : 0), program::Type::number);
        inputs.push_back(program::Type::truth);
        program::Tracer tracer(std::move(inputs));
        const auto constants = members<Constants, state_count>(tracer, std::make_index_sequence<constant_count>{});
        std::vector<Number> next = tracer.follow([&] { return step(tracer, constants, has_current); });
        // As ResetKernel.
        const program::TracedTruth fires = next[0] >= constants.threshold;
        next[0] = tracer.select(fires, constants.reset, next[0]);
        for (const Number& variable : next) tracer.give(variable);
        tracer.give(fires);
        return std::make_shared<const program::Program>(std::move(tracer).finish());
    }

   private:
    template <class Record, std::size_t first, std::size_t... M>
    static Record members(program::Tracer& tracer, std::index_sequence<M...>) {
        return {tracer.number(first + M)...};
    }

    static std::vector<Number> step(program::Tracer& tracer, const Constants& constants, bool has_current) {
        Input input{
            .received = {}, .drive = constants.drive, .refractory = tracer.truth(current + (has_current ? 1 : 0))};
        if (has_current) input.drive = constants.drive + constants.gain_of_constant * tracer.number(current);
        for (std::size_t r = 0; r < Model::receptor_count; ++r) input.received[r] = tracer.number(first_received + r);
        const State next =
            Model::step(members<State, 0>(tracer, std::make_index_sequence<state_count>{}), constants, input);
        return variables(next, std::make_index_sequence<state_count>{});
    }

    template <std::size_t... V>
    static std::vector<Number> variables(const State& state, std::index_sequence<V...>) {
        std::array<Number, state_count> values;
        Number* const pointers[] = {&values[V]...};
        scatter(state, pointers, 0);
        return {values.begin(), values.end()};
    }
};

/// The program of a model, made once.
template <class Model>
std::shared_ptr<const program::Program> traced_step(bool has_current) {
    static const std::array<std::shared_ptr<const program::Program>, 2> steps{TracedStep<Model>::make(false),
                                                                              TracedStep<Model>::make(true)};
    return steps[has_current ? 1 : 0];
}

/// Whether the same program, with rounding after each operation, is that of a model with state in single precision. Models
/// calculate functions such as exponentials in another way there.
inline bool rounds_to_single(const program::Program& step) {
    return std::ranges::all_of(step.instructions, [](const program::Instruction& each) {
        using enum program::Operation;
        switch (each.operation) {
            case constant:
            case negate:
            case minimum:
            case maximum:
            case less:
            case less_equal:
            case equal:
            case both:
            case either:
            case negation:
            case select:
                return true;
            default:
                return program::rounds_to_single(each.operation);
        }
    });
}

}  // namespace ranvier::models::point_neuron
