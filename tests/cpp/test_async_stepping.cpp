#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "balanced_network.hpp"
#include "random_sleeps.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::engine {

using namespace network;
namespace TEST_FILE {

struct Result {
    Spikes spikes;
    StateData states;
    std::uint64_t synaptic_events = 0;
    std::uint64_t visits = 0;
};

SimulationOptions asynchronous(std::uint32_t threads, std::uint32_t shards,
                               AutoChoice<parallel::StealingPolicy> stealing = {}) {
    return {
        .threads = threads, .stepping = SteppingMode::async, .pinning = "none", .shards = shards, .stealing = stealing};
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
    expect_same(simulate(asynchronous(1, 5)));
    for (const char* stealing : {"none", "local_and_remote", "prefer_local", "local_only"}) {
        SCOPED_TRACE(stealing);
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

/// Sleeps at any instruction put all orders to the test in which shards see each other's progress.
TEST(AsyncStepping, GivesTheSameWhileWorkersSleepAtRandom) {
    const std::uint64_t before = RandomSleeps::count();
    const RandomSleeps sleeps(1);
    expect_same(simulate(asynchronous(2, 7, "none"), {700, 1300}));
    expect_same(simulate(asynchronous(4, 31, "local_and_remote")));
    EXPECT_GT(RandomSleeps::count(), before);
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

/// A source that every shard hears of, which is refractory after each of its spikes.
struct Pacemaker {
    Network network{resolution, 1};
    RecorderIndex spikes = 0;

    explicit Pacemaker(double refractory_time, std::uint64_t sources = 1) {
        const PopulationId source =
            network.create("iaf_psc_exp", sources, "source", {{"I_e", 2000.0}, {"t_ref", refractory_time}});
        const PopulationId targets = network.create("iaf_psc_exp", 3, "targets", {{"I_e", 300.0}});
        add_projection(network, all_of(network, source), all_of(network, targets), {"all_to_all"}, 400.0, 0.2);
        spikes = add_spike_recorder(network, {all_of(network, source), all_of(network, targets)});
    }
};

/// Mean steps of a visit on so many shards; the spikes are those of one shard.
double steps_per_visit(const Pacemaker& pacemaker, std::uint32_t shards) {
    Simulation expected(pacemaker.network, {.threads = 1, .pinning = "none"});
    Simulation simulation(pacemaker.network, asynchronous(1, shards));
    for (Simulation* each : {&expected, &simulation}) each->run(2000);
    EXPECT_EQ(take(simulation, pacemaker.spikes), take(expected, pacemaker.spikes));
    return 2000.0 * shards / static_cast<double>(simulation.stepping().visits);
}

TEST(AsyncStepping, GoesFurtherWhereTheSourceIsRefractory) {
    // Each neuron on a shard of its own. The source may take 16 steps at a time, its targets those and the delay.
    EXPECT_NEAR(steps_per_visit(Pacemaker(0.1), 4), 16.0, 1.0);
    Network both{resolution, 1};
    const PopulationId pair = both.create("iaf_psc_exp", 2, "pair", {{"I_e", 2000.0}, {"t_ref", 1.0}});
    add_projection(both, all_of(both, pair), all_of(both, pair), {"all_to_all", {{"allow_autapses", false}}}, 100.0,
                   0.2);
    Simulation simulation(both, asynchronous(1, 2));
    simulation.run(2000);
    const SteppingCounts stepping = simulation.stepping();
    EXPECT_TRUE(stepping.is_asynchronous);
    // Without refractoriness, one could be no more than two steps ahead of the other: four steps a visit, at most.
    EXPECT_GT(4000.0 / static_cast<double>(stepping.visits), 4.0);
}

/// One that fails after some steps, as one would whose memory is used up.
class FailingGroup final : public models::NeuronGroup {
   public:
    explicit FailingGroup(std::size_t size) : size_(size) {}
    std::size_t update(const models::UpdateArguments& arguments) override {
        if (arguments.step == 700) throw std::bad_alloc();
        return 0;
    }
    std::size_t largest_output() const override { return size_; }
    bool is_finite() const override { return true; }
    void read(std::size_t, std::span<const std::uint32_t>, double*) const override {}
    void write(std::size_t, std::span<const std::uint32_t>, const double*) override {}
    void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}
    void serialize_state(std::uint32_t, Step, StateColumns&) override {}
    std::unique_ptr<models::ParameterChange> prepare_parameters(std::span<const models::GroupValues>) override {
        throw InternalError("there are no parameters");
    }

   private:
    std::size_t size_;
};

class FailingModel final : public models::NeuronModel {
   public:
    constexpr explicit FailingModel(const models::NeuronInfo& info) : NeuronModel(info) {}

    std::unique_ptr<models::NeuronGroup> create(const models::GroupArguments& arguments) const override {
        return std::make_unique<FailingGroup>(arguments.ids.size());
    }
};

constinit const FailingModel failing({
    .name = "failing",
    .summary = "Fails in step 700",
    .equations = "",
    .reference = "",
    .parameters = {},
    .variables = {},
    .receptors = {},
});

/// The shards have come to different steps, so that nothing can go on from there.
TEST(AsyncStepping, EndsWhereAWorkerFails) {
    for (const char* stepping : {"bsp", "async"}) {
        BalancedNetwork balanced;
        balanced.network.create({.name = "failing", .model = {std::shared_ptr<void>(), &failing}, .size = 1});
        SimulationOptions options = asynchronous(3, 9);
        options.stepping = stepping;
        Simulation simulation(balanced.network, options);
        simulation.run(100);
        EXPECT_THROW(simulation.run(1900), std::bad_alloc);
        EXPECT_THROW(simulation.run(1), StateError);
    }
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
    EXPECT_THROW(SimulationOptions{.stepping = "asynk"}, UnknownNameError);
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
