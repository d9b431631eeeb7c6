#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "comm/mpi/host_barrier.hpp"
#include "comm/mpi/host_memory.hpp"

namespace ranvier::comm::mpi {
namespace TEST_FILE {

using namespace std::chrono_literals;

/// So many processes of a host, which are threads here: the memory is mapped once for each.
struct Barriers {
    explicit Barriers(std::uint32_t processes) : memories(processes), barriers(processes) {
        const HostMemory::Address address = memories[0].make(HostBarrier::memory_bytes());
        for (std::uint32_t i = 1; i < processes; ++i) {
            EXPECT_TRUE(memories[i].join(address, HostBarrier::memory_bytes()));
        }
        for (std::uint32_t i = 0; i < processes; ++i) barriers[i].begin(memories[i].bytes(), processes);
    }
    HostBarrier* operator[](std::uint32_t process) { return &barriers[process]; }

    std::deque<HostMemory> memories;
    std::deque<HostBarrier> barriers;
};

TEST(HostBarrier, IsCompleteWhenAllHaveCome) {
    Barriers barriers(3);
    const std::uint64_t first = barriers[0]->arrive();
    EXPECT_FALSE(barriers[0]->all_arrived(first));
    EXPECT_EQ(barriers[1]->arrive(), first);
    EXPECT_FALSE(barriers[1]->all_arrived(first));
    EXPECT_EQ(barriers[2]->arrive(), first);
    for (const HostBarrier& host_barrier : barriers.barriers) EXPECT_TRUE(host_barrier.all_arrived(first));
    EXPECT_FALSE(barriers[1]->all_arrived(barriers[1]->arrive()));
}

TEST(HostBarrier, IsClosedWithoutOthers) {
    HostBarrier host_barrier;
    EXPECT_FALSE(host_barrier.is_open());
    HostMemory memory;
    memory.make(HostBarrier::memory_bytes());
    host_barrier.begin(memory.bytes(), 1);
    EXPECT_FALSE(host_barrier.is_open());
}

TEST(HostMemory, IsZeroAtFirstAndShared) {
    constexpr std::size_t bytes = 3 << 20;
    HostMemory maker;
    HostMemory other;
    ASSERT_TRUE(other.join(maker.make(bytes), bytes));
    EXPECT_EQ(maker.bytes().size(), bytes);
    EXPECT_EQ(other.bytes().size(), bytes);
    EXPECT_NE(maker.bytes().data(), other.bytes().data());
    for (const std::byte byte : other.bytes()) ASSERT_EQ(byte, std::byte{0});
    maker.bytes().back() = std::byte{7};
    EXPECT_EQ(other.bytes().back(), std::byte{7});
    maker.close();
    maker.bytes().front() = std::byte{8};
    EXPECT_EQ(other.bytes().front(), std::byte{8});
}

TEST(HostMemory, IsNotFoundElsewhere) {
    constexpr std::size_t bytes = 1000;
    HostMemory maker;
    using Address = HostMemory::Address;
    const Address right = maker.make(bytes);
    ASSERT_NE(right.process, 0);
    for (const Address wrong : {Address{}, Address{.process = right.process, .file = 1'000'000, .secret = right.secret},
                                Address{.process = right.process, .file = 0, .secret = right.secret},
                                Address{.process = 1'000'000'000, .file = right.file, .secret = right.secret},
                                Address{.process = -1, .file = right.file, .secret = right.secret},
                                Address{.process = right.process, .file = right.file, .secret = 0}}) {
        HostMemory memory;
        EXPECT_FALSE(memory.join(wrong, bytes));
    }
    HostMemory memory;
    EXPECT_FALSE(memory.join(right, bytes + 1));
}

/// Whether a thread of this process waits for something, as the system tells.
bool is_asleep(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] == 'S';
}

TEST(HostBarrier, LastOneWakesTheOthers) {
    Barriers barriers(2);
    std::atomic<pid_t> thread = 0;
    std::thread sleeper([&] {
        thread = static_cast<pid_t>(::syscall(SYS_gettid));
        const std::uint64_t arrivals = barriers[0]->arrive();
        // Without being woken it would sleep for longer than the test may take.
        while (!barriers[0]->all_arrived(arrivals)) barriers[0]->sleep(arrivals, 1h);
    });
    // One of two has come, and sleeps.
    while (!barriers[1]->all_arrived(1) || !is_asleep(thread)) std::this_thread::sleep_for(1ms);
    barriers[1]->arrive();
    sleeper.join();
    EXPECT_GT(barriers[0]->seconds_asleep(), 0.0);
    EXPECT_EQ(barriers[1]->seconds_asleep(), 0.0);
}

TEST(HostBarrier, SleepsNoLongerThanAllowed) {
    Barriers barriers(2);
    const std::uint64_t arrivals = barriers[0]->arrive();
    barriers[0]->sleep(arrivals, 1ms);
    EXPECT_FALSE(barriers[0]->all_arrived(arrivals));
}

TEST(HostBarrier, NobodyMissesTheOthersInManyMeetings) {
    constexpr std::uint32_t processes = 4;
    constexpr int rounds = 3000;
    Barriers barriers(processes);
    std::array<std::atomic<int>, processes> reached{};
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < processes; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 1; round <= rounds; ++round) {
                reached[i].store(round);
                const std::uint64_t arrivals = barriers[i]->arrive();
                while (!barriers[i]->all_arrived(arrivals)) barriers[i]->sleep(arrivals, 1h);
                for (const auto& other : reached) EXPECT_GE(other.load(), round);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST(HostBarrier, WhoRunsAheadLeavesNobodyAsleep) {
    Barriers barriers(2);
    std::thread sleeper([&] {
        for (int i = 0; i < 100; ++i) {
            const std::uint64_t arrivals = barriers[0]->arrive();
            while (!barriers[0]->all_arrived(arrivals)) barriers[0]->sleep(arrivals, 1h);
        }
    });
    for (int i = 0; i < 100; ++i) barriers[1]->arrive();
    sleeper.join();
}

TEST(HostBarrier, WorksBetweenProcesses) {
    constexpr std::size_t bytes = HostBarrier::memory_bytes();
    HostMemory memory;
    const HostMemory::Address address = memory.make(bytes);
    std::array<int, 2> joined{};
    ASSERT_EQ(::pipe(joined.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        HostMemory joining;
        const char found = joining.join(address, bytes) ? 1 : 0;
        if (::write(joined[1], &found, 1) != 1 || found == 0) ::_exit(1);
        HostBarrier host_barrier;
        host_barrier.begin(joining.bytes(), 2);
        const std::uint64_t arrivals = host_barrier.arrive();
        while (!host_barrier.all_arrived(arrivals)) host_barrier.sleep(arrivals, 1h);
        ::_exit(0);
    }
    char found = 0;
    ASSERT_EQ(::read(joined[0], &found, 1), 1);
    ASSERT_EQ(found, 1);
    HostBarrier parent;
    parent.begin(memory.bytes(), 2);
    parent.arrive();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    for (const int end : joined) ::close(end);
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm::mpi
