#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/network/network.hpp"

/// Selection of the receptors of targets by synapses and stimuli.
namespace ranvier::network {

/// The receptors for weights >= 0 and weights < 0, as indices in a model.
struct ReceptorChoice {
    std::uint32_t positive = 0;
    std::uint32_t negative = 0;

    bool by_sign() const { return positive != negative; }
    friend bool operator==(const ReceptorChoice&, const ReceptorChoice&) = default;
};

/// @param name of a receptor; empty: none was named
/// @pre check_receptors() accepts it
ReceptorChoice choose_receptors(const models::NeuronModel& model, std::string_view name);

/// Checks that all targets have the receptor of this name, or need none, and that weights have the same meaning for
/// all of them.
/// @param object name of the source in errors
/// @throws UnknownNameError for a receptor that a target does not have; ValueOutOfBoundsError if a name is missing,
///         and for targets that cannot be reached in one call
void check_receptors(const Network& network, const IdSequence& targets, std::string_view name,
                     const std::string& object);

/// @param receptor its name; empty: none was named
/// @throws ValueOutOfBoundsError for weights that a model does not accept at this receptor
void check_weight_bounds(const models::NeuronModel& model, std::string_view receptor, double weight,
                         const std::string& object);
/// The same for all targets.
void check_weight_bounds(const Network& network, const IdSequence& targets, std::string_view receptor,
                         const Values& weights, const std::string& object);
/// Checks that weights at receptors that count spikes do not change.
/// @throws ValueOutOfBoundsError
void check_counted_weights(const Network& network, const IdSequence& targets, std::string_view receptor,
                           const SynapseSpec& synapse, const std::string& projection);
/// Checks that the unit of weights of a synapse model is that of its targets.
/// @throws ValueOutOfBoundsError
void check_weight_unit(const Network& network, const IdSequence& targets, const SynapseSpec& synapse,
                       const std::string& projection);
/// Checks that the targets have the variables that weights depend on.
/// @throws ValueOutOfBoundsError
void check_followed_variables(const Network& network, const IdSequence& targets, const SynapseSpec& synapse,
                              const std::string& projection);

}  // namespace ranvier::network
