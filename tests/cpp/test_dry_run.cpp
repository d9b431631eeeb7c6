#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/errors.hpp"
#include "comm/exchange.hpp"
#include "comm/mirror_communicator.hpp"
#include "engine/simulation.hpp"

namespace ranvier::engine {
namespace {

/// A network of so many ranks with the same load on each.
struct RandomNetwork {
    Network network{0.1, 5};
    PopulationId neurons;

    RandomNetwork(std::uint64_t ranks, std::uint64_t neurons_per_rank, std::uint64_t indegree) {
        const std::uint64_t size = ranks * neurons_per_rank;
        neurons = network.create("iaf_psc_exp", size, "neurons", {{"I_e", 400.0}});
        network.connect({neurons, 0, size}, {neurons, 0, size}, {.name = "fixed_indegree", .number = indegree}, 5.0,
                        1.5, "");
    }
};

std::map<std::string, std::uint64_t> memory_of(const Simulation& simulation) {
    std::map<std::string, std::uint64_t> bytes;
    for (const MemoryItem& item : simulation.memory()) bytes[item.component] += item.bytes;
    return bytes;
}

TEST(DryRun, EveryMethodDeliversTheSame) {
    const RandomNetwork random(50, 40, 100);
    std::uint64_t expected = 0;
    for (const comm::ExchangeInfo* method : comm::exchanges()) {
        SCOPED_TRACE(method->name);
        Simulation simulation(random.network,
                              {.threads = 2, .pin_threads = false, .exchange = std::string(method->name)}, {},
                              comm::make_mirror_communicator(50));
        simulation.run(1000);
        const std::uint64_t events = simulation.counts().synaptic_events;
        if (expected == 0) expected = events;
        EXPECT_GT(events, 0u);
        EXPECT_EQ(events, expected);
    }
}

TEST(DryRun, MemoryDoesNotGrowWithRanks) {
    // 16 ranks share 10,000 targets of a source; on 4096 ranks nearly all of them are alone.
    constexpr std::uint64_t neurons = 100;
    constexpr std::uint64_t indegree = 200;
    std::map<std::uint64_t, std::map<std::string, std::uint64_t>> bytes;
    for (const std::uint64_t ranks : {1024u, 8192u, 65536u}) {
        const RandomNetwork random(ranks, neurons, indegree);
        Simulation simulation(random.network, {.threads = 2, .pin_threads = false}, {},
                              comm::make_mirror_communicator(static_cast<std::int32_t>(ranks)));
        simulation.run(300);
        bytes[ranks] = memory_of(simulation);
        // Buffers of collectives may grow: some words for each process.
        EXPECT_LE(bytes[ranks]["exchange"], ranks * 64 + 1'000'000);
        bytes[ranks].erase("exchange");
        const Traffic traffic = simulation.traffic();
        EXPECT_GT(traffic.presynaptic_entries, neurons * indegree * 9 / 10);
        const double begins = 8.0 * (neurons + 20.0) + 16.0;
        EXPECT_LE(static_cast<double>(traffic.presynaptic_bytes) - begins,
                  6.0 * static_cast<double>(traffic.presynaptic_entries) + 16.0);
    }
    const auto total = [&](std::uint64_t ranks) {
        std::uint64_t sum = 0;
        for (const auto& [component, size] : bytes[ranks]) sum += size;
        return static_cast<double>(sum);
    };
    EXPECT_LT(total(65536), 1.05 * total(1024));
    EXPECT_GT(total(65536), 0.95 * total(1024));
}

TEST(DryRun, NeedsRanksThatAreAlike) {
    const RandomNetwork random(4, 10, 5);
    EXPECT_THROW(
        Simulation(random.network, {.threads = 1, .placement = "shuffle"}, {}, comm::make_mirror_communicator(4)),
        StateError);
    EXPECT_THROW(comm::make_mirror_communicator(0), ValueOutOfBoundsError);
}

}  // namespace
}  // namespace ranvier::engine
