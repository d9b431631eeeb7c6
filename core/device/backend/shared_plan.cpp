#include "device/backend/shared_plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "device/kernel/block.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

constexpr u32 sum_bytes = sizeof(i64);

/// Places of arrays one after another.
class Offsets {
   public:
    template <class Element>
    u32 add(u64 count) {
        const u64 place = (end_ + sizeof(u64) - 1) / sizeof(u64) * sizeof(u64);
        end_ = place + count * sizeof(Element);
        return static_cast<u32>(place);
    }
    u64 end() const { return end_; }

   private:
    u64 end_ = sizeof(Shared);
};

/// The near steps of the receptors of a block.
class NearSteps {
   public:
    explicit NearSteps(const BlockImage& block) : block_(block), near_(block.receptors.size(), 0) {
        for (const ReceptorImage& receptor : block.receptors) waiting_.push_back(tail(receptor));
    }

    /// Lengthens the rings while there is room.
    void fill(u64 bytes) {
        for (;;) {
            std::size_t best = near_.size();
            for (std::size_t r = 0; r < near_.size(); ++r) {
                if (near_[r] == block_.receptors[r].delays || needed_with(r) > bytes) continue;
                if (best == near_.size() || is_more_urgent(r, best)) best = r;
            }
            if (best == near_.size()) return;
            ++near_[best];
        }
    }

    u32 operator[](std::size_t receptor) const { return near_[receptor]; }

    u32 flag_words(std::size_t r) const {
        const ReceptorImage& receptor = block_.receptors[r];
        if (near_[r] == 0 || near_[r] >= receptor.delays) return 0;
        return static_cast<u32>((u64{block_.slots} * receptor.inputs + 31) / 32);
    }

   private:
    /// Element k: the share of synapses whose delay is longer than k.
    static std::vector<double> tail(const ReceptorImage& receptor) {
        std::vector<double> longer(receptor.delays + std::size_t{1}, 0.0);
        for (u32 delay = receptor.delays; delay > 0; --delay) {
            // Where nothing is known of the delays, all are as frequent.
            const double count = receptor.delay_counts.empty() ? 1.0 : receptor.delay_counts[delay];
            longer[delay - 1] = longer[delay] + count;
        }
        return longer;
    }

    /// Whether one more step spares more synapses of an input the way through the memory of the device.
    bool is_more_urgent(std::size_t r, std::size_t other) const {
        const auto value = [&](std::size_t of) {
            return waiting_[of][near_[of]] / std::max(1.0, static_cast<double>(block_.receptors[of].inputs));
        };
        return value(r) > value(other);
    }

    u64 needed_with(std::size_t more) {
        ++near_[more];
        u64 bytes = 0;
        for (std::size_t r = 0; r < near_.size(); ++r) {
            bytes += u64{near_[r]} * block_.receptors[r].inputs * sum_bytes + u64{flag_words(r)} * sizeof(u32);
        }
        --near_[more];
        return bytes;
    }

    const BlockImage& block_;
    std::vector<u32> near_;
    std::vector<std::vector<double>> waiting_;
};

u64 constant_count(const BlockImage& block) {
    u64 count = 0;
    for (const GroupImage& group : block.groups) count += group.constants.size();
    return count;
}

/// The arrays that are there in any case.
Offsets add_lists(SharedPlaces& places, const BlockImage& block, u32 blocks, u32 arrival_room) {
    Offsets offsets;
    places.groups = offsets.add<Group>(block.groups.size());
    places.constants = offsets.add<Constant>(constant_count(block));
    places.places = offsets.add<u32>(blocks);
    places.arrivals = offsets.add<Row>(2 * u64{arrival_room});
    if (block.has_tables) places.sources = offsets.add<u32>(arrival_room);
    return offsets;
}

/// Alignment of the arrays that follow.
constexpr u64 slack = 8 * sizeof(u64);

}  // namespace

SharedNeed shared_need(const BlockImage& block, std::span<const DeviceProgram> programs, u32 blocks, u32 arrival_room) {
    SharedPlaces places;
    const u64 lists = add_lists(places, block, blocks, arrival_room).end() + slack;
    u64 most = lists;
    for (const ReceptorImage& receptor : block.receptors) most += u64{receptor.delays} * receptor.inputs * sum_bytes;
    u32 variables = 0;
    for (const DeviceProgram& program : programs) variables = std::max(variables, program.variables);
    most += u64{block.neurons} * (variables * sizeof(double) + sizeof(i32));
    return {.least = static_cast<u32>(lists), .most = most};
}

SharedPlan plan_shared(const BlockImage& block, std::span<const DeviceProgram> programs, u32 blocks,
                       const SharedRoom& room) {
    const SharedNeed need = shared_need(block, programs, blocks, room.arrival_room);
    if (need.least > room.bytes) {
        throw StateError({.object = "shared memory of a block of threads",
                          .value = std::to_string(need.least) + " bytes for lists of spikes",
                          .bound = "there are " + std::to_string(room.bytes),
                          .remedy = "use fewer blocks (shards)"});
    }
    SharedPlan plan;
    SharedPlaces& places = plan.places;
    Offsets offsets = add_lists(places, block, blocks, room.arrival_room);
    // State is read and written in each step, a sum of a later step seldom.
    const u64 state = u64{block.variables} * block.neurons;
    const u64 state_bytes = state * sizeof(double) + u64{block.neurons} * sizeof(i32);
    if (!room.has_registers && block.neurons > 0 && state_bytes <= (room.bytes - need.least) / 2) {
        places.state = offsets.add<double>(state);
        places.refractory = offsets.add<i32>(block.neurons);
    }
    NearSteps near(block);
    near.fill(room.bytes - std::min<u64>(room.bytes, offsets.end() + slack));
    u64 sums = 0;
    const std::vector<Receptor> numbers = numbered(block.receptors);
    for (std::size_t r = 0; r < numbers.size(); ++r) {
        Receptor& receptor = plan.receptors[r];
        receptor = numbers[r];
        receptor.near = near[r];
        receptor.first_near = static_cast<u32>(sums);
        receptor.first_flag = places.flag_words;
        sums += u64{near[r]} * receptor.inputs;
        places.flag_words += near.flag_words(r);
    }
    places.low = offsets.add<u32>(sums);
    places.high = offsets.add<u32>(sums);
    places.flags = offsets.add<u32>(places.flag_words);
    places.bytes = static_cast<u32>(offsets.end());
    return plan;
}

}  // namespace ranvier::device
