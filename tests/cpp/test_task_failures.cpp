#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "ranvier/parallel/tasks/tasks.hpp"
#include "task_testing.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

class TasksThatFailOf : public TasksOf {};

TEST_P(TasksThatFailOf, GiveUpWhenOneThrows) {
    constexpr std::uint32_t count = 500;
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::vector<std::atomic<std::uint32_t>> done(count);
        Event& never = tasks_.make_event(2);
        const TaskType<Number>* type = nullptr;
        const auto work = tasks_.add_type<Number>("work", [&](TaskContext& context, const Number& task) {
            ++done[task.value];
            if (task.value == count / 2) {
                context.signal(never);
                throw TaskFailed("task " + std::to_string(task.value));
            }
            if (task.value + 1 < count) context.create(*type, {task.value + 1}, some_home(task.value));
        });
        type = &work;
        tasks_.create(work, {0});
        tasks_.create_after(never, work, {count - 1});
        try {
            tasks_.run();
            FAIL() << "no failure arrived";
        } catch (const TaskFailed& failure) {
            EXPECT_EQ(failure.what(), "task " + std::to_string(count / 2));
        }
        for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(done[i], i <= count / 2 ? 1u : 0u);
        // The signal that came is forgotten, and the team works as before, with tasks and without.
        EXPECT_FALSE(never.has_happened());
        tasks_.signal(never);
        EXPECT_FALSE(never.has_happened());
        tasks_.signal(never);
        expect_whole();
        std::atomic<std::uint32_t> met{0};
        team_.run([&](std::uint32_t) {
            team_.wait();
            ++met;
        });
        EXPECT_EQ(met, workers());
    }
}

TEST_P(TasksThatFailOf, DropWhatHasNotBegun) {
    std::atomic<std::uint32_t> begun{0};
    const auto work = tasks_.add_type<Number>("work", [&](TaskContext&, const Number&) {
        if (++begun == 20) throw TaskFailed("the twentieth");
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    });
    constexpr std::uint32_t count = 100000;
    for (std::uint32_t i = 0; i < count; ++i) tasks_.create(work, {i}, some_home(i));
    EXPECT_THROW(tasks_.run(), TaskFailed);
    EXPECT_LT(begun, count);
    begun = 21;
    tasks_.run();
    EXPECT_EQ(begun, 21u);
    expect_whole();
}

TEST_P(TasksThatFailOf, KeepWhatRepeatsAfterAFailure) {
    bool fail = true;
    std::uint32_t done = 0;
    Event& event = tasks_.make_event(2, EventKind::repeating);
    const auto work = tasks_.add_type<Number>("work", [&](TaskContext&, const Number&) {
        if (fail) throw TaskFailed("for now");
        ++done;
    });
    tasks_.repeat_after(event, work, {0});
    for (int signal = 0; signal < 3; ++signal) tasks_.signal(event);
    EXPECT_THROW(tasks_.run(), TaskFailed);
    fail = false;
    tasks_.signal(event);
    tasks_.run();
    EXPECT_EQ(done, 0u);
    tasks_.signal(event);
    tasks_.run();
    EXPECT_EQ(done, 1u);
}

TEST_P(TasksThatFailOf, StopWhenPollThrows) {
    const TaskType<Number>* type = nullptr;
    const auto endless = tasks_.add_type<Number>(
        "endless", [&](TaskContext& context, const Number& task) { context.create(*type, {task.value}); });
    type = &endless;
    tasks_.create(endless, {0});
    EXPECT_THROW(tasks_.run({.poll = [] { throw TaskFailed("enough"); }}), TaskFailed);
    const auto patient = tasks_.add_type<Number>("patient", [&](TaskContext& context, const Number&) {
        while (!context.stop_requested()) std::this_thread::yield();
    });
    tasks_.create(patient, {0});
    EXPECT_THROW(tasks_.run({.poll = [] { throw TaskFailed("enough"); }}), TaskFailed);
    expect_whole();
}

TEST_P(TasksThatFailOf, TellThatTheyCannotGoOn) {
    Event& event = tasks_.make_event(3);
    const auto signal =
        tasks_.add_type<Number>("signal", [&](TaskContext& context, const Number&) { context.signal(event); });
    const auto wait = tasks_.add_type<Number>("wait", [](TaskContext&, const Number&) {});
    const auto join = tasks_.add_type<Number>("join", [](TaskContext&, const Number&) {});
    for (std::uint32_t i = 0; i < 2; ++i) tasks_.create(signal, {i});
    for (std::uint32_t i = 0; i < 5; ++i) tasks_.create_after(event, wait, {i});
    Event* const twice[] = {&event, &event};
    tasks_.create_after(twice, join, {0});
    try {
        tasks_.run();
        FAIL() << "it went on";
    } catch (const DeadlockError& error) {
        ASSERT_EQ(error.waiting().size(), 2u);
        EXPECT_EQ(error.waiting()[0].type, "wait");
        EXPECT_EQ(error.waiting()[0].tasks, 5u);
        EXPECT_EQ(error.waiting()[1].type, "join");
        EXPECT_EQ(error.waiting()[1].tasks, 1u);
        EXPECT_NE(std::string(error.what()).find("5 of type 'wait'"), std::string::npos) << error.what();
    }
    expect_whole();
    EXPECT_THROW(tasks_.run({.goal = &event}), DeadlockError);
    expect_whole();
}

INSTANTIATE_TEST_SUITE_P(Teams, TasksThatFailOf, all_teams());

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
