// Memory that lies near its owner, the account of it, and where pages really are.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory_resource>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/aligned_array.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/page_memory.hpp"
#include "ranvier/parallel/memory.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

constexpr std::uint32_t missing_node = 7;

MemoryAccount make_account(std::uint32_t nodes = 1) { return {{"tables", "state"}, nodes}; }

/// Of the account: what a list of entries says about a node and a purpose.
MemoryAccount::Entry entry(const MemoryAccount& account, std::uint32_t node, std::string_view purpose) {
    for (const MemoryAccount::Entry& entry : account.entries()) {
        if (entry.node == node && entry.purpose == account.purpose(purpose)) return entry;
    }
    return {.node = node, .purpose = account.purpose(purpose)};
}

std::uint64_t on_all_nodes(const PagesByNode& pages) {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : pages.on_node) sum += bytes;
    return sum;
}

// ---- the account -----------------------------------------------------------------------------------------------------

TEST(Account, CountsByNodeAndPurpose) {
    MemoryAccount account = make_account(2);
    const MemoryPurpose tables = account.purpose("tables");
    const MemoryPurpose state = account.purpose("state");
    EXPECT_TRUE(account.entries().empty());
    account.add(1, tables, 100);
    account.add(0, state, 7);
    account.add(any_node, state, 30);
    account.remove(1, tables, 60);
    account.add(1, tables, 10);
    const std::vector<MemoryAccount::Entry> expected{{0, state, 7, 7}, {1, tables, 50, 100}, {any_node, state, 30, 30}};
    EXPECT_EQ(account.entries(), expected);
    EXPECT_EQ(account.bytes(tables), 50u);
    EXPECT_EQ(account.bytes(state), 37u);
    EXPECT_EQ(account.bytes(), 87u);
    EXPECT_EQ(account.most_bytes(), 137u);
    // Memory that was given back still counts in `most`.
    account.remove(0, state, 7);
    EXPECT_EQ(entry(account, 0, "state").most, 7u);
    EXPECT_EQ(account.entries().size(), 3u);
}

TEST(Account, RefusesWhatItDoesNotCount) {
    MemoryAccount account = make_account(2);
    try {
        static_cast<void>(account.purpose("stat"));
        FAIL() << "a purpose was found that there is not";
    } catch (const UnknownNameError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'state'"), std::string::npos) << error.what();
    }
    EXPECT_NO_THROW(account.check_node(1));
    EXPECT_NO_THROW(account.check_node(any_node));
    EXPECT_THROW(account.check_node(2), ValueOutOfBoundsError);
    EXPECT_THROW(NodeMemory(account, account.purpose("state"), {.node = 2}), ValueOutOfBoundsError);
}

// ---- allocation ------------------------------------------------------------------------------------------------------

TEST(Memory, CountsBlocksWhileTheyAreThere) {
    MemoryAccount account = make_account();
    NodeMemory tables(account, account.purpose("tables"), {.node = 0});
    NodeMemory state(account, account.purpose("state"));
    void* const small = state.allocate(1000, 8);
    void* const large = tables.allocate(separate_pages_bytes + 1, 8);
    EXPECT_EQ(state.bytes(), 1000u);
    EXPECT_EQ(tables.bytes(), separate_pages_bytes + page_bytes());
    EXPECT_EQ(entry(account, any_node, "state").bytes, 1000u);
    EXPECT_EQ(entry(account, 0, "tables").bytes, separate_pages_bytes + page_bytes());
    EXPECT_EQ(account.bytes(), 1000 + separate_pages_bytes + page_bytes());
    state.deallocate(small, 1000, 8);
    tables.deallocate(large, separate_pages_bytes + 1, 8);
    EXPECT_EQ(account.bytes(), 0u);
    EXPECT_EQ(account.most_bytes(), 1000 + separate_pages_bytes + page_bytes());
}

TEST(Memory, IsAlignedAsAskedForAndAtLeastToALine) {
    MemoryAccount account = make_account();
    NodeMemory memory(account, account.purpose("tables"));
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, separate_pages_bytes - 1, separate_pages_bytes,
                                    huge_page_bytes - 1, huge_page_bytes, 3 * huge_page_bytes + 5}) {
        for (std::size_t alignment = 1; alignment <= 4 * huge_page_bytes; alignment *= 2) {
            void* const block = memory.allocate(bytes, alignment);
            std::size_t least = line_bytes;
            if (bytes >= separate_pages_bytes) least = page_bytes();
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % std::max(least, alignment), 0u)
                << bytes << " bytes at " << alignment;
            // All of it is there, and what lies around it has been given back without it.
            std::memset(block, 0xA5, bytes);
            memory.deallocate(block, bytes, alignment);
        }
    }
    EXPECT_EQ(account.bytes(), 0u);
}

TEST(Memory, GrowsWithContainers) {
    MemoryAccount account = make_account();
    NodeMemory memory(account, account.purpose("state"));
    {
        std::pmr::vector<std::uint64_t> values(&memory);
        for (std::uint64_t i = 0; i < 100'000; ++i) values.push_back(i);
        AlignedVector<float> aligned(10'000, 1.0F, &memory);
        Buffer<std::uint32_t> buffer(1000, &memory);
        Buffer<std::uint32_t> moved;
        moved = std::move(buffer);
        EXPECT_EQ(memory.bytes(), whole_pages(values.capacity() * 8) + aligned.capacity() * 4 + 4000);
        for (std::uint64_t i = 0; i < 100'000; ++i) ASSERT_EQ(values[i], i);
    }
    EXPECT_EQ(account.bytes(), 0u);
}

TEST(Memory, CountsExactlyFromManyThreads) {
    MemoryAccount account = make_account();
    NodeMemory memory(account, account.purpose("tables"), {.node = 0});
    NodeMemory other(account, account.purpose("tables"));
    struct Block {
        std::pmr::memory_resource* from;
        void* begin;
        std::size_t bytes;
    };
    constexpr unsigned threads = 8;
    std::vector<std::vector<Block>> kept(threads);
    std::vector<std::thread> workers;
    for (unsigned worker = 0; worker < threads; ++worker) {
        workers.emplace_back([&, worker] {
            std::mt19937 random(worker);
            for (int turn = 0; turn < 2000; ++turn) {
                if (!kept[worker].empty() && random() % 3 == 0) {
                    const Block block = kept[worker].back();
                    kept[worker].pop_back();
                    block.from->deallocate(block.begin, block.bytes, 16);
                    continue;
                }
                // Some are pages of their own.
                const std::size_t bytes =
                    random() % 20 == 0 ? separate_pages_bytes + random() % 100'000 : random() % 5000;
                std::pmr::memory_resource* const from = turn % 2 == 0 ? &memory : &other;
                void* const begin = from->allocate(bytes, 16);
                if (bytes > 0) *static_cast<char*>(begin) = 1;
                kept[worker].push_back({from, begin, bytes});
                if (turn % 100 == 0) static_cast<void>(account.entries());
            }
        });
    }
    for (std::thread& worker : workers) worker.join();
    std::uint64_t expected[2] = {0, 0};
    for (const auto& blocks : kept) {
        for (const Block& block : blocks) {
            expected[block.from == &memory ? 0 : 1] +=
                block.bytes < separate_pages_bytes ? block.bytes : whole_pages(block.bytes);
        }
    }
    EXPECT_EQ(memory.bytes(), expected[0]);
    EXPECT_EQ(other.bytes(), expected[1]);
    EXPECT_EQ(entry(account, 0, "tables").bytes, expected[0]);
    EXPECT_EQ(entry(account, any_node, "tables").bytes, expected[1]);
    EXPECT_EQ(account.bytes(), expected[0] + expected[1]);
    EXPECT_GE(account.most_bytes(), account.bytes());
    // Any thread may free: here one that has allocated nothing.
    for (const auto& blocks : kept) {
        for (const Block& block : blocks) block.from->deallocate(block.begin, block.bytes, 16);
    }
    EXPECT_EQ(memory.bytes() + other.bytes(), 0u);
    EXPECT_EQ(account.bytes(), 0u);
}

TEST(Memory, CountsNothingWhenThereIsNone) {
    MemoryAccount account = make_account();
    NodeMemory memory(account, account.purpose("tables"));
    // More than any address space, more than this one, and so much that rounding it up would wrap round.
    for (const std::size_t bytes : {std::size_t{1} << 60, std::size_t{1} << 47, SIZE_MAX - 100}) {
        EXPECT_THROW(static_cast<void>(memory.allocate(bytes, 64)), std::bad_alloc) << bytes;
        EXPECT_THROW(Buffer<std::uint64_t>(bytes, &memory), std::bad_alloc) << bytes;
    }
    EXPECT_EQ(memory.bytes(), 0u);
    EXPECT_TRUE(account.entries().empty());
    EXPECT_EQ(account.most_bytes(), 0u);
}

// ---- where pages are -------------------------------------------------------------------------------------------------

TEST(Pages, LieNowhereUntilTheyAreTouched) {
    MemoryAccount account = make_account(node_count());
    NodeMemory memory(account, account.purpose("tables"), {.node = current_node(), .huge_pages = false});
    const std::size_t bytes = 100 * page_bytes();
    auto* const block = static_cast<char*>(memory.allocate(bytes, 64));
    const PagesByNode before = memory.pages();
    if (before.unknown > 0) {
        EXPECT_EQ(before.unknown, bytes);
        memory.deallocate(block, bytes, 64);
        GTEST_SKIP() << "the system does not tell where pages are";
    }
    EXPECT_EQ(before.untouched, bytes);
    EXPECT_EQ(on_all_nodes(before), 0u);
    std::memset(block, 1, 30 * page_bytes());
    const PagesByNode after = memory.pages();
    EXPECT_EQ(on_all_nodes(after), 30 * page_bytes());
    EXPECT_EQ(after.untouched, 70 * page_bytes());
    // A part of the pages stands for all of them.
    const PagesByNode sampled = memory.pages(10);
    EXPECT_EQ(on_all_nodes(sampled), 30 * page_bytes());
    EXPECT_EQ(sampled.untouched, 70 * page_bytes());
    const PagesByNode rough = memory.pages(7);
    EXPECT_EQ(on_all_nodes(rough) + rough.untouched, bytes);
    memory.deallocate(block, bytes, 64);
    EXPECT_EQ(on_all_nodes(memory.pages()) + memory.pages().untouched, 0u);
}

TEST(Pages, AreBoundToTheNode) {
    MemoryAccount account = make_account(node_count());
    NodeMemory memory(account, account.purpose("tables"), {.node = 0, .placement = PagePlacement::bound});
    if (!memory.note().empty()) GTEST_SKIP() << memory.note();
    int policies_seen = 0;
    for (const std::size_t bytes : {separate_pages_bytes, 3 * huge_page_bytes + 12345}) {
        Buffer<char> buffer(bytes, &memory);
        std::memset(buffer.data(), 1, bytes);
        const PagesByNode pages = memory.pages();
        if (pages.unknown > 0) GTEST_SKIP() << "the system does not tell where pages are";
        ASSERT_GE(pages.on_node.size(), 1u);
        EXPECT_EQ(pages.on_node[0], whole_pages(bytes));
        EXPECT_EQ(on_all_nodes(pages) + pages.untouched, whole_pages(bytes));
        // With a single node they lie there anyway: the system shows that they have been asked to.
        std::ifstream maps("/proc/self/numa_maps");
        for (std::string line; std::getline(maps, line);) {
            if (std::strtoull(line.c_str(), nullptr, 16) != reinterpret_cast<std::uintptr_t>(buffer.data())) continue;
            EXPECT_NE(line.find("prefer"), std::string::npos) << line;
            policies_seen += 1;
        }
    }
    EXPECT_EQ(policies_seen, std::ifstream("/proc/self/numa_maps").good() ? 2 : 0);
}

TEST(Pages, AreNotBoundToANodeThatIsNotThere) {
    ASSERT_LT(node_count(), missing_node) << "this machine has more nodes than the test thinks";
    MemoryAccount account = make_account(16);
    const auto bind_to = [&](std::uint32_t node) {
        NodeMemory memory(account, account.purpose("tables"), {.node = node, .placement = PagePlacement::bound});
        return memory.note();
    };
    if (!bind_to(0).empty()) GTEST_SKIP() << bind_to(0);
    try {
        bind_to(missing_node);
        FAIL() << "pages were bound to a node that there is not";
    } catch (const ValueOutOfBoundsError& error) {
        EXPECT_EQ(error.fields().value, "7");
        EXPECT_FALSE(error.fields().remedy.empty());
    }
    EXPECT_THROW(bind_to(any_node), ValueOutOfBoundsError);
    // With first touch, the node is no more than a name, which may be that of a made-up machine.
    NodeMemory memory(account, account.purpose("tables"), {.node = missing_node});
    Buffer<int> buffer(100'000, &memory);
    buffer[0] = 1;
    EXPECT_EQ(entry(account, missing_node, "tables").bytes, whole_pages(400'000));
}

/// Lets the system refuse what some containers refuse: to bind pages, and to tell where they are. For good.
bool refuse_placement() {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_move_pages, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{.len = std::size(rules), .filter = rules};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// In a process that the system refuses to place pages in: 0 if all is as it should be, else which of these is not.
int place_without_permission() {
    if (!refuse_placement()) return 99;
    MemoryAccount account = make_account();
    NodeMemory memory(account, account.purpose("tables"), {.node = 0, .placement = PagePlacement::bound});
    if (memory.note().find("first touch") == std::string::npos) return 1;
    Buffer<char> buffer(huge_page_bytes, &memory);
    std::memset(buffer.data(), 1, buffer.size());
    if (entry(account, 0, "tables").bytes != huge_page_bytes) return 2;
    const PagesByNode pages = memory.pages();
    return pages.unknown == huge_page_bytes && pages.on_node.empty() && pages.untouched == 0 ? 0 : 3;
}

TEST(PagesDeathTest, AreLeftToFirstTouchWhereTheSystemRefusesMore) {
    EXPECT_EXIT(std::_Exit(place_without_permission()), testing::ExitedWithCode(0), "");
}

TEST(Pages, AreOnTheNodeOfTheThread) {
    EXPECT_LT(current_node(), node_count());
    MemoryAccount account = make_account(node_count());
    NodeMemory memory(account, account.purpose("tables"), {.node = 0});
    Buffer<char> buffer(huge_page_bytes, &memory);
    std::memset(buffer.data(), 1, buffer.size());
    const PagesByNode pages = memory.pages();
    EXPECT_EQ(on_all_nodes(pages) + pages.unknown, huge_page_bytes);
    EXPECT_LE(pages.on_node.size(), node_count());
}

/// Kilobytes of huge pages within the mapping that begins at an address.
std::uint64_t huge_kilobytes(const void* begin) {
    std::ifstream file("/proc/self/smaps");
    bool within = false;
    for (std::string line; std::getline(file, line);) {
        if (line.find('-') != std::string::npos && line.find(':') > line.find('-')) {
            within = std::strtoull(line.c_str(), nullptr, 16) == reinterpret_cast<std::uintptr_t>(begin);
        }
        if (within && line.starts_with("AnonHugePages:")) return std::stoull(line.substr(14));
    }
    return 0;
}

TEST(Pages, AreHugeWhereAskedForAndSmallOtherwise) {
    std::string setting;
    std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), setting);
    if (setting.find("[madvise]") == std::string::npos)
        GTEST_SKIP() << "huge pages are not ours to choose: " << setting;
    MemoryAccount account = make_account();
    for (const bool huge : {true, false}) {
        NodeMemory memory(account, account.purpose("tables"), {.huge_pages = huge});
        // Beside it, so that the mapping cannot be joined with others.
        Buffer<char> buffer(4 * huge_page_bytes, &memory);
        std::memset(buffer.data(), 1, buffer.size());
        if (huge) {
            // The system may be out of huge pages, but hardly of all four.
            EXPECT_GE(huge_kilobytes(buffer.data()), 2048u);
        } else {
            EXPECT_EQ(huge_kilobytes(buffer.data()), 0u);
        }
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
