#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ranvier/parallel/tasks/tasks.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::benchmarks {

/// Times of a number of runs, and counts of the workers.
struct TaskRuns {
    std::vector<double> seconds;     ///< of each run
    std::uint64_t tasks = 0;         ///< of one run
    std::vector<parallel::TaskCounts> counts;  ///< of each worker, over all runs
    std::uint64_t operations = 0;  ///< floating-point operations of one run, 0 if they are not counted
    std::vector<std::uint64_t> node_operations;  ///< of these, by the node of the team to which their tasks belong
    std::uint64_t checksum = 0;  ///< of the results, which are the same in all runs; 0 if not computed
};

/// The form of a sum up a tree.
struct ReductionShape {
    bool uneven = false;  ///< the lowest boxes have from 1 to 2000 numbers, ever more from the first box to the last
    bool by_cost = false;  ///< divided among the nodes by counted cost (divide_tree_by_cost), not level by level
};

/// Measures the costs of a team of workers: barriers, rounds, tasks, and a sum up a tree of boxes.
///
/// Each measurement follows one unmeasured run. Numbers of repetitions, rounds and tasks are at least 1.
/// @throws the exceptions of `poll`, here and below
class ParallelMeasurement {
   public:
    using Poll = std::function<void()>;

    ParallelMeasurement(std::vector<parallel::Place> places, parallel::TeamOptions options, Poll poll = {});
    ~ParallelMeasurement();
    ParallelMeasurement(const ParallelMeasurement&) = delete;
    ParallelMeasurement& operator=(const ParallelMeasurement&) = delete;

    const parallel::Team& team() const { return team_; }

    /// Seconds of one barrier; each repetition gives the mean over `rounds`.
    std::vector<double> barrier(std::uint32_t rounds, std::uint32_t repetitions);
    /// Seconds of one round of an empty item for each worker.
    std::vector<double> rounds(std::uint32_t rounds, std::uint32_t repetitions);
    /// Seconds to start and end an empty job.
    std::vector<double> job(std::uint32_t repetitions);

    /// Each worker creates this number of empty tasks, which any worker executes. Seconds of all of them.
    TaskRuns empty_tasks(std::uint32_t tasks_per_worker, std::uint32_t repetitions);
    /// An unbalanced tree: the task of depth d creates those of d - 1 and d - 2, starting from one task of worker 0. Each
    /// computes for about half a microsecond.
    TaskRuns unbalanced_tree(std::uint32_t depth, std::uint32_t repetitions);
    /// The sum of numbers up a binary tree with 2^(levels - 1) lowest boxes of 1000 numbers, by default each level
    /// divided equally among the nodes of the team: the upward half of Figure 1 in Morgenstern et al. (2020).
    /// @param levels from 1 to 20
    /// @throws InternalError if a sum is not, bit for bit, that of one thread
    TaskRuns tree_reduction(std::uint32_t levels, std::uint32_t repetitions, ReductionShape shape = {});
    /// Potentials and fields of uniform points at each of them by the fast multipole method, in double precision: a time
    /// step of Morgenstern et al. (2020). The tree and its tasks are made before.
    /// @param order, depth as in fmm::SolverOptions
    /// @throws ValueOutOfBoundsError for an order or depth out of bounds
    /// @throws InternalError if runs differ in a bit
    TaskRuns fmm(std::uint32_t points, std::uint32_t order, std::uint32_t depth, std::uint32_t repetitions);

   private:
    /// Gives the scheduler time to spread unbound threads over the processors.
    void settle();
    TaskRuns repeat(parallel::Tasks& tasks, std::uint32_t repetitions, const std::function<void()>& prepare);

    parallel::Team team_;
    Poll poll_;
};

}  // namespace ranvier::benchmarks
