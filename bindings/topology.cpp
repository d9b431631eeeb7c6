#include "ranvier/parallel/topology.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "parallel/processor_quota.hpp"
#include "ranvier/parallel/latency.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::bindings {

namespace {

using parallel::Topology;

nb::dict describe_node(const parallel::NumaNode& node) {
    nb::list cores;
    for (const parallel::Core& core : node.cores) {
        nb::dict description;
        description["os_index"] = core.os_index;
        description["processors"] = core.processors;
        cores.append(description);
    }
    nb::dict description;
    description["os_index"] = node.os_index;
    description["memory_bytes"] = node.memory_bytes;
    description["cores"] = cores;
    return description;
}

nb::typed<nb::dict, nb::str, nb::any> describe_topology(const Topology& topology) {
    nb::list nodes;
    nb::list distances;
    for (std::size_t from = 0; from < topology.nodes().size(); ++from) {
        nodes.append(describe_node(topology.nodes()[from]));
        nb::list row;
        for (std::size_t to = 0; to < topology.nodes().size(); ++to) row.append(topology.distance(from, to));
        distances.append(row);
    }
    nb::list caches;
    for (const parallel::Cache& cache : topology.caches()) {
        nb::dict description;
        description["level"] = cache.level;
        description["bytes"] = cache.bytes;
        description["line_bytes"] = cache.line_bytes;
        description["processors"] = cache.processors;
        caches.append(description);
    }
    nb::dict description;
    description["name"] = topology.name();
    description["synthetic"] = topology.is_synthetic();
    description["note"] = topology.note();
    description["memory_bytes"] = topology.memory_bytes();
    description["nodes"] = nodes;
    description["caches"] = caches;
    description["distances"] = distances;
    description["distance_source"] = name_of(topology.distance_source());
    return description;
}

/// (processor, node) of each thread.
std::vector<std::pair<int, std::uint32_t>> place_threads(const Topology& topology, std::uint32_t threads,
                                                         std::string_view pinning) {
    std::vector<std::pair<int, std::uint32_t>> places;
    for (const parallel::Place& place : parallel::place_threads(topology, threads, parallel::parse_pinning(pinning))) {
        places.emplace_back(place.processor, place.node);
    }
    return places;
}

/// The maximum number of threads on a unit, and on a core.
std::pair<std::uint32_t, std::uint32_t> occupancy(const Topology& topology,
                                                  const std::vector<std::pair<int, std::uint32_t>>& places) {
    std::vector<parallel::Place> converted;
    converted.reserve(places.size());
    for (const auto& [processor, node] : places) converted.push_back({.processor = processor, .node = node});
    const parallel::Occupancy found = parallel::occupancy(topology, converted);
    return {found.most_on_unit, found.most_on_core};
}

std::vector<std::string_view> stealing_policies() {
    const auto& names = ChoiceNames<parallel::StealingPolicy>::names;
    return {names.begin(), names.end()};
}

}  // namespace

void bind_topology(nb::module_& module) {
    nb::class_<Topology>(module, "Topology", "The hardware available to a process.")
        .def_static("detect", Topology::detect, "The part of this machine that is available to this process.")
        .def_static("synthetic", Topology::synthetic, nb::arg("description"),
                    "A synthetic machine in hwloc's syntax, such as 'node:2 core:12 pu:2'.")
        .def_static(
            "flat", [](std::vector<int> processors) { return Topology::flat(std::move(processors)); },
            nb::arg("processors"), "One NUMA node with one core for each processor.")
        .def(
            "restricted",
            [](const Topology& topology, const std::vector<int>& processors) {
                return topology.restricted(processors);
            },
            nb::arg("processors"), "Return the part with these processors only.")
        .def("shared_out", &Topology::shared_out, nb::arg("place"), nb::arg("processes"),
             "Return the share of one of several processes.")
        .def(
            "with_latencies",
            [](const Topology& topology, const std::vector<double>& latencies) {
                return topology.with_distances(parallel::distances_by_latency(latencies));
            },
            nb::arg("latencies"),
            "Return the same machine with distances by measured latencies, from node to node, row by row.")
        .def("latency_bytes", parallel::latency_bytes, "Return the memory that measure_latencies_to() needs.")
        .def(
            "measure_latencies_to",
            [](const Topology& topology, std::uint32_t node, std::uint64_t bytes) {
                const Unlocked unlocked;
                return parallel::measure_latencies_to(topology, node, {.bytes = bytes});
            },
            nb::arg("node"), nb::arg("bytes") = 0,
            "Return the latencies (ns) of the memory of a node from each node; 0 from nodes without cores.")
        .def("processors", &Topology::processors, "Return the numbers of all processing units, ascending.")
        .def("describe", describe_topology, "Return the topology as dictionaries and lists.");
    module.def(
        "parse_pinning",
        [](std::string_view pinning) {
            parallel::Pinning parsed = parallel::parse_pinning(pinning);
            return std::pair(std::string(parallel::to_string(parsed.policy)), std::move(parsed.processors));
        },
        nb::arg("pinning"),
        "Return the policy that a text names and, for the policy 'list', its processors: 'equal', 'compact', 'none', "
        "or "
        "a list such as '0,2,4-7'.");
    module.def(
        "place_threads", place_threads, nb::arg("topology"), nb::arg("threads"), nb::arg("pinning"),
        "Return (processor, index of the NUMA node) of each thread; processor -1 is none in particular. The pinning "
        "is what parse_pinning() takes.");
    module.def("occupancy", occupancy, nb::arg("topology"), nb::arg("places"),
               "Return the maximum numbers of threads on a processing unit, and on a core.");
    module.def(
        "processor_quota", [] { return parallel::processor_quota(); },
        "Return the number of processors granted by the quotas of cgroups, rounded up; None without a quota.");
    module.def("default_threads", parallel::default_threads, nb::arg("processors"), nb::arg("quota").none(),
               nb::arg("processes") = 1, "Return the default number of threads of a process.");
    module.def("stealing_policies", stealing_policies, "Names of the policies of stealing work.");
}

}  // namespace ranvier::bindings
