#pragma once

#include <span>

#include "device/backend/backend.hpp"

/// What the threads of a block have in their shared memory.
namespace ranvier::device {

struct SharedRoom {
    u32 bytes = 0;  ///< of a block
    u32 arrival_room = 512;
    /// Threads keep the variables of their neurons.
    bool has_registers = false;
};

/// The places of arrays in the shared memory of a block and, of its receptors, the steps whose sums are there. All if there is
/// room; otherwise the nearest ones, more where more synapses have long delays; none if not even one step has room.
struct SharedPlan {
    SharedPlaces places;
    Receptor receptors[most_receptors];
};

/// @param blocks of the network
/// @throws StateError if not even the lists have room
SharedPlan plan_shared(const BlockImage& block, std::span<const DeviceProgram> programs, u32 blocks,
                       const SharedRoom& room);

/// Bytes that a block needs at least, and those with which all sums are in shared memory.
struct SharedNeed {
    u32 least = 0;
    u64 most = 0;
};
SharedNeed shared_need(const BlockImage& block, std::span<const DeviceProgram> programs, u32 blocks, u32 arrival_room);

}  // namespace ranvier::device
