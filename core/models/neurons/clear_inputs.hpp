#pragma once

#include <cstddef>
#include <cstdint>

#include "base/x86_intrinsics.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Sets inputs to -0.0 after neurons have read them, where most inputs are still -0.0.
///
/// Neurons whose state and inputs exceed the first cache wait longer for lines that are written back than for lines
/// that are fetched. So a line of inputs that nothing was added to should not be written. A branch on this would be
/// mispredicted; AVX-512 writes the elements of a vector that a mask selects, possibly none.
namespace ranvier::models::point_neuron {

inline constexpr std::size_t inputs_of_vector = 8;

#if defined(__x86_64__)
inline constexpr bool can_clear_where_needed = true;

/// If GCC vectorised the loop, it would branch around each masked write, so vectorisation is disabled.
/// @param count a multiple of inputs_of_vector
[[gnu::noinline]] RANVIER_TARGET_AVX512 inline void clear_where_needed(double* inputs, std::size_t count) {
    const __m512i nothing = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
    for (std::size_t k = 0; k < count; k += inputs_of_vector) {
        const __mmask8 some = _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(inputs + k), nothing);
        _mm512_mask_storeu_pd(inputs + k, some, _mm512_castsi512_pd(nothing));
    }
}

/// The number of vectors of inputs that something was added to.
[[gnu::noinline]] RANVIER_TARGET_AVX512 inline std::size_t count_reached(const double* inputs, std::size_t count) {
    const __m512i nothing = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
    std::size_t reached = 0;
    for (std::size_t k = 0; k < count; k += inputs_of_vector) {
        reached += _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(inputs + k), nothing) != 0 ? 1 : 0;
    }
    return reached;
}
#else
// Never called.
inline constexpr bool can_clear_where_needed = false;
void clear_where_needed(double* inputs, std::size_t count);
std::size_t count_reached(const double* inputs, std::size_t count);
#endif

enum class Clearing : std::uint8_t { all, where_needed, where_needed_and_count };

/// Decides whether a group clears all its inputs, which is faster if many of them received something. The results are
/// the same.
class ClearingChoice {
   public:
    /// @param bytes memory that a step accesses
    explicit ClearingChoice(std::size_t bytes) : may_help_(can_clear_where_needed && bytes > near_cache) {}

    Clearing next() {
        if (!may_help_) return Clearing::all;
        call_ = (call_ + 1) % calls_of_choice;
        if (call_ == 0) return Clearing::where_needed_and_count;
        return many_ ? Clearing::all : Clearing::where_needed;
    }
    /// @param vectors number of vectors checked
    /// @param reached number of those that something was added to
    void learn(std::size_t vectors, std::size_t reached) { many_ = 4 * reached > vectors; }

   private:
    // Measured with caches of 48 kB: clearing all is faster for groups of 57 kB, clearing only reached inputs for
    // groups of 115 kB.
    static constexpr std::size_t near_cache = 80 * 1024;
    static constexpr std::uint32_t calls_of_choice = 256;

    bool may_help_;
    bool many_ = false;
    std::uint32_t call_ = 0;
};

}  // namespace ranvier::models::point_neuron
