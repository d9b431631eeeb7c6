#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "parallel/memory_room.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

/// A file system of a machine with 1 GB available, in a temporary folder.
class MemoryRoomTest : public testing::Test {
   protected:
    MemoryRoomTest()
        : root_(std::filesystem::path(testing::TempDir()) / ("memory_room_" + std::to_string(::getpid()))) {
        std::filesystem::remove_all(root_);
        write("proc/meminfo", "MemTotal:  9000000 kB\nMemFree:  500000 kB\nMemAvailable:  1000000 kB");
    }
    ~MemoryRoomTest() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << "\n";
    }
    std::uint64_t shared() const { return memory_room(root_).shared; }
    std::uint64_t own() const { return memory_room(root_).process; }

    static constexpr std::uint64_t machine = 1'024'000'000;

    std::filesystem::path root_;
};

constexpr const char* second_version = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw";
constexpr const char* first_version = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";

TEST_F(MemoryRoomTest, IsWhatTheMachineHas) {
    EXPECT_EQ(shared(), machine);
    EXPECT_EQ(own(), UINT64_MAX);
}

TEST_F(MemoryRoomTest, HasNoBoundWhereNothingCanBeRead) {
    std::filesystem::remove_all(root_);
    EXPECT_EQ(shared(), UINT64_MAX);
    EXPECT_EQ(own(), UINT64_MAX);
}

TEST_F(MemoryRoomTest, IsThatOfTheTightestGroupAbove) {
    write("proc/self/cgroup", "0::/user.slice/job/step");
    write("proc/self/mountinfo", second_version);
    write("sys/fs/cgroup/user.slice/job/step/memory.max", "max");
    write("sys/fs/cgroup/user.slice/job/step/memory.current", "1000");
    EXPECT_EQ(shared(), machine);
    write("sys/fs/cgroup/user.slice/job/memory.max", "400000000");
    write("sys/fs/cgroup/user.slice/job/memory.current", "150000000");
    EXPECT_EQ(shared(), 250'000'000u);
    write("sys/fs/cgroup/user.slice/memory.max", "500000000");
    write("sys/fs/cgroup/user.slice/memory.current", "499000000");
    EXPECT_EQ(shared(), 1'000'000u);
    // More than is granted, as it can be for a moment.
    write("sys/fs/cgroup/user.slice/memory.current", "500000001");
    EXPECT_EQ(shared(), 0u);
    // The bounds of other groups do not count.
    write("sys/fs/cgroup/other/memory.max", "1");
    write("sys/fs/cgroup/other/memory.current", "1");
    write("sys/fs/cgroup/user.slice/memory.max", "max");
    EXPECT_EQ(shared(), 250'000'000u);
}

TEST_F(MemoryRoomTest, EndsWhereAGroupIsSlowedDown) {
    write("proc/self/cgroup", "0::/job");
    write("proc/self/mountinfo", second_version);
    write("sys/fs/cgroup/job/memory.max", "400000000");
    write("sys/fs/cgroup/job/memory.high", "300000000");
    write("sys/fs/cgroup/job/memory.current", "100000000");
    EXPECT_EQ(shared(), 200'000'000u);
}

TEST_F(MemoryRoomTest, CountsCachedFilesAsFree) {
    write("proc/self/cgroup", "0::/job");
    write("proc/self/mountinfo", second_version);
    write("sys/fs/cgroup/job/memory.max", "400000000");
    write("sys/fs/cgroup/job/memory.current", "390000000");
    write("sys/fs/cgroup/job/memory.stat",
          "anon 80000000\nfile 300000000\ninactive_file 200000000\nactive_file 100000000\nfile_dirty 30000000\n"
          "file_writeback 10000000\nslab_reclaimable 5000000");
    EXPECT_EQ(shared(), 275'000'000u);
    // Never more than all of it.
    write("sys/fs/cgroup/job/memory.current", "1000");
    EXPECT_EQ(shared(), 400'000'000u);
}

TEST_F(MemoryRoomTest, IsReadOfTheFirstVersion) {
    write("proc/self/cgroup", "12:cpuset:/other\n4:memory:/slurm/job");
    write("proc/self/mountinfo", first_version);
    const std::string job = "sys/fs/cgroup/memory/slurm/job/";
    write(job + "memory.limit_in_bytes", "9223372036854771712");
    write(job + "memory.usage_in_bytes", "150000000");
    write(job + "memory.stat",
          "inactive_file 1\nhierarchical_memory_limit 9223372036854771712\ntotal_inactive_file 40000000\n"
          "total_active_file 10000000\ntotal_dirty 1000000\ntotal_writeback 0");
    EXPECT_EQ(shared(), machine);
    write("sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "800000000");
    write("sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "500000000");
    EXPECT_EQ(shared(), 300'000'000u);
    write(job + "memory.limit_in_bytes", "200000000");
    EXPECT_EQ(shared(), 99'000'000u);
}

TEST_F(MemoryRoomTest, KnowsGroupsThatAContainerCannotSee) {
    write("proc/self/cgroup", "4:memory:/docker/box");
    write("proc/self/mountinfo", "35 31 0:32 /docker/box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", "100000000");
    write("sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 250000000");
    EXPECT_EQ(shared(), 150'000'000u);
}

TEST_F(MemoryRoomTest, IsBoundedByLimitsOfTheProcess) {
    const auto limits = [&](const std::string& data, const std::string& addresses) {
        write("proc/self/limits",
              "Limit                     Soft Limit           Hard Limit           Units\n"
              "Max data size             " +
                  data +
                  "            unlimited            bytes\n"
                  "Max address space         " +
                  addresses + "            unlimited            bytes");
    };
    write("proc/self/status", "VmPeak:\t  700000 kB\nVmSize:\t  600000 kB\nVmData:\t  200000 kB");
    limits("unlimited", "unlimited");
    EXPECT_EQ(own(), UINT64_MAX);
    limits("unlimited", "1024000000");
    EXPECT_EQ(own(), 400'000u * 1024);
    limits("307200000", "1024000000");
    EXPECT_EQ(own(), 100'000u * 1024);
    limits("1024", "unlimited");
    EXPECT_EQ(own(), 0u);
}

TEST(MemoryRoom, IsSharedByTheProcessesOfAHost) {
    EXPECT_EQ((MemoryRoom{.shared = 800, .process = 300}.of_one(1)), 300u);
    EXPECT_EQ((MemoryRoom{.shared = 800, .process = 300}.of_one(4)), 200u);
    EXPECT_EQ((MemoryRoom{.shared = 800, .process = 300}.of_one(0)), 300u);
    EXPECT_EQ(MemoryRoom{}.of_one(1000), UINT64_MAX);
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
