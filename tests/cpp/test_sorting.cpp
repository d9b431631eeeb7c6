#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "balanced_network.hpp"
#include "comm/mirror_communicator.hpp"
#include "connect/tables/table_plan.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/simulation.hpp"
#include "thread_communicator.hpp"

/// Whether connections are sorted by source where nobody has told.
namespace ranvier::engine {

using namespace network;
namespace TEST_FILE {

using Communicator = std::shared_ptr<comm::Communicator>;

/// Each neuron is the source of as many synapses as its own number of sources, on average: on n shards of all processes,
/// each shard has `indegree` / n synapses for each row that it could have. Rows of static synapses pay from about 0.83 on:
/// with x synapses for each, they take 4 + 2.5 (1 - exp(-x)) bytes, and unsorted synapses 6.5 x.
struct SparseNetwork {
    Network network{resolution, 7};
    PopulationId neurons;
    RecorderIndex spikes = 0;

    explicit SparseNetwork(std::uint64_t indegree, std::uint64_t size = 240) {
        neurons = network.create("iaf_psc_exp", size, "neurons", {{"I_e", normal(420.0, 60.0, -infinity, infinity)}});
        add_projection(network, all_of(network, neurons), all_of(network, neurons),
                       {"fixed_indegree", {{"indegree", indegree}}}, 80.0, 1.5);
        spikes = add_spike_recorder(network, {all_of(network, neurons)});
    }
};

TEST(Sorting, DependsOnHowManyOfThePossibleRowsThereAre) {
    const SparseNetwork sparse(8);
    EXPECT_TRUE(sorts_connections(sparse.network, {.threads = 1}, 9));
    EXPECT_FALSE(sorts_connections(sparse.network, {.threads = 1}, 10));
    EXPECT_FALSE(sorts_connections(sparse.network, {.threads = 1}, 100'000));
    EXPECT_TRUE(sorts_connections(sparse.network, {.threads = 2}, 4));
    EXPECT_FALSE(sorts_connections(sparse.network, {.threads = 2}, 5));
    EXPECT_FALSE(sorts_connections(sparse.network, {.threads = 1, .shards = 4}, 3));
    // Nothing travels.
    EXPECT_TRUE(sorts_connections(sparse.network, {.threads = 1, .shards = 100}, 1));

    // With a table for each receptor: 16 synapses of each of 240 neurons, and 300 rows.
    SparseNetwork both(8);
    const PopulationId inhibitory = both.network.create("iaf_psc_exp", 60, "inhibitory", {});
    add_projection(both.network, all_of(both.network, inhibitory), all_of(both.network, both.neurons),
                   {"fixed_indegree", {{"indegree", 8}}}, -80.0, 1.5);
    EXPECT_TRUE(sorts_connections(both.network, {.threads = 1}, 15));
    EXPECT_FALSE(sorts_connections(both.network, {.threads = 1}, 16));

    // Synapses of either sign have rows in both tables, and half of them are in each.
    Network either{resolution, 7};
    const PopulationId neurons = either.create("iaf_psc_exp", 240, "neurons", {});
    add_projection(either, all_of(either, neurons), all_of(either, neurons), {"fixed_indegree", {{"indegree", 8}}},
                   normal(0.0, 50.0, -infinity, infinity), 1.5);
    EXPECT_TRUE(sorts_connections(either, {.threads = 1}, 4));
    EXPECT_FALSE(sorts_connections(either, {.threads = 1}, 5));
}

TEST(Sorting, IsGivenUpBeforeRowsWouldBeNumberedCompactly) {
    const SparseNetwork sparse(8);
    const LoweredNetwork lowered(sparse.network);
    const std::vector<connect::PopulationRange> ranges(lowered.ranges().begin(), lowered.ranges().end());
    for (const std::int32_t ranks : {2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20}) {
        for (const std::uint32_t shards : {1u, 2u, 3u}) {
            const connect::Placement placement(sparse.network.unit_count(), ranks, connect::PlacementKind::round_robin,
                                               sparse.network.seed());
            const connect::ProcessLayout layout(placement, Rank{0}, shards, ranges);
            const bool dense = connect::plan_tables(lowered.plan(), layout, {.resolution = resolution}).numbering ==
                               connect::RowNumbering::dense;
            const bool sorted = sorts_connections(sparse.network, {.threads = 1, .shards = shards}, ranks);
            EXPECT_TRUE(dense || !sorted) << ranks << " ranks, " << shards << " shards";
            EXPECT_EQ(sorted, ranks * static_cast<std::int32_t>(shards) < 10)
                << ranks << " ranks, " << shards << " shards";
        }
    }
}

TEST(Sorting, IsDoneWhereSomethingNeedsIt) {
    const SparseNetwork sparse(8);
    for (const comm::ExchangeInfo* method : comm::exchanges()) {
        if (method->on_host) continue;
        SCOPED_TRACE(method->name);
        const std::string name(method->name);
        EXPECT_TRUE(sorts_connections(sparse.network, {.threads = 1, .exchange = name}, 9));
        EXPECT_EQ(sorts_connections(sparse.network, {.threads = 1, .exchange = name}, 10),
                  !method->directed && name != "auto");
    }
    for (const char* numbering : {"dense", "compact"}) {
        EXPECT_TRUE(sorts_connections(sparse.network, {.threads = 1, .row_numbering = numbering}, 12));
    }
}

TEST(Sorting, IsAsTheUserWants) {
    const SparseNetwork sparse(8);
    for (const std::int32_t ranks : {1, 11, 12}) {
        EXPECT_TRUE(sorts_connections(sparse.network, {.threads = 1, .sort_connections = true}, ranks));
        EXPECT_FALSE(sorts_connections(sparse.network, {.threads = 1, .sort_connections = false}, ranks));
    }
    const SimulationOptions impossible{.threads = 1, .exchange = "allgather", .sort_connections = false};
    EXPECT_THROW(Simulation(sparse.network, impossible, {}, comm::make_mirror_communicator(12)), StateError);
}

TEST(Sorting, IsDoneAsToldBefore) {
    const SparseNetwork sparse(8);
    for (const std::int32_t ranks : {1, 11, 12}) {
        for (const std::string exchange : {"alltoall", "allgather", "auto"}) {
            const SimulationOptions options{.threads = 1, .pinning = "none", .exchange = exchange};
            Simulation simulation(sparse.network, options, {}, comm::make_mirror_communicator(ranks));
            EXPECT_EQ(simulation.sorts_connections(), sorts_connections(sparse.network, options, ranks))
                << ranks << " ranks, " << exchange;
            simulation.run(200);
            // With an address for each synapse there is an entry for each.
            const std::uint64_t entries = simulation.traffic().presynaptic_entries;
            const std::uint64_t synapses = simulation.counts().synapses / static_cast<std::uint64_t>(ranks);
            EXPECT_EQ(entries == synapses, !simulation.sorts_connections()) << ranks << " ranks, " << exchange;
        }
    }
}

TEST(Sorting, DoesNotShowInTheSpikes) {
    const SparseNetwork sparse(4);
    Simulation alone(sparse.network, {.threads = 1, .pinning = "none"});
    alone.run(1000);
    const Spikes expected = take(alone, sparse.spikes);
    EXPECT_GT(expected.size(), 300u);
    for (const std::string exchange : {"alltoall", "neighbor", "auto"}) {
        for (const std::uint32_t threads : {1u, 2u}) {
            SCOPED_TRACE(exchange + ", " + std::to_string(threads) + " threads");
            comm::run_processes(3, [&](const Communicator& communicator) {
                Simulation simulation(sparse.network, {.threads = threads, .pinning = "none", .exchange = exchange}, {},
                                      communicator);
                EXPECT_EQ(simulation.sorts_connections(), threads == 1);
                simulation.run(1000);
                EXPECT_EQ(take(simulation, sparse.spikes), expected);
            });
        }
    }
}

/// Of ranks that would choose otherwise by themselves.
TEST(Sorting, IsDoneByAllRanksIfByOne) {
    const SparseNetwork sparse(4);
    Simulation alone(sparse.network, {.threads = 1, .pinning = "none"});
    alone.run(500);
    const Spikes expected = take(alone, sparse.spikes);
    EXPECT_GT(expected.size(), 100u);
    for (const std::int32_t threaded : {1, 2, 3}) {
        comm::run_processes(3, [&](const Communicator& communicator) {
            const SimulationOptions options{.threads = communicator->rank().value < threaded ? 2u : 1u,
                                            .pinning = "none"};
            EXPECT_EQ(sorts_connections(sparse.network, options, 3), options.threads == 1);
            Simulation simulation(sparse.network, options, {}, communicator);
            EXPECT_EQ(simulation.sorts_connections(), threaded < 3);
            simulation.run(500);
            EXPECT_EQ(take(simulation, sparse.spikes), expected);
        });
    }
}

TEST(Sorting, MustBeAskedForByAllRanks) {
    const SparseNetwork sparse(4);
    for (const bool sorted : {true, false}) {
        comm::run_processes(2, [&](const Communicator& communicator) {
            SimulationOptions options{.threads = 1, .pinning = "none"};
            if (communicator->rank() == Rank{1}) options.sort_connections = sorted;
            EXPECT_THROW(Simulation(sparse.network, options, {}, communicator), RemoteError);
        });
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
