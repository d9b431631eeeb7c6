#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "comm/exchange.hpp"
#include "connect/layout.hpp"

namespace ranvier::engine {

/// Spikes that the neurons of a shard are said to send in a dry run, in place of their own: a Poisson process for each
/// neuron, which depends on the seed and the neuron alone.
class InventedSpikes {
   public:
    /// @param populations whose neurons send
    /// @param rate spikes per step of each neuron, >= 0
    InventedSpikes(const connect::ShardLayout& layout, std::span<const PopulationId> populations, std::uint64_t seed,
                   double rate);

    /// Appends the spikes of a step, ascending by neuron. @pre steps are asked for one after the other
    void append(Step step, std::uint32_t lag, std::vector<comm::EmittedSpike>& outbox);

    std::uint64_t bytes() const { return queue_.capacity() * sizeof(Next); }

   private:
    /// The next spike of a neuron.
    struct Next {
        Step step = 0;
        double time = 0.0;  ///< in steps, within this one
        NeuronId neuron;
        std::uint32_t local = 0;
        std::uint32_t drawn = 0;  ///< spikes of this neuron so far
    };
    static bool is_later(const Next& a, const Next& b) {
        return a.step != b.step ? a.step > b.step : a.local > b.local;
    }
    void draw(Next& next) const;

    RandomKey key_;
    double rate_;
    std::vector<Next> queue_;  ///< a heap, with the earliest one in front
};

}  // namespace ranvier::engine
