#include "ranvier/parallel/latency.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "parallel/pointer_cycle.hpp"
#include "parallel/processors.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/page_memory.hpp"
#include "ranvier/parallel/memory.hpp"

namespace ranvier::parallel {

namespace {

double chase(const Line* lines, const LatencyOptions& options) {
    using Clock = std::chrono::steady_clock;
    double fastest = std::numeric_limits<double>::max();
    const Line* line = lines;
    for (std::uint32_t repetition = 0; repetition < options.repetitions; ++repetition) {
        const auto begin = Clock::now();
        for (std::uint32_t i = 0; i < options.loads; ++i) line = line->next;
        const std::chrono::duration<double, std::nano> elapsed = Clock::now() - begin;
        fastest = std::min(fastest, elapsed.count() / options.loads);
    }
    [[maybe_unused]] const Line* volatile used = line;
    return fastest;
}

std::string name_of(const Topology& topology, std::uint32_t node) {
    return "NUMA node " + std::to_string(topology.nodes()[node].os_index);
}

/// Calls work() in a thread on the first processor of a node.
void do_on(const Topology& topology, std::uint32_t node, const std::function<void()>& work) {
    const int processor = topology.nodes()[node].cores.front().processors.front();
    std::exception_ptr failure;
    std::thread([&] {
        try {
            if (!pin_to_processor(processor)) {
                throw StateError({.object = "thread that measures latencies",
                                  .value = "on processor " + std::to_string(processor),
                                  .bound = "the system does not bind threads to this processor",
                                  .remedy = "use the reported distances"});
            }
            work();
        } catch (...) {
            failure = std::current_exception();
        }
    }).join();
    if (failure) std::rethrow_exception(failure);
}

[[noreturn]] void refuse_location(const Topology& topology, std::uint32_t node, std::string bound) {
    throw StateError({.object = "latency of the memory of " + name_of(topology, node),
                      .value = "",
                      .bound = std::move(bound),
                      .remedy = "use the reported distances, or a process that may use memory of this node"});
}

/// Checks that the memory is where its latency is to be measured, as far as the system reports that.
void check_location(const Topology& topology, std::uint32_t node, const Line* lines, std::size_t bytes) {
    constexpr std::size_t sampled = 256;
    const PagesByNode pages = find_pages(lines, bytes, sampled);
    std::uint64_t known = 0;
    for (const std::uint64_t bytes_there : pages.on_node) known += bytes_there;
    const auto index = static_cast<std::size_t>(topology.nodes()[node].os_index);
    const std::uint64_t there = index < pages.on_node.size() ? pages.on_node[index] : 0;
    if (10 * there < 9 * known) {
        refuse_location(
            topology, node,
            "only " + std::to_string(there >> 20) + " of " + std::to_string(known >> 20) + " MiB were allocated there");
    }
}

void check_options(const Topology& topology, std::uint32_t node, const LatencyOptions& options) {
    const auto check = [](const char* object, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
        if (value >= least && value <= most) return;
        throw ValueOutOfBoundsError(
            {.object = object,
             .value = std::to_string(value),
             .bound = "it must be from " + std::to_string(least) + " to " + std::to_string(most),
             .remedy = "choose a value between"});
    };
    if (topology.is_synthetic()) {
        throw StateError({.object = "latencies of '" + topology.name() + "'",
                          .value = "",
                          .bound = "a synthetic machine has no memory to measure",
                          .remedy = "measure a machine that exists"});
    }
    check("NUMA node to measure", node, 0, topology.nodes().size() - 1);
    check("bytes to chase pointers through", options.bytes, 4096, std::uint64_t{1} << 36);
    check("loads of a repetition", options.loads, 1, UINT32_MAX);
    check("repetitions", options.repetitions, 1, UINT32_MAX);
}

}  // namespace

std::uint64_t latency_bytes(const Topology& topology) {
    std::uint64_t largest = 0;
    for (const Cache& cache : topology.caches()) largest = std::max(largest, cache.bytes);
    return std::clamp(4 * largest, std::uint64_t{64} << 20, std::uint64_t{512} << 20);
}

std::vector<double> measure_latencies_to(const Topology& topology, std::uint32_t node, LatencyOptions options) {
    if (options.bytes == 0) options.bytes = latency_bytes(topology);
    check_options(topology, node, options);
    const auto index = static_cast<std::uint32_t>(topology.nodes()[node].os_index);
    MemoryAccount account({"chased"}, std::max(node_count(), index + 1));
    NodeMemory memory(account, account.purpose("chased"), {.node = index, .placement = PagePlacement::bound});
    const std::size_t count = options.bytes / sizeof(Line);
    const bool has_cores = node < topology.nodes_with_cores().size();
    if (!memory.note().empty() && !has_cores) refuse_location(topology, node, memory.note());
    std::pmr::polymorphic_allocator<std::byte> allocator(&memory);
    struct Released {
        std::pmr::polymorphic_allocator<std::byte>& allocator;
        Line* lines;
        std::size_t count;
        ~Released() { allocator.deallocate_object(lines, count); }
    };
    const Released block{allocator, allocator.allocate_object<Line>(count), count};
    // By a thread there, since pages are placed by first touch if the system refuses to bind them.
    if (has_cores) {
        do_on(topology, node, [&] { link_randomly({block.lines, count}); });
    } else {
        link_randomly({block.lines, count});
    }
    if (options.bytes >= separate_pages_bytes) check_location(topology, node, block.lines, options.bytes);
    std::vector<double> latencies(topology.nodes().size(), 0.0);
    for (std::uint32_t from = 0; from < topology.nodes_with_cores().size(); ++from) {
        do_on(topology, from, [&] { latencies[from] = chase(block.lines, options); });
    }
    return latencies;
}

std::vector<double> measure_latencies(const Topology& topology, const LatencyOptions& options) {
    const std::size_t nodes = topology.nodes().size();
    std::vector<double> latencies(nodes * nodes, 0.0);
    for (std::uint32_t to = 0; to < nodes; ++to) {
        const std::vector<double> column = measure_latencies_to(topology, to, options);
        for (std::size_t from = 0; from < nodes; ++from) latencies[from * nodes + to] = column[from];
    }
    return latencies;
}

}  // namespace ranvier::parallel
