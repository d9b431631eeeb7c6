#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ranvier/base/choice.hpp"
#include "ranvier/parallel/pinning.hpp"

namespace ranvier::parallel {

/// The workers from which an idle worker takes work: the policies of Morgenstern et al. (2020), and none.
enum class StealingPolicy : std::uint8_t {
    local_and_remote,  ///< from any worker
    /// From workers of the same NUMA node; when these have none, from those of the nearest other node, and so on.
    prefer_local,
    local_only,        ///< from workers of the same NUMA node
    none,              ///< from no other worker: each processes its assigned work
};

/// The workers from which one worker takes work.
struct Victims {
    std::vector<std::uint32_t> workers;  ///< in groups of equal rank
    std::vector<std::size_t> ends;  ///< of each group within `workers`, in order of preference
};

/// The victims of a worker. This function defines the policy: add another one here and to the enumeration with its
/// names.
///
/// Workers on nodes at the same distance from the thief's are of equal rank; see Topology::distances().
/// Taking work is symmetric and transitive: the policies divide the workers into groups (see stealing_groups()), within
/// which the groups of victims give the order.
Victims list_victims(std::span<const Place> places, std::uint32_t thief, StealingPolicy policy,
                     const NodeDistances& distances = {});

/// For each worker the number, from 0, of its group: workers that may take work from each other.
std::vector<std::uint32_t> stealing_groups(std::span<const Place> places, StealingPolicy policy);

/// Work of one worker in parallel loops or in tasks.
struct StealingCounts {
    std::uint64_t assigned = 0;  ///< pieces of work assigned to the worker
    std::uint64_t local = 0;     ///< taken from workers of the same NUMA node
    std::uint64_t remote = 0;    ///< taken from workers of other nodes

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
