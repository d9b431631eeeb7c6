#pragma once

namespace ranvier::parallel {

/// Hint to the processor in a polling loop: it leaves the execution units to the other hardware thread of the core, and
/// saves power. Takes 10 to 100 ns, or nothing where the architecture has no such instruction.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    // "yield" has no effect on most of these processors; this waits about as long as x86's instruction.
    __asm__ volatile("isb" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ volatile("or 27,27,27" ::: "memory");
#endif
}

}  // namespace ranvier::parallel
