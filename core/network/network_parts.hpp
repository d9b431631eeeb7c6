#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranvier/models/neuron.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::network {

/// A part of a description on which the state of a simulation depends.
struct NetworkPart {
    std::string name;         ///< "parameter C_m of population 'exc'", ...
    std::uint64_t value = 0;  ///< equal parts have equal numbers; others almost surely not
    std::string text = {};    ///< what it is, where that is short
};

/// The parts of each population, projection, stimulus, spike recorder and state recorder, in this order.
std::vector<std::vector<NetworkPart>> parts_of_specs(const Network& network);

/// All parts: those of equal networks, and simulations with equal precisions, are equal.
std::vector<NetworkPart> network_parts(const Network& network, models::Precision precision,
                                       models::Precision weight_precision);

}  // namespace ranvier::network
