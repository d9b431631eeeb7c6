#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/aligned_array.hpp"
#include "models/neurons/clear_inputs.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/neuron.hpp"

/// The loops of point neurons that are integrated exactly on the grid: see models/point_neuron.hpp.
namespace ranvier::models {

/// The input of one neuron in one step.
template <class Real, std::size_t receptor_count>
struct StepInput {
    Real received[receptor_count];  ///< sum of the weights of the spikes that arrive, by receptor
    Real drive;                     ///< mV: what constant and injected currents add to the potential
    bool refractory;
};

namespace point_neuron {

/// Neurons are updated in blocks: long enough for the widest vectors, short enough that finding the one neuron that
/// fired costs little.
inline constexpr std::size_t block_size = 64;
/// Number of neurons that are taken through some steps together: their state, constants and inputs of a step fit into
/// the first cache, and the call of the loop costs little per neuron.
inline constexpr std::size_t neurons_together = 256;

constexpr std::size_t padded(std::size_t count) { return (count + block_size - 1) / block_size * block_size; }

/// The last block is updated in parts, which start at a cache line in each array.
inline constexpr std::size_t part_size = line_bytes / sizeof(std::int32_t);

template <class Record, class Real>
inline constexpr std::size_t member_count = sizeof(Record) / sizeof(Real);

/// Writes the members of a record into arrays. Structured bindings, unlike an array of the members, leave every member
/// in a register.
template <class Real, class Record, std::size_t count>
RANVIER_ALWAYS_INLINE void scatter(const Record& record, Real* const (&arrays)[count], std::size_t index) {
    static_assert(count >= 1 && count <= 8, "a record of more variables needs another case");
    if constexpr (count == 1) {
        const auto& [a] = record;
        arrays[0][index] = a;
    } else if constexpr (count == 2) {
        const auto& [a, b] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
    } else if constexpr (count == 3) {
        const auto& [a, b, c] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
        arrays[2][index] = c;
    } else if constexpr (count == 4) {
        const auto& [a, b, c, d] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
        arrays[2][index] = c;
        arrays[3][index] = d;
    } else if constexpr (count == 5) {
        const auto& [a, b, c, d, e] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
        arrays[2][index] = c;
        arrays[3][index] = d;
        arrays[4][index] = e;
    } else if constexpr (count == 6) {
        const auto& [a, b, c, d, e, f] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
        arrays[2][index] = c;
        arrays[3][index] = d;
        arrays[4][index] = e;
        arrays[5][index] = f;
    } else if constexpr (count == 7) {
        const auto& [a, b, c, d, e, f, g] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
        arrays[2][index] = c;
        arrays[3][index] = d;
        arrays[4][index] = e;
        arrays[5][index] = f;
        arrays[6][index] = g;
    } else if constexpr (count == 8) {
        const auto& [a, b, c, d, e, f, g, h] = record;
        arrays[0][index] = a;
        arrays[1][index] = b;
        arrays[2][index] = c;
        arrays[3][index] = d;
        arrays[4][index] = e;
        arrays[5][index] = f;
        arrays[6][index] = g;
        arrays[7][index] = h;
    }
}

/// An integer as wide as Real, so that comparisons need no conversion in vector code.
template <class Real>
using MaskOf = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;

/// A value that all neurons share, or one value for each.
template <class T>
struct Shared {
    const T* values;
    /// All bits set if each neuron has a value. A shared value is repeated once for each neuron of a block, so that
    /// loops over blocks handle both alike; then, as in groups of one block, the bits of an index within a block.
    std::size_t places;

    RANVIER_ALWAYS_INLINE const T* at(std::size_t neuron) const { return values + (neuron & places); }
};

/// A GroupSpike without default values, which would be written to all room for spikes.
struct StepSpike {
    Step step;
    std::uint32_t neuron;
};

/// The arrays that the vectorised loops read and write for some steps of some neurons. Raw pointers, so that no
/// function of the standard library is called from code that is compiled for several instruction sets.
template <class Model, class Real>
struct StepArrays {
    static constexpr std::size_t state_count = member_count<typename Model::template State<Real>, Real>;
    static constexpr std::size_t constant_count = member_count<typename Model::template Constants<Real>, Real>;
    // Index of the drive among the constants.
    static constexpr std::size_t drive = offsetof(typename Model::template Constants<Real>, drive) / sizeof(Real);
    static constexpr std::size_t threshold =
        offsetof(typename Model::template Constants<Real>, threshold) / sizeof(Real);
    static constexpr std::size_t reset = offsetof(typename Model::template Constants<Real>, reset) / sizeof(Real);

    std::size_t begin;  ///< first neuron, at the start of a block
    std::size_t end;    ///< end of the neurons: the start of a block, or the end of all
    Real* state[state_count];
    Shared<Real> constants[constant_count];
    std::int32_t* release;  ///< the last refractory step, on the group's clock
    Shared<std::int32_t> refractory_steps;
    std::int32_t clock;  ///< of the first step
    Step first;          ///< of the steps, for rows of inputs
    std::size_t steps;
    StepRows inputs[Model::receptor_count];
    StepRows current;  ///< empty: none
    StepSpike* spikes;   ///< room for all neurons in each step; by step, then by neuron
    std::size_t* fired;  ///< number of spikes
    Clearing clearing;
    std::size_t* reached;  ///< results of count_reached() are added here, if it is called
};

/// The constants that differ between neurons. Shared ones can stay in registers.
enum class VaryingConstants : std::uint8_t {
    none,              ///< none differ, and no current is injected
    drive,             ///< the drive differs, and no current is injected
    drive_or_current,  ///< at most the drive differs, and a current may be injected
    any,               ///< any may differ, and a current may be injected
};

/// The current where none is injected: adding it changes no bit of a drive.
alignas(line_bytes) inline constexpr std::array<double, block_size> no_current = [] {
    std::array<double, block_size> zeros{};
    zeros.fill(-0.0);
    return zeros;
}();

template <class T>
RANVIER_ALWAYS_INLINE T* aligned(T* pointer) {
    return static_cast<T*>(__builtin_assume_aligned(pointer, line_bytes));
}

/// One bit for each neuron of a block.
alignas(line_bytes) inline constexpr std::array<std::uint64_t, block_size> lane_bits = [] {
    std::array<std::uint64_t, block_size> bits{};
    for (std::size_t k = 0; k < block_size; ++k) bits[k] = std::uint64_t{1} << k;
    return bits;
}();

/// Resets the neurons of a block that reached their threshold, and appends their spikes. Few blocks in a hundred need
/// it, so it is a separate function, which takes no registers from the loop over all neurons.
template <class Model, class Real, std::size_t count>
struct ResetKernel {
    using Arrays = StepArrays<Model, Real>;

    /// The first `valid` neurons from `begin` are real; the rest is padding. Returns the number of spikes so far.
    RANVIER_ALWAYS_INLINE static std::size_t run(const Arrays* arrays, std::size_t begin, std::size_t valid,
                                                 std::size_t s, std::size_t fired) {
        Real* const potentials = aligned(arrays->state[0] + begin);
        const Real* const thresholds = aligned(arrays->constants[Arrays::threshold].at(begin));
        const Real* const resets = arrays->constants[Arrays::reset].at(begin);
        const std::int32_t* const refractory_steps = arrays->refractory_steps.at(begin);
        // A scalar test of each neuron would take as long as some vectorised steps.
        std::uint64_t above = 0;
        for (std::size_t k = 0; k < count; ++k) above |= potentials[k] >= thresholds[k] ? lane_bits[k] : 0;
        if (valid < count) above &= lane_bits[valid] - 1;
        for (; above != 0; above &= above - 1) {
            const auto k = static_cast<std::size_t>(__builtin_ctzll(above));
            potentials[k] = resets[k];
            arrays->release[begin + k] = arrays->clock + static_cast<std::int32_t>(s) + refractory_steps[k];
            arrays->spikes[fired++] = {arrays->first + static_cast<Step>(s), static_cast<std::uint32_t>(begin + k)};
        }
        return fired;
    }
};

/// The inputs of the neurons in a step.
template <std::size_t receptor_count>
struct StepSources {
    double* received[receptor_count];
    const double* current;
    std::size_t current_places;  ///< see Shared
    std::size_t begin;  ///< first neuron of these inputs and current
    std::size_t step;   ///< index among the steps of this call
    std::int32_t clock;
};

/// One step of `count` neurons.
template <class Model, class Real, VaryingConstants varying, std::size_t count>
struct BlockStep {
    static constexpr bool with_current = varying >= VaryingConstants::drive_or_current;
    using Arrays = StepArrays<Model, Real>;
    using Sources = StepSources<Model::receptor_count>;
    using State = Model::template State<Real>;
    using Constants = Model::template Constants<Real>;

    /// The first `valid` neurons from `begin` are real; the rest is padding.
    template <InstructionSet set, bool clears_apart>
    RANVIER_ALWAYS_INLINE static void run(const Arrays& arrays, std::size_t begin, const Sources& sources,
                                          std::size_t& fired, std::size_t valid) {
        const bool any = advance<clears_apart>(arrays, begin, sources, std::make_index_sequence<Arrays::state_count>{},
                                               std::make_index_sequence<Arrays::constant_count>{},
                                               std::make_index_sequence<Model::receptor_count>{});
        if (any) [[unlikely]] {
            fired = Dispatched<ResetKernel<Model, Real, count>>::call(set, &arrays, begin, valid, sources.step, fired);
        }
    }

   private:
    /// Returns whether any neuron reached its threshold (or any padding, which is harmless).
    template <bool clears_apart, std::size_t... S, std::size_t... C, std::size_t... R>
    RANVIER_ALWAYS_INLINE static bool advance(const Arrays& arrays, std::size_t begin, const Sources& sources,
                                              std::index_sequence<S...>, std::index_sequence<C...>,
                                              std::index_sequence<R...>) {
        Real* const state[] = {aligned(arrays.state[S] + begin)...};
        const Real* const constants[] = {aligned(arrays.constants[C].at(begin))...};
        const std::size_t input_begin = begin - sources.begin;
        double* const input[] = {sources.received[R] + input_begin...};
        const double* const extra = sources.current + (input_begin & sources.current_places);
        const Real* const drives = aligned(arrays.constants[Arrays::drive].at(begin));
        const std::int32_t* const release = aligned(arrays.release + begin);
        const std::int32_t clock = sources.clock;
        // Loaded once for all blocks if they are shared.
        const Constants shared{arrays.constants[C].values[0]...};
        // The signs of the distances to the threshold, combined: one instruction less than comparisons. A NaN
        // potential may give either sign, which is harmless.
        MaskOf<Real> below = -1;
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < count; ++k) {
            const Constants constants_of_neuron =
                varying == VaryingConstants::any ? Constants{constants[C][k]...} : shared;
            Real drive = varying == VaryingConstants::none ? constants_of_neuron.drive : drives[k];
            if constexpr (with_current) drive += constants_of_neuron.gain_of_constant * static_cast<Real>(extra[k]);
            const StepInput<Real, Model::receptor_count> received{
                {static_cast<Real>(input[R][k])...}, drive, release[k] >= clock};
            const State next = Model::step(State{state[S][k]...}, constants_of_neuron, received);
            if constexpr (!clears_apart) ((input[R][k] = -0.0), ...);
            scatter(next, state, k);
            below &= std::bit_cast<MaskOf<Real>>(next.potential - constants_of_neuron.threshold);
        }
        return below >= 0;
    }
};

/// One step of the last neurons, which do not fill a block. All constants are read from arrays: there are at most
/// block_size - 1 of these neurons, and loops for each case would be most of the code of a model.
template <class Model, class Real>
struct RestKernel {
    using Arrays = StepArrays<Model, Real>;
    using Sources = StepSources<Model::receptor_count>;

    /// Returns the number of spikes so far.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static std::size_t run(const Arrays* arrays, std::size_t begin, const Sources* sources,
                                                 std::size_t fired) {
        for (; begin < arrays->end; begin += part_size) {
            const std::size_t rest = arrays->end - begin;
            alignas(line_bytes) double received[Model::receptor_count][part_size];
            alignas(line_bytes) double current[part_size];
            Sources padded = *sources;
            if (rest < part_size) take(*sources, begin, rest, received, current, padded);
            BlockStep<Model, Real, VaryingConstants::any, part_size>::template run<set, false>(
                *arrays, begin, padded, fired, rest < part_size ? rest : part_size);
        }
        return fired;
    }

   private:
    /// State is padded, but inputs belong to the caller and are not.
    RANVIER_ALWAYS_INLINE static void take(const Sources& sources, std::size_t begin, std::size_t rest,
                                           double (&received)[Model::receptor_count][part_size],
                                           double (&current)[part_size], Sources& padded) {
        for (std::size_t r = 0; r < Model::receptor_count; ++r) {
            double* const from = sources.received[r] + begin - sources.begin;
            for (std::size_t k = 0; k < part_size; ++k) received[r][k] = 0.0;
            for (std::size_t k = 0; k < rest; ++k) {
                received[r][k] = from[k];
                from[k] = -0.0;
            }
            padded.received[r] = received[r];
        }
        const double* const given = sources.current + ((begin - sources.begin) & sources.current_places);
        for (std::size_t k = 0; k < part_size; ++k) current[k] = 0.0;
        for (std::size_t k = 0; k < rest; ++k) current[k] = given[k];
        padded.current = current;
        padded.current_places = ~std::size_t{0};
        padded.begin = begin;
    }
};

template <class Model, class Real, VaryingConstants varying>
struct StepKernel {
    using Arrays = StepArrays<Model, Real>;
    using Sources = StepSources<Model::receptor_count>;

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const Arrays* arguments) {
        if constexpr (set == InstructionSet::avx512 && can_clear_where_needed) {
            if (arguments->clearing != Clearing::all) return go<set, true>(*arguments);
        }
        go<set, false>(*arguments);
    }

   private:
    template <InstructionSet set, bool clears_apart>
    RANVIER_ALWAYS_INLINE static void go(const Arrays arrays) {
        std::size_t fired = 0;
        const std::size_t whole = arrays.end / block_size * block_size;
        Sources sources{};
        const bool is_current = arrays.current.data != nullptr;
        sources.current_places = is_current ? ~std::size_t{0} : 0;
        for (std::size_t s = 0; s < arrays.steps; ++s) {
            const Step step = arrays.first + static_cast<Step>(s);
            sources.clock = arrays.clock + static_cast<std::int32_t>(s);
            for (std::size_t r = 0; r < Model::receptor_count; ++r) sources.received[r] = row(arrays.inputs[r], step);
            sources.current = is_current ? row(arrays.current, step) : &no_current[0];
            sources.step = s;
            for (std::size_t begin = arrays.begin; begin < whole;) {
                const std::size_t first = begin;
                const bool all = !clears_apart || whole - first <= neurons_together;
                const std::size_t end = all ? whole : first + neurons_together;
                for (; begin < end; begin += block_size) {
                    BlockStep<Model, Real, varying, block_size>::template run<set, clears_apart>(arrays, begin, sources,
                                                                                                 fired, block_size);
                }
                if constexpr (clears_apart) clear(arrays, sources, first, end - first);
            }
            if (whole < arrays.end) {
                fired = Dispatched<RestKernel<Model, Real>>::call(set, &arrays, whole,
                                                                  static_cast<const Sources*>(&sources), fired);
            }
        }
        *arrays.fired = fired;
    }

    /// See clear_where_needed(). @param count a multiple of a block
    RANVIER_ALWAYS_INLINE static void clear(const Arrays& arrays, const Sources& sources, std::size_t begin,
                                            std::size_t count) {
        for (std::size_t r = 0; r < Model::receptor_count; ++r) {
            double* const received = sources.received[r] + begin;
            if (arrays.clearing == Clearing::where_needed_and_count) *arrays.reached += count_reached(received, count);
            clear_where_needed(received, count);
        }
    }

    RANVIER_ALWAYS_INLINE static double* row(const StepRows& rows, Step step) {
        return rows.data + (static_cast<std::uint64_t>(step * rows.step_rows) & rows.mask) * rows.stride;
    }
};

}  // namespace point_neuron

}  // namespace ranvier::models
