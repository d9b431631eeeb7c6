#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "engine/shard/shard.hpp"
#include "engine/stepping/spike_log.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::engine {

/// Passes spikes to the tables of a shard with asynchronous stepping: they arrive in no order, and may have been
/// emitted in steps that the shard has not reached.
///
/// Most tables accept spikes at any time before their arrival. Synapses that learn accept a spike when the shard has
/// reached its step, and transmitters, whose spikes are counted step by step, in the step before its arrival.
class ShardInbox {
   public:
    explicit ShardInbox(Shard& shard);

    /// @param now the step that the shard has reached
    void take(std::span<const StampedSpike> spikes, Step now);
    /// Passes on the spikes that are due by this step.
    void hand_over(Step now);
    /// The first step by which a spike is due, or a step in the far future.
    Step next_due() const;
    /// Passes on all spikes: tables that are passed one get all previous ones.
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
        std::pmr::vector<Held> held;  ///< a heap, the first one due at the front
    };

    void hand_over(Table& table, Step last, Step now);

    Shard& shard_;
    std::vector<connect::KindIndex> direct_;  ///< kinds of tables that accept spikes at once
    std::vector<Table> tables_;               ///< the others
    std::pmr::vector<RowIndex> rows_;
    std::vector<NeuronId> sources_;
};

}  // namespace ranvier::engine
