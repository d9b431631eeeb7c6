/// The kernel of a run. The text of a network's models (program_source.hpp) comes before it.
extern "C" __global__ void RANVIER_LAUNCH_BOUNDS run(const __grid_constant__ ranvier::device::Parameters parameters) {
    using namespace ranvier::device;
    extern __shared__ uint4 memory[];  // Shared::bytes(...)
    const Models models;
    Block<Models> block(parameters, models, blockIdx.x, blockDim.x, reinterpret_cast<Shared*>(memory));
    block.begin(threadIdx.x);
    __syncthreads();
    for (Part part = block.first_part(); part != Part::done; part = block.next(part)) {
        // The record that it waits for is written by another block: all of them run at once.
        while (!block.run(part, threadIdx.x)) {
        }
        __syncthreads();
    }
    block.end(threadIdx.x);
}
