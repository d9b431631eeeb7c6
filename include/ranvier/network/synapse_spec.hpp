#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/rules/rule.hpp"
#include "ranvier/models/synapse.hpp"
#include "ranvier/network/values.hpp"

namespace ranvier::network {

/// A synapse model and the values of its parameters.
struct SynapseSpec {
    const models::SynapseModel* model = nullptr;  ///< null: static synapses
    /// Parameters that were set, by name. Values other than a number differ between synapses.
    NamedValues parameters = {};
    IdSequence modulators = {};  ///< neurons whose spikes act on all of the synapses, if the model has a transmitter
    std::shared_ptr<const models::UserSynapse> owner = {};  ///< of a model that is not in the registry

    bool is_static() const { return model == nullptr || model->is_static(); }
    /// The parameter that provides the values of another: itself, unless it is not given and follows a different one.
    std::uint32_t source_of(std::uint32_t parameter) const;
    /// Values of all parameters, in the order of the model: of those that differ between synapses, the possible value
    /// farthest from 0.
    std::vector<double> values() const;
    /// Indices of the parameters that differ between synapses, ascending.
    std::vector<std::uint32_t> per_synapse_parameters() const;
    /// The values of one of these.
    const Values& per_synapse_values(std::uint32_t parameter) const;
    /// The smallest and the greatest value of each of them.
    std::vector<std::pair<double, double>> per_synapse_ranges() const;
    /// @pre it is not static @param resolution ms
    std::unique_ptr<connect::SynapseDynamics> make_dynamics(double resolution) const;
};

/// @throws UnknownNameError for a parameter, ValueOutOfBoundsError for values out of bounds or in conflict, and for a
///         transmitter without neurons; arrays are checked by check_per_synapse_values().
/// @param projection its name
void check_parameters(const SynapseSpec& synapse, const std::string& projection);

/// Checks arrays of parameters, which must fit the rule like arrays of weights, and per-synapse bounds of weights.
/// @param weight whose array fits the rule
/// @throws ShapeError, ValueOutOfBoundsError
void check_per_synapse_values(const SynapseSpec& synapse, const connect::RuleSampler& rule, const Values& weight,
                              double resolution, const std::string& projection);

/// Delay of the spikes of a transmitter, ms.
/// @pre the model has one
double transmitter_delay(const SynapseSpec& synapse);

/// Ranges of the weights and delays of a projection for checks by its synapse model.
/// @throws ValueOutOfBoundsError for weights out of bounds, and time constants of too many steps; DelayError for
///         delays too short to have two parts, and for those of a transmitter shorter than a step; GridError for the
///         latter off the grid
struct SynapseRanges {
    double least_weight;
    double greatest_weight;
    double least_delay;  ///< ms
};
void check_synapse(const SynapseSpec& synapse, const SynapseRanges& ranges, double resolution,
                   const std::string& projection);

/// Checks that changes of weights by spikes are not lost by rounding.
/// @param greatest_weight initial maximum of the projection
/// @throws ValueOutOfBoundsError
void check_changes(const SynapseSpec& synapse, double greatest_weight, bool double_weights,
                   const std::string& projection);

}  // namespace ranvier::network
