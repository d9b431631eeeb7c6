#include "ranvier/parallel/distances.hpp"

#include <algorithm>
#include <cmath>

#include "ranvier/base/errors.hpp"

namespace ranvier::parallel {

namespace {

/// Latencies that exceed the smallest of a group by less than this factor belong to the group.
constexpr double noise = 1.1;

std::size_t nodes_of(std::size_t pairs) {
    std::size_t nodes = 0;
    while (nodes * nodes < pairs) ++nodes;
    if (nodes * nodes != pairs) throw InternalError("distances of NUMA nodes are not a square");
    return nodes;
}

/// The distances in a row of relative latencies.
std::vector<std::uint32_t> group(std::span<const double> relative, std::size_t self) {
    std::vector<std::size_t> order;
    for (std::size_t to = 0; to < relative.size(); ++to) {
        if (to != self) order.push_back(to);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t to) { return relative[to]; });
    std::vector<std::uint32_t> distances(relative.size(), NodeDistances::local);
    std::uint32_t last = NodeDistances::local - 1;
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        double sum = 0.0;
        for (; end < order.size() && relative[order[end]] < noise * relative[order[begin]]; ++end) {
            sum += relative[order[end]];
        }
        const double mean = std::round(NodeDistances::local * sum / static_cast<double>(end - begin));
        last = static_cast<std::uint32_t>(std::clamp(mean, last + 1.0, 1e6));
        for (; begin < end; ++begin) distances[order[begin]] = last;
    }
    return distances;
}

}  // namespace

NodeDistances::NodeDistances(std::vector<std::uint32_t> values)
    : values_(std::move(values)), nodes_(nodes_of(values_.size())) {}

std::uint32_t NodeDistances::operator()(std::size_t from, std::size_t to) const {
    if (from < nodes_ && to < nodes_) return values_[from * nodes_ + to];
    return from == to ? local : assumed_remote;
}

NodeDistances distances_by_latency(std::span<const double> latencies) {
    const std::size_t nodes = nodes_of(latencies.size());
    std::vector<std::uint32_t> values(latencies.size(), NodeDistances::local);
    const auto has_cores = [&](std::size_t node) { return latencies[node * nodes + node] > 0.0; };
    for (std::size_t from = 0; from < nodes; ++from) {
        if (!has_cores(from)) continue;
        std::vector<double> relative;
        for (std::size_t to = 0; to < nodes; ++to) {
            relative.push_back(latencies[from * nodes + to] / latencies[from * nodes + from]);
        }
        std::ranges::copy(group(relative, from), values.begin() + static_cast<std::ptrdiff_t>(from * nodes));
    }
    for (std::size_t from = 0; from < nodes; ++from) {
        for (std::size_t to = 0; to < nodes && !has_cores(from); ++to) {
            if (from == to) continue;
            values[from * nodes + to] = has_cores(to) ? values[to * nodes + from] : NodeDistances::assumed_remote;
        }
    }
    return NodeDistances(std::move(values));
}

}  // namespace ranvier::parallel
