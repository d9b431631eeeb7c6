#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/lowering.hpp"
#include "engine/shard.hpp"

namespace ranvier::engine {

/// Reads and changes variables and parameters of neurons, wherever they live. Indices are those within a population.
class NeuronAccess {
   public:
    NeuronAccess(const LoweredNetwork& network, std::span<const std::unique_ptr<Shard>> shards)
        : network_(network), shards_(shards) {}

    std::vector<double> get(PopulationId population, std::string_view name,
                            std::span<const std::uint32_t> indices) const;
    void set(PopulationId population, std::string_view name, std::span<const std::uint32_t> indices,
             std::span<const double> values);

   private:
    /// A neuron's shard, and its index within its group there.
    struct Place {
        std::size_t shard = 0;
        std::uint32_t local = 0;
    };
    /// Neurons of one shard, and where their values stand in the caller's array.
    struct ShardPart {
        std::vector<std::uint32_t> local;
        std::vector<std::size_t> places;
    };

    const Population& checked(PopulationId population, std::span<const std::uint32_t> indices) const;
    Place place(const Population& population, std::uint32_t index) const;
    std::vector<ShardPart> by_shard(const Population& population, std::span<const std::uint32_t> indices) const;
    void set_parameter(const Population& population, std::size_t parameter, std::span<const std::uint32_t> indices,
                       std::span<const double> values);

    const LoweredNetwork& network_;
    std::span<const std::unique_ptr<Shard>> shards_;
};

}  // namespace ranvier::engine
