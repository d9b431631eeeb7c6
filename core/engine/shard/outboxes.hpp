#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "connect/tables/recent_rows.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::engine {

/// The spikes that the neurons of a shard emit, by epoch, ascending by (step, neuron): two boxes, so that other
/// threads can read those of the last epoch while the shard fills those of the next one.
class Outboxes {
   public:
    explicit Outboxes(std::pmr::memory_resource* memory)
        : boxes_{Box(memory), Box(memory)}, unordered_(memory), sent_(memory) {}
    Outboxes(const Outboxes&) = delete;
    Outboxes& operator=(const Outboxes&) = delete;

    using Box = std::pmr::vector<comm::EmittedSpike>;
    Box& of_epoch(std::uint64_t epoch) { return boxes_[epoch % 2]; }
    Box& present() { return *present_; }
    const Box& present() const { return *present_; }
    /// Starts an epoch with an empty box.
    void begin_epoch(std::uint64_t epoch, Step first_step) {
        if (sent_steps_ > 0) note_sent(first_step);
        present_ = &boxes_[epoch % 2];
        present_->clear();
        epoch_begin_ = first_step;
    }
    /// The encoding of a step in the spikes of the present epoch.
    std::uint32_t lag(Step step) const { return static_cast<std::uint32_t>(step - epoch_begin_); }
    /// Sorts the spikes of the present box from one position on, which were emitted in some steps, by (step, neuron).
    void put_in_order(std::size_t from, Step first, Step last);

    /// From the present step on, keeps the spikes of the last steps: those that static synapses may have in transit.
    void keep_sent(Step steps) { sent_steps_ = steps; }
    /// Visits the spikes of the epochs that have ended: visit(step, neuron).
    template <class Visit>
    void visit_sent(Visit visit) const {
        sent_.for_each(visit);
    }

   private:
    /// Stores the spikes of the epoch that has ended.
    void note_sent(Step next_step);

    std::array<Box, 2> boxes_;
    Box* present_ = &boxes_[0];
    Box unordered_;  ///< scratch: spikes of several steps
    std::vector<std::size_t> lag_places_;
    Step epoch_begin_ = 1;
    Step sent_steps_ = 0;
    connect::RecentSpikes<LocalIndex> sent_;
};

}  // namespace ranvier::engine
