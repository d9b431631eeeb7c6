#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace ranvier::parallel {

/// Who among the workers searches for tasks, who sleeps, and whom to wake when there is a new one.
///
/// No wake-up is lost. A worker first announces its sleep and then looks for tasks once more. A worker that brings a task
/// first puts it in its place and then looks for sleepers. All of these operations are sequentially consistent.
///
/// As few workers as possible are woken: none while another one of the company searches, since that one finds the task. If
/// it finds one and was the last to search, it looks whether there are more, and wakes the next worker.
class Sleepers {
   public:
    /// @param companies number of the company of each worker; those of one company may take each other's tasks
    explicit Sleepers(std::span<const std::uint32_t> companies);

    /// All are up and have work. While no worker runs.
    void reset();

    void begin_search(std::uint32_t worker);
    /// Returns whether others may have to search now: the worker was the last to do so, and some sleep.
    bool end_search(std::uint32_t worker);

    /// Ends the worker's search and announces its sleep. Then it has to look for tasks once more, and to get_up() or sleep().
    void lie_down(std::uint32_t worker);
    /// The worker searches again instead of sleeping.
    void get_up(std::uint32_t worker);
    /// Sleeps until somebody wakes this worker, and searches then.
    void sleep(std::uint32_t worker);

    /// Wakes a worker for a task that was put with worker `owner`: the owner if it sleeps, else one of its company,
    /// unless one of them searches.
    /// @param by who calls
    void wake_for(std::uint32_t owner, std::uint32_t by);
    /// Wakes one of the worker's company, if none of it searches.
    void wake_one_near(std::uint32_t worker);
    void wake_all();

   private:
    struct alignas(64) Company {
        /// Those that search in the lower half, those that lie or sleep in the upper half.
        std::atomic<std::uint64_t> state{0};
        std::mutex mutex;
        std::vector<std::uint32_t> lying;  ///< the last to lie down, whose cache is warmest, is woken first
    };
    enum Bed : std::uint32_t { up, lying, woken };
    struct alignas(64) Worker {
        std::atomic<std::uint32_t> bed{up};
        std::uint32_t company = 0;
    };

    Company& company_of(std::uint32_t worker) { return companies_[workers_[worker].company]; }
    void wake(std::uint32_t worker);
    bool take_out(Company& company, std::uint32_t worker);

    std::uint32_t size_;
    std::uint32_t company_count_ = 0;
    std::unique_ptr<Worker[]> workers_;
    std::unique_ptr<Company[]> companies_;
};

}  // namespace ranvier::parallel
