#include "engine/forecast/device_memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/saturation.hpp"
#include "device/backend/cell_forest.hpp"
#include "device/backend/memory_plan.hpp"
#include "engine/devices/plastic_tables.hpp"
#include "engine/forecast/memory.hpp"
#include "engine/shard/group_creation.hpp"
#include "engine/shard/shard_memory.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

using device::u32;
using device::u64;

/// Bytes of a population in a block.
struct GroupBytes {
    u32 variables = 0;
    double of_neuron = 0.0;
    double of_group = 0.0;
    double of_device = 0.0;

    /// Values of all neurons, or one for each.
    void add(std::size_t values, std::size_t element) {
        (values > 1 ? of_neuron : of_group) += static_cast<double>(element);
    }
};

/// The first few ids: whether values vary does not depend on how many there are.
IdSequence some_of(const IdSequence& ids) { return ids.subsequence(0, std::min<std::uint64_t>(ids.size(), 16)); }

/// Bytes of detailed cells: of their nodes by cell; of what equal nodes share in a block, if the first cells are equal.
GroupBytes sample_cells(device::CellSource& cells, const network::Population& population, const IdSequence& ids) {
    const auto count = static_cast<u32>(some_of(ids).size());
    device::CellForests forests({{{&cells, 0, 0, count, static_cast<u32>(population.model->receptors.size())}}});
    const device::CellsImage image = forests.images().front();
    const auto all = static_cast<double>(device::place_cells(image, 0, nullptr).bytes.size());
    const double of_nodes =
        static_cast<double>(image.nodes.size()) * (sizeof(device::CellNode) + sizeof(u32) + 3.0 * sizeof(double)) +
        static_cast<double>(image.states) * sizeof(double);
    // The current into each cell is a constant of the group.
    GroupBytes bytes{.of_neuron = of_nodes / count + sizeof(device::CellOfBlock) + sizeof(double),
                     .of_group = sizeof(device::Group) + sizeof(device::Constant)};
    const double shared = all - of_nodes - static_cast<double>(count * sizeof(device::CellOfBlock));
    if (cells.forms().forms.size() == 1) {
        bytes.of_group += shared;
    } else {
        bytes.of_neuron += shared / count;
    }
    bytes.of_device = static_cast<double>(forests.rates().size()) * sizeof(double);
    return bytes;
}

GroupBytes sample_parameters(const network::LoweredNetwork& network, const network::Population& population,
                             const IdSequence& ids, const SimulationOptions& options) {
    GroupBytes bytes{.of_group = sizeof(device::Group)};
    parallel::MemoryAccount account = make_memory_account();
    parallel::NodeMemory memory(account, purpose_of(Component::neurons), {.node = parallel::any_node});
    models::SharedParts parts(&memory);
    const GroupParts made = create_group(network, population, some_of(ids), options,
                                         available_instruction_set(options.instruction_set), &memory, &parts);
    if (!made.neurons) return bytes;
    if (auto* const cells = dynamic_cast<device::CellSource*>(made.neurons.get()))
        return sample_cells(*cells, population, ids);
    const std::optional<models::StepProgram> program = made.neurons->step_program(false);
    if (!program) return bytes;
    bytes.variables = static_cast<u32>(program->variables.size());
    for (const std::vector<double>& values : program->constants) {
        bytes.of_group += sizeof(device::Constant);
        bytes.add(values.size(), sizeof(double));
    }
    bytes.add(program->refractory_steps.size(), sizeof(device::i32));
    return bytes;
}

/// Bytes of a stimulus in a block, by target and in all.
GroupBytes sample_signal(const network::LoweredNetwork& network, std::size_t index, const IdSequence& targets,
                         const SimulationOptions& options) {
    GroupBytes bytes{.of_neuron = sizeof(u64), .of_group = sizeof(device::Signal)};
    parallel::MemoryAccount account = make_memory_account();
    parallel::NodeMemory memory(account, purpose_of(Component::stimuli), {.node = parallel::any_node});
    const network::Network& description = network.network();
    const network::Population& population = description.population(description.populations_of(targets).front());
    const IdSequence chosen = some_of(targets.within(population.first, population.size));
    const auto made = create_stimulus(network, index, population, chosen,
                                      available_instruction_set(options.instruction_set), &memory);
    if (const auto trains = made->poisson_trains()) {
        bytes.of_group += sizeof(device::PoissonInput);
        bytes.add(trains->weights.values.size(), sizeof(double));
        bytes.add(trains->starts.size(), sizeof(device::i64));
        bytes.add(trains->stops.size(), sizeof(device::i64));
        std::size_t longest = 0;
        for (const auto& row : trains->thresholds) longest = std::max(longest, row.size());
        bytes.add(trains->thresholds.size(), (longest + 1) * sizeof(u32) + device::survival_count * sizeof(double));
    } else if (const auto noise = made->noise_currents()) {
        bytes.of_group += sizeof(device::NoiseInput);
        for (const models::GroupValues* values : {&noise->weights, &noise->means, &noise->deviations,
                                                  &noise->modulations, &noise->cycles_per_step, &noise->phases}) {
            bytes.add(values->values.size(), sizeof(double));
        }
        for (const std::vector<Step>* steps : {&noise->starts, &noise->stops, &noise->intervals}) {
            bytes.add(steps->size(), sizeof(device::i64));
        }
    } else {
        bytes.of_neuron = 0.0;
    }
    return bytes;
}

/// Bytes of parameters and stimuli of all blocks; sets the variables of the largest model of each.
double parameter_bytes(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                       const SimulationOptions& options, std::vector<device::BlockImage>& blocks) {
    double bytes = 0.0;
    for (const network::Population& population : network.network().populations()) {
        if (population.model->is_source || population.model->ignores_input) continue;
        std::optional<GroupBytes> of_population;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const IdSequence& ids = layout.shards()[b].share(population.id).ids;
            if (ids.empty()) continue;
            if (!of_population) {
                of_population = sample_parameters(network, population, ids, options);
                bytes += of_population->of_device;
            }
            blocks[b].variables = std::max(blocks[b].variables, of_population->variables);
            bytes += of_population->of_group + static_cast<double>(ids.size()) * of_population->of_neuron;
        }
    }
    for (std::size_t i = 0; i < network.network().stimuli().size(); ++i) {
        std::optional<GroupBytes> of_stimulus;
        for (const connect::ShardLayout& shard : layout.shards()) {
            const IdSequence targets = shard.ids().among(network.network().stimuli()[i].targets);
            if (targets.empty()) continue;
            if (!of_stimulus) of_stimulus = sample_signal(network, i, targets, options);
            bytes += of_stimulus->of_group + static_cast<double>(targets.size()) * of_stimulus->of_neuron;
        }
    }
    return bytes;
}

/// Bytes of states and factors of a table in a block (TablePacker::factors()).
double release_bytes(const connect::TableEstimate::Table& table, const connect::PlasticTableMemory& on_host,
                     double neurons) {
    const bool draws = on_host.needs_sources;
    const auto parameters = static_cast<double>(table.dynamics->per_synapse_parameters().size());
    double of_row = sizeof(device::i64) + sizeof(device::FactorTable) / std::max(1.0, table.rows);
    double of_synapse = 0.0;
    if (draws || parameters > 0.0) {
        of_row += sizeof(device::i64);
        of_synapse += parameters * sizeof(float);
        // On processors, numbers of vesicles may have fewer bytes.
        of_synapse += std::ceil(static_cast<double>(on_host.synapse_bytes) / sizeof(u32)) * sizeof(u32);
    }
    // The factor and two states, as most rules have, or one and what it was before the spike. Some that draw have none.
    if (parameters == 0.0 && (!draws || on_host.synapse_bytes > 0)) of_row += 3.0 * sizeof(double);
    double of_neuron = 0.0;
    if (draws) {
        of_row += 2.0 * sizeof(u64) + sizeof(u32);
        of_synapse += std::min(1.0, table.number_bytes) * sizeof(u32);
        of_neuron = sizeof(u64);
    }
    return of_row * table.rows + of_synapse * table.synapses + of_neuron * neurons;
}

/// Bytes of a table in a block whose synapses change with spikes (pack_tables()).
/// @param rows of the device @param neurons of the block
double table_bytes(const connect::TableEstimate::Table& table, double rows, double neurons, double epoch_steps) {
    constexpr double of_synapse = 2.0 * sizeof(device::u16) + sizeof(float);
    const double common = of_synapse * table.synapses + sizeof(u32) * rows + sizeof(u64) * table.rows;
    const connect::PlasticTableMemory on_host = table.dynamics->memory(false);
    if (table.dynamics->greatest_factor() != 0.0) return common + release_bytes(table, on_host, neurons);
    // On processors, a row has a step and its traces.
    const double same_side = static_cast<double>(on_host.row_bytes - sizeof(device::i32)) / sizeof(double) - 1.0;
    const double axonal = connect::axonal_steps(table.dynamics->axonal_fraction(), table.longest_delay);
    const double on_the_way = axonal == 0.0 ? 0.0 : (axonal + 1.0) * (2.0 * sizeof(device::i64) + 2.0 * sizeof(float));
    const double of_row = 2.0 * sizeof(device::i64) + (1.0 + same_side) * (sizeof(double) + sizeof(float)) + on_the_way;
    const double of_spike = sizeof(device::i64) + (1.0 + same_side) * sizeof(float);
    const double of_neuron = 2.0 * sizeof(u32) + (1.0 + same_side) * sizeof(double);
    // Two tables of decay in each precision, and two of each trace of the same side.
    constexpr double decay_steps = 1024.0;
    const double of_decay = 2.0 * decay_steps * ((1.0 + same_side) * sizeof(double) + sizeof(float));
    // As in PlasticTables::room_of().
    const auto least = static_cast<std::uint64_t>(2.0 * (table.longest_delay + 2.0 + epoch_steps));
    const auto room = static_cast<double>(std::bit_ceil(std::max<std::uint64_t>(32, least)));
    const std::size_t of_values =
        on_host.synapse_bytes + sizeof(float) * table.dynamics->per_synapse_parameters().size();
    double of_transmitter = 0.0;
    if (table.dynamics->transmitter() != nullptr) {
        constexpr double of_pulse = sizeof(device::i64) + sizeof(double);
        of_transmitter = PlasticTables::pulse_room * of_pulse + rows / 8.0;
        // Tables of decays and gains; processors have two more, of 8,192 steps.
        of_transmitter += static_cast<double>(on_host.constant_bytes) - 16.0 * decay_steps * sizeof(float);
    }
    return of_transmitter + common + static_cast<double>(of_values) * table.synapses + of_row * table.rows + of_decay +
           sizeof(device::LearningTable) + neurons * (room * of_spike + of_neuron);
}

}  // namespace

device::DeviceBytes estimate_device_memory(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                                           const connect::TableEstimate& tables, const SimulationOptions& options,
                                           bool draws) {
    const bool is_gpu = options.device != "cuda-emulator";
    const auto ranks = static_cast<double>(layout.placement().ranks());
    double synapses = 0.0;
    double remote_rows = 0.0;
    double bytes_of_tables = 0.0;
    DelaySteps longest = 1;
    for (const connect::TableEstimate::Table& table : tables.tables) {
        if (!table.used) continue;
        if (table.dynamics == nullptr) synapses += table.synapses;
        remote_rows += table.rows * (1.0 - 1.0 / ranks);
        longest = std::max({longest, table.longest_delay, table.reach});
    }
    for (const connect::ProjectionPlan& plan : network.plan().projections) {
        if (!draws || plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        longest = std::max(longest, connect::round_delay(plan.delays.greatest(), plan.delay_grid));
    }
    device::NetworkImage image;
    image.epoch_steps = static_cast<u32>(std::min<Step>(network.shortest_delay(), device::longest_epoch));
    u64 sources = 0;
    for (const connect::ShardLayout& shard : layout.shards()) sources += shard.size();
    for (const connect::ShardLayout& shard : layout.shards()) {
        device::BlockImage block;
        block.neurons = shard.size();
        for (const network::Population& population : network.network().populations()) {
            if (!population.model->relays_input) continue;
            block.most_relayed +=
                static_cast<u32>(shard.share(population.id).ids.size()) * population.model->most_spikes;
        }
        block.slots = longest + image.epoch_steps + 1;
        block.rows = static_cast<u32>(std::min(static_cast<double>(sources) + remote_rows, 0x1p32 - 1.0));
        block.synapses = to_saturated(synapses);
        for (std::uint32_t receptor = 0; receptor < network.receptors(); ++receptor) {
            block.receptors.push_back({.inputs = static_cast<u32>(network.plan().inputs_at(receptor, shard).size())});
        }
        for (const connect::TableEstimate::Table& table : tables.tables) {
            if (!table.used || table.dynamics == nullptr) continue;
            bytes_of_tables += table_bytes(table, block.rows, block.neurons, image.epoch_steps);
        }
        image.blocks.push_back(std::move(block));
    }
    const double parameters = parameter_bytes(network, layout, options, image.blocks);
    device::DeviceBytes bytes = device::plan_memory(image, is_gpu ? device::usual_spike_room : 0).purposes;
    bytes.state += to_saturated(parameters);
    bytes.synapses += to_saturated(bytes_of_tables);
    if (is_gpu) bytes.kernels = device::spare_bytes;
    return bytes;
}

void check_device_memory(const device::DeviceBytes& needed, const std::string& name, std::optional<std::uint64_t> room,
                         std::int32_t ranks) {
    // What is reserved for kernels is not part of the room.
    const std::uint64_t bytes = needed.sum() - needed.kernels;
    if (!room || bytes <= *room) return;
    const double ratio = static_cast<double>(bytes) / std::max(1.0, static_cast<double>(*room));
    const double devices = std::ceil(ratio * ranks * 1.02);
    throw InsufficientMemoryError({.object = "memory of the device " + name,
                                   .value = bytes_as_text(bytes) + " for the network",
                                   .bound = "there is room for " + bytes_as_text(*room),
                                   .remedy = "run on at least " + to_text(devices) +
                                             " such devices, with one rank each, make the network smaller, to " +
                                             to_text(std::floor(98.0 / ratio)) +
                                             " % of its synapses, or simulate on processors: device='cpu'"});
}

}  // namespace ranvier::engine
