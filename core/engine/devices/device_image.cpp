#include "engine/devices/device_image.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "device/kernel/block.hpp"
#include "engine/devices/refusal.hpp"
#include "engine/devices/table_rows.hpp"
#include "engine/option_choices.hpp"
#include "network/receptor_choice.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/state_columns.hpp"

namespace ranvier::engine {

namespace {

using device::u32;
using device::u64;

/// Sums have 64 bits with their sign.
constexpr double most_quanta = 0x1p62;
constexpr u32 most_neurons = 0x7FFF;

/// A block keeps the arrivals of an epoch apart from those of the step that is read.
u32 ring_slots(DelaySteps greatest_delay, Step epoch_steps) {
    return greatest_delay + static_cast<u32>(epoch_steps) + 1;
}

u32 input_count(const ShardInputs& inputs) {
    u32 count = 0;
    for (u32 receptor = 0; receptor < inputs.receptors(); ++receptor) count += inputs.size(receptor);
    return count;
}

/// The cells of a group with compartments; null: it has neurons without.
device::CellSource* cells_of(const ShardGroup& group) { return dynamic_cast<device::CellSource*>(group.neurons.get()); }

/// Whether a device takes the neurons of a group through their steps, and whether by a program.
bool has_steps(const ShardGroup& group) { return group.neurons != nullptr && !is_played(group); }
bool has_program(const ShardGroup& group) { return has_steps(group) && cells_of(group) == nullptr; }

std::vector<std::vector<device::CellGroupOfBlock>> cell_groups(std::span<const std::unique_ptr<Shard>> shards) {
    std::vector<std::vector<device::CellGroupOfBlock>> blocks(shards.size());
    for (std::size_t s = 0; s < shards.size(); ++s) {
        // As DeviceImage::groups().
        u32 number = 0;
        for (const ShardGroup& group : shards[s]->groups()) {
            if (!has_steps(group)) continue;
            if (device::CellSource* const cells = cells_of(group)) {
                blocks[s].push_back({cells, number, group.offset, group.size, group.receptors});
            }
            ++number;
        }
    }
    return blocks;
}

std::vector<u64> ids_of(const IdSequence& sequence) {
    std::vector<u64> ids;
    ids.reserve(sequence.size());
    for (u64 i = 0; i < sequence.size(); ++i) ids.push_back(sequence[i].value);
    return ids;
}

/// Calls visit() with the numbers of a variable, in double or single precision.
template <class Column, class Visit>
void visit_numbers(Column& column, const Visit& visit) {
    if (auto* const numbers = std::get_if<std::vector<float>>(&column.values)) return visit(*numbers);
    visit(std::get<std::vector<double>>(column.values));
}

std::vector<double> to_vector(const models::GroupValues& values) {
    return {values.values.begin(), values.values.end()};
}
std::vector<device::i64> to_vector(const std::vector<Step>& steps) { return {steps.begin(), steps.end()}; }

device::PoissonImage poisson_image(const models::PoissonTrains& trains) {
    device::PoissonImage image{.key_low = trains.key.low,
                               .key_high = trains.key.high,
                               .delay = trains.delay,
                               .threshold_count = 0,
                               .weights = to_vector(trains.weights),
                               .starts = to_vector(trains.starts),
                               .stops = to_vector(trains.stops),
                               .thresholds = {},
                               .lengths = {},
                               .survival = {}};
    for (const auto& row : trains.thresholds) {
        image.threshold_count = std::max(image.threshold_count, static_cast<u32>(row.size()));
    }
    for (std::size_t row = 0; row < trains.thresholds.size(); ++row) {
        const std::vector<std::uint32_t>& given = trains.thresholds[row];
        image.lengths.push_back(static_cast<u32>(given.size()));
        image.thresholds.insert(image.thresholds.end(), given.begin(), given.end());
        image.thresholds.resize((row + 1) * image.threshold_count, 0);
        image.survival.insert(image.survival.end(), trains.survival[row].begin(), trains.survival[row].end());
        image.survival.resize((row + 1) * device::survival_count, 0.0);
    }
    return image;
}

device::NoiseImage noise_image(const models::NoiseCurrents& noise) {
    return {.key_low = noise.key.low,
            .key_high = noise.key.high,
            .delay = noise.delay,
            .weights = to_vector(noise.weights),
            .means = to_vector(noise.means),
            .deviations = to_vector(noise.deviations),
            .modulations = to_vector(noise.modulations),
            .cycles_per_step = to_vector(noise.cycles_per_step),
            .phases = to_vector(noise.phases),
            .starts = to_vector(noise.starts),
            .stops = to_vector(noise.stops),
            .intervals = to_vector(noise.intervals)};
}

/// Whether a projection reaches a receptor at which some neurons of the network have several sites.
bool reaches_sites(const network::Network& network, const network::Projection& projection,
                   const network::Population& targets) {
    const network::ReceptorChoice chosen = network::choose_receptors(*targets.model, projection.receptor);
    return std::ranges::any_of(network.populations(), [&](const network::Population& population) {
        return population.model->sites_at(chosen.positive).most > 1 ||
               population.model->sites_at(chosen.negative).most > 1;
    });
}

}  // namespace

void check_for_device(const network::Network& network, const SimulationOptions& options, std::int32_t ranks) {
    const auto refuse_for = [&](const std::string& bound) { refuse_for_device(options.device, bound); };
    if (!network.outside_fields().empty()) refuse_for("it does not have potentials outside of cells yet");
    if (ranks > 1) {
        if (choose_exchange(options, ranks).on_host) {
            refuse_for("exchange=" + std::string(options.exchange.name()) +
                       " is for threads of processors, which exchange spikes when they have finished a round");
        }
        if (!options.keep_sources) {
            refuse_for("it finds the rows of its own neurons by their sources, so that keep_sources must be True");
        }
    }
    if (!options.sort_connections.value_or(true)) {
        refuse_for("its rows are sorted by source, and not with sort_connections=False");
    }
    if (options.weight_precision != models::Precision::single_precision) {
        refuse_for("it has weights in single precision, and not in double precision");
    }
    if (options.trace > 0 || options.trace_epochs) refuse_for("it keeps no times of epochs or of pieces of work");
    if (options.measure_costs) refuse_for("it does not measure the costs of populations");
    if (is_asynchronous(options)) refuse_for("its blocks advance together, and not with stepping='async'");
    for (const network::Population& population : network.populations()) {
        const std::string model(population.model->name);
        const bool is_played = population.model->is_source || population.model->ignores_input;
        const bool is_cells = population.size > 0 && population.model->compartments(0) > 0;
        if (const auto missing = population.model->missing_on_devices()) {
            refuse_for("the cells of population '" + population.name + "' have " + *missing +
                       ", which it does not have");
        }
        if (!is_played && !is_cells && !population.model->relays_input &&
            !population.model->has_step_program(options.precision)) {
            const bool is_single = population.model->has_step_program(models::Precision::double_precision);
            refuse_for("it does not have the model '" + model + "' of population '" + population.name + "' " +
                       (is_single ? "in single precision " : "") + "yet");
        }
        if (population.stride != 1) {
            refuse_for("population '" + population.name + "' has steps of its own, which it does not have yet");
        }
        if (population.model->receptors.size() > device::most_receptors) {
            refuse_for("population '" + population.name + "' has " +
                       std::to_string(population.model->receptors.size()) + " receptors, and it has at most " +
                       std::to_string(device::most_receptors));
        }
    }
    for (const network::Projection& projection : network.projections()) {
        if (const auto refused = refused_synapses(projection, network.resolution())) refuse_for(*refused);
        if (projection.synapse.is_static() || !projection.synapse.model->learns()) continue;
        if (ranks > 1 && !projection.synapse.model->transmitter.empty()) {
            refuse_for("on several processes, it does not have synapses '" +
                       std::string(projection.synapse.model->name) + "' such as those of '" + projection.name +
                       "' yet, which a transmitter modulates");
        }
        const bool is_axonal = projection.synapse.make_dynamics(network.resolution())->axonal_fraction() > 0.0;
        const auto has_some = [](const IdSequence& ids, const network::Population& population) {
            const NeuronId end{population.first.value + population.size};
            return ids.count_below(end) > ids.count_below(population.first);
        };
        for (const network::Population& population : network.populations()) {
            const std::string repeated =
                "the neurons of '" + population.name + "' may fire several times in a step, and it has no synapses ";
            if (population.model->relays_input && has_some(projection.targets, population)) {
                refuse_for(repeated + "that learn onto such neurons, as those of '" + projection.name + "'");
            }
            if (has_some(projection.targets, population) && reaches_sites(network, projection, population)) {
                refuse_for(
                    "it does not have synapses that learn at receptors with several places on a cell yet, as those "
                    "of '" +
                    projection.name + "'");
            }
            if (is_axonal && population.model->most_spikes > 1 && has_some(projection.sources, population)) {
                refuse_for(repeated + "with an axonal delay from such neurons, as those of '" + projection.name + "'");
            }
        }
    }
}

DeviceImage::DeviceImage(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout,
                         Step epoch_steps, Step longest_delay, Step exchange_steps,
                         const network::LoweredNetwork& network, std::string device)
    : network_(network.network()),
      plan_(network.plan()),
      device_(std::move(device)),
      shards_(shards),
      layout_(layout),
      epoch_steps_(epoch_steps),
      cells_(cell_groups(shards)),
      plastic_(shards, network, std::max(epoch_steps, exchange_steps), device_),
      host_stimuli_(shards.size()) {
    DelaySteps greatest = std::max<DelaySteps>(1, static_cast<DelaySteps>(longest_delay));
    for (const auto& shard : shards_) {
        for (const auto& table : shard->synapses().tables()) {
            if (table) greatest = std::max(greatest, table->greatest_delay());
        }
    }
    slots_ = ring_slots(greatest, epoch_steps_);
    u32 source = 0;
    for (const auto& shard : shards_) {
        first_sources_.push_back(source);
        const u32 size = shard->layout().size();
        if (size > most_neurons) {
            refuse_for_device(device_, "a block has at most " + std::to_string(most_neurons) + " neurons, and " +
                                           std::to_string(shards_.size()) + " blocks would have " +
                                           std::to_string(size));
        }
        // A place beyond the end of the ring is below 2^32.
        if (u64{slots_} * input_count(shard->inputs()) > INT32_MAX) {
            refuse_for_device(device_, "a block has at most 2^31 sums, and this one would have " +
                                           std::to_string(input_count(shard->inputs())) + " in " +
                                           std::to_string(slots_) + " steps");
        }
        source += size;
    }
    source_count_ = source;
    row_counts_.assign(shards_.size(), 0);
    sources_.assign(layout_.ids().size(), 0);
    for (u32 s = 0; s < shards_.size(); ++s) {
        for (const connect::ShardLayout::PopulationShare& share : shards_[s]->layout().shares()) {
            for (u64 i = 0; i < share.ids.size(); ++i) {
                sources_[layout_.ids().count_below(share.ids[i])] =
                    first_sources_[s] + share.offset + static_cast<u32>(i);
            }
        }
    }
}

/// Weights that a user sets may need a finer grid than those with which the network was built.
void DeviceImage::fit_quantum() {
    connect::WeightRange all;
    for (const auto& shard : shards_) {
        for (const connect::WeightRange& range : shard->inputs().weights()) all.join(range);
    }
    if (std::isfinite(all.quantum)) quantum_ = all.quantum;
    if (all.greatest_sum() > most_quanta) {
        refuse_for_device(device_, "it adds weights exactly in 64 bits, and those from " + to_text(all.least) + " to " +
                                       to_text(all.greatest) + " need more");
    }
}

device::NetworkImage DeviceImage::network(const DrawnRows* drawn) {
    fit_quantum();
    device::NetworkImage image;
    image.epoch_steps = static_cast<u32>(epoch_steps_);
    image.has_remote = layout_.placement().ranks() > 1;
    image.quantum = quantum_;
    image.has_rows = drawn != nullptr;
    std::vector<device::CellsImage> cells = cells_.images();
    for (u32 s = 0; s < shards_.size(); ++s) {
        Shard& shard = *shards_[s];
        device::BlockImage block;
        block.neurons = shard.layout().size();
        for (const ShardGroup& group : shard.groups()) {
            if (group.model->relays_input) block.most_relayed += group.size * group.model->most_spikes;
        }
        block.receptors = drawn != nullptr ? drawn->receptors[s] : receptor_images(s);
        block.slots = slots_;
        block.groups = groups(s);
        block.cells = std::move(cells[s]);
        for (const device::GroupImage& group : block.groups) {
            if (!group.has_program()) continue;
            block.variables = std::max(block.variables, programs_[group.program].variables);
        }
        block.rows = number_rows(s);
        if (drawn != nullptr) block.synapses = drawn->synapses[s];
        for (u32 kind = 0; kind < shard.synapses().tables().size(); ++kind) {
            const connect::StoredSynapses* const stored = shard.synapses().stored(connect::KindIndex{kind});
            if (stored == nullptr) continue;
            if (shard.synapses().is_static(connect::KindIndex{kind})) {
                if (drawn == nullptr) block.synapses += stored->size();
            } else {
                block.has_tables = true;
            }
        }
        image.blocks.push_back(std::move(block));
    }
    image.programs = programs_;
    image.cell_programs = cells_.programs();
    image.cell_rates = cells_.rates();
    image.learning_rules = plastic_.rules().learning;
    image.release_rules = plastic_.rules().release;
    return image;
}

std::vector<device::GroupImage> DeviceImage::groups(std::uint32_t shard) {
    std::vector<device::GroupImage> images;
    host_stimuli_[shard].clear();
    for (const ShardGroup& group : shards_[shard]->groups()) {
        if (!has_steps(group)) continue;
        if (cells_of(group) != nullptr) {
            images.push_back(cells(shard, group));
            continue;
        }
        const bool has_current =
            std::ranges::find(group.stimulated_electrodes, true) != group.stimulated_electrodes.end();
        if (group.model->relays_input) {
            images.push_back(relays(shard, group));
            continue;
        }
        std::optional<models::StepProgram> program = group.neurons->step_program(has_current);
        if (!program) {
            refuse_for_device(device_, "it does not have the model '" + std::string(group.model->name) + "' yet");
        }
        device::GroupImage image{.first = group.offset,
                                 .count = group.size,
                                 .program = program_number(group, *program),
                                 .reads_negative_zero = std::signbit(program->no_input),
                                 .constants = std::move(program->constants),
                                 .refractory_steps = {},
                                 .first_inputs = {},
                                 .key_low = program->key.low,
                                 .key_high = program->key.high};
        image.refractory_steps.assign(program->refractory_steps.begin(), program->refractory_steps.end());
        if (!programs_[image.program].draws.empty()) {
            image.ids = ids_of(shards_[shard]->layout().share(group.population).ids);
        }
        for (u32 receptor = 0; receptor < group.receptors; ++receptor) {
            image.first_inputs.push_back(group.first_inputs[receptor]);
        }
        for (const std::size_t index : group.stimuli) image.signals.push_back(signal(shard, group, index));
        images.push_back(std::move(image));
    }
    return images;
}

device::GroupImage DeviceImage::cells(std::uint32_t shard, const ShardGroup& group) {
    const device::CellSource& cells = *cells_of(group);
    device::GroupImage image{.first = group.offset,
                             .count = group.size,
                             .is_cells = true,
                             .reads_negative_zero = true,
                             .constants = {{}},
                             .refractory_steps = {static_cast<device::i32>(cells.refractory_steps())},
                             .first_inputs = {}};
    for (u32 i = 0; i < group.size; ++i) image.constants[0].push_back(cells.constant_current(i));
    for (u32 receptor = 0; receptor < group.receptors; ++receptor) {
        image.first_inputs.push_back(group.first_inputs[receptor]);
    }
    for (const std::size_t index : group.stimuli) image.signals.push_back(signal(shard, group, index));
    return image;
}

device::GroupImage DeviceImage::relays(std::uint32_t shard, const ShardGroup& group) {
    device::GroupImage image{.first = group.offset,
                             .count = group.size,
                             .most_relayed = group.model->most_spikes,
                             .constants = {},
                             .refractory_steps = {},
                             .first_inputs = {group.first_inputs[0]}};
    for (const std::size_t index : group.stimuli) image.signals.push_back(signal(shard, group, index));
    return image;
}

/// Groups of one model share their program.
std::uint32_t DeviceImage::program_number(const ShardGroup& group, const models::StepProgram& program) {
    const auto known = std::ranges::find(programs_, program.step, &device::DeviceProgram::step);
    if (known != programs_.end()) return static_cast<u32>(known - programs_.begin());
    programs_.push_back({.step = program.step,
                         .variables = static_cast<u32>(program.variables.size()),
                         .constants = static_cast<u32>(program.constants.size()),
                         .receptors = group.receptors,
                         .takes_current = program.takes_current,
                         .needs_last = program.needs_last,
                         .is_single = program.is_single,
                         .draws = program::draws_of(*program.step)});
    return static_cast<u32>(programs_.size() - 1);
}

device::SignalImage DeviceImage::signal(std::uint32_t shard, const ShardGroup& group, std::size_t index) {
    const ShardStimulus& stimulus = shards_[shard]->stimuli()[index];
    const IdSequence targets = shards_[shard]->stimuli().targets_of(stimulus, network_);
    // Where neurons have several sites, targets are inputs of the group.
    const bool has_sites = !stimulus.current && shards_[shard]->inputs().layout(stimulus.receptor).has_sites();
    device::SignalImage image{
        .input = stimulus.current ? device::current_input - stimulus.receptor : stimulus.receptor,
        .first = stimulus.offset - (has_sites ? group.first_inputs[stimulus.receptor] : group.offset),
        .count = static_cast<u32>(targets.size())};
    if (!stimulus.places.empty()) {
        image.indices.assign(has_sites ? group.inputs[stimulus.receptor] : group.size, -1);
        for (std::size_t i = 0; i < stimulus.places.size(); ++i) {
            image.indices[image.first + stimulus.places[i]] = static_cast<device::i32>(i);
        }
    }
    if (const std::optional<models::PoissonTrains> trains = stimulus.stimulus->poisson_trains()) {
        image.form = poisson_image(*trains);
    } else if (const std::optional<models::NoiseCurrents> noise = stimulus.stimulus->noise_currents()) {
        image.form = noise_image(*noise);
    } else {
        image.form = static_cast<u32>(host_stimuli_[shard].size());
        host_stimuli_[shard].push_back({index, targets.size()});
        return image;
    }
    image.ids = ids_of(targets);
    return image;
}

std::vector<device::ReceptorImage> DeviceImage::receptor_images(std::uint32_t shard) const {
    const ShardSynapses& synapses = shards_[shard]->synapses();
    const ShardInputs& inputs = shards_[shard]->inputs();
    std::vector<device::ReceptorImage> images;
    images.reserve(inputs.receptors());
    for (u32 receptor = 0; receptor < inputs.receptors(); ++receptor) {
        images.push_back({.inputs = inputs.size(receptor)});
    }
    std::vector<u32> targets;
    std::vector<DelaySteps> delays;
    for (u32 i = 0; i < synapses.tables().size(); ++i) {
        const connect::SynapseTable* const table = synapses.table(connect::KindIndex{i});
        // A transmitter has no synapses.
        if (table == nullptr || table->synapses() == nullptr) continue;
        device::ReceptorImage& image = images[synapses.receptor(connect::KindIndex{i})];
        image.delays = std::max(image.delays, table->greatest_delay());
        image.delay_counts.resize(image.delays + std::size_t{1}, 0);
        // Some rows tell enough of the delays.
        constexpr u32 rows_read = 32;
        const connect::StoredSynapses& stored = *table->synapses();
        const u32 stride = std::max(1U, table->rows() / rows_read);
        for (u32 row = 0; row < table->rows(); row += stride) {
            const u64 length = stored.row_end(RowIndex{row}) - stored.row_begin(RowIndex{row});
            targets.resize(length);
            delays.resize(length);
            stored.copy_row(RowIndex{row}, targets.data(), delays.data());
            for (const DelaySteps delay : delays) image.delay_counts[delay] += stride;
        }
    }
    return images;
}

std::uint32_t DeviceImage::number_rows(std::uint32_t shard) {
    if (row_counts_[shard] != 0) return row_counts_[shard];
    row_counts_[shard] = source_count_;
    if (layout_.placement().ranks() == 1) return source_count_;
    const ShardSynapses& synapses = shards_[shard]->synapses();
    u64 rows = source_count_;
    remote_rows_.resize(shards_.size());
    remote_rows_[shard].assign(synapses.tables().size(), {});
    for (u32 kind = 0; kind < synapses.tables().size(); ++kind) {
        const connect::SynapseTable* const table = synapses.table(connect::KindIndex{kind});
        if (table == nullptr) continue;
        const connect::StoredSynapses& stored = *table->synapses();
        std::vector<u32>& numbers = remote_rows_[shard][kind];
        numbers.assign(table->rows(), not_remote);
        for (u32 row = 0; row < table->rows(); ++row) {
            if (stored.row_begin(RowIndex{row}) == stored.row_end(RowIndex{row})) continue;
            if (!layout_.owns(table->source(RowIndex{row}))) numbers[row] = static_cast<u32>(rows++);
        }
    }
    if (rows >= not_remote) {
        refuse_for_device(device_,
                          "a block has at most 2^32 rows of synapses, and this one would have " + std::to_string(rows));
    }
    row_counts_[shard] = static_cast<u32>(rows);
    return row_counts_[shard];
}

std::uint32_t DeviceImage::row_of(std::uint32_t shard, connect::KindIndex kind, RowIndex row) const {
    if (!remote_rows_.empty() && is_remote(shard, kind, row)) return remote_row(shard, kind, row);
    const NeuronId source = shards_[shard]->synapses().table(kind)->source(row);
    return sources_[layout_.ids().count_below(source)];
}

void DeviceImage::copy_rows(std::uint32_t shard, device::BlockRows& rows) const {
    const std::vector<device::Receptor> receptors = device::numbered(receptor_images(shard));
    copy_table_rows(
        shards_[shard]->synapses().tables(), plan_, receptors, row_counts_[shard],
        [&](connect::KindIndex kind, RowIndex row) { return row_of(shard, kind, row); }, true, rows);
}

device::BlockState DeviceImage::state(std::uint32_t shard, Step now) const {
    const Shard& from = *shards_[shard];
    const u32 neurons = from.layout().size();
    device::BlockState state;
    u32 variables = 0;
    for (const device::DeviceProgram& program : programs_) variables = std::max(variables, program.variables);
    state.variables.assign(std::size_t{variables} * neurons, 0.0);
    state.refractory.assign(neurons, 0);
    for (const ShardGroup& group : from.groups()) {
        if (!has_program(group)) continue;
        StateColumns saved;
        for (u32 i = 0; i < group.size; ++i) group.neurons->serialize_state(i, now, saved);
        const std::vector<StateColumns::Column> columns = std::move(saved).take();
        if (columns.empty()) continue;
        for (std::size_t v = 0; v + 1 < columns.size(); ++v) {
            const auto first = state.variables.begin() + static_cast<std::ptrdiff_t>(v * neurons + group.offset);
            visit_numbers(columns[v], [&](const auto& numbers) { std::ranges::copy(numbers, first); });
        }
        std::ranges::copy(std::get<std::vector<std::int32_t>>(columns.back().values),
                          state.refractory.begin() + group.offset);
    }
    cells_.read(shard, now, state);
    return state;
}

void DeviceImage::set_state(std::uint32_t shard, Step now, const device::BlockState& state) const {
    cells_.write(shard, now, state);
    const Shard& to = *shards_[shard];
    const u32 neurons = to.layout().size();
    for (const ShardGroup& group : to.groups()) {
        if (!has_program(group)) continue;
        // The same columns with other values.
        StateColumns saved;
        for (u32 i = 0; i < group.size; ++i) group.neurons->serialize_state(i, now, saved);
        std::vector<StateColumns::Column> columns = std::move(saved).take();
        if (columns.empty()) continue;
        for (std::size_t v = 0; v + 1 < columns.size(); ++v) {
            const auto first = state.variables.begin() + static_cast<std::ptrdiff_t>(v * neurons + group.offset);
            visit_numbers(columns[v], [&]<class Number>(std::vector<Number>& numbers) {
                std::transform(first, first + group.size, numbers.begin(),
                               [](double number) { return static_cast<Number>(number); });
            });
        }
        std::copy_n(state.refractory.begin() + group.offset, group.size,
                    std::get<std::vector<std::int32_t>>(columns.back().values).begin());
        StateColumns loaded(std::move(columns));
        for (u32 i = 0; i < group.size; ++i) {
            loaded.seek(i);
            group.neurons->serialize_state(i, now, loaded);
        }
    }
}

device::TablesImage DeviceImage::tables(std::uint32_t shard) const {
    return plastic_.tables(shard, row_counts_[shard],
                           [&](connect::KindIndex kind, RowIndex row) { return row_of(shard, kind, row); });
}

void DeviceImage::take_inputs(device::Backend& backend, std::uint32_t shard, Step now) const {
    std::vector<device::i64> sums(std::size_t{slots_} * input_count(shards_[shard]->inputs()));
    backend.get_ring(shard, sums);
    plastic_.set_inputs(shard, now, quantum_, slots_, sums);
}

std::vector<device::i64> DeviceImage::plastic_ring(std::uint32_t shard, Step now) const {
    std::vector<device::i64> sums(std::size_t{slots_} * input_count(shards_[shard]->inputs()), 0);
    plastic_.add_inputs(shard, now, quantum_, slots_, sums);
    return sums;
}

}  // namespace ranvier::engine
