#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "balanced_network.hpp"
#include "comm/progress/progress_exchange.hpp"
#include "engine/devices/backends.hpp"
#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/engine/simulation.hpp"
#include "thread_communicator.hpp"

/// Networks that are easily divided wrongly among several processes, which are threads here. Each must give the spikes
/// that it gives on one thread of one process.
namespace ranvier::engine {

using namespace network;
namespace TEST_FILE {

struct Outcome {
    Spikes spikes;
    std::vector<StateData> states;
    Counts counts;
};

using Communicator = std::shared_ptr<comm::Communicator>;
/// Runs a simulation in one of several ways, all of which must lead to the same end.
using Script = std::function<void(Simulation&)>;

Script run_for(Step steps) {
    return [steps](Simulation& simulation) { simulation.run(steps); };
}

Outcome outcome_of(Simulation& simulation, const Network& network) {
    Outcome outcome;
    if (!network.spike_recorders().empty()) outcome.spikes = take(simulation, 0);
    for (RecorderIndex i = 0; i < network.state_recorders().size(); ++i) {
        outcome.states.push_back(simulation.take_state(i));
    }
    outcome.counts = simulation.counts();
    return outcome;
}

Outcome simulate(const Network& network, SimulationOptions options, const Script& script,
                 Communicator communicator = nullptr) {
    options.pinning = "none";
    Simulation simulation(network, options, {}, std::move(communicator));
    script(simulation);
    return outcome_of(simulation, network);
}

void expect_same(const Outcome& outcome, const Outcome& expected) {
    EXPECT_EQ(outcome.spikes, expected.spikes);
    ASSERT_EQ(outcome.states.size(), expected.states.size());
    for (std::size_t i = 0; i < expected.states.size(); ++i) {
        EXPECT_EQ(outcome.states[i].steps, expected.states[i].steps);
        EXPECT_EQ(outcome.states[i].places, expected.states[i].places);
        EXPECT_EQ(outcome.states[i].values, expected.states[i].values);
    }
    EXPECT_EQ(outcome.counts.neurons, expected.counts.neurons);
    EXPECT_EQ(outcome.counts.synapses, expected.counts.synapses);
    EXPECT_EQ(outcome.counts.spikes, expected.counts.spikes);
    EXPECT_EQ(outcome.counts.synaptic_events, expected.counts.synaptic_events);
    EXPECT_EQ(outcome.counts.steps, expected.counts.steps);
    EXPECT_EQ(outcome.counts.population_spikes, expected.counts.population_spikes);
}

std::string title_of(std::int32_t ranks, const SimulationOptions& options) {
    return std::to_string(ranks) + " ranks, " + std::to_string(options.threads) + " threads, " +
           std::string(options.exchange.name()) + ", " + std::to_string(options.intervals) + " intervals, " +
           std::string(options.placement.name()) + ", " + std::string(options.row_numbering.name()) +
           (options.sort_connections.value_or(true) ? "" : ", unsorted");
}

/// Each rank has one shard more than the one before it, if their number is given.
void expect_same_on_ranks(const Network& network, const Outcome& expected, std::int32_t ranks,
                          const SimulationOptions& options, const Script& script) {
    SCOPED_TRACE(title_of(ranks, options));
    std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
    comm::run_processes(ranks, [&](const Communicator& communicator) {
        const auto rank = static_cast<std::uint32_t>(communicator->rank().value);
        SimulationOptions of_rank = options;
        if (options.shards > 0) of_rank.shards += rank;
        outcomes[rank] = simulate(network, of_rank, script, communicator);
    });
    for (const Outcome& outcome : outcomes) expect_same(outcome, expected);
}

/// With every method of exchange, on 2 and 3 ranks, with each placement and division of the delay in turn.
void expect_same_by_all_methods(const Network& network, const Outcome& expected, SimulationOptions options,
                                const Script& script) {
    const std::vector<std::string> placements{"round_robin", "consecutive", "shuffle"};
    std::size_t turn = 0;
    for (const comm::ExchangeInfo* method : comm::exchanges()) {
        for (const std::uint32_t intervals : {1u, 2u}) {
            options.exchange = method->name;
            options.intervals = intervals;
            options.placement = placements[turn++ % placements.size()];
            expect_same_on_ranks(network, expected, 2 + static_cast<std::int32_t>(turn % 2), options, script);
        }
    }
}

// ---- networks that exchange of spikes is measured with ---------------------------------------------------------------

/// Artificial cells that burst in turn.
Network make_bursting_network() {
    Network network(resolution, 5);
    const PopulationId cells =
        network.create("interval_fire", 180, "cells",
                       {{"interval_min", 4.0}, {"interval_max", 8.0}, {"burst_groups", 3.0}, {"burst_duration", 6.0}});
    add_projection(network, all_of(network, cells), all_of(network, cells), {"fixed_indegree", {{"indegree", 25}}},
                   0.02, 1.0);
    add_spike_recorder(network, {all_of(network, cells)});
    add_state_recorder(network, cells, {0, 90, 179}, {"m"}, 0.7);
    return network;
}

TEST(RankNetworks, OfCellsThatBurst) {
    const Network network = make_bursting_network();
    const Outcome expected = simulate(network, {.threads = 1}, run_for(500));
    EXPECT_GT(expected.spikes.size(), 2000u);
    expect_same_by_all_methods(network, expected, {.threads = 2}, run_for(500));
}

/// Alpha currents, one delay, Poisson input: in the manner of hpc_benchmark.
TEST(RankNetworks, OfBalancedCellsWithOneDelay) {
    Network network(resolution, 8);
    const PopulationId excitatory =
        network.create("iaf_psc_alpha", 96, "excitatory", {{"V_m", normal(-65.0, 5.0, -infinity, -56.0)}});
    const PopulationId inhibitory =
        network.create("iaf_psc_alpha", 24, "inhibitory", {{"V_m", normal(-65.0, 5.0, -infinity, -56.0)}});
    for (const PopulationId to : {excitatory, inhibitory}) {
        add_projection(network, all_of(network, excitatory), all_of(network, to),
                       {"fixed_indegree", {{"indegree", 24}}}, 40.0, 1.5);
        add_projection(network, all_of(network, inhibitory), all_of(network, to), {"fixed_indegree", {{"indegree", 6}}},
                       -200.0, 1.5);
        add_stimulus(network, all_of(network, to), "poisson_generator", {{"rate", 18000.0}}, {}, 40.0, 1.5);
    }
    add_spike_recorder(network, {all_of(network, excitatory)});
    const Outcome expected = simulate(network, {.threads = 1}, run_for(600));
    EXPECT_GT(expected.spikes.size(), 200u);
    expect_same_by_all_methods(network, expected, {.threads = 3}, run_for(600));
}

// ---- devices ---------------------------------------------------------------------------------------------------------

/// Two populations with input of stimuli, sources and relays, and delays from 0.3 ms on, and recordings of both kinds.
Network make_device_network(double shortest = 0.3) {
    Network network(resolution, 9);
    const PopulationId excitatory =
        network.create("iaf_psc_alpha", 60, "excitatory", {{"V_m", normal(-65.0, 5.0, -infinity, -56.0)}});
    const PopulationId inhibitory =
        network.create("iaf_psc_exp", 17, "inhibitory", {{"V_m", normal(-65.0, 5.0, -infinity, -56.0)}});
    for (const PopulationId to : {excitatory, inhibitory}) {
        add_projection(network, all_of(network, excitatory), all_of(network, to),
                       {"fixed_indegree", {{"indegree", 12}}}, 80.0, shortest);
        add_projection(network, all_of(network, inhibitory), all_of(network, to), {"fixed_indegree", {{"indegree", 3}}},
                       -200.0, 1.5);
        add_stimulus(network, all_of(network, to), "poisson_generator", {{"rate", 18000.0}}, {}, 40.0, 1.5);
    }
    const PopulationId sources = network.create("gamma_generator", 9, "sources", {{"rate", 300.0}});
    const PopulationId relays = network.create("parrot_neuron", 7, "relays", {});
    add_projection(network, all_of(network, sources), all_of(network, relays), {"fixed_indegree", {{"indegree", 2}}},
                   1.0, shortest);
    add_projection(network, all_of(network, relays), all_of(network, excitatory), {"fixed_indegree", {{"indegree", 2}}},
                   60.0, shortest);
    add_stimulus(network, all_of(network, excitatory), "noise_generator", {{"std", 50.0}}, {}, 1.0, 0.4);
    add_stimulus(network, all_of(network, inhibitory), "gamma_generator", {{"rate", 500.0}}, {}, 30.0, 0.4);
    add_spike_recorder(network, {all_of(network, excitatory), all_of(network, inhibitory), all_of(network, relays)});
    add_state_recorder(network, excitatory, {0, 30, 59}, {"V_m"}, 0.7);
    return network;
}

/// In pieces that are no whole epochs.
void run_in_pieces(Simulation& simulation) {
    for (const Step steps : {1, 36, 2, 161}) simulation.run(steps);
}

TEST(RankNetworks, OnDevices) {
    const Network network = make_device_network();
    const Outcome expected = simulate(network, {.threads = 1}, run_in_pieces);
    EXPECT_GT(expected.spikes.size(), 100u);
    SimulationOptions options{.threads = 1, .device = "cuda-emulator", .shards = 3};
    const std::vector<std::string> placements{"round_robin", "consecutive", "shuffle"};
    std::size_t turn = 0;
    for (const comm::ExchangeInfo* method : comm::exchanges()) {
        if (method->on_host) continue;
        options.exchange = method->name;
        options.intervals = 1 + turn % 2;
        options.placement = placements[turn++ % placements.size()];
        expect_same_on_ranks(network, expected, 2 + static_cast<std::int32_t>(turn / 2 % 2), options, run_in_pieces);
    }
}

TEST(RankNetworks, RefuseThatDevicesAreShared) {
    comm::run_processes(3, [&](const Communicator& communicator) {
        const auto rank = static_cast<std::uint8_t>(communicator->rank().value);
        const auto check = [&](const std::string& device, std::uint8_t gpu) {
            SimulationOptions options;
            options.device = device;
            check_different_devices("H200", {1, 2, gpu}, options, *communicator);
        };
        check("cuda", rank);
        // The user has named it.
        check("cuda:0", 7);
        const std::uint8_t gpu = rank % 2;
        if (rank == 1) {
            check("cuda", gpu);
        } else {
            fields_of<DeviceError>([&] { check("cuda", gpu); },
                                   {"GPU H200", "ranks 0 and 2", "2 would share", "device='cuda:0'"});
        }
    });
}

TEST(RankNetworks, RefuseWhatDevicesOfRanksLack) {
    const Network network = make_device_network();
    const auto expect_refused = [&](const SimulationOptions& options, const std::string& named) {
        comm::run_processes(2, [&](const Communicator& communicator) {
            const auto build = [&] { Simulation(network, options, {}, communicator); };
            fields_of<StateError>(build, {"device", "cuda-emulator", named});
        });
    };
    SimulationOptions options{.threads = 1, .device = "cuda-emulator", .exchange = "shared_memory"};
    expect_refused(options, "shared_memory");
    options.exchange = "alltoall";
    options.keep_sources = false;
    expect_refused(options, "keep_sources");
    options.keep_sources = true;
    options.sort_connections = false;
    expect_refused(options, "sort_connections");
}

// ---- networks at the edge --------------------------------------------------------------------------------------------

TEST(RankNetworks, WithMoreThreadsThanNeurons) {
    Network network(resolution, 3);
    const PopulationId cells = network.create("iaf_psc_exp", 5, "cells", {{"I_e", 600.0}});
    add_projection(network, all_of(network, cells), all_of(network, cells), {"all_to_all"}, 50.0, 0.4);
    add_spike_recorder(network, {all_of(network, cells)});
    add_state_recorder(network, cells, {0, 4}, {"V_m"}, 0.1);
    const Outcome expected = simulate(network, {.threads = 1}, run_for(500));
    EXPECT_GT(expected.spikes.size(), 5u);
    for (const char* exchange : {"alltoall", "allgather", "multisend", "overlap"}) {
        for (const std::int32_t ranks : {2, 6}) {
            for (const bool sorted : {true, false}) {
                if (!sorted && std::string(exchange) == "allgather") continue;
                expect_same_on_ranks(network, expected, ranks,
                                     {.threads = 4, .exchange = exchange, .intervals = 2, .sort_connections = sorted},
                                     run_for(500));
            }
        }
    }
}

TEST(RankNetworks, WithoutProjections) {
    Network network(resolution, 3);
    const PopulationId cells = network.create("iaf_psc_exp", 20, "cells", {{"I_e", 600.0}});
    add_stimulus(network, all_of(network, cells), "poisson_generator", {{"rate", 9000.0}}, {}, 20.0, 1.5);
    add_spike_recorder(network, {all_of(network, cells)});
    const Outcome expected = simulate(network, {.threads = 1}, run_for(300));
    EXPECT_GT(expected.spikes.size(), 10u);
    EXPECT_EQ(expected.counts.synapses, 0u);
    expect_same_by_all_methods(network, expected, {.threads = 2}, run_for(300));
    expect_same_on_ranks(network, expected, 3, {.threads = 2, .sort_connections = false}, run_for(300));
}

/// Units that fire several times in one step, which no buffer may take for one spike.
TEST(RankNetworks, WithSeveralSpikesOfOneUnitInOneStep) {
    Network network(resolution, 3);
    const std::vector<std::vector<double>> times{
        {1.0, 1.0, 1.0, 5.0}, {}, {1.0, 5.0, 5.0}, {0.1, 0.1, 20.0, 20.0, 20.0, 20.0}, {7.3}};
    const PopulationId units = add_spike_generators(network, "units", times);
    const PopulationId cells = network.create("iaf_psc_delta", 12, "cells", {});
    add_projection(network, all_of(network, units), all_of(network, cells), {"all_to_all"}, 1.5, 0.9);
    add_spike_recorder(network, {all_of(network, cells), all_of(network, units)});
    add_state_recorder(network, cells, {0, 5, 11}, {"V_m"}, 0.1);
    const Outcome expected = simulate(network, {.threads = 1}, run_for(250));
    EXPECT_EQ(expected.counts.synaptic_events, 14u * 12u);
    expect_same_by_all_methods(network, expected, {.threads = 2}, run_for(250));
    expect_same_by_all_methods(network, expected, {.threads = 2, .spike_buffer = 1, .allgather_spikes = 1},
                               run_for(250));
}

/// Longer than an epoch may be, and than a byte can count.
TEST(RankNetworks, WithDelaysOfManySteps) {
    Network network(resolution, 6);
    const PopulationId cells =
        network.create("iaf_psc_exp", 60, "cells", {{"I_e", normal(500.0, 60.0, -infinity, infinity)}});
    add_projection(network, all_of(network, cells), all_of(network, cells), {"fixed_indegree", {{"indegree", 10}}},
                   100.0, normal(45.0, 15.0, 20.0, 70.0));
    add_projection(network, all_of(network, cells), all_of(network, cells), {"fixed_outdegree", {{"outdegree", 4}}},
                   -200.0, 30.0);
    add_spike_recorder(network, {all_of(network, cells)});
    add_state_recorder(network, cells, {0, 30, 59}, {"V_m"}, 1.7);
    const Outcome expected = simulate(network, {.threads = 1}, run_for(1500));
    EXPECT_GT(expected.spikes.size(), 200u);
    expect_same_by_all_methods(network, expected, {.threads = 2}, run_for(1500));
}

/// Weights of both signs by rules that are drawn by target, and by source in more rounds than one.
TEST(RankNetworks, WithWeightsOfBothSignsAndManyRounds) {
    Network network(resolution, 6);
    const PopulationId sources = network.create("iaf_psc_exp", 700, "sources", {{"I_e", 450.0}});
    const PopulationId targets = network.create("iaf_psc_exp", 50, "targets", {{"I_e", 300.0}});
    const Distribution both = normal(0.0, 5.0, -infinity, infinity);
    // A round takes about a million synapses of each process.
    add_projection(network, all_of(network, sources), all_of(network, targets),
                   {"fixed_outdegree", {{"outdegree", 6000}}}, both, normal(1.5, 0.5, 0.5, infinity));
    add_projection(network, all_of(network, targets), all_of(network, sources),
                   {"pairwise_bernoulli", {{"probability", 0.1}}}, both, 1.0);
    add_projection(network, {sources, 20, 90}, all_of(network, targets), {"fixed_total_number", {{"number", 3000}}},
                   both, 0.7);
    add_spike_recorder(network, {all_of(network, sources), all_of(network, targets)});
    add_state_recorder(network, targets, {0, 49}, {"V_m"}, 0.5);
    const Outcome expected = simulate(network, {.threads = 2}, run_for(200));
    EXPECT_GT(expected.spikes.size(), 700u);
    expect_same_on_ranks(network, expected, 2, {.threads = 1}, run_for(200));
    // All targets on one rank, which gets what all draw.
    expect_same_on_ranks(network, expected, 3,
                         {.threads = 2, .placement = "consecutive", .connection_buffer = 10'000'000}, run_for(200));
}

TEST(RankNetworks, WithEachPrecision) {
    const BalancedNetwork balanced(0.35);
    using models::Precision;
    for (const Precision state : {Precision::single_precision, Precision::double_precision}) {
        for (const Precision weights : {Precision::single_precision, Precision::double_precision}) {
            SimulationOptions options{.threads = 1, .precision = state, .weight_precision = weights};
            const Outcome expected = simulate(balanced.network, options, run_for(400));
            EXPECT_GT(expected.spikes.size(), 200u);
            options.threads = 2;
            for (const char* numbering : {"dense", "compact"}) {
                options.row_numbering = numbering;
                expect_same_on_ranks(balanced.network, expected, 3, options, run_for(400));
            }
        }
    }
}

// ---- runs ------------------------------------------------------------------------------------------------------------

/// Nothing may stay on its way, whatever the length of a run.
TEST(RankNetworks, InRunsOfAnyLength) {
    const BalancedNetwork balanced(0.75);
    const Outcome expected = simulate(balanced.network, {.threads = 1}, run_for(300));
    EXPECT_GT(expected.spikes.size(), 100u);
    expect_same_by_all_methods(balanced.network, expected, {.threads = 2}, [](Simulation& simulation) {
        simulation.run(0);
        for (int i = 0; i < 40; ++i) simulation.run(1);
        for (const Step steps : {0, 2, 3, 4, 5, 6, 0, 7, 8, 15}) simulation.run(steps);
        simulation.run(210);
    });
}

TEST(RankNetworks, CountFromAnewWhenTold) {
    const BalancedNetwork balanced(0.75);
    const Script script = [](Simulation& simulation) {
        simulation.run(150);
        simulation.reset_counts();
        EXPECT_EQ(simulation.counts().steps, 0);
        EXPECT_EQ(simulation.counts().spikes, 0u);
        EXPECT_EQ(simulation.counts().synaptic_events, 0u);
        EXPECT_EQ(simulation.traffic().counts.spikes_sent, 0u);
        simulation.run(203);
    };
    const Outcome expected = simulate(balanced.network, {.threads = 1}, script);
    EXPECT_EQ(expected.counts.steps, 203);
    EXPECT_GT(expected.counts.spikes, 50u);
    for (const char* exchange : {"alltoall", "allgather", "overlap", "auto"}) {
        expect_same_on_ranks(balanced.network, expected, 2, {.threads = 2, .exchange = exchange, .intervals = 2},
                             script);
    }
}

/// A communicator serves several simulations, with different methods, side by side and one after another.
TEST(RankNetworks, SideBySide) {
    const BalancedNetwork balanced(0.75);
    const Network bursting = make_bursting_network();
    const Outcome first_expected = simulate(balanced.network, {.threads = 1}, run_for(300));
    const Outcome second_expected = simulate(bursting, {.threads = 1}, run_for(300));
    std::vector<std::string> methods;
    for (const comm::ExchangeInfo* method : comm::exchanges()) methods.emplace_back(method->name);
    for (std::size_t i = 0; i < methods.size(); ++i) {
        const SimulationOptions first_options{.threads = 2, .pinning = "none", .exchange = methods[i], .intervals = 2};
        const SimulationOptions second_options{
            .threads = 1, .pinning = "none", .exchange = methods[(i + 1) % methods.size()]};
        SCOPED_TRACE(methods[i] + " beside " + std::string(second_options.exchange.name()));
        std::vector<std::vector<Outcome>> outcomes(2);
        comm::run_processes(2, [&](const Communicator& communicator) {
            std::vector<Outcome>& own = outcomes[static_cast<std::size_t>(communicator->rank().value)];
            {
                Simulation first(balanced.network, first_options, {}, communicator);
                first.run(77);
                Simulation second(bursting, second_options, {}, communicator);
                for (const Step steps : {1, 99, 50, 73}) {
                    second.run(steps);
                    first.run(steps);
                }
                second.run(77);
                own.push_back(outcome_of(first, balanced.network));
                own.push_back(outcome_of(second, bursting));
            }
            Simulation third(bursting, first_options, {}, communicator);
            third.run(300);
            own.push_back(outcome_of(third, bursting));
        });
        for (const std::vector<Outcome>& own : outcomes) {
            expect_same(own[0], first_expected);
            expect_same(own[1], second_expected);
            expect_same(own[2], second_expected);
        }
    }
}

// ---- without epochs --------------------------------------------------------------------------------------------------

/// Neurons that nobody hears, and which hear nobody, on a process that has nothing else to do, while those of another one
/// take much longer: they are not far ahead when the run is interrupted, since all have to come as far as they are.
TEST(RankNetworks, ThatNobodyHearsDoNotRunFarAhead) {
    Network network(resolution, 5);
    // Ids in turn lie on both processes; only those of the second one work hard, since the others' shards hold few of them.
    const PopulationId few = network.create("iaf_psc_exp", 2, "few", {{"I_e", 300.0}});
    const PopulationId many = network.create("iaf_psc_exp", 20000, "many", {{"I_e", 300.0}});
    add_projection(network, all_of(network, many), all_of(network, many), {"fixed_indegree", {{"indegree", 2}}}, 1.0,
                   5.0);
    add_spike_recorder(network, {all_of(network, few)});
    auto ranks = std::make_shared<std::vector<std::int32_t>>(20002, 1);
    std::fill_n(ranks->begin(), 2, 0);
    SimulationOptions options{.threads = 1, .stepping = "async", .pinning = "none", .shards = 4};
    options.ranks = ranks;
    std::vector<Step> stopped(2);
    std::vector<Step> seen(2);
    comm::run_processes(2, [&](const Communicator& communicator) {
        const auto rank = static_cast<std::size_t>(communicator->rank().value);
        Simulation simulation(network, options, {}, communicator);
        EXPECT_TRUE(simulation.stepping().is_asynchronous);
        int polls = 0;
        try {
            simulation.run(10'000'000, [&] {
                if (rank != 1 || ++polls < 4) return;
                seen[1] = simulation.step();
                throw std::runtime_error("stop");
            });
            ADD_FAILURE() << "it was not stopped";
        } catch (const std::runtime_error&) {
            // On the other process this says that another one was interrupted.
        }
        stopped[rank] = simulation.step();
    });
    EXPECT_EQ(stopped[0], stopped[1]);
    EXPECT_GT(seen[1], 0);
    // What a shard may lead by, and what the slow one had done since it was last seen.
    EXPECT_LE(stopped[1] - seen[1], 2 * comm::ProgressExchange::most_ahead);
}

/// A shard that gets spikes from nobody takes as many steps at a time as it may, and tells in between who waits for them.
TEST(RankNetworks, TellOthersWithinAVisit) {
    Network network(resolution, 5);
    const PopulationId neurons = network.create("iaf_psc_exp", 2, "neurons", {{"I_e", 600.0}});
    constexpr Step delay = 8;
    add_projection(network, {neurons, 0, 1}, {neurons, 1, 2}, {"one_to_one"}, 1.0, delay * resolution);
    constexpr Step steps = 320;
    comm::run_processes(2, [&](const Communicator& communicator) {
        Simulation simulation(network, {.threads = 1, .stepping = "async", .pinning = "none"}, {}, communicator);
        simulation.run(steps);
        if (communicator->rank().value != 0) return;
        const std::vector<std::uint64_t> visits = simulation.visits();
        const auto most = static_cast<Step>(visits.size() - 1);
        EXPECT_GT(most, delay);
        EXPECT_EQ(visits.back(), static_cast<std::uint64_t>(steps / most));
        EXPECT_EQ(simulation.traffic().counts.notifications, static_cast<std::uint64_t>(steps / (delay / 2)));
    });
}

/// Two neurons that excite each other, each on a process, are refractory most of the time.
TEST(RankNetworks, GoFurtherWhereSourcesOnOtherProcessesAreRefractory) {
    Network network(resolution, 5);
    const PopulationId pair = network.create("iaf_psc_exp", 2, "pair", {{"I_e", 5000.0}, {"t_ref", 20.0}});
    constexpr Step delay = 2;
    add_projection(network, all_of(network, pair), all_of(network, pair), {"all_to_all", {{"allow_autapses", false}}},
                   100.0, delay * resolution);
    const RecorderIndex recorder = add_spike_recorder(network, {all_of(network, pair)});
    constexpr Step steps = 2000;
    Simulation expected(network, {.threads = 1, .pinning = "none"});
    expected.run(steps);
    const auto spikes = take(expected, recorder);
    for (const std::string notifications : {"packed", "single"}) {
        comm::run_processes(2, [&](const Communicator& communicator) {
            SimulationOptions options{.threads = 1, .stepping = "async", .pinning = "none"};
            options.notifications = notifications;
            Simulation simulation(network, options, {}, communicator);
            // The end of the first run lies within the refractory period.
            simulation.run(123);
            simulation.run(steps - 123);
            const auto found = take(simulation, recorder);
            // Spikes of both are gathered on all.
            EXPECT_EQ(found, spikes);
            // Otherwise, one could be no more than the delay ahead of the other: twice this in a visit, at most.
            EXPECT_GT(static_cast<double>(steps) / static_cast<double>(simulation.stepping().visits), 2.0 * delay);
        });
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
