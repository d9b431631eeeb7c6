#pragma once

#include <cstddef>
#include <cstdint>

#include "base/x86_intrinsics.hpp"
#include "ranvier/base/instruction_set.hpp"

/// How neurons set inputs that they have read to -0.0, where most inputs are -0.0 as they were.
///
/// Neurons whose state and inputs do not fit the first cache wait for lines that are written back from it, more than for
/// those that are fetched. So a line of inputs to which nothing came should not be written to. Whether there is one cannot
/// be foreseen, so that a branch would take longer; AVX-512 writes those elements of a vector that a mask names, which may be
/// none.
namespace ranvier::models::point_neuron {

inline constexpr std::size_t inputs_of_vector = 8;

#if defined(__x86_64__)
inline constexpr bool can_clear_where_needed = true;

/// GCC would go around each write that a mask names if it vectorised a loop; here it must not.
/// @param count a multiple of inputs_of_vector
[[gnu::noinline]] RANVIER_TARGET_AVX512 inline void clear_where_needed(double* inputs, std::size_t count) {
    const __m512i nothing = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
    for (std::size_t k = 0; k < count; k += inputs_of_vector) {
        const __mmask8 some = _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(inputs + k), nothing);
        _mm512_mask_storeu_pd(inputs + k, some, _mm512_castsi512_pd(nothing));
    }
}

/// To how many vectors of inputs something has come. @param count a multiple of inputs_of_vector
[[gnu::noinline]] RANVIER_TARGET_AVX512 inline std::size_t count_reached(const double* inputs, std::size_t count) {
    const __m512i nothing = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
    std::size_t reached = 0;
    for (std::size_t k = 0; k < count; k += inputs_of_vector) {
        reached += _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(inputs + k), nothing) != 0 ? 1 : 0;
    }
    return reached;
}
#else
// Nobody calls these.
inline constexpr bool can_clear_where_needed = false;
void clear_where_needed(double* inputs, std::size_t count);
std::size_t count_reached(const double* inputs, std::size_t count);
#endif

enum class Clearing : std::uint8_t { all, where_needed, where_needed_and_count };

/// How a group clears inputs: all where something comes to many of them, since this takes less time then. It changes no
/// result.
class ClearingChoice {
   public:
    /// @param bytes that a step goes through
    explicit ClearingChoice(std::size_t bytes) : may_help_(can_clear_where_needed && bytes > near_cache) {}

    Clearing next() {
        if (!may_help_) return Clearing::all;
        call_ = (call_ + 1) % calls_of_choice;
        if (call_ == 0) return Clearing::where_needed_and_count;
        return many_ ? Clearing::all : Clearing::where_needed;
    }
    /// @param vectors that were looked at, and to how many of these something had come
    void learn(std::size_t vectors, std::size_t reached) { many_ = 4 * reached > vectors; }

   private:
    // Measured with caches of 48 kB: groups of 57 kB clear all in less time, those of 115 kB what needs it.
    static constexpr std::size_t near_cache = 80 * 1024;
    static constexpr std::uint32_t calls_of_choice = 256;

    bool may_help_;
    bool many_ = false;
    std::uint32_t call_ = 0;
};

}  // namespace ranvier::models::point_neuron
