#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "balanced_network.hpp"
#include "base/errors.hpp"
#include "engine/simulation.hpp"

namespace ranvier::engine {
namespace TEST_FILE {

struct Result {
    Spikes spikes;
    StateData states;
    std::uint64_t synaptic_events = 0;
    std::uint64_t visits = 0;
};

SimulationOptions asynchronous(std::uint32_t threads, std::uint32_t shards, std::string stealing = "auto") {
    return {
        .threads = threads, .stepping = "async", .pinning = "none", .shards = shards, .stealing = std::move(stealing)};
}

Result result_of(Simulation& simulation, const BalancedNetwork& balanced) {
    const Counts counts = simulation.counts();
    std::uint64_t visits = 0;
    for (const std::uint64_t count : simulation.visits()) visits += count;
    return {take(simulation, balanced.spikes), simulation.take_state(balanced.potentials), counts.synaptic_events,
            visits};
}

Result simulate(const SimulationOptions& options, std::vector<Step> runs = {2000}) {
    const BalancedNetwork balanced;
    Simulation simulation(balanced.network, options);
    for (const Step steps : runs) simulation.run(steps);
    return result_of(simulation, balanced);
}

const Result& reference() {
    static const Result result = simulate({.threads = 1, .pinning = "none"});
    return result;
}

void expect_same(const Result& result) {
    EXPECT_EQ(result.spikes, reference().spikes);
    EXPECT_EQ(result.states.steps, reference().states.steps);
    EXPECT_EQ(result.states.values, reference().states.values);
    EXPECT_EQ(result.synaptic_events, reference().synaptic_events);
}

TEST(AsyncStepping, GivesTheSameForAnyThreadsShardsAndPolicies) {
    EXPECT_EQ(reference().visits, 0U);
    for (const char* stealing : {"none", "local_and_remote", "prefer_local", "local_only"}) {
        SCOPED_TRACE(stealing);
        expect_same(simulate(asynchronous(1, 5, stealing)));
        expect_same(simulate(asynchronous(2, 9, stealing), {1, 999, 0, 1000}));
        const Result many = simulate(asynchronous(4, 40, stealing));
        expect_same(many);
        EXPECT_GT(many.visits, 40U);
    }
}

TEST(AsyncStepping, GivesTheSameWhileOthersTakeTheProcessors) {
    std::atomic<bool> ends{false};
    std::vector<std::thread> others;
    for (int i = 0; i < 4; ++i) {
        others.emplace_back([&ends, i] {
            volatile int work = 0;
            while (!ends.load(std::memory_order_relaxed)) {
                for (int k = 0; k < 1000 * (i + 1); ++k) work = work + 1;
                std::this_thread::yield();
            }
        });
    }
    for (const std::uint32_t shards : {3U, 11U, 30U}) expect_same(simulate(asynchronous(3, shards)));
    ends = true;
    for (std::thread& other : others) other.join();
}

/// Wherever it is stopped, all shards stop after the same step.
TEST(AsyncStepping, GoesOnAfterItWasStopped) {
    const BalancedNetwork balanced;
    Simulation simulation(balanced.network, asynchronous(3, 12));
    std::vector<Step> stops;
    while (simulation.step() < 2000) {
        // The first poll comes after 50 ms, or not at all.
        int polls = 0;
        const Step before = simulation.step();
        try {
            simulation.run(std::min<Step>(2000 - before, 500), [&] {
                if (++polls == 1) throw std::runtime_error("stop");
            });
        } catch (const std::runtime_error&) {
            stops.push_back(simulation.step());
            EXPECT_GE(simulation.step(), before);
        }
    }
    expect_same(result_of(simulation, balanced));
}

TEST(AsyncStepping, RefusesWhatNeedsEpochs) {
    const BalancedNetwork balanced;
    const auto refused = [&](auto change) {
        SimulationOptions options = asynchronous(1, 2);
        change(options);
        EXPECT_THROW(Simulation(balanced.network, options), StateError);
    };
    refused([](SimulationOptions& o) { o.trace_epochs = true; });
    refused([](SimulationOptions& o) { o.sort_connections = false; });
    SimulationOptions unknown = asynchronous(1, 2);
    unknown.stepping = "asynk";
    EXPECT_THROW(Simulation(balanced.network, unknown), UnknownNameError);
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
