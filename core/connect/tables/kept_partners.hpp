#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::connect {

/// Partners that were drawn in the first pass over a projection, on their way to the second: for each neuron their
/// number and the differences of their ascending places, in one byte or more each. Memory is released while they are
/// read.
class KeptPartners {
   public:
    /// @param most_bytes further ones are not kept
    explicit KeptPartners(std::uint64_t most_bytes = 0) : most_bytes_(most_bytes) {}

    /// Partners of some neurons, by neuron and ascending.
    void add(std::span<const std::uint32_t> degrees, std::span<const std::uint32_t> places);
    /// The next ones, of the neurons of one call of add(). Returns false, for all further calls, if they were not kept.
    bool take(std::vector<std::uint32_t>& degrees, std::vector<std::uint32_t>& places);

   private:
    /// Whole calls of add().
    struct Chunk {
        Buffer<std::uint8_t> bytes;
        std::size_t used = 0;
        std::size_t calls = 0;
    };

    std::uint64_t most_bytes_;
    bool is_full_ = false;
    std::vector<Chunk> chunks_;
    std::vector<std::uint8_t> code_;
    // Of reading:
    std::size_t chunk_ = 0;
    std::size_t position_ = 0;
    std::size_t call_ = 0;
};

/// How the passes over the projections go. Those with common sources follow each other, in the order of the network, so
/// that the synapses of a row keep their order, while the kept partners of other sources shrink as the rows of these are
/// filled.
struct PassPlan {
    std::vector<std::uint32_t> order;  ///< of the projections
    /// By projection: partners kept from the first pass to the second by all shards of a process, at most.
    std::vector<double> most_kept_bytes;
    /// Expected bytes of kept partners beside all columns of the tables.
    double kept_beside_columns = 0.0;
};
PassPlan plan_passes(const NetworkPlan& network, const ProcessLayout& layout);

}  // namespace ranvier::connect
