#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/subnormals.hpp"
#include "group_driver.hpp"
#include "models/equations/program_draws.hpp"
#include "models/equations/program_model.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "program/traced_number.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/models/equations/program_text.hpp"
#include "ranvier/models/registry.hpp"

namespace TEST_FILE {

using namespace ranvier;
using namespace ranvier::models;
using program::Operation;
using program::TracedNumber;
using program::Tracer;
using program::Type;

#if defined(LIBRARY_PROGRAMS)
/// The neurons of equations that come with Ranvier, which Python compiles when tests are built.
std::vector<std::unique_ptr<ProgramModel>> library_models() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(LIBRARY_PROGRAMS)) {
        if (entry.path().extension() == ".program") paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    std::vector<std::unique_ptr<ProgramModel>> models;
    models.reserve(paths.size());
    for (const auto& path : paths) models.push_back(std::make_unique<ProgramModel>(read_program_file(path)));
    return models;
}
#endif

/// The state of all neurons of a group.
struct State {
    std::vector<std::vector<std::uint64_t>> variables;  ///< bits, by variable of the program
    std::vector<std::int32_t> refractory;

    bool operator==(const State&) const = default;
};

std::vector<StateColumns::Column> saved(NeuronGroup& group, std::size_t size) {
    StateColumns columns;
    for (std::uint32_t i = 0; i < size; ++i) group.serialize_state(i, 0, columns);
    return std::move(columns).take();
}

State state_of(NeuronGroup& group, const StepProgram& program, std::size_t size) {
    const auto columns = saved(group, size);
    const auto values = [&]<class T>(std::string_view name, T) {
        const auto found = std::ranges::find(columns, name, &StateColumns::Column::name);
        return std::get<std::vector<T>>(found->values);
    };
    State state;
    for (const std::string& name : program.variables) {
        auto& bits = state.variables.emplace_back();
        const auto add = [&](double value) { bits.push_back(std::bit_cast<std::uint64_t>(value)); };
        if (program.is_single) {
            for (const float value : values(name, 0.0F)) add(value);
        } else {
            for (const double value : values(name, 0.0)) add(value);
        }
    }
    state.refractory = values("refractory_steps", std::int32_t{0});
    EXPECT_EQ(columns.size(), program.variables.size() + 1);
    return state;
}

/// What a device does with the program.
class Device {
   public:
    Device(StepProgram program, State state) : program_(std::move(program)), state_(std::move(state)) {}

    /// @param inputs by receptor; empty: nothing arrived
    std::vector<std::uint32_t> step(const std::vector<std::vector<std::optional<double>>>& inputs,
                                    std::span<const double> current) {
        ++step_;
        const FlushSubnormals flush;
        std::vector<std::uint32_t> fired;
        for (std::uint32_t i = 0; i < state_.refractory.size(); ++i) {
            std::vector<double> values;
            for (const auto& bits : state_.variables) values.push_back(std::bit_cast<double>(bits[i]));
            for (const auto& constant : program_.constants) values.push_back(constant[constant.size() == 1 ? 0 : i]);
            for (const auto& input : inputs) values.push_back(stored(input[i].value_or(program_.no_input)));
            if (program_.takes_current) values.push_back(current.empty() ? 0.0 : stored(current[i]));
            std::int32_t& left = state_.refractory[i];
            values.push_back(program::lane::to_lane(left > 0));
            if (program_.needs_last) values.push_back(program::lane::to_lane(left == 1));
            const std::vector<double> results = program_.is_single
                                                    ? program::evaluate_in_single(*program_.step, values)
                                                    : program::evaluate(*program_.step, values, words(i));
            const std::size_t variables = state_.variables.size();
            for (std::size_t v = 0; v < variables; ++v) {
                state_.variables[v][i] = std::bit_cast<std::uint64_t>(results[v]);
            }
            for (std::size_t k = variables + 1; k < results.size(); ++k) {
                EXPECT_TRUE(program::lane::is_true(results[k]));
            }
            const auto& steps = program_.refractory_steps;
            left = std::max(left - 1, 0);
            if (!program::lane::is_true(results[variables])) continue;
            left = steps[steps.size() == 1 ? 0 : i];
            fired.push_back(i);
        }
        return fired;
    }

    const State& state() const { return state_; }
    const StepProgram& program() const { return program_; }

   private:
    double stored(double input) const {
        return program_.is_single ? static_cast<double>(static_cast<float>(input)) : input;
    }

    /// Random bits of the draws of a neuron.
    std::vector<std::uint64_t> words(std::uint32_t neuron) const {
        const std::vector<std::uint32_t> draws = program::draws_of(*program_.step);
        std::vector<std::uint64_t> all(draws.empty() ? 0 : draws.back() + std::size_t{1});
        for (const std::uint32_t draw : draws) {
            const bool is_single = !std::ranges::binary_search(draws, draw ^ 1U);
            all[draw] = program_draw(program_.key, NeuronId{neuron}, step_, draw, is_single);
        }
        return all;
    }

    StepProgram program_;
    State state_;
    Step step_ = 0;
};

/// Random parameters, states, inputs and currents.
class Scene {
   public:
    Scene(const NeuronModel& model, std::size_t size, unsigned seed) : model_(model), size_(size), random_(seed) {}

    /// @param per_neuron whether some parameters differ between neurons
    GroupDriver driver(bool per_neuron, InstructionSet set, Precision precision) {
        GroupDriver::Options options{.size = size_, .precision = precision, .instruction_set = set};
        const std::vector<double> shared = parameters(std::vector<bool>(model_.parameters.size(), true), {});
        std::vector<bool> differs(shared.size(), false);
        for (std::size_t p = 0; p < shared.size(); ++p) {
            differs[p] = per_neuron && random_() % 2 == 0;
            options.values[model_.parameters[p].name] = {shared[p]};
            if (differs[p]) options.values[model_.parameters[p].name].clear();
        }
        for (std::size_t i = 0; i < size_; ++i) {
            const std::vector<double> of_neuron = parameters(differs, shared);
            for (std::size_t p = 0; p < shared.size(); ++p) {
                if (differs[p]) options.values[model_.parameters[p].name].push_back(of_neuron[p]);
            }
        }
        for (const VariableInfo& variable : model_.variables) {
            if (variable.is_read_only) continue;
            std::vector<double> values;
            for (std::size_t i = 0; i < size_; ++i) values.push_back(initial(variable));
            options.values[variable.name] = values;
        }
        GroupDriver driver(model_, options);
        make_refractory(driver.group());
        return driver;
    }

    /// Inputs of a step, which the driver gets too.
    std::vector<std::vector<std::optional<double>>> inputs(GroupDriver& driver) {
        std::vector<std::vector<std::optional<double>>> all(model_.receptors.size());
        for (std::size_t r = 0; r < all.size(); ++r) {
            for (std::size_t i = 0; i < size_; ++i) {
                auto& sum = all[r].emplace_back();
                for (int spikes = static_cast<int>(random_() % 8) - 4; spikes > 0; --spikes) {
                    const double weight = this->weight(r);
                    driver.give(r, i, weight);
                    sum = sum ? *sum + weight : -0.0 + weight;
                }
            }
        }
        return all;
    }

    std::vector<double> current() {
        std::vector<double> all;
        for (std::size_t i = 0; i < size_; ++i) all.push_back(400.0 * (uniform_(random_) - 0.4));
        return all;
    }

   private:
    /// Valid parameters; those that do not differ are the given ones.
    std::vector<double> parameters(const std::vector<bool>& differs, const std::vector<double>& shared) {
        for (;;) {
            std::vector<double> values;
            for (std::size_t p = 0; p < differs.size(); ++p) {
                values.push_back(differs[p] ? parameter(model_.parameters[p]) : shared[p]);
            }
            if (!model_.conflict(values, resolution)) return values;
        }
    }

    double parameter(const ParameterInfo& info) {
        if (info.name == "V_min") return random_() % 2 == 0 ? info.default_value : -71.0 + uniform_(random_);
        if (info.name == "t_ref") return 3.0 * uniform_(random_);
        if (info.name == "I_e") return 900.0 * uniform_(random_);
        const double value = info.default_value * (0.95 + 0.1 * uniform_(random_));
        return info.bounds.contains(value) ? value : info.default_value;
    }

    /// Among others a subnormal number, which groups replace by 0, and numbers that become subnormal.
    double initial(const VariableInfo& variable) {
        if (!variable.initial_parameter.empty()) return -75.0 + 25.0 * uniform_(random_);
        if (random_() % 2 == 0) return variable.initial_value * uniform_(random_);
        return std::vector{0.0, -0.0, 1e-310, 3e-308, 1e-40, 2e-38, variable.initial_value}[random_() % 7];
    }

    /// Even neurons above the threshold, which fire nevertheless.
    void make_refractory(NeuronGroup& group) {
        auto columns = saved(group, size_);
        const auto found = std::ranges::find(columns, "refractory_steps", &StateColumns::Column::name);
        for (std::int32_t& steps : std::get<std::vector<std::int32_t>>(found->values)) {
            steps = static_cast<std::int32_t>(random_() % 2 * (random_() % 20));
        }
        StateColumns loading(std::move(columns));
        for (std::uint32_t i = 0; i < size_; ++i) {
            loading.seek(i);
            group.serialize_state(i, 0, loading);
        }
    }

    double weight(std::size_t receptor) {
        const std::string_view unit = model_.weight_unit;
        const double size = unit == "pA" ? 1000.0 : unit == "nS" ? 25.0 : 4.0;
        if (random_() % 8 == 0) return 0.0;
        if (model_.sign_chooses_receptor) return (receptor == 0 ? size : -0.1 * size) * uniform_(random_);
        return size * (unit == "nS" ? uniform_(random_) : uniform_(random_) - 0.2);
    }

    static constexpr double resolution = 0.1;
    const NeuronModel& model_;
    std::size_t size_;
    std::mt19937 random_;
    std::uniform_real_distribution<double> uniform_;
};

struct Counts {
    std::size_t spikes = 0;
    std::size_t refractory = 0;  ///< refractory neurons in all steps
};

/// Advances a group and its program.
Counts compare(const NeuronModel& model, std::size_t size, bool per_neuron, InstructionSet set, int steps,
               unsigned seed, bool has_current = true, Precision precision = Precision::double_precision) {
    Scene scene(model, size, seed);
    GroupDriver driver = scene.driver(per_neuron, set, precision);
    const std::optional<StepProgram> program = driver.group().step_program(has_current);
    EXPECT_TRUE(program.has_value());
    if (!program) return {};
    EXPECT_NO_THROW((void)program::check(*program->step, "step", true));
    EXPECT_EQ(program->step->inputs.size(), program->variables.size() + program->constants.size() +
                                                model.receptors.size() + (program->takes_current ? 1 : 0) +
                                                (program->needs_last ? 2 : 1));
    Device device(*program, state_of(driver.group(), *program, size));
    Counts counts;
    for (int n = 1; n <= steps; ++n) {
        const auto inputs = scene.inputs(driver);
        std::vector<double> current;
        // Equations take one also where none is injected.
        if (program->takes_current && (has_current || n > steps / 2)) current = scene.current();
        driver.give_current(current);
        for (const std::int32_t left : device.state().refractory) counts.refractory += left > 0 ? 1 : 0;
        const std::vector<std::uint32_t> fired = driver.step();
        counts.spikes += fired.size();
        const bool are_equal = device.step(inputs, current) == fired &&
                               ((n > 3 && n % 20 != 0) || device.state() == state_of(driver.group(), *program, size));
        EXPECT_TRUE(are_equal) << "step " << n;
        if (!are_equal) break;
    }
    EXPECT_TRUE(driver.group().is_finite());
    EXPECT_FALSE(driver.group().has_failed());
    return counts;
}

TEST(StepPrograms, OfPointNeuronsGiveTheBitsOfTheirGroups) {
    std::vector<std::string_view> names;
    for (const NeuronModel* const model : neuron_models()) {
        if (model->is_source) continue;
        EXPECT_EQ(GroupDriver(*model, {}).group().step_program(false).has_value(),
                  model->has_step_program(Precision::double_precision));
        if (!model->has_step_program(Precision::double_precision)) continue;
        names.push_back(model->name);
        Counts all;
        for (const std::size_t size : {5, 70}) {
            for (const auto& [per_neuron, has_current] :
                 {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
                SCOPED_TRACE(std::string(model->name) + (per_neuron ? ", per neuron, " : ", ") + std::to_string(size) +
                             (has_current ? ", with a current" : ""));
                const Counts counts = compare(*model, size, per_neuron, detect_instruction_set(), 300, 3, has_current);
                all.spikes += counts.spikes;
                all.refractory += counts.refractory;
            }
        }
        EXPECT_GE(all.spikes, 100U);
        EXPECT_GE(all.refractory, 1000U);
    }
    EXPECT_EQ(names, (std::vector<std::string_view>{"iaf_cond_nmda", "iaf_psc_alpha", "iaf_psc_delta", "iaf_psc_exp"}));
}

#if defined(LIBRARY_PROGRAMS)
TEST(StepPrograms, OfEquationsGiveTheBitsOfTheirGroups) {
    std::size_t compared = 0;
    for (const auto& model : library_models()) {
        SCOPED_TRACE(std::string(model->name));
        EXPECT_TRUE(model->has_step_program(Precision::double_precision));
        ++compared;
        std::size_t spikes = 0;
        for (const bool per_neuron : {false, true}) {
            spikes += compare(*model, 5, per_neuron, detect_instruction_set(), 200, 5, false).spikes;
        }
        EXPECT_GE(spikes, 1U);
    }
    EXPECT_GE(compared, 20U);
}
#endif

TEST(StepPrograms, FollowParameters) {
    GroupDriver driver("iaf_psc_exp", {.size = 3});
    const auto before = driver.group().step_program(false);
    driver.set("t_ref", {1.0, 2.0, 3.0});
    driver.set("I_e", {100.0});
    const auto after = driver.group().step_program(false);
    ASSERT_TRUE(before && after);
    EXPECT_EQ(before->step, after->step);
    EXPECT_EQ(before->refractory_steps, (std::vector<std::int32_t>{20}));
    EXPECT_EQ(after->refractory_steps, (std::vector<std::int32_t>{10, 20, 30}));
    EXPECT_NE(before->constants, after->constants);
    for (const auto& constant : after->constants) EXPECT_EQ(constant.size(), 1U);
}

TEST(StepPrograms, GiveTheBitsOfGroupsInSinglePrecision) {
    constexpr Precision single = Precision::single_precision;
    std::vector<std::string_view> names;
    for (const NeuronModel* const model : neuron_models()) {
        if (!model->has_step_program(Precision::double_precision)) continue;
        EXPECT_EQ(GroupDriver(*model, {.precision = single}).group().step_program(true).has_value(),
                  model->has_step_program(single));
        if (!model->has_step_program(single)) continue;
        names.push_back(model->name);
        Counts all;
        for (unsigned seed = 1; seed <= 4; ++seed) {
            SCOPED_TRACE(std::string(model->name) + " " + std::to_string(seed));
            const Counts counts =
                compare(*model, 70, seed % 2 == 0, detect_instruction_set(), 1500, seed, seed > 2, single);
            all.spikes += counts.spikes;
            all.refractory += counts.refractory;
        }
        EXPECT_GE(all.spikes, 100U);
        EXPECT_GE(all.refractory, 1000U);
    }
    // Exponentials are calculated in double precision.
    EXPECT_EQ(names, (std::vector<std::string_view>{"iaf_psc_alpha", "iaf_psc_delta", "iaf_psc_exp"}));
}

TEST(StepPrograms, OfPointNeuronsHaveNoSuperfluousInstructions) {
    const auto count = [](std::string_view model, Operation operation) {
        return std::ranges::count(GroupDriver(model, {}).group().step_program(false)->step->instructions, operation,
                                  &program::Instruction::operation);
    };
    // Refractoriness and reset, and the lower limit.
    EXPECT_EQ(count("iaf_psc_exp", Operation::select), 2);
    EXPECT_EQ(count("iaf_psc_alpha", Operation::select), 3);
    EXPECT_EQ(count("iaf_psc_exp", Operation::multiply), 5);
    EXPECT_EQ(count("iaf_psc_exp", Operation::add), 5);
    EXPECT_EQ(count("iaf_psc_exp", Operation::constant), 0);
}

/// Branches on several truths, some of them twice.
template <class Number>
std::vector<Number> branching(Number a, Number b, bool truth) {
    Number c = std::max(a, b) - 2.0 * a;
    if (a < b && !(c == 0.5)) c = truth ? -c : c / b;
    const Number d = a >= 0.25 || truth ? c * c : c + 1.0;
    return {c, d, Number{3.0} - 1.0};
}

TEST(TracedNumber, SelectsByTheTruthsOnWhichCodeBranches) {
    Tracer tracer({Type::number, Type::number, Type::truth});
    const auto traced = tracer.follow(
        [&] { return branching(tracer.number(0), tracer.number(1), static_cast<bool>(tracer.truth(2))); });
    for (const TracedNumber& number : traced) tracer.give(number);
    const program::Program made = std::move(tracer).finish();
    EXPECT_NO_THROW((void)program::check(made, "traced", false));
    std::mt19937 random(1);
    for (int n = 0; n < 1000; ++n) {
        const double a = 0.25 * static_cast<double>(random() % 7);
        const double b = 0.25 + 0.25 * static_cast<double>(random() % 7);
        const bool truth = random() % 2 == 0;
        EXPECT_EQ(program::evaluate(made, std::vector{a, b, program::lane::to_lane(truth)}), branching(a, b, truth));
    }
}

TEST(TracedNumber, RefusesToFollowTooManyBranches) {
    Tracer tracer({Type::number});
    EXPECT_THROW((void)tracer.follow([&] {
        TracedNumber sum = 0.0;
        for (int i = 0; i < 11; ++i) sum = tracer.number(0) < static_cast<double>(i) ? sum + 1.0 : sum * 2.0;
        return std::vector{sum};
    }),
                 InternalError);
}

}  // namespace TEST_FILE
