#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Division of tasks among NUMA nodes by their cost, counted in any unit: particles, operations, bytes.
///
///     const std::vector<std::uint32_t> part = divide_tree_by_cost(parents, costs, shares);
///     tasks.create(type, {box}, Home::node(nodes[part[box]]));
namespace ranvier::parallel {

/// The parent of the root of a tree.
inline constexpr std::uint32_t no_parent = UINT32_MAX;

/// Divides a sequence of tasks into contiguous parts whose costs are proportional to the shares, such as the numbers of
/// workers on the nodes. The cost of a part differs from its proportion by at most the cost of the most expensive task;
/// a part without share gets no task. Tasks that all cost 0 are divided by their number.
/// @return the part of each task, ascending
/// @throws ShapeError for no shares
/// @throws ValueOutOfBoundsError when all shares are 0, or the sum of the costs or of the shares exceeds 2^63
std::vector<std::uint32_t> divide_by_cost(std::span<const std::uint64_t> costs, std::span<const std::uint64_t> shares);

/// The cost of each task of a forest, including that of all tasks below it.
/// @param parents of each task; `no_parent` for roots. Tasks may be in any order.
/// @throws ShapeError when there is not one cost for each task
/// @throws ValueOutOfBoundsError when a parent does not exist, tasks are their own ancestors, or the sum exceeds 2^63
std::vector<std::uint64_t> subtree_costs(std::span<const std::uint32_t> parents, std::span<const std::uint64_t> costs);

/// Divides a forest of tasks into parts of proportional cost; see divide_by_cost(). Each part is contiguous in the order
/// in which each task follows its subtrees, and these follow each other in the order of their numbers. So parts consist
/// of whole subtrees and the tasks above them, and at each border between two parts only the tasks on one path to a root
/// have their parent in another part.
/// @return the part of each task
/// @throws as subtree_costs() and divide_by_cost()
std::vector<std::uint32_t> divide_tree_by_cost(std::span<const std::uint32_t> parents,
                                               std::span<const std::uint64_t> costs,
                                               std::span<const std::uint64_t> shares);

/// The sum of the costs of each part.
std::vector<std::uint64_t> costs_of_parts(std::span<const std::uint64_t> costs, std::span<const std::uint32_t> parts,
                                          std::uint32_t count);

}  // namespace ranvier::parallel
