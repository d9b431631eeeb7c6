#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ranvier/base/choice.hpp"
#include "ranvier/parallel/pinning.hpp"

namespace ranvier::parallel {

/// From whom a worker that has nothing to do takes work: the policies of Morgenstern et al. (2020), and none.
enum class StealingPolicy : std::uint8_t {
    local_and_remote,  ///< from anybody, wherever
    prefer_local,      ///< from workers of the same NUMA node, and only when these have nothing from others
    local_only,        ///< from workers of the same NUMA node
    none,              ///< from nobody: each does what was given to it
};

/// From whom one worker takes work.
struct Victims {
    std::vector<std::uint32_t> workers;  ///< in groups: those of one group are as good as each other
    std::vector<std::size_t> ends;       ///< of each group within `workers`; earlier groups are asked first
};

/// The victims of a worker. This function is the policy: who wants another one adds it here and to the enumeration with its names.
///
/// Whoever may take from somebody may also be taken from, by the same and by all others that may: the policies divide the
/// workers into groups (see stealing_groups()), within which the groups give the order.
Victims list_victims(std::span<const Place> places, std::uint32_t thief, StealingPolicy policy);

/// For each worker the number, from 0, of its group: those that may take work from each other.
std::vector<std::uint32_t> stealing_groups(std::span<const Place> places, StealingPolicy policy);

/// What one worker did in parallel loops, or in tasks.
struct StealingCounts {
    std::uint64_t own = 0;     ///< pieces of work of its own
    std::uint64_t local = 0;   ///< taken from workers of the same NUMA node
    std::uint64_t remote = 0;  ///< taken from workers of other nodes

    friend bool operator==(const StealingCounts&, const StealingCounts&) = default;
};

}  // namespace ranvier::parallel

namespace ranvier {

template <>
struct ChoiceNames<parallel::StealingPolicy> {
    static constexpr std::string_view kind = "stealing policy";
    static constexpr std::array<std::string_view, 4> names{"local_and_remote", "prefer_local", "local_only", "none"};
};

}  // namespace ranvier
