#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranvier/models/neuron.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::network {

/// A part of a network description that determines the state of a simulation.
struct NetworkPart {
    std::string name;         ///< "parameter C_m of population 'exc'", ...
    std::uint64_t value = 0;  ///< hash: equal for equal parts, and almost surely different for different ones
    std::string text = {};    ///< short textual value, if there is one
};

/// The parts of each population, projection, stimulus, spike recorder and state recorder, in this order.
std::vector<std::vector<NetworkPart>> parts_of_specs(const Network& network);

/// All parts. Networks and precisions are equal if all parts are.
std::vector<NetworkPart> network_parts(const Network& network, models::Precision precision,
                                       models::Precision weight_precision);

}  // namespace ranvier::network
