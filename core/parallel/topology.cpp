#include "ranvier/parallel/topology.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "parallel/hwloc_library.hpp"
#include "parallel/processors.hpp"
#include "parallel/topology_reading.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::parallel {

namespace {

/// The range of one part when `things` are divided into contiguous parts.
std::pair<std::size_t, std::size_t> part_of(std::size_t things, std::size_t place, std::size_t parts) {
    return {things * place / parts, things * (place + 1) / parts};
}

/// Whether parts of whole nodes are nearly equal: none has less than three quarters of the cores of another.
bool divides_into_whole_nodes(std::span<const NumaNode> nodes, std::size_t parts) {
    if (parts > nodes.size()) return false;
    std::vector<std::size_t> cores(parts, 0);
    for (std::size_t part = 0; part < parts; ++part) {
        const auto [begin, end] = part_of(nodes.size(), part, parts);
        for (std::size_t node = begin; node < end; ++node) cores[part] += nodes[node].cores.size();
    }
    const auto [least, most] = std::minmax_element(cores.begin(), cores.end());
    return 4 * *least >= 3 * *most;
}

/// The processors of `all` that are in `kept`, in the order of `all`.
std::vector<int> keep(const std::vector<int>& all, const std::set<int>& kept) {
    std::vector<int> left;
    std::copy_if(all.begin(), all.end(), std::back_inserter(left), [&](int each) { return kept.contains(each); });
    return left;
}

}  // namespace

Topology Topology::detect() {
    // Reading takes milliseconds, and much longer where many processes of a large machine do it at once. The machine
    // does not change, so the result is cached while the mask stays the same.
    static std::mutex mutex;
    static std::optional<std::pair<std::vector<int>, Topology>> last;
    const std::vector<int> mask = available_processors();
    {
        const std::lock_guard lock(mutex);
        if (last && last->first == mask) return last->second;
    }
    Topology found = detect_topology(hwloc_names());
    const std::lock_guard lock(mutex);
    last.emplace(mask, found);
    return found;
}

Topology Topology::synthetic(std::string_view description) { return synthetic_topology(description, hwloc_names()); }

Topology Topology::flat(std::vector<int> processors, std::uint64_t memory_bytes, std::string note) {
    std::sort(processors.begin(), processors.end());
    NumaNode node{.os_index = 0, .memory_bytes = memory_bytes, .cores = {}};
    for (const int processor : processors) node.cores.push_back({.os_index = -1, .processors = {processor}});
    TopologyParts parts;
    parts.memory_bytes = memory_bytes;
    parts.nodes.push_back(std::move(node));
    parts.note = std::move(note);
    return Topology(std::move(parts));
}

Topology::Topology(TopologyParts parts) : parts_(std::move(parts)) {
    const std::vector<NumaNode>& all = parts_.nodes;
    while (nodes_with_cores_ < all.size() && !all[nodes_with_cores_].cores.empty()) ++nodes_with_cores_;
    for (std::size_t node = nodes_with_cores_; node < all.size(); ++node) {
        if (!all[node].cores.empty()) throw InternalError("a NUMA node without cores precedes one with cores");
    }
    const std::size_t distances = parts_.distances.size();
    if (distances != 0 && distances != all.size() * all.size()) {
        throw InternalError("the number of distances does not match the pairs of NUMA nodes");
    }
    std::set<int> seen;
    for (std::uint32_t node = 0; node < nodes_with_cores_; ++node) {
        cores_ += all[node].cores.size();
        for (std::uint32_t core = 0; core < all[node].cores.size(); ++core) {
            if (all[node].cores[core].processors.empty()) throw InternalError("a core has no processing unit");
            for (const int processor : all[node].cores[core].processors) {
                if (!seen.insert(processor).second) throw InternalError("a processor occurs twice in a topology");
                units_.push_back({.processor = processor, .node = node, .core = core});
            }
        }
    }
    if (units_.empty()) throw InternalError("a topology has no processor");
}

std::vector<int> Topology::processors() const {
    std::vector<int> numbers;
    numbers.reserve(units_.size());
    for (const ProcessingUnit& unit : units_) numbers.push_back(unit.processor);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

const ProcessingUnit* Topology::find(int processor) const {
    const auto found = std::find_if(units_.begin(), units_.end(),
                                    [&](const ProcessingUnit& unit) { return unit.processor == processor; });
    return found != units_.end() ? &*found : nullptr;
}

std::uint32_t Topology::distance(std::size_t from, std::size_t to) const {
    if (!parts_.distances.empty()) return parts_.distances.at(from * parts_.nodes.size() + to);
    if (from == to) return NodeDistances::local;
    const int package = parts_.nodes.at(from).package;
    const bool is_near = package >= 0 && package == parts_.nodes.at(to).package;
    return is_near ? NodeDistances::assumed_in_package : NodeDistances::assumed_remote;
}

NodeDistances Topology::distances() const {
    std::vector<std::uint32_t> values;
    for (std::size_t from = 0; from < parts_.nodes.size(); ++from) {
        for (std::size_t to = 0; to < parts_.nodes.size(); ++to) values.push_back(distance(from, to));
    }
    return NodeDistances(std::move(values));
}

DistanceSource Topology::distance_source() const {
    if (parts_.distances.empty()) return DistanceSource::assumed;
    return parts_.distances_are_measured ? DistanceSource::measured : DistanceSource::reported;
}

Topology Topology::with_distances(const NodeDistances& measured) const {
    TopologyParts parts = parts_;
    parts.distances = measured.values();
    parts.distances_are_measured = true;
    if (parts.distances.empty()) throw InternalError("measured distances are empty");
    return Topology(std::move(parts));
}

Topology Topology::restricted(std::span<const int> processors) const {
    const std::set<int> kept(processors.begin(), processors.end());
    if (kept.empty()) {
        throw ValueOutOfBoundsError({.object = "processors of a part of the machine",
                                     .value = "none",
                                     .bound = "there must be at least one",
                                     .remedy = "name one that this process may use"});
    }
    for (const int processor : kept) {
        if (find(processor) == nullptr) {
            throw ValueOutOfBoundsError({.object = "processor of a part of the machine",
                                         .value = std::to_string(processor),
                                         .bound = "it is not among the " + std::to_string(units_.size()) +
                                                  " processors of the machine that can be used",
                                         .remedy = "`ranvier info` lists those"});
        }
    }
    TopologyParts rest{.name = parts_.name,
                       .memory_bytes = parts_.memory_bytes,
                       .nodes = {},
                       .caches = {},
                       .distances_are_measured = parts_.distances_are_measured,
                       .synthetic = parts_.synthetic,
                       .note = parts_.note};
    std::vector<std::size_t> kept_nodes;
    for (std::size_t i = 0; i < parts_.nodes.size(); ++i) {
        NumaNode node = parts_.nodes[i];
        for (Core& core : node.cores) core.processors = keep(core.processors, kept);
        std::erase_if(node.cores, [](const Core& core) { return core.processors.empty(); });
        if (node.cores.empty() && i < nodes_with_cores_) continue;
        kept_nodes.push_back(i);
        rest.nodes.push_back(std::move(node));
    }
    if (!parts_.distances.empty()) {
        for (const std::size_t from : kept_nodes) {
            for (const std::size_t to : kept_nodes) rest.distances.push_back(distance(from, to));
        }
    }
    for (Cache cache : parts_.caches) {
        cache.processors = keep(cache.processors, kept);
        if (!cache.processors.empty()) rest.caches.push_back(std::move(cache));
    }
    return Topology(std::move(rest));
}

Topology Topology::shared_out(std::int32_t place, std::int32_t processes) const {
    if (place < 0 || place >= processes) {
        throw ValueOutOfBoundsError({.object = "place of a process on its host",
                                     .value = std::to_string(place),
                                     .bound = "places are 0 to " + std::to_string(processes - 1),
                                     .remedy = "use its rank among the processes of the host"});
    }
    const auto mine = static_cast<std::size_t>(place);
    const auto parts = static_cast<std::size_t>(processes);
    std::vector<int> chosen;
    if (divides_into_whole_nodes(nodes_with_cores(), parts)) {
        const auto [begin, end] = part_of(nodes_with_cores_, mine, parts);
        for (const ProcessingUnit& unit : units_) {
            if (unit.node >= begin && unit.node < end) chosen.push_back(unit.processor);
        }
    } else if (parts <= cores_) {
        const auto [begin, end] = part_of(cores_, mine, parts);
        std::size_t core = 0;
        for (const NumaNode& node : parts_.nodes) {
            for (const Core& each : node.cores) {
                if (core >= begin && core < end) {
                    chosen.insert(chosen.end(), each.processors.begin(), each.processors.end());
                }
                ++core;
            }
        }
    } else {
        const auto [begin, end] = part_of(units_.size(), mine, parts);
        for (std::size_t unit = begin; unit < std::max(end, begin + 1); ++unit)
            chosen.push_back(units_[unit].processor);
    }
    return restricted(chosen);
}

}  // namespace ranvier::parallel
