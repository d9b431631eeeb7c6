#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "exchange_world.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

// The exchange among connected processes. That it brings every spike where it is needed, as every method does, is tested
// in test_exchanges.cpp, where nearly all processes are connected.
namespace ranvier::comm {
namespace TEST_FILE {

const ExchangeInfo& connected() { return find_exchange("connected"); }

/// Makes a source of a process reach another one, and fire in all epochs.
void link(World& world, std::int32_t from, std::uint32_t local, std::int32_t to) {
    world.process(from).destinations[0][local].push_back({Rank{to}, 7});
    for (std::uint32_t epoch = 0; epoch < world.size.epochs; ++epoch) world.emit(from, 0, local, epoch, 1);
}

TEST(Connected, LeavesOutProcessesThatAreNotConnected) {
    World world({.ranks = 7, .epochs = 3, .sources = 2});
    // 0 and 4 in turn, 5 over 6 with 1, and 2 with itself; 3 with nobody.
    link(world, 0, 0, 4);
    link(world, 4, 0, 0);
    link(world, 5, 0, 6);
    link(world, 1, 1, 6);
    link(world, 2, 0, 2);
    const std::vector<Outcome> outcomes = run_world(world, connected(), {});
    ASSERT_TRUE(all_arrived(outcomes));
    const std::vector<std::uint64_t> partners{1, 2, 0, 0, 1, 2, 2};
    for (std::size_t rank = 0; rank < 7; ++rank) {
        EXPECT_EQ(outcomes[rank].counts.messages, 3 * partners[rank]) << rank;
    }
}

TEST(Connected, LetsPartsGoOnByThemselves) {
    World world({.ranks = 4, .epochs = 5, .sources = 1});
    link(world, 0, 0, 2);
    link(world, 1, 0, 3);
    std::atomic<int> finished{0};
    run_processes(4, [&](const std::shared_ptr<Communicator>& communicator) {
        Driver driver(world, communicator, connected().make(arguments_of(world, communicator, {})));
        // 1 and 3 exchange nothing before 0 and 2 have exchanged everything.
        while (communicator->rank().value % 2 == 1 && finished < 2) std::this_thread::yield();
        driver.run();
        ++finished;
        EXPECT_EQ(driver.faults(), std::vector<std::string>{});
    });
}

TEST(Connected, FindsTheComponentsOfAnyGraph) {
    std::mt19937_64 random(11);
    for (int turn = 0; turn < 40; ++turn) {
        const auto ranks = static_cast<std::int32_t>(1 + random() % 8);
        World world({.ranks = ranks, .workers = 2, .epochs = 4, .sources = 8});
        std::vector<std::int32_t> component(static_cast<std::size_t>(ranks));
        std::iota(component.begin(), component.end(), 0);
        const std::uint64_t links = random() % static_cast<std::uint64_t>(ranks + 1);
        for (std::uint64_t i = 0; i < links; ++i) {
            const auto from = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks));
            const auto to = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks));
            // One target of a source, so that its list stays sorted.
            link(world, from, static_cast<std::uint32_t>(i), to);
            const std::int32_t old = component[static_cast<std::size_t>(from)];
            const std::int32_t merged = component[static_cast<std::size_t>(to)];
            for (std::int32_t& of_rank : component) of_rank = of_rank == old ? merged : of_rank;
        }
        const std::vector<Outcome> outcomes = run_world(world, connected(), {.buffer_bytes = 1});
        ASSERT_TRUE(all_arrived(outcomes));
        for (std::size_t rank = 0; rank < component.size(); ++rank) {
            const auto members = std::count(component.begin(), component.end(), component[rank]);
            EXPECT_EQ(outcomes[rank].counts.messages,
                      outcomes[rank].counts.rounds * static_cast<std::uint64_t>(members - 1));
        }
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm
