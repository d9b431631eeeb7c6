#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/mirror_communicator.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/engine/simulation.hpp"
#include "selections.hpp"

namespace ranvier::engine {

using namespace network;
namespace TEST_FILE {

/// A network of so many ranks with the same load on each.
struct RandomNetwork {
    Network network{0.1, 5};
    PopulationId neurons;

    RandomNetwork(std::uint64_t ranks, std::uint64_t neurons_per_rank, std::uint64_t indegree, double drive = 400.0) {
        const std::uint64_t size = ranks * neurons_per_rank;
        neurons = network.create("iaf_psc_exp", size, "neurons", {{"I_e", drive}});
        add_projection(network, {neurons, 0, size}, {neurons, 0, size}, {"fixed_indegree", {{"indegree", indegree}}},
                       5.0, 1.5);
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
        // It needs processes that run.
        if (method->on_host) continue;
        SCOPED_TRACE(method->name);
        Simulation simulation(random.network, {.threads = 2, .pinning = "none", .exchange = std::string(method->name)},
                              {}, comm::make_mirror_communicator(50));
        simulation.run(1000);
        const std::uint64_t events = simulation.counts().synaptic_events;
        if (expected == 0) expected = events;
        EXPECT_GT(events, 0u);
        EXPECT_EQ(events, expected);
    }
}

// Which neuron of another process sends the spikes of which one here must not depend on how they are sent.
TEST(DryRun, EveryMethodDeliversTheSameInventedSpikes) {
    constexpr std::uint32_t ranks = 7;
    Network network(0.1, 5);
    std::vector<PopulationId> populations;
    for (const std::uint64_t size : {130U, 470U}) populations.push_back(network.create("iaf_psc_exp", size, "", {}));
    for (const PopulationId target : populations) {
        for (const PopulationId source : populations) {
            add_projection(network, {source, 0, network.population(source).size},
                           {target, 0, network.population(target).size}, {"fixed_indegree", {{"indegree", 40}}}, 15.0,
                           1.5);
        }
    }
    std::vector<double> expected;
    for (const comm::ExchangeInfo* method : comm::exchanges()) {
        // It needs processes that run.
        if (method->on_host) continue;
        SCOPED_TRACE(method->name);
        Simulation simulation(
            network,
            {.threads = 2, .pinning = "none", .exchange = std::string(method->name), .invented_rates = {20.0, 5.0}}, {},
            comm::make_mirror_communicator(ranks));
        simulation.run(1000);
        std::vector<double> potentials;
        for (const PopulationId population : populations) {
            std::vector<std::uint64_t> here;
            for (std::uint32_t i = 0; i < network.population(population).size; ++i) {
                if ((network.population(population).first.value + i) % ranks == 0) here.push_back(i);
            }
            const std::vector<double> values = simulation.get(population, "V_m", here);
            potentials.insert(potentials.end(), values.begin(), values.end());
        }
        if (expected.empty()) expected = potentials;
        EXPECT_EQ(potentials, expected);
    }
}

TEST(DryRun, MemoryDoesNotGrowWithRanks) {
    // On 1024 ranks a tenth of the 200 targets of a source share a rank with another; on 8192 nearly all of them are alone.
    constexpr std::uint64_t neurons = 100;
    constexpr std::uint64_t indegree = 200;
    for (const bool sorted : {true, false}) {
        SCOPED_TRACE(sorted);
        std::map<std::uint64_t, std::map<std::string, std::uint64_t>> bytes;
        for (const std::uint64_t ranks : {1024u, 8192u, 65536u}) {
            const RandomNetwork random(ranks, neurons, indegree);
            Simulation simulation(random.network, {.threads = 2, .pinning = "none", .sort_connections = sorted}, {},
                                  comm::make_mirror_communicator(static_cast<std::int32_t>(ranks)));
            simulation.run(300);
            bytes[ranks] = memory_of(simulation);
            // The spikes of an epoch are large beside so small a network, and differ. With a section for each process,
            // 65,536 of them would take 4 MB.
            EXPECT_LE(bytes[ranks]["exchange"], 1'600'000);
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
        EXPECT_LT(total(8192), 1.1 * total(1024));
        EXPECT_GT(total(8192), 0.95 * total(1024));
        // A byte for each rank would be a tenth.
        EXPECT_LT(total(65536), 1.05 * total(8192));
        EXPECT_GT(total(65536), 0.95 * total(8192));
    }
}

TEST(DryRun, InventsSpikes) {
    // Neurons without a drive are silent; what is invented for them arrives all the same.
    constexpr std::uint64_t neurons = 200;
    constexpr std::uint64_t indegree = 100;
    constexpr std::uint64_t ranks = 50;
    constexpr double rate = 40.0;
    RandomNetwork random(ranks, neurons, indegree, 0.0);
    const RecorderIndex recorder = add_spike_recorder(random.network, {{random.neurons, 0, ranks * neurons}});
    std::uint64_t expected = 0;
    for (const std::uint32_t threads : {1u, 2u, 3u}) {
        for (const char* method : {"alltoall", "allgather", "multisend"}) {
            SCOPED_TRACE(method);
            Simulation simulation(random.network,
                                  {.threads = threads, .pinning = "none", .exchange = method, .invented_rates = {rate}},
                                  {}, comm::make_mirror_communicator(ranks));
            simulation.run(10'000);
            const std::uint64_t events = simulation.counts().synaptic_events / ranks;
            if (expected == 0) expected = events;
            EXPECT_EQ(events, expected);
            EXPECT_TRUE(simulation.take_spikes(recorder, Gather::local).neurons.empty());
        }
    }
    // One second. Four standard deviations of the number of invented spikes, each with `indegree` targets on average,
    // whose number varies too.
    const double spikes = rate * neurons;
    const double deviation = 4.0 * (1.0 / std::sqrt(spikes) + 1.0 / std::sqrt(1.0 * neurons * indegree));
    EXPECT_NEAR(static_cast<double>(expected), spikes * indegree, deviation * spikes * indegree);
}

TEST(DryRun, PlaysGivenSpikesBesideInventedOnes) {
    Network network{0.1, 5};
    const PopulationId neurons = network.create("iaf_psc_exp", 10, "neurons", {});
    const PopulationId players = add_spike_generators(network, "players", SpikeTimes(10, {0.5, 0.7}));
    add_projection(network, {players, 0, 10}, {neurons, 0, 10}, {"all_to_all"}, 5.0, 1.0);
    add_projection(network, {neurons, 0, 10}, {neurons, 0, 10}, {"all_to_all"}, 5.0, 1.0);
    for (const double rate : {0.0, 1000.0}) {
        Simulation simulation(network, {.threads = 1, .pinning = "none", .invented_rates = {rate}}, {},
                              comm::make_mirror_communicator(2));
        simulation.run(1000);
        const std::uint64_t played = 2 * 10 * 10;
        const std::uint64_t events = simulation.counts().synaptic_events;
        // Of so many invented spikes, with ten targets each, within five standard deviations.
        const double spikes = rate / 1000.0 * 100.0 * 10.0;
        EXPECT_NEAR(static_cast<double>(events - played), 10.0 * spikes, 5.0 * 10.0 * std::sqrt(spikes));
    }
}

TEST(DryRun, InventsAtTheRateOfEachPopulation) {
    Network network{0.1, 5};
    const PopulationId quiet = network.create("iaf_psc_exp", 200, "quiet", {});
    const PopulationId lively = network.create("iaf_psc_exp", 200, "lively", {});
    add_projection(network, {quiet, 0, 200}, {quiet, 0, 200}, {"fixed_outdegree", {{"outdegree", 3}}}, 1.0, 1.0);
    add_projection(network, {lively, 0, 200}, {quiet, 0, 200}, {"fixed_outdegree", {{"outdegree", 7}}}, 1.0, 1.0);
    const auto events = [&](std::vector<double> rates) {
        Simulation simulation(network, {.threads = 1, .pinning = "none", .invented_rates = std::move(rates)}, {},
                              comm::make_mirror_communicator(2));
        simulation.run(10'000);
        return static_cast<double>(simulation.counts().synaptic_events);
    };
    // 200 neurons in a second: within five standard deviations of so many spikes.
    EXPECT_NEAR(events({50.0, 0.0}), 3.0 * 10'000.0, 5.0 * 3.0 * std::sqrt(10'000.0) * std::sqrt(2.0));
    EXPECT_NEAR(events({0.0, 50.0}), 7.0 * 10'000.0, 5.0 * 7.0 * std::sqrt(10'000.0) * std::sqrt(2.0));
    EXPECT_THROW(events({1.0, 2.0, 3.0}), ShapeError);
    EXPECT_THROW(events({1.0, -2.0}), ValueOutOfBoundsError);
}

TEST(DryRun, InventsNothingElsewhere) {
    const RandomNetwork random(2, 10, 5);
    EXPECT_THROW(Simulation(random.network, {.threads = 1, .invented_rates = {10.0}}), StateError);
    for (const double rate : {-1.0, 10'001.0, std::nan("")}) {
        EXPECT_THROW(
            Simulation(random.network, {.threads = 1, .invented_rates = {rate}}, {}, comm::make_mirror_communicator(2)),
            ValueOutOfBoundsError);
    }
}

/// The one rank that there is answers questions to all ranks, for itself.
TEST(DryRun, AnswersForItsOwnRank) {
    constexpr std::uint64_t ranks = 50;
    constexpr std::uint64_t neurons = 40;
    RandomNetwork random(ranks, neurons, 100);
    const RecorderIndex spikes = add_spike_recorder(random.network, {{random.neurons, 0, ranks * neurons}});
    const RecorderIndex states = add_state_recorder(random.network, random.neurons, {0, 50, 51}, {"V_m"}, 1.0);
    Simulation simulation(random.network, {.threads = 2, .pinning = "none"}, {}, comm::make_mirror_communicator(ranks));
    simulation.run(1000);
    const SpikeData taken = simulation.take_spikes(spikes);
    EXPECT_EQ(taken.neurons.size() * ranks, simulation.counts().spikes);
    EXPECT_GT(taken.neurons.size(), 0u);
    for (const std::uint64_t neuron : taken.neurons) EXPECT_EQ(neuron % ranks, 0u);
    EXPECT_EQ(simulation.take_state(states).places, (std::vector<std::uint64_t>{0, 1}));

    const ConnectionData connections = simulation.connections({});
    EXPECT_EQ(connections.sources.size(), 100 * neurons);
    EXPECT_EQ(connections.sources.size() * ranks, simulation.count_connections({}));
    for (const std::uint64_t target : connections.targets) EXPECT_EQ(target % ranks, 0u);
    const std::vector<double> doubled(connections.handles.size(), 10.0);
    EXPECT_NE(simulation.weights(connections.handles), doubled);
    simulation.set_weights(connections.handles, doubled);
    EXPECT_EQ(simulation.weights(connections.handles), doubled);

    simulation.set(random.neurons, "V_m", std::vector<std::uint64_t>{50}, std::vector<double>{-61.5});
    EXPECT_EQ(simulation.get(random.neurons, "V_m", std::vector<std::uint64_t>{50}), std::vector<double>{-61.5});
}

/// Nobody waits for the one process that there is: an interruption is thrown, and does not end the program.
TEST(DryRun, CanBeInterrupted) {
    struct Enough {};
    const auto stop = [] { throw Enough{}; };
    // Large enough that the build takes longer than the first look of poll.
    const RandomNetwork large(20, 20000, 2500);
    EXPECT_THROW(Simulation(large.network, {.threads = 2, .pinning = "none"}, stop, comm::make_mirror_communicator(20)),
                 Enough);
    const RandomNetwork random(20, 50, 10);
    Simulation simulation(random.network, {.threads = 2, .pinning = "none"}, {}, comm::make_mirror_communicator(20));
    EXPECT_THROW(simulation.run(Step{1} << 40, stop), Enough);
    const Step reached = simulation.step();
    EXPECT_GT(reached, 0);
    simulation.run(100);
    EXPECT_EQ(simulation.step(), reached + 100);
}

TEST(DryRun, NeedsRanksThatAreAlike) {
    const RandomNetwork random(4, 10, 5);
    EXPECT_THROW(
        Simulation(random.network, {.threads = 1, .placement = "shuffle"}, {}, comm::make_mirror_communicator(4)),
        StateError);
    EXPECT_THROW(comm::make_mirror_communicator(0), ValueOutOfBoundsError);
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
