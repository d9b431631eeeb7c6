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
    /// Those set, by name. What is no number is a parameter of which each synapse has a value of its own.
    NamedValues parameters = {};
    IdSequence modulators = {};  ///< whose spikes act on all of the synapses, if the model has a transmitter
    std::shared_ptr<const models::UserSynapse> owner = {};  ///< of a model that is none of the registry

    bool is_static() const { return model == nullptr || model->is_static(); }
    /// The parameter that provides the values of another: itself, unless it is not given and follows a different one.
    std::uint32_t source_of(std::uint32_t parameter) const;
    /// Of all parameters, in the order of the model: where synapses have values of their own, that which is
    /// farthest from 0 of those that can occur.
    std::vector<double> values() const;
    /// The parameters of which each synapse has a value of its own, by their places in the model, ascending.
    std::vector<std::uint32_t> own_parameters() const;
    /// Of one of these.
    const Values& own_values(std::uint32_t parameter) const;
    /// The least and the greatest value of each of them.
    std::vector<std::pair<double, double>> own_ranges() const;
    /// @pre it is not static @param resolution ms
    std::unique_ptr<connect::SynapseDynamics> make_dynamics(double resolution) const;
};

/// @throws UnknownNameError for a parameter, ValueOutOfBoundsError for values out of bounds, or that do not fit together, and
/// where a transmitter has no neurons; arrays are checked by check_own_values(). @param projection its name
void check_parameters(const SynapseSpec& synapse, const std::string& projection);

/// Arrays of parameters, which must fit the rule like arrays of weights, and bounds of weights that synapses have of their own.
/// @param weight whose array fits the rule @throws ShapeError, ValueOutOfBoundsError
void check_own_values(const SynapseSpec& synapse, const connect::RuleSampler& rule, const Values& weight,
                      double resolution, const std::string& projection);

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

}  // namespace ranvier::network
