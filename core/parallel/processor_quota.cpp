#include "parallel/processor_quota.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "parallel/control_groups.hpp"

namespace ranvier::parallel {

namespace {

namespace filesystem = std::filesystem;

/// Quota of one group in processors, rounded up, if it has one.
std::optional<std::uint32_t> quota_of_group(const filesystem::path& folder) {
    std::string quota_text;
    std::string period_text;
    if (!(std::ifstream(folder / "cpu.max") >> quota_text >> period_text)) {
        std::ifstream(folder / "cpu.cfs_quota_us") >> quota_text;
        std::ifstream(folder / "cpu.cfs_period_us") >> period_text;
    }
    const auto microseconds = [](const std::string& text) {
        // "max" and -1 mean no limit.
        const bool is_number = !text.empty() && text.size() < 18 && text.find_first_not_of("0123456789") == text.npos;
        return is_number ? std::stoull(text) : 0;
    };
    const std::uint64_t quota = microseconds(quota_text);
    const std::uint64_t period = microseconds(period_text);
    if (quota == 0 || period == 0) return {};
    const std::uint64_t processors = (quota + period - 1) / period;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(processors, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::optional<std::uint32_t> processor_quota(const filesystem::path& root) {
    std::optional<std::uint32_t> tightest;
    for (const filesystem::path& folder : control_groups("cpu", root)) {
        if (const auto quota = quota_of_group(folder)) tightest = std::min(tightest.value_or(*quota), *quota);
    }
    return tightest;
}

std::uint32_t default_threads(std::size_t processors, std::optional<std::uint32_t> quota, std::int32_t processes) {
    std::uint64_t threads = processors;
    if (quota) {
        const auto sharing = static_cast<std::uint64_t>(std::max(processes, 1));
        threads = std::min(threads, (*quota + sharing - 1) / sharing);
    }
    threads = std::min<std::uint64_t>(threads, std::numeric_limits<std::uint32_t>::max());
    return std::max(static_cast<std::uint32_t>(threads), 1u);
}

}  // namespace ranvier::parallel
