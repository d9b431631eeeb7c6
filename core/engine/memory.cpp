#include "engine/memory.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <limits>
#include <string>

#include "base/errors.hpp"

namespace ranvier::engine {

namespace {

/// Bytes of state a variable of a neuron takes, and what a group needs beside its variables.
constexpr double bytes_per_variable = 8.0;
constexpr double extra_variables = 2.0;

std::uint64_t read_number(const char* path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    // Control groups without a limit say "max", which is not a number.
    return file >> number ? number : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t control_group_room(const char* limit_path, const char* usage_path) {
    const std::uint64_t limit = read_number(limit_path);
    if (limit == std::numeric_limits<std::uint64_t>::max()) return limit;
    const std::uint64_t usage = read_number(usage_path);
    return usage < limit ? limit - usage : 0;
}

std::string in_gigabytes(std::uint64_t bytes) {
    const std::uint64_t tenths = (bytes + 50'000'000) / 100'000'000;
    return std::to_string(bytes) + " bytes (" + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
           " GB)";
}

}  // namespace

std::uint64_t available_memory() {
    std::uint64_t available = std::numeric_limits<std::uint64_t>::max();
    std::ifstream file("/proc/meminfo");
    for (std::string key; file >> key;) {
        if (key == "MemAvailable:") {
            std::uint64_t kibibytes = 0;
            if (file >> kibibytes) available = kibibytes * 1024;
            break;
        }
    }
    available = std::min(available, control_group_room("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"));
    return std::min(available, control_group_room("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                                  "/sys/fs/cgroup/memory/memory.usage_in_bytes"));
}

MemoryEstimate estimate_memory(const LoweredNetwork& network, const connect::ProcessLayout& layout,
                               const connect::BuildOptions& build, std::uint32_t window) {
    const connect::TableEstimate tables = connect::estimate_tables(network.plans(), layout, build);
    double neurons = 0.0;
    for (const Population& population : network.network().populations()) {
        double variables = extra_variables + static_cast<double>(population.model->variables.size());
        // Parameters that differ among neurons are kept, and so are the propagators that follow from them.
        bool heterogeneous = false;
        for (const auto& [name, value] : population.parameters) {
            if (std::holds_alternative<double>(value)) continue;
            heterogeneous = true;
            variables += 1.0;
        }
        if (heterogeneous) variables += static_cast<double>(population.model->parameters.size());
        const std::uint64_t here = layout.ids().within(population.first, population.size).size();
        neurons += bytes_per_variable * variables * static_cast<double>(here);
    }
    double inputs = 0.0;
    for (const connect::ShardLayout& shard : layout.shards()) {
        const double slots = std::max<double>(window, tables.reach + 1.0);
        inputs +=
            2.0 * sizeof(double) * static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(slots))) * shard.size();
    }
    MemoryEstimate estimate;
    const auto add = [&](const char* component, double bytes) {
        estimate.items.push_back({component, static_cast<std::uint64_t>(bytes)});
        estimate.final_bytes += static_cast<std::uint64_t>(bytes);
    };
    add("synapses", tables.final_bytes);
    add("neurons", neurons);
    add("inputs", inputs);
    estimate.peak_bytes =
        estimate.final_bytes + static_cast<std::uint64_t>(std::max(0.0, tables.peak_bytes - tables.final_bytes));
    return estimate;
}

void check_memory(const MemoryEstimate& estimate, std::uint64_t limit, std::int32_t processes) {
    const std::uint64_t bound = limit > 0 ? limit : available_memory() / static_cast<std::uint64_t>(processes);
    if (estimate.peak_bytes <= bound) return;
    throw InsufficientMemoryError(
        {.object = "memory that the network needs",
         .value = in_gigabytes(estimate.peak_bytes),
         .bound = (limit > 0 ? "the limit is " : "this machine has ") + in_gigabytes(bound) +
                  (limit > 0 ? "" : (processes > 1 ? " available for each of its processes" : " available")),
         .remedy = "make the network smaller, or run it on a larger machine"});
}

}  // namespace ranvier::engine
