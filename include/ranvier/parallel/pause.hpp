#pragma once

namespace ranvier::parallel {

/// Tells the processor that the thread looks again and again at something that another thread will change: it then leaves
/// the execution units to the other hardware thread of the core, and saves power. Between 10 and 100 ns, or nothing where
/// the architecture has no such instruction.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    // "yield" does nothing on most of these processors; this waits about as long as x86's instruction.
    __asm__ volatile("isb" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ volatile("or 27,27,27" ::: "memory");
#endif
}

}  // namespace ranvier::parallel
