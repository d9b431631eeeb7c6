#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "comm/mpi/host_barrier.hpp"

namespace ranvier::comm::mpi {
namespace TEST_FILE {

using namespace std::chrono_literals;

/// So many processes of a host, which are threads here: the memory is mapped once for each.
std::vector<std::unique_ptr<HostBarrier>> make_barriers(std::uint32_t processes) {
    std::vector<std::unique_ptr<HostBarrier>> barriers;
    for (std::uint32_t i = 0; i < processes; ++i) barriers.push_back(std::make_unique<HostBarrier>());
    const HostBarrier::Address address = barriers[0]->make();
    for (std::uint32_t i = 1; i < processes; ++i) EXPECT_TRUE(barriers[i]->join(address));
    for (const auto& host_barrier : barriers) host_barrier->begin(processes);
    return barriers;
}

TEST(HostBarrier, IsCompleteWhenAllHaveCome) {
    const auto barriers = make_barriers(3);
    const std::uint64_t first = barriers[0]->arrive();
    EXPECT_FALSE(barriers[0]->all_arrived(first));
    EXPECT_EQ(barriers[1]->arrive(), first);
    EXPECT_FALSE(barriers[1]->all_arrived(first));
    EXPECT_EQ(barriers[2]->arrive(), first);
    for (const auto& host_barrier : barriers) EXPECT_TRUE(host_barrier->all_arrived(first));
    EXPECT_FALSE(barriers[1]->all_arrived(barriers[1]->arrive()));
}

TEST(HostBarrier, IsClosedWithoutOthers) {
    HostBarrier host_barrier;
    EXPECT_FALSE(host_barrier.is_open());
    host_barrier.begin(1);
    EXPECT_FALSE(host_barrier.is_open());
    host_barrier.begin(0);
    EXPECT_FALSE(host_barrier.is_open());
}

TEST(HostBarrier, IsNotFoundElsewhere) {
    HostBarrier maker;
    const HostBarrier::Address right = maker.make();
    ASSERT_NE(right.process, 0);
    for (HostBarrier::Address wrong :
         {HostBarrier::Address{},
          HostBarrier::Address{.process = right.process, .file = 1'000'000, .secret = right.secret},
          HostBarrier::Address{.process = right.process, .file = 0, .secret = right.secret},
          HostBarrier::Address{.process = 1'000'000'000, .file = right.file, .secret = right.secret},
          HostBarrier::Address{.process = -1, .file = right.file, .secret = right.secret},
          HostBarrier::Address{.process = right.process, .file = right.file, .secret = 0}}) {
        HostBarrier host_barrier;
        EXPECT_FALSE(host_barrier.join(wrong));
    }
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
    const auto barriers = make_barriers(2);
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
    const auto barriers = make_barriers(2);
    const std::uint64_t arrivals = barriers[0]->arrive();
    barriers[0]->sleep(arrivals, 1ms);
    EXPECT_FALSE(barriers[0]->all_arrived(arrivals));
}

TEST(HostBarrier, NobodyMissesTheOthersInManyMeetings) {
    constexpr std::uint32_t processes = 4;
    constexpr int rounds = 3000;
    const auto barriers = make_barriers(processes);
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
    const auto barriers = make_barriers(2);
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
    HostBarrier parent;
    const HostBarrier::Address address = parent.make();
    std::array<int, 2> joined{};
    ASSERT_EQ(::pipe(joined.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        HostBarrier own;
        const char found = own.join(address) ? 1 : 0;
        if (::write(joined[1], &found, 1) != 1 || found == 0) ::_exit(1);
        own.begin(2);
        const std::uint64_t arrivals = own.arrive();
        while (!own.all_arrived(arrivals)) own.sleep(arrivals, 1h);
        ::_exit(0);
    }
    char found = 0;
    ASSERT_EQ(::read(joined[0], &found, 1), 1);
    ASSERT_EQ(found, 1);
    parent.begin(2);
    parent.arrive();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    for (const int end : joined) ::close(end);
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm::mpi
