#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "balanced_network.hpp"
#include "parallel/processors.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/engine/simulation.hpp"

namespace ranvier::engine {

using namespace network;
namespace TEST_FILE {

struct Result {
    Spikes spikes;
    StateData states;
    std::uint64_t synaptic_events = 0;
    std::uint64_t synapses = 0;
};

/// Not pinned unless it says how: tests run side by side.
Result simulate(SimulationOptions options, std::vector<Step> runs = {2000}) {
    const BalancedNetwork balanced;
    if (options.pinning == "auto") options.pinning = "none";
    Simulation simulation(balanced.network, options);
    for (const Step steps : runs) simulation.run(steps);
    const Counts counts = simulation.counts();
    return {take(simulation, balanced.spikes), simulation.take_state(balanced.potentials), counts.synaptic_events,
            counts.synapses};
}

const Result& reference() {
    static const Result result = simulate({.threads = 1, .instruction_set = "baseline", .table_layout = "ring"});
    return result;
}

void expect_same(const Result& result) {
    EXPECT_EQ(result.spikes, reference().spikes);
    EXPECT_EQ(result.states.steps, reference().states.steps);
    EXPECT_EQ(result.states.values, reference().states.values);
    EXPECT_EQ(result.synaptic_events, reference().synaptic_events);
    EXPECT_EQ(result.synapses, reference().synapses);
}

TEST(Simulation, IsActiveEnoughToTellAnything) {
    EXPECT_GT(reference().spikes.size(), 1000u);
    EXPECT_GT(reference().synapses, 3000u + 800u + 320u + 250u + 1000u);
    EXPECT_EQ(reference().states.steps.size(), 400u);
    EXPECT_EQ(reference().states.values.size(), 400u * 2 * 4);
}

TEST(Simulation, GivesTheSameForAnyNumberOfThreads) {
    for (const std::uint32_t threads : {1u, 2u, 3u, 4u, 7u}) {
        SCOPED_TRACE(threads);
        expect_same(simulate({.threads = threads}));
    }
}

TEST(Simulation, GivesTheSameForAnyNumberOfShardsWhoeverUpdatesThem) {
    for (const char* stealing : {"none", "local_and_remote", "prefer_local", "local_only"}) {
        SCOPED_TRACE(stealing);
        expect_same(simulate({.threads = 1, .shards = 3, .stealing = stealing}));
        expect_same(simulate({.threads = 2, .shards = 2, .stealing = stealing}, {1, 999, 1000}));
        expect_same(simulate({.threads = 3, .shards = 8, .stealing = stealing}));
    }
}

TEST(Simulation, GivesTheSameWhereverWorkersArePinned) {
    const std::string first = std::to_string(parallel::available_processors().front());
    for (const std::string& pinning : {std::string("equal"), std::string("compact"), first + "," + first}) {
        SCOPED_TRACE(pinning);
        expect_same(simulate({.threads = 2, .pinning = pinning, .shards = 4, .stealing = "prefer_local"}));
    }
    const BalancedNetwork balanced;
    const Simulation simulation(balanced.network, {.threads = 2, .pinning = first + "," + first});
    for (const parallel::Place& place : simulation.places()) EXPECT_EQ(std::to_string(place.processor), first);
    EXPECT_TRUE(simulation.is_crowded());
    EXPECT_FALSE(Simulation(balanced.network, {.threads = 1}).is_crowded());
}

TEST(Simulation, GivesTheSameWhateverNeuronsCost) {
    const std::size_t populations = BalancedNetwork().network.populations().size();
    std::vector<double> costs(populations, 1.0);
    costs.front() = 30.0;
    expect_same(simulate({.threads = 3, .costs = costs}));
    costs.assign(populations, 0.0);
    expect_same(
        simulate({.threads = 2, .shards = 5, .stealing = "prefer_local", .costs = costs, .measure_costs = true}));
}

TEST(Simulation, MeasuresWhatNeuronsCost) {
    const BalancedNetwork balanced;
    Simulation simulation(balanced.network, {.threads = 2, .pinning = "none", .measure_costs = true});
    EXPECT_THROW(simulation.costs(), StateError);
    simulation.run(500);
    const std::vector<double> costs = simulation.costs();
    ASSERT_EQ(costs.size(), balanced.network.populations().size());
    for (const double cost : costs) EXPECT_GT(cost, 0.0);
    Simulation unmeasured(balanced.network, {.threads = 1, .pinning = "none"});
    unmeasured.run(1);
    EXPECT_THROW(unmeasured.costs(), StateError);
    EXPECT_THROW(Simulation(balanced.network, {.costs = {1.0}}), ShapeError);
    std::vector<double> negative(costs.size(), 1.0);
    negative.back() = -1.0;
    EXPECT_THROW(Simulation(balanced.network, {.costs = negative}), ValueOutOfBoundsError);
}

TEST(Simulation, CountsShardsThatWereTaken) {
    const BalancedNetwork balanced;
    Simulation simulation(balanced.network,
                          {.threads = 2, .pinning = "none", .shards = 6, .stealing = "local_and_remote"});
    EXPECT_EQ(simulation.shards(), 6u);
    EXPECT_EQ(simulation.threads(), 2u);
    simulation.run(100);
    std::uint64_t all = 0;
    for (const parallel::StealingCounts& counts : simulation.stealing_counts())
        all += counts.assigned + counts.local + counts.remote;
    // Each epoch once, and once more at the end.
    const auto epochs = static_cast<std::uint64_t>((100 + simulation.epoch_steps() - 1) / simulation.epoch_steps());
    EXPECT_EQ(all, 6 * (epochs + 1));
}

TEST(Simulation, RefusesWorkersThatCannotBe) {
    const BalancedNetwork balanced;
    EXPECT_THROW(Simulation(balanced.network, {.threads = 2, .pinning = "tight"}), UnknownNameError);
    EXPECT_THROW(Simulation(balanced.network, {.threads = 2, .pinning = "0"}), ShapeError);
    EXPECT_THROW(Simulation(balanced.network, {.threads = 1, .pinning = "16000"}), ValueOutOfBoundsError);
    EXPECT_THROW(Simulation(balanced.network, {.threads = 3, .shards = 2}), ValueOutOfBoundsError);
    EXPECT_THROW(Simulation(balanced.network, {.threads = 3, .shards = 5000}), ValueOutOfBoundsError);
    EXPECT_THROW(Simulation(balanced.network, {.threads = 2, .stealing = "all"}), UnknownNameError);
}

TEST(Simulation, GivesTheSameForEachInstructionSetLayoutAndWindow) {
    for (const InstructionSet set : available_instruction_sets()) {
        for (const char* layout : {"auto", "runs", "ring", "blocks"}) {
            for (const std::uint32_t window : {1u, 16u}) {
                SCOPED_TRACE(std::string(to_string(set)) + " " + layout + " " + std::to_string(window));
                expect_same(simulate(
                    {.threads = 2, .instruction_set = set, .table_layout = layout, .delivery_window = window}));
            }
        }
    }
}

TEST(Simulation, GivesTheSameWhenContinued) {
    expect_same(simulate({.threads = 2}, {1, 2, 3, 7, 0, 500, 1487}));
    expect_same(simulate({.threads = 3, .table_layout = "runs"}, {999, 1, 1000}));
}

TEST(Simulation, StopsAtAWholeStepWhenPollThrowsAndGoesOn) {
    const BalancedNetwork balanced;
    Simulation simulation(balanced.network, {.threads = 2, .pinning = "none"});
    struct Enough {};
    EXPECT_THROW(simulation.run(Step{1} << 40, [] { throw Enough{}; }), Enough);
    const Step reached = simulation.step();
    ASSERT_GT(reached, 0);
    const Step end = (reached / 2000 + 1) * 2000;
    simulation.run(end - reached);
    EXPECT_EQ(simulation.step(), end);
    const Spikes spikes = take(simulation, balanced.spikes);

    Simulation whole(balanced.network, {.threads = 1, .pinning = "none"});
    whole.run(end);
    EXPECT_EQ(spikes, take(whole, balanced.spikes));
}

struct NaiveSynapse {
    std::uint64_t source, target;
    double weight;
    Step delay;
};

/// Simulates neurons with delta synapses as plainly as can be: every step, every synapse.
Spikes simulate_naively(const std::vector<NaiveSynapse>& synapses, const std::vector<double>& currents, Step steps) {
    Spikes spikes;
    std::vector<double> potential(currents.size(), 0.0);
    std::vector<Step> refractory_until(currents.size(), 0);
    std::vector<std::vector<double>> input(static_cast<std::size_t>(steps) + 100,
                                           std::vector<double>(currents.size(), 0.0));
    for (Step step = 1; step <= steps; ++step) {
        for (std::uint64_t i = 0; i < currents.size(); ++i) {
            if (step <= refractory_until[i]) continue;
            const double decay = std::exp(-resolution / 10.0);
            potential[i] = potential[i] * decay + (1.0 - decay) * 10.0 / 250.0 * currents[i] +
                           input[static_cast<std::size_t>(step)][i];
            if (potential[i] < 15.0) continue;
            spikes.emplace_back(step, i);
            potential[i] = 0.0;
            refractory_until[i] = step + 20;
            for (const NaiveSynapse& synapse : synapses) {
                if (synapse.source != i) continue;
                input[static_cast<std::size_t>(step + synapse.delay)][synapse.target] += synapse.weight;
            }
        }
    }
    return spikes;
}

TEST(Simulation, AgreesWithANaiveOne) {
    constexpr std::uint64_t neurons = 30;
    constexpr Step steps = 3000;
    std::mt19937 random(8);
    std::vector<NaiveSynapse> synapses;
    std::vector<std::uint64_t> sources;
    std::vector<std::uint64_t> targets;
    std::vector<double> weights, delays, currents;
    for (int i = 0; i < 400; ++i) {
        // Multiples of 1/1024 mV: sums of them are exact in any order.
        const NaiveSynapse synapse{random() % neurons, random() % neurons,
                                   (static_cast<double>(random() % 4096) - 1536.0) / 1024.0,
                                   static_cast<Step>(1 + random() % 30)};
        synapses.push_back(synapse);
        sources.push_back(synapse.source);
        targets.push_back(synapse.target);
        weights.push_back(synapse.weight);
        delays.push_back(static_cast<double>(synapse.delay) * resolution);
    }
    for (std::uint64_t i = 0; i < neurons; ++i) currents.push_back(300.0 + 8.0 * static_cast<double>(i));
    const Spikes expected = simulate_naively(synapses, currents, steps);
    ASSERT_GT(expected.size(), 200u);

    Network network(resolution, 1);
    const PopulationId population = network.create("iaf_psc_delta", neurons, "neurons",
                                                   {{"E_L", -70.0},
                                                    {"V_th", -55.0},
                                                    {"V_reset", -70.0},
                                                    {"C_m", 250.0},
                                                    {"tau_m", 10.0},
                                                    {"t_ref", 2.0},
                                                    {"I_e", currents}});
    add_projection(network, all_of(network, population), all_of(network, population),
                   {"explicit", {{"sources", sources}, {"targets", targets}}}, weights, delays);
    const RecorderIndex recorder = add_spike_recorder(network, {all_of(network, population)});
    for (const std::uint32_t threads : {1u, 3u}) {
        Simulation simulation(network, {.threads = threads, .pinning = "none"});
        simulation.run(steps);
        EXPECT_EQ(take(simulation, recorder), expected);
    }
}

TEST(Simulation, PlaysSpikesWithTheirMultiplicity) {
    Network network(resolution, 1);
    const std::vector<std::vector<double>> times{{1.0, 2.0, 2.0}, {2.0}};
    const PopulationId input = add_spike_generators(network, "input", times);
    const PopulationId neuron =
        network.create("iaf_psc_delta", 1, "neuron",
                       {{"E_L", 0.0}, {"V_m", 0.0}, {"V_th", 1000.0}, {"V_reset", -1.0}, {"tau_m", 1e9}});
    add_projection(network, all_of(network, input), all_of(network, neuron), {"all_to_all"}, 1.0, 0.5);
    const RecorderIndex potential = add_state_recorder(network, neuron, {0}, {"V_m"}, resolution);
    Simulation simulation(network, {.threads = 2, .pinning = "none"});
    simulation.run(30);
    const StateData data = simulation.take_state(potential);
    EXPECT_NEAR(data.values[13], 0.0, 1e-6);  // after step 14
    EXPECT_NEAR(data.values[14], 1.0, 1e-6);  // 1.0 ms + 0.5 ms: step 15
    EXPECT_NEAR(data.values[23], 1.0, 1e-6);
    EXPECT_NEAR(data.values[24], 4.0, 1e-6);  // three spikes at 2.0 ms
    const Counts counts = simulation.counts();
    EXPECT_EQ(counts.neurons, 1u);
    EXPECT_EQ(counts.spikes, 0u);
    EXPECT_EQ(counts.population_spikes, (std::vector<std::uint64_t>{4, 0}));
    EXPECT_EQ(counts.synaptic_events, 4u);
}

TEST(Simulation, CountsFromTheLastReset) {
    const BalancedNetwork balanced;
    Simulation simulation(balanced.network, {.threads = 2, .pinning = "none"});
    simulation.run(500);
    const std::uint64_t before = simulation.counts().spikes;
    simulation.reset_counts();
    EXPECT_EQ(simulation.counts().spikes, 0u);
    EXPECT_EQ(simulation.counts().synaptic_events, 0u);
    EXPECT_EQ(simulation.counts().steps, 0);
    EXPECT_EQ(simulation.times().simulation, 0.0);
    simulation.run(1500);
    EXPECT_EQ(simulation.counts().spikes + before, reference().spikes.size());
    EXPECT_EQ(simulation.counts().steps, 1500);
    EXPECT_EQ(simulation.step(), 2000);
}

TEST(Simulation, QueriesDoNotDependOnThreads) {
    const BalancedNetwork balanced;
    Simulation one(balanced.network, {.threads = 1, .table_layout = "runs", .pinning = "none"});
    Simulation three(balanced.network, {.threads = 3, .table_layout = "ring", .pinning = "none"});
    std::vector<ConnectionQuery> queries(5);
    queries[1].sources = {5, 170, 0};
    queries[2].targets = {7, 199};
    queries[3].projection = ProjectionId{4};
    queries[4] = {
        .sources = {{10, 20, 30}}, .targets = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}, .projection = ProjectionId{0}};
    for (const ConnectionQuery& query : queries) {
        const ConnectionData a = one.connections(query);
        const ConnectionData b = three.connections(query);
        EXPECT_EQ(a.sources, b.sources);
        EXPECT_EQ(a.targets, b.targets);
        EXPECT_EQ(a.delays, b.delays);
        EXPECT_EQ(a.projections, b.projections);
        EXPECT_EQ(a.sources.size(), one.count_connections(query));
        EXPECT_EQ(one.weights(a.handles), three.weights(b.handles));
    }
    EXPECT_EQ(one.connections(queries[3]).sources.size(), 50u * 5);
    EXPECT_EQ(one.connections(queries[0]).sources.size(), one.counts().synapses);
}

TEST(Simulation, SetsWeightsOfTheSynapsesAsked) {
    const BalancedNetwork balanced;
    Simulation simulation(balanced.network, {.threads = 2, .pinning = "none"});
    const ConnectionData before = simulation.connections({});
    const std::vector<double> weights_before = simulation.weights(before.handles);
    ConnectionQuery query;
    query.projection = ProjectionId{1};
    const ConnectionData some = simulation.connections(query);
    std::vector<double> weights(some.handles.size());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5 * static_cast<double>(i);
    simulation.set_weights(some.handles, weights);
    EXPECT_EQ(simulation.weights(some.handles), weights);
    const std::vector<double> weights_after = simulation.weights(before.handles);
    for (std::size_t i = 0; i < weights_before.size(); ++i) {
        if (before.projections[i] == 1) continue;
        EXPECT_EQ(weights_after[i], weights_before[i]);
    }
    // The last two are beyond what single precision can hold.
    for (const double bad : {-1.0, std::nan(""), infinity, 1e300, 1e-300}) {
        std::vector<double> changed = weights;
        changed.back() = bad;
        changed.front() = 3.0;
        EXPECT_THROW(simulation.set_weights(some.handles, changed), ValueOutOfBoundsError) << bad;
        EXPECT_EQ(simulation.weights(some.handles), weights);
    }
    EXPECT_THROW(simulation.set_weights(some.handles, std::vector<double>{1.0}), ShapeError);
    EXPECT_THROW(simulation.weights(std::vector<std::uint64_t>{~std::uint64_t{0}}), ValueOutOfBoundsError);
}

TEST(Simulation, SpikesOnTheirWayFindTheNewWeights) {
    Spikes expected;
    for (const char* layout : {"ring", "runs", "blocks"}) {
        for (const std::uint32_t window : {1u, 4u, 64u}) {
            for (const std::uint32_t threads : {1u, 3u}) {
                const BalancedNetwork balanced;
                Simulation simulation(
                    balanced.network,
                    {.threads = threads, .table_layout = layout, .delivery_window = window, .pinning = "none"});
                const ConnectionData all = simulation.connections({});
                const std::vector<double> initial = simulation.weights(all.handles);
                for (int i = 0; i < 40; ++i) {
                    simulation.run(37);
                    std::vector<double> weights = initial;
                    for (double& weight : weights) weight *= i % 2 == 0 ? 0.25 : 1.5;
                    simulation.set_weights(all.handles, weights);
                }
                const Spikes spikes = take(simulation, balanced.spikes);
                if (expected.empty()) expected = spikes;
                ASSERT_GT(spikes.size(), 500u);
                EXPECT_EQ(spikes, expected) << layout << " " << window << " " << threads;
            }
        }
    }
}

/// One spike in flight: the weight at its arrival counts, for each synapse and delay.
TEST(Simulation, WeightAtArrivalCounts) {
    for (const char* layout : {"ring", "runs", "blocks"}) {
        Network network(resolution, 1);
        const PopulationId input = add_spike_generators(network, "input", {{0.1}});
        const PopulationId neurons = network.create("iaf_psc_delta", 3, "neurons",
                                                    {{"E_L", 0.0}, {"V_reset", -1.0}, {"V_th", 100.0}, {"tau_m", 1e9}});
        add_projection(network, all_of(network, input), all_of(network, neurons), {"all_to_all"}, 1.0,
                       std::vector<double>{0.5, 1.0, 1.5});
        Simulation simulation(network, {.threads = 2, .table_layout = layout, .delivery_window = 4, .pinning = "none"});
        const ConnectionData synapses = simulation.connections({});
        simulation.run(8);  // the first has arrived in step 6
        simulation.set_weights(synapses.handles, std::vector<double>{4.0, 4.0, 4.0});
        simulation.run(5);  // the second has arrived in step 11
        simulation.set_weights(synapses.handles, std::vector<double>{16.0, 16.0, 16.0});
        simulation.run(10);
        const std::vector<double> potentials = simulation.get(neurons, "V_m", std::vector<std::uint64_t>{0, 1, 2});
        EXPECT_NEAR(potentials[0], 1.0, 1e-6) << layout;
        EXPECT_NEAR(potentials[1], 4.0, 1e-6) << layout;
        EXPECT_NEAR(potentials[2], 16.0, 1e-6) << layout;
    }
}

TEST(Simulation, ReadsAndSetsNeurons) {
    const BalancedNetwork balanced;
    Simulation simulation(balanced.network, {.threads = 3, .pinning = "none"});
    const std::vector<std::uint64_t> some{100, 0, 7};
    simulation.set(balanced.excitatory, "V_m", some, std::vector<double>{-60.0, -61.0, -62.0});
    EXPECT_EQ(simulation.get(balanced.excitatory, "V_m", some), (std::vector<double>{-60.0, -61.0, -62.0}));
    simulation.set(balanced.excitatory, "I_e", some, std::vector<double>{10.0, 20.0, 30.0});
    EXPECT_EQ(simulation.get(balanced.excitatory, "I_e", std::vector<std::uint64_t>{7, 1, 0, 100}),
              (std::vector<double>{30.0, 0.0, 20.0, 10.0}));
    EXPECT_EQ(simulation.get(balanced.excitatory, "V_m", some), (std::vector<double>{-60.0, -61.0, -62.0}));

    EXPECT_THROW(simulation.set(balanced.excitatory, "C_m", some, std::vector<double>{1.0, 2.0, 0.0}),
                 ValueOutOfBoundsError);
    EXPECT_EQ(simulation.get(balanced.excitatory, "C_m", some), (std::vector<double>{250.0, 250.0, 250.0}));
    EXPECT_THROW(simulation.set(balanced.excitatory, "V_th", some, std::vector<double>{-80.0, -80.0, -80.0}),
                 ValueOutOfBoundsError);
    EXPECT_THROW(simulation.set(balanced.excitatory, "V_m", some, std::vector<double>{std::nan(""), 0.0, 0.0}),
                 ValueOutOfBoundsError);
    EXPECT_THROW(simulation.set(balanced.excitatory, "V_m", some, std::vector<double>{0.0}), ShapeError);
    EXPECT_THROW(simulation.get(balanced.excitatory, "V_n", some), UnknownNameError);
    EXPECT_THROW(simulation.get(balanced.inhibitory, "V_m", std::vector<std::uint64_t>{40}), ValueOutOfBoundsError);
}

TEST(Simulation, RefusesWhatCannotBe) {
    EXPECT_THROW(Simulation(Network(resolution, 1), {}), StateError);
    const BalancedNetwork balanced;
    EXPECT_THROW(Simulation(balanced.network, {.memory_limit = 1000}), InsufficientMemoryError);
    EXPECT_THROW(Simulation(balanced.network, {.threads = 100000}), ValueOutOfBoundsError);
    EXPECT_THROW(Simulation(balanced.network, {.instruction_set = "avx"}), UnknownNameError);
    EXPECT_THROW(Simulation(balanced.network, {.table_layout = "rung"}), UnknownNameError);
    EXPECT_THROW(Simulation(balanced.network, {.delivery_window = 3}), ValueOutOfBoundsError);
}

TEST(Simulation, RefusesWeightsThatNoSumCanHoldBesideOthers) {
    for (const double small : {0.0, 1.0, 1e-6, 1e-15, 1e-36}) {
        Network network(resolution, 1);
        const PopulationId population = network.create("iaf_psc_exp", 10, "neurons", {});
        const Selection all = all_of(network, population);
        add_projection(network, all, all, {"one_to_one"}, 1e6, 1.0, "large");
        add_projection(network, all, all, {"one_to_one"}, small, 1.0, "small");
        if (small == 1e-36) {
            EXPECT_THROW(Simulation(network, {.threads = 1}), ValueOutOfBoundsError);
        } else {
            ConnectionQuery query;
            query.projection = ProjectionId{1};
            const Simulation simulation(network, {.threads = 1});
            // Kept, in single precision.
            EXPECT_EQ(simulation.weights(simulation.connections(query).handles)[0], static_cast<float>(small));
        }
    }
}

TEST(Simulation, CanBeGivenUpWhileItIsBuilt) {
    // Large enough that the build takes longer than the first look of poll.
    Network network(resolution, 1);
    const PopulationId population = network.create("iaf_psc_exp", 20000, "neurons", {});
    add_projection(network, all_of(network, population), all_of(network, population),
                   {"fixed_indegree", {{"indegree", 1000}}}, 1.0, 1.0);
    struct Enough {};
    EXPECT_THROW(Simulation(network, {.threads = 2}, [] { throw Enough{}; }), Enough);
}

TEST(Simulation, PredictsItsMemory) {
    Network network(resolution, 1);
    const PopulationId population = network.create("iaf_psc_exp", 2000, "neurons", {});
    add_projection(network, all_of(network, population), all_of(network, population),
                   {"fixed_indegree", {{"indegree", 500}}}, 1.0, normal(1.5, 0.5, 0.05, 3.0));
    const auto sum = [](const std::vector<MemoryItem>& items) {
        double bytes = 0.0;
        for (const MemoryItem& item : items)
            bytes += item.component == "construction" ? 0.0 : static_cast<double>(item.bytes);
        return bytes;
    };
    for (const std::uint32_t threads : {1u, 2u}) {
        const SimulationOptions options{.threads = threads, .pinning = "none"};
        const double predicted = sum(predict_memory(network, options));
        const double real = sum(Simulation(network, options).memory());
        EXPECT_NEAR(predicted / real, 1.0, 0.05);
    }
}

TEST(Simulation, RunsBesideAnother) {
    const BalancedNetwork balanced;
    Simulation first(balanced.network, {.threads = 2, .pinning = "none"});
    Simulation second(balanced.network, {.threads = 1, .pinning = "none"});
    for (int i = 0; i < 4; ++i) {
        first.run(500);
        second.run(500);
    }
    EXPECT_EQ(take(first, balanced.spikes), reference().spikes);
    EXPECT_EQ(take(second, balanced.spikes), reference().spikes);
}

TEST(Simulation, WorksForOneNeuronAndForNone) {
    for (const std::uint64_t size : {0u, 1u}) {
        Network network(resolution, 1);
        network.create("iaf_psc_exp", 1, "one", {{"I_e", 500.0}});
        const PopulationId population = network.create("iaf_psc_exp", size, "few", {{"I_e", 500.0}});
        add_projection(network, all_of(network, population), all_of(network, population), {"all_to_all"}, 1.0, 1.0);
        const RecorderIndex recorder = add_spike_recorder(network, {all_of(network, population)});
        Simulation simulation(network, {.threads = 4, .pinning = "none"});
        simulation.run(1000);
        EXPECT_EQ(simulation.take_spikes(recorder).steps.empty(), size == 0);
        EXPECT_EQ(simulation.counts().synapses, size);
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
