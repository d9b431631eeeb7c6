#include "ranvier/parallel/tasks/division.hpp"

#include <cstddef>
#include <string>

#include "base/counted.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::parallel {

namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 63;

std::uint64_t add_up(const char* object, std::span<const std::uint64_t> values) {
    std::uint64_t sum = 0;
    for (const std::uint64_t value : values) {
        if (value > most - sum) {
            throw ValueOutOfBoundsError({.object = object,
                                         .value = std::to_string(value),
                                         .bound = "their sum must not exceed 2^63",
                                         .remedy = "count in a larger unit"});
        }
        sum += value;
    }
    return sum;
}

__extension__ using Wide = unsigned __int128;

/// The tasks, each after the tasks below it and these in the order of their numbers.
std::vector<std::uint32_t> order_of_forest(std::span<const std::uint32_t> parents) {
    const auto count = static_cast<std::uint32_t>(parents.size());
    // Children of each task in a list. `count` takes the place of the parent of all roots.
    std::vector<std::uint32_t> first(parents.size() + 1, no_parent);
    std::vector<std::uint32_t> next(parents.size(), no_parent);
    for (std::uint32_t task = count; task-- > 0;) {
        const std::uint32_t parent = parents[task] == no_parent ? count : parents[task];
        if (parent > count || (parent == count && parents[task] != no_parent)) {
            throw ValueOutOfBoundsError({.object = "parent of task " + std::to_string(task),
                                         .value = std::to_string(parents[task]),
                                         .bound = there_are(count, "task"),
                                         .remedy = "use the number of a task, or no_parent for a root"});
        }
        next[task] = first[parent];
        first[parent] = task;
    }
    std::vector<std::uint32_t> order;
    order.reserve(parents.size());
    std::uint32_t task = count;
    for (;;) {
        if (first[task] != no_parent) {
            const std::uint32_t child = first[task];
            first[task] = next[child];
            task = child;
            continue;
        }
        if (task == count) break;
        order.push_back(task);
        task = parents[task] == no_parent ? count : parents[task];
    }
    if (order.size() < parents.size()) {
        throw ValueOutOfBoundsError({.object = "parents of tasks",
                                     .value = counted(parents.size() - order.size(), "task"),
                                     .bound = "these are their own ancestors, so that no root is above them",
                                     .remedy = "give a tree, or several, with no_parent for each root"});
    }
    return order;
}

void check_sizes(std::span<const std::uint32_t> parents, std::span<const std::uint64_t> costs) {
    if (parents.size() == costs.size() && parents.size() < no_parent) return;
    throw ShapeError({.object = "costs of tasks",
                      .value = counted(costs.size(), "cost"),
                      .bound = there_are(parents.size(), "task"),
                      .remedy = "give the cost of each task; there may be less than 2^32 - 1"});
}

}  // namespace

std::vector<std::uint32_t> divide_by_cost(std::span<const std::uint64_t> costs, std::span<const std::uint64_t> shares) {
    if (shares.empty() || shares.size() >= UINT32_MAX) {
        throw ShapeError({.object = "shares of parts",
                          .value = std::to_string(shares.size()),
                          .bound = "there must be at least one, and less than 2^32",
                          .remedy = "give the share of each part, such as its number of workers"});
    }
    const std::uint64_t all_shares = add_up("shares of parts", shares);
    if (all_shares == 0) {
        throw ValueOutOfBoundsError({.object = "shares of parts",
                                     .value = "0",
                                     .bound = "one of them must be positive",
                                     .remedy = "give the share of each part, such as its number of workers"});
    }
    const std::uint64_t total = add_up("costs of tasks", costs);
    // Tasks that cost nothing are divided by their number.
    const bool by_number = total == 0;
    const Wide whole = by_number ? costs.size() : total;
    auto last = static_cast<std::uint32_t>(shares.size() - 1);
    while (shares[last] == 0) --last;
    std::vector<std::uint32_t> parts;
    parts.reserve(costs.size());
    std::uint32_t part = 0;
    std::uint64_t shares_so_far = shares[0];
    Wide twice_before = 0;
    for (const std::uint64_t counted_cost : costs) {
        const std::uint64_t cost = by_number ? 1 : counted_cost;
        // A task belongs to the part that has its middle.
        while (part < last && (twice_before + cost) * all_shares >= 2 * whole * shares_so_far) {
            shares_so_far += shares[++part];
        }
        parts.push_back(part);
        twice_before += 2 * Wide{cost};
    }
    return parts;
}

std::vector<std::uint64_t> subtree_costs(std::span<const std::uint32_t> parents, std::span<const std::uint64_t> costs) {
    check_sizes(parents, costs);
    add_up("costs of tasks", costs);
    std::vector<std::uint64_t> sums(costs.begin(), costs.end());
    for (const std::uint32_t task : order_of_forest(parents)) {
        if (parents[task] != no_parent) sums[parents[task]] += sums[task];
    }
    return sums;
}

std::vector<std::uint32_t> divide_tree_by_cost(std::span<const std::uint32_t> parents,
                                               std::span<const std::uint64_t> costs,
                                               std::span<const std::uint64_t> shares) {
    check_sizes(parents, costs);
    const std::vector<std::uint32_t> order = order_of_forest(parents);
    std::vector<std::uint64_t> in_order;
    in_order.reserve(order.size());
    for (const std::uint32_t task : order) in_order.push_back(costs[task]);
    const std::vector<std::uint32_t> divided = divide_by_cost(in_order, shares);
    std::vector<std::uint32_t> parts(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) parts[order[i]] = divided[i];
    return parts;
}

std::vector<std::uint64_t> costs_of_parts(std::span<const std::uint64_t> costs, std::span<const std::uint32_t> parts,
                                          std::uint32_t count) {
    std::vector<std::uint64_t> sums(count, 0);
    for (std::size_t task = 0; task < costs.size(); ++task) sums[parts[task]] += costs[task];
    return sums;
}

}  // namespace ranvier::parallel
