#include "engine/simulation/run_checks.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/step_times.hpp"
#include "network/network_checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

/// Weights of some models are unbounded, but sums of inputs are not.
void RunChecks::check_growth() const {
    for (const auto& shard : shards_) {
        for (std::uint32_t kind = 0; kind < weight_bounds_.size(); ++kind) {
            const connect::LearningSynapses* const learning = shard->synapses().learning(connect::KindIndex{kind});
            if (learning == nullptr || learning->greatest_added() <= weight_bounds_[kind]) continue;
            std::string name;
            for (const connect::ProjectionPlan& plan : network_.plans()) {
                if (plan.feeds(connect::KindIndex{kind})) name = network_.network().projections()[plan.id.value].name;
            }
            throw ValueOutOfBoundsError(
                {.object = "weight of projection " + network::quoted(name),
                 .value = to_text(learning->greatest_added()),
                 .bound = "it has grown beyond " + to_text(weight_bounds_[kind]) +
                          ", and sums of such weights are not exact",
                 .remedy = "give connect() the weight_bound that is needed, or change how the synapses learn"});
        }
    }
}

/// Shared variables of user-defined synapses may grow without bound, although the released part of the weight is
/// bounded.
void RunChecks::check_rows() const {
    std::optional<connect::RowFailure> first;
    connect::KindIndex first_kind;
    NeuronId first_source;
    for (const auto& shard : shards_) {
        for (std::uint32_t kind = 0; kind < weight_bounds_.size(); ++kind) {
            const connect::StoredSynapses* const synapses = shard->synapses().stored(connect::KindIndex{kind});
            const connect::RowState* const state = synapses == nullptr ? nullptr : synapses->row_state();
            const auto failure = state == nullptr ? std::nullopt : state->failure();
            if (!failure) continue;
            const connect::SynapseTable& table = *shard->synapses().table(connect::KindIndex{kind});
            const NeuronId source = table.has_sources() ? table.source(failure->row) : NeuronId{0};
            const auto place = std::tuple(failure->step, kind, source);
            if (first && std::tuple(first->step, first_kind.value, first_source) <= place) continue;
            first = failure;
            first_kind = connect::KindIndex{kind};
            first_source = source;
        }
    }
    if (!first) return;
    throw StateError({.object = "variable " + std::string(first->variable) + " of " +
                                std::string(network_.synapse(first_kind).model->name),
                      .value = to_text(first->value),
                      .bound = "it must stay finite, and was not after the spike of a source at " +
                               to_text(StepTimes(network_.network().resolution())(first->step)) + " ms",
                      .remedy = "bound it where on_pre assigns it, as by clip(..., 0, 1)"});
}

/// Parameters, weights and currents have bounds, but their combination can still overflow. A neuron whose potential
/// is NaN would never fire again.
void RunChecks::check_finite(Step now) const {
    std::optional<FirstFailure> first;
    for (const auto& shard : shards_) {
        for (const ShardGroup& group : shard->groups()) {
            if (!group.neurons) continue;
            auto failure = group.neurons->failure();
            if (!failure) continue;
            const Step after = failure->step ? *failure->step * group.stride : now;
            const NeuronId neuron = shard->layout().share(group.population).ids[failure->neuron];
            if (first && std::pair(first->step, first->neuron) <= std::pair(after, neuron)) continue;
            first = FirstFailure{std::move(*failure), after, neuron, group.population};
        }
    }
    if (first) throw_failure(*first);
}

void RunChecks::throw_failure(const FirstFailure& first) const {
    const auto& population = network_.network().population(first.population);
    const models::GroupFailure& failure = first.failure;
    const bool is_double = population.model->needs_double_precision || double_precision_;
    ErrorFields fields{.object = "state of population " + network::quoted(population.name),
                       .value = failure.value,
                       .bound = failure.what + " by step " + std::to_string(first.step),
                       .remedy = "check the units of weights, currents and parameters, or " +
                                 std::string(is_double ? "take shorter steps" : "use double precision")};
    if (!failure.remedy.empty()) fields.remedy = failure.remedy;
    if (failure.step) {
        fields.object = failure.variable + " of neuron " + std::to_string(first.neuron.value - population.first.value) +
                        " of population " + network::quoted(population.name);
        if (!failure.place.empty()) fields.object += " at " + failure.place;
        fields.bound = failure.what + ", at " + to_text(StepTimes(network_.network().resolution())(first.step)) + " ms";
        fields.remedy = "check the units of weights, currents and parameters, or take shorter steps";
    }
    throw StateError(std::move(fields));
}

}  // namespace ranvier::engine
