#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/lowering.hpp"
#include "engine/shard.hpp"
#include "engine/simulation.hpp"
#include "parallel/team.hpp"

namespace ranvier::engine {

/// Reads and changes the synapses of a set of shards.
class ConnectionAccess {
   public:
    ConnectionAccess(const LoweredNetwork& network, std::span<const std::unique_ptr<Shard>> shards)
        : network_(network), shards_(shards) {}

    std::uint64_t count(const ConnectionQuery& query, parallel::Team& team) const;
    ConnectionData find(const ConnectionQuery& query, parallel::Team& team) const;
    std::vector<double> weights(std::span<const std::uint64_t> handles) const;
    /// @param now the step after which the weights are changed
    void set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights, bool double_weights,
                     Step now);

   private:
    const LoweredNetwork& network_;
    std::span<const std::unique_ptr<Shard>> shards_;
};

}  // namespace ranvier::engine
