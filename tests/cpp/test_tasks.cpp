#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/tasks/tasks.hpp"
#include "task_testing.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

TEST_P(TasksOf, DoNothingWhereThereAreNone) {
    tasks_.run();
    tasks_.run();
    EXPECT_EQ(sum_of_counts(tasks_).executed, 0u);
}

TEST_P(TasksOf, AreDoneOnceEach) {
    constexpr std::uint32_t count = 3000;
    std::vector<std::uint32_t> done(count, 0);  // not atomic: doing a task twice would be a race as well
    const auto type = tasks_.add_type<Number>("count", [&](TaskContext&, const Number& task) { ++done[task.value]; });
    for (std::uint32_t run = 1; run <= 3; ++run) {
        for (std::uint32_t i = 0; i < count; ++i) tasks_.create(type, {i}, some_home(i));
        tasks_.run();
        EXPECT_EQ(done, std::vector<std::uint32_t>(count, run));
    }
    EXPECT_EQ(sum_of_counts(tasks_).executed, 3 * count);
}

TEST_P(TasksOf, CreateTasks) {
    // A tree in which each task creates up to three others; node i has the children 3 i + 1 to 3 i + 3.
    constexpr std::uint32_t count = 5000;
    std::vector<std::atomic<std::uint32_t>> done(count);
    const TaskType<Number>* type = nullptr;
    const auto grow = tasks_.add_type<Number>("grow", [&](TaskContext& context, const Number& task) {
        ++done[task.value];
        for (std::uint32_t child = 3 * task.value + 1; child <= 3 * task.value + 3; ++child) {
            if (child < count) context.create(*type, {child}, some_home(child / 2));
        }
    });
    type = &grow;
    tasks_.create(grow, {0});
    tasks_.run();
    for (const auto& times : done) ASSERT_EQ(times, 1u);
}

TEST_P(TasksOf, StayWhereTheyMust) {
    constexpr std::uint32_t count = 2000;
    std::atomic<std::uint32_t> wrong{0};
    const std::vector<std::uint32_t> group = stealing_groups(team_.places(), policy());
    struct Homed {
        std::uint32_t worker;
        std::uint32_t node;
    };
    const auto on_worker = tasks_.add_type<Homed>("on worker", [&](TaskContext& context, const Homed& task) {
        wrong += group[context.worker()] != group[task.worker];
    });
    const auto on_node = tasks_.add_type<Homed>("on node", [&](TaskContext& context, const Homed& task) {
        const bool bound = policy() == StealingPolicy::local_only || policy() == StealingPolicy::none;
        wrong += bound && context.node() != task.node;
        wrong += context.node() != context.worker() % nodes;
    });
    const auto create = tasks_.add_type<Number>("create", [&](TaskContext& context, const Number& task) {
        const std::uint32_t worker = task.value % workers();
        const std::uint32_t node = task.value % std::min(workers(), nodes);
        context.create(on_worker, {worker, 0}, Home::worker(worker));
        context.create(on_node, {0, node}, Home::node(node));
    });
    for (std::uint32_t i = 0; i < count; ++i) tasks_.create(create, {i});
    tasks_.run();
    EXPECT_EQ(wrong, 0u);
    const TaskCounts counts = sum_of_counts(tasks_);
    EXPECT_EQ(counts.executed, 3 * count);
    if (policy() == StealingPolicy::none) {
        EXPECT_EQ(counts.stolen_locally, 0u);
    }
    if (policy() == StealingPolicy::none || policy() == StealingPolicy::local_only) {
        EXPECT_EQ(counts.stolen_remotely, 0u);
    }
}

TEST_P(TasksOf, SeeWhatWasWrittenBeforeTheSignals) {
    constexpr std::uint32_t sources = 50;
    constexpr std::uint32_t sinks = 50;
    for (int round = 0; round < 20; ++round) {
        std::vector<std::uint64_t> written(sources, 0);
        std::vector<std::uint64_t> sums(sinks, 0);
        Event& event = tasks_.make_event(sources);
        const auto write = tasks_.add_type<Number>("write", [&](TaskContext& context, const Number& task) {
            written[task.value] = task.value + 1;
            context.signal(event);
        });
        const auto sum = tasks_.add_type<Number>("sum", [&](TaskContext&, const Number& task) {
            sums[task.value] = std::accumulate(written.begin(), written.end(), std::uint64_t{0});
        });
        for (std::uint32_t i = 0; i < sinks / 2; ++i) tasks_.create_after(event, sum, {i}, some_home(i));
        for (std::uint32_t i = 0; i < sources; ++i) tasks_.create(write, {i}, some_home(i));
        // These begin to wait while the event is about to happen.
        const auto late = tasks_.add_type<Number>(
            "late", [&](TaskContext& context, const Number& task) { context.create_after(event, sum, {task.value}); });
        for (std::uint32_t i = sinks / 2; i < sinks; ++i) tasks_.create(late, {i}, some_home(i));
        tasks_.run({.goal = &event});
        EXPECT_EQ(sums, std::vector<std::uint64_t>(sinks, sources * (sources + 1) / 2));
    }
}

TEST_P(TasksOf, WaitForManyEvents) {
    constexpr std::uint32_t count = 200;
    std::vector<Event*> events;
    for (std::uint32_t i = 0; i < count; ++i) events.push_back(&tasks_.make_event(i % 4));  // some have happened
    std::vector<std::atomic<std::uint32_t>> signalled(count);
    std::atomic<std::uint32_t> wrong{0};
    std::atomic<std::uint32_t> done{0};
    const auto signal = tasks_.add_type<Number>("signal", [&](TaskContext& context, const Number& task) {
        ++signalled[task.value];
        context.signal(*events[task.value]);
    });
    const auto check = tasks_.add_type<Number>("check", [&](TaskContext&, const Number& task) {
        for (std::uint32_t i = task.value; i < count && i < task.value + 7; ++i) wrong += signalled[i] != i % 4;
        ++done;
    });
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::span<Event* const> all(events);
        tasks_.create_after(all.subspan(i, std::min(count - i, 7u)), check, {i}, some_home(i));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t times = 0; times < i % 4; ++times) tasks_.create(signal, {i}, some_home(i));
    }
    tasks_.run();
    EXPECT_EQ(done, count);
    EXPECT_EQ(wrong, 0u);
}

/// As neurons are stepped: each takes a step when it and both of its neighbours in a ring have taken the one before.
TEST_P(TasksOf, RepeatWheneverTheirEventHappens) {
    constexpr std::uint32_t cells = 12;
    constexpr std::uint32_t steps = 200;
    const auto next = [](std::uint64_t left, std::uint64_t own, std::uint64_t right) {
        return 3 * own + left + 2 * right;
    };
    using Values = std::vector<std::vector<std::uint64_t>>;
    Values values(steps + 1, std::vector<std::uint64_t>(cells, 0));
    // One event for even steps and one for odd: a neighbour may be a step ahead of the other one.
    std::array<std::vector<Event*>, 2> ready;
    for (std::vector<Event*>& events : ready) {
        for (std::uint32_t cell = 0; cell < cells; ++cell)
            events.push_back(&tasks_.make_event(3, EventKind::repeating));
    }
    Event& all_done = tasks_.make_event(cells);
    std::vector<std::uint32_t> step_of(cells, 0);
    std::uint32_t last = 0;
    const auto step = tasks_.add_type<Number>("step", [&](TaskContext& context, const Number& task) {
        const std::uint32_t cell = task.value;
        const std::uint32_t left = (cell + cells - 1) % cells;
        const std::uint32_t right = (cell + 1) % cells;
        const std::uint32_t now = step_of[cell]++;
        values[now + 1][cell] = next(values[now][left], values[now][cell], values[now][right]);
        for (const std::uint32_t target : {left, right, cell}) {
            if (now + 1 < last) context.signal(*ready[(now + 1) % 2][target]);
        }
        if (now + 1 == last) context.signal(all_done);
    });
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
        for (const auto& events : ready)
            tasks_.repeat_after(*events[cell], step, {cell}, Home::worker(cell % workers()));
        values[0][cell] = cell + 1;
    }
    // In two runs, the second of which goes on where the first ended.
    for (const std::uint32_t until : {steps / 2, steps}) {
        last = until;
        all_done.rearm();
        for (Event* const event : ready[step_of[0] % 2]) {
            for (int signal = 0; signal < 3; ++signal) tasks_.signal(*event);
        }
        tasks_.run({.goal = &all_done});
        EXPECT_EQ(step_of, std::vector<std::uint32_t>(cells, until));
    }
    for (std::uint32_t now = 0; now < steps; ++now) {
        for (std::uint32_t cell = 0; cell < cells; ++cell) {
            const std::uint32_t left = (cell + cells - 1) % cells;
            const std::uint32_t right = (cell + 1) % cells;
            ASSERT_EQ(values[now + 1][cell], next(values[now][left], values[now][cell], values[now][right]));
        }
    }
    EXPECT_EQ(ready[0][0]->happenings() + ready[1][0]->happenings(), steps);
}

/// A random graph gives the same as when its tasks are done in order.
TEST_P(TasksOf, GiveTheResultsOfASerialRun) {
    std::mt19937 random(11);
    for (int round = 0; round < 10; ++round) {
        const std::uint32_t count = 300;
        std::vector<std::vector<std::uint32_t>> sources(count);
        std::vector<std::vector<std::uint32_t>> targets(count);
        for (std::uint32_t node = 1; node < count; ++node) {
            const std::uint32_t degree = random() % 4;
            for (std::uint32_t i = 0; i < degree; ++i) {
                const auto source = static_cast<std::uint32_t>(random() % node);
                sources[node].push_back(source);
                targets[source].push_back(node);
            }
        }
        const auto compute = [&](std::uint32_t node, std::vector<std::uint64_t>& values) {
            std::uint64_t value = node;
            for (const std::uint32_t source : sources[node]) value = value * 31 + values[source];
            values[node] = value;
        };
        std::vector<std::uint64_t> expected(count, 0);
        for (std::uint32_t node = 0; node < count; ++node) compute(node, expected);

        std::vector<std::uint64_t> values(count, 0);
        std::vector<Event*> events;
        for (std::uint32_t node = 0; node < count; ++node) events.push_back(&tasks_.make_event(sources[node].size()));
        const auto type = tasks_.add_type<Number>("node", [&](TaskContext& context, const Number& task) {
            compute(task.value, values);
            for (const std::uint32_t target : targets[task.value]) context.signal(*events[target]);
        });
        for (std::uint32_t node = 0; node < count; ++node) {
            tasks_.create_after(*events[node], type, {node}, some_home(static_cast<std::uint32_t>(random())));
        }
        tasks_.run();
        ASSERT_EQ(values, expected);
        tasks_.clear();
    }
}

/// Forks and joins: each task waits for its parts by an event that is gone when they are done.
TEST_P(TasksOf, JoinByPassingEvents) {
    struct Piece {
        std::uint32_t begin;
        std::uint32_t end;
        std::uint64_t* result;
        Event* done;
    };
    struct Join {
        std::uint64_t* parts;
        std::uint64_t* result;
        Event* done;
    };
    const auto join = tasks_.add_type<Join>("join", [&](TaskContext& context, const Join& task) {
        const std::unique_ptr<std::uint64_t[]> parts(task.parts);
        *task.result = parts[0] + parts[1];
        context.signal(*task.done);
    });
    const TaskType<Piece>* type = nullptr;
    const auto sum = tasks_.add_type<Piece>("sum", [&](TaskContext& context, const Piece& part) {
        if (part.end - part.begin <= 4) {
            *part.result = 0;
            for (std::uint32_t i = part.begin; i < part.end; ++i) *part.result += i;
            context.signal(*part.done);
            return;
        }
        const std::uint32_t middle = (part.begin + part.end) / 2;
        auto* const parts = new std::uint64_t[2];
        Event& both = context.make_event(2, EventKind::passing);
        context.create_after(both, join, {parts, part.result, part.done});
        context.create(*type, {part.begin, middle, &parts[0], &both}, some_home(middle));
        context.create(*type, {middle, part.end, &parts[1], &both});
    });
    type = &sum;
    for (int round = 0; round < 3; ++round) {
        std::uint64_t result = 0;
        Event& done = tasks_.make_event(1);
        tasks_.create(sum, {0, 5000, &result, &done});
        tasks_.run({.goal = &done});
        EXPECT_EQ(result, 5000u * 4999u / 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Teams, TasksOf, all_teams());

// ---- single subjects -------------------------------------------------------------------------------------------------

TEST(Tasks, GoByPriorityAndNewestFirst) {
    Team team{std::vector<Place>(1)};
    Tasks tasks(team);
    std::vector<std::uint32_t> order;
    const auto note = [&](TaskContext&, const Number& task) { order.push_back(task.value); };
    const auto low = tasks.add_type<Number>("low", note, -1);
    const auto middle = tasks.add_type<Number>("middle", note);
    const auto high = tasks.add_type<Number>("high", note, 5);
    const auto create = tasks.add_type<Number>("create", [&](TaskContext& context, const Number& task) {
        context.create(low, {task.value});
        context.create(middle, {task.value + 1});
        context.create(middle, {task.value + 2});
        context.create(high, {task.value + 3});
        context.create(low, {task.value + 4});
    });
    tasks.create(create, {10});
    tasks.run();
    EXPECT_EQ(order, (std::vector<std::uint32_t>{13, 12, 11, 14, 10}));
    // Those that wait for the same event, and those that come from outside, go in the order in which they came.
    order.clear();
    Event& event = tasks.make_event(1);
    for (std::uint32_t i = 0; i < 4; ++i) tasks.create_after(event, middle, {i});
    tasks.create(middle, {20});
    tasks.create(middle, {21});
    const auto signal =
        tasks.add_type<Number>("signal", [&](TaskContext& context, const Number&) { context.signal(event); });
    tasks.create(signal, {0});
    tasks.run();
    EXPECT_EQ(order, (std::vector<std::uint32_t>{20, 21, 0, 1, 2, 3}));
}

/// Workers that sleep are woken for a task of theirs, and for one that somebody too busy has.
TEST(Tasks, WakeSleepers) {
    for (const Spinning spinning : {Spinning::always, Spinning::never}) {
        Team team(places_on(4, 2), {.spinning = spinning, .stealing = StealingPolicy::local_only});
        Tasks tasks(team);
        const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
        std::atomic<bool> helped{false};
        const auto help = tasks.add_type<Number>("help", [&](TaskContext&, const Number&) { helped = true; });
        std::vector<std::uint32_t> route;
        const TaskType<Number>* type = nullptr;
        const auto pass = tasks.add_type<Number>("pass", [&](TaskContext& context, const Number& task) {
            sleep();  // until the others sleep
            route.push_back(context.worker());
            if (task.value < 12) {
                context.create(*type, {task.value + 1}, Home::node((task.value + 1) % 2));
                return;
            }
            // Worker and node of this one have another worker, who has to be woken while this one goes on.
            context.create(help, {0}, Home::worker(context.worker()));
            while (!helped) std::this_thread::yield();
        });
        type = &pass;
        tasks.create(pass, {0}, Home::node(0));
        tasks.run();
        EXPECT_TRUE(helped);
        ASSERT_EQ(route.size(), 13u);
        for (std::size_t i = 0; i < route.size(); ++i) EXPECT_EQ(route[i] % 2, i % 2);
        std::uint64_t sleeps = 0;
        for (std::uint32_t worker = 0; worker < 4; ++worker) sleeps += tasks.counts(worker).sleeps;
        EXPECT_GT(sleeps, 0u);
        tasks.clear_counts();
        EXPECT_EQ(tasks.counts(0).sleeps, 0u);
    }
}

TEST(Tasks, CarryWhatTheyAreGiven) {
    struct Full {
        double numbers[5];
    };
    static_assert(TaskPayload<Full>);
    struct TooMuch {
        double numbers[6];
    };
    static_assert(!TaskPayload<TooMuch>);
    static_assert(!TaskPayload<std::string>);
    Team team{std::vector<Place>(2)};
    Tasks tasks(team);
    std::atomic<double> sum{0.0};
    const auto add = tasks.add_type<Full>("add", [&](TaskContext&, const Full& task) {
        for (const double number : task.numbers) sum = sum + number;
    });
    tasks.create(add, {{1.0, 2.0, 4.0, 8.0, 16.0}});
    tasks.run();
    EXPECT_EQ(sum, 31.0);
}

TEST(Tasks, RefuseWhatCannotBe) {
    Team team({{-1, 3}, {-1, 5}});
    Tasks tasks(team);
    const auto nothing = tasks.add_type<Number>("nothing", [](TaskContext&, const Number&) {});
    EXPECT_THROW(tasks.create(nothing, {0}, Home::worker(2)), ValueOutOfBoundsError);
    EXPECT_THROW(tasks.create(nothing, {0}, Home::node(4)), ValueOutOfBoundsError);
    EXPECT_THROW(tasks.make_event(0, EventKind::repeating), ValueOutOfBoundsError);
    EXPECT_THROW(tasks.make_event(0, EventKind::passing), ValueOutOfBoundsError);
    EXPECT_THROW(tasks.repeat_after(tasks.make_event(1, EventKind::passing), nothing, {0}), StateError);
    EXPECT_THROW(tasks.run({.goal = &tasks.make_event(1, EventKind::passing)}), StateError);
    EXPECT_THROW(tasks.run({.goal = &tasks.make_event(1, EventKind::repeating)}), StateError);
    tasks.clear();

    Event& event = tasks.make_event(2);
    tasks.signal(event);
    EXPECT_THROW(event.rearm(), StateError);
    tasks.signal(event);
    EXPECT_THROW(tasks.signal(event), StateError);
    event.rearm(1);
    EXPECT_FALSE(event.has_happened());
    tasks.create_after(event, nothing, {0});
    EXPECT_THROW(event.rearm(0), StateError);
    event.rearm(3);
    EXPECT_EQ(event.count(), 3u);
    tasks.signal(event);
    EXPECT_THROW(tasks.run(), DeadlockError);
    event.rearm(0);
    EXPECT_TRUE(event.has_happened());

    const auto nested = tasks.add_type<Number>("nested", [&](TaskContext&, const Number&) { tasks.run(); });
    tasks.create(nested, {0});
    EXPECT_THROW(tasks.run(), StateError);
    const auto outside =
        tasks.add_type<Number>("outside", [&](TaskContext&, const Number&) { tasks.create(nothing, {0}); });
    tasks.create(outside, {0});
    EXPECT_THROW(tasks.run(), StateError);
}

TEST(Tasks, SleepLongWithoutWork) {
    // A worker that has nothing to do for long must not keep a processor busy: the others sleep while one works.
    Team team{std::vector<Place>(3)};
    Tasks tasks(team);
    const auto wait = tasks.add_type<Number>(
        "wait", [](TaskContext&, const Number&) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
    tasks.create(wait, {0}, Home::worker(0));
    tasks.run();
    std::uint64_t sleeps = 0;
    for (std::uint32_t worker = 0; worker < 3; ++worker) sleeps += tasks.counts(worker).sleeps;
    EXPECT_EQ(sleeps, 2u);
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
