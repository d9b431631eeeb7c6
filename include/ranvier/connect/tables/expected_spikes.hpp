#pragma once

#include <cstddef>

#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// What reaches a table of a shard, on average: what it stores of spikes depends on it (PlasticTableMemory::spike_bytes).
struct ExpectedSpikes {
    double of_neuron = 0.0;  ///< in a step
    double of_process = 0.0;  ///< the same of all neurons of the process, which spikes that come together belong to
    double most_in_step = 0.0;  ///< relative to the mean, at the most; 0: as where neurons fire independently
    double steps = 0.0;         ///< that are simulated
    double rows = 0.0;          ///< that a spike may come for
    double runs = 0.0;          ///< of a row: synapses with the same delay
    double synapses = 0.0;
    double targets = 0.0;             ///< neurons that it has synapses onto
    double from_first_to_last = 0.0;  ///< neurons from the first of these to the last
    double delays = 1.0;              ///< how many there can be
    DelaySteps longest_delay = 0;
    double pulses = 0.0;  ///< of a transmitter that modulates the synapses: steps in which any of its neurons fires
    double pulses_per_step = 0.0;
};

/// Elements that there is room for in a list of exactly so many, appended one at a time as in base/tight_list.hpp.
double room_of_appended(double size);
/// Elements that there is room for in a list that grows as those of base/tight_list.hpp do.
/// @param mean mean length @param events each adds, on average, the same number of elements
/// @param most its greatest length relative to the mean; 0: as for events that are independent
double room_of_list(double mean, double events, double most);
/// Spikes of a neuron beyond a number of them, on average, where it fires at random and so often on average.
double expected_beyond(double mean, std::size_t number);

}  // namespace ranvier::connect
