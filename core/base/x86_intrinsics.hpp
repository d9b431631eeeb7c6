#pragma once

/// The intrinsic functions of x86-64 processors, if available.

#if defined(__x86_64__)
#if !defined(__clang__)
// GCC 12 reports registers that its header leaves undefined on purpose (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
