#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::comm {

/// All processes as a binary tree: each has at most three neighbours.
struct ProcessTree {
    ProcessTree(Rank self, std::int32_t ranks) {
        if (self.value > 0) parent = Rank{(self.value - 1) / 2};
        for (std::int64_t child = 2 * std::int64_t{self.value} + 1; child <= 2 * std::int64_t{self.value} + 2;
             ++child) {
            if (child < ranks) children.push_back(Rank{static_cast<std::int32_t>(child)});
        }
    }

    /// In ascending order.
    std::vector<Rank> neighbors() const {
        std::vector<Rank> all;
        if (parent) all.push_back(*parent);
        all.insert(all.end(), children.begin(), children.end());
        return all;
    }

    std::optional<Rank> parent;  ///< none for the root
    std::vector<Rank> children;
};

}  // namespace ranvier::comm
