#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace ranvier {

/// The number, or zero of the same sign for a subnormal one.
template <std::floating_point Number>
Number without_subnormal(Number number) {
    return std::abs(number) < std::numeric_limits<Number>::min() ? std::copysign(Number{0}, number) : number;
}

/// Flushes subnormal numbers to zero on this thread during its lifetime: operands as well as results, with their sign.
/// Currents and potentials that decay exponentially become subnormal in the end, and many processors compute a hundred
/// times slower with such numbers. All instruction sets flush alike, so that results stay the same.
///
/// Architectures differ in one case: where the exact result is below the smallest normal number and rounds to it, x86-64
/// returns this number, and ARM, which decides before it rounds, returns zero. These are products, quotients and
/// conversions to single precision within 2^-54 (2^-25) of it, in relation to it; sums that small are exact.
class FlushSubnormals {
   public:
    FlushSubnormals() : saved_(control()) { set_control(saved_ | flush); }
    ~FlushSubnormals() { set_control(saved_); }
    FlushSubnormals(const FlushSubnormals&) = delete;
    FlushSubnormals& operator=(const FlushSubnormals&) = delete;

   private:
#if defined(__SSE2__)
    using Control = unsigned;
    static constexpr Control flush = 0x8000 | 0x0040;  // of results, of operands
    static Control control() { return _mm_getcsr(); }
    static void set_control(Control control) { _mm_setcsr(control); }
#elif defined(__aarch64__)
    using Control = std::uint64_t;
    static constexpr Control flush = Control{1} << 24;  // of both
    static Control control() {
        Control control;
        __asm__ volatile("mrs %0, fpcr" : "=r"(control)::"memory");
        return control;
    }
    static void set_control(Control control) { __asm__ volatile("msr fpcr, %0" ::"r"(control) : "memory"); }
#else
    // Nothing is flushed: what decays slowly may have other bits than on the architectures above.
    using Control = unsigned;
    static constexpr Control flush = 0;
    static Control control() { return 0; }
    static void set_control(Control /*control*/) {}
#endif

    Control saved_;
};

}  // namespace ranvier
