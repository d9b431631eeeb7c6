#include "cable/plans/packed_order.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "cable/kernels/eight.hpp"

namespace ranvier::cable {

namespace {

/// A chain of main children, from its leaf.
struct Chain {
    std::uint32_t cell = 0;
    std::vector<std::uint32_t> nodes;
};

void add_chains(std::vector<Chain>& chains, std::uint32_t cell, std::span<const Node> nodes,
                std::span<const std::int32_t> main_child) {
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
        const std::int32_t parent = nodes[node].parent;
        if (parent >= 0 && main_child[static_cast<std::size_t>(parent)] == static_cast<std::int32_t>(node)) continue;
        chains.push_back({cell, {}});
        std::vector<std::uint32_t>& chain_nodes = chains.back().nodes;
        for (auto next = static_cast<std::int32_t>(node); next >= 0;
             next = main_child[static_cast<std::size_t>(next)]) {
            chain_nodes.push_back(static_cast<std::uint32_t>(next));
        }
        std::ranges::reverse(chain_nodes);
    }
}

}  // namespace

std::vector<std::int32_t> main_children(std::span<const Node> nodes, std::span<const std::uint32_t> heights) {
    std::vector<std::int32_t> main_child(nodes.size(), -1);
    for (std::size_t node = 1; node < nodes.size(); ++node) {
        std::int32_t& of_parent = main_child[static_cast<std::size_t>(nodes[node].parent)];
        if (of_parent < 0 || heights[node] >= heights[static_cast<std::size_t>(of_parent)]) {
            of_parent = static_cast<std::int32_t>(node);
        }
    }
    return main_child;
}

PackedOrder::PackedOrder(std::span<const Compartments* const> cells) : positions(cells.size()) {
    std::vector<Chain> chains;
    std::vector<std::vector<std::uint32_t>> heights;
    std::vector<std::vector<std::int32_t>> main_child;
    for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
        const auto nodes = cells[cell]->nodes();
        heights.push_back(cells[cell]->heights());
        main_child.push_back(main_children(nodes, heights.back()));
        positions[cell].resize(nodes.size());
        add_chains(chains, cell, nodes, main_child.back());
    }
    std::ranges::stable_sort(chains, std::greater{}, [](const Chain& chain) { return chain.nodes.size(); });

    std::size_t reaching = chains.size();  // number of chains with a node in the level
    for (std::size_t level = 0; level < chains.front().nodes.size(); ++level) {
        while (chains[reaching - 1].nodes.size() <= level) --reaching;
        const std::size_t first = std::size_t{level_begins.back()} * lanes;
        for (std::size_t k = 0; k < reaching; ++k) {
            positions[chains[k].cell][chains[k].nodes[level]] = static_cast<std::uint32_t>(first + k);
        }
        level_begins.push_back(static_cast<std::uint32_t>(level_begins.back() + (reaching + lanes - 1) / lanes));
    }

    for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
        const auto nodes = cells[cell]->nodes();
        for (std::uint32_t node = 1; node < nodes.size(); ++node) {
            const auto parent = static_cast<std::size_t>(nodes[node].parent);
            if (main_child[cell][parent] == static_cast<std::int32_t>(node)) continue;
            joins.push_back({cell, node, positions[cell][node], positions[cell][parent]});
        }
    }
    const auto heights_of = [&](const Join& join) {
        const std::vector<std::uint32_t>& heights_of_cell = heights[join.cell];
        const auto parent = static_cast<std::size_t>(cells[join.cell]->nodes()[join.node].parent);
        return std::pair(heights_of_cell[parent], heights_of_cell[join.node]);
    };
    std::ranges::sort(joins, {}, [&](const Join& join) {
        const auto [level, height] = heights_of(join);
        return std::tuple(level, join.parent, height, join.node);
    });
    join_begins.resize(levels() + 1, 0);
    for (const Join& join : joins) ++join_begins[heights_of(join).first + 1];
    for (std::size_t level = 0; level < levels(); ++level) join_begins[level + 1] += join_begins[level];
}

}  // namespace ranvier::cable
