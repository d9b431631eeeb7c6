#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/base/random.hpp"

namespace ranvier::parallel {

/// A cache line with a pointer to another one.
struct alignas(64) Line {
    Line* next;
};

/// Links all lines to one cycle in random order (Sattolo's algorithm). @pre fewer than 2^32 lines
inline void link_randomly(std::span<Line> lines) {
    std::vector<std::uint32_t> order(lines.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = order.size(); i-- > 1;) {
        const std::uint64_t word = philox({static_cast<std::uint32_t>(i), 0, 0, 0}, {})[0];
        std::swap(order[i], order[word * i >> 32]);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        lines[order[i]].next = &lines[order[i + 1 < order.size() ? i + 1 : 0]];
    }
}

}  // namespace ranvier::parallel
