#include "models/equations/program_group.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/subnormals.hpp"
#include "base/tight_list.hpp"
#include "models/equations/program_constants.hpp"
#include "models/equations/program_model.hpp"
#include "models/equations/program_observer.hpp"
#include "models/equations/program_stepper.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

namespace {

/// Steps are counted in 32 bits, as in the step function; the clock is reset long before it overflows.
constexpr std::int32_t latest_clock = 1 << 30;

constexpr std::size_t padded(std::size_t count) {
    const std::size_t whole = (count + program::lane_multiple - 1) / program::lane_multiple * program::lane_multiple;
    return std::max(whole, program::lane_multiple);
}

/// All values that follow from parameters. Subnormal numbers are flushed to 0 as in steps, since a part of each step
/// is precalculated here.
struct Settings {
    Settings(const ProgramModel& model, ProgramConstants new_constants, const GroupArguments& arguments)
        : constants(std::move(new_constants)),
          stepper(model, constants, arguments),
          observer(model.description(), constants, arguments) {}

    ProgramConstants constants;
    ProgramStepper stepper;
    ProgramObserver observer;
};

class ProgramGroup final : public NeuronGroup {
   public:
    ProgramGroup(const ProgramModel& model, const GroupArguments& arguments)
        : model_(model),
          arguments_(arguments),
          size_(arguments.ids.size()),
          state_(variable_count(), AlignedVector<double>(arguments.memory)),
          release_(padded(size_), 0, arguments.memory),
          settings_(make_settings(arguments.parameters)) {
        if (arguments.precision == Precision::single_precision) {
            throw InternalError("neurons new_constants of equations have no state in single precision");
        }
        // The arrays belong to the caller.
        arguments_.parameters = {};
        arguments_.variables = {};
        arguments_.spike_steps = {};
        for (std::size_t v = 0; v < state_.size(); ++v) {
            state_[v].assign(padded(size_), 0.0);
            // The padding of the last block starts like the first neuron.
            for (std::size_t i = 0; i < state_[v].size() && size_ > 0; ++i) {
                state_[v][i] = without_subnormal(arguments.variables[v][i < size_ ? i : 0]);
            }
        }
    }

    std::size_t update(const UpdateArguments& arguments) override {
        make_clock_ready(1);
        ++clock_;
        const FlushSubnormals flush;
        std::size_t fired = 0;
        for (std::size_t begin = 0; begin < size_; begin += settings_->stepper.lanes_of(size_ - begin)) {
            fired += advance_block(begin, clock_, arguments, arguments.spikes + fired);
        }
        return fired;
    }

    /// Takes each block through all steps before the next one, so that its state stays in the cache.
    void advance(const AdvanceArguments& arguments) override {
        const auto steps = static_cast<std::int32_t>(arguments.last - arguments.first + 1);
        make_clock_ready(steps);
        const FlushSubnormals flush;
        for (std::size_t begin = 0; begin < size_; begin += settings_->stepper.lanes_of(size_ - begin)) {
            advance_block(begin, arguments);
        }
        clock_ += steps;
    }

    std::size_t largest_output() const override { return size_; }

    bool is_finite() const override { return !not_finite(); }

    std::optional<GroupFailure> failure() const override {
        if (failed_) {
            const std::string& what = model_.description().failure;
            return GroupFailure{
                .what = what.empty() ? "a loop has not ended within its maximum number of iterations" : what,
                .variable = "the step",
                .neuron = static_cast<std::uint32_t>(failed_->neuron),
                .step = failed_->step};
        }
        const auto found = not_finite();
        if (!found) return std::nullopt;
        const auto [variable, neuron] = *found;
        return GroupFailure{.what = model_.description().variables[variable].name + " of " + name_of(neuron) +
                                    " has become " + to_text(state_[variable][neuron])};
    }

    void read(std::size_t variable, std::span<const std::uint32_t> neurons, double* out) const override {
        if (variable >= state_.size()) {
            const FlushSubnormals flush;
            settings_->observer.read(variable - state_.size(), state_, settings_->constants, neurons, out);
            return;
        }
        for (std::size_t k = 0; k < neurons.size(); ++k) out[k] = state_[variable][neurons[k]];
    }

    void write(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) override {
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            state_[variable][neurons[k]] = without_subnormal(values[k]);
        }
    }

    void check(std::size_t variable, std::span<const std::uint32_t> /*neurons*/,
               const double* /*values*/) const override {
        if (variable >= state_.size()) throw InternalError("a derived variable was written to");
    }

    void serialize_state(std::uint32_t neuron, Step /*now*/, StateColumns& columns) override {
        for (std::size_t v = 0; v < state_.size(); ++v) {
            columns.serialize(saved_name(model_.description().variables[v]), state_[v][neuron]);
            if (columns.loads()) state_[v][neuron] = without_subnormal(state_[v][neuron]);
        }
        std::int32_t refractory = std::max(release_[neuron] - clock_, 0);
        columns.serialize("refractory_steps", refractory);
        if (columns.loads()) release_[neuron] = clock_ + refractory;
    }

    std::optional<StepProgram> step_program(bool /*has_current*/) const override {
        const ProgramDescription& description = model_.description();
        const std::size_t inputs = description.variables.size() + description.constants + description.receptors.size() +
                                   (description.takes_current ? 1 : 0) + 1;
        StepProgram made;
        made.step = model_.step();
        made.takes_current = description.takes_current;
        made.needs_last = description.step.inputs.size() > inputs;
        made.no_input = 0.0;
        for (const ProgramVariable& variable : description.variables) made.variables.push_back(saved_name(variable));
        for (const auto& values : settings_->constants.values) made.constants.push_back(unpadded(values));
        made.refractory_steps = unpadded(settings_->constants.refractory_steps);
        made.key = arguments_.key;
        return made;
    }

    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues> parameters) override {
        return std::make_unique<Change>(*this, make_settings(parameters));
    }

   private:
    class Change final : public ParameterChange {
       public:
        Change(ProgramGroup& group, std::unique_ptr<Settings> settings)
            : group_(group), settings_(std::move(settings)) {}
        void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const override {
            group_.check(variable, neurons, values);
        }
        void apply() noexcept override {
            group_.settings_->constants.take(settings_->constants);
            std::swap(group_.settings_->constants, settings_->constants);
            std::swap(group_.settings_, settings_);
        }

       private:
        ProgramGroup& group_;
        std::unique_ptr<Settings> settings_;
    };

    /// The place of a condition that does not hold after a step.
    struct Failure {
        Step step;
        std::size_t neuron;
        auto operator<=>(const Failure&) const = default;
    };

    static std::string saved_name(const ProgramVariable& variable) { return "variable_" + variable.name; }

    /// One value for all neurons, or one for each.
    template <class T>
    std::vector<T> unpadded(const AlignedVector<T>& values) const {
        const std::size_t count = values.size() == 1 ? 1 : size_;
        return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
    }

    std::size_t variable_count() const { return model_.description().variables.size(); }

    std::unique_ptr<Settings> make_settings(std::span<const GroupValues> parameters) const {
        ProgramConstants constants = make_constants({.model = &model_,
                                                     .parameters = parameters,
                                                     .size = size_,
                                                     .padded = padded(size_),
                                                     .h = arguments_.resolution,
                                                     .instruction_set = arguments_.instruction_set,
                                                     .memory = arguments_.memory,
                                                     .name_of = [&](std::size_t neuron) { return name_of(neuron); }});
        const FlushSubnormals flush;
        return std::make_unique<Settings>(model_, std::move(constants), arguments_);
    }

    std::string name_of(std::size_t neuron) const {
        return "neuron " + std::to_string(arguments_.ids[neuron].value - arguments_.population_first.value);
    }

    /// Variable and neuron of the first value that is not finite.
    std::optional<std::pair<std::size_t, std::size_t>> not_finite() const {
        for (std::size_t v = 0; v < state_.size(); ++v) {
            constexpr double greatest = std::numeric_limits<double>::max();
            const double* const values = state_[v].data();
            std::uint64_t bad = 0;
            for (std::size_t i = 0; i < size_; ++i) {
                bad |= values[i] <= greatest && values[i] >= -greatest ? 0 : ~std::uint64_t{0};
            }
            if (bad == 0) continue;
            const auto found =
                std::find_if_not(values, values + size_, [](double value) { return std::isfinite(value); });
            return std::pair{v, static_cast<std::size_t>(found - values)};
        }
        return std::nullopt;
    }

    void make_clock_ready(std::int32_t steps) {
        if (clock_ < latest_clock - steps) return;
        for (std::int32_t& release : release_) release = std::max(release - clock_, 0);
        clock_ = 0;
    }

    /// Advances the block at `begin` by a step; returns the number of neurons that fire.
    std::size_t advance_block(std::size_t begin, std::int32_t clock, const UpdateArguments& arguments,
                              std::uint32_t* spikes) {
        const std::size_t lanes = std::min(settings_->stepper.lanes_of(size_ - begin), padded(size_) - begin);
        const std::size_t valid = std::min(lanes, size_ - begin);
        const std::uint32_t flags = settings_->stepper.advance({arguments_.ids, state_, release_}, settings_->constants,
                                                               {.begin = begin,
                                                                .lanes = lanes,
                                                                .valid = valid,
                                                                .step = arguments.step,
                                                                .clock = clock,
                                                                .inputs = arguments.inputs,
                                                                .current = arguments.current});
        if ((flags & program::some_fail) != 0) note_failure(begin, valid, arguments.step);
        return (flags & program::some_fire) != 0 ? release_fired(begin, valid, clock, spikes) : 0;
    }

    void advance_block(std::size_t begin, const AdvanceArguments& arguments) {
        std::vector<double*> inputs(arguments.inputs.size());
        std::size_t observed = 0;
        std::int32_t clock = clock_;
        for (Step step = arguments.first; step <= arguments.last; ++step) {
            for (std::size_t r = 0; r < inputs.size(); ++r) inputs[r] = arguments.inputs[r].row(step);
            const bool has_current = arguments.current.data != nullptr;
            const std::size_t fired = advance_block(
                begin, ++clock,
                {.step = step, .inputs = inputs.data(), .current = has_current ? arguments.current.row(step) : nullptr},
                arguments.room);
            for (std::size_t i = 0; i < fired; ++i) append(*arguments.spikes, GroupSpike{step, arguments.room[i]});
            if (observed == arguments.observed.size() || arguments.observed[observed] != step) continue;
            ++observed;
            arguments.observer->observe(step, begin,
                                        std::min(begin + settings_->stepper.lanes_of(size_ - begin), size_));
        }
    }

    std::size_t release_fired(std::size_t begin, std::size_t valid, std::int32_t clock, std::uint32_t* spikes) {
        const AlignedVector<std::int32_t>& steps = settings_->constants.refractory_steps;
        std::size_t fired = 0;
        settings_->stepper.for_each_that_fires(valid, [&](std::size_t lane) {
            const std::size_t neuron = begin + lane;
            release_[neuron] = clock + steps[steps.size() == 1 ? 0 : neuron];
            spikes[fired++] = static_cast<std::uint32_t>(neuron);
        });
        return fired;
    }

    void note_failure(std::size_t begin, std::size_t valid, Step step) {
        settings_->stepper.for_each_that_fails(valid, [&](std::size_t lane) {
            const Failure found{step, begin + lane};
            failed_ = std::min(failed_.value_or(found), found);
        });
    }

    const ProgramModel& model_;
    GroupArguments arguments_;
    std::size_t size_;
    std::vector<AlignedVector<double>> state_;
    AlignedVector<std::int32_t> release_;
    std::int32_t clock_ = 0;
    std::unique_ptr<Settings> settings_;
    std::optional<Failure> failed_;  ///< the first failure
};

}  // namespace

std::unique_ptr<NeuronGroup> create_program_group(const ProgramModel& model, const GroupArguments& arguments) {
    return std::make_unique<ProgramGroup>(model, arguments);
}

}  // namespace ranvier::models
