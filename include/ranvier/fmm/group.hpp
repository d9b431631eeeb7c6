#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ranvier::fmm {

/// The solvers of one problem whose sources and targets are divided among several of them. Each is given a part of both, and
/// they exchange the rest through their group. All members must call all of these functions in the same order.
class SolverGroup {
   public:
    virtual ~SolverGroup() = default;

    virtual std::uint32_t size() const = 0;
    /// The number of this member, from 0.
    virtual std::uint32_t member() const = 0;
    /// Replaces each element by its sum over all members.
    virtual void sum(std::span<std::uint64_t> values) = 0;
    /// Replaces each element by the greatest of all members.
    virtual void find_greatest(std::span<std::uint64_t> values) = 0;
    /// The element for this member from each member.
    /// @param counts an element for each member
    virtual std::vector<std::size_t> exchange_counts(std::span<const std::size_t> counts) = 0;
    /// send_counts[i] bytes to member i, receive_counts[i] from it, packed by member.
    virtual void exchange(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                          std::span<std::byte> receive, std::span<const std::size_t> receive_counts) = 0;
};

/// The group of a solver that is given all sources and targets. It has no state.
SolverGroup& lone_group();

}  // namespace ranvier::fmm
