#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "ranvier/parallel/tasks/tasks.hpp"

/// What the tests of tasks share.
namespace ranvier::parallel {

/// What tasks throw here: a type that nothing else throws.
struct TaskFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Number {
    std::uint32_t value;
};

/// Workers on invented nodes, dealt to them in turn.
inline std::vector<Place> places_on(std::uint32_t workers, std::uint32_t nodes) {
    std::vector<Place> places(workers);
    for (std::uint32_t worker = 0; worker < workers; ++worker) places[worker].node = worker % nodes;
    return places;
}

inline TaskCounts sum_of_counts(const Tasks& tasks) {
    TaskCounts sum;
    for (std::uint32_t worker = 0; worker < tasks.team().size(); ++worker) {
        sum.executed += tasks.counts(worker).executed;
        sum.stolen_locally += tasks.counts(worker).stolen_locally;
        sum.stolen_remotely += tasks.counts(worker).stolen_remotely;
    }
    return sum;
}

/// Each test for teams of all sizes and policies, on three nodes.
class TasksOf : public testing::TestWithParam<std::tuple<std::uint32_t, StealingPolicy>> {
   protected:
    std::uint32_t workers() const { return std::get<0>(GetParam()); }
    StealingPolicy policy() const { return std::get<1>(GetParam()); }
    static constexpr std::uint32_t nodes = 3;

    Team team_{places_on(workers(), nodes), {.stealing = policy()}};
    Tasks tasks_{team_};

    Home some_home(std::uint32_t number) const {
        switch (number % 3) {
            case 0:
                return Home::anywhere();
            case 1:
                return Home::worker(number % workers());
            default:
                return Home::node(number % std::min(workers(), nodes));
        }
    }
    void expect_whole() {
        std::atomic<std::uint32_t> done{0};
        const auto type = tasks_.add_type<Number>("after", [&](TaskContext&, const Number&) { ++done; });
        for (std::uint32_t i = 0; i < 100; ++i) tasks_.create(type, {i}, some_home(i));
        tasks_.run();
        EXPECT_EQ(done, 100u);
    }
};

/// Teams of all sizes with all policies.
inline auto all_teams() {
    return testing::Combine(testing::Values(1u, 2u, 3u, 8u, 16u),
                            testing::Values(StealingPolicy::local_and_remote, StealingPolicy::prefer_local,
                                            StealingPolicy::local_only, StealingPolicy::none));
}

}  // namespace ranvier::parallel
