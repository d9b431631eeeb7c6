#include "engine/devices/backends.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "device/cuda/cuda_device.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

/// The number of a GPU of a name such as "cuda:2", or nothing for another name.
std::optional<int> cuda_number(std::string_view name) {
    if (name == "cuda") return 0;
    constexpr std::string_view prefix = "cuda:";
    if (!name.starts_with(prefix)) return std::nullopt;
    const char* const end = name.data() + name.size();
    int number = 0;
    const auto [parsed, error] = std::from_chars(name.data() + prefix.size(), end, number);
    if (error != std::errc{} || parsed != end || number < 0) return std::nullopt;
    return number;
}

}  // namespace

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
    if (const std::optional<int> number = cuda_number(options.device)) {
        return device::make_cuda_device(
            {.device = *number, .blocks = options.shards, .compiler_paths = options.device_compilers});
    }
    constexpr std::array<std::string_view, 4> names{"cpu", "cuda", "cuda:1", "cuda-emulator"};
    throw unknown_name("device", options.device, names);
}

}  // namespace ranvier::engine
