#include "device/kernel/construction.hpp"

/// The kernel of the parts of a construction: threads of all blocks share the work of one.
extern "C" __global__ void construct(const __grid_constant__ ranvier::device::Construction construction,
                                     ranvier::device::BuildPart part) {
    using namespace ranvier::device;
    build(construction, part, u64{blockIdx.x} * blockDim.x + threadIdx.x, u64{gridDim.x} * blockDim.x);
}
