#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/backend/backend.hpp"
#include "device/cuda/cuda_device.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/engine/options.hpp"

namespace ranvier::engine {

/// The device of the option, or null for processors.
/// @param threads of the team that builds the network: at most one for each block
/// @param seed of the orders in which the emulator takes blocks and warps
/// @throws UnknownNameError, StateError, and DeviceError if a GPU, its driver or its compiler is missing or too old
std::unique_ptr<device::Backend> make_backend(const SimulationOptions& options, std::uint32_t threads,
                                              std::uint64_t seed, const comm::Communicator& communicator);

/// The GPU of a name: "cuda", which is the first one, or "cuda:2".
/// @throws UnknownNameError for other names, DeviceError without a driver or this GPU
device::GpuDescription describe_gpu(const std::string& name);

/// @param name, identity of the device of this process
/// @throws DeviceError if this process and another one have the same GPU, unless the user has named it @note Collective.
void check_different_devices(const std::string& name, const device::DeviceIdentity& identity,
                             const SimulationOptions& options, comm::Communicator& communicator);

}  // namespace ranvier::engine
