/// The kernel of a run. The text of a network's models (program_source.hpp) comes before it.
extern "C" __global__ void RANVIER_LAUNCH_BOUNDS run(const __grid_constant__ ranvier::device::Parameters parameters) {
    using namespace ranvier::device;
    extern __shared__ uint4 memory[];  // SharedPlaces::bytes
    const Models models;
    Block<Models> block(parameters, models, blockIdx.x, threadIdx.x, blockDim.x, reinterpret_cast<Shared*>(memory));
#if defined(RANVIER_CLOCKS)
    long long before = clock64();
#endif
    for (Part part = block.first_part(); part != Part::done; part = block.next(part)) {
        // The record that it waits for is written by another block: all of them run at once.
        while (!block.run(part)) {
        }
        if (block.has_barrier(part)) __syncthreads();
#if defined(RANVIER_CLOCKS)
        if (threadIdx.x == 0) {
            const long long now = clock64();
            add(parameters.clocks + blockIdx.x * part_count + static_cast<u32>(part), static_cast<u64>(now - before));
            before = now;
        }
#endif
    }
}
