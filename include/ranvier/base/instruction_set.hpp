#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ranvier/base/choice.hpp"

namespace ranvier {

/// The instruction sets for which the hot loops are compiled. All give the same bits: no loop uses fused multiply-add,
/// and the order of sums is fixed.
enum class InstructionSet { baseline, avx2, avx512 };

/// The widest set of this processor.
InstructionSet detect_instruction_set();

/// The sets of this processor, narrowest first.
std::span<const InstructionSet> available_instruction_sets();

template <>
struct ChoiceNames<InstructionSet> {
    static constexpr std::string_view kind = "instruction set";
    static constexpr std::array<std::string_view, 3> names{"baseline", "avx2", "avx512"};
};

constexpr std::string_view to_string(InstructionSet set) { return name_of(set); }

/// The set, or the widest one where the choice is automatic.
/// @throws ValueOutOfBoundsError when this processor does not have it.
InstructionSet available_instruction_set(AutoChoice<InstructionSet> choice);
/// The set named "auto" (the widest), "baseline", "avx2" or "avx512".
/// @throws UnknownNameError for another name, ValueOutOfBoundsError when this processor does not have it.
InstructionSet parse_instruction_set(std::string_view name);

/// Bytes of a vector register.
template <InstructionSet set>
inline constexpr std::size_t vector_bytes = set == InstructionSet::avx512 ? 64
                                            : set == InstructionSet::avx2 ? 32
                                                                          : 16;

#define RANVIER_ALWAYS_INLINE [[gnu::always_inline]] inline

// RANVIER_NO_OVERLAP precedes a loop whose arrays do not overlap where the compiler cannot prove it.
#if defined(__clang__)
#define RANVIER_NO_OVERLAP _Pragma("clang loop vectorize(assume_safety)")
#else
#define RANVIER_NO_OVERLAP _Pragma("GCC ivdep")
#endif

// RANVIER_HAS_WIDER_SETS: whether code for more than the baseline is compiled. Only x86-64 has sets beyond the one that
// every processor of the architecture has and that compilers use unasked.
#if defined(__x86_64__)
#define RANVIER_HAS_WIDER_SETS 1
#define RANVIER_TARGET_AVX2 [[gnu::target("avx2,bmi2")]]
#define RANVIER_AVX512_FEATURES "avx512f,avx512dq,avx512bw,avx512vl,avx512cd,avx2,bmi2"
#if defined(__clang__)
// Clang has no attribute that requests the widest registers; it uses them wherever a function may.
#define RANVIER_TARGET_AVX512 [[gnu::target(RANVIER_AVX512_FEATURES)]]
#else
#define RANVIER_TARGET_AVX512 [[gnu::target(RANVIER_AVX512_FEATURES ",prefer-vector-width=512")]]
#endif
#else
#define RANVIER_HAS_WIDER_SETS 0
#endif

/// Compiles `Kernel::run`, which must be RANVIER_ALWAYS_INLINE together with all that it calls, once for each
/// instruction set. It must not call functions of the standard library that are not inlined: the linker may keep the
/// copy that was compiled for another set.
///
/// A kernel that depends on the set may have `template <InstructionSet set> ... run(...)` instead.
template <class Kernel>
struct Dispatched {
    template <class... Arguments>
    static auto call([[maybe_unused]] InstructionSet set, Arguments... arguments) {
#if RANVIER_HAS_WIDER_SETS
        switch (set) {
            case InstructionSet::avx512:
                return avx512(arguments...);
            case InstructionSet::avx2:
                return avx2(arguments...);
            case InstructionSet::baseline:
                break;
        }
#endif
        return baseline(arguments...);
    }

   private:
    template <InstructionSet set, class... Arguments>
    RANVIER_ALWAYS_INLINE static auto run(Arguments... arguments) {
        if constexpr (requires { Kernel::template run<set>(arguments...); }) {
            return Kernel::template run<set>(arguments...);
        } else {
            return Kernel::run(arguments...);
        }
    }

    template <class... Arguments>
    [[gnu::noinline]] static auto baseline(Arguments... arguments) {
        return run<InstructionSet::baseline>(arguments...);
    }
#if RANVIER_HAS_WIDER_SETS
    template <class... Arguments>
    [[gnu::noinline]] RANVIER_TARGET_AVX2 static auto avx2(Arguments... arguments) {
        return run<InstructionSet::avx2>(arguments...);
    }
    template <class... Arguments>
    [[gnu::noinline]] RANVIER_TARGET_AVX512 static auto avx512(Arguments... arguments) {
        return run<InstructionSet::avx512>(arguments...);
    }
#endif
};

}  // namespace ranvier
