#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "balanced_network.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/engine/simulation.hpp"
#include "thread_communicator.hpp"

/// Networks on several processes, which are threads here.
namespace ranvier::engine {

using namespace network;
namespace TEST_FILE {

constexpr Step steps = 420;

struct Result {
    Spikes spikes;
    StateData states;
    std::uint64_t synaptic_events = 0;
    std::uint64_t synapses = 0;
    std::vector<double> potentials;
    ConnectionData connections;
    std::vector<double> weights;
};

Result simulate(const BalancedNetwork& balanced, SimulationOptions options,
                std::shared_ptr<comm::Communicator> communicator = nullptr) {
    options.pinning = "none";
    Simulation simulation(balanced.network, options, {}, std::move(communicator));
    simulation.run(steps / 3);
    simulation.run(1);
    // Spikes on their way while weights change must be corrected.
    const ConnectionData some = simulation.connections({.sources = std::vector<std::uint64_t>{3, 170}});
    std::vector<double> weights = simulation.weights(some.handles);
    for (double& weight : weights) weight *= 1.5;
    simulation.set_weights(some.handles, weights);
    simulation.set(balanced.excitatory, "I_e", std::vector<std::uint64_t>{4, 5}, std::vector<double>{300.0, 350.0});
    simulation.run(steps - steps / 3 - 1);
    Result result;
    result.spikes = take(simulation, balanced.spikes);
    result.states = simulation.take_state(balanced.potentials);
    const Counts counts = simulation.counts();
    result.synaptic_events = counts.synaptic_events;
    result.synapses = counts.synapses;
    result.potentials = simulation.get(balanced.inhibitory, "V_m", std::vector<std::uint64_t>{0, 7, 39, 7});
    result.connections = simulation.connections({.projection = ProjectionId{4}});
    result.weights = simulation.weights(result.connections.handles);
    return result;
}

/// Runs something on each of several processes; what one of them throws is thrown here.
/// @param looks see ThreadGroup::hold_back()
void on_ranks(std::int32_t ranks, const std::function<void(std::shared_ptr<comm::Communicator>)>& job,
              std::uint64_t looks = 1) {
    const auto group = std::make_shared<comm::ThreadGroup>(ranks);
    group->hold_back(looks);
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                job(std::make_shared<comm::ThreadCommunicator>(group, Rank{rank}));
            } catch (...) {
                failures[static_cast<std::size_t>(rank)] = std::current_exception();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

const BalancedNetwork& balanced_network(bool long_delays) {
    static const BalancedNetwork shortest(0.05);
    static const BalancedNetwork longer(0.75);
    return long_delays ? longer : shortest;
}

const Result& reference(bool long_delays) {
    static const Result shortest = simulate(balanced_network(false), {.threads = 1});
    static const Result longer = simulate(balanced_network(true), {.threads = 1});
    return long_delays ? longer : shortest;
}

void expect_same(const Result& result, const Result& expected) {
    EXPECT_EQ(result.spikes, expected.spikes);
    EXPECT_EQ(result.states.steps, expected.states.steps);
    EXPECT_EQ(result.states.values, expected.states.values);
    EXPECT_EQ(result.synaptic_events, expected.synaptic_events);
    EXPECT_EQ(result.synapses, expected.synapses);
    EXPECT_EQ(result.potentials, expected.potentials);
    EXPECT_EQ(result.connections.sources, expected.connections.sources);
    EXPECT_EQ(result.connections.targets, expected.connections.targets);
    EXPECT_EQ(result.weights, expected.weights);
    EXPECT_EQ(result.connections.delays, expected.connections.delays);
}

void expect_same_on_ranks(std::int32_t ranks, SimulationOptions options, bool long_delays, std::uint64_t looks = 1) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(options.threads) + " threads, " +
                 std::string(options.stepping.name()) + ", " + std::string(options.exchange.name()) + ", " +
                 std::string(options.notifications.name()) + ", " + std::string(options.placement.name()) + ", " +
                 std::string(options.row_numbering.name()) +
                 (options.sort_connections.value_or(true) ? "" : ", unsorted"));
    std::vector<Result> results(static_cast<std::size_t>(ranks));
    on_ranks(
        ranks,
        [&](std::shared_ptr<comm::Communicator> communicator) {
            const auto rank = static_cast<std::size_t>(communicator->rank().value);
            results[rank] = simulate(balanced_network(long_delays), options, std::move(communicator));
        },
        looks);
    for (const Result& result : results) expect_same(result, reference(long_delays));
}

TEST(Ranks, NetworkIsActiveEnoughToTellAnything) {
    EXPECT_GT(reference(false).spikes.size(), 300u);
    EXPECT_GT(reference(true).spikes.size(), 300u);
    EXPECT_GT(reference(true).connections.sources.size(), 100u);
}

TEST(Ranks, GiveTheSameForEachExchangeMethod) {
    for (const comm::ExchangeInfo* method : comm::exchanges()) {
        for (const auto& [intervals, ranks] : {std::pair{1u, 3}, std::pair{2u, 2}}) {
            const SimulationOptions options{
                .threads = 2, .exchange = std::string(method->name), .intervals = intervals};
            expect_same_on_ranks(ranks, options, intervals == 2);
        }
    }
}

TEST(Ranks, GiveTheSameForEachPlacementAndNumberingOfRows) {
    for (const char* placement : {"round_robin", "consecutive", "shuffle"}) {
        for (const char* numbering : {"dense", "compact", "sparse"}) {
            for (const char* exchange : {"alltoall", "allgather"}) {
                if (std::string_view(numbering) == "sparse" && std::string_view(exchange) == "alltoall") continue;
                const SimulationOptions options{
                    .threads = 2, .placement = placement, .exchange = exchange, .row_numbering = numbering};
                expect_same_on_ranks(4, options, true);
            }
        }
    }
}

/// Three ranks with different numbers of neurons.
std::shared_ptr<const std::vector<std::int32_t>> unequal_shares() {
    std::vector<std::int32_t> ranks(balanced_network(false).network.unit_count());
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<std::int32_t>((i * i + 3 * i) / 5 % 3);
    return std::make_shared<const std::vector<std::int32_t>>(ranks);
}

TEST(Ranks, GiveTheSameForAnyArrayOfRanks) {
    SimulationOptions options{.threads = 2, .ranks = unequal_shares()};
    expect_same_on_ranks(3, options, false);
    options.exchange = "allgather";
    expect_same_on_ranks(3, options, false);
    // One of four processes has no neurons.
    expect_same_on_ranks(4, options, false);
}

TEST(Ranks, GiveTheSameForAnyNumberOfShardsWhoeverUpdatesThem) {
    for (const comm::ExchangeInfo* method : comm::exchanges()) {
        SCOPED_TRACE(method->name);
        const std::string name(method->name);
        expect_same_on_ranks(2, {.threads = 2, .shards = 5, .stealing = "local_and_remote", .exchange = name}, true);
        expect_same_on_ranks(3, {.threads = 1, .shards = 2, .exchange = name, .intervals = 2}, true);
    }
    expect_same_on_ranks(2, {.threads = 2, .shards = 3, .stealing = "local_only", .sort_connections = false}, true);
}

TEST(Ranks, GiveTheSameWithUnsortedConnections) {
    for (const std::int32_t ranks : {1, 2, 3}) {
        expect_same_on_ranks(ranks, {.threads = 2, .sort_connections = false}, true);
    }
}

TEST(Ranks, GiveTheSameForAnyBufferSize) {
    for (const std::uint64_t bytes : {1u, 100u, 1000u}) {
        expect_same_on_ranks(3, {.threads = 2, .spike_buffer = bytes, .allgather_spikes = 1}, true);
        expect_same_on_ranks(3, {.threads = 1, .exchange = "allgather", .spike_buffer = bytes, .allgather_spikes = 1},
                             true);
    }
    expect_same_on_ranks(2, {.threads = 2, .connection_buffer = 1, .row_numbering = "compact"}, true);
    expect_same_on_ranks(3, {.threads = 1, .connection_buffer = 1}, true);
}

/// Equal neurons with the same drive fire all at once: lists that do not fit into shared memory go on in further rounds.
TEST(Ranks, GiveTheSameWithListsInLittleSharedMemory) {
    Network network(0.1, 3);
    const PopulationId neurons = network.create("iaf_psc_exp", 300, "", {{"I_e", 600.0}});
    add_projection(network, all_of(network, neurons), all_of(network, neurons), {"fixed_indegree", {{"indegree", 20}}},
                   5.0, 1.5);
    const RecorderIndex spikes = add_spike_recorder(network, {all_of(network, neurons)});
    Simulation alone(network, {.threads = 1, .pinning = "none"});
    alone.run(2000);
    const Spikes expected = take(alone, spikes);
    ASSERT_GT(expected.size(), 300u);
    for (const std::uint64_t bytes :
         {std::uint64_t{1}, std::uint64_t{200}, std::uint64_t{32} << 20, std::uint64_t{INT64_MAX}}) {
        SCOPED_TRACE(bytes);
        on_ranks(3, [&](std::shared_ptr<comm::Communicator> communicator) {
            Simulation simulation(network,
                                  {.threads = 2, .pinning = "none", .exchange = "shared_memory", .spike_buffer = bytes},
                                  {}, std::move(communicator));
            simulation.run(2000);
            const Traffic traffic = simulation.traffic();
            EXPECT_EQ(traffic.method, "shared_memory");
            EXPECT_EQ(traffic.counts.spikes_received, expected.size());
            EXPECT_EQ(traffic.counts.rounds > traffic.counts.exchanges, bytes < 1000);
            EXPECT_EQ(take(simulation, spikes), expected);
        });
    }
}

TEST(Ranks, GiveTheSameWhereShardsDoNotWaitForAllOthers) {
    const char* const placements[]{"round_robin", "consecutive", "shuffle"};
    const char* const numberings[]{"auto", "compact", "dense"};
    // Some of the combinations: random ones are part of `make validate`.
    const std::pair<const char*, std::int32_t> cases[]{
        {"packed", 2}, {"single", 3}, {"packed", 5}, {"single", 2}, {"packed", 3}};
    int turn = 0;
    for (const auto& [notifications, ranks] : cases) {
        ++turn;
        SimulationOptions options{.threads = 1 + static_cast<std::uint32_t>(turn % 2),
                                  .stepping = "async",
                                  .shards = 2 + static_cast<std::uint32_t>(turn % 5),
                                  .placement = placements[turn % 3],
                                  .notifications = notifications,
                                  .connection_buffer = turn % 4 == 0 ? 1u : 1u << 20,
                                  .row_numbering = numberings[turn / 2 % 3]};
        // Messages that come late, too.
        expect_same_on_ranks(ranks, options, turn % 2 == 0, turn % 3 == 0 ? 20 : 1);
    }
}

TEST(Ranks, GiveTheSameWhereThreadsTakeShardsOfOthersAndNobodyWaits) {
    // More threads than there are processors.
    expect_same_on_ranks(2, {.threads = 3, .stepping = "async", .shards = 12}, true);
    // All shards of both together: as in epochs.
    expect_same_on_ranks(2, {.threads = 1, .stepping = "async"}, false);
}

TEST(Ranks, GiveTheSameWhereOneHasNoNeuronsAndShardsDoNotWait) {
    const SimulationOptions options{.threads = 2, .stepping = "async", .shards = 3, .ranks = unequal_shares()};
    expect_same_on_ranks(4, options, false);
}

TEST(Ranks, RefuseWhatNeedsEpochsWhereShardsDoNotWait) {
    on_ranks(2, [](const std::shared_ptr<comm::Communicator>& communicator) {
        const BalancedNetwork balanced(0.75);
        const auto refused = [&](auto change, const std::string& said) {
            SimulationOptions options{.threads = 1, .stepping = "async"};
            change(options);
            try {
                const Simulation simulation(balanced.network, options, {}, communicator);
                ADD_FAILURE() << said;
            } catch (const StateError& error) {
                EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
            }
        };
        refused([](SimulationOptions& o) { o.exchange = "alltoall"; }, "leave out the exchange");
        refused([](SimulationOptions& o) { o.keep_sources = false; }, "keep sources");
        refused([](SimulationOptions& o) { o.wait_apart = true; }, "leave out wait_apart");
        refused([](SimulationOptions& o) { o.sort_connections = false; }, "sort connections");
        SimulationOptions options{.threads = 1, .notifications = "single"};
        EXPECT_THROW(Simulation(balanced.network, options, {}, communicator), StateError);
        EXPECT_THROW(options.notifications = "pakced", UnknownNameError);
        // One that would wait for all others, and one that would not.
        options = {.threads = 1, .stepping = communicator->rank() == Rank{1} ? SteppingMode::async : SteppingMode::bsp};
        EXPECT_THROW(Simulation(balanced.network, options, {}, communicator), RemoteError);
    });
}

TEST(Ranks, TellHowTheyNotifyEachOther) {
    on_ranks(2, [](const std::shared_ptr<comm::Communicator>& communicator) {
        const BalancedNetwork balanced(0.75);
        Simulation simulation(balanced.network, {.threads = 1, .stepping = "async", .pinning = "none", .shards = 3}, {},
                              communicator);
        simulation.run(500);
        const Traffic traffic = simulation.traffic();
        EXPECT_EQ(traffic.method, "packed notifications");
        EXPECT_GT(traffic.counts.notifications, 100u);
        EXPECT_GT(traffic.counts.messages, 50u);
        EXPECT_LT(traffic.counts.messages, traffic.counts.notifications);
        EXPECT_GT(traffic.counts.bytes_sent, 24 * traffic.counts.notifications);
        EXPECT_GT(traffic.counts.spikes_sent, 10u);
        EXPECT_EQ(communicator->sum(traffic.counts.spikes_sent), communicator->sum(traffic.counts.spikes_received));
        EXPECT_GT(traffic.counts.buffer_bytes, 0u);
        EXPECT_GT(traffic.presynaptic_entries, 0u);
        simulation.reset_counts();
        EXPECT_EQ(simulation.traffic().counts.messages, 0u);
    });
}

TEST(Ranks, CannotAnswerQueriesOnceSourcesAreForgotten) {
    on_ranks(2, [](std::shared_ptr<comm::Communicator> communicator) {
        const BalancedNetwork balanced(0.75);
        Simulation simulation(balanced.network, {.threads = 1, .keep_sources = false, .row_numbering = "compact"}, {},
                              communicator);
        simulation.run(steps);
        EXPECT_THROW(simulation.connections({}), StateError);
        EXPECT_EQ(take(simulation, balanced.spikes).size() > 0, true);
        EXPECT_GT(simulation.count_connections({}), 0u);
    });
}

TEST(Ranks, WithDifferentNetworksAreTold) {
    for (const int part : {0, 1, 2, 3}) {
        on_ranks(3, [&](const std::shared_ptr<comm::Communicator>& communicator) {
            BalancedNetwork balanced;
            SimulationOptions options{.threads = 1};
            if (communicator->rank() == Rank{1}) {
                if (part == 0) balanced.network.set_seed(77);
                if (part == 1) balanced.network.create("iaf_psc_exp", 1, "more", {});
                if (part == 2) add_spike_recorder(balanced.network, {all_of(balanced.network, balanced.inhibitory)});
                if (part == 3) options.exchange = "alltoallv";
            }
            try {
                const Simulation simulation(balanced.network, options, {}, communicator);
                ADD_FAILURE() << part;
            } catch (const RemoteError& error) {
                const std::string message = error.what();
                const std::vector<std::string> parts{"resolution or seed", "populations", "spike recorders",
                                                     "option exchange"};
                EXPECT_NE(message.find(parts[static_cast<std::size_t>(part)]), std::string::npos) << message;
            }
        });
    }
}

TEST(Ranks, FailTogetherWhenOneCannotBegin) {
    std::vector<std::string> messages(2);
    on_ranks(2, [&](const std::shared_ptr<comm::Communicator>& communicator) {
        const BalancedNetwork balanced;
        SimulationOptions options{.threads = 1};
        if (communicator->rank() == Rank{1}) options.memory_limit = 1000;
        try {
            const Simulation simulation(balanced.network, options, {}, communicator);
        } catch (const Error& error) {
            messages[static_cast<std::size_t>(communicator->rank().value)] = error.what();
        }
    });
    EXPECT_NE(messages[0].find("rank 1 failed"), std::string::npos) << messages[0];
    EXPECT_NE(messages[1].find("limit"), std::string::npos) << messages[1];
}

void stop_together(const SimulationOptions& options, const std::shared_ptr<comm::Communicator>& communicator,
                   const BalancedNetwork& balanced, std::vector<Step>& reached, std::vector<Spikes>& spikes) {
    struct Enough {};
    Simulation simulation(balanced.network, options, {}, communicator);
    const auto rank = static_cast<std::size_t>(communicator->rank().value);
    if (rank == 0) {
        EXPECT_THROW(simulation.run(Step{1} << 40, [] { throw Enough{}; }), Enough);
    } else {
        EXPECT_THROW(simulation.run(Step{1} << 40), RemoteError);
    }
    reached[rank] = simulation.step();
    simulation.run(100);
    spikes[rank] = take(simulation, balanced.spikes);
}

TEST(Ranks, StopTogetherWhereShardsDoNotWait) {
    const BalancedNetwork balanced(0.75);
    for (const char* notifications : {"packed", "single"}) {
        std::vector<Step> reached(3, -1);
        std::vector<Spikes> spikes(3);
        on_ranks(3, [&](const std::shared_ptr<comm::Communicator>& communicator) {
            const std::uint32_t threads = communicator->rank() == Rank{1} ? 2 : 1;
            stop_together({.threads = threads,
                           .stepping = "async",
                           .pinning = "none",
                           .shards = 4,
                           .notifications = notifications},
                          communicator, balanced, reached, spikes);
        });
        EXPECT_GT(reached[0], 0);
        EXPECT_EQ(reached[0], reached[1]);
        EXPECT_EQ(reached[0], reached[2]);
        Simulation whole(balanced.network, {.threads = 1, .pinning = "none"});
        whole.run(reached[0] + 100);
        EXPECT_EQ(spikes[1], take(whole, balanced.spikes));
    }
}

/// One is interrupted when it has done all that was asked for: it still takes part in what follows a run.
TEST(Ranks, GoOnTogetherAfterAnInterruptionThatCameTooLate) {
    for (const char* stepping : {"bsp", "async"}) {
        on_ranks(2, [&](const std::shared_ptr<comm::Communicator>& communicator) {
            const BalancedNetwork balanced(0.75);
            Simulation simulation(balanced.network,
                                  {.threads = 1, .stepping = stepping, .pinning = "none", .shards = 2}, {},
                                  communicator);
            int interrupted = 0;
            for (int i = 0; i < 40; ++i) {
                const Step before = simulation.step();
                try {
                    simulation.run(1000, [&] {
                        if (communicator->rank() == Rank{0}) throw std::runtime_error("enough");
                    });
                } catch (const std::runtime_error&) {
                    ++interrupted;
                }
                EXPECT_LE(simulation.step(), before + 1000);
                EXPECT_EQ(communicator->greatest(static_cast<std::uint64_t>(simulation.step())),
                          static_cast<std::uint64_t>(simulation.step()));
            }
            EXPECT_LE(interrupted, 40);
        });
    }
}

TEST(Ranks, StopTogetherWhenOneIsInterrupted) {
    struct Enough {};
    std::vector<Step> reached(2, -1);
    std::vector<Spikes> spikes(2);
    on_ranks(2, [&](const std::shared_ptr<comm::Communicator>& communicator) {
        const BalancedNetwork balanced;
        Simulation simulation(balanced.network, {.threads = 1, .pinning = "none"}, {}, communicator);
        const auto rank = static_cast<std::size_t>(communicator->rank().value);
        if (rank == 0) {
            EXPECT_THROW(simulation.run(Step{1} << 40, [] { throw Enough{}; }), Enough);
        } else {
            EXPECT_THROW(simulation.run(Step{1} << 40), RemoteError);
        }
        reached[rank] = simulation.step();
        simulation.run(100);
        spikes[rank] = take(simulation, balanced.spikes);
    });
    EXPECT_GT(reached[0], 0);
    EXPECT_EQ(reached[0], reached[1]);
    const BalancedNetwork balanced;
    Simulation whole(balanced.network, {.threads = 1, .pinning = "none"});
    whole.run(reached[0] + 100);
    EXPECT_EQ(spikes[0], take(whole, balanced.spikes));
}

TEST(Ranks, RefusedParameterIsRefusedOnAllOfThemAndChangesNothing) {
    constexpr double resolution = 0.0005;
    Network network(resolution);
    const PopulationId neurons =
        network.create("iaf_psc_exp", 8, "neurons", {{"I_e", 900.0}, {"V_m", normal(-65.0, 3.0, -infinity, -56.0)}});
    const RecorderIndex spikes = add_spike_recorder(network, {{neurons, 0, 8}});
    const std::vector<std::uint64_t> all{0, 1, 2, 3, 4, 5, 6, 7};
    // Only with this resolution does the period take too many steps, and only one neuron of one process gets it.
    const std::vector<double> periods{2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1e6};
    const std::vector<double> potentials{-60.0, -60.0, -60.0, -60.0, -60.0, -60.0, -60.0, 1e39};
    std::array<Spikes, 2> attacked;
    std::array<Spikes, 2> untouched;
    for (const bool attack : {true, false}) {
        on_ranks(2, [&](std::shared_ptr<comm::Communicator> communicator) {
            const auto rank = static_cast<std::size_t>(communicator->rank().value);
            Simulation simulation(network,
                                  {.threads = 1, .precision = models::Precision::single_precision, .pinning = "none"},
                                  {}, std::move(communicator));
            simulation.run(1000);
            if (attack && rank == 0) {
                EXPECT_THROW(simulation.set(neurons, "t_ref", all, periods), RemoteError);
                EXPECT_THROW(simulation.set(neurons, "V_m", all, potentials), RemoteError);
            } else if (attack) {
                EXPECT_THROW(simulation.set(neurons, "t_ref", all, periods), ValueOutOfBoundsError);
                EXPECT_THROW(simulation.set(neurons, "V_m", all, potentials), ValueOutOfBoundsError);
            }
            EXPECT_EQ(simulation.get(neurons, "t_ref", all), std::vector<double>(8, 2.0));
            simulation.run(20000);
            (attack ? attacked : untouched)[rank] = take(simulation, spikes);
        });
    }
    EXPECT_GT(untouched[0].size(), 8U);
    EXPECT_EQ(attacked, untouched);
}

/// A process to which another one seems to be crowded, during the first half of what they agree upon.
class BesideACrowdedOne final : public comm::ThreadCommunicator {
   public:
    using ThreadCommunicator::ThreadCommunicator;

    void reduce(std::span<std::uint64_t> values, comm::Reduction reduction) override {
        ThreadCommunicator::reduce(values, reduction);
        // What a run agrees upon now and then; see Simulation::Implementation::stops().
        if (values.size() != 5) return;
        const std::uint64_t crowded = agreements++ < 3 ? 1 : 0;
        values[1] = crowded;
        values[2] = crowded;
    }
    void yield_processors(bool leave) override { left.push_back(leave); }

    int agreements = 0;
    std::vector<bool> left;
};

TEST(Ranks, WaitAsTheyHaveAgreed) {
    const auto group = std::make_shared<comm::ThreadGroup>(2);
    std::vector<std::shared_ptr<BesideACrowdedOne>> communicators;
    std::vector<Spikes> spikes(2);
    std::vector<std::thread> threads;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        communicators.push_back(std::make_shared<BesideACrowdedOne>(group, Rank{rank}));
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            const BalancedNetwork& balanced = balanced_network(false);
            Simulation simulation(balanced.network, {.threads = 1}, {}, communicators[rank]);
            simulation.run(steps);
            spikes[rank] = take(simulation, balanced.spikes);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const std::vector<bool>& left = communicators[rank]->left;
        ASSERT_GT(left.size(), 3u);
        EXPECT_TRUE(left[0] && left[1] && left[2]);
        EXPECT_FALSE(left[3]);
        EXPECT_EQ(left, communicators[0]->left);
        EXPECT_EQ(spikes[rank], spikes[0]);
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
