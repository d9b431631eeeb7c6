#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cmath>
#include <limits>

namespace ranvier {

/// The number, or zero of the same sign for a subnormal one.
inline double without_subnormal(double number) {
    return std::abs(number) < std::numeric_limits<double>::min() ? std::copysign(0.0, number) : number;
}

/// Flushes subnormal numbers to zero on this thread during its lifetime. Currents and potentials that decay
/// exponentially become subnormal in the end, and many processors compute a hundred times slower with such numbers. All
/// instruction sets flush alike, so that results stay the same.
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
