#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/backend/backend.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/nvrtc.hpp"

namespace ranvier::device {

struct CudaOptions {
    /// Its number, among those that are visible; none: processes of a host take them in turn.
    std::optional<int> device = 0;
    int host_rank = 0;  ///< of this process among those of its host
    /// Blocks of threads, which all run at once; 0: one for each multiprocessor.
    u32 blocks = 0;
    /// Of a block, a multiple of 32, at least the number of blocks; 0: as many as the registers allow.
    u32 threads = 0;
    /// Spikes that a block has room for, at least; 0: chosen.
    u32 spike_room = 0;
    u32 arrival_room = 512;
    Tuning tuning = {};
    std::string driver_path = {};  ///< of libcuda.so.1; empty: by its name
    /// Of NVRTC's libraries: the first one that the driver is new enough for is used. Empty: by its names.
    std::vector<std::string> compiler_paths = {};
};

/// A GPU with the kernels of core/device/kernel.
/// @throws DeviceError without a driver, a device or NVRTC, or if one is too old
std::unique_ptr<Backend> make_cuda_device(const CudaOptions& options);

/// The same with a driver and a compiler that are loaded already.
std::unique_ptr<Backend> make_cuda_device(const CudaOptions& options, std::shared_ptr<const Driver> driver,
                                          std::shared_ptr<const KernelCompiler> compiler);

/// A GPU with nothing on it.
struct GpuDescription {
    std::string name;
    u32 multiprocessors = 0;
    u64 bytes = 0;
    u64 free_bytes = 0;  ///< now
};
/// @param number among those that are visible
/// @throws DeviceError without a driver or this GPU
GpuDescription describe_gpu(int number, std::shared_ptr<const Driver> driver);

/// The first of these compilers whose code a driver of this version of CUDA runs, or the last one.
/// @throws DeviceError if one cannot be loaded
std::shared_ptr<const KernelCompiler> find_compiler(std::span<const std::string> paths, int driver_version);

}  // namespace ranvier::device
