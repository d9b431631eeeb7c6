#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::engine {

/// Spikes that replace those of the neurons of a shard in a dry run: a Poisson process for each neuron, which depends
/// on the seed and the neuron alone.
class InventedSpikes {
   public:
    /// A population whose spikes are replaced.
    struct Sender {
        PopulationId population;
        double rate = 0.0;  ///< spikes per step of the resolution of each neuron, >= 0
        Step stride = 1;    ///< neurons spike at its multiples
    };
    InventedSpikes(const connect::ShardLayout& layout, std::span<const Sender> senders, std::uint64_t seed,
                   std::pmr::memory_resource* memory);

    /// Appends the spikes of a step, ascending by neuron.
    /// @pre steps are consecutive
    void append(Step step, std::uint32_t lag, std::pmr::vector<comm::EmittedSpike>& outbox);

   private:
    /// The next spike of a neuron.
    struct Next {
        Step step = 0;
        double time = 0.0;  ///< in steps, within this one
        double rate = 0.0;  ///< per step
        NeuronId neuron;
        std::uint32_t local = 0;
        std::uint32_t drawn = 0;  ///< spikes of this neuron so far
        std::uint32_t stride = 1;
    };
    static bool is_later(const Next& a, const Next& b) {
        return a.step != b.step ? a.step > b.step : a.local > b.local;
    }
    void draw(Next& next) const;

    RandomKey key_;
    std::pmr::vector<Next> queue_;  ///< a heap, the earliest at the front
};

}  // namespace ranvier::engine
