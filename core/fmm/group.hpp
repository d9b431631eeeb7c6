#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/fmm/group.hpp"

namespace ranvier::fmm {

/// Numbers in the order of the doubles.
inline std::uint64_t to_ordered(double value) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return (bits & sign) != 0 ? ~bits : bits | sign;
}
inline double from_ordered(std::uint64_t ordered) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    return std::bit_cast<double>((ordered & sign) != 0 ? ordered & ~sign : ~ordered);
}

/// Replaces each number by the greatest of all members.
inline void find_greatest(SolverGroup& group, std::span<double> values) {
    if (group.size() == 1) return;
    std::vector<std::uint64_t> ordered(values.size());
    std::ranges::transform(values, ordered.begin(), to_ordered);
    group.find_greatest(ordered);
    std::ranges::transform(ordered, values.begin(), from_ordered);
}

/// Items for or from each member, packed by member.
template <class Item>
struct ByMember {
    static_assert(std::is_trivially_copyable_v<Item>);

    std::vector<Item> items;
    std::vector<std::size_t> counts;

    std::vector<std::size_t> bytes(std::size_t of_item = sizeof(Item)) const {
        std::vector<std::size_t> sizes(counts.size());
        std::ranges::transform(counts, sizes.begin(), [&](std::size_t count) { return count * of_item; });
        return sizes;
    }
};

/// The items that the members have for this one. @note Collective.
template <class Item>
ByMember<Item> exchange(SolverGroup& group, const ByMember<Item>& send) {
    ByMember<Item> received;
    received.counts = group.exchange_counts(send.counts);
    received.items.resize(std::accumulate(received.counts.begin(), received.counts.end(), std::size_t{0}));
    group.exchange(std::as_bytes(std::span(send.items)), send.bytes(),
                   std::as_writable_bytes(std::span(received.items)), received.bytes());
    return received;
}

/// Runs an action that may fail for some members only, and throws for all if it failed for any. @note Collective.
template <class Action>
void agree(SolverGroup& group, Action action) {
    if (group.size() == 1) return action();
    std::exception_ptr failure;
    try {
        action();
    } catch (...) {
        failure = std::current_exception();
    }
    // The first member that failed.
    std::array<std::uint64_t, 1> failed{failure ? group.size() - group.member() : 0};
    group.find_greatest(failed);
    if (failure) std::rethrow_exception(failure);
    if (failed[0] == 0) return;
    throw RemoteError({.object = "sources and targets of the fast multipole method",
                       .value = "",
                       .bound = "solver " + std::to_string(group.size() - failed[0]) + " of its group failed",
                       .remedy = "see the message of that rank"});
}

}  // namespace ranvier::fmm
