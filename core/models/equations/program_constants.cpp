#include "models/equations/program_constants.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/subnormals.hpp"
#include "models/equations/program_model.hpp"
#include "program/interpreter.hpp"
#include "program/matrix_exponential.hpp"
#include "program/operations.hpp"
#include "program/step_function.hpp"
#include "ranvier/base/step_rounding.hpp"

namespace ranvier::models {

namespace {

using program::BlockCode;
using program::InputForm;
using program::Interpreter;
using program::OutputForm;

BlockCode lower_prepare(const ProgramDescription& description, const ConstantArguments& arguments) {
    std::vector<InputForm> inputs;
    inputs.reserve(arguments.parameters.size() + 1);
    for (const GroupValues& values : arguments.parameters) {
        inputs.push_back(values.uniform() ? InputForm{InputForm::Kind::uniform, values[0]} : InputForm{});
    }
    inputs.push_back({InputForm::Kind::uniform, arguments.h});
    std::vector<OutputForm> outputs;
    outputs.reserve(description.prepare.results.size());
    for (const std::uint32_t result : description.prepare.results) outputs.push_back({.result = result});
    return lower(description.prepare, inputs, outputs);
}

/// Calculates the constants of a group, one block of neurons after another.
class Maker {
   public:
    explicit Maker(const ConstantArguments& arguments)
        : arguments_(arguments),
          model_(*arguments.model),
          description_(model_.description()),
          interpreter_(lower_prepare(description_, arguments), arguments.instruction_set, arguments.memory),
          lanes_(interpreter_.most_lanes()),
          made_(arguments.memory) {
        const std::vector<std::optional<double>>& uniform = interpreter_.code().uniform;
        results_.resize(uniform.size());
        for (std::size_t r = 0; r < uniform.size(); ++r) {
            results_[r].assign(uniform[r] ? 1 : lanes_, uniform[r].value_or(0.0));
            if (!uniform[r]) interpreter_.set_output(r, results_[r].data());
        }
        inputs_.resize(arguments.parameters.size());
        for (std::size_t p = 0; p < inputs_.size(); ++p) {
            if (arguments.parameters[p].uniform()) continue;
            inputs_[p].assign(lanes_, 0.0);
            interpreter_.set_input(p, inputs_[p].data());
        }
        make_room();
    }

    ProgramConstants run() {
        for (std::size_t begin = 0; begin < arguments_.padded; begin += lanes_) {
            const std::size_t lanes = std::min(lanes_, arguments_.padded - begin);
            for (std::size_t p = 0; p < inputs_.size(); ++p) {
                for (std::size_t k = 0; k < inputs_[p].size() && k < lanes; ++k) {
                    inputs_[p][k] = arguments_.parameters[p][neuron(begin + k)];
                }
            }
            (void)interpreter_.run({.lanes = lanes, .valid = lanes});
            for (std::size_t k = 0; k < lanes && begin + k < arguments_.size; ++k) {
                if (!fits(k)) refuse(begin + k);
                if (is_uniform_) break;
            }
            store(begin, lanes);
            if (is_uniform_) break;
        }
        return std::move(made_);
    }

   private:
    bool is_uniform(std::uint32_t result) const { return results_[result].size() == 1; }
    double at(std::uint32_t result, std::size_t lane) const { return results_[result][is_uniform(result) ? 0 : lane]; }
    std::size_t neuron(std::size_t place) const { return place < arguments_.size ? place : 0; }

    bool is_uniform(const Propagator& propagator) const {
        return std::ranges::all_of(propagator.entries, [&](std::int32_t entry) {
            return entry == -1 || is_uniform(static_cast<std::uint32_t>(entry));
        });
    }

    void make_room() {
        made_.values.resize(description_.constants, AlignedVector<double>(arguments_.memory));
        const auto reserve = [&](auto& array, bool uniform) { array.assign(uniform ? 1 : arguments_.padded, 0); };
        for (std::uint32_t c = 0; c < description_.prepared_constants(); ++c) reserve(made_.values[c], is_uniform(c));
        for (const Propagator& propagator : description_.propagators) {
            for (const Propagator::Output& output : propagator.outputs) {
                reserve(made_.values[output.constant], is_uniform(propagator));
            }
        }
        reserve(made_.refractory_steps, !description_.refractory || is_uniform(*description_.refractory));
        is_uniform_ = std::ranges::all_of(results_, [](const auto& values) { return values.size() == 1; });
    }

    /// Whether the results of `prepare` for the parameters of a lane are usable.
    bool fits(std::size_t lane) const {
        for (const Condition& condition : description_.conditions) {
            if (!program::lane::is_true(at(condition.result, lane))) return false;
        }
        for (std::uint32_t c = 0; c < description_.prepared_constants(); ++c) {
            if (!std::isfinite(at(c, lane))) return false;
        }
        return !description_.refractory ||
               refractory_steps(at(*description_.refractory, lane), arguments_.h).has_value();
    }

    [[noreturn]] void refuse(std::size_t place) const {
        std::vector<double> values_of_neuron;
        for (const GroupValues& values : arguments_.parameters) values_of_neuron.push_back(values[place]);
        throw ValueOutOfBoundsError(
            {.object = "parameters of " + arguments_.name_of(place),
             .value = "",
             .bound = model_.conflict(values_of_neuron, arguments_.h).value_or("they do not fit together"),
             .remedy = "check the units"});
    }

    void store(std::size_t begin, std::size_t lanes) {
        for (std::uint32_t c = 0; c < description_.prepared_constants(); ++c) {
            AlignedVector<double>& values = made_.values[c];
            const std::size_t count = values.size() == 1 ? (begin == 0 ? 1 : 0) : lanes;
            for (std::size_t k = 0; k < count; ++k) values[begin + k] = without_subnormal(at(c, k));
        }
        for (const Propagator& propagator : description_.propagators) {
            const std::size_t count = is_uniform(propagator) ? (begin == 0 ? 1 : 0) : lanes;
            for (std::size_t k = 0; k < count; ++k) propagate_lane(propagator, begin, k);
        }
        if (!description_.refractory) return;
        AlignedVector<std::int32_t>& steps = made_.refractory_steps;
        const std::size_t count = steps.size() == 1 ? (begin == 0 ? 1 : 0) : lanes;
        for (std::size_t k = 0; k < count; ++k) {
            steps[begin + k] = refractory_steps(at(*description_.refractory, k), arguments_.h).value_or(0);
        }
    }

    void propagate_lane(const Propagator& propagator, std::size_t begin, std::size_t lane) {
        propagate(
            propagator, arguments_.h, [&](std::uint32_t result) { return at(result, lane); },
            [&](std::uint32_t constant, double value) {
                if (!std::isfinite(value)) refuse(neuron(begin + lane));
                made_.values[constant][made_.is_uniform(constant) ? 0 : begin + lane] = without_subnormal(value);
            });
    }

    const ConstantArguments& arguments_;
    const ProgramModel& model_;
    const ProgramDescription& description_;
    Interpreter interpreter_;
    std::size_t lanes_;
    std::vector<std::vector<double>> inputs_;   ///< of parameters that are not uniform, for the lanes of a block
    std::vector<std::vector<double>> results_;  ///< of `prepare`: one value if uniform, else one for each lane
    bool is_uniform_ = false;
    ProgramConstants made_;
};

template <class Array>
void take_array(Array& destination, Array& source) noexcept {
    if (destination.size() == source.size()) {
        std::copy(source.begin(), source.end(), destination.begin());
    } else {
        destination.swap(source);
    }
}

}  // namespace

std::optional<std::int32_t> refractory_steps(double period, double h) {
    const double steps = round_half_up(period / h);
    if (!(period >= 0.0 && steps < most_refractory_steps)) return std::nullopt;
    return static_cast<std::int32_t>(steps);
}

void propagate(const Propagator& propagator, double h, const std::function<double(std::uint32_t)>& at,
               const std::function<void(std::uint32_t, double)>& put) {
    std::vector<double> matrix;
    matrix.reserve(propagator.entries.size());
    for (const std::int32_t entry : propagator.entries) {
        matrix.push_back(entry == -1 ? 0.0 : at(static_cast<std::uint32_t>(entry)));
    }
    const std::vector<double> result = program::matrix_exponential(matrix, propagator.size, h);
    for (const Propagator::Output& output : propagator.outputs) {
        put(output.constant, result[output.row * propagator.size + output.column]);
    }
}

std::vector<std::optional<double>> ProgramConstants::uniform() const {
    std::vector<std::optional<double>> all(values.size());
    for (std::size_t c = 0; c < values.size(); ++c) {
        if (is_uniform(c)) all[c] = values[c][0];
    }
    return all;
}

void ProgramConstants::take(ProgramConstants& other) noexcept {
    for (std::size_t c = 0; c < values.size(); ++c) take_array(values[c], other.values[c]);
    take_array(refractory_steps, other.refractory_steps);
}

ProgramConstants make_constants(const ConstantArguments& arguments) { return Maker(arguments).run(); }

}  // namespace ranvier::models
