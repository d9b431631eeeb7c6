#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/shard/shard.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::engine {

/// Reads and changes variables and parameters of neurons on any process. Indices are those within a population. All
/// processes pass the same arguments.
class NeuronAccess {
   public:
    NeuronAccess(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                 std::span<const std::unique_ptr<Shard>> shards, comm::Communicator& communicator)
        : network_(network), layout_(layout), shards_(shards), communicator_(communicator) {}

    /// @throws ValueOutOfBoundsError for an index beyond the population, UnknownNameError
    /// @note Collective, like set().
    std::vector<double> get(PopulationId population, std::string_view name,
                            std::span<const std::uint64_t> indices) const;
    /// Changes values of neurons, all or none. Any exception is thrown on all processes, and then nothing has been
    /// changed on any.
    /// @param now the last step
    /// @throws as get(), and ShapeError, ValueOutOfBoundsError, RemoteError
    void set(std::span<const network::NeuronChange> changes, Step now);

   private:
    /// Neurons of one shard, and the positions of their values in the caller's array.
    struct ShardPart {
        std::vector<std::uint32_t> local;
        std::vector<std::size_t> places;
    };

    const network::Population& checked(PopulationId population, std::span<const std::uint64_t> indices) const;
    std::vector<ShardPart> by_shard(const network::Population& population,
                                    std::span<const std::uint64_t> indices) const;
    /// The changes of one shard's group.
    struct PreparedChange {
        std::vector<models::GroupValues> parameters;  ///< all new values; empty: unchanged
        std::unique_ptr<models::ParameterChange> change;
        /// Variables, in the order in which they were given.
        struct Written {
            std::size_t variable;
            std::vector<std::uint32_t> local;
            std::vector<double> values;
        };
        std::vector<Written> written;
    };
    using PreparedChanges = std::map<std::pair<std::size_t, PopulationId>, PreparedChange>;  ///< by shard

    /// Changes nothing yet.
    /// @throws ValueOutOfBoundsError if one of the shards cannot apply a change
    PreparedChanges prepare(std::span<const network::NeuronChange> changes, Step now) const;
    void prepare(const network::NeuronChange& change, Step now, PreparedChanges& prepared) const;
    /// Checks that the new parameters of a group fit together.
    void check_conflicts(const network::Population& population, const IdSequence& ids,
                         const PreparedChange& prepared) const;

    const network::LoweredNetwork& network_;
    const connect::ProcessLayout& layout_;
    std::span<const std::unique_ptr<Shard>> shards_;
    comm::Communicator& communicator_;
};

}  // namespace ranvier::engine
