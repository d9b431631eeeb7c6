#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "connect/placement/layout.hpp"
#include "engine/lowering.hpp"
#include "engine/shard.hpp"

namespace ranvier::engine {

/// Reads and changes variables and parameters of neurons, wherever they live. Indices are those within a population. All
/// processes ask for the same.
class NeuronAccess {
   public:
    NeuronAccess(const LoweredNetwork& network, const connect::ProcessLayout& layout,
                 std::span<const std::unique_ptr<Shard>> shards, comm::Communicator& communicator)
        : network_(network), layout_(layout), shards_(shards), communicator_(communicator) {}

    /// @throws ValueOutOfBoundsError for an index beyond the population, UnknownNameError
    /// @note Collective, like set().
    std::vector<double> get(PopulationId population, std::string_view name,
                            std::span<const std::uint64_t> indices) const;
    /// Whatever is thrown, it is thrown on all processes, and nothing has been changed on any.
    /// @throws as get(), and ShapeError, ValueOutOfBoundsError, RemoteError
    void set(PopulationId population, std::string_view name, std::span<const std::uint64_t> indices,
             std::span<const double> values);

   private:
    /// Neurons of one shard, and where their values stand in the caller's array.
    struct ShardPart {
        std::vector<std::uint32_t> local;
        std::vector<std::size_t> places;
    };

    const Population& checked(PopulationId population, std::span<const std::uint64_t> indices) const;
    std::vector<ShardPart> by_shard(const Population& population, std::span<const std::uint64_t> indices) const;
    /// A change of a parameter in one shard's group, which has been found possible.
    struct PreparedChange {
        Shard::Group* group;
        std::vector<models::GroupValues> parameters;
        std::unique_ptr<models::ParameterChange> change;
    };
    /// Changes nothing yet. @throws ValueOutOfBoundsError when one of the shards could not do it
    std::vector<PreparedChange> prepare(const Population& population, std::size_t parameter,
                                        std::span<const ShardPart> parts, std::span<const double> values) const;
    /// Values of a variable for the neurons of each shard. @throws ValueOutOfBoundsError
    std::vector<std::vector<double>> checked_values(const Population& population, std::size_t variable,
                                                    std::span<const ShardPart> parts,
                                                    std::span<const double> values) const;

    const LoweredNetwork& network_;
    const connect::ProcessLayout& layout_;
    std::span<const std::unique_ptr<Shard>> shards_;
    comm::Communicator& communicator_;
};

}  // namespace ranvier::engine
