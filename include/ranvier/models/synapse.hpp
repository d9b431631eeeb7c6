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

/// The greatest change of a weight by one spike.
struct ChangeSize {
    std::string_view parameter;  ///< that sets it
    double part;  ///< fraction of the weight
};

struct SynapseModel;

/// A user-defined synapse model. Projections with such synapses share its ownership.
class UserSynapse {
   public:
    UserSynapse() = default;
    UserSynapse(const UserSynapse&) = delete;
    UserSynapse& operator=(const UserSynapse&) = delete;
    virtual ~UserSynapse() = default;

    virtual const SynapseModel& synapse_model() const = 0;
    // Replaces the functions of SynapseModel. Dynamics may outlive the model.
    virtual std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values,
                                                             double resolution) const = 0;
    /// Why parameters between these values may not fit together; nothing if they do.
    /// @param per_synapse indices of the parameters that differ between synapses
    virtual std::optional<std::string> conflict(std::span<const double> least, std::span<const double> greatest,
                                                std::span<const std::uint32_t> per_synapse) const = 0;
    /// The greatest change of a weight by spikes of each side when traces are 1; see SynapseModel::changes.
    virtual std::array<double, 2> changes(std::span<const double> values, double weight) const = 0;
    /// Time constants of traces, calculated from the parameters, ms.
    virtual std::vector<double> time_constants(std::span<const double> values) const = 0;
};

/// A synapse model. Each model's file defines one and registers it (models/registry.cpp).
struct SynapseModel {
    std::string_view name;
    std::string_view summary;    ///< one line
    std::string_view equations;  ///< several lines, plain text
    std::string_view reference;  ///< the paper
    /// Parameters of a projection.
    std::span<const ParameterInfo> parameters;
    /// Null for static synapses. @param values in the order of the parameters
    /// @param resolution ms
    std::unique_ptr<connect::SynapseDynamics> (*create)(std::span<const double> values, double resolution) = nullptr;
    /// Why parameters within their bounds do not fit together; nothing if they do.
    std::optional<std::string> (*conflict)(std::span<const double> values) = nullptr;
    /// If weights change with spikes: the change when traces are 1, for the spikes of both sides, relative to the
    /// bound of the weight or, without a bound, to this weight.
    std::array<ChangeSize, 2> (*changes)(std::span<const double> values, double weight) = nullptr;
    /// Weights of synapses that are not static change with spikes, unless only the transmitted part does.
    bool keeps_weights = false;
    /// Whether synapses draw random numbers. If so, projections do not share tables.
    bool is_random = false;
    /// The user's name of the neurons whose spikes act on all synapses of a projection at once; empty: none. Their
    /// delay is the parameter with this name and "_delay".
    std::string_view transmitter = {};
    /// Variables that the targets must have because weights depend on them.
    std::span<const std::string_view> followed_variables = {};
    std::string_view weight_unit = {};  ///< empty: the unit of the targets' receptors
    const UserSynapse* user = nullptr;    ///< a user-defined model, which replaces the functions above
    std::uint64_t user_fingerprint = 0;

    bool is_static() const { return create == nullptr && user == nullptr; }
    /// @pre it is not static
    std::unique_ptr<connect::SynapseDynamics> make_dynamics(std::span<const double> values, double resolution) const {
        return user != nullptr ? user->create(values, resolution) : create(values, resolution);
    }
    bool has_conflicts() const { return user != nullptr || conflict != nullptr; }
    /// @pre it can have conflicts
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
