#pragma once

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// Neurons whose spikes affect all synapses of a table at once: a volume transmitter.
struct Transmitter {
    IdSequence sources;
    DelaySteps delay = 1;  ///< from each of the neurons to all of the synapses
};

}  // namespace ranvier::connect
