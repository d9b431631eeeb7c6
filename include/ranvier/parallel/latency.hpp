#pragma once

#include <cstdint>
#include <vector>

#include "ranvier/parallel/topology.hpp"

namespace ranvier::parallel {

struct LatencyOptions {
    std::uint64_t bytes = 0;  ///< memory to chase pointers through; 0: latency_bytes()
    std::uint32_t loads = 200'000;  ///< in each repetition
    std::uint32_t repetitions = 3;  ///< the fastest counts
};

/// Bytes to chase pointers through so that few loads hit a cache: four times the largest cache, but 64 to 512 MiB.
std::uint64_t latency_bytes(const Topology& topology);

/// Latencies of the memory of one node, in ns, from the cores of each node, by index; 0 from nodes without cores.
///
/// A thread on each node in turn follows pointers through all cache lines in random order, so that each load waits for
/// the previous one. Takes about 0.1 s for each node. The calling thread stays where it is.
/// @throws StateError for a synthetic topology, if the system does not let threads run on a node, or if the memory is on
/// other nodes
/// @throws ValueOutOfBoundsError for a node that does not exist, fewer than 4096 bytes, or no loads or repetitions
std::vector<double> measure_latencies_to(const Topology& topology, std::uint32_t node, LatencyOptions options = {});

/// Latencies from node to node, row by row: see measure_latencies_to() and distances_by_latency().
std::vector<double> measure_latencies(const Topology& topology, const LatencyOptions& options = {});

}  // namespace ranvier::parallel
