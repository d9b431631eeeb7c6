#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "error_fields.hpp"
#include "parallel/hwloc_library.hpp"
#include "parallel/pointer_cycle.hpp"
#include "parallel/processors.hpp"
#include "parallel/topology_reading.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/latency.hpp"
#include "ranvier/parallel/topology.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

std::vector<int> numbers(int first, int end, int distance = 1) {
    std::vector<int> list;
    for (int number = first; number < end; number += distance) list.push_back(number);
    return list;
}

// ---- synthetic machines ----------------------------------------------------------------------------------------------

TEST(SyntheticTopology, HasItsNodesCachesCoresAndUnits) {
    const Topology topology = Topology::synthetic("node:2(memory=16GB) l3:1(size=32MB) l2:2(size=1MB) core:2 pu:2");
    EXPECT_EQ(topology.name(), "node:2(memory=16GB) l3:1(size=32MB) l2:2(size=1MB) core:2 pu:2");
    EXPECT_TRUE(topology.is_synthetic());
    EXPECT_EQ(topology.note(), "");
    ASSERT_EQ(topology.nodes().size(), 2u);
    EXPECT_EQ(topology.nodes_with_cores().size(), 2u);
    const std::uint64_t node_bytes = topology.nodes()[0].memory_bytes;
    EXPECT_NEAR(static_cast<double>(node_bytes), 16e9, 1.3e9);  // hwloc's GB has become 1000^3 bytes
    EXPECT_EQ(topology.memory_bytes(), 2 * node_bytes);
    EXPECT_EQ(topology.nodes()[1].os_index, 1);
    const std::vector<Core> cores{{4, {8, 9}}, {5, {10, 11}}, {6, {12, 13}}, {7, {14, 15}}};
    EXPECT_EQ(topology.nodes()[1].cores, cores);
    EXPECT_EQ(topology.core_count(), 8u);
    ASSERT_EQ(topology.units().size(), 16u);
    EXPECT_EQ(topology.units()[11], (ProcessingUnit{.processor = 11, .node = 1, .core = 1}));
    EXPECT_EQ(topology.processors(), numbers(0, 16));
    EXPECT_EQ(topology.find(13), &topology.units()[13]);
    EXPECT_EQ(topology.find(16), nullptr);
    EXPECT_EQ(topology.find(-1), nullptr);
    ASSERT_EQ(topology.caches().size(), 6u);
    EXPECT_EQ(topology.caches()[1].level, 2u);
    EXPECT_EQ(topology.caches()[1].processors, numbers(4, 8));
    EXPECT_EQ(topology.caches()[5].level, 3u);
    EXPECT_EQ(topology.caches()[5].processors, numbers(8, 16));
    EXPECT_GE(topology.caches()[5].bytes, 32'000'000u);
    EXPECT_EQ(topology.caches()[5].line_bytes, 64u);
}

TEST(SyntheticTopology, HasAssumedDistances) {
    const Topology topology = Topology::synthetic("node:3 core:1 pu:1");
    EXPECT_EQ(topology.distance_source(), DistanceSource::assumed);
    for (std::size_t from = 0; from < 3; ++from) {
        for (std::size_t to = 0; to < 3; ++to) EXPECT_EQ(topology.distance(from, to), from == to ? 10u : 20u);
    }
}

TEST(SyntheticTopology, HasNearerNodesInAPackage) {
    const Topology topology = Topology::synthetic("pack:2 node:2 core:1 pu:1");
    EXPECT_EQ(topology.nodes()[1].package, 0);
    EXPECT_EQ(topology.nodes()[2].package, 1);
    EXPECT_EQ(topology.distances(), NodeDistances({10, 15, 20, 20,   //
                                                   15, 10, 20, 20,   //
                                                   20, 20, 10, 15,   //
                                                   20, 20, 15, 10}));
    EXPECT_EQ(topology.distance_source(), DistanceSource::assumed);
    EXPECT_EQ(topology.restricted(std::vector{1, 3}).distance(0, 1), 20u);
}

TEST(SyntheticTopology, NeedsNeitherNodesNorCores) {
    const Topology topology = Topology::synthetic("pu:3");
    ASSERT_EQ(topology.nodes().size(), 1u);
    EXPECT_EQ(topology.core_count(), 3u);
    EXPECT_EQ(topology.nodes()[0].cores[2].processors, std::vector<int>{2});
}

TEST(SyntheticTopology, KeepsNodesWithoutCoresAtTheEnd) {
    // Of two memories beside the same cores, the first is taken by default.
    const Topology topology = Topology::synthetic("pack:2 [numa(memory=4GB)] [numa(memory=1GB)] core:2 pu:1");
    ASSERT_EQ(topology.nodes().size(), 4u);
    ASSERT_EQ(topology.nodes_with_cores().size(), 2u);
    std::vector<int> order;
    for (const NumaNode& node : topology.nodes()) order.push_back(node.os_index);
    EXPECT_EQ(order, (std::vector{0, 2, 1, 3}));
    EXPECT_TRUE(topology.nodes()[2].cores.empty());
    EXPECT_LT(topology.nodes()[2].memory_bytes, topology.nodes()[0].memory_bytes);
    // They stay when their neighbours go.
    EXPECT_EQ(topology.restricted(std::vector{3}).nodes().size(), 3u);
}

TEST(SyntheticTopology, IsRefusedByName) {
    for (const std::string wrong : {"", "nonsense", "core:0 pu:1", "node:2 core:-1", "pu:2 core:2"}) {
        const ErrorFields fields = fields_of<ValueOutOfBoundsError>([&] { Topology::synthetic(wrong); });
        EXPECT_EQ(fields.object, "synthetic topology");
        EXPECT_EQ(fields.value, "'" + wrong + "'");
        EXPECT_NE(fields.remedy.find("node:2 core:12 pu:2"), std::string::npos);
    }
}

// ---- distances by latency ---------------------------------------------------------------------------------------------

TEST(MeasuredDistances, AreRelativeToTheLocalLatency) {
    const std::vector<double> latencies{80,  120, 245,   //
                                        180, 90,  181,   //
                                        300, 200, 100};
    EXPECT_EQ(distances_by_latency(latencies), NodeDistances({10, 15, 31, 20, 10, 20, 30, 20, 10}));
}

TEST(MeasuredDistances, IgnoreNoise) {
    // Less than a tenth more than the nearest of a group is the same; a tenth is more.
    const std::vector<double> row{100, 150, 160, 164, 166, 400, 90};
    std::vector<double> latencies(49, 100.0);
    std::copy(row.begin(), row.end(), latencies.begin());
    const NodeDistances distances = distances_by_latency(latencies);
    std::vector<std::uint32_t> found;
    for (std::size_t to = 0; to < 7; ++to) found.push_back(distances(0, to));
    // None is nearer than the node itself.
    EXPECT_EQ(found, (std::vector<std::uint32_t>{10, 16, 16, 16, 17, 40, 10}));
    // Groups keep their order where rounding would make them equal.
    const NodeDistances close = distances_by_latency(std::vector<double>{100, 100, 110, 1, 1, 1, 1, 1, 1});
    EXPECT_LT(close(0, 1), close(0, 2));
}

TEST(MeasuredDistances, OfNodesWithoutCoresAreThoseTowardsThem) {
    const std::vector<double> latencies{100, 150, 300, 150, 100, 400, 0, 0, 0};
    EXPECT_EQ(distances_by_latency(latencies), NodeDistances({10, 15, 30, 15, 10, 40, 30, 40, 10}));
    EXPECT_THROW(distances_by_latency(std::vector<double>{1, 2}), InternalError);
    EXPECT_EQ(distances_by_latency({}), NodeDistances());
}

TEST(MeasuredDistances, ReplaceThoseOfATopology) {
    const Topology one = Topology::flat({0, 1}).with_distances(NodeDistances({10}));
    EXPECT_EQ(one.distance_source(), DistanceSource::measured);
    EXPECT_EQ(one.restricted(std::vector{1}).distance_source(), DistanceSource::measured);
    EXPECT_THROW(one.with_distances(NodeDistances({10, 20, 20, 10})), InternalError);
    EXPECT_THROW(one.with_distances({}), InternalError);
}

TEST(Latencies, AreMeasuredOnThisMachine) {
    const Topology here = Topology::detect();
    const std::vector<double> latencies = measure_latencies(here, {.bytes = 1 << 20, .loads = 1000, .repetitions = 1});
    const std::size_t nodes = here.nodes().size();
    ASSERT_EQ(latencies.size(), nodes * nodes);
    for (std::size_t from = 0; from < nodes; ++from) {
        for (std::size_t to = 0; to < nodes; ++to) {
            if (from < here.nodes_with_cores().size()) {
                EXPECT_GT(latencies[from * nodes + to], 0.0);
            } else {
                EXPECT_EQ(latencies[from * nodes + to], 0.0);
            }
        }
    }
    EXPECT_GE(latency_bytes(here), std::uint64_t{64} << 20);
    EXPECT_LE(latency_bytes(here), std::uint64_t{512} << 20);
}

TEST(Latencies, AreThoseOfACycleThroughAllLines) {
    for (const std::size_t count : {1u, 2u, 3u, 1000u}) {
        std::vector<Line> lines(count);
        link_randomly(lines);
        std::set<const Line*> seen;
        std::size_t neighbours = 0;
        for (const Line* line = lines.data(); seen.insert(line).second; line = line->next) {
            neighbours += line->next == line + 1;
        }
        EXPECT_EQ(seen.size(), count);
        // Of 1000 lines in random order, one is followed by its neighbour on average, 20 with a probability below 1e-18.
        if (count == 1000) {
            EXPECT_LT(neighbours, 20u);
        }
    }
}

TEST(Latencies, RefuseWhatCannotBeMeasured) {
    const Topology here = Topology::detect();
    const auto object = [&](const LatencyOptions& options, std::uint32_t node) {
        return fields_of<ValueOutOfBoundsError>([&] { measure_latencies_to(here, node, options); }).object;
    };
    EXPECT_EQ(object({}, 1000), "NUMA node to measure");
    EXPECT_EQ(object({.bytes = 100}, 0), "bytes to chase pointers through");
    EXPECT_EQ(object({.loads = 0}, 0), "loads of a repetition");
    EXPECT_EQ(object({.repetitions = 0}, 0), "repetitions");
    TopologyParts parts{.nodes = {{.cores = {{.processors = {0}}}}}, .synthetic = true};
    EXPECT_EQ(fields_of<StateError>([&] { measure_latencies(Topology(parts)); }).remedy,
              "measure a machine that exists");
    // A processor that does not exist.
    EXPECT_EQ(fields_of<StateError>([&] { measure_latencies(Topology::flat({9999}), {.bytes = 4096}); }).value,
              "on processor 9999");
}

// ---- made from parts -------------------------------------------------------------------------------------------------

TEST(FlatTopology, IsOneNodeThatSaysWhy) {
    const Topology topology = Topology::flat({5, 2, 9}, 1000, "because");
    EXPECT_EQ(topology.note(), "because");
    EXPECT_FALSE(topology.is_synthetic());
    ASSERT_EQ(topology.nodes().size(), 1u);
    EXPECT_EQ(topology.nodes()[0].memory_bytes, 1000u);
    EXPECT_EQ(topology.core_count(), 3u);
    EXPECT_EQ(topology.processors(), (std::vector{2, 5, 9}));
    EXPECT_EQ(topology.distance(0, 0), 10u);
    EXPECT_EQ(topology.restricted(std::vector{5}).note(), "because");
}

TEST(Topology, RefusesPartsThatDoNotFit) {
    const NumaNode node{.os_index = 0, .memory_bytes = 0, .cores = {{.os_index = 0, .processors = {0}}}};
    const NumaNode empty{};
    EXPECT_NO_THROW(Topology({.nodes = {node, empty}}));
    EXPECT_THROW(Topology({.nodes = {}}), InternalError);
    EXPECT_THROW(Topology({.nodes = {empty}}), InternalError);
    EXPECT_THROW(Topology({.nodes = {empty, node}}), InternalError);
    EXPECT_THROW(Topology({.nodes = {node, node}}), InternalError);
    EXPECT_THROW(Topology({.nodes = {node}, .distances = {10, 20}}), InternalError);
    EXPECT_THROW(Topology({.nodes = {{.cores = {{.processors = {}}}}}}), InternalError);
}

/// Three nodes of which the middle one has the other distances.
Topology with_distances() {
    TopologyParts parts;
    for (int node = 0; node < 3; ++node) {
        parts.nodes.push_back({.os_index = node,
                               .memory_bytes = 100,
                               .cores = {{.os_index = 2 * node, .processors = {4 * node, 4 * node + 1}},
                                         {.os_index = 2 * node + 1, .processors = {4 * node + 2, 4 * node + 3}}}});
    }
    parts.distances = {10, 12, 32, 12, 10, 22, 32, 22, 10};
    parts.caches = {{.level = 2, .bytes = 1, .line_bytes = 64, .processors = {0, 1, 2, 3}},
                    {.level = 2, .bytes = 2, .line_bytes = 64, .processors = {4, 5, 6, 7, 8, 9}}};
    return Topology(parts);
}

TEST(Topology, IsRestricted) {
    const Topology all = with_distances();
    EXPECT_EQ(all.distance(2, 1), 22u);
    EXPECT_EQ(all.restricted(numbers(0, 12)), all);
    const Topology part = all.restricted(std::vector{9, 3, 2, 9});
    EXPECT_EQ(part.processors(), (std::vector{2, 3, 9}));
    ASSERT_EQ(part.nodes().size(), 2u);
    EXPECT_EQ(part.nodes()[0].cores, (std::vector<Core>{{1, {2, 3}}}));
    EXPECT_EQ(part.nodes()[1].os_index, 2);
    EXPECT_EQ(part.nodes()[1].cores, (std::vector<Core>{{4, {9}}}));
    EXPECT_EQ(part.units()[2], (ProcessingUnit{.processor = 9, .node = 1, .core = 0}));
    EXPECT_EQ(part.distance(0, 1), 32u);
    EXPECT_EQ(part.distance(1, 1), 10u);
    ASSERT_EQ(part.caches().size(), 2u);
    EXPECT_EQ(part.caches()[1].processors, std::vector<int>{9});
    EXPECT_EQ(all.restricted(std::vector{10}).caches().size(), 0u);

    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { all.restricted(std::vector{3, 12}); }).value, "12");
    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { all.restricted({}); }).value, "none");
}

// ---- several processes on a host -------------------------------------------------------------------------------------

std::vector<std::vector<int>> share(const Topology& topology, std::int32_t processes) {
    std::vector<std::vector<int>> parts;
    for (std::int32_t place = 0; place < processes; ++place) {
        parts.push_back(topology.shared_out(place, processes).processors());
    }
    return parts;
}

using Parts = std::vector<std::vector<int>>;

TEST(SharedTopology, OfTwoNodesOfTwelveCores) {
    const Topology topology = Topology::synthetic("node:2 core:12 pu:2");
    EXPECT_EQ(topology.shared_out(0, 1), topology);
    // Whole nodes.
    EXPECT_EQ(share(topology, 2), (Parts{numbers(0, 24), numbers(24, 48)}));
    EXPECT_EQ(topology.shared_out(1, 2).nodes().size(), 1u);
    // Whole cores: 8, 6 and 4 or 5 of them.
    EXPECT_EQ(share(topology, 3), (Parts{numbers(0, 16), numbers(16, 32), numbers(32, 48)}));
    EXPECT_EQ(share(topology, 4), (Parts{numbers(0, 12), numbers(12, 24), numbers(24, 36), numbers(36, 48)}));
    EXPECT_EQ(share(topology, 5),
              (Parts{numbers(0, 8), numbers(8, 18), numbers(18, 28), numbers(28, 38), numbers(38, 48)}));
    const Parts cores = share(topology, 24);
    for (int core = 0; core < 24; ++core) {
        EXPECT_EQ(cores[static_cast<std::size_t>(core)], numbers(2 * core, 2 * core + 2));
    }
    // Units: those of one core may be shared out.
    const Parts units = share(topology, 48);
    for (int unit = 0; unit < 48; ++unit) EXPECT_EQ(units[static_cast<std::size_t>(unit)], std::vector<int>{unit});
}

TEST(SharedTopology, OfFourNodes) {
    const Topology topology = Topology::synthetic("node:4 core:3 pu:2");
    EXPECT_EQ(share(topology, 2), (Parts{numbers(0, 12), numbers(12, 24)}));
    // One, one and two whole nodes would be too uneven: four cores each.
    EXPECT_EQ(share(topology, 3), (Parts{numbers(0, 8), numbers(8, 16), numbers(16, 24)}));
    EXPECT_EQ(share(topology, 4), (Parts{numbers(0, 6), numbers(6, 12), numbers(12, 18), numbers(18, 24)}));
    EXPECT_EQ(share(topology, 5),
              (Parts{numbers(0, 4), numbers(4, 8), numbers(8, 14), numbers(14, 18), numbers(18, 24)}));
}

TEST(SharedTopology, OfUnequalNodes) {
    // Nodes of 6, 5 and 1 cores.
    std::vector<int> processors = numbers(0, 11);
    processors.push_back(12);
    const Topology topology = Topology::synthetic("node:3 core:6 pu:1").restricted(processors);
    // Nodes 0 | 1 and 2: 6 and 6 cores.
    EXPECT_EQ(share(topology, 2), (Parts{numbers(0, 6), {6, 7, 8, 9, 10, 12}}));
    // Whole nodes would give the last one a single core.
    EXPECT_EQ(share(topology, 3), (Parts{numbers(0, 4), numbers(4, 8), {8, 9, 10, 12}}));
    // Three quarters are near enough.
    const Topology near = Topology::synthetic("node:2 core:4 pu:1").restricted(numbers(0, 7));
    EXPECT_EQ(share(near, 2), (Parts{numbers(0, 4), numbers(4, 7)}));
    const Topology far = Topology::synthetic("node:2 core:4 pu:1").restricted(numbers(0, 6));
    EXPECT_EQ(share(far, 2), (Parts{numbers(0, 3), numbers(3, 6)}));
}

TEST(SharedTopology, OfFewUnitsIsSharedByMany) {
    const Topology group = Topology::synthetic("node:2 core:12 pu:2").restricted(std::vector{22, 23, 24});
    EXPECT_EQ(share(group, 2), (Parts{{22, 23}, {24}}));
    EXPECT_EQ(share(group, 3), (Parts{{22}, {23}, {24}}));
    EXPECT_EQ(share(group, 4), (Parts{{22}, {22}, {23}, {24}}));
    EXPECT_EQ(share(group, 7), (Parts{{22}, {22}, {22}, {23}, {23}, {24}, {24}}));
    EXPECT_EQ(share(Topology::flat({3}), 2), (Parts{{3}, {3}}));
}

TEST(SharedTopology, GivesEveryUnitToSomeone) {
    for (const std::string description : {"node:2 core:12 pu:2", "node:3 core:5 pu:1", "core:7 pu:4", "pu:1"}) {
        const Topology topology = Topology::synthetic(description);
        for (std::int32_t processes = 1; processes <= 60; ++processes) {
            std::map<int, int> users;
            for (const std::vector<int>& part : share(topology, processes)) {
                for (const int processor : part) ++users[processor];
            }
            EXPECT_EQ(users.size(), topology.units().size());
            const auto [least, most] =
                std::minmax_element(users.begin(), users.end(), [](auto& a, auto& b) { return a.second < b.second; });
            // A unit has one user until there are more processes than units.
            const bool enough = static_cast<std::size_t>(processes) <= topology.units().size();
            EXPECT_LE(most->second, enough ? 1 : least->second + 1) << description << ", " << processes;
        }
    }
}

TEST(SharedTopology, RefusesPlacesThatThereAreNot) {
    const Topology topology = Topology::flat({0, 1});
    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { topology.shared_out(2, 2); }).bound, "places are 0 to 1");
    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { topology.shared_out(-1, 2); }).value, "-1");
    EXPECT_THROW(topology.shared_out(0, 0), ValueOutOfBoundsError);
}

// ---- this machine ----------------------------------------------------------------------------------------------------

/// Runs a check in a process of its own, since masks and environments are inherited. What it prints is seen.
void expect_in_child(const std::function<bool()>& check) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(check() ? 0 : 1);
    ASSERT_GT(child, 0);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

bool use_only(const std::vector<int>& processors) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
    return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

TEST(DetectedTopology, HasWhatThisProcessMayUse) {
    const Topology topology = Topology::detect();
    EXPECT_EQ(topology.note(), "");
    EXPECT_FALSE(topology.is_synthetic());
    EXPECT_EQ(topology.processors(), available_processors());
    EXPECT_GT(topology.memory_bytes(), 100'000'000u);
    for (const Cache& cache : topology.caches()) EXPECT_FALSE(cache.processors.empty());
    EXPECT_EQ(Topology::detect(), topology);  // remembered
    EXPECT_EQ(detect_topology(hwloc_names()), topology);
}

TEST(DetectedTopology, KeepsToTheMaskOfTheProcess) {
    for (const int processor : available_processors()) {
        expect_in_child([&] {
            if (!use_only({processor})) return false;
            const Topology topology = Topology::detect();
            return topology.note().empty() && topology.processors() == std::vector<int>{processor} &&
                   topology.core_count() == 1 && topology.nodes_with_cores().size() == 1;
        });
    }
}

TEST(DetectedTopology, LeavesTheMaskAsItWas) {
    const std::vector<int> before = available_processors();
    detect_topology(hwloc_names());
    EXPECT_EQ(available_processors(), before);
}

/// An MPI library that is loaded later may bring a hwloc of its own.
TEST(DetectedTopology, LeavesNoLibraryBehind) {
    const auto is_loaded = [] {
        void* const library = ::dlopen("libhwloc.so.15", RTLD_NOW | RTLD_NOLOAD);
        if (library != nullptr) ::dlclose(library);
        return library != nullptr;
    };
    EXPECT_EQ(detect_topology(hwloc_names()).note(), "");
    EXPECT_FALSE(is_loaded());
    // One that is there already stays.
    void* const library = ::dlopen("libhwloc.so.15", RTLD_NOW);
    ASSERT_NE(library, nullptr);
    EXPECT_EQ(detect_topology(hwloc_names()).note(), "");
    EXPECT_TRUE(is_loaded());
    ::dlclose(library);
}

TEST(DetectedTopology, IsReadBySeveralThreadsAtOnce) {
    const Topology expected = Topology::detect();
    std::vector<std::thread> threads;
    std::atomic<int> equal{0};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back(
            [&] { equal += detect_topology(hwloc_names()) == expected && Topology::detect() == expected ? 1 : 0; });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(equal, 4);
}

TEST(DetectedTopology, IsFlatWithoutHwloc) {
    const std::vector<std::string> nowhere{"libhwloc-of-nobody.so.1", "libhwloc-of-nobody.so.2"};
    const Topology topology = detect_topology(nowhere);
    EXPECT_EQ(topology.processors(), available_processors());
    EXPECT_EQ(topology.nodes().size(), 1u);
    EXPECT_EQ(topology.core_count(), available_processors().size());
    EXPECT_GT(topology.memory_bytes(), 100'000'000u);
    for (const std::string& name : nowhere) EXPECT_NE(topology.note().find(name), std::string::npos);
    EXPECT_EQ(topology.note().find("hwloc cannot be loaded ("), 0u);

    const auto fields = fields_of<StateError>([&] { synthetic_topology("pu:2", nowhere); });
    EXPECT_EQ(fields.value, "'pu:2'");
    EXPECT_NE(fields.bound.find("libhwloc-of-nobody.so.1"), std::string::npos);
}

TEST(DetectedTopology, IsFlatWithALibraryThatIsNotHwloc) {
    const std::vector<std::string> other{"libm.so.6"};
    EXPECT_NE(detect_topology(other).note().find("libm.so.6: it lacks hwloc_get_api_version"), std::string::npos);
    // The next name is tried.
    EXPECT_EQ(detect_topology(std::vector<std::string>{"libm.so.6", "libhwloc.so.15"}).note(), "");
}

TEST(DetectedTopology, IsFlatWhereHwlocDescribesAnotherMachine) {
    expect_in_child([] {
        ::setenv("HWLOC_SYNTHETIC", "node:2 core:64 pu:2", 1);
        const Topology topology = detect_topology(hwloc_names());
        return topology.note() == "hwloc is configured to describe another machine" &&
               topology.processors() == available_processors();
    });
}

/// A description of a machine with two nodes of one core, as hwloc exports them, the second node with this distance.
std::string two_nodes(int first, int second, int distance) {
    const auto mask = [](unsigned long bits) { return "\"" + std::to_string(bits) + "\""; };
    const auto sets = [&](unsigned long units, unsigned long nodes) {
        return " cpuset=" + mask(units) + " complete_cpuset=" + mask(units) + " nodeset=" + mask(nodes) +
               " complete_nodeset=" + mask(nodes);
    };
    const auto core = [&](int node, int processor) {
        const std::string same = sets(1ul << processor, 1ul << node);
        const std::string number = std::to_string(node);
        return "<object type=\"Core\" os_index=\"" + number + "\"" + same + " gp_index=\"" + std::to_string(10 + node) +
               "\"><object type=\"NUMANode\" os_index=\"" + number + "\"" + same + " gp_index=\"" +
               std::to_string(20 + node) + "\" local_memory=\"1000000000\"/><object type=\"PU\" os_index=\"" +
               std::to_string(processor) + "\"" + same + " gp_index=\"" + std::to_string(30 + node) + "\"/></object>";
    };
    const unsigned long both = 1ul << first | 1ul << second;
    const std::string far = std::to_string(distance);
    return "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
           "<object type=\"Machine\" os_index=\"0\"" +
           sets(both, 3) + " allowed_cpuset=" + mask(both) + " allowed_nodeset=" + mask(3) +
           " gp_index=\"1\"><info name=\"DMIProductName\" value=\"Two nodes\"/>" + core(0, first) + core(1, second) +
           "</object><distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" indexing=\"os\">"
           "<indexes length=\"4\">0 1 </indexes><u64values length=\"" +
           std::to_string(8 + 2 * far.size()) + "\">10 " + far + " " + far + " 10 </u64values></distances2></topology>";
}

/// Batch systems may leave such files to the programs that they start, as a shortcut.
TEST(DetectedTopology, TellsDistancesAndName) {
    std::vector<int> available = available_processors();
    if (available.size() < 2 || available[1] > 30) GTEST_SKIP() << "needs two processors with small numbers";
    const auto path = std::filesystem::path(testing::TempDir()) / ("two_nodes_" + std::to_string(::getpid()) + ".xml");
    std::ofstream(path) << two_nodes(available[0], available[1], 21);
    expect_in_child([&] {
        ::setenv("HWLOC_XMLFILE", path.c_str(), 1);
        ::setenv("HWLOC_THISSYSTEM", "1", 1);
        if (!use_only({available[0], available[1]})) return false;
        const Topology topology = detect_topology(hwloc_names());
        if (!topology.note().empty()) std::cerr << topology.note() << "\n";
        return topology.nodes().size() == 2 && topology.distance_source() == DistanceSource::reported &&
               topology.distance(0, 1) == 21 && topology.distance(1, 0) == 21 && topology.distance(1, 1) == 10 &&
               topology.name() == "Two nodes" && topology.memory_bytes() == 2'000'000'000;
    });
    std::filesystem::remove(path);
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
