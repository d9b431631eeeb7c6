#include "engine/shard/shard_groups.hpp"

#include <algorithm>
#include <utility>

#include "engine/shard/group_creation.hpp"

namespace ranvier::engine {

namespace {

/// Whether synapses onto a population change with its spikes.
bool has_learning_synapses(const network::LoweredNetwork& network, PopulationId population) {
    return std::ranges::any_of(network.plans(), [&](const connect::ProjectionPlan& plan) {
        const network::SynapseSpec& synapse = network.network().projections()[plan.id.value].synapse;
        return plan.reaches(population) && !synapse.is_static() && synapse.model->learns();
    });
}

/// Bytes of one neuron.
double bytes_of_step(const models::NeuronModel& model) {
    if (model.step_bytes > 0.0) return model.step_bytes;
    return 2.0 * sizeof(double) * static_cast<double>(model.variables.size() + model.receptors.size());
}

}  // namespace

void ShardGroup::make_currents(Step row_count, std::pmr::memory_resource* memory) {
    current_row_count = row_count;
    currents.clear();
    for (const bool is_stimulated : stimulated_electrodes) {
        const std::size_t numbers = is_stimulated ? static_cast<std::size_t>(row_count) * size : 0;
        currents.emplace_back(numbers, memory);
        std::fill_n(currents.back().data(), numbers, 0.0);
    }
}

models::StepRows ShardGroup::current_rows(std::size_t electrode) {
    if (currents[electrode].empty()) return {};
    return {.data = currents[electrode].data(),
            .stride = size,
            .mask = static_cast<std::uint64_t>(current_row_count - 1),
            .step_rows = stride};
}

ShardGroups::ShardGroups(const network::LoweredNetwork& network, const connect::ShardLayout& layout,
                         const ShardInputs& inputs, const SimulationOptions& options, InstructionSet instruction_set,
                         models::SharedParts& shared, parallel::NodeMemory* memory) {
    for (const network::Population& population : network.network().populations()) {
        const connect::ShardLayout::PopulationShare& share = layout.share(population.id);
        ShardGroup group;
        group.population = population.id;
        group.model = population.model.get();
        group.offset = share.offset;
        group.size = static_cast<std::uint32_t>(share.ids.size());
        group.receptors = static_cast<std::uint32_t>(population.model->receptors.size());
        for (std::uint32_t receptor = 0; receptor < group.receptors; ++receptor) {
            group.first_inputs.push_back(inputs.layout(receptor).first(population.id));
            group.inputs.push_back(group.size * inputs.layout(receptor).sites(population.id));
        }
        group.is_source = population.model->is_source;
        group.fires_repeatedly = population.model->most_spikes > 1;
        group.stride = population.stride;
        group.learns = has_learning_synapses(network, population.id);
        group.stimulated_electrodes = network.stimulated_electrodes(layout, population);
        group.advances_by_stretches = group.size > 0 && population.model->stretch_gain != models::StretchGain::none;
        group.step_bytes = group.size * bytes_of_step(*population.model);
        GroupParts parts = create_group(network, population, share.ids, options, instruction_set, memory, &shared);
        group.parameters = std::move(parts.parameters);
        group.neurons = std::move(parts.neurons);
        if (group.neurons && !group.fires_repeatedly) {
            largest_output_ = std::max(largest_output_, group.neurons->largest_output());
        }
        groups_.push_back(std::move(group));
    }
}

bool ShardGroups::has_failed() const {
    return std::ranges::any_of(
        groups_, [](const ShardGroup& group) { return group.neurons != nullptr && group.neurons->has_failed(); });
}

Step ShardGroups::silent_until(Step now) const {
    constexpr std::uint32_t few = 16;
    constexpr Step far_away = Step{1} << 60;
    Step last = far_away;
    for (const ShardGroup& group : groups_) {
        if (!group.neurons) continue;
        const Step present = now / group.stride;
        const bool may_be_silent = group.is_source || group.size <= few;
        const Step silent = may_be_silent ? group.neurons->silent_until(present) : present;
        // It fires only at the ends of the steps of its group.
        if (silent < far_away / group.stride) last = std::min(last, (silent + 1) * group.stride - 1);
    }
    return last;
}

double ShardGroups::step_bytes() const {
    double bytes = 0.0;
    for (const ShardGroup& group : groups_) bytes += group.step_bytes;
    return bytes;
}

bool ShardGroups::advance_by_stretches() const {
    return std::ranges::any_of(groups_, &ShardGroup::advances_by_stretches);
}

void ShardGroups::reset_counts() {
    for (ShardGroup& group : groups_) {
        group.spikes = 0;
        group.update_seconds = 0.0;
    }
}

}  // namespace ranvier::engine
