#include "ranvier/connect/placement/layout.hpp"

#include <cmath>
#include <memory>
#include <numeric>

namespace ranvier::connect {

namespace {

/// The common level after filling owners with these loads by an amount.
double find_level(std::vector<double> loads, double amount) {
    std::sort(loads.begin(), loads.end());
    double level = loads.front();
    for (std::size_t filled = 1; amount > 0.0; ++filled) {
        const double share = amount / static_cast<double>(filled);
        const double room = filled < loads.size() ? loads[filled] - level : share;
        if (room >= share) return level + share;
        level += room;
        amount -= room * static_cast<double>(filled);
    }
    return level;
}

}  // namespace

std::vector<std::uint64_t> divide_by_cost(std::span<const std::uint64_t> counts, std::span<const double> costs,
                                          std::uint32_t owners) {
    std::vector<std::uint64_t> divided(counts.size() * owners, 0);
    std::vector<double> loads(owners, 0.0);
    std::vector<std::uint64_t> numbers(owners, 0);
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
    for (const std::size_t kind : order) {
        const std::span<std::uint64_t> counts_of_kind = std::span(divided).subspan(kind * owners, owners);
        const double cost = costs[kind];
        std::uint64_t left = counts[kind];
        if (cost > 0.0) {
            const double level = find_level(loads, cost * static_cast<double>(left));
            for (std::uint32_t owner = 0; owner < owners && left > 0; ++owner) {
                const double fits = std::floor(std::max(0.0, level - loads[owner]) / cost);
                counts_of_kind[owner] = std::min(left, static_cast<std::uint64_t>(fits));
                left -= counts_of_kind[owner];
                loads[owner] += cost * static_cast<double>(counts_of_kind[owner]);
            }
        } else {
            for (std::uint32_t owner = 0; owner < owners; ++owner) counts_of_kind[owner] = left / owners;
            left %= owners;
        }
        for (std::uint32_t owner = 0; owner < owners; ++owner) numbers[owner] += counts_of_kind[owner];
        // Fewer items than owners are left (more after rounding). Each goes to the owner with the least load, or with
        // the fewest items among equals.
        for (; left > 0; --left) {
            std::uint32_t least = 0;
            for (std::uint32_t owner = 1; owner < owners; ++owner) {
                if (std::pair(loads[owner], numbers[owner]) < std::pair(loads[least], numbers[least])) least = owner;
            }
            ++counts_of_kind[least];
            ++numbers[least];
            loads[least] += cost;
        }
    }
    return divided;
}

ProcessLayout::ProcessLayout(Placement placement, Rank rank, std::uint32_t shards,
                             std::vector<PopulationRange> populations, std::span<const double> costs)
    : placement_(std::move(placement)), rank_(rank), ids_(placement_.ids(rank)), populations_(std::move(populations)) {
    if (costs.empty()) {
        for (std::uint32_t shard = 0; shard < shards; ++shard) {
            shards_.emplace_back(ShardId{shard}, ids_.every(shard, shards), populations_);
        }
        return;
    }
    std::vector<std::uint64_t> counts;
    counts.reserve(populations_.size());
    for (const PopulationRange& population : populations_) {
        counts.push_back(ids_.within(population.first, population.size).size());
    }
    ends_ = divide_by_cost(counts, costs, shards);
    std::vector<std::vector<std::uint64_t>> ids(shards);
    for (std::size_t population = 0; population < populations_.size(); ++population) {
        const IdSequence local = ids_.within(populations_[population].first, populations_[population].size);
        std::uint64_t begin = 0;
        for (std::uint32_t shard = 0; shard < shards; ++shard) {
            std::uint64_t& count = ends_[population * shards + shard];
            const std::size_t before = ids[shard].size();
            ids[shard].resize(before + count);
            local.copy(begin, std::span(ids[shard]).subspan(before));
            begin += count;
            count = begin;
        }
    }
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
        ids[shard].shrink_to_fit();
        const std::uint64_t size = ids[shard].size();
        shards_.emplace_back(
            ShardId{shard},
            IdSequence(std::make_shared<const std::vector<std::uint64_t>>(std::move(ids[shard])), 0, size),
            populations_);
    }
}

}  // namespace ranvier::connect
