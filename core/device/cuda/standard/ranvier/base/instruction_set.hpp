#pragma once

#define RANVIER_ALWAYS_INLINE __device__ __forceinline__
