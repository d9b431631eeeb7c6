#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/backend/backend.hpp"

/// Where the arrays of a network are in the memory of a device.
namespace ranvier::device {

/// Places of arrays of a block, in bytes from the start of the allocation. Groups have an allocation of their own: it
/// changes with their constants. So have rows that were constructed.
struct BlockPlaces {
    u64 state = 0;
    u64 refractory = 0;
    u64 rows = 0;  ///< RowTable::words; a table of begins has the most
    u64 synapses = 0;
    u64 ring = 0;
    u64 lists = 0;
    u64 spikes = 0;
    u32 spike_room = 0;
    u32 list_room = 0;
};

struct MemoryPlan {
    u64 data = 0;     ///< of BlockData, by block
    u64 records = 0;  ///< for two epochs
    u64 control = 0;
    u64 spike_counts = 0;  ///< u32 by block
    u64 events = 0;        ///< u64 by block
    u64 clocks = 0;        ///< u64 by block and part
    std::vector<BlockPlaces> blocks;
    u64 bytes = 0;
    DeviceBytes purposes;  ///< of these bytes
};

/// Room for spikes of a block besides what two epochs need: 1 MB.
inline constexpr u32 usual_spike_room = 65536;
/// Memory of a GPU that is left to the driver, for the stacks of threads and other programs.
inline constexpr u64 spare_bytes = u64{64} << 20;

/// Each array begins at a multiple of this.
inline constexpr u64 array_alignment = 256;

/// Room for the spikes of a block with at most so many in a step.
/// @param least of it
inline u64 spike_room_for(u32 epoch_steps, u32 most_in_step, u32 least) {
    // Less would fill up before the first epoch has ended (Block::publish_record).
    return std::max<u64>(4 * u64{epoch_steps} * most_in_step, least);
}

/// @param spike_room least room for spikes of a block
/// @throws StateError if a block has more neurons than a record can name
MemoryPlan plan_memory(const NetworkImage& image, u32 spike_room);

/// Groups of a block with all that they point to, as bytes.
struct PackedGroups {
    std::vector<std::byte> bytes;
    const Group* groups = nullptr;  ///< addresses on the device
    const Constant* constants = nullptr;
    u32 constant_count = 0;
};

/// @param address to which the bytes will be copied
PackedGroups pack_groups(std::span<const GroupImage> groups, std::span<const DeviceProgram> programs, u64 address);

/// Courses of all blocks as bytes to be copied to `address`.
/// @param places receives where those of each block are
std::vector<std::byte> pack_courses(i64 first, std::span<const BlockCourses> blocks, u64 address,
                                    std::vector<Courses>& places);

}  // namespace ranvier::device
