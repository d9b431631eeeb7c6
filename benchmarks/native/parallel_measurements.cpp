#include "parallel_measurements.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include "field_measurements.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/tasks/division.hpp"

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

/// A hash of the bits of numbers (FNV-1a), continued from that of others.
std::uint64_t checksum_of(std::span<const double> numbers, std::uint64_t before) {
    std::uint64_t hash = before ^ 0xcbf29ce484222325u;
    for (const double number : numbers) hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x100000001b3u;
    return hash;
}

/// A number that counts the operations on it.
struct CountedNumber {
    double value = 0.0;
    inline static std::uint64_t operations = 0;

    CountedNumber() = default;
    explicit CountedNumber(double number) : value(number) {}
    friend CountedNumber operator+(CountedNumber a, CountedNumber b) {
        ++operations;
        return CountedNumber(a.value + b.value);
    }
    friend CountedNumber operator/(CountedNumber a, CountedNumber b) {
        ++operations;
        return CountedNumber(a.value / b.value);
    }
};

/// Writes the inverses of the `numbers.size()` integers after `first`, and sums them.
template <class Number>
Number sum_inverses(std::uint64_t first, std::span<Number> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = Number(1.0) / Number(static_cast<double>(first + i + 1));
    }
    Number sum(0.0);
    for (const Number& number : numbers) sum = sum + number;
    return sum;
}

/// The tree of boxes: the top one is 0, the children of box i are 2 i + 1 and 2 i + 2. Its events are reset after each run,
/// and so can be reused.
class TreeReduction {
   public:
    TreeReduction(Tasks& tasks, std::uint32_t levels, ReductionShape shape)
        : inner_boxes_((std::uint32_t{1} << (levels - 1)) - 1),
          boxes_(2 * inner_boxes_ + 1),
          begin_(tasks.make_event(1, EventKind::repeating)),
          sums_(boxes_, 0.0) {
        set_sizes(shape);
        // Uninitialised, so that the memory of a box is on the node whose task uses it first.
        numbers_.reset(new double[begins_.back()]);
        const auto gather = tasks.add_type<BoxTask>("gather", [this](TaskContext& context, const BoxTask& task) {
            sums_[task.box] = sum_inverses(first_of(task.box), numbers_of(task.box));
            signal_parent(context, task.box);
        });
        const auto add = tasks.add_type<BoxTask>("add children", [this](TaskContext& context, const BoxTask& task) {
            sums_[task.box] = sums_[2 * task.box + 1] + sums_[2 * task.box + 2];
            signal_parent(context, task.box);
        });
        divide(tasks.team(), shape);
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
    /// Floating-point operations by node, by the formula.
    std::vector<std::uint64_t> node_operations() const {
        return parallel::costs_of_parts(costs_, parts_, static_cast<std::uint32_t>(nodes_.size()));
    }

    /// Sums with one thread. Returns the number of floating-point operations, counted one by one.
    /// @throws InternalError if the sums of the tasks are others, or the operations are not those of the formula
    std::uint64_t check() {
        std::vector<CountedNumber> expected(boxes_);
        std::vector<CountedNumber> numbers;
        CountedNumber::operations = 0;
        std::uint64_t formula = 0;
        for (std::uint32_t box = boxes_; box-- > 0;) {
            if (box >= inner_boxes_) {
                numbers.resize(numbers_of(box).size());
                expected[box] = sum_inverses<CountedNumber>(first_of(box), numbers);
            } else {
                expected[box] = expected[2 * box + 1] + expected[2 * box + 2];
            }
            if (std::bit_cast<std::uint64_t>(expected[box].value) != std::bit_cast<std::uint64_t>(sums_[box])) {
                throw InternalError("a sum up a tree by tasks differs from that of one thread");
            }
            formula += costs_[box];
        }
        if (formula != CountedNumber::operations) throw InternalError("the cost of a sum up a tree is another one");
        return CountedNumber::operations;
    }

   private:
    static constexpr std::uint64_t numbers_in_box = 1000;
    struct BoxTask {
        std::uint32_t box;
    };

    std::uint64_t first_of(std::uint32_t box) const { return begins_[box - inner_boxes_]; }
    std::span<double> numbers_of(std::uint32_t box) {
        return {&numbers_[first_of(box)], begins_[box - inner_boxes_ + 1] - first_of(box)};
    }

    void set_sizes(ReductionShape shape) {
        const std::uint64_t lowest = boxes_ - inner_boxes_;
        begins_.push_back(0);
        costs_.assign(inner_boxes_, 1);
        for (std::uint64_t i = 0; i < lowest; ++i) {
            // As many on average, ever more from the first box to the last.
            const std::uint64_t size = shape.uneven ? numbers_in_box * (2 * i + 1) / lowest : numbers_in_box;
            begins_.push_back(begins_.back() + std::max<std::uint64_t>(size, 1));
            costs_.push_back(2 * (begins_.back() - begins_[i]));
        }
    }

    void divide(const Team& team, ReductionShape shape) {
        for (const Place& place : team.places()) nodes_.push_back(place.node);
        std::sort(nodes_.begin(), nodes_.end());
        nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
        if (shape.by_cost) {
            std::vector<std::uint32_t> parents;
            for (std::uint32_t box = 0; box < boxes_; ++box) {
                parents.push_back(box == 0 ? parallel::no_parent : (box - 1) / 2);
            }
            std::vector<std::uint64_t> workers(nodes_.size(), 0);
            for (const Place& place : team.places()) {
                ++workers[static_cast<std::size_t>(std::ranges::lower_bound(nodes_, place.node) - nodes_.begin())];
            }
            parts_ = parallel::divide_tree_by_cost(parents, costs_, workers);
            return;
        }
        for (std::uint32_t box = 0; box < boxes_; ++box) {
            const std::uint64_t boxes_on_level = std::bit_floor(box + 1);
            const std::uint64_t place_on_level = box + 1 - boxes_on_level;
            parts_.push_back(static_cast<std::uint32_t>(place_on_level * nodes_.size() / boxes_on_level));
        }
    }
    Home home_of(std::uint32_t box) const { return Home::node(nodes_[parts_[box]]); }
    void signal_parent(TaskContext& context, std::uint32_t box) const {
        if (box > 0) context.signal(*children_done_[(box - 1) / 2]);
    }

    std::uint32_t inner_boxes_;
    std::uint32_t boxes_;
    Event& begin_;
    std::vector<Event*> children_done_;
    std::vector<std::uint32_t> nodes_;
    std::vector<std::uint32_t> parts_;   ///< of each box: index of its node
    std::vector<std::uint64_t> costs_;   ///< of each box: floating-point operations
    std::vector<std::uint64_t> begins_;  ///< of the numbers of each lowest box, and the end
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

TaskRuns ParallelMeasurement::fmm(std::uint32_t points, std::uint32_t order, std::uint32_t depth,
                                  std::uint32_t repetitions) {
    const UniformPoints input(points);
    fmm::Solver solver(input.pieces, input.targets, {.order = order, .depth = depth, .has_gradient = true}, team_);
    std::vector<double> potentials(points);
    std::vector<double> fields(3 * potentials.size());
    TaskRuns runs;
    for (std::uint32_t repetition = 0; repetition <= repetitions; ++repetition) {
        if (repetition == 1) solver.clear_task_counts();
        if (poll_) poll_();
        const auto begin = Clock::now();
        solver.evaluate(input.strengths, 1, potentials, fields);
        const double seconds = seconds_since(begin);
        const std::uint64_t checksum = checksum_of(fields, checksum_of(potentials, 0));
        if (repetition == 0) {
            runs.checksum = checksum;
            continue;
        }
        runs.seconds.push_back(seconds);
        if (checksum != runs.checksum) throw InternalError("potentials of two runs differ");
    }
    for (std::uint32_t worker = 0; worker < team_.size(); ++worker) runs.counts.push_back(solver.task_counts(worker));
    runs.tasks = solver.counts().tasks;
    runs.operations = solver.counts().operations;
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

TaskRuns ParallelMeasurement::tree_reduction(std::uint32_t levels, std::uint32_t repetitions, ReductionShape shape) {
    if (levels < 1 || levels > 20) {
        throw ValueOutOfBoundsError({.object = "levels of the tree",
                                     .value = std::to_string(levels),
                                     .bound = "there are 1 to 20",
                                     .remedy = ""});
    }
    Tasks tasks(team_);
    TreeReduction reduction(tasks, levels, shape);
    TaskRuns runs = repeat(tasks, repetitions, [&] { reduction.begin(tasks); });
    if (runs.tasks != reduction.boxes()) throw InternalError("a sum up a tree left out boxes");
    runs.operations = reduction.check();
    runs.node_operations = reduction.node_operations();
    return runs;
}

}  // namespace ranvier::benchmarks
