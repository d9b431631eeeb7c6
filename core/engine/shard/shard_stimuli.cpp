#include "engine/shard/shard_stimuli.hpp"

#include <algorithm>
#include <utility>

#include "engine/shard/group_creation.hpp"
#include "network/site_choice.hpp"

namespace ranvier::engine {

void ShardStimulus::add(Step step, double* out) {
    if (places.empty()) return stimulus->add(step, out);
    // Adding -0.0 changes nothing, so that targets with and without gaps get the same bits.
    std::fill(sums.begin(), sums.end(), -0.0);
    stimulus->add(step, sums.data());
    for (std::size_t i = 0; i < places.size(); ++i) out[places[i]] += sums[i];
}

ShardStimuli::ShardStimuli(const network::LoweredNetwork& network, const connect::ShardLayout& layout,
                           const ShardInputs& inputs, ShardGroups& groups, InstructionSet instruction_set,
                           std::pmr::memory_resource* memory)
    : layout_(layout), inputs_(inputs), instruction_set_(instruction_set), memory_(memory) {
    for (std::size_t i = 0; i < network.network().stimuli().size(); ++i) {
        for (ShardStimulus& stimulus : make(network, i)) {
            groups[stimulus.population].stimuli.push_back(stimuli_.size());
            stimuli_.push_back(std::move(stimulus));
        }
    }
}

std::vector<ShardStimulus> ShardStimuli::make(const network::LoweredNetwork& network, std::size_t index) const {
    const network::Network& description = network.network();
    const network::StimulusSpec& spec = description.stimuli()[index];
    std::vector<ShardStimulus> made;
    for (const PopulationId id : description.populations_of(spec.targets)) {
        const IdSequence targets = layout_.share(id).ids.among(spec.targets);
        if (targets.empty()) continue;
        const network::Population& population = description.population(id);
        ShardStimulus stimulus(memory_);
        stimulus.index = index;
        stimulus.stimulus = create_stimulus(network, index, population, targets, instruction_set_, memory_);
        stimulus.population = id;
        stimulus.offset = layout_.local_index(id, targets[0]).value;
        stimulus.current = spec.model->output == models::StimulatorOutput::current;
        stimulus.receptor =
            stimulus.current ? network.electrode(index, population) : network.receptor(index, population);
        place(stimulus, targets,
              network::sites_of_stimulus(description, index, population, stimulus.current ? 0 : stimulus.receptor,
                                         targets));
        made.push_back(std::move(stimulus));
    }
    return made;
}

void ShardStimuli::replace(ShardStimulus& stimulus) noexcept {
    for (ShardStimulus& present : stimuli_) {
        if (present.index != stimulus.index || present.population != stimulus.population) continue;
        stimulus.stimulus->take_state(*present.stimulus);
        present.stimulus.swap(stimulus.stimulus);
        present.receptor = stimulus.receptor;
    }
}

void ShardStimuli::place(ShardStimulus& stimulus, const IdSequence& targets,
                         std::span<const std::uint32_t> sites) const {
    const connect::ShardLayout::PopulationShare& share = layout_.share(stimulus.population);
    std::uint64_t first = share.ids.count_below(targets[0]);
    std::uint64_t stride = 1;
    if (!stimulus.current && inputs_.layout(stimulus.receptor).has_sites()) {
        const connect::InputLayout& inputs = inputs_.layout(stimulus.receptor);
        stride = inputs.sites(stimulus.population);
        stimulus.offset = inputs.first(stimulus.population) + static_cast<std::uint32_t>(first * stride);
    }
    if (sites.empty() && share.ids.count_below(targets.back()) - first == targets.size() - 1) return;
    for (std::uint64_t i = 0; i < targets.size(); ++i) {
        const std::uint64_t place = (share.ids.count_below(targets[i]) - first) * stride;
        stimulus.places.push_back(static_cast<std::uint32_t>(place + (sites.empty() ? 0 : sites[i])));
    }
    stimulus.sums.resize(targets.size());
}

}  // namespace ranvier::engine
