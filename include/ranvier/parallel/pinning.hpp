#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ranvier/parallel/topology.hpp"

namespace ranvier::parallel {

/// The assigned place of a worker thread.
struct Place {
    int processor = -1;  ///< system's number; -1: not pinned
    std::uint32_t node = 0;  ///< index among the nodes of its topology (not its os_index); 0 if not pinned

    friend bool operator==(const Place&, const Place&) = default;
};

enum class PinningPolicy {
    equal,    ///< the same number of threads on each NUMA node
    compact,  ///< on the fewest NUMA nodes that allow one thread a core; equal when all cores are in use
    none,     ///< the system's scheduler moves threads freely
    /// One on each processing unit or on each core, if the number of threads matches; otherwise none, since smaller
    /// teams of several programs would all be pinned to the first processors.
    automatic,
    list,  ///< on processors given by the user
};

/// Binding of threads to processors.
struct Pinning {
    PinningPolicy policy = PinningPolicy::equal;
    std::vector<int> processors{};  ///< of each thread in turn; for the policy `list` only

    friend bool operator==(const Pinning&, const Pinning&) = default;
};

std::string_view to_string(PinningPolicy policy);

/// Parses equal, compact, none, auto, or a list of processors such as "0,2,4-7".
/// @throws UnknownNameError when it is neither
/// @throws ValueOutOfBoundsError when a number of the list is negative, too large, or a range descends
Pinning parse_pinning(std::string_view text);

/// The places of this many threads.
///
/// The policies are Equal Pinning and Compact Pinning of Morgenstern et al. (2020), algorithms 2 and 3: of t threads on n
/// nodes, Equal Pinning gives t / n to each and one more to the first t mod n, numbered consecutively; Compact Pinning
/// fills node after node with one thread a core while t is below the number of cores, and is Equal Pinning from there on.
/// Both count nodes, not cores, and suit nodes of equal size. The threads of a node go to its cores in ascending order
/// of physical ids, one each; then to the second hardware threads, in the same order; then all over again.
///
/// @throws ShapeError when a list does not have one processor for each thread
/// @throws ValueOutOfBoundsError when it names one that the topology does not have
std::vector<Place> place_threads(const Topology& topology, std::uint32_t threads, const Pinning& pinning);

/// Load of the processors.
struct Occupancy {
    std::uint32_t most_on_unit = 0;  ///< threads on the most loaded processing unit
    std::uint32_t most_on_core = 0;  ///< threads on the most loaded core, on all its hardware threads

    /// Whether threads share a processing unit: oversubscription.
    bool shares_units() const { return most_on_unit > 1; }
    /// Whether threads share the execution units of a core, as hardware threads or by time slices.
    bool shares_cores() const { return most_on_core > 1; }
};

/// Load of these places. Threads that are not pinned count as spread evenly by the scheduler.
Occupancy occupancy(const Topology& topology, std::span<const Place> places);

}  // namespace ranvier::parallel
