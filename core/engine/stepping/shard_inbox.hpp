#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "engine/shard/shard.hpp"
#include "engine/stepping/spike_log.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::engine {

/// Hands spikes to the tables of a shard that does not wait for others: they come in no order, and may have been emitted in
/// steps that the shard has not reached.
///
/// Most tables add what arrives later, whenever it is. Synapses that learn take a spike when the shard has reached its step,
/// and transmitters, whose spikes are counted step by step, in the step before that in which it arrives.
class ShardInbox {
   public:
    explicit ShardInbox(Shard& shard);

    /// @param now the step that the shard has reached
    void take(std::span<const StampedSpike> spikes, Step now);
    /// Hands over what is due by this step.
    void hand_over(Step now);
    /// The first step by which something that is held is due, or one far away.
    Step next_due() const;
    /// Hands over all that is held: those that are told of it have all that comes before.
    void hand_over_all(Step now);

   private:
    struct Held {
        Step due = 0;
        Step stamp = 0;
        RowIndex row;
    };
    struct Table {
        connect::KindIndex kind;
        Step wait = 0;  ///< from the stamp until a spike is due
        std::pmr::vector<Held> held;  ///< a heap: the first one that is due is at the front
    };

    void hand_over(Table& table, Step last, Step now);

    Shard& shard_;
    std::vector<connect::KindIndex> direct_;  ///< kinds of tables that take spikes at once
    std::vector<Table> tables_;               ///< the others
    std::pmr::vector<RowIndex> rows_;
    std::vector<NeuronId> sources_;
};

}  // namespace ranvier::engine
