#pragma once

#include <cstddef>

#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// Expected activity at a table of a shard: the memory for spikes depends on it (PlasticTableMemory::spike_bytes).
struct ExpectedSpikes {
    double of_neuron = 0.0;  ///< spikes in a step
    double of_process = 0.0;  ///< the same for all neurons of the process, among which simultaneous spikes are counted
    double most_in_step = 0.0;  ///< maximum relative to the mean; 0: as for independently firing neurons
    double steps = 0.0;  ///< simulated ones
    double rows = 0.0;  ///< rows for which a spike may come
    double runs = 0.0;  ///< per row: synapses with the same delay
    double synapses = 0.0;
    double targets = 0.0;  ///< target neurons
    double from_first_to_last = 0.0;  ///< neurons from the first target to the last
    double delays = 1.0;  ///< number of possible delays
    DelaySteps longest_delay = 0;
    double pulses = 0.0;  ///< steps in which any neuron of the modulating transmitter fires
    double pulses_per_step = 0.0;
};

/// Expected largest length of a list. Lists have little more capacity (base/tight_list.hpp).
/// @param mean mean length @param events each adds, on average, the same number of elements
/// @param most greatest length relative to the mean; 0: as for independent events
double largest_list(double mean, double events, double most);
/// Expected spikes of a neuron beyond a number, for random firing with this mean.
double expected_beyond(double mean, std::size_t number);

}  // namespace ranvier::connect
