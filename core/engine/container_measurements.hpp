#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.hpp"

namespace ranvier::engine {

/// What neurons do with their containers while they advance, without any neurons: the load by which Magalhães et al. (2019)
/// compare linear containers with those of the standard library. Each neuron gets spikes from all others, and
///
///   - in each step looks for the least of the times that it knows of its sources,
///   - in nine of ten steps puts an event into its queue,
///   - in each second step takes out all that are due, and adds each to a vector,
///   - every 600 steps tells all other neurons its time.
struct ContainerLoad {
    std::uint32_t neurons = 0;
    Step steps = 0;
    Step steps_at_once = 4;  ///< of a neuron, before the next one has its turn
};

struct ContainerRun {
    double seconds = 0.0;
    std::uint64_t iterations = 0;  ///< turns of all neurons
    std::uint64_t events = 0;
    /// Of all that came out of the containers: the same for all kinds of them.
    std::uint64_t checksum = 0;
};

/// Kinds of containers: "linear" (base/linear_containers.hpp), "std" (std::vector, std::map, std::priority_queue) and
/// "engine" (what the engine has: clocks of all in one array, events in a list for each step).
std::vector<std::string_view> container_kinds();
/// @throws UnknownNameError for an unknown kind, ValueOutOfBoundsError for loads that do nothing
ContainerRun measure_containers(std::string_view kind, const ContainerLoad& load);

}  // namespace ranvier::engine
