#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/backend/backend.hpp"
#include "engine/shard/shard.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/state_columns.hpp"

namespace ranvier::engine {

/// Whether the host takes the neurons of a group through their steps, since nothing that arrives changes their spikes.
inline bool is_played(const ShardGroup& group) { return group.model->is_source || group.model->ignores_input; }

/// A stimulus without a kernel.
struct HostStimulus {
    std::size_t stimulus = 0;  ///< of the shard
    std::uint64_t targets = 0;
};

/// What the host calculates for the blocks of a device: the numbers of stimuli that have no kernel, and the spikes of
/// groups that are played. The state of both is that of the shards.
class DeviceCourses {
   public:
    /// @param device its name
    DeviceCourses(std::span<const std::unique_ptr<Shard>> shards, std::string device);

    /// Sets which stimuli of each shard have no kernel. Their indices among the courses of the block are in this order.
    void set_stimuli(std::span<const std::vector<HostStimulus>> stimuli) {
        stimuli_.assign(stimuli.begin(), stimuli.end());
    }
    /// Whether there is nothing to calculate.
    bool is_empty() const;

    /// Calculates the steps from `first` to `last`, or to an earlier one, which it returns, if they need much memory.
    /// @throws StateError if a block has more spikes in a step than a record can count
    Step calculate(Step first, Step last);
    /// Of the steps that were calculated last, by shard.
    std::span<const device::BlockCourses> blocks() const { return blocks_; }
    /// Takes the state of stimuli and groups back from the last step that was calculated.
    void take_back(Step now);

   private:
    using Columns = std::vector<StateColumns::Column>;

    /// The last step up to which rows take little memory.
    Step fitting_end(Step first, Step last) const;
    void add_rows(std::size_t shard, Step first, Step last);
    void play(std::size_t shard, Step first, Step last);
    /// The spikes of a group.
    const std::pmr::vector<models::GroupSpike>& advance(const ShardGroup& group, Step first, Step last);
    /// Calls visit(owners, serialize) for all that have state, always in the same order: serialize(owner, columns).
    template <class Visit>
    void for_states(Step now, const Visit& visit) const;
    void save();
    void restore();

    std::span<const std::unique_ptr<Shard>> shards_;
    std::string device_;
    std::vector<std::vector<HostStimulus>> stimuli_;  ///< by shard
    bool plays_ = false;
    Step first_ = 1;
    Step last_ = 0;
    std::vector<device::BlockCourses> blocks_;
    std::vector<Columns> saved_;  ///< the states before the first step
    std::pmr::vector<models::GroupSpike> spikes_;
    std::vector<std::uint32_t> room_;
    std::vector<double> numbers_;
};

}  // namespace ranvier::engine
