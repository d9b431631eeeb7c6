#include "models/equations/program_release.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory_resource>
#include <string_view>

#include "base/subnormals.hpp"
#include "connect/plasticity/row_factor_table.hpp"
#include "models/synapses/width_dispatch.hpp"
#include "program/domains.hpp"
#include "program/evaluate.hpp"
#include "program/interpreter.hpp"
#include "program/intervals.hpp"
#include "program/operations.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

namespace {

using program::InputForm;
using program::Interpreter;
using program::Interval;
using program::OutputForm;
using program::Type;

constexpr std::size_t most_states = ReleaseProgramDescription::most_states;
/// The same factor by which weights without a bound may grow. Contributions to inputs are rounded to a fraction of
/// the greatest possible one.
constexpr double most_released = 256.0;

[[noreturn]] void refuse(const ReleaseProgramDescription& description, std::string_view what, std::string value,
                         std::string bound) {
    throw ValueOutOfBoundsError({.object = std::string(what) + " of synapse model '" + description.name + "'",
                                 .value = std::move(value),
                                 .bound = std::move(bound),
                                 .remedy = "models are made of equations by ranvier.synapse()"});
}

/// Checks that the inputs of a program are numbers, that it has at least so many results, and that the first of these
/// are numbers.
void check_program(const ReleaseProgramDescription& description, std::string_view what, const program::Program& given,
                   std::size_t inputs, std::size_t numbers) {
    (void)program::check(given, std::string(what) + " of " + description.name, false);
    if (given.inputs.size() != inputs) {
        refuse(description, "inputs of '" + std::string(what) + "'", std::to_string(given.inputs.size()),
               "there must be " + std::to_string(inputs));
    }
    for (const Type type : given.inputs) {
        if (type != Type::number) refuse(description, what, std::string(to_string(type)), "its inputs are numbers");
    }
    const std::vector<Type> types = program::result_types(given);
    if (types.size() < numbers) {
        refuse(description, "results of '" + std::string(what) + "'", std::to_string(types.size()),
               "there must be at least " + std::to_string(numbers));
    }
    for (std::size_t i = 0; i < numbers; ++i) {
        if (types[i] != Type::number) refuse(description, what, std::string(to_string(types[i])), "states are numbers");
    }
}

/// Applies spikes to the states of rows, many rows at a time. Each table has a separate instance, which one thread
/// uses at a time.
class Release {
   public:
    struct State {
        std::array<double, most_states> values{};
        Step last = never;
    };
    static constexpr Step never = -1;

    Release(std::shared_ptr<const ReleaseProgramDescription> description, std::span<const double> parameters,
            double resolution, std::pmr::memory_resource* memory)
        : description_(std::move(description)),
          names_(description_->states.begin(), description_->states.end()),
          parameters_(parameters.begin(), parameters.end()),
          resolution_(resolution),
          interpreter_(code_of(*description_, parameters), InstructionSet::baseline, memory),
          lanes_((2 * states() + 2) * block, 0.0, memory) {
        const std::vector<double> made = program::evaluate(description_->prepare, parameters);
        for (std::size_t k = 0; k < states(); ++k) first_.values[k] = without_subnormal(made[k]);
    }

    static program::BlockCode code_of(const ReleaseProgramDescription& description,
                                      std::span<const double> parameters) {
        const std::size_t states = description.states.size();
        std::vector<InputForm> inputs(states + 1, InputForm{.kind = InputForm::Kind::lanes});
        for (const double value : parameters) inputs.push_back({.kind = InputForm::Kind::uniform, .value = value});
        std::vector<OutputForm> outputs;
        outputs.reserve(description.release.results.size());
        for (const std::uint32_t result : description.release.results) {
            outputs.push_back({.result = result, .kind = OutputForm::Kind::lanes});
        }
        return program::lower(description.release, inputs, outputs);
    }
    static std::size_t bytes(const ReleaseProgramDescription& description, std::span<const double> parameters) {
        return Interpreter::bytes(code_of(description, parameters)) +
               (2 * description.states.size() + 2) * block * sizeof(double);
    }

    std::span<const std::string_view> names() const { return names_; }
    const State& first() const { return first_; }
    const std::optional<connect::RowFailure>& failure() const { return failure_; }

    /// As connect::FactorRule::of_row, by evaluating the program.
    std::function<double(double*, Step&, Step)> of_row() const {
        return [description = description_, parameters = parameters_, resolution = resolution_](double* values,
                                                                                                Step& last, Step step) {
            const std::size_t count = description->states.size();
            std::vector<double> inputs(values, values + count);
            inputs.push_back(last == never ? 0.0 : static_cast<double>(step - last) * resolution);
            inputs.insert(inputs.end(), parameters.begin(), parameters.end());
            const FlushSubnormals flush;
            const std::vector<double> results = program::evaluate(description->release, inputs);
            std::copy_n(results.begin(), count, values);
            last = step;
            return results[count];
        };
    }

    /// Calculates the factors of a spike of each of some rows, and updates their states.
    void release(InstructionSet set, State* states, std::span<const RowIndex> rows, Step now, double* factors) {
        interpreter_.use(set);
        for (std::size_t i = 0; i <= this->states(); ++i) interpreter_.set_input(i, input(i));
        for (std::size_t i = 0; i <= this->states(); ++i) interpreter_.set_output(i, output(i));
        const FlushSubnormals flush;
        for (std::size_t begin = 0; begin < rows.size();) {
            begin +=
                release_some(states, rows.subspan(begin, std::min(block, rows.size() - begin)), now, factors + begin);
        }
    }

   private:
    /// Marks a row whose spike is being calculated, in place of the step of its last spike.
    static constexpr Step pending = -2;
    static constexpr std::size_t block = 64;
    static_assert(block % program::lanes_of_kernel == 0);

    std::size_t states() const { return description_->states.size(); }
    double* input(std::size_t place) { return lanes_.data() + place * block; }
    double* output(std::size_t place) { return input(states() + 1 + place); }

    /// Handles the first rows, up to the first row that occurs for the second time because its source fires several
    /// times in this step: each spike depends on the state after the previous one. Returns the number of rows.
    std::size_t release_some(State* states, std::span<const RowIndex> rows, Step now, double* factors) {
        const std::size_t count = this->states();
        std::size_t some = 0;
        for (; some < rows.size() && states[rows[some].value].last != pending; ++some) {
            State& state = states[rows[some].value];
            for (std::size_t k = 0; k < count; ++k) input(k)[some] = state.values[k];
            input(count)[some] = state.last == never ? 0.0 : static_cast<double>(now - state.last) * resolution_;
            state.last = pending;
        }
        const std::size_t lanes =
            (some + program::lanes_of_kernel - 1) / program::lanes_of_kernel * program::lanes_of_kernel;
        interpreter_.run({.lanes = lanes, .valid = some});
        for (std::size_t i = 0; i < some; ++i) {
            State& state = states[rows[i].value];
            for (std::size_t k = 0; k < count; ++k) {
                state.values[k] = made(k, i);
                if (!failure_ && !std::isfinite(state.values[k])) failure_ = {names_[k], state.values[k], rows[i], now};
            }
            state.last = now;
            factors[i] = made(count, i);
        }
        return some;
    }
    double made(std::size_t result, std::size_t lane) {
        return interpreter_.code().uniform[result].value_or(output(result)[lane]);
    }

    std::shared_ptr<const ReleaseProgramDescription> description_;
    std::vector<std::string_view> names_;
    std::vector<double> parameters_;
    double resolution_;  ///< ms
    Interpreter interpreter_;
    AlignedVector<double> lanes_;  ///< inputs, then outputs
    State first_;
    std::optional<connect::RowFailure> failure_;
};

/// Ranges of the inputs of `release`; variables are unbounded.
std::vector<Interval> inputs_of(const ReleaseProgramDescription& description, std::span<const double> parameters) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<Interval> inputs(description.states.size(), Interval{-infinity, infinity});
    inputs.push_back({0.0, infinity});
    for (const double value : parameters) inputs.push_back(Interval::of(value));
    return inputs;
}

/// Why `release` may be undefined, such as a division by 0, without making a variable infinite or NaN. Variables are
/// checked when spikes arrive.
std::optional<std::string> undefined_release(const ReleaseProgramDescription& description,
                                             std::span<const double> parameters) {
    using Outcome = program::DomainCheck::Outcome;
    const auto found = program::check_domains(description.release, inputs_of(description, parameters));
    for (std::size_t i = 0; i < found.size(); ++i) {
        const bool is_state = i < description.states.size();
        if (found[i].outcome < (is_state ? Outcome::hidden : Outcome::shown)) continue;
        return "on_pre" + program::undefined(found[i].operation.value()) +
               " for some values of its variables: write max(x, ...), or where(x > 0, ..., 0)";
    }
    return std::nullopt;
}

/// The rule of a connect::RowFactorTable.
struct ReleaseRule {
    using State = Release::State;
    using Constants = std::shared_ptr<Release>;

    static State initial(const Constants& release) { return release->first(); }
    static std::span<const std::string_view> names(const Constants& release) { return release->names(); }
    static std::optional<connect::RowFailure> failure(const Constants& release) { return release->failure(); }
    static std::function<double(double*, Step&, Step)> of_row(const Constants& release) { return release->of_row(); }
    static void release_rows(InstructionSet set, State* states, std::span<const RowIndex> rows, Step now,
                             const Constants& release, double* factors) {
        release->release(set, states, rows, now, factors);
    }
};

class ReleaseDynamics final : public WidthDispatch<ReleaseDynamics> {
   public:
    ReleaseDynamics(std::shared_ptr<const ReleaseProgramDescription> description, std::span<const double> parameters,
                    double resolution)
        : description_(std::move(description)),
          parameters_(parameters.begin(), parameters.end()),
          greatest_(greatest_release(*description_, parameters_).value_or(0.0)),
          resolution_(resolution) {}

    double least_weight() const override { return -std::numeric_limits<double>::infinity(); }
    double greatest_weight() const override { return std::numeric_limits<double>::infinity(); }
    // The greatest factor is 0 if no weight is released.
    double greatest_factor() const override { return std::max(greatest_, 1.0); }
    bool runs_on_device() const override { return true; }

    connect::PlasticTableMemory memory(bool /*double_weights*/) const override {
        // The same for all widths of targets and weights.
        connect::PlasticTableMemory memory = connect::RowFactorTable<ReleaseRule, std::uint16_t, float>::memory();
        memory.constant_bytes += Release::bytes(*description_, parameters_);
        return memory;
    }

   private:
    friend class WidthDispatch<ReleaseDynamics>;

    template <class Target, class Weight>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Weight> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        const auto release = std::make_shared<Release>(description_, parameters_, resolution_, arguments.synapses);
        return std::make_unique<connect::RowFactorTable<ReleaseRule, Target, Weight>>(std::move(columns), release,
                                                                                      arguments);
    }

    std::shared_ptr<const ReleaseProgramDescription> description_;
    std::vector<double> parameters_;
    double greatest_;
    double resolution_;
};

}  // namespace

void check(const ReleaseProgramDescription& description) {
    if (description.name.empty()) refuse(description, "name", "''", "a model needs a name");
    check_synapse_parameters(description.parameters,
                             [&](const std::string& what, const std::string& value, const std::string& bound) {
                                 refuse(description, what, value, bound);
                             });
    const std::size_t states = description.states.size();
    if (states > most_states) {
        refuse(description, "variables", std::to_string(states), "there can be " + std::to_string(most_states));
    }
    const std::size_t parameters = description.parameters.size();
    check_program(description, "prepare", description.prepare, parameters, states);
    check_program(description, "release", description.release, states + 1 + parameters, states + 1);
    if (description.release.results.size() != states + 1) {
        refuse(description, "results of 'release'", std::to_string(description.release.results.size()),
               "there must be " + std::to_string(states + 1));
    }
    for (const program::Instruction& instruction : description.release.instructions) {
        if (instruction.operation == program::Operation::loop) refuse(description, "release", "a loop", "it has none");
    }
    const std::vector<Type> types = program::result_types(description.prepare);
    for (const Condition& condition : description.conditions) {
        if (condition.result < types.size() && types[condition.result] == Type::truth) continue;
        refuse(description, "a condition", std::to_string(condition.result),
               "it must be a truth among the results of 'prepare'");
    }
}

std::uint64_t fingerprint_of(const ReleaseProgramDescription& description) {
    DescriptionHash hash;
    hash.text("release");
    hash.text(description.name);
    hash.text(description.weight_unit);
    add(hash, description.parameters);
    hash.whole(description.states.size());
    for (const std::string& state : description.states) hash.text(state);
    add(hash, description.prepare);
    for (const Condition& condition : description.conditions) hash.whole(condition.result);
    add(hash, description.release);
    return hash.value();
}

std::optional<double> greatest_release(const ReleaseProgramDescription& description,
                                       std::span<const double> parameters) {
    const std::vector<Interval> inputs = inputs_of(description, parameters);
    const Interval released = program::intervals_of(description.release, inputs).back();
    const bool is_bounded = released.low >= 0.0 && std::isfinite(released.high) && !released.may_fail;
    return is_bounded ? std::optional(released.high) : std::nullopt;
}

ProgramRelease::ProgramRelease(ReleaseProgramDescription description) {
    check(description);
    description_ = std::make_shared<const ReleaseProgramDescription>(std::move(description));
    parameters_ = infos_of(description_->parameters);
    model_ = {.name = description_->name,
              .summary = description_->summary,
              .equations = description_->equations,
              .reference = description_->reference,
              .parameters = parameters_,
              .keeps_weights = true,
              .weight_unit = description_->weight_unit,
              .user = this,
              .user_fingerprint = fingerprint_of(*description_)};
}

std::unique_ptr<connect::SynapseDynamics> ProgramRelease::create(std::span<const double> values,
                                                                 double resolution) const {
    return std::make_unique<ReleaseDynamics>(description_, values, resolution);
}

std::optional<std::string> ProgramRelease::conflict(std::span<const double> values,
                                                    std::span<const double> /*greatest*/,
                                                    std::span<const std::uint32_t> /*per_synapse*/) const {
    // Parameters are shared by all synapses.
    const std::vector<double> made = program::evaluate(description_->prepare, values);
    for (const Condition& condition : description_->conditions) {
        if (!program::lane::is_true(made[condition.result])) return condition.text;
    }
    for (std::size_t k = 0; k < description_->states.size(); ++k) {
        if (!std::isfinite(made[k])) return description_->states[k] + " has no finite value at rest";
    }
    if (auto unproven = conflict_of_events(values)) return unproven;
    return undefined_release(*description_, values);
}

std::optional<std::string> ProgramRelease::conflict_of_events(std::span<const double> values) const {
    const std::optional<double> greatest = greatest_release(*description_, values);
    if (!greatest) {
        return "the released part cannot be proven to be >= 0 and bounded: write release = clip(..., 0, 1)";
    }
    if (*greatest <= most_released) return std::nullopt;
    return "the released part can only be proven to be at most " + to_text(*greatest) +
           " times the weight; it must be " + to_text(most_released) +
           " times at most, so that sums of small parts are exact: write release = clip(..., 0, 1)";
}

}  // namespace ranvier::models
