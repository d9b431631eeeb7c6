#include "parallel_measurements.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <utility>

#include "ranvier/base/errors.hpp"

namespace ranvier::benchmarks {

namespace {

using parallel::Event;
using parallel::EventKind;
using parallel::Home;
using parallel::Place;
using parallel::TaskContext;
using parallel::Tasks;
using parallel::TaskType;
using parallel::Team;
using parallel::TeamOptions;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Time for the scheduler of the system to move threads that started on one processor: several of its ticks.
constexpr double settling_seconds = 0.06;

/// Seconds of an operation such as a barrier within a job: the mean of the rounds, by worker 0, in each repetition.
template <class Round>
std::vector<double> time_rounds(Team& team, std::uint32_t rounds, std::uint32_t repetitions,
                                const ParallelMeasurement::Poll& poll, Round round) {
    std::vector<double> seconds;
    seconds.reserve(repetitions);
    team.run(
        [&](std::uint32_t worker) {
            for (std::uint32_t i = 0; i < rounds; ++i) round(worker);
            for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
                team.check_cancelled();
                team.wait();
                const auto begin = Clock::now();
                for (std::uint32_t i = 0; i < rounds; ++i) round(worker);
                if (worker == 0) seconds.push_back(seconds_since(begin) / rounds);
            }
        },
        poll);
    return seconds;
}

/// About half a microsecond of dependent operations.
std::uint64_t compute(std::uint64_t seed) {
    for (int i = 0; i < 500; ++i) seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

/// The tree of boxes: the top one is 0, the children of box i are 2 i + 1 and 2 i + 2. Its events are reset after each run,
/// and so can be reused.
class TreeReduction {
   public:
    TreeReduction(Tasks& tasks, std::uint32_t levels)
        : inner_boxes_((std::uint32_t{1} << (levels - 1)) - 1),
          boxes_(2 * inner_boxes_ + 1),
          begin_(tasks.make_event(1, EventKind::repeating)),
          sums_(boxes_, 0.0),
          // Uninitialised, so that the memory of a box is on the node whose task uses it first.
          numbers_(new double[(boxes_ - inner_boxes_) * numbers_in_box]) {
        const auto gather = tasks.add_type<BoxTask>("gather", [this](TaskContext& context, const BoxTask& task) {
            gather_box(task.box, sums_);
            signal_parent(context, task.box);
        });
        const auto add = tasks.add_type<BoxTask>("add children", [this](TaskContext& context, const BoxTask& task) {
            add_children(task.box, sums_);
            signal_parent(context, task.box);
        });
        for (const Place& place : tasks.team().places()) nodes_.push_back(place.node);
        std::sort(nodes_.begin(), nodes_.end());
        nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
        for (std::uint32_t box = 0; box < inner_boxes_; ++box) {
            children_done_.push_back(&tasks.make_event(2, EventKind::repeating));
            tasks.repeat_after(*children_done_[box], add, {box}, home_of(box));
        }
        for (std::uint32_t box = inner_boxes_; box < boxes_; ++box) {
            tasks.repeat_after(begin_, gather, {box}, home_of(box));
        }
    }

    std::uint32_t boxes() const { return boxes_; }
    void begin(Tasks& tasks) { tasks.signal(begin_); }

    /// @throws InternalError if the sums are not those of one thread
    void check() {
        std::vector<double> expected(boxes_, 0.0);
        for (std::uint32_t box = boxes_; box-- > 0;) {
            if (box >= inner_boxes_) {
                gather_box(box, expected);
            } else {
                add_children(box, expected);
            }
            if (std::bit_cast<std::uint64_t>(expected[box]) != std::bit_cast<std::uint64_t>(sums_[box])) {
                throw InternalError("a sum up a tree by tasks differs from that of one thread");
            }
        }
    }

   private:
    static constexpr std::size_t numbers_in_box = 1000;
    struct BoxTask {
        std::uint32_t box;
    };

    Home home_of(std::uint32_t box) const {
        const std::uint64_t boxes_on_level = std::bit_floor(box + 1);
        const std::uint64_t place_on_level = box + 1 - boxes_on_level;
        return Home::node(nodes_[place_on_level * nodes_.size() / boxes_on_level]);
    }
    void gather_box(std::uint32_t box, std::vector<double>& sums) {
        double* const numbers = &numbers_[(box - inner_boxes_) * numbers_in_box];
        double sum = 0.0;
        for (std::size_t i = 0; i < numbers_in_box; ++i) {
            numbers[i] = 1.0 / static_cast<double>(box * numbers_in_box + i + 1);
        }
        for (std::size_t i = 0; i < numbers_in_box; ++i) sum += numbers[i];
        sums[box] = sum;
    }
    void add_children(std::uint32_t box, std::vector<double>& sums) const {
        sums[box] = sums[2 * box + 1] + sums[2 * box + 2];
    }
    void signal_parent(TaskContext& context, std::uint32_t box) const {
        if (box > 0) context.signal(*children_done_[(box - 1) / 2]);
    }

    std::uint32_t inner_boxes_;
    std::uint32_t boxes_;
    Event& begin_;
    std::vector<Event*> children_done_;
    std::vector<std::uint32_t> nodes_;
    std::vector<double> sums_;
    std::unique_ptr<double[]> numbers_;
};

}  // namespace

ParallelMeasurement::ParallelMeasurement(std::vector<Place> places, TeamOptions options, Poll poll)
    : team_(std::move(places), std::move(options)), poll_(std::move(poll)) {
    if (team_.size() > 1 && team_.spins() > 0 && !team_.pinned()) settle();
}

void ParallelMeasurement::settle() {
    std::atomic<bool> over{false};
    team_.run(
        [&](std::uint32_t worker) {
            const auto begin = Clock::now();
            while (!over) {
                team_.wait();
                if (worker == 0 && seconds_since(begin) > settling_seconds) over = true;
                team_.wait();
            }
        },
        poll_);
}

ParallelMeasurement::~ParallelMeasurement() = default;

std::vector<double> ParallelMeasurement::barrier(std::uint32_t rounds, std::uint32_t repetitions) {
    return time_rounds(team_, rounds, repetitions, poll_, [this](std::uint32_t) { team_.wait(); });
}

std::vector<double> ParallelMeasurement::rounds(std::uint32_t rounds, std::uint32_t repetitions) {
    std::vector<double> seconds;
    for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
        parallel::RoundRecords records(team_.size());
        team_.prepare_rounds(records);
        auto begin = Clock::now();
        team_.run(
            [&](std::uint32_t worker) {
                team_.rounds(worker, [&](std::uint32_t item, std::uint32_t round) {
                    // The first round waits until all workers are awake.
                    if (item == 0 && round == 2) begin = Clock::now();
                    return round == rounds + 2 ? parallel::RoundRecords::last : 0;
                });
            },
            poll_);
        seconds.push_back(seconds_since(begin) / rounds);
    }
    return seconds;
}

std::vector<double> ParallelMeasurement::job(std::uint32_t repetitions) {
    const auto nothing = [](std::uint32_t) {};
    team_.run(nothing, poll_);
    std::vector<double> seconds;
    for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
        const auto begin = Clock::now();
        team_.run(nothing, poll_);
        seconds.push_back(seconds_since(begin));
    }
    return seconds;
}

TaskRuns ParallelMeasurement::repeat(Tasks& tasks, std::uint32_t repetitions, const std::function<void()>& prepare) {
    TaskRuns runs;
    prepare();
    tasks.run({.poll = poll_});
    tasks.clear_counts();
    for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
        prepare();
        const auto begin = Clock::now();
        tasks.run({.poll = poll_});
        runs.seconds.push_back(seconds_since(begin));
    }
    std::uint64_t executed = 0;
    for (std::uint32_t worker = 0; worker < team_.size(); ++worker) {
        runs.counts.push_back(tasks.counts(worker));
        executed += tasks.counts(worker).executed;
    }
    runs.tasks = executed / repetitions;
    return runs;
}

TaskRuns ParallelMeasurement::empty_tasks(std::uint32_t tasks_per_worker, std::uint32_t repetitions) {
    Tasks tasks(team_);
    struct Nothing {};
    const auto empty = tasks.add_type<Nothing>("empty", [](TaskContext&, const Nothing&) {});
    const auto create = tasks.add_type<Nothing>("create", [&](TaskContext& context, const Nothing&) {
        for (std::uint32_t i = 0; i < tasks_per_worker; ++i) context.create(empty, {});
    });
    return repeat(tasks, repetitions, [&] {
        for (std::uint32_t worker = 0; worker < team_.size(); ++worker) {
            tasks.create(create, {}, Home::worker(worker));
        }
    });
}

TaskRuns ParallelMeasurement::unbalanced_tree(std::uint32_t depth, std::uint32_t repetitions) {
    Tasks tasks(team_);
    struct Branch {
        std::uint32_t depth;
    };
    const TaskType<Branch>* type = nullptr;
    const auto grow = tasks.add_type<Branch>("grow", [&](TaskContext& context, const Branch& branch) {
        [[maybe_unused]] volatile std::uint64_t result;
        result = compute(branch.depth);
        if (branch.depth >= 1) context.create(*type, {branch.depth - 1});
        if (branch.depth >= 2) context.create(*type, {branch.depth - 2});
    });
    type = &grow;
    return repeat(tasks, repetitions, [&] { tasks.create(grow, {depth}, Home::worker(0)); });
}

TaskRuns ParallelMeasurement::tree_reduction(std::uint32_t levels, std::uint32_t repetitions) {
    if (levels < 1 || levels > 20) {
        throw ValueOutOfBoundsError({.object = "levels of the tree",
                                     .value = std::to_string(levels),
                                     .bound = "there are 1 to 20",
                                     .remedy = ""});
    }
    Tasks tasks(team_);
    TreeReduction reduction(tasks, levels);
    TaskRuns runs = repeat(tasks, repetitions, [&] { reduction.begin(tasks); });
    if (runs.tasks != reduction.boxes()) throw InternalError("a sum up a tree left out boxes");
    reduction.check();
    return runs;
}

}  // namespace ranvier::benchmarks
