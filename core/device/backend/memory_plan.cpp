#include "device/backend/memory_plan.hpp"

#include <algorithm>
#include <string>

#include "device/backend/packer.hpp"
#include "device/kernel/block.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

/// Appends arrays.
class Places {
   public:
    /// @param purpose counts the bytes
    template <class Element>
    u64 add(u64 count, u64& purpose) {
        const u64 place = end_;
        const u64 bytes = (count * sizeof(Element) + array_alignment - 1) / array_alignment * array_alignment;
        end_ += bytes;
        purpose += bytes;
        return place;
    }
    u64 end() const { return end_; }

   private:
    u64 end_ = 0;
};

}  // namespace

MemoryPlan plan_memory(const NetworkImage& image, u32 spike_room) {
    MemoryPlan plan;
    Places places;
    const u64 epochs = 2 * u64{image.epoch_steps};
    DeviceBytes& sums = plan.purposes;
    plan.data = places.add<BlockData>(image.blocks.size(), sums.state);
    plan.records = places.add<Record>(epochs * image.blocks.size(), sums.spikes);
    plan.control = places.add<Control>(1, sums.spikes);
    plan.spike_counts = places.add<u32>(image.blocks.size(), sums.spikes);
    plan.events = places.add<u64>(image.blocks.size(), sums.spikes);
    plan.clocks = places.add<u64>(image.blocks.size() * part_count, sums.spikes);
    for (const BlockImage& block : image.blocks) {
        // A record counts spikes in 15 bits.
        if (block.neurons >= Record::stop) {
            throw StateError({.object = "neurons of a block of threads of the GPU",
                              .value = std::to_string(block.neurons),
                              .bound = "there can be " + std::to_string(Record::stop - 1),
                              .remedy = "use more blocks, or simulate on processors: leave out `device`"});
        }
        const u64 room = spike_room_for(image.epoch_steps, block.most_spikes(0), spike_room);
        plan.blocks.push_back({.state = places.add<double>(u64{block.variables} * block.neurons, sums.state),
                               .refractory = places.add<i32>(block.neurons, sums.state),
                               .rows = places.add<u64>(u64{block.rows} + RowTable::entry_words, sums.synapses),
                               .synapses = places.add<Synapse>(image.has_rows ? 0 : block.synapses, sums.synapses),
                               .ring = places.add<i64>(u64{block.slots} * block.inputs(), sums.rings),
                               .lists = places.add<u16>(epochs * block.most_spikes(0), sums.spikes),
                               .spikes = places.add<Spike>(room, sums.spikes),
                               .spike_room = static_cast<u32>(room),
                               .list_room = block.most_spikes(0)});
    }
    plan.bytes = places.end();
    return plan;
}

PackedGroups pack_groups(std::span<const GroupImage> images, std::span<const DeviceProgram> programs, u64 address) {
    Packer packer(address);
    std::vector<Group> groups;
    std::vector<Constant> constants;
    for (const GroupImage& image : images) {
        Group group = numbers_of(image, programs, static_cast<u32>(constants.size()));
        for (const std::vector<double>& values : image.constants) {
            constants.push_back(constant_of(values, packer.address<double>(packer.add<double>(values))));
        }
        const auto place = [&]<class Element>(const std::vector<Element>& values) {
            return packer.address<Element>(packer.add<Element>(values));
        };
        std::vector<Signal> signals;
        signals.reserve(image.signals.size());
        for (const SignalImage& each : image.signals) signals.push_back(signal_of(each, place));
        group.refractory_steps = packer.address<i32>(packer.add<i32>(image.refractory_steps));
        group.signals = packer.address<Signal>(packer.add<Signal>(signals));
        group.ids = packer.address<u64>(packer.add<u64>(image.ids));
        groups.push_back(group);
    }
    PackedGroups packed;
    packed.groups = packer.address<Group>(packer.add<Group>(groups));
    packed.constants = packer.address<Constant>(packer.add<Constant>(constants));
    packed.constant_count = static_cast<u32>(constants.size());
    packed.bytes = packer.finish();
    return packed;
}

std::vector<std::byte> pack_courses(i64 first, std::span<const BlockCourses> blocks, u64 address,
                                    std::vector<Courses>& places) {
    Packer packer(address);
    places.clear();
    for (const BlockCourses& block : blocks) {
        Courses courses{.first = first, .count = block.count};
        courses.rows = packer.address<u32>(packer.add<u32>(block.rows));
        courses.values = packer.address<double>(packer.add<double>(block.values));
        if (!block.played_begin.empty()) {
            courses.played_begin = packer.address<u32>(packer.add<u32>(block.played_begin));
            courses.played = packer.address<u16>(packer.add<u16>(block.played));
        }
        places.push_back(courses);
    }
    return packer.finish();
}

}  // namespace ranvier::device
