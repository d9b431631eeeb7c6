// What a simulation says of its memory: by component, by NUMA node, and where its pages are. That it is what is really
// allocated is tested in test_memory_account.cpp.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/forecast/device_memory.hpp"
#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/parallel/memory.hpp"
#include "selections.hpp"

namespace ranvier::engine {

using namespace network;
namespace TEST_FILE {

constexpr std::uint64_t size = 4000;

Network make_network() {
    Network network{0.1, 3};
    const PopulationId cells = network.create("iaf_psc_exp", size, "cells", {});
    add_projection(network, {cells, 0, size}, {cells, 0, size}, {"fixed_indegree", {{"indegree", 100}}}, 1.0, 1.5);
    add_stimulus(network, {cells, 0, size}, "poisson_generator", {{"rate", 9000.0}}, {}, 60.0, 1.5);
    add_spike_recorder(network, {{cells, 0, size}});
    return network;
}

std::map<std::string, std::uint64_t> by_component(const Simulation& simulation) {
    std::map<std::string, std::uint64_t> bytes;
    for (const MemoryItem& item : simulation.memory()) bytes[item.component] = item.bytes;
    return bytes;
}

class SimulationMemory : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SimulationMemory, IsTheSameByNodeAndByComponent) {
    const std::uint32_t threads = GetParam();
    Simulation simulation(make_network(), {.threads = threads});
    simulation.run(500);
    const std::map<std::string, std::uint64_t> all = by_component(simulation);
    std::map<std::string, std::uint64_t> summed;
    std::uint64_t sum = 0;
    for (const NodeMemoryItem& item : simulation.memory_by_node()) {
        summed[item.component] += item.bytes;
        sum += item.bytes;
        EXPECT_TRUE(parallel::node_count() > 1 || item.node == 0U) << item.component;
    }
    for (const auto& [component, bytes] : all) EXPECT_EQ(summed[component], bytes) << component;
    // Target, weight, where rows begin, where the only delay ends: little more, rounded up to pages.
    const std::uint64_t synapses = size * 100;
    EXPECT_GE(all.at("synapses"), synapses * 6);
    EXPECT_LE(all.at("synapses"), synapses * 6 + size * 12 * threads + 4 * 4096 * threads);
    EXPECT_GE(all.at("inputs"), size * 8);
    EXPECT_GT(all.at("spikes"), 0u);

    const parallel::PagesByNode pages = simulation.memory_pages();
    std::uint64_t looked_at = pages.untouched + pages.unknown;
    for (const std::uint64_t bytes : pages.on_node) looked_at += bytes;
    EXPECT_LE(looked_at, sum);
    EXPECT_GE(looked_at, all.at("synapses") / 2);
    EXPECT_GE(looked_at - pages.untouched, all.at("synapses") / 2);
}

INSTANTIATE_TEST_SUITE_P(Threads, SimulationMemory, testing::Values(1u, 2u, 3u));

TEST(SimulationMemory, OfRecordingsIsGivenBackWhenTheyAreTaken) {
    Simulation simulation(make_network(), {.threads = 2});
    EXPECT_EQ(by_component(simulation).at("recordings"), 0u);
    simulation.run(1000);
    const std::uint64_t held = by_component(simulation).at("recordings");
    const std::size_t spikes = simulation.take_spikes(0).steps.size();
    ASSERT_GT(spikes, 1000u);
    EXPECT_GE(held, spikes * 16);
    EXPECT_EQ(by_component(simulation).at("recordings"), 0u);
}

TEST(SimulationMemory, GrowsWithParametersOfSingleNeurons) {
    Simulation simulation(make_network(), {.threads = 2});
    const std::uint64_t before = by_component(simulation).at("neurons");
    const std::vector<std::uint64_t> one{17};
    const std::vector<double> tau{12.0};
    simulation.set(PopulationId{0}, "tau_m", one, tau);
    // A value of this parameter for each neuron, and of the constants that follow from it; others stay one for all.
    const std::uint64_t grown = by_component(simulation).at("neurons") - before;
    EXPECT_GE(grown, size * 8 * 2);
    EXPECT_LE(grown, size * 8 * 5);
}

TEST(DeviceMemory, OfTooLargeANetworkIsRefusedWithWhatFits) {
    const device::DeviceBytes bytes{.synapses = 2'000'000'000, .rings = 500'000'000, .kernels = 64'000'000};
    const auto check = [&](std::optional<std::uint64_t> room, std::int32_t ranks) {
        check_device_memory(bytes, "H200", room, ranks);
    };
    check({}, 1);
    // Memory for kernels is not part of the room.
    check(2'500'000'000, 1);
    fields_of<InsufficientMemoryError>([&] { check(1'000'000'000, 1); },
                                       {"H200", "2500000000 bytes (2.5 GB)", "room for 1000000000 bytes (1.0 GB)",
                                        "at least 3 such devices", "39 % of its synapses", "device='cpu'"});
    fields_of<InsufficientMemoryError>([&] { check(1'000'000'000, 4); }, {"at least 11 such devices"});
    fields_of<InsufficientMemoryError>([&] { check(0, 1); }, {"room for 0 bytes"});
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
