#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::engine {

/// Spikes that a shard sends again after a state was loaded, to restore those that static synapses had in transit.
class Replay {
   public:
    /// @param sent in any order
    void begin(std::vector<std::pair<Step, LocalIndex>> sent) {
        sent_ = std::move(sent);
        std::sort(sent_.begin(), sent_.end());
        next_ = 0;
    }
    /// Calls send(neuron) for those of a step.
    /// @pre steps are consecutive
    template <class Send>
    void send(Step step, Send send) {
        for (; next_ < sent_.size() && sent_[next_].first == step; ++next_) send(sent_[next_].second);
    }
    void end() { sent_ = {}; }

   private:
    std::vector<std::pair<Step, LocalIndex>> sent_;
    std::size_t next_ = 0;
};

}  // namespace ranvier::engine
