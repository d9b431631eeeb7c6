#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::comm {

/// One step of an all-gather: a process sends some of the blocks that it has to one process, and appends those that it
/// receives from one process.
struct GatherStep {
    std::optional<Rank> target{};
    std::optional<Rank> origin{};
    std::size_t first = 0;   ///< the blocks to send are [first, last) of those that this process has
    std::size_t last = 0;
    std::size_t expected = 0;  ///< number of blocks from `origin`
    std::size_t most = 0;      ///< the greatest number that any process expects
};

/// An all-gather of one block from each process, as one process sees it. All processes have equally many steps.
struct GatherPlan {
    std::vector<GatherStep> steps;
    std::vector<Rank> order;  ///< whose blocks this process has in the end, the first being its own
    std::size_t forwarded = 0;  ///< the number of blocks that it sends at most in a step, the first of them

    std::size_t bytes() const { return steps.capacity() * sizeof(GatherStep) + order.capacity() * sizeof(Rank); }
};

/// The algorithm of Bruck and others (IEEE Transactions on Parallel and Distributed Systems 8:1143, 1997), for any
/// number of processes: in step k a process sends all its blocks to the process 2^k ranks before it, with wrap-around,
/// and in the last step only those that are missing there.
GatherPlan bruck_plan(Rank rank, std::int32_t ranks);

/// Recursive doubling: in step k, processes whose ranks differ in bit k send each other all their blocks. If the number
/// of processes is not a power of two, each of the last ones first exchanges blocks with one of the others, and in the
/// end receives from it those that are missing.
GatherPlan doubling_plan(Rank rank, std::int32_t ranks);

}  // namespace ranvier::comm
