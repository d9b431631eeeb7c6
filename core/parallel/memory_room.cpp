#include "parallel/memory_room.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "parallel/control_groups.hpp"

namespace ranvier::parallel {

namespace {

namespace filesystem = std::filesystem;

constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

/// A number in decimal digits; nothing for "max", "unlimited", -1 and other values for no limit.
std::optional<std::uint64_t> parse(const std::string& text) {
    const bool is_number = !text.empty() && text.size() < 20 && text.find_first_not_of("0123456789") == text.npos;
    if (!is_number) return {};
    return std::stoull(text);
}

std::optional<std::uint64_t> read_number(const filesystem::path& path) {
    std::string text;
    std::ifstream(path) >> text;
    return parse(text);
}

/// Lines with a name, an optional colon, a number and an optional unit.
std::map<std::string, std::uint64_t> read_table(const filesystem::path& path) {
    std::map<std::string, std::uint64_t> table;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::string value;
        std::string unit;
        words >> name >> value >> unit;
        if (name.ends_with(':')) name.pop_back();
        const std::optional<std::uint64_t> number = parse(value);
        if (number) table[name] = *number * (unit == "kB" ? 1024 : 1);
    }
    return table;
}

std::uint64_t above(std::uint64_t whole, std::uint64_t part) { return whole > part ? whole - part : 0; }

/// Memory that a group may still allocate, if it has a limit.
std::uint64_t room_of_group(const filesystem::path& folder) {
    std::map<std::string, std::uint64_t> statistics;
    const auto table = [&]() -> std::map<std::string, std::uint64_t>& {
        if (statistics.empty()) statistics = read_table(folder / "memory.stat");
        return statistics;
    };
    // Beyond memory.high a group becomes so slow that it counts as a limit, too.
    std::uint64_t limit = std::min(read_number(folder / "memory.max").value_or(unbounded),
                                   read_number(folder / "memory.high").value_or(unbounded));
    std::optional<std::uint64_t> usage = read_number(folder / "memory.current");
    std::string prefix;
    if (!usage) {
        usage = read_number(folder / "memory.usage_in_bytes");
        if (!usage) return unbounded;
        prefix = "total_";  // includes the groups below it, whose use counts towards the limit
        limit = read_number(folder / "memory.limit_in_bytes").value_or(unbounded);
        // Includes the limits of groups above that a container cannot see.
        const auto of_all = table().find("hierarchical_memory_limit");
        if (of_all != table().end()) limit = std::min(limit, of_all->second);
    }
    if (limit == unbounded) return unbounded;
    const std::uint64_t file_pages = table()[prefix + "inactive_file"] + table()[prefix + "active_file"];
    const std::uint64_t unwritten = table()[prefix + (prefix.empty() ? "file_dirty" : "dirty")] +
                                    table()[prefix + (prefix.empty() ? "file_writeback" : "writeback")];
    const std::uint64_t droppable = above(file_pages, unwritten) + table()["slab_reclaimable"];
    return above(limit, above(*usage, droppable));
}

/// The soft limit of this name in /proc/self/limits.
std::uint64_t soft_limit(const filesystem::path& root, std::string_view name) {
    std::ifstream file(root / "proc/self/limits");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(name)) continue;
        std::istringstream words(line.substr(name.size()));
        std::string soft;
        words >> soft;
        return parse(soft).value_or(unbounded);
    }
    return unbounded;
}

std::uint64_t room_of_process(const filesystem::path& root) {
    const std::uint64_t addresses = soft_limit(root, "Max address space");
    const std::uint64_t data = soft_limit(root, "Max data size");
    if (addresses == unbounded && data == unbounded) return unbounded;
    std::map<std::string, std::uint64_t> status = read_table(root / "proc/self/status");
    std::uint64_t room = unbounded;
    if (addresses != unbounded) room = above(addresses, status["VmSize"]);
    // All private writable memory counts as data, including mappings.
    if (data != unbounded) room = std::min(room, above(data, status["VmData"]));
    return room;
}

}  // namespace

std::uint64_t MemoryRoom::of_one(std::int32_t processes) const {
    const std::uint64_t share =
        shared == unbounded ? shared : shared / static_cast<std::uint64_t>(std::max(processes, 1));
    return std::min(share, process);
}

MemoryRoom memory_room(const filesystem::path& root) {
    MemoryRoom room;
    const std::map<std::string, std::uint64_t> machine = read_table(root / "proc/meminfo");
    if (const auto available = machine.find("MemAvailable"); available != machine.end()) {
        room.shared = available->second;
    }
    for (const filesystem::path& folder : control_groups("memory", root)) {
        room.shared = std::min(room.shared, room_of_group(folder));
    }
    room.process = room_of_process(root);
    return room;
}

}  // namespace ranvier::parallel
