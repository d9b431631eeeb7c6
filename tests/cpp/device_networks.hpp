#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "device/backend/backend.hpp"
#include "device/backend/cell_forest.hpp"
#include "program_building.hpp"

namespace ranvier::device {

/// v' = decay v + drive + input; a spike at v >= 1, where it becomes 0. v must stay below 100.
inline DeviceProgram simple_program() {
    using enum program::Operation;
    enum : std::uint32_t { v, decay, drive, input, refractory };
    program::Writer writer({program::Type::number, program::Type::number, program::Type::number, program::Type::number,
                            program::Type::truth});
    const auto left = writer.add(multiply, {v, decay});
    const auto driven = writer.add(add, {left, drive});
    const auto moved = writer.add(select, {refractory, v, writer.add(add, {driven, input})});
    const auto one = writer.constant(1.0);
    const auto above = writer.add(less_equal, {one, moved});
    const auto fires = writer.add(both, {above, writer.add(negation, {refractory})});
    const auto next = writer.add(select, {fires, writer.constant(0.0), moved});
    const auto holds = writer.add(less, {next, writer.constant(100.0)});
    return {.step = std::make_shared<const program::Program>(writer.finish({next, fires, holds})),
            .variables = 1,
            .constants = 2,
            .receptors = 1};
}

struct NetworkSize {
    u32 blocks = 3;
    u32 neurons = 20;  ///< of a block
    u32 epoch_steps = 2;
    u32 slots = 16;
};

/// The neurons of a group, or each third one.
inline SignalImage random_signal(u32 neurons, bool is_for_all, u32 block) {
    SignalImage image{.input = 0};
    if (!is_for_all) image.indices.assign(neurons, -1);
    for (u32 i = 0; i < neurons; i += is_for_all ? 1 : 3) {
        if (!is_for_all) image.indices[i] = static_cast<i32>(image.ids.size());
        image.ids.push_back(u64{1000} * block + i);
    }
    image.count = static_cast<u32>(image.ids.size());
    return image;
}

/// Trains of the neurons of a group: of all of them, or of each third one, with values of their own.
inline SignalImage random_trains(u32 neurons, bool is_for_all, u32 block) {
    SignalImage image = random_signal(neurons, is_for_all, block);
    PoissonImage trains{.key_low = 17 + block,
                        .key_high = 4,
                        .delay = 2,
                        .threshold_count = 2,
                        .weights = {},
                        .starts = {0},
                        .stops = {1'000'000},
                        .thresholds = {},
                        .lengths = {},
                        .survival = {}};
    for (u32 i = 0; i < (is_for_all ? 1 : image.count); ++i) {
        trains.weights.push_back(0.0625 * (i + 1));
        // So many words are in the tail that a short run has some.
        trains.thresholds.insert(trains.thresholds.end(), {0x10000000, 0x08000000});
        trains.lengths.push_back(2);
        for (u32 k = 0; k < survival_count; ++k) trains.survival.push_back(std::ldexp(0.0625, -static_cast<int>(k)));
    }
    image.form = std::move(trains);
    return image;
}

/// Noise of each third neuron.
inline SignalImage random_noise(u32 neurons, u32 block) {
    SignalImage image = random_signal(neurons, false, block);
    image.form = NoiseImage{.key_low = 3,
                            .key_high = 9,
                            .delay = 1,
                            .weights = {0.001},
                            .means = std::vector<double>(image.count, 1.0),
                            .deviations = {5.0},
                            .modulations = {2.0},
                            .cycles_per_step = {0.01},
                            .phases = {0.25},
                            .starts = {5},
                            .stops = {200},
                            .intervals = {3}};
    return image;
}

/// Numbers for each third neuron in two steps of three, and spikes of some neurons in each fifth step, many times.
inline std::vector<BlockCourses> some_courses(const NetworkSize& size, i64 first, i64 last) {
    const SignalImage signal = random_signal(size.neurons, false, 0);
    std::vector<BlockCourses> courses(size.blocks);
    for (u32 b = 0; b < size.blocks; ++b) {
        BlockCourses& block = courses[b];
        block.count = 1;
        block.values.push_back(-0.0);
        for (i64 step = first; step <= last; ++step) {
            block.rows.push_back(step % 3 == 0 ? common_row : static_cast<u32>(block.values.size()));
            for (u32 i = 0; step % 3 != 0 && i < signal.count; ++i) {
                block.values.push_back(0x1p-8 * static_cast<double>((step + i + b) % 7));
            }
            block.played_begin.push_back(static_cast<u32>(block.played.size()));
            for (u32 k = 0; step % 5 == 0 && k < 2 * size.neurons; ++k) {
                block.played.push_back(static_cast<u16>(k % size.neurons));
            }
        }
        block.played_begin.push_back(static_cast<u32>(block.played.size()));
        block.most_played = 2 * size.neurons;
    }
    return courses;
}

/// A network with its rows.
struct RandomNetwork {
    NetworkImage image;
    std::vector<BlockRows> rows;

    void load_into(Backend& backend) const {
        backend.load(image);
        for (u32 b = 0; b < rows.size(); ++b) {
            BlockRows copied = rows[b];
            backend.set_rows(b, copied);
        }
    }
};

/// Neurons with random synapses and drives.
inline RandomNetwork random_network(const NetworkSize& size, unsigned seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](u32 count) { return static_cast<u32>(random() % count); };
    RandomNetwork network{
        .image = {.epoch_steps = size.epoch_steps, .quantum = 0x1p-20, .programs = {simple_program()}, .blocks = {}},
        .rows = {}};
    for (u32 b = 0; b < size.blocks; ++b) {
        GroupImage group{.first = 0,
                         .count = size.neurons,
                         .program = 0,
                         .reads_negative_zero = false,
                         .constants = {{0.9}, {}},
                         .refractory_steps = {3},
                         .first_inputs = {0}};
        group.signals = {random_trains(size.neurons, true, b), random_trains(size.neurons, false, b),
                         random_noise(size.neurons, b)};
        for (u32 i = 0; i < size.neurons; ++i) group.constants[1].push_back(static_cast<double>(below(200)) * 0x1p-10);
        BlockImage block{.neurons = size.neurons,
                         .slots = size.slots,
                         .variables = 1,
                         .receptors = {{.inputs = size.neurons, .delays = size.slots - 2}},
                         .groups = {group}};
        BlockRows rows{.begin = {0}, .synapses = {}};
        for (u32 source = 0; source < size.blocks * size.neurons; ++source) {
            const u32 count = below(5);
            for (u32 k = 0; k < count; ++k) {
                const u32 delay = size.epoch_steps + below(size.slots - 1 - size.epoch_steps);
                const float weight = static_cast<float>(below(512)) * 0x1p-10F - 0x1p-3F;
                rows.synapses.push_back({.cell = (delay - 1) * size.neurons + below(size.neurons), .weight = weight});
            }
            rows.begin.push_back(rows.synapses.size());
        }
        block.rows = size.blocks * size.neurons;
        block.synapses = rows.synapses.size();
        network.image.blocks.push_back(block);
        network.rows.push_back(rows);
    }
    return network;
}

/// Cells of two kinds of trees, with a gate that opens with the potential, and one receptor. They fire at 10 mV.
class SimpleCells final : public CellSource {
   public:
    explicit SimpleCells(u32 count) : potentials_(count), left_(count, 0) {
        for (u32 row = 0; row < rows; ++row) {
            std::vector<double> numbers(numbers_of_rate_quad, 0.0);
            // Of the first gate: its steady state, and the fraction of the way to it in a step.
            numbers[0] = static_cast<double>(row) / rows;
            numbers[functions_of_rate_quad] = 1.0 / rows;
            numbers[gates_of_rate_quad] = 0.1;
            table_.insert(table_.end(), numbers.begin(), numbers.end());
        }
        for (u32 cell = 0; cell < count; ++cell) {
            for (u32 k = 0; k < numbers_of(cell); ++k) potentials_[cell].push_back(k < 4 - cell % 2 ? -1.0 : 0.0);
        }
    }

    Forms forms() const override {
        Forms made;
        made.forms = {std::make_shared<const CellForm>(form({0, 0, 0, 1})),
                      std::make_shared<const CellForm>(form({0, 0, 1}))};
        for (u32 cell = 0; cell < potentials_.size(); ++cell) made.of_cells.push_back(cell % 2);
        return made;
    }
    u64 version() const override { return 0; }
    double threshold(std::size_t) const override { return 10.0; }
    std::span<const double> clamp_numbers(std::size_t) const override { return {}; }
    double constant_current(std::size_t cell) const override { return 6.0 + 0.6 * static_cast<double>(cell); }
    i64 refractory_steps() const override { return 4; }
    u32 sites_at(u32) const override { return 1; }
    void read_state(std::size_t cell, std::vector<double>& numbers) const override { numbers = potentials_[cell]; }
    void write_state(std::size_t cell, i64, std::span<const double> numbers) override {
        potentials_[cell].assign(numbers.begin(), numbers.end());
    }
    i32 refractory(std::size_t cell, i64) const override { return left_[cell]; }
    void set_refractory(std::size_t cell, i64, i32 steps) override { left_[cell] = steps; }

   private:
    static constexpr u32 rows = 100;
    /// Potentials, a gate, two exponentials, and the current of the electrode.
    static u32 numbers_of(u32 cell) { return 4 - cell % 2 + 4; }

    CellForm form(std::vector<u32> parents) const {
        CellForm made;
        made.parents = std::move(parents);
        made.nodes.resize(made.parents.size());
        for (std::size_t node = 0; node < made.nodes.size(); ++node) {
            NodeKind& kind = made.nodes[node].kind;
            kind.capacity = 2.0;
            kind.axial = node == 0 ? 0.0 : 1.0;
            kind.leak = 2.5 + kind.axial;
            kind.step = 0.1;
        }
        for (std::size_t node = 1; node < made.nodes.size(); ++node) made.nodes[made.parents[node]].kind.leak += 1.0;
        NodeForm& soma = made.nodes[0];
        soma.kind.is_detector = 1;
        RateForm& rates = made.classes.emplace_back();
        rates.key = {1};
        rates.numbers.gate_count = 1;
        rates.numbers.rows = rows;
        rates.numbers.lowest = -50.0;
        rates.numbers.current_count = 1;
        rates.table = table_;
        rates.currents.push_back({.reversal = -20.0, .gate_count = 1, .gates = {0}, .powers = {4}});
        soma.classes = {0};
        soma.conductances = {3.0};
        soma.receptors.push_back({{.reversal = 60.0, .decay = 0.8, .rise = 0.5, .column = 1}, {0}});
        soma.electrodes.push_back({{.column = 3}, {}});
        soma.columns = 4;
        for (u32 column = 0; column < soma.columns; ++column) made.state.push_back({0, column});
        return made;
    }

    std::vector<double> table_;
    std::vector<std::vector<double>> potentials_;
    std::vector<i32> left_;
};

/// Synapses of random sources that learn, and synapses of which spikes add a part.
/// @param rows of the block
inline TablesImage random_tables(const NetworkSize& size, u32 rows, unsigned seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](u32 count) { return static_cast<u32>(random() % count); };
    const auto table = [&] {
        TableImage image;
        image.quantum = 0x1p-20;
        image.row_of.assign(rows, no_row);
        image.begin = {0};
        for (u32 source = below(3); source < rows; source += 1 + below(3)) {
            image.row_of[source] = static_cast<u32>(image.rows());
            for (u32 k = below(4); k > 0; --k) {
                image.targets.push_back(static_cast<u16>(below(size.neurons)));
                image.delays.push_back(static_cast<u16>(size.epoch_steps + below(size.slots - 1 - size.epoch_steps)));
                image.weights.push_back(static_cast<float>(below(64)) * 0x1p-8F);
            }
            image.begin.push_back(image.targets.size());
        }
        return image;
    };
    const auto decay = [](auto unit) {
        using Real = decltype(unit);
        DecayFactors<Real> factors{.within = std::vector<Real>(1024, Real{0}), .stretches = {Real{1}, Real{0}}};
        for (std::size_t i = 0; i < 40; ++i) factors.within[i] = Real{1} / static_cast<Real>(i + 1);
        return factors;
    };
    TablesImage tables;
    LearningImage learning;
    learning.of = table();
    learning.pairing = SpikePairing::presynaptic_centred;
    learning.row_decay = learning.neuron_decay = learning.row_same_side_decay = learning.neuron_same_side_decay =
        decay(double{});
    learning.presynaptic = learning.postsynaptic = decay(float{});
    learning.has_same_side_presynaptic = learning.has_same_side_postsynaptic = true;
    learning.neurons = size.neurons;
    learning.room = 64;
    learning.most_new = 10;
    tables.learning.push_back(learning);
    // With axonal delays, and with a transmitter.
    learning.of = table();
    learning.pairing = SpikePairing::all;
    for (u32 delay = 0; delay < size.slots; ++delay) learning.axonal.push_back(static_cast<u16>(delay / 2));
    learning.least_axonal = size.epoch_steps / 2;
    tables.learning.push_back(learning);
    learning.of = table();
    ModulationImage& modulation = learning.modulation;
    modulation.is_used = true;
    modulation.constants.up = 0.5;
    modulation.constants.down = 0.3;
    modulation.constants.greatest = 1.0;
    modulation.constants.to_grid = 0x1.8p52 * 0x1p-45;
    modulation.constants.delay = size.epoch_steps + 1;
    modulation.constants.slots = modulation.constants.delay + 1;
    modulation.constants.room = 256;
    modulation.eligibility_decay = modulation.concentration_decay = decay(double{});
    for (u32 steps = 0; steps < Modulation::table_steps; ++steps) {
        modulation.falling_gains.push_back(0.01 * steps);
        modulation.constant_gains.push_back(0.001 * steps);
    }
    for (u32 word = 0; word <= rows / 32; ++word) modulation.sources.push_back(static_cast<u32>(random()));
    tables.learning.push_back(learning);
    tables.factors.push_back({.of = table(), .states = 1});
    // Synapses that draw, and have a number each.
    FactorImage drawing{.of = table(), .states = 0};
    drawing.of.rule = 1;
    drawing.has_synapse_releases = drawing.has_synapse_states = drawing.has_counts = true;
    drawing.blocks = 2;
    drawing.key_low = seed;
    drawing.key_high = 17;
    for (std::size_t row = 0; row < drawing.of.rows(); ++row) drawing.sources.push_back(1000 + 7 * row);
    for (u32 neuron = 0; neuron < size.neurons; ++neuron) drawing.targets.push_back(50 + neuron);
    for (std::size_t s = 0; s < drawing.of.weights.size(); ++s) drawing.numbers.push_back(below(3));
    tables.factors.push_back(std::move(drawing));
    return tables;
}
/// What spikes do to these synapses.
inline LearningRule simple_learning_rule() {
    LearningRule rule;
    rule.presynaptic_type = rule.postsynaptic_type = "models::learning_rules::VogelsSprekeler<float>";
    rule.constants = {0, 0, 0, 0};
    rule.change = [](bool is_postsynaptic, float weight, float trace, float same_side_trace, const float*) {
        return is_postsynaptic ? weight + 0.01F * trace * (1.0F + same_side_trace) : 0.9F * weight + 0.001F * trace;
    };
    return rule;
}
inline ReleaseRule simple_release_rule() {
    ReleaseRule rule;
    rule.type = "models::release_rules::SaturatingNmda";
    rule.constants.assign(8, 0);
    rule.states = 1;
    rule.of_row = [](double* values, i64& last, i64 step) {
        values[0] = 0.5 * values[0] + 1.0 / static_cast<double>(1 + step - last);
        last = step;
        return 0.5 * values[0];
    };
    return rule;
}
inline ReleaseRule simple_drawing_rule() {
    ReleaseRule rule;
    rule.type = "models::release_rules::Bernoulli";
    rule.constants = {0, 0};
    rule.draws = true;
    rule.of_synapse = [](double*, i64 last, i64 step, const double*, const SynapseDraws& draws, u32& count) {
        if (draws.unit(0) < 0.5) return 0.0;
        ++count;
        return draws.unit(1) / static_cast<double>(1 + count + step - last);
    };
    return rule;
}
/// The states of tables of random_tables() before the first step.
inline FactorState first_state(const FactorImage& image) {
    return {.values = std::vector<double>(image.has_synapse_states ? 0 : image.of.rows() * image.states, 0.25),
            .last = std::vector<i64>(image.of.rows(), 0),
            .synapse_values = {},
            .counts = std::vector<u32>(image.has_counts ? image.of.weights.size() : 0)};
}
inline LearningState first_state(const LearningImage& image) {
    const std::size_t spikes = std::size_t{image.neurons} * image.room;
    LearningState state;
    state.weights = image.of.weights;
    state.synapse_traces.assign(image.of.weights.size(), 0.0F);
    state.last.assign(image.of.rows(), never);
    state.traces.assign(image.of.rows(), 0.0);
    state.same_side.assign(image.of.rows(), 0.0);
    state.counts.assign(image.neurons, 0);
    state.steps.assign(spikes, 0);
    state.after.assign(spikes, 0.0F);
    state.before.assign(spikes, 0.0F);
    state.last_traces.assign(image.neurons, 0.0);
    state.last_same_side.assign(image.neurons, 0.0);
    const std::size_t on_the_way = image.axonal.empty() ? 0 : (image.axonal.back() + std::size_t{1}) * image.of.rows();
    state.stamps.assign(on_the_way, never);
    state.axonal_last.assign(on_the_way, never);
    state.axonal_traces.assign(on_the_way, 0.0F);
    state.axonal_same_side.assign(on_the_way, 0.0F);
    if (!image.modulation.is_used) return state;
    state.eligibility.assign(image.of.weights.size(), 0.1F);
    state.remainders.assign(image.of.weights.size(), 0.0F);
    state.transmitter_spikes.assign(image.modulation.constants.slots, 0);
    state.pulse_count.assign(1, 0);
    state.pulses.assign(image.modulation.constants.room, 0);
    state.concentrations.assign(image.modulation.constants.room, 0.0);
    return state;
}

/// (step, block, neuron), sorted.
using SpikeList = std::vector<std::tuple<i64, u32, u32>>;

inline void take_all(Backend& backend, u32 blocks, SpikeList& list) {
    std::vector<Spike> spikes;
    for (u32 b = 0; b < blocks; ++b) {
        backend.take_spikes(b, spikes);
        for (const Spike& spike : spikes) list.emplace_back(spike.step, b, spike.neuron);
    }
    std::ranges::sort(list);
}

}  // namespace ranvier::device
