#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::benchmarks {

/// The work of neurons with their containers, without equations: the load by which Magalhães et al. (2019) compare linear
/// containers with those of the standard library. Each neuron gets spikes from all others, and
///
///   - in each step finds the least of the known times of its sources,
///   - in nine of ten steps pushes an event into its queue,
///   - in each second step pops all events that are due, and adds each to a vector,
///   - every 600 steps sends its time to all other neurons.
struct ContainerLoad {
    std::uint32_t neurons = 0;
    Step steps = 0;
    Step steps_at_once = 4;  ///< of a neuron, before the next one
};

struct ContainerRun {
    double seconds = 0.0;
    std::uint64_t iterations = 0;  ///< turns of all neurons
    std::uint64_t events = 0;
    /// Over all values taken from the containers: the same for all kinds.
    std::uint64_t checksum = 0;
};

/// Measures containers of a kind: "linear" (linear_containers.hpp), "std" (std::vector, std::map,
/// std::priority_queue) and "engine" (as in the engine: all clocks in one array, events in a list for each step).
/// @throws UnknownNameError for an unknown kind, ValueOutOfBoundsError for loads without work
ContainerRun measure_containers(std::string_view kind, const ContainerLoad& load);

}  // namespace ranvier::benchmarks
