#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/network/network.hpp"

/// Which receptors of their targets synapses and stimuli reach.
namespace ranvier::network {

/// The receptors that weights >= 0 and weights < 0 go to, by their places among those of a model.
struct ReceptorChoice {
    std::uint32_t positive = 0;
    std::uint32_t negative = 0;

    bool by_sign() const { return positive != negative; }
    friend bool operator==(const ReceptorChoice&, const ReceptorChoice&) = default;
};

/// @param name of a receptor; empty where none was named
/// @pre check_receptors() has found nothing against it
ReceptorChoice choose_receptors(const models::NeuronModel& model, std::string_view name);

/// Whether all targets have the receptor of this name, or need none, and whether weights mean the same to all of them.
/// @param object that reaches them, for errors
/// @throws UnknownNameError for a receptor that a target does not have; ValueOutOfBoundsError where one must be named, and
/// for targets that cannot be reached together
void check_receptors(const Network& network, const IdSequence& targets, std::string_view name,
                     const std::string& object);

/// @throws ValueOutOfBoundsError for weights that a model does not take
void check_weight_bounds(const models::NeuronModel& model, double weight, const std::string& object);
/// The same for all targets.
void check_weight_bounds(const Network& network, const IdSequence& targets, const Values& weights,
                         const std::string& object);
/// What a synapse model calculates with is what the weights of its targets are. @throws ValueOutOfBoundsError
void check_weight_unit(const Network& network, const IdSequence& targets, const SynapseSpec& synapse,
                       const std::string& projection);
/// That the targets have the variables that weights follow. @throws ValueOutOfBoundsError
void check_followed_variables(const Network& network, const IdSequence& targets, const SynapseSpec& synapse,
                              const std::string& projection);

}  // namespace ranvier::network
