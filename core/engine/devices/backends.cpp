#include "engine/devices/backends.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/option_choices.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

/// Processes take GPUs in turn.
constexpr std::string_view any_gpu = "cuda";

/// The number of a GPU of a name such as "cuda:2", or nothing for another name.
std::optional<int> cuda_number(std::string_view name) {
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
                                              std::uint64_t seed, const comm::Communicator& communicator) {
    if (options.device == "cpu") return nullptr;
    const char* const given = std::getenv("RANVIER_DEVICE_TUNING");
    const device::Tuning tuning = device::read_tuning(given == nullptr ? "" : given);
    if (options.device == "cuda-emulator") {
        constexpr std::uint32_t least_threads = 64;
        const std::uint32_t blocks = emulated_blocks(options, threads);
        const std::uint32_t wanted = std::max(blocks, tuning.threads.value_or(least_threads));
        const std::uint32_t warps = (wanted + device::warp_size - 1) / device::warp_size;
        return device::make_emulator(
            {.blocks = blocks, .threads = warps * device::warp_size, .seed = seed, .tuning = tuning});
    }
    const std::optional<int> number = cuda_number(options.device);
    if (number || options.device == any_gpu) {
        return device::make_cuda_device({.device = number,
                                         .host_rank = communicator.host_rank(),
                                         .blocks = options.shards,
                                         .tuning = tuning,
                                         .compiler_paths = options.device_compilers});
    }
    constexpr std::array<std::string_view, 4> names{"cpu", "cuda", "cuda:1", "cuda-emulator"};
    throw unknown_name("device", options.device, names);
}

device::GpuDescription describe_gpu(const std::string& name) {
    const std::optional<int> number = cuda_number(name);
    if (!number && name != any_gpu) {
        constexpr std::array<std::string_view, 2> names{"cuda", "cuda:1"};
        throw unknown_name("GPU", name, names);
    }
    return device::describe_gpu(number.value_or(0), device::Driver::load(""));
}

void check_different_devices(const std::string& name, const device::DeviceIdentity& identity,
                             const SimulationOptions& options, comm::Communicator& communicator) {
    std::vector<device::DeviceIdentity> all(static_cast<std::size_t>(communicator.size()));
    communicator.allgather(std::as_bytes(std::span(identity)), std::as_writable_bytes(std::span(all)));
    const auto here = static_cast<std::size_t>(communicator.rank().value);
    if (options.device != any_gpu) return;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (rank == here || all[rank] != identity) continue;
        throw DeviceError(
            {.object = "GPU " + name,
             .value = "ranks " + std::to_string(std::min(rank, here)) + " and " + std::to_string(std::max(rank, here)),
             .bound = "each rank needs one of its own, but " + std::to_string(std::ranges::count(all, identity)) +
                      " would share this one",
             .remedy = "start as many ranks on each host as it has GPUs, or name the GPU that they are to "
                       "share: device='cuda:0'"});
    }
}

}  // namespace ranvier::engine
