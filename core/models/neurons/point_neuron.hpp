#pragma once

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
#include <type_traits>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/subnormals.hpp"
#include "base/tight_list.hpp"
#include "models/neurons/clear_inputs.hpp"
#include "models/neurons/leaky_membrane.hpp"
#include "models/neurons/point_neuron_step.hpp"
#include "models/neurons/traced_step.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/neuron.hpp"

/// The machinery behind point neurons that are integrated exactly on the grid. A model is a class with
///
///   - `template <class Real> struct State`: its variables as members of type Real, in the order of
///     NeuronModel::variables; the first one, `potential`, is kept relative to the resting potential;
///   - `template <class Real> struct Constants`: what a step needs of the parameters, again as members of type Real, among
///     them `threshold` and `reset` (relative to the resting potential), `gain_of_constant` (of `drive`, per pA of current) and
///     `drive` (mV: what the parameter I_e adds in a step);
///   - `receptor_count`, and the indices of two parameters, `resting_potential` and `refractory_period`;
///   - `static Constants<double> constants(std::span<const double> parameters, double resolution)`, and
///     `static std::optional<std::string> constants_conflict(const Constants<double>&)`: why these cannot be calculated with;
///   - `template <class Real> static State<Real> step(State<Real>, const Constants<Real>&, const StepInput<Real,
///     receptor_count>&)`, which is RANVIER_ALWAYS_INLINE and free of branches. Real may also be program::TracedNumber.
///
/// From these follow arrays, vectorised loops, threshold, reset and refractoriness, in single and double precision, and
/// the program of a step.
namespace ranvier::models {

namespace point_neuron {

inline constexpr std::size_t steps_together = 16;
/// Maximum number of spikes per call of the loop.
inline constexpr std::size_t most_spikes = neurons_together * steps_together;

inline ValueOutOfBoundsError bad_constants(const std::string& reason, double resolution) {
    return ValueOutOfBoundsError({.object = "parameters of a neuron",
                                  .value = "",
                                  .bound = "in steps of " + to_text(resolution) + " ms, " + reason,
                                  .remedy = "check the units"});
}

/// `latest_clock`: steps are counted in 32 bits, which halves the memory; the clock is reset long before it
/// overflows.
template <class Model, class Real, std::int32_t latest_clock = (1 << 30)>
class Group final : public NeuronGroup {
    using Arrays = StepArrays<Model, Real>;
    /// If constants exceed the registers, even uniform ones are read from memory, and one loop serves all cases.
    static constexpr bool constants_exceed_registers = Arrays::constant_count > 16;

   public:
    explicit Group(const GroupArguments& arguments)
        : size_(arguments.ids.size()),
          resolution_(arguments.resolution),
          instruction_set_(arguments.instruction_set),
          memory_(arguments.memory),
          derived_(derive(arguments.parameters)),
          clearing_(size_ * (Arrays::state_count * sizeof(Real) + 2 * Model::receptor_count * sizeof(double))),
          release_(padded(size_), 0, arguments.memory) {
        for (auto& array : state_) array = AlignedVector<Real>(padded(size_), Real{0}, arguments.memory);
        for (std::size_t v = 0; v < Arrays::state_count; ++v) {
            const GroupValues& initial = arguments.variables[v];
            for (std::size_t i = 0; i < size_; ++i) set_variable(v, i, initial[i]);
        }
    }

    std::size_t update(const UpdateArguments& arguments) override {
        make_clock_ready(1);
        Arrays arrays = state_and_constants();
        arrays.clock = clock_ + 1;
        arrays.steps = 1;
        arrays.clearing = clearing_.next();
        for (std::size_t r = 0; r < Model::receptor_count; ++r) arrays.inputs[r].data = arguments.inputs[r];
        // The current is only read.
        arrays.current.data = const_cast<double*>(arguments.current);
        StepSpike room[most_spikes];
        std::size_t fired = 0;
        std::size_t reached = 0;
        arrays.reached = &reached;
        for (std::size_t begin = 0; begin < size_; begin += most_spikes) {
            arrays.begin = begin;
            arrays.end = std::min(begin + most_spikes, size_);
            for (const StepSpike& spike : run(arrays, room)) arguments.spikes[fired++] = spike.neuron;
        }
        if (arrays.clearing == Clearing::where_needed_and_count) {
            clearing_.learn(size_ / inputs_of_vector * Model::receptor_count, reached);
        }
        ++clock_;
        return fired;
    }

    /// Takes a few blocks at a time through all steps, so that their state stays in the first cache: fetching such
    /// neurons takes longer than calculating them.
    void advance(const AdvanceArguments& arguments) override {
        const Step steps = arguments.last - arguments.first + 1;
        if (steps > latest_clock) return NeuronGroup::advance(arguments);
        make_clock_ready(static_cast<std::int32_t>(steps));
        Arrays arrays = state_and_constants();
        for (std::size_t r = 0; r < Model::receptor_count; ++r) arrays.inputs[r] = arguments.inputs[r];
        arrays.current = arguments.current;
        for (std::size_t begin = 0; begin < size_; begin += neurons_together) {
            arrays.begin = begin;
            arrays.end = std::min(begin + neurons_together, size_);
            advance(arrays, arguments);
        }
        clock_ += static_cast<std::int32_t>(steps);
    }

    /// A potential that the user set above the threshold makes even a refractory neuron fire.
    Step silent_until(Step now) const override {
        std::int32_t steps = std::numeric_limits<std::int32_t>::max();
        for (std::size_t i = 0; i < size_; ++i) {
            const bool is_below = state_[0][i] < threshold(i, std::make_index_sequence<Arrays::constant_count>{});
            steps = std::min(steps, is_below ? release_[i] - clock_ : 0);
        }
        return now + std::max(steps, 0);
    }

    std::size_t largest_output() const override { return size_; }

    bool is_finite() const override {
        return std::ranges::all_of(state_, [](const auto& values) {
            constexpr Real greatest = std::numeric_limits<Real>::max();
            MaskOf<Real> bad = 0;
            for (const Real value : values) bad |= value <= greatest && value >= -greatest ? 0 : MaskOf<Real>{-1};
            return bad == 0;
        });
    }

    void read(std::size_t variable, std::span<const std::uint32_t> neurons, double* out) const override {
        const auto& values = state_[variable];
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            out[k] = static_cast<double>(values[neurons[k]]) + (variable == 0 ? resting_potential(neurons[k]) : 0.0);
        }
    }

    void write(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) override {
        for (std::size_t k = 0; k < neurons.size(); ++k) set_variable(variable, neurons[k], values[k]);
    }

    void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const override {
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            (void)storable(variable, values[k], derived_.resting_potential_of(neurons[k]));
        }
    }

    /// Potentials are relative to the resting potential, as they are stored.
    void serialize_state(std::uint32_t neuron, Step /*now*/, StateColumns& columns) override {
        for (std::size_t v = 0; v < Arrays::state_count; ++v) {
            columns.serialize(Model::variables[v].name, state_[v][neuron]);
            if (columns.loads()) state_[v][neuron] = without_subnormal(state_[v][neuron]);
        }
        std::int32_t refractory = std::max(release_[neuron] - clock_, 0);
        columns.serialize("refractory_steps", refractory);
        if (columns.loads()) release_[neuron] = clock_ + refractory;
    }

    std::optional<StepProgram> step_program(bool has_current) const override {
        StepProgram made;
        made.step = traced_step<Model>(has_current);
        made.is_single = std::is_same_v<Real, float>;
        if (made.is_single && !rounds_to_single(*made.step)) return std::nullopt;
        made.takes_current = has_current;
        made.no_input = -0.0;
        for (const VariableInfo& variable : Model::variables) made.variables.emplace_back(variable.name);
        for (const auto& values : derived_.constants) {
            const std::vector<Real> different = unrepeated(values);
            made.constants.emplace_back(different.begin(), different.end());
        }
        made.refractory_steps = unrepeated(derived_.refractory_steps);
        return made;
    }

    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues> parameters) override {
        return std::make_unique<Change>(*this, derive(parameters));
    }

   private:
    /// Arrays with the state and constants of this group; the other members are empty.
    Arrays state_and_constants() {
        Arrays arrays{};
        for (std::size_t v = 0; v < Arrays::state_count; ++v) arrays.state[v] = state_[v].data();
        for (std::size_t c = 0; c < Arrays::constant_count; ++c) arrays.constants[c] = shared(derived_.constants[c]);
        arrays.release = release_.data();
        arrays.refractory_steps = shared(derived_.refractory_steps);
        return arrays;
    }

    template <class T>
    static Shared<T> shared(const AlignedVector<T>& values) {
        return {values.data(), values.size() == block_size ? block_size - 1 : ~std::size_t{0}};
    }

    /// One value for all neurons, or one for each.
    template <class T>
    std::vector<T> unrepeated(const AlignedVector<T>& values) const {
        const std::size_t count = values.size() == block_size ? std::min<std::size_t>(size_, values.size()) : size_;
        std::vector<T> all(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
        if (std::ranges::all_of(all, [&](T value) { return same_bits(value, values[0]); })) all.resize(1);
        return all;
    }

    /// Advances some neurons by all steps.
    void advance(Arrays& arrays, const AdvanceArguments& arguments) {
        StepSpike room[most_spikes];
        const Step* observed = arguments.observed.data();
        const Step* const observed_end = observed + arguments.observed.size();
        for (Step first = arguments.first; first <= arguments.last; first += static_cast<Step>(arrays.steps)) {
            Step last = std::min(arguments.last, first + Step{steps_together} - 1);
            if (observed != observed_end) last = std::min(last, *observed);
            arrays.first = first;
            arrays.clock = clock_ + static_cast<std::int32_t>(first - arguments.first + 1);
            arrays.steps = static_cast<std::size_t>(last - first + 1);
            for (const StepSpike& spike : run(arrays, room)) {
                append(*arguments.spikes, GroupSpike{spike.step, spike.neuron});
            }
            if (observed == observed_end || *observed != last) continue;
            arguments.observer->observe(last, arrays.begin, arrays.end);
            ++observed;
        }
    }

    /// @param room of most_spikes @returns the spikes there
    std::span<const StepSpike> run(Arrays& arrays, StepSpike* room) const {
        const FlushSubnormals flush;
        std::size_t fired = 0;
        arrays.spikes = room;
        arrays.fired = &fired;
        if (constants_exceed_registers || derived_.varying == VaryingConstants::any) {
            run<VaryingConstants::any>(arrays);
        } else if constexpr (!constants_exceed_registers) {
            if (arrays.current.data != nullptr) {
                run<VaryingConstants::drive_or_current>(arrays);
            } else if (derived_.varying == VaryingConstants::none) {
                run<VaryingConstants::none>(arrays);
            } else {
                run<VaryingConstants::drive>(arrays);
            }
        }
        return {room, fired};
    }

    template <VaryingConstants varying>
    void run(const Arrays& arrays) const {
        Dispatched<StepKernel<Model, Real, varying>>::call(instruction_set_, &arrays);
    }

    void make_clock_ready(std::int32_t steps) {
        if (clock_ <= latest_clock - steps) return;
        for (std::int32_t& release : release_) release = std::max(release - clock_, 0);
        clock_ = 0;
    }

    double resting_potential(std::size_t neuron) const { return derived_.resting_potential_of(neuron); }
    template <std::size_t... C>
    Real threshold(std::size_t neuron, std::index_sequence<C...>) const {
        const std::size_t begin = neuron / block_size * block_size;
        return typename Model::template Constants<Real>{shared(derived_.constants[C]).at(begin)[neuron - begin]...}
            .threshold;
    }

    void set_variable(std::size_t variable, std::size_t neuron, double value) {
        state_[variable][neuron] = storable(variable, value, resting_potential(neuron));
    }

    /// A value in the stored type. It is not subnormal: whether a step that only selects a number passes a subnormal one
    /// unchanged or as 0 depends on the processor's instruction.
    /// @throws ValueOutOfBoundsError if it exceeds the range of the type
    static Real storable(std::size_t variable, double value, double resting_potential) {
        const double stored = variable == 0 ? value - resting_potential : value;
        if (std::abs(stored) <= static_cast<double>(std::numeric_limits<Real>::max())) {
            return without_subnormal(static_cast<Real>(stored));
        }
        throw ValueOutOfBoundsError(
            {.object = variable == 0 ? "distance of a potential from E_L" : "value of a state variable",
             .value = to_text(stored),
             .bound = "its absolute value can be at most " + to_text(std::numeric_limits<Real>::max()),
             .remedy = "check the unit"});
    }

    /// Values that follow from parameters.
    struct Derived {
        explicit Derived(std::pmr::memory_resource* memory) : refractory_steps(memory), resting_potential(memory) {
            for (auto& array : constants) array = AlignedVector<Real>(memory);
        }

        VaryingConstants varying = VaryingConstants::none;
        std::array<AlignedVector<Real>, Arrays::constant_count> constants;
        AlignedVector<std::int32_t> refractory_steps;
        std::pmr::vector<double> resting_potential;

        double resting_potential_of(std::size_t neuron) const {
            return resting_potential[resting_potential.size() == 1 ? 0 : neuron];
        }
        /// Takes over the values of another one from the same memory. An array whose length does not change keeps its
        /// address: its pages are near the thread that uses it.
        void take(Derived& other) noexcept {
            varying = other.varying;
            for (std::size_t c = 0; c < constants.size(); ++c) take(constants[c], other.constants[c]);
            take(refractory_steps, other.refractory_steps);
            take(resting_potential, other.resting_potential);
        }

       private:
        template <class Array>
        static void take(Array& destination, Array& source) noexcept {
            if (destination.size() == source.size()) {
                std::copy(source.begin(), source.end(), destination.begin());
            } else {
                destination.swap(source);
            }
        }
    };

    class Change final : public ParameterChange {
       public:
        /// @throws ValueOutOfBoundsError if a potential would be too far from the new resting potential
        Change(Group& group, Derived derived) : group_(group), derived_(std::move(derived)) {
            for (std::size_t i = 0; i < group_.size_; ++i) (void)moved_potential(i);
        }

        void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const override {
            for (std::size_t k = 0; k < neurons.size(); ++k) {
                (void)storable(variable, values[k], derived_.resting_potential_of(neurons[k]));
            }
        }

        void apply() noexcept override {
            for (std::size_t i = 0; i < group_.size_; ++i) group_.state_[0][i] = moved_potential(i);
            group_.derived_.take(derived_);
        }

       private:
        /// The absolute potential is kept, so the stored one changes with the resting potential.
        Real moved_potential(std::size_t neuron) const {
            const Real stored = group_.state_[0][neuron];
            const double shift = group_.resting_potential(neuron) - derived_.resting_potential_of(neuron);
            if (shift == 0.0) return stored;
            return storable(0, static_cast<double>(stored) + shift, 0.0);
        }

        Group& group_;
        Derived derived_;
    };

    /// @throws ValueOutOfBoundsError for a refractory period of too many steps
    Derived derive(std::span<const GroupValues> parameters) const {
        Derived derived(memory_);
        derived.resting_potential = parameters[Model::resting_potential].values;
        const bool uniform =
            std::all_of(parameters.begin(), parameters.end(), [](const auto& p) { return p.uniform(); });
        if (!uniform && size_ == 0) return derived;
        std::vector<double> values(parameters.size());
        const DerivedOfNeuron first = derive_one(parameters, 0, values);
        for (std::size_t c = 0; c < first.constants.size(); ++c) {
            derived.constants[c].assign(block_size, first.constants[c]);
        }
        derived.refractory_steps.assign(block_size, first.refractory_steps);
        for (std::size_t i = 1; i < size_ && !uniform; ++i) {
            const DerivedOfNeuron next = derive_one(parameters, i, values);
            for (std::size_t c = 0; c < next.constants.size(); ++c) {
                if (!put(derived.constants[c], i, next.constants[c])) continue;
                derived.varying =
                    std::max(derived.varying, c == Arrays::drive ? VaryingConstants::drive : VaryingConstants::any);
            }
            (void)put(derived.refractory_steps, i, next.refractory_steps);
        }
        return derived;
    }

    /// Values that follow from the parameters of one neuron.
    struct DerivedOfNeuron {
        std::array<Real, Arrays::constant_count> constants;  ///< not subnormal, as variables
        std::int32_t refractory_steps;
    };
    /// @param values room for its parameters
    DerivedOfNeuron derive_one(std::span<const GroupValues> parameters, std::size_t neuron,
                               std::vector<double>& values) const {
        for (std::size_t p = 0; p < values.size(); ++p) values[p] = parameters[p][neuron];
        const auto constants = Model::constants(std::span<const double>(values), resolution_);
        if (const auto reason = Model::constants_conflict(constants)) throw bad_constants(*reason, resolution_);
        const auto steps = leaky_membrane::refractory_steps(values[Model::refractory_period], resolution_);
        DerivedOfNeuron derived{.constants = {}, .refractory_steps = static_cast<std::int32_t>(steps)};
        std::ranges::transform(std::bit_cast<std::array<double, Arrays::constant_count>>(constants),
                               derived.constants.begin(),
                               [](double constant) { return without_subnormal(static_cast<Real>(constant)); });
        // -0.0 - 0.0 is -0.0, whose sign says "below" in BlockStep, but -0.0 - (-0.0) is 0.0.
        Real& threshold = derived.constants[Arrays::threshold];
        if (threshold == Real{0}) threshold = Real{-0.0};
        return derived;
    }

    /// Sets the value of a neuron; returns whether it differs from those before. Equal values fill one block only;
    /// the first different one makes room for all.
    template <class T>
    bool put(AlignedVector<T>& values, std::size_t neuron, T value) const {
        if (values.size() == block_size) {
            if (same_bits(values[0], value)) return false;
            // The array of a group of one block already has its full size. The padding of the last block takes the
            // values of the first neuron.
            if (padded(size_) > block_size) values.assign(padded(size_), T{values[0]});
        }
        values[neuron] = value;
        return true;
    }

    template <class T>
    static bool same_bits(T a, T b) {
        return std::bit_cast<MaskOf<T>>(a) == std::bit_cast<MaskOf<T>>(b);
    }

    std::size_t size_;
    double resolution_;
    InstructionSet instruction_set_;
    std::pmr::memory_resource* memory_;
    Derived derived_;
    ClearingChoice clearing_;
    std::int32_t clock_ = 0;
    std::array<AlignedVector<Real>, Arrays::state_count> state_;
    AlignedVector<std::int32_t> release_;
};

/// The neuron model with these equations.
template <class Equations>
class PointNeuronModel final : public NeuronModel {
   public:
    constexpr explicit PointNeuronModel(const NeuronInfo& info) : NeuronModel(info) {}

    std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) const override {
        if (arguments.precision == Precision::single_precision) {
            return std::make_unique<Group<Equations, float>>(arguments);
        }
        return std::make_unique<Group<Equations, double>>(arguments);
    }

    bool has_step_program(Precision precision) const override {
        return precision == Precision::double_precision || rounds_to_single(*traced_step<Equations>(false));
    }

    std::optional<std::string> conflict(std::span<const double> values,
                                        std::optional<double> resolution) const override {
        if (auto reason = Equations::conflict(values)) return reason;
        if (!resolution) return std::nullopt;
        try {
            (void)leaky_membrane::refractory_steps(values[Equations::refractory_period], *resolution);
        } catch (const ValueOutOfBoundsError& error) {
            return error.what();
        }
        return Equations::constants_conflict(Equations::constants(values, *resolution));
    }
};

}  // namespace point_neuron

}  // namespace ranvier::models
