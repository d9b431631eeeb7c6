#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/sampling.hpp"
#include "base/type_name.hpp"
#include "connect/plasticity/factors_on_device.hpp"
#include "connect/plasticity/narrow_numbers.hpp"
#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/stored_table.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// The random numbers of a synapse for one spike.
struct SynapseDraws {
    std::array<std::uint32_t, 4> first;  ///< numbers of the first block
    RandomStream stream;
    std::uint32_t next_block = 0;  ///< start of further numbers

    /// @param place 0 or 1
    double unit(std::size_t place) const {
        return to_open_unit(first[2 * place] | std::uint64_t{first[2 * place + 1]} << 32);
    }
    /// Further numbers, after those of the first block.
    struct More {
        SequentialRandom random;

        std::uint64_t binomial(std::uint64_t trials, double probability) {
            return draw_binomial(random, trials, probability);
        }
    };
    /// @param block offset from the next block
    More more(std::uint32_t block) const { return {SequentialRandom(stream, next_block + block)}; }
};

/// Synapses that add their weight a random number of times at each spike. Weights do not change.
///
/// The random numbers of a synapse are a function of the key, the ids of source and target, the number of the synapse
/// among those of this pair, the step in which the source fired, and the number of the spike in this step: never of its
/// position.
///
/// `Rule` has
///
///     Constants, constants(parameters, resolution)  derived from the parameters
///     states, state_names               number and names of values shared by synapses of a source, changed by spikes
///     initial(constants)                their initial values
///     greatest_state(constants)         upper limit of a whole number stored per synapse
///     initial_state(constants)
///     spike(states, step, last, constants)  called when the source fires, after step `last` or, at first, -1: the part
///                                       that is equal for all of its synapses, a `Spike`
///     released(spike, state, draw)      how many times the weight is added; changes the number of the synapse
///     blocks                            of random numbers (base/random.hpp) that a synapse may draw for one spike
///     OnDevice                          the same rule, as kernels know it
///
/// With per-synapse parameters, each synapse has a separate `Spike`, and a copy of the otherwise shared values.
template <class Rule, class Target, class Weight>
class RandomReleaseTable final : public StoredTable<Target, Weight>, public RowState, public FactorsOnDevice {
   public:
    using Base = StoredTable<Target, Weight>;
    using Constants = typename Rule::Constants;
    using States = std::array<double, Rule::states>;

    /// @param columns of one projection, whose rows are sorted by delay
    /// @param parameters of the model @param per_synapse indices of those that are columns of the table instead
    RandomReleaseTable(TableColumns<Target, Weight> columns, std::span<const double> parameters,
                       std::span<const std::uint32_t> per_synapse, RandomKey key,
                       const PlasticTableArguments& arguments)
        : Base(std::move(columns)),
          parameters_(parameters.begin(), parameters.end()),
          per_synapse_(per_synapse.begin(), per_synapse.end()),
          resolution_(arguments.resolution),
          constants_(Rule::constants(parameters_.data(), arguments.resolution)),
          // Synapses of both signs of a projection may reach different receptors.
          key_(make_key(key.low | std::uint64_t{key.high} << 32, Purpose::release, arguments.receptor)),
          to_grid_(0x1.8p52 * arguments.quantum),
          local_neurons_(arguments.local_neurons),
          ids_(arguments.layout == nullptr ? 0 : arguments.layout->size(), arguments.synapses),
          neurons_(arguments.neurons_of_inputs()),
          rows_(Base::rows(), arguments.synapses),
          states_(this->size(), Rule::greatest_state(constants_), arguments.synapses) {
        for (std::uint32_t local = 0; local < ids_.size(); ++local) ids_[local] = 0;
        for (const Target target : this->columns_.targets.span()) {
            if (ids_[target] != 0) continue;
            const LocalIndex neuron = arguments.layout->neuron(target);
            ids_[target] = arguments.layout->shard().id_of(neuron).value;
        }
        std::fill_n(rows_.data(), rows_.size(), Row{.shared = Rule::initial(constants_)});
        states_.fill(Rule::initial_state(constants_));
        if (!per_synapse_.empty()) begin_per_synapse(arguments.synapses);
        number_synapses(arguments.synapses);
    }

    /// Memory of such a table, on a shard. @param has_per_synapse whether there are per-synapse parameters
    static PlasticTableMemory memory(const Constants& constants, bool has_per_synapse) {
        return {.synapse_bytes = narrow_bytes(Rule::greatest_state(constants)) +
                                 (has_per_synapse ? Rule::states * sizeof(Weight) : 0),
                .numbers_pairs = true,
                .needs_sources = true,
                .target_bytes = sizeof(std::uint64_t),
                .input_bytes = sizeof(std::uint64_t) + sizeof(std::uint32_t),
                .row_bytes = sizeof(Row)};
    }

    /// Random numbers of synapses depend on their sources.
    FreeableSources* freeable_sources() override { return nullptr; }
    RowState* row_state() override { return Rule::states > 0 ? this : nullptr; }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step /*now*/,
                         Step /*window_end*/, const InputRing& inputs) override {
        std::uint64_t events = 0;
        constexpr std::size_t ahead = 4;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i + ahead < rows.size()) prefetch(rows[i + ahead]);
            Row& row = rows_[rows[i].value];
            const Step last = row.last;
            row.repeated = last == stamp ? row.repeated + 1 : 0;
            row.last = stamp;
            const Draws draws{.set = set, .key = row_key(rows[i], stamp), .repeated = row.repeated, .stamp = stamp};
            if (per_synapse_.empty()) {
                const auto spike = Rule::spike(row.shared.data(), stamp, last, constants_);
                release_row(rows[i], draws, inputs, [&](std::uint64_t) -> const auto& { return spike; });
            } else {
                release_row(rows[i], draws, inputs,
                            [&](std::uint64_t position) { return synapse_spike(position, stamp, last); });
            }
            events += this->row_end(rows[i]) - this->row_begin(rows[i]);
        }
        return events;
    }

    bool has_synapse_state() const override { return Rule::greatest_state(constants_) > 0 || !synapse_states_.empty(); }
    void serialize_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) override {
        Base::serialize_synapses(positions, columns);
        for (std::size_t k = 0; k < synapse_states_.size(); ++k) {
            Base::serialize_column(columns, Rule::state_names[k], positions, synapse_states_[k]);
        }
        if (Rule::greatest_state(constants_) == 0) return;
        std::vector<std::uint32_t> numbers;
        for (const std::uint64_t position : positions) numbers.push_back(states_[position]);
        columns.serialize_list<std::uint32_t>("state", numbers.size(),
                                              [&](std::size_t i) -> std::uint32_t& { return numbers[i]; });
        for (std::size_t i = 0; i < positions.size(); ++i) states_.set(positions[i], numbers[i]);
    }
    /// The number of spikes of a step is not needed after the step.
    void serialize_row(RowIndex row, StateColumns& columns) override {
        Row& state = rows_[row.value];
        for (std::size_t k = 0; k < Rule::states; ++k) columns.serialize(Rule::state_names[k], state.shared[k]);
        columns.serialize("last_spike", state.last);
    }

    FactorsOnDevice* factors_on_device() override {
        if constexpr (std::is_same_v<Weight, float>) {
            return this->columns_.numbering == RowNumbering::unsorted ? nullptr : this;
        }
        return nullptr;
    }
    FactorRule factor_rule() const override {
        FactorRule made{.type = type_name<typename Rule::OnDevice>(),
                        .states = Rule::states,
                        .quantum = to_grid_ / 0x1.8p52,
                        .resolution = resolution_,
                        .of_synapse =
                            [constants = constants_, resolution = resolution_](const SynapseSpike& given) {
                                const SynapseDraws draws{.first = given.stream.block(given.block),
                                                         .stream = given.stream,
                                                         .next_block = given.block + 1};
                                const Constants own = given.parameters == nullptr
                                                          ? constants
                                                          : Rule::constants(given.parameters, resolution);
                                const auto spike = Rule::spike(given.values, given.step, given.last, own);
                                return static_cast<double>(Rule::released(spike, *given.count, draws));
                            },
                        .blocks = Rule::blocks,
                        .key = key_,
                        .ids = ids_.span(),
                        .has_counts = Rule::greatest_state(constants_) > 0};
        if (per_synapse_.empty()) {
            made.constants = std::as_bytes(std::span(&constants_, 1));
            if constexpr (Rule::states > 0) {
                made.of_row = [constants = constants_](double* values, Step& last, Step step) {
                    (void)Rule::spike(values, step, last, constants);
                    last = step;
                    return 0.0;
                };
            }
        } else if constexpr (std::is_same_v<Weight, float>) {
            add_parameters(made, parameters_, per_synapse_, this->columns_.parameters);
        }
        return made;
    }
    std::vector<std::uint32_t> numbers_in_pairs() const override {
        std::vector<std::uint32_t> numbers(this->size());
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = numbers_[i];
        if (std::ranges::all_of(numbers, [](std::uint32_t number) { return number == 0; })) numbers.clear();
        return numbers;
    }
    void get_state(FactorState& state) const override {
        state = {};
        for (std::size_t k = 0; k < Rule::states && per_synapse_.empty(); ++k) {
            for (const Row& row : rows_.span()) state.values.push_back(row.shared[k]);
        }
        for (const Row& row : rows_.span()) state.last.push_back(row.last);
        for (const Buffer<Weight>& values : synapse_states_) {
            for (const Weight value : values.span()) state.synapse_values.push_back(static_cast<float>(value));
        }
        if (Rule::greatest_state(constants_) == 0) return;
        for (std::size_t i = 0; i < this->size(); ++i) state.counts.push_back(states_[i]);
    }
    void set_state(const FactorState& state) override {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            for (std::size_t k = 0; k < Rule::states && per_synapse_.empty(); ++k) {
                rows_[row].shared[k] = state.values[k * rows_.size() + row];
            }
            rows_[row].last = state.last[row];
        }
        for (std::size_t k = 0; k < synapse_states_.size(); ++k) {
            std::copy_n(state.synapse_values.data() + k * this->size(), this->size(), synapse_states_[k].data());
        }
        for (std::size_t i = 0; i < state.counts.size(); ++i) states_.set(i, state.counts[i]);
    }

   private:
    static constexpr std::size_t block = 256;
    static constexpr std::uint32_t most_synapses_of_a_pair = UINT32_MAX / Rule::blocks;

    struct Row {
        Step last = -1;  ///< step of the last spike of the source
        std::uint32_t repeated = 0;  ///< earlier spikes of the source in this step
        [[no_unique_address]] States shared;  ///< by its synapses, without per-synapse parameters
    };
    /// The key of a spike's random numbers.
    struct Draws {
        InstructionSet set;
        RandomKey key;
        std::uint32_t repeated;
        Step stamp;
    };

    DelaySteps delay_of(std::uint64_t position) const { return Base::delay_at(RowIndex{}, position); }

    RANVIER_ALWAYS_INLINE void prefetch(RowIndex row) const {
        const std::uint64_t begin = this->row_begin(row);
        const std::size_t count = std::min<std::size_t>(this->row_end(row) - begin, block);
        detail::prefetch_span(this->columns_.targets.data() + begin, count * sizeof(Target));
        detail::prefetch_span(this->columns_.weights.data() + begin, count * sizeof(Weight));
    }

    /// Key of a source and a step.
    RandomKey row_key(RowIndex row, Step stamp) const {
        const std::uint64_t source = this->source(row).value;
        const auto step = static_cast<std::uint64_t>(stamp);
        const auto words = philox({static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(source >> 32),
                                   static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)},
                                  key_);
        return {words[0], words[1]};
    }

    /// Constants of a synapse with per-synapse parameters.
    Constants synapse_constants(std::uint64_t position) const {
        std::array<double, Rule::parameters> values;
        std::copy_n(parameters_.data(), values.size(), values.data());
        for (std::size_t k = 0; k < per_synapse_.size(); ++k) values[per_synapse_[k]] = this->parameter(k, position);
        return Rule::constants(values.data(), resolution_);
    }

    void begin_per_synapse(std::pmr::memory_resource* memory) {
        for (std::size_t k = 0; k < Rule::states; ++k) synapse_states_.emplace_back(this->size(), memory);
        for (std::uint64_t position = 0; position < this->size(); ++position) {
            const Constants constants = synapse_constants(position);
            put_states(position, Rule::initial(constants));
            states_.set(position, Rule::initial_state(constants));
        }
    }

    void put_states(std::uint64_t position, const States& values) {
        for (std::size_t k = 0; k < Rule::states; ++k) synapse_states_[k][position] = static_cast<Weight>(values[k]);
    }

    typename Rule::Spike synapse_spike(std::uint64_t position, Step stamp, Step last) {
        States values;
        for (std::size_t k = 0; k < Rule::states; ++k) values[k] = static_cast<double>(synapse_states_[k][position]);
        const auto spike = Rule::spike(values.data(), stamp, last, synapse_constants(position));
        put_states(position, values);
        return spike;
    }

    template <class SpikeOf>
    void release_row(RowIndex row, const Draws& draws, const InputRing& inputs, SpikeOf spike_of) {
        const std::uint64_t end = this->row_end(row);
        for (std::uint64_t begin = this->row_begin(row); begin < end; begin += block) {
            release(draws, begin, std::min<std::uint64_t>(block, end - begin), inputs, spike_of);
        }
    }

    /// @param spike_of function from the position of a synapse to its `Spike`
    template <class SpikeOf>
    void release(const Draws& draws, std::uint64_t begin, std::size_t count, const InputRing& inputs,
                 SpikeOf& spike_of) {
        std::array<std::uint64_t, block> streams;
        std::array<std::uint32_t, block> blocks;
        std::array<std::uint32_t, 4 * block> words;
        const Target* const targets = this->columns_.targets.data() + begin;
        for (std::size_t i = 0; i < count; ++i) streams[i] = ids_[targets[i]];
        for (std::size_t i = 0; i < count; ++i) blocks[i] = Rule::blocks * numbers_[begin + i];
        fill_blocks(draws.set, draws.key, draws.repeated, std::span(streams).first(count),
                    std::span(blocks).first(count), words.data());
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t state = states_[begin + i];
            const std::uint32_t before = state;
            const SynapseDraws numbers{.first = {words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]},
                                       .stream = {draws.key, streams[i], draws.repeated},
                                       .next_block = blocks[i] + 1};
            const std::uint32_t times = Rule::released(spike_of(begin + i), state, numbers);
            if (state != before) states_.set(begin + i, state);
            if (times == 0) continue;
            const Step arrival = draws.stamp + delay_of(begin + i);
            const double weight = static_cast<double>(this->columns_.weights[begin + i]) * static_cast<double>(times);
            inputs.add(arrival, targets[i], (weight + to_grid_) - to_grid_);
        }
    }

    /// The neuron that a synapse reaches, at any of its sites.
    std::uint32_t neuron(std::uint64_t position) const {
        const std::uint32_t input = this->target(position);
        return neurons_.empty() ? input : neurons_[input];
    }

    /// Numbers the synapses of each pair by delay, and those of the same delay in the order drawn by the rule, for any
    /// rows. Nothing is stored if no pair has several.
    void number_synapses(std::pmr::memory_resource* memory) {
        const std::uint32_t greatest = visit_numbers(false);
        if (greatest > most_synapses_of_a_pair - 1) {
            throw ValueOutOfBoundsError({.object = "synapses of one pair of neurons that draw random numbers",
                                         .value = std::to_string(greatest + std::uint64_t{1}),
                                         .bound = "there can be at most " + std::to_string(most_synapses_of_a_pair),
                                         .remedy = "divide them among several projections"});
        }
        numbers_ = NarrowNumbers(this->size(), greatest, memory);
        visit_numbers(true);
    }

    /// Returns the greatest number. @param store whether to write the numbers
    std::uint32_t visit_numbers(bool store) {
        if (this->columns_.numbering == RowNumbering::unsorted) return visit_unsorted(store);
        std::vector<std::uint32_t> found(local_neurons_, 0);
        std::uint32_t greatest = 0;
        for (std::uint32_t row = 0; row < this->rows(); ++row) {
            const std::uint64_t begin = this->row_begin(RowIndex{row});
            const std::uint64_t end = this->row_end(RowIndex{row});
            for (std::uint64_t i = begin; i < end; ++i) {
                const std::uint32_t number = found[neuron(i)]++;
                greatest = std::max(greatest, number);
                if (store) numbers_.set(i, number);
            }
            for (std::uint64_t i = begin; i < end; ++i) found[neuron(i)] = 0;
        }
        return greatest;
    }

    std::uint32_t visit_unsorted(bool store) {
        const auto place = [&](std::uint32_t position) {
            return std::tuple(this->columns_.sources[position], neuron(position), delay_of(position), position);
        };
        std::vector<std::uint32_t> order(this->size());
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
        std::uint32_t number = 0;
        std::uint32_t greatest = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const bool same_pair = i > 0 && this->columns_.sources[order[i]] == this->columns_.sources[order[i - 1]] &&
                                   neuron(order[i]) == neuron(order[i - 1]);
            number = same_pair ? number + 1 : 0;
            greatest = std::max(greatest, number);
            if (store) numbers_.set(order[i], number);
        }
        return greatest;
    }

    std::vector<double> parameters_;  ///< of the model
    std::vector<std::uint32_t> per_synapse_;  ///< indices of per-synapse parameters, in the order of the columns
    double resolution_;
    Constants constants_;
    RandomKey key_;
    double to_grid_;
    std::uint32_t local_neurons_;
    Buffer<std::uint64_t> ids_;  ///< of target neurons, by input
    Buffer<std::uint32_t> neurons_;  ///< of each input, where neurons have several; otherwise empty
    Buffer<Row> rows_;
    NarrowNumbers states_;                        ///< of synapses
    std::vector<Buffer<Weight>> synapse_states_;  ///< values otherwise shared by the synapses of a source, per synapse
    NarrowNumbers numbers_;  ///< number of the synapse among those of its pair
};

}  // namespace ranvier::connect
