#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "parallel/processor_quota.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

/// A file system of a machine with control groups, in a temporary folder.
class ProcessorQuota : public testing::Test {
   protected:
    ProcessorQuota()
        : root_(std::filesystem::path(testing::TempDir()) / ("processor_quota_" + std::to_string(::getpid()))) {
        std::filesystem::remove_all(root_);
    }
    ~ProcessorQuota() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << "\n";
    }
    std::optional<std::uint32_t> quota() const { return processor_quota(root_); }

    std::filesystem::path root_;
};

constexpr const char* second_version =
    "24 1 0:22 / /proc rw,nosuid - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate";

TEST_F(ProcessorQuota, IsNoneWhereNothingCanBeRead) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(ProcessorQuota, IsNoneWithoutBound) {
    write("proc/self/cgroup", "0::/job");
    write("proc/self/mountinfo", second_version);
    EXPECT_EQ(quota(), std::nullopt);
    write("sys/fs/cgroup/job/cpu.max", "max 100000");
    EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(ProcessorQuota, IsThatOfAContainer) {
    // A container with a namespace of its own is the highest group that it sees.
    write("proc/self/cgroup", "0::/");
    write("proc/self/mountinfo", second_version);
    write("sys/fs/cgroup/cpu.max", "200000 100000");
    EXPECT_EQ(quota(), 2u);
}

TEST_F(ProcessorQuota, IsRoundedUp) {
    write("proc/self/cgroup", "0::/");
    write("proc/self/mountinfo", second_version);
    for (const auto& [text, processors] : {std::pair("150000 100000", 2u), {"1000 100000", 1u}, {"300000 50000", 6u}}) {
        write("sys/fs/cgroup/cpu.max", text);
        EXPECT_EQ(quota(), processors) << text;
    }
}

TEST_F(ProcessorQuota, IsTheTightestOfAllGroupsAbove) {
    write("proc/self/cgroup", "0::/system.slice/job/step");
    write("proc/self/mountinfo", second_version);
    write("sys/fs/cgroup/system.slice/job/step/cpu.max", "max 100000");
    write("sys/fs/cgroup/system.slice/job/cpu.max", "800000 100000");
    EXPECT_EQ(quota(), 8u);
    write("sys/fs/cgroup/system.slice/cpu.max", "300000 100000");
    EXPECT_EQ(quota(), 3u);
    write("sys/fs/cgroup/system.slice/job/step/cpu.max", "100000 100000");
    EXPECT_EQ(quota(), 1u);
    // The bound of another group does not count, nor does one outside of the hierarchy.
    write("sys/fs/cgroup/other/cpu.max", "1000 100000");
    write("sys/fs/cpu.max", "1000 100000");
    write("sys/fs/cgroup/system.slice/job/step/cpu.max", "500000 100000");
    EXPECT_EQ(quota(), 3u);
}

TEST_F(ProcessorQuota, IsReadOfTheFirstVersion) {
    write("proc/self/cgroup", "12:cpuset:/other\n4:cpu,cpuacct:/docker/box\n0::/ignored");
    write("proc/self/mountinfo",
          "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
          "34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct");
    write("sys/fs/cgroup/cpu,cpuacct/docker/box/cpu.cfs_quota_us", "-1");
    write("sys/fs/cgroup/cpu,cpuacct/docker/box/cpu.cfs_period_us", "100000");
    EXPECT_EQ(quota(), std::nullopt);
    write("sys/fs/cgroup/cpu,cpuacct/docker/box/cpu.cfs_quota_us", "250000");
    EXPECT_EQ(quota(), 3u);
    write("sys/fs/cgroup/cpuset/other/cpu.cfs_quota_us", "100000");
    write("sys/fs/cgroup/cpuset/other/cpu.cfs_period_us", "100000");
    EXPECT_EQ(quota(), 3u);
}

TEST_F(ProcessorQuota, IsFoundWhereAContainerSeesItsGroupAsTheHighest) {
    // Without a namespace of its own, the process is told the path on the host, of which a part is mounted.
    write("proc/self/cgroup", "0::/docker/box/inner");
    write("proc/self/mountinfo", "30 23 0:26 /docker/box /sys/fs/cgroup\\040v2 ro - cgroup2 cgroup rw");
    write("sys/fs/cgroup v2/cpu.max", "400000 100000");
    EXPECT_EQ(quota(), 4u);
    write("sys/fs/cgroup v2/inner/cpu.max", "200000 100000");
    EXPECT_EQ(quota(), 2u);
    // A path that leads out of what is mounted.
    write("proc/self/cgroup", "0::/../elsewhere");
    EXPECT_EQ(quota(), 4u);
}

TEST(DefaultThreads, AreAsManyAsTheQuotaPaysFor) {
    EXPECT_EQ(default_threads(64, {}), 64u);
    EXPECT_EQ(default_threads(64, 2), 2u);
    EXPECT_EQ(default_threads(2, 64), 2u);
    EXPECT_EQ(default_threads(0, {}), 1u);
    // Four processes of a host that share a quota of six.
    EXPECT_EQ(default_threads(16, 6, 4), 2u);
    EXPECT_EQ(default_threads(16, 2, 4), 1u);
    EXPECT_EQ(default_threads(1, 6, 4), 1u);
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
