#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/id_sequence.hpp"
#include "connect/rules/rule.hpp"
#include "models/synapse.hpp"

namespace ranvier::engine {

/// A synapse model and the values that all synapses of a projection share.
struct SynapseSpec {
    const models::SynapseModel* model = nullptr;  ///< null: static synapses
    std::map<std::string, double, std::less<>> parameters = {};  ///< those set, by name
    IdSequence modulators = {};  ///< whose spikes act on all of the synapses, if the model has a transmitter

    bool is_static() const { return model == nullptr || model->is_static(); }
    /// Of all parameters, in the order of the model.
    std::vector<double> values() const;
};

/// @throws UnknownNameError for a model or a parameter, ValueOutOfBoundsError for values out of bounds, or that do not fit
/// together, and where a transmitter has no neurons @param projection its name
SynapseSpec make_synapse(const std::string& model, std::map<std::string, double, std::less<>> parameters,
                         IdSequence modulators, const std::string& projection);

/// Of the spikes of a transmitter, ms. @pre the model has one
double transmitter_delay(const SynapseSpec& synapse);

/// What the weights and delays of a projection must be for its synapse model.
/// @throws ValueOutOfBoundsError for weights out of bounds, and time constants of too many steps; DelayError for delays too
/// short to have two parts, and for those of a transmitter that are not at least a step; GridError for such off the grid
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
