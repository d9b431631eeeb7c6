#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cmath>
#include <limits>

namespace ranvier {

/// The number, or for a subnormal one the zero of its sign.
inline double without_subnormal(double number) {
    return std::abs(number) < std::numeric_limits<double>::min() ? std::copysign(0.0, number) : number;
}

/// While it lives, subnormal numbers count as zero on this thread. Currents and potentials that decay exponentially
/// become subnormal at last, and with such numbers many processors calculate a hundred times slower. It holds for all
/// instruction sets alike, so that results stay the same.
class FlushSubnormals {
   public:
#if defined(__SSE2__)
    FlushSubnormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | flush_results | read_as_zero); }
    ~FlushSubnormals() { _mm_setcsr(saved_); }
#else
    FlushSubnormals() = default;
    ~FlushSubnormals() = default;
#endif
    FlushSubnormals(const FlushSubnormals&) = delete;
    FlushSubnormals& operator=(const FlushSubnormals&) = delete;

#if defined(__SSE2__)
   private:
    static constexpr unsigned flush_results = 0x8000;
    static constexpr unsigned read_as_zero = 0x0040;

    unsigned saved_;
#endif
};

}  // namespace ranvier
