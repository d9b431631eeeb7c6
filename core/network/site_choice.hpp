#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connect/rules/selected.hpp"
#include "connect/tables/site_choice.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/network/network.hpp"
#include "ranvier/network/site_spec.hpp"

/// Selection of the sites of targets by synapses and stimuli.
namespace ranvier::network {

/// @param object name of the source in errors
/// @param rule of the synapses; null: one element for each target
/// @throws ValueOutOfBoundsError for a site that a target does not have, and for invalid probabilities; ShapeError
///         for a wrong number of either
void check_sites(const Network& network, const IdSequence& targets, std::string_view receptor, const SiteSpec& site,
                 const std::string& object, const connect::SelectedRule* rule);

/// The rule of a projection; null if each of its targets has one site.
std::shared_ptr<const connect::SiteChoice> lower_sites(const Network& network, const Projection& projection);

/// By neuron of a population: the site that a stimulus reaches; empty if all neurons have one.
std::vector<std::uint32_t> sites_of_stimulus(const Network& network, std::size_t stimulus, const Population& population,
                                             std::uint32_t receptor, const IdSequence& neurons);

}  // namespace ranvier::network
