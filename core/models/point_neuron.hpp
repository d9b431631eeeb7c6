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
#include "base/errors.hpp"
#include "base/instruction_set.hpp"
#include "base/subnormals.hpp"
#include "models/leaky_membrane.hpp"
#include "models/neuron.hpp"

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
///     receptor_count>&)`, which is RANVIER_ALWAYS_INLINE and free of branches.
///
/// From these follow arrays, vectorised loops, threshold, reset and refractoriness, in single and double precision.
namespace ranvier::models {

/// What acts on one neuron in one step.
template <class Real, std::size_t receptor_count>
struct StepInput {
    Real received[receptor_count];  ///< sum of the weights of the spikes that arrive, by receptor
    Real drive;                     ///< mV: what constant and injected currents add to the potential
    bool refractory;
};

namespace point_neuron {

/// Neurons are updated in blocks: long enough for the widest vectors, short enough that looking for the one neuron that
/// fired costs little.
inline constexpr std::size_t block_size = 64;

constexpr std::size_t padded(std::size_t count) { return (count + block_size - 1) / block_size * block_size; }

template <class Record, class Real>
inline constexpr std::size_t member_count = sizeof(Record) / sizeof(Real);

/// Writes the members of a record into arrays. Structured bindings, unlike an array of the members, leave every member
/// in a register.
template <class Real, class Record, std::size_t count>
RANVIER_ALWAYS_INLINE void scatter(const Record& record, Real* const (&arrays)[count], std::size_t index) {
    static_assert(count == 1 || count == 3 || count == 5, "add a case for this number of variables");
    if constexpr (count == 1) {
        const auto& [a] = record;
        arrays[0][index] = a;
    } else if constexpr (count == 3) {
        const auto& [a, b, c] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
        arrays[2][index] = c;
    } else {
        const auto& [a, b, c, d, e] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
        arrays[2][index] = c;
        arrays[3][index] = d;
        arrays[4][index] = e;
    }
}

/// An integer as wide as Real, so that comparisons need no conversion in vector code.
template <class Real>
using MaskOf = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;

/// What the vectorised loop of one step reads and writes. Raw pointers, so that no function of the standard library is
/// called from code that is compiled for several instruction sets.
template <class Model, class Real>
struct StepArrays {
    static constexpr std::size_t state_count = member_count<typename Model::template State<Real>, Real>;
    static constexpr std::size_t constant_count = member_count<typename Model::template Constants<Real>, Real>;

    std::size_t size;
    Real* state[state_count];
    const Real* constants[constant_count];  ///< one value each when uniform, else one for each neuron
    std::int32_t* release;                  ///< the last step of refractoriness, on the group's clock
    const std::int32_t* refractory_steps;   ///< one value when uniform, else one for each neuron
    std::int32_t clock;                     ///< of this step
    double* inputs[Model::receptor_count];
    const double* current;
    std::uint32_t* spikes;
};

template <class Model, class Real, bool uniform, bool with_current>
struct StepKernel {
    using Arrays = StepArrays<Model, Real>;
    using State = Model::template State<Real>;
    using Constants = Model::template Constants<Real>;

    RANVIER_ALWAYS_INLINE static std::size_t run(const Arrays* arguments) {
        const Arrays arrays = *arguments;
        std::size_t fired = 0;
        const std::size_t whole = arrays.size / block_size * block_size;
        for (std::size_t begin = 0; begin < whole; begin += block_size) {
            advance(arrays, begin, arrays.inputs, begin, arrays.current, fired, block_size);
        }
        if (whole < arrays.size) finish(arrays, whole, fired);
        return fired;
    }

   private:
    /// The last block is not full. State is padded, but inputs belong to the caller and are not.
    RANVIER_ALWAYS_INLINE static void finish(const Arrays& arrays, std::size_t begin, std::size_t& fired) {
        alignas(line_bytes) double inputs[Model::receptor_count][block_size] = {};
        alignas(line_bytes) double current[block_size] = {};
        const std::size_t rest = arrays.size - begin;
        double* pointers[Model::receptor_count];
        for (std::size_t r = 0; r < Model::receptor_count; ++r) {
            pointers[r] = inputs[r];
            for (std::size_t k = 0; k < rest; ++k) {
                inputs[r][k] = arrays.inputs[r][begin + k];
                arrays.inputs[r][begin + k] = -0.0;
            }
        }
        if constexpr (with_current) {
            for (std::size_t k = 0; k < rest; ++k) current[k] = arrays.current[begin + k];
        }
        advance(arrays, begin, pointers, 0, current, fired, rest);
    }

    /// One step of the block at `begin`; its inputs and currents stand from `input_begin` on.
    RANVIER_ALWAYS_INLINE static void advance(const Arrays& arrays, std::size_t begin, double* const* inputs,
                                              std::size_t input_begin, const double* current, std::size_t& fired,
                                              std::size_t valid) {
        if (advance_all(arrays, begin, inputs, input_begin, current)) {
            reset_fired(arrays, begin, fired, valid);
        }
    }

    /// Returns whether any neuron of the block reached its threshold (or one of the padding did, which does no harm).
    RANVIER_ALWAYS_INLINE static bool advance_all(const Arrays& arrays, std::size_t begin, double* const* inputs,
                                                  std::size_t input_begin, const double* current) {
        return advance_all(arrays, begin, inputs, input_begin, current, std::make_index_sequence<Arrays::state_count>{},
                           std::make_index_sequence<Arrays::constant_count>{},
                           std::make_index_sequence<Model::receptor_count>{});
    }

    template <std::size_t... S, std::size_t... C, std::size_t... R>
    RANVIER_ALWAYS_INLINE static bool advance_all(const Arrays& arrays, std::size_t begin, double* const* inputs,
                                                  std::size_t input_begin, const double* current,
                                                  std::index_sequence<S...>, std::index_sequence<C...>,
                                                  std::index_sequence<R...>) {
        Real* const state[] = {aligned(arrays.state[S] + begin)...};
        const Real* const constants[] = {uniform ? arrays.constants[C] : aligned(arrays.constants[C] + begin)...};
        double* const input[] = {inputs[R] + input_begin...};
        const double* const extra = with_current ? current + input_begin : nullptr;
        const std::int32_t* const release = aligned(arrays.release + begin);
        const std::int32_t clock = arrays.clock;
        const Constants shared{constants[C][0]...};
        MaskOf<Real> any = 0;
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < block_size; ++k) {
            const Constants own = uniform ? shared : Constants{constants[C][k]...};
            Real drive = own.drive;
            if constexpr (with_current) drive += own.gain_of_constant * static_cast<Real>(extra[k]);
            const StepInput<Real, Model::receptor_count> received{
                {static_cast<Real>(input[R][k])...}, drive, release[k] >= clock};
            const State next = Model::step(State{state[S][k]...}, own, received);
            ((input[R][k] = -0.0), ...);
            scatter(next, state, k);
            any |= next.potential >= own.threshold ? MaskOf<Real>{-1} : MaskOf<Real>{0};
        }
        return any != 0;
    }

    /// Appends the neurons of the block that reached their threshold and resets them. Only a few of a hundred blocks
    /// come here, so the loop above does not do it for all.
    RANVIER_ALWAYS_INLINE static void reset_fired(const Arrays& arrays, std::size_t begin, std::size_t& fired,
                                                  std::size_t valid) {
        reset_fired(arrays, begin, fired, valid, std::make_index_sequence<Arrays::constant_count>{});
    }

    template <std::size_t... C>
    RANVIER_ALWAYS_INLINE static void reset_fired(const Arrays& arrays, std::size_t begin, std::size_t& fired,
                                                  std::size_t valid, std::index_sequence<C...>) {
        for (std::size_t i = begin; i < begin + valid; ++i) {
            const std::size_t own = uniform ? 0 : i;
            const Constants constants{arrays.constants[C][own]...};
            if (!(arrays.state[0][i] >= constants.threshold)) continue;
            arrays.state[0][i] = constants.reset;
            arrays.release[i] = arrays.clock + arrays.refractory_steps[own];
            arrays.spikes[fired++] = static_cast<std::uint32_t>(i);
        }
    }

    template <class T>
    RANVIER_ALWAYS_INLINE static T* aligned(T* pointer) {
        return static_cast<T*>(__builtin_assume_aligned(pointer, line_bytes));
    }
};

inline ValueOutOfBoundsError bad_constants(const std::string& reason, double resolution) {
    return ValueOutOfBoundsError({.object = "parameters of a neuron",
                                  .value = "",
                                  .bound = "in steps of " + to_text(resolution) + " ms, " + reason,
                                  .remedy = "check the units"});
}

/// `latest_clock`: steps are counted in 32 bits, half the memory; long before they overflow the clock starts again.
template <class Model, class Real, std::int32_t latest_clock = (1 << 30)>
class Group final : public NeuronGroup {
    using Arrays = StepArrays<Model, Real>;

   public:
    explicit Group(const GroupArguments& arguments)
        : size_(arguments.ids.size()),
          resolution_(arguments.resolution),
          instruction_set_(arguments.instruction_set),
          memory_(arguments.memory),
          derived_(derive(arguments.parameters)),
          release_(padded(size_), 0, arguments.memory) {
        for (auto& array : state_) array = AlignedVector<Real>(padded(size_), Real{0}, arguments.memory);
        for (std::size_t v = 0; v < Arrays::state_count; ++v) {
            const GroupValues& initial = arguments.variables[v];
            for (std::size_t i = 0; i < size_; ++i) set_variable(v, i, initial[i]);
        }
    }

    std::size_t update(const UpdateArguments& arguments) override {
        if (clock_ == latest_clock) rewind_clock();
        ++clock_;
        Arrays arrays{};
        arrays.size = size_;
        for (std::size_t v = 0; v < Arrays::state_count; ++v) arrays.state[v] = state_[v].data();
        for (std::size_t c = 0; c < Arrays::constant_count; ++c) arrays.constants[c] = derived_.constants[c].data();
        arrays.release = release_.data();
        arrays.refractory_steps = derived_.refractory_steps.data();
        arrays.clock = clock_;
        for (std::size_t r = 0; r < Model::receptor_count; ++r) arrays.inputs[r] = arguments.inputs[r];
        arrays.current = arguments.current;
        arrays.spikes = arguments.spikes;
        const FlushSubnormals flush;
        if (derived_.uniform) {
            return arrays.current == nullptr ? run<true, false>(arrays) : run<true, true>(arrays);
        }
        return arrays.current == nullptr ? run<false, false>(arrays) : run<false, true>(arrays);
    }

    /// A potential that was set above the threshold makes a refractory neuron fire, too.
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
    void exchange_state(std::uint32_t neuron, Step /*now*/, StateColumns& columns) override {
        for (std::size_t v = 0; v < Arrays::state_count; ++v) {
            columns.exchange(Model::variables[v].name, state_[v][neuron]);
        }
        std::int32_t refractory = std::max(release_[neuron] - clock_, 0);
        columns.exchange("refractory_steps", refractory);
        if (columns.loads()) release_[neuron] = clock_ + refractory;
    }

    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues> parameters) override {
        return std::make_unique<Change>(*this, derive(parameters));
    }

   private:
    template <bool uniform, bool with_current>
    std::size_t run(const Arrays& arrays) const {
        return Dispatched<StepKernel<Model, Real, uniform, with_current>>::call(instruction_set_, &arrays);
    }

    void rewind_clock() {
        for (std::int32_t& release : release_) release = std::max(release - clock_, 0);
        clock_ = 0;
    }

    double resting_potential(std::size_t neuron) const { return derived_.resting_potential_of(neuron); }
    template <std::size_t... C>
    Real threshold(std::size_t neuron, std::index_sequence<C...>) const {
        const std::size_t own = derived_.uniform ? 0 : neuron;
        return typename Model::template Constants<Real>{derived_.constants[C][own]...}.threshold;
    }

    void set_variable(std::size_t variable, std::size_t neuron, double value) {
        state_[variable][neuron] = storable(variable, value, resting_potential(neuron));
    }

    /// A value as it is stored. @throws ValueOutOfBoundsError when it is beyond what its type holds
    static Real storable(std::size_t variable, double value, double resting_potential) {
        const double stored = variable == 0 ? value - resting_potential : value;
        if (std::abs(stored) <= static_cast<double>(std::numeric_limits<Real>::max())) return static_cast<Real>(stored);
        throw ValueOutOfBoundsError(
            {.object = variable == 0 ? "distance of a potential from E_L" : "value of a state variable",
             .value = to_text(stored),
             .bound = "its absolute value can be at most " + to_text(std::numeric_limits<Real>::max()),
             .remedy = "check the unit"});
    }

    /// What follows from parameters.
    struct Derived {
        explicit Derived(std::pmr::memory_resource* memory) : refractory_steps(memory), resting_potential(memory) {
            for (auto& array : constants) array = AlignedVector<Real>(memory);
        }

        bool uniform = true;
        std::array<AlignedVector<Real>, Arrays::constant_count> constants;
        AlignedVector<std::int32_t> refractory_steps;
        std::pmr::vector<double> resting_potential;

        double resting_potential_of(std::size_t neuron) const {
            return resting_potential[resting_potential.size() == 1 ? 0 : neuron];
        }
        /// Takes the values of another one from the same memory. An array whose length stays the same stays where it
        /// is: its pages lie near the thread that uses it.
        void take(Derived& other) noexcept {
            uniform = other.uniform;
            for (std::size_t c = 0; c < constants.size(); ++c) take(constants[c], other.constants[c]);
            take(refractory_steps, other.refractory_steps);
            take(resting_potential, other.resting_potential);
        }

       private:
        template <class Array>
        static void take(Array& own, Array& other) noexcept {
            if (own.size() == other.size()) {
                std::copy(other.begin(), other.end(), own.begin());
            } else {
                own.swap(other);
            }
        }
    };

    class Change final : public ParameterChange {
       public:
        /// @throws ValueOutOfBoundsError when a potential would lie too far from the new resting potential
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
        /// The potential itself stays, so what is stored of it moves against the resting potential.
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
        derived.uniform = std::all_of(parameters.begin(), parameters.end(), [](const auto& p) { return p.uniform(); });
        const std::size_t count = derived.uniform ? 1 : size_;
        // The padding takes the values of the first neuron.
        const std::size_t length = derived.uniform ? 1 : padded(size_);
        for (auto& array : derived.constants) array.assign(length, Real{0});
        derived.refractory_steps.assign(length, 0);
        std::vector<double> own(parameters.size());
        for (std::size_t i = 0; i < length; ++i) {
            for (std::size_t p = 0; p < own.size(); ++p) own[p] = parameters[p][i < count ? i : 0];
            const auto constants = Model::constants(std::span<const double>(own), resolution_);
            if (const auto reason = Model::constants_conflict(constants)) throw bad_constants(*reason, resolution_);
            const auto values = std::bit_cast<std::array<double, Arrays::constant_count>>(constants);
            for (std::size_t c = 0; c < values.size(); ++c) derived.constants[c][i] = static_cast<Real>(values[c]);
            derived.refractory_steps[i] =
                static_cast<std::int32_t>(leaky_membrane::refractory_steps(own[Model::refractory_period], resolution_));
        }
        return derived;
    }

    std::size_t size_;
    double resolution_;
    InstructionSet instruction_set_;
    std::pmr::memory_resource* memory_;
    Derived derived_;
    std::int32_t clock_ = 0;
    std::array<AlignedVector<Real>, Arrays::state_count> state_;
    AlignedVector<std::int32_t> release_;
};

/// Why parameters cannot be integrated with this resolution, or nothing: a NeuronModel::step_conflict.
template <class Model>
std::optional<std::string> step_conflict(std::span<const double> parameters, double resolution) {
    try {
        (void)leaky_membrane::refractory_steps(parameters[Model::refractory_period], resolution);
    } catch (const ValueOutOfBoundsError& error) {
        return error.what();
    }
    return Model::constants_conflict(Model::constants(parameters, resolution));
}

template <class Model>
std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) {
    if (arguments.precision == Precision::single_precision) return std::make_unique<Group<Model, float>>(arguments);
    return std::make_unique<Group<Model, double>>(arguments);
}

}  // namespace point_neuron

}  // namespace ranvier::models
