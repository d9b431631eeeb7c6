#include "engine/devices/backends.hpp"

#include <algorithm>

#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

std::unique_ptr<device::Backend> make_backend(const SimulationOptions& options, std::uint32_t threads,
                                              std::uint64_t seed) {
    if (options.device == "cpu") return nullptr;
    if (options.device == "cuda-emulator") {
        constexpr std::uint32_t least_blocks = 4;
        constexpr std::uint32_t least_threads = 64;
        const std::uint32_t blocks = options.shards > 0 ? options.shards : std::max(threads, least_blocks);
        const std::uint32_t warps = (blocks + device::warp_size - 1) / device::warp_size;
        return device::make_emulator(
            {.blocks = blocks, .threads = std::max(least_threads, warps * device::warp_size), .seed = seed});
    }
    throw UnknownNameError({.object = "device",
                            .value = options.device,
                            .bound = "there are cpu and cuda-emulator",
                            .remedy = "use one of them"});
}

}  // namespace ranvier::engine
