#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/parallel/distances.hpp"

namespace ranvier::parallel {

/// A core with its processing units, one for each hardware thread.
struct Core {
    int os_index = -1;  ///< physical id of the system; unique within a package only, -1 if unknown
    std::vector<int> processors{};  ///< system's numbers of its processing units, ascending

    friend bool operator==(const Core&, const Core&) = default;
};

/// Memory with the cores to which it is local.
struct NumaNode {
    int os_index = 0;                ///< system's number, for binding memory
    std::uint64_t memory_bytes = 0;  ///< total, 0 if unknown
    std::vector<Core> cores{};       ///< in ascending order of physical ids, package by package
    int package = -1;                ///< number of the package (socket) that has it, -1 if unknown or in none

    friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

/// A cache for data.
struct Cache {
    std::uint32_t level = 1;
    std::uint64_t bytes = 0;        ///< 0 if unknown
    std::uint32_t line_bytes = 0;   ///< 0 if unknown
    std::vector<int> processors{};  ///< that share it, ascending

    friend bool operator==(const Cache&, const Cache&) = default;
};

/// A processing unit: runs one thread at a time.
struct ProcessingUnit {
    int processor = 0;  ///< system's number, for binding threads
    std::uint32_t node = 0;  ///< index among the topology's nodes
    std::uint32_t core = 0;  ///< index among the cores of that node

    friend bool operator==(const ProcessingUnit&, const ProcessingUnit&) = default;
};

/// The parts of a topology.
struct TopologyParts {
    std::string name{};              ///< of the machine, empty if unknown
    std::uint64_t memory_bytes = 0;  ///< of the machine, 0 if unknown
    /// Nodes without cores come last: memory that is near no core or that its cores do not use by default.
    std::vector<NumaNode> nodes{};
    std::vector<Cache> caches{};  ///< by level, then by first processor
    /// From node to node, row by row; empty if the system does not report them.
    std::vector<std::uint32_t> distances{};
    bool distances_are_measured = false;
    bool synthetic = false;  ///< fictitious: threads cannot be bound to its processors
    std::string note{};  ///< why information is missing, otherwise empty

    friend bool operator==(const TopologyParts&, const TopologyParts&) = default;
};

/// The hardware that a process may use: machine, NUMA nodes, caches, cores, processing units. A plain value that does
/// not follow later changes of the machine or of the process.
class Topology {
   public:
    /// The hardware available to this process: the machine as hwloc sees it, without the parts that a cgroup or an
    /// affinity mask (of a batch system, mpiexec or taskset) excludes. Flat, with a note on the reason, if hwloc is
    /// missing. The calling thread's mask counts: call it before threads are pinned, or from one that is not. The last
    /// result is cached while the mask stays the same.
    static Topology detect();
    /// A fictitious machine in hwloc's syntax, for example "node:2 core:12 pu:2".
    /// @throws ValueOutOfBoundsError when hwloc does not accept the description
    /// @throws StateError if hwloc is missing
    static Topology synthetic(std::string_view description);
    /// One node with one core for each processor. @param note reason
    static Topology flat(std::vector<int> processors, std::uint64_t memory_bytes = 0, std::string note = {});

    /// @throws InternalError when a processor occurs twice, a core has none, nodes without cores are not last, or the
    /// number of distances does not match the pairs of nodes
    explicit Topology(TopologyParts parts);

    const std::string& name() const { return parts_.name; }
    std::uint64_t memory_bytes() const { return parts_.memory_bytes; }
    /// Nodes with cores first; threads are never pinned to the others.
    const std::vector<NumaNode>& nodes() const { return parts_.nodes; }
    /// The part of nodes() that have cores.
    std::span<const NumaNode> nodes_with_cores() const { return std::span(parts_.nodes).first(nodes_with_cores_); }
    const std::vector<Cache>& caches() const { return parts_.caches; }
    /// All processing units, node by node and core by core.
    const std::vector<ProcessingUnit>& units() const { return units_; }
    std::size_t core_count() const { return cores_; }
    /// Numbers of all processing units, ascending.
    std::vector<int> processors() const;
    /// The unit with that number, or null.
    const ProcessingUnit* find(int processor) const;

    /// Distance of the memory of node `to` from the cores of node `from`, by index; 10 is that of a node from itself.
    /// Where the system does not report distances, those of other nodes in the same package are 15, and all others 20.
    std::uint32_t distance(std::size_t from, std::size_t to) const;
    /// The distances of all nodes, for TeamOptions.
    NodeDistances distances() const;
    DistanceSource distance_source() const;
    /// The same hardware with measured distances; see distances_by_latency().
    /// @throws InternalError when they are not those of all nodes
    Topology with_distances(const NodeDistances& measured) const;
    /// Whether it is fictitious, so that threads and memory cannot be bound to it.
    bool is_synthetic() const { return parts_.synthetic; }
    /// Why it is flat; empty if it was read from the system.
    const std::string& note() const { return parts_.note; }

    /// The part with these processors only. Nodes, cores and caches that lose all of theirs are removed; nodes that had
    /// none stay.
    /// @throws ValueOutOfBoundsError when one of them is not in the topology, or none is given
    Topology restricted(std::span<const int> processors) const;

    /// The part of one of several processes that share the machine.
    ///
    /// Whole nodes if the smallest part then has at least three quarters of the cores of the largest; otherwise equal
    /// numbers of whole cores; otherwise, with more processes than cores, equal numbers of units; otherwise, with more
    /// processes than units, one unit each, which some then share. Parts are contiguous, and every unit is in one.
    /// @param place index of the process among the `processes`, from 0
    /// @throws ValueOutOfBoundsError when the index is not below the number of processes
    Topology shared_out(std::int32_t place, std::int32_t processes) const;

    friend bool operator==(const Topology& a, const Topology& b) { return a.parts_ == b.parts_; }

   private:
    TopologyParts parts_;
    std::size_t nodes_with_cores_ = 0;
    std::size_t cores_ = 0;
    std::vector<ProcessingUnit> units_;
};

}  // namespace ranvier::parallel
