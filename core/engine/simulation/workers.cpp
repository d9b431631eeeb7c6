#include "engine/simulation/workers.hpp"

#include <exception>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/option_choices.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

Workers::Workers(std::shared_ptr<comm::Communicator> communicator, MachineShare machine,
                 const SimulationOptions& options)
    : communicator_(std::move(communicator)),
      machine_(std::move(machine)),
      places_(machine_.place(options.pinning, choose_threads(options, machine_.default_threads()))),
      stealing_(choose_stealing(options)) {}

void Workers::start(const SimulationOptions& options) {
    team_ = std::make_unique<parallel::Team>(places_, machine_.team_options(options.pinning, places_, stealing_));
    times_.resize(size());
    traces_.reserve(size());
    for (std::uint32_t worker = 0; worker < size(); ++worker) traces_.emplace_back(options.trace);
}

void Workers::run_together(const std::function<void(std::uint32_t)>& job, const Poll& poll) {
    std::exception_ptr interruption;
    try {
        team_->run(job, [&] {
            if (!poll || interruption) return;
            try {
                poll();
            } catch (...) {
                interruption = std::current_exception();
                throw;
            }
        });
    } catch (...) {
        const std::exception_ptr failure = std::current_exception();
        // The processes have stopped together, or this one had finished the run.
        if (failure == interruption) throw;
        if (!is_alone()) end_all(*communicator_, failure);
        has_failed_ = true;
        throw;
    }
}

void Workers::run_for_shards(std::uint32_t shards, const std::function<void(std::uint32_t)>& job, const Poll& poll) {
    run_together([&](std::uint32_t worker) { team_->for_assigned_items(worker, shards, job); }, poll);
}

void Workers::check_whole() const {
    if (!has_failed_) return;
    throw StateError({.object = "simulation",
                      .value = {},
                      .bound = "an earlier run failed, and its shards have stopped at different steps",
                      .remedy = "build it again, or load a saved state"});
}

Crowding Workers::crowding_since_start() const {
    const parallel::CrowdingCounts counts = team_->crowding_counts();
    Crowding crowding{.delayed = counts.delayed_seconds,
                      .crowded = counts.crowded_seconds,
                      .asleep = communicator_->seconds_asleep()};
    for (std::uint32_t worker = 0; worker < size(); ++worker) crowding.taken_over += team_->items_taken_over(worker);
    return crowding;
}

Crowding Workers::crowding() const {
    Crowding crowding = crowding_since_start();
    crowding.delayed -= crowding_before_.delayed;
    crowding.crowded -= crowding_before_.crowded;
    crowding.taken_over -= crowding_before_.taken_over;
    crowding.asleep -= crowding_before_.asleep;
    return crowding;
}

void Workers::reset_counts() {
    times_.assign(size(), {});
    for (WorkTrace& trace : traces_) trace.clear();
    crowding_before_ = crowding_since_start();
}

}  // namespace ranvier::engine
