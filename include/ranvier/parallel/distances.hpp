#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ranvier/base/choice.hpp"

namespace ranvier::parallel {

/// Origin of the distances between NUMA nodes.
enum class DistanceSource : std::uint8_t {
    assumed,   ///< the system reports none
    reported,  ///< by the firmware (SLIT)
    measured,  ///< see measure_latencies()
};

/// Distances from the cores of each NUMA node to the memory of each, by index among the nodes of a topology: 10 is that
/// of a node from itself, 20 is twice as far.
class NodeDistances {
   public:
    static constexpr std::uint32_t local = 10;
    static constexpr std::uint32_t assumed_in_package = 15;
    static constexpr std::uint32_t assumed_remote = 20;

    /// All other nodes are equally far.
    NodeDistances() = default;
    /// @param values from node to node, row by row
    /// @throws InternalError when their number is not a square
    explicit NodeDistances(std::vector<std::uint32_t> values);

    /// Number of nodes with known distances.
    std::size_t nodes() const { return nodes_; }
    /// Nodes without known distances are `assumed_remote` from each other.
    std::uint32_t operator()(std::size_t from, std::size_t to) const;
    const std::vector<std::uint32_t>& values() const { return values_; }

    friend bool operator==(const NodeDistances&, const NodeDistances&) = default;

   private:
    std::vector<std::uint32_t> values_;
    std::size_t nodes_ = 0;
};

/// Distances by measured latencies, relative to the local latency of each node. Latencies of a node that differ by less
/// than a tenth get the same distance, since the difference may be noise.
/// @param latencies from node to node, row by row, in any unit; 0 in rows of nodes without cores, which get the distances
/// in the opposite direction
/// @throws InternalError when their number is not a square
NodeDistances distances_by_latency(std::span<const double> latencies);

}  // namespace ranvier::parallel

namespace ranvier {

template <>
struct ChoiceNames<parallel::DistanceSource> {
    static constexpr std::string_view kind = "source of distances";
    static constexpr std::array<std::string_view, 3> names{"assumed", "reported", "measured"};
};

}  // namespace ranvier
