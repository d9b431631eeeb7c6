#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "parallel/tasks/tasks.hpp"
#include "parallel/team.hpp"

namespace ranvier::parallel {

/// What a number of runs took, and what the workers did in them.
struct TaskRuns {
    std::vector<double> seconds;     ///< of each run
    std::uint64_t tasks = 0;         ///< of one run
    std::vector<TaskCounts> counts;  ///< of each worker, in all runs together
};

/// Measures what it costs to use a team of workers: meetings, rounds, tasks, and a sum up a tree of boxes.
///
/// Everything is done once before it is measured. Numbers of repetitions, rounds and tasks are at least 1.
/// @throws what `poll` throws, here and below
class ParallelMeasurement {
   public:
    using Poll = std::function<void()>;

    ParallelMeasurement(std::vector<Place> places, TeamOptions options, Poll poll = {});
    ~ParallelMeasurement();
    ParallelMeasurement(const ParallelMeasurement&) = delete;
    ParallelMeasurement& operator=(const ParallelMeasurement&) = delete;

    const Team& team() const { return team_; }

    /// Seconds of one barrier, in each repetition the mean of so many `rounds`.
    std::vector<double> barrier(std::uint32_t rounds, std::uint32_t repetitions);
    /// Seconds of one round of an empty item for each worker.
    std::vector<double> rounds(std::uint32_t rounds, std::uint32_t repetitions);
    /// Seconds to begin and end a job in which nothing is done.
    std::vector<double> job(std::uint32_t repetitions);

    /// Each worker creates so many empty tasks, which are done by whoever gets them. Seconds of all of them.
    TaskRuns empty_tasks(std::uint32_t tasks_per_worker, std::uint32_t repetitions);
    /// A tree that grows to one side: the task of depth d creates those of d - 1 and d - 2, all from one that worker 0 has.
    /// Each computes for about half a microsecond.
    TaskRuns unbalanced_tree(std::uint32_t depth, std::uint32_t repetitions);
    /// The sum of numbers up a binary tree with 2^(levels - 1) lowest boxes of 1000 numbers, each level partitioned equally
    /// among the nodes of the team: the upward half of Figure 1 in Morgenstern et al. (2020).
    /// @param levels from 1 to 20
    /// @throws InternalError when a sum is not, bit for bit, that of one thread
    TaskRuns tree_reduction(std::uint32_t levels, std::uint32_t repetitions);

   private:
    /// Lets threads that are not bound find processors of their own.
    void settle();
    TaskRuns repeat(Tasks& tasks, std::uint32_t repetitions, const std::function<void()>& prepare);

    Team team_;
    Poll poll_;
};

}  // namespace ranvier::parallel
