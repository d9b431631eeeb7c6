// Small blocks on pages of their owner: where they are, what the account says, and use by several threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "ranvier/base/page_memory.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/parallel/memory.hpp"
#include "ranvier/parallel/node_pool.hpp"
#include "selections.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

MemoryAccount make_account() { return {{"tree", "unused"}, node_count()}; }

struct Block {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::size_t alignment = 1;
    std::byte mark{};
};

Block allocate_marked(std::pmr::memory_resource& memory, std::mt19937& random) {
    Block block;
    block.bytes = 1 + random() % (NodePool::most_bytes + 1000);
    block.alignment = std::size_t{1} << random() % 8;
    block.mark = static_cast<std::byte>(random());
    block.begin = static_cast<std::byte*>(memory.allocate(block.bytes, block.alignment));
    std::fill_n(block.begin, block.bytes, block.mark);
    return block;
}

bool is_whole(const Block& block) {
    return reinterpret_cast<std::uintptr_t>(block.begin) % block.alignment == 0 &&
           std::all_of(block.begin, block.begin + block.bytes, [&](std::byte byte) { return byte == block.mark; });
}

TEST(NodePool, CountsBlocksUnderTheirPurposeAndTheRestOfThePagesAsUnused) {
    MemoryAccount account = make_account();
    NodePool pool(account, account.purpose("unused"), {.node = 0});
    {
        NodeMemory tree(account, account.purpose("tree"), {.node = 0, .pool = &pool});
        std::vector<void*> blocks(1000);
        for (void*& block : blocks) block = tree.allocate(48, 8);
        EXPECT_EQ(account.bytes(account.purpose("tree")), 48'000u);
        // A block is aligned to a cache line, so it takes 64 bytes of the pages.
        EXPECT_GE(pool.bytes(), 64'000u);
        EXPECT_EQ(pool.bytes() % separate_pages_bytes, 0u);
        EXPECT_EQ(account.bytes(account.purpose("unused")), pool.bytes() - 48'000);
        EXPECT_EQ(account.bytes(), pool.bytes());
        const std::uint64_t pages = pool.bytes();
        for (void* const block : blocks) tree.deallocate(block, 48, 8);
        EXPECT_EQ(account.bytes(account.purpose("tree")), 0u);
        // The pages are kept, and used again.
        for (void*& block : blocks) block = tree.allocate(48, 8);
        EXPECT_EQ(pool.bytes(), pages);
        for (void* const block : blocks) tree.deallocate(block, 48, 8);
        // Larger blocks do not come from the pool.
        void* const large = tree.allocate(NodePool::most_bytes + 1);
        EXPECT_EQ(account.bytes(account.purpose("unused")), pages);
        tree.deallocate(large, NodePool::most_bytes + 1);
    }
    EXPECT_EQ(account.bytes(), pool.bytes());
}

TEST(NodePool, GivesItsPagesBack) {
    MemoryAccount account = make_account();
    {
        NodePool pool(account, account.purpose("unused"), {.node = 0});
        pool.deallocate(pool.allocate(100), 100);
        EXPECT_GT(account.bytes(), 0u);
    }
    EXPECT_EQ(account.bytes(), 0u);
}

TEST(NodePool, HasItsBlocksOnItsPages) {
    MemoryAccount account = make_account();
    NodePool pool(account, account.purpose("unused"), {.node = current_node()});
    NodeMemory tree(account, account.purpose("tree"), {.node = current_node(), .pool = &pool});
    void* const first = tree.allocate(64);
    std::memset(first, 1, 64);
    // All blocks of the first pages lie within as many bytes.
    std::vector<std::pair<void*, std::size_t>> blocks{{first, 64}};
    for (std::size_t bytes = 64; pool.bytes() == separate_pages_bytes; bytes = bytes % 1024 + 64) {
        blocks.emplace_back(tree.allocate(bytes), bytes);
    }
    EXPECT_GT(blocks.size(), 10u);
    const auto address = [](const auto& block) { return reinterpret_cast<std::uintptr_t>(block.first); };
    const auto [low, high] = std::ranges::minmax(std::vector(blocks.begin(), blocks.end() - 1), {}, address);
    EXPECT_LT(address(high) - address(low), separate_pages_bytes);
    const PagesByNode found = pool.pages();
    std::uint64_t known = found.unknown;
    for (const std::uint64_t bytes : found.on_node) known += bytes;
    EXPECT_GE(known, page_bytes());
    for (const auto& [block, bytes] : blocks) tree.deallocate(block, bytes);
}

TEST(NodePool, SurvivesRandomCallsOfSeveralThreads) {
    MemoryAccount account = make_account();
    NodePool pool(account, account.purpose("unused"), {.node = 0});
    NodeMemory tree(account, account.purpose("tree"), {.node = 0, .pool = &pool});
    constexpr std::size_t threads = 4;
    std::vector<std::vector<Block>> kept(threads);
    {
        std::vector<std::jthread> team;
        for (std::size_t thread = 0; thread < threads; ++thread) {
            team.emplace_back([&, thread] {
                std::mt19937 random(static_cast<unsigned>(thread));
                std::vector<Block>& mine = kept[thread];
                for (int call = 0; call < 3000; ++call) {
                    if (mine.empty() || random() % 5 < 3) {
                        mine.push_back(allocate_marked(tree, random));
                        continue;
                    }
                    std::swap(mine[random() % mine.size()], mine.back());
                    EXPECT_TRUE(is_whole(mine.back()));
                    tree.deallocate(mine.back().begin, mine.back().bytes, mine.back().alignment);
                    mine.pop_back();
                }
            });
        }
    }
    std::uint64_t bytes = 0;
    for (const std::vector<Block>& of_thread : kept) {
        for (const Block& block : of_thread) {
            EXPECT_TRUE(is_whole(block));
            bytes += block.bytes;
        }
    }
    EXPECT_EQ(account.bytes(account.purpose("tree")), bytes);
    // Any thread may deallocate.
    for (const std::vector<Block>& of_thread : kept) {
        for (const Block& block : of_thread) tree.deallocate(block.begin, block.bytes, block.alignment);
    }
    EXPECT_EQ(account.bytes(account.purpose("tree")), 0u);
    EXPECT_EQ(account.bytes(), pool.bytes());
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel

namespace ranvier::engine {

using namespace network;
namespace TEST_FILE {

std::uint64_t bytes_of_pools(const Simulation& simulation) {
    for (const MemoryItem& item : simulation.memory()) {
        if (item.component == "pools") return item.bytes;
    }
    return 0;
}

TEST(SmallBlocks, OfWorkersComeFromPoolsIfChosen) {
    const auto simulate = [](const char* small_blocks) {
        Network network{0.1, 3};
        const PopulationId cells = network.create("iaf_psc_exp", 60, "cells", {});
        add_projection(network, {cells, 0, 60}, {cells, 0, 60}, {"fixed_indegree", {{"indegree", 10}}}, 1.0, 1.5);
        add_stimulus(network, {cells, 0, 60}, "poisson_generator", {{"rate", 9000.0}}, {}, 60.0, 1.5);
        add_spike_recorder(network, {{cells, 0, 60}});
        auto simulation = std::make_unique<Simulation>(std::move(network),
                                                       SimulationOptions{.threads = 2, .small_blocks = small_blocks});
        simulation->run(1000);
        return simulation;
    };
    const auto on_heap = simulate("heap");
    const auto in_pools = simulate("pool");
    EXPECT_EQ(bytes_of_pools(*on_heap), 0u);
    EXPECT_GT(bytes_of_pools(*in_pools), 0u);
    // Blocks of each of a dozen sizes take a few pages of each worker.
    EXPECT_LT(bytes_of_pools(*in_pools), 2 * 3 * separate_pages_bytes);
    const auto spikes = on_heap->take_spikes(0);
    EXPECT_GT(spikes.steps.size(), 0u);
    EXPECT_EQ(spikes.steps, in_pools->take_spikes(0).steps);
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
