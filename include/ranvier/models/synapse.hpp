#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/connect/tables/synapse_dynamics.hpp"
#include "ranvier/models/model_info.hpp"

namespace ranvier::models {

/// How much one spike changes a weight.
struct ChangeSize {
    std::string_view parameter;  ///< that says so
    double part;  ///< of the weight
};

struct SynapseModel;

/// A synapse model that was made of a user's description. Projections with such synapses keep it.
class UserSynapse {
   public:
    UserSynapse() = default;
    UserSynapse(const UserSynapse&) = delete;
    UserSynapse& operator=(const UserSynapse&) = delete;
    virtual ~UserSynapse() = default;

    virtual const SynapseModel& synapse_model() const = 0;
    // In place of the functions of SynapseModel. Dynamics may outlive the model.
    virtual std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values,
                                                             double resolution) const = 0;
    /// Why parameters that lie between these do not fit together, or nothing. @param own those of which each synapse has a value
    virtual std::optional<std::string> conflict(std::span<const double> least, std::span<const double> greatest,
                                                std::span<const std::uint32_t> own) const = 0;
    /// How much spikes change a weight at most when traces are 1, those of each side; see SynapseModel::changes.
    virtual std::array<double, 2> changes(std::span<const double> values, double weight) const = 0;
    /// Time constants of traces that follow from the parameters, ms.
    virtual std::vector<double> time_constants(std::span<const double> values) const = 0;
};

/// A synapse model. Each model's file defines one and registers it (models/registry.cpp).
struct SynapseModel {
    std::string_view name;
    std::string_view summary;    ///< one line
    std::string_view equations;  ///< several lines, plain text
    std::string_view reference;  ///< the paper
    /// One value each for all synapses of a projection.
    std::span<const ParameterInfo> parameters;
    /// Null for static synapses. @param values in the order of the parameters
    /// @param resolution ms
    std::unique_ptr<connect::SynapseDynamics> (*create)(std::span<const double> values, double resolution) = nullptr;
    /// Why parameters that are each within their bounds do not fit together, or nothing.
    std::optional<std::string> (*conflict)(std::span<const double> values) = nullptr;
    /// If weights change with spikes, by how much when traces are 1, for the spikes of both sides: of the bound of the weight,
    /// or of this weight, if it has no bound.
    std::array<ChangeSize, 2> (*changes)(std::span<const double> values, double weight) = nullptr;
    /// Weights of synapses that are not static change with spikes, unless only what arrives of them does.
    bool keeps_weights = false;
    /// Whether synapses draw random numbers. Then each projection has tables of its own.
    bool is_random = false;
    /// What the user calls the neurons whose spikes act on all synapses of a projection at once; empty: the model needs none.
    /// Their delay is the parameter with this name and "_delay".
    std::string_view transmitter = {};
    /// Variables that the targets must have, since the weights follow them.
    std::span<const std::string_view> followed_variables = {};
    std::string_view weight_unit = {};  ///< empty: that of the targets' receptors, whatever it is
    const UserSynapse* user = nullptr;    ///< of a user's description: does what the functions above do otherwise
    std::uint64_t user_fingerprint = 0;

    bool is_static() const { return create == nullptr && user == nullptr; }
    /// @pre it is not static
    std::unique_ptr<connect::SynapseDynamics> make_dynamics(std::span<const double> values, double resolution) const {
        return user != nullptr ? user->create(values, resolution) : create(values, resolution);
    }
    bool has_conflicts() const { return user != nullptr || conflict != nullptr; }
    /// @pre it may have conflicts
    std::optional<std::string> find_conflict(std::span<const double> values) const {
        return user != nullptr ? user->conflict(values, values, {}) : conflict(values);
    }
    bool learns() const { return !is_static() && !keeps_weights; }
};

/// All synapse models, by name ascending.
std::span<const SynapseModel* const> synapse_models();
/// @throws UnknownNameError
const SynapseModel& find_synapse_model(std::string_view name);

}  // namespace ranvier::models
