#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/queries/shard_search.hpp"
#include "engine/queries/synapse_handle.hpp"
#include "engine/shard/shard.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Reads and changes the synapses of all processes. All processes pass the same arguments and get the same results.
class ConnectionAccess {
   public:
    /// @param weight_bounds by kind: of synapses that learn; else 0
    ConnectionAccess(const network::LoweredNetwork& network, std::span<const std::unique_ptr<Shard>> shards,
                     std::span<const double> weight_bounds, comm::Communicator& communicator)
        : network_(network), shards_(shards), weight_bounds_(weight_bounds), communicator_(communicator) {}

    /// @note Collective, like all that follow.
    /// @throws StateError if the sources of synapses were discarded
    std::uint64_t count(const ConnectionQuery& query, parallel::Team& team) const;
    ConnectionData find(const ConnectionQuery& query, parallel::Team& team) const;
    /// The indices of those of some synapses that are stored on this process, ascending.
    std::vector<std::uint64_t> stored_here(std::span<const std::uint64_t> handles) const;
    std::vector<double> weights(std::span<const std::uint64_t> handles) const;
    /// The receptors of synapses, as indices in the targets' models. Not collective.
    std::vector<std::uint32_t> receptors(std::span<const std::uint64_t> handles) const;
    /// @param now the step after which the weights are changed
    void set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights, bool double_weights,
                     Step now);
    /// Values of a parameter of synapses that are not static, whether shared or not.
    /// @throws UnknownNameError if the model of a synapse has no such parameter
    std::vector<double> parameters(std::span<const std::uint64_t> handles, std::string_view name) const;
    /// Changes parameters that differ between these synapses, all or none.
    /// @throws ValueOutOfBoundsError for values out of bounds, and for a parameter that is shared or cannot change
    void set_parameters(std::span<const std::uint64_t> handles, const GivenParameters& given, bool double_weights);

   private:
    /// A queried synapse that is stored on this process.
    struct LocalSynapse {
        std::size_t index = 0;  ///< in the caller's array
        std::uint32_t shard = 0;
        connect::KindIndex kind;
        std::uint64_t position = 0;
    };

    /// A parameter of the synapses of a kind.
    struct ParameterPlace {
        const models::ParameterInfo* info = nullptr;
        double shared = 0.0;                ///< value, if it is shared
        std::optional<std::size_t> column;  ///< of the tables, if it differs between synapses
    };
    using ParameterPlaces = std::map<std::uint32_t, ParameterPlace>;  ///< by kind
    /// @throws as set_parameters()
    ParameterPlaces checked_places(std::span<const std::uint64_t> handles, const std::string& name,
                                   std::span<const double> values, bool double_weights) const;
    ParameterPlace parameter_of(std::uint64_t handle, std::string_view name) const;
    /// The source and target of a synapse in messages; the same on all processes. Empty if they were discarded.
    std::string ids_text(std::uint64_t handle) const;
    /// Number of local synapses, by shard.
    std::vector<std::uint64_t> counts_here(const ConnectionQuery& query, parallel::Team& team) const;
    template <class Visit>
    void visit_shards(parallel::Team& team, Visit visit) const {
        const auto count = static_cast<std::uint32_t>(shards_.size());
        team.run([&](std::uint32_t worker) { team.for_assigned_items(worker, count, visit); });
    }
    /// Global number of the first shard of this process.
    std::uint32_t first_shard() const;
    std::vector<LocalSynapse> local_synapses(std::span<const std::uint64_t> handles) const;
    /// @param bits of the weights, by the indices of the synapses
    void read_weights(std::span<const LocalSynapse> synapses, std::span<std::uint64_t> bits) const;
    /// Checks a weight against the per-synapse bound.
    /// @param place index of the weight among the given ones
    void check_synapse_bound(const connect::StoredSynapses& synapses, const SynapseHandle& handle, double weight,
                             std::size_t place) const;
    /// @throws ValueOutOfBoundsError for weights that are not finite, out of bounds or of the other sign
    void check_weights(std::span<const LocalSynapse> local, std::span<const double> weights) const;
    /// Whether the sign of a synapse's weight selected its receptor.
    bool was_chosen_by_sign(const SynapseHandle& handle, const ProjectionFinder& projections) const;
    /// Weights of synapses of all processes as they will be stored, and the ranges of all weights with them.
    /// @throws ValueOutOfBoundsError if they cannot be stored, or their sums would not be exact
    std::pair<std::vector<double>, WeightRanges> stored_weights(std::span<const std::uint64_t> handles,
                                                                std::span<const double> weights,
                                                                bool double_weights) const;

    const network::LoweredNetwork& network_;
    std::span<const std::unique_ptr<Shard>> shards_;
    std::span<const double> weight_bounds_;
    comm::Communicator& communicator_;
};

}  // namespace ranvier::engine
