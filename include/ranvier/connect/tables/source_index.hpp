#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>

#include "ranvier/base/buffer.hpp"

namespace ranvier::connect {

/// Finds the rows of sources among all possible ones: a bit for each of these, in groups of 48 with the number of
/// sources in earlier groups. It takes 16 bytes for 48 possible sources on each shard, present or not.
///
/// This is the table of the kernel before the two-tier infrastructure (Jordan et al. 2018, Figure 2; Kunkel et al.
/// 2014), kept for comparison: its memory grows with the network, not with the part of a process.
class SourceIndex {
   public:
    SourceIndex() = default;
    /// @param present source of each row, ascending @param possible one more than the greatest possible source
    SourceIndex(std::span<const std::uint32_t> present, std::uint64_t possible, std::pmr::memory_resource* memory)
        : groups_((possible + group_size - 1) / group_size, memory) {
        std::size_t row = 0;
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            Group group{.bits = 0, .first = row};
            for (; row < present.size() && present[row] / group_size == i; ++row) {
                group.bits |= std::uint64_t{1} << present[row] % group_size;
            }
            groups_[i] = group;
        }
    }

    /// @pre source < possible
    std::optional<std::uint32_t> row(std::uint32_t source) const {
        const Group& group = groups_[source / group_size];
        const std::uint64_t bit = std::uint64_t{1} << source % group_size;
        if ((group.bits & bit) == 0) return std::nullopt;
        return static_cast<std::uint32_t>(group.first +
                                          static_cast<std::uint64_t>(std::popcount(group.bits & (bit - 1))));
    }

    static constexpr std::uint64_t bytes(std::uint64_t possible) {
        return (possible + group_size - 1) / group_size * sizeof(Group);
    }

   private:
    static constexpr std::uint32_t group_size = 48;
    struct Group {
        std::uint64_t bits;
        std::uint64_t first;  ///< row of the first source that is present
    };
    Buffer<Group> groups_;
};

}  // namespace ranvier::connect
