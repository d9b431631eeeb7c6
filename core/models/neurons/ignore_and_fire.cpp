#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/aligned_array.hpp"
#include "models/stimulus_tools.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace ignore_and_fire_parts {

enum Parameter : std::size_t { rate };

constexpr std::array parameters{
    ParameterInfo{"rate", "spikes/s", 10.0, {.lower = 0.0, .upper = 1e6}, "Rate at which it fires"},
};
constexpr std::array variables{
    VariableInfo{.name = "phase",
                 .unit = "",
                 .meaning = "Time to the next spike, in intervals between spikes",
                 .initial_value = 1.0},
};
constexpr std::array<std::string_view, 2> receptors{"excitatory", "inhibitory"};

/// Upper limit of accumulated rounding errors, in intervals.
constexpr double rounding = 1e-9;

/// Clears the inputs of a step and lists the neurons that fire. In nearly all blocks no neuron fires, and many have
/// no input: reading inputs is faster than writing them.
struct StepKernel {
    RANVIER_ALWAYS_INLINE static std::size_t run(double* excitatory, double* inhibitory, const Step* due,
                                                 std::size_t size, Step step, std::uint32_t* spikes) {
        std::size_t fired = 0;
        std::size_t begin = 0;
        for (; begin + block_size <= size; begin += block_size) {
            empty(excitatory + begin);
            empty(inhibitory + begin);
            std::uint64_t any = 0;
            for (std::size_t k = 0; k < block_size; ++k) any |= due[begin + k] <= step ? ~std::uint64_t{0} : 0;
            if (any != 0) list(due, begin, begin + block_size, step, spikes, fired);
        }
        for (std::size_t i = begin; i < size; ++i) excitatory[i] = inhibitory[i] = -0.0;
        list(due, begin, size, step, spikes, fired);
        return fired;
    }

   private:
    static constexpr std::size_t block_size = 64;

    RANVIER_ALWAYS_INLINE static void empty(double* inputs) {
        constexpr std::uint64_t nothing = std::uint64_t{1} << 63;
        std::uint64_t any = 0;
        for (std::size_t k = 0; k < block_size; ++k) any |= std::bit_cast<std::uint64_t>(inputs[k]) ^ nothing;
        if (any == 0) return;
        for (std::size_t k = 0; k < block_size; ++k) inputs[k] = -0.0;
    }

    RANVIER_ALWAYS_INLINE static void list(const Step* due, std::size_t begin, std::size_t end, Step step,
                                           std::uint32_t* spikes, std::size_t& fired) {
        for (std::size_t i = begin; i < end; ++i) {
            if (due[i] <= step) spikes[fired++] = static_cast<std::uint32_t>(i);
        }
    }
};

class IgnoreAndFire final : public NeuronGroup {
   public:
    explicit IgnoreAndFire(const GroupArguments& arguments)
        : size_(arguments.ids.size()),
          resolution_(arguments.resolution),
          instruction_set_(arguments.instruction_set),
          per_step_(derive(arguments.parameters, arguments.memory)),
          left_(size_, arguments.memory),
          since_(size_, 0.0, arguments.memory),
          due_(size_, arguments.memory) {
        for (std::size_t i = 0; i < size_; ++i) put(i, checked(arguments.variables[0][i]));
    }

    std::size_t update(const UpdateArguments& arguments) override {
        step_ = arguments.step;
        const Step* const due = due_.data();
        const std::size_t fired = Dispatched<StepKernel>::call(
            instruction_set_, arguments.inputs[0], arguments.inputs[1], due, size_, step_, arguments.spikes);
        for (std::size_t k = 0; k < fired; ++k) {
            const std::size_t i = arguments.spikes[k];
            const double left = phase(i);
            // An interval of a whole number of steps keeps this number, however many intervals there are.
            put(i, (left < -rounding ? left : 0.0) + 1.0);
        }
        return fired;
    }

    std::size_t largest_output() const override { return size_; }
    bool is_finite() const override {
        return std::ranges::all_of(left_, [](double value) { return std::isfinite(value); });
    }

    void read(std::size_t, std::span<const std::uint32_t> neurons, double* out) const override {
        for (std::size_t k = 0; k < neurons.size(); ++k) out[k] = phase(neurons[k]);
    }
    void write(std::size_t, std::span<const std::uint32_t> neurons, const double* values) override {
        for (std::size_t k = 0; k < neurons.size(); ++k) put(neurons[k], checked(values[k]));
    }
    void check(std::size_t, std::span<const std::uint32_t> neurons, const double* values) const override {
        for (std::size_t k = 0; k < neurons.size(); ++k) (void)checked(values[k]);
    }

    void serialize_state(std::uint32_t neuron, Step now, StateColumns& columns) override {
        if (columns.loads()) step_ = now;
        columns.serialize("left", left_[neuron]);
        columns.serialize("since", since_[neuron]);
        if (columns.loads()) due_[neuron] = due(neuron);
    }

    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues> given) override {
        return std::make_unique<Change>(*this, derive(given, per_step_.values.get_allocator().resource()));
    }

   private:
    class Change final : public ParameterChange {
       public:
        Change(IgnoreAndFire& group, GroupValues per_step) : group_(group), per_step_(std::move(per_step)) {}

        void check(std::size_t, std::span<const std::uint32_t> neurons, const double* values) const override {
            for (std::size_t k = 0; k < neurons.size(); ++k) (void)checked(values[k]);
        }
        void apply() noexcept override {
            // Neurons whose rate does not change must keep their bits: which other neurons are in the group depends
            // on the shards.
            const auto changes = [this](std::size_t i) { return group_.per_step_[i] != per_step_[i]; };
            for (std::size_t i = 0; i < group_.size_; ++i) {
                if (changes(i)) group_.move(i, group_.phase(i));
            }
            std::swap(group_.per_step_, per_step_);
            for (std::size_t i = 0; i < group_.size_; ++i) {
                if (changes(i)) group_.due_[i] = group_.due(i);
            }
        }

       private:
        IgnoreAndFire& group_;
        GroupValues per_step_;
    };

    GroupValues derive(std::span<const GroupValues> given, std::pmr::memory_resource* memory) const {
        GroupValues per_step = given[rate].copy(memory);
        for (double& value : per_step.values) {
            const double spikes_per_second = value;
            value *= resolution_ / 1000.0;
            if (value > 1.0) throw stimulus_tools::too_many_spikes(spikes_per_second, 1.0);
        }
        return per_step;
    }

    static double checked(double phase) {
        if (phase >= 0.0 && phase <= 1.0) return phase;
        throw ValueOutOfBoundsError({.object = "phase",
                                     .value = to_text(phase),
                                     .bound = "it must be >= 0 and <= 1",
                                     .remedy = "give the part of an interval after which the neuron fires"});
    }

    double phase(std::size_t neuron) const { return phase(neuron, static_cast<double>(step_)); }
    double phase(std::size_t neuron, double step) const {
        return left_[neuron] - (step - since_[neuron]) * per_step_[neuron];
    }
    void put(std::size_t neuron, double phase) {
        move(neuron, phase);
        due_[neuron] = due(neuron);
    }
    void move(std::size_t neuron, double phase) {
        left_[neuron] = phase;
        since_[neuron] = static_cast<double>(step_);
    }

    /// The first step after `since_` at whose end the phase has reached 0.
    Step due(std::size_t neuron) const {
        const double first = since_[neuron] + 1.0;
        if (left_[neuron] <= rounding) return static_cast<Step>(first);
        const double steps = (left_[neuron] - rounding) / per_step_[neuron];
        // Later than any run, for example if the rate is 0.
        if (steps > 0x1p52) return std::numeric_limits<Step>::max();
        double found = std::max(since_[neuron] + std::floor(steps), first);
        // Rounding may shift the quotient by one step.
        while (found > first && phase(neuron, found - 1.0) <= rounding) --found;
        while (phase(neuron, found) > rounding) ++found;
        return static_cast<Step>(found);
    }

    std::size_t size_;
    double resolution_;
    InstructionSet instruction_set_;
    Step step_ = 0;
    GroupValues per_step_;  ///< intervals per step
    AlignedVector<double> left_;   ///< part of the present interval left at the end of the step `since_`
    AlignedVector<double> since_;
    AlignedVector<Step> due_;  ///< step of the next spike
};

class IgnoreAndFireModel final : public NeuronModel {
   public:
    constexpr explicit IgnoreAndFireModel(const NeuronInfo& info) : NeuronModel(info) {}

    std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) const override {
        return std::make_unique<IgnoreAndFire>(arguments);
    }

    std::optional<std::string> conflict(std::span<const double> p, std::optional<double> resolution) const override {
        if (!resolution || p[rate] * *resolution / 1000.0 <= 1.0) return std::nullopt;
        return "rate, " + to_text(p[rate]) + " spikes/s, must not give more than one spike in a step";
    }
};

constinit const IgnoreAndFireModel model({
    .name = "ignore_and_fire",
    .summary = "Neuron that fires at a constant rate, whatever arrives",
    .equations = R"(d(phase)/dt = -rate
The neuron fires at the end of the first step in which phase reaches 0; phase then grows by 1. So intervals between
spikes are 1 / rate, rounded to the grid each, and the rate is exact. Spikes that arrive are delivered, and then
ignored: networks of these neurons measure what connections and the exchange of spikes cost, at any size with the same
rates.)",
    .reference = "the model of this name in NEST: T. Isbister et al., NEST simulator, https://nest-simulator.org",
    .parameters = parameters,
    .variables = variables,
    .receptors = receptors,
    .sign_chooses_receptor = true,
    .weight_unit = "pA",
    .ignores_input = true,
    .takes_current = false,
});

}  // namespace ignore_and_fire_parts
}  // namespace

constinit const NeuronModel& ignore_and_fire = ignore_and_fire_parts::model;

}  // namespace ranvier::models
