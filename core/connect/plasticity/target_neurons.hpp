#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "ranvier/base/buffer.hpp"

namespace ranvier::connect {

/// The target neurons of a table on a shard: it ignores spikes of others. They are numbered from the first of them on,
/// so that the cost of a population that learns does not depend on other populations of the shard.
class TargetNeurons {
   public:
    TargetNeurons() = default;
    /// @param inputs reached by the synapses
    /// @param neurons of each input; empty: inputs are numbered like neurons
    /// @param local_neurons of the shard
    template <class Target>
    TargetNeurons(std::span<const Target> inputs, std::span<const std::uint32_t> neurons, std::uint32_t local_neurons,
                  std::pmr::memory_resource* memory) {
        std::vector<std::uint8_t> reached(local_neurons, 0);
        if (neurons.empty()) {
            for (const Target input : inputs) reached[input] = 1;
        } else {
            for (const Target input : inputs) reached[neurons[input]] = 1;
        }
        const auto begin = std::ranges::find(reached, 1);
        auto end = reached.end();
        while (end > begin && end[-1] == 0) --end;
        first_ = begin == end ? 0 : static_cast<std::uint32_t>(begin - reached.begin());
        reached_ = Buffer<std::uint8_t>(static_cast<std::size_t>(end - begin), memory);
        std::copy(begin, end, reached_.data());
    }

    /// Local index.
    std::uint32_t first() const { return first_; }
    /// From the first to the last.
    std::uint32_t size() const { return static_cast<std::uint32_t>(reached_.size()); }
    /// @param neuron local index
    bool contains(std::uint32_t neuron) const {
        const std::uint32_t number = neuron - first_;
        return number < size() && reached_[number] != 0;
    }
    /// Bytes for each neuron from the first to the last.
    static constexpr std::size_t neuron_bytes() { return sizeof(std::uint8_t); }

   private:
    std::uint32_t first_ = 0;
    Buffer<std::uint8_t> reached_;
};

}  // namespace ranvier::connect
