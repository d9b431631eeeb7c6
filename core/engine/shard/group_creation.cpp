#include "engine/shard/group_creation.hpp"

#include <algorithm>
#include <cstdint>

#include "network/network_checks.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::engine {

namespace {

bool awaits_code(const SimulationOptions& options, const network::Population& population) {
    const std::vector<std::uint32_t>& awaiting = options.programs_to_compile;
    return std::ranges::find(awaiting, population.id.value) != awaiting.end();
}

bool has_any(const IdSequence& neurons, const network::Population& population) {
    return !neurons.within(population.first, population.size).empty();
}

bool reads_compartments(const network::Network& network, const network::Population& population) {
    const auto records = [&](const network::StateRecorder& recorder) {
        return recorder.at_compartments && has_any(recorder.neurons, population);
    };
    const auto couples = [&](const network::OutsideField& field) {
        return field.couples() && has_any(field.cells, population);
    };
    return std::ranges::any_of(network.state_recorders(), records) ||
           std::ranges::any_of(network.outside_fields(), couples);
}

std::vector<models::GroupField> make_fields(const network::Network& network, const network::Population& population,
                                            const IdSequence& ids) {
    std::vector<models::GroupField> made;
    for (const std::size_t index : fields_of(network, population)) {
        const network::OutsideField& field = network.outside_fields()[index];
        models::GroupField& of_group = made.emplace_back();
        if (!field.couples()) of_group.courses = std::make_shared<const models::FieldCourses>(field.courses);
        of_group.interval = field.steps / population.stride;
        const IdSequence cells = ids.among(field.cells);
        for (std::uint64_t i = 0; i < cells.size(); ++i) {
            of_group.neurons.push_back(static_cast<std::uint32_t>(ids.count_below(cells[i])));
        }
    }
    return made;
}

}  // namespace

std::vector<std::size_t> fields_of(const network::Network& network, const network::Population& population) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < network.outside_fields().size(); ++i) {
        if (has_any(network.outside_fields()[i].cells, population)) found.push_back(i);
    }
    return found;
}

GroupParts create_group(const network::LoweredNetwork& network, const network::Population& population,
                        const IdSequence& ids, const SimulationOptions& options, InstructionSet instruction_set,
                        std::pmr::memory_resource* memory, models::SharedParts* shared) {
    GroupParts group;
    for (const models::GroupValues& values : network.parameters(population, ids)) {
        group.parameters.push_back(values.copy(memory));
    }
    if (ids.empty()) return group;
    const std::vector<models::GroupValues> variables = network.variables(population, ids, group.parameters);
    std::vector<std::vector<Step>> spike_steps;
    for (std::uint64_t i = 0; i < ids.size() && !population.spike_steps.empty(); ++i) {
        spike_steps.push_back(population.spike_steps[ids[i].value - population.first.value]);
    }
    const std::vector<std::vector<double>> sequences =
        network::ordered(population.model->sequences, population.sequences);
    const std::vector<models::GroupField> fields = make_fields(network.network(), population, ids);
    group.neurons =
        population.model->create({.model = population.model.get(),
                                  .ids = ids,
                                  .population_first = population.first,
                                  .population_size = population.size,
                                  .key = make_key(network.network().seed(), Purpose::neuron, population.id.value),
                                  .resolution = network.network().step_of(population),
                                  .precision = options.precision,
                                  .instruction_set = instruction_set,
                                  .compiled_programs = options.compiled_programs,
                                  .reads_compartments = reads_compartments(network.network(), population),
                                  .fields = fields,
                                  .awaits_code = awaits_code(options, population),
                                  .parameters = group.parameters,
                                  .variables = variables,
                                  .spike_steps = spike_steps,
                                  .sequences = sequences,
                                  .memory = memory,
                                  .shared = shared});
    return group;
}

std::unique_ptr<models::Stimulus> create_stimulus(const network::LoweredNetwork& network, std::size_t index,
                                                  const network::Population& population, const IdSequence& targets,
                                                  InstructionSet instruction_set, std::pmr::memory_resource* memory) {
    const network::Network& description = network.network();
    const network::StimulusSpec& spec = description.stimuli()[index];
    const bool current = spec.model->output == models::StimulatorOutput::current;
    const std::vector<std::vector<double>> sequences = network::ordered(spec.model->sequences, spec.sequences);
    const std::vector<models::GroupValues> parameters = network.parameters(index, targets);
    const double step = description.step_of(population);
    return spec.model->create({.resolution = step,
                               .instruction_set = instruction_set,
                               .key = make_key(description.seed(), current ? Purpose::noise : Purpose::poisson, index),
                               .targets = targets,
                               .parameters = parameters,
                               .sequences = sequences,
                               .weights = network.weights(index, targets),
                               .delay = connect::round_delay(spec.delay.value(), 1.0 / step),
                               .memory = memory});
}

}  // namespace ranvier::engine
