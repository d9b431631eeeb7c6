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

/// Which sites of their targets synapses and stimuli reach.
namespace ranvier::network {

/// @param object that reaches the targets, for errors
/// @param rule of the synapses; null: there is one thing for each of the targets
/// @throws ValueOutOfBoundsError for a site that a target does not have, and for probabilities that are none; ShapeError
/// for a wrong number of either
void check_sites(const Network& network, const IdSequence& targets, std::string_view receptor, const SiteSpec& site,
                 const std::string& object, const connect::SelectedRule* rule);

/// The choice that a projection leaves; null where each of its targets has one site.
std::shared_ptr<const connect::SiteChoice> lower_sites(const Network& network, const Projection& projection);

/// The site of each of some neurons of a population that a stimulus reaches; empty where all neurons have one.
std::vector<std::uint32_t> sites_of_stimulus(const Network& network, std::size_t stimulus, const Population& population,
                                             std::uint32_t receptor, const IdSequence& neurons);

}  // namespace ranvier::network
