#pragma once

/// The intrinsic functions of x86-64 processors, where there are any.

#if defined(__x86_64__)
#if !defined(__clang__)
// GCC 12 takes the registers that its own header leaves undefined on purpose for a mistake (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
