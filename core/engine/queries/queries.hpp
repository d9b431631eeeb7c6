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

/// Reads and changes the synapses of all processes. All of them ask for the same and get the same.
class ConnectionAccess {
   public:
    /// @param weight_bounds by kind: of synapses that learn; else 0
    ConnectionAccess(const network::LoweredNetwork& network, std::span<const std::unique_ptr<Shard>> shards,
                     std::span<const double> weight_bounds, comm::Communicator& communicator)
        : network_(network), shards_(shards), weight_bounds_(weight_bounds), communicator_(communicator) {}

    /// @note Collective, like all that follow. @throws StateError when the sources of synapses were forgotten
    std::uint64_t count(const ConnectionQuery& query, parallel::Team& team) const;
    ConnectionData find(const ConnectionQuery& query, parallel::Team& team) const;
    /// Which of some synapses are stored on this process, as indices, ascending.
    std::vector<std::uint64_t> stored_here(std::span<const std::uint64_t> handles) const;
    std::vector<double> weights(std::span<const std::uint64_t> handles) const;
    /// The receptors of synapses, by their places among those of the targets' models. Not collective.
    std::vector<std::uint32_t> receptors(std::span<const std::uint64_t> handles) const;
    /// @param now the step after which the weights are changed
    void set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights, bool double_weights,
                     Step now);
    /// Values of a parameter of synapses that are not static, shared ones and others.
    /// @throws UnknownNameError where the model of a synapse has no such parameter
    std::vector<double> parameters(std::span<const std::uint64_t> handles, std::string_view name) const;
    /// Changes parameters of which each of these synapses has a value of its own, all of them or none.
    /// @throws ValueOutOfBoundsError for values out of bounds, and for a parameter that they share or that is to stay
    void set_parameters(std::span<const std::uint64_t> handles, const GivenParameters& given, bool double_weights);

   private:
    /// A synapse of this process among those that were asked for.
    struct OwnSynapse {
        std::size_t index = 0;  ///< in the caller's array
        std::uint32_t shard = 0;
        connect::KindIndex kind;
        std::uint64_t position = 0;
    };

    /// A parameter of the synapses of a kind.
    struct ParameterPlace {
        const models::ParameterInfo* info = nullptr;
        double shared = 0.0;                ///< value, where they share it
        std::optional<std::size_t> column;  ///< of the tables, where each has its own
    };
    using ParameterPlaces = std::map<std::uint32_t, ParameterPlace>;  ///< by kind
    /// @throws as set_parameters()
    ParameterPlaces checked_places(std::span<const std::uint64_t> handles, const std::string& name,
                                   std::span<const double> values, bool double_weights) const;
    ParameterPlace parameter_of(std::uint64_t handle, std::string_view name) const;
    /// Of source and target of a synapse, for messages; the same on all processes. Of those that were forgotten none.
    std::string ids_text(std::uint64_t handle) const;
    /// By shard.
    std::vector<std::uint64_t> counts_here(const ConnectionQuery& query, parallel::Team& team) const;
    template <class Visit>
    void visit_shards(parallel::Team& team, Visit visit) const {
        const auto count = static_cast<std::uint32_t>(shards_.size());
        team.run([&](std::uint32_t worker) { team.for_assigned_items(worker, count, visit); });
    }
    /// Number of the first shard of this process among those of all.
    std::uint32_t first_shard() const;
    std::vector<OwnSynapse> own_synapses(std::span<const std::uint64_t> handles) const;
    /// @param bits of the weights, by the indices of the synapses
    void read_weights(std::span<const OwnSynapse> own, std::span<std::uint64_t> bits) const;
    /// Where each synapse has a bound of its own. @param place of the weight among all that are given
    void check_own_bound(const connect::StoredSynapses& synapses, const SynapseHandle& handle, double weight,
                         std::size_t place) const;
    /// @throws ValueOutOfBoundsError for weights that are not finite, out of their bounds or of the other sign
    void check_weights(std::span<const OwnSynapse> own, std::span<const double> weights) const;
    /// Whether it was the sign of a synapse's weight that chose its receptor, which no one had named.
    bool was_chosen_by_sign(const SynapseHandle& handle, const ProjectionFinder& projections) const;
    /// Weights of synapses of all processes as they will be stored, and the ranges of all weights with them.
    /// @throws ValueOutOfBoundsError when they cannot be kept, or their sums not be exact
    std::pair<std::vector<double>, WeightRanges> stored_weights(std::span<const std::uint64_t> handles,
                                                                std::span<const double> weights,
                                                                bool double_weights) const;

    const network::LoweredNetwork& network_;
    std::span<const std::unique_ptr<Shard>> shards_;
    std::span<const double> weight_bounds_;
    comm::Communicator& communicator_;
};

}  // namespace ranvier::engine
