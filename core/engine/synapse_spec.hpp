#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "connect/rules/rule.hpp"
#include "models/synapse.hpp"

namespace ranvier::engine {

/// A synapse model and the values that all synapses of a projection share.
struct SynapseSpec {
    const models::SynapseModel* model = nullptr;  ///< null: static synapses
    std::map<std::string, double, std::less<>> parameters = {};  ///< those set, by name

    bool is_static() const { return model == nullptr || model->is_static(); }
    /// Of all parameters, in the order of the model.
    std::vector<double> values() const;
};

/// @throws UnknownNameError for a model or a parameter, ValueOutOfBoundsError for values out of bounds, or that do not fit
/// together @param projection its name
SynapseSpec make_synapse(const std::string& model, std::map<std::string, double, std::less<>> parameters,
                         const std::string& projection);

/// What the weights and delays of a projection must be for its synapse model.
/// @throws ValueOutOfBoundsError for weights out of bounds, and time constants of too many steps; DelayError for delays too
/// short to have two parts
struct SynapseRanges {
    double least_weight;
    double greatest_weight;
    double least_delay;  ///< ms
};
void check_synapse(const SynapseSpec& synapse, const SynapseRanges& ranges, double resolution,
                   const std::string& projection);

/// Whether what spikes change of weights is kept where they are stored.
/// @param greatest_weight of the projection, at the beginning
/// @throws ValueOutOfBoundsError
void check_changes(const SynapseSpec& synapse, double greatest_weight, bool double_weights,
                   const std::string& projection);

}  // namespace ranvier::engine
