#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>

#include "base/subnormals.hpp"
#include "device/backend/backend.hpp"
#include "device/backend/memory_plan.hpp"
#include "device/backend/row_packing.hpp"
#include "device/backend/shared_plan.hpp"
#include "device/emulator/evaluated_cells.hpp"
#include "device/kernel/block.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

/// Variables of a neuron that an emulated thread can keep.
constexpr u32 register_room = 16;

/// Evaluates the programs of steps one neuron at a time.
template <u32 register_count>
class EmulatedModels : public EvaluatedCells {
   public:
    static constexpr u32 registers = register_count;
    static constexpr u32 signals = all_signals;
    static constexpr bool has_rules = true;
    static constexpr bool has_synapse_releases = true;
    static constexpr bool has_timed_traces = true;
    static constexpr bool has_axonal_delays = true;
    static constexpr bool has_modulation = true;

    explicit EmulatedModels(const NetworkImage& image)
        : EvaluatedCells(image.cell_programs),
          programs_(image.programs),
          learning_(image.learning_rules),
          releases_(image.release_rules) {}

    template <class View>
    u32 step(u32 number, View& view) const {
        const DeviceProgram& model = programs_[number];
        inputs_.clear();
        for (u32 v = 0; v < model.variables; ++v) inputs_.push_back(view.state(v));
        for (u32 c = 0; c < model.constants; ++c) inputs_.push_back(view.constant(c));
        const auto stored = [&](double given) {
            return model.is_single ? static_cast<double>(static_cast<float>(given)) : given;
        };
        for (u32 r = 0; r < model.receptors; ++r) inputs_.push_back(stored(view.input(r)));
        if (model.takes_current) inputs_.push_back(stored(view.current()));
        inputs_.push_back(program::lane::to_lane(view.is_refractory));
        if (model.needs_last) inputs_.push_back(program::lane::to_lane(view.is_last_refractory));
        words_.resize(model.draws.empty() ? 0 : model.draws.back() + std::size_t{1});
        for (const u32 index : model.draws) words_[index] = view.draw(index, model.is_unpaired(index));
        const std::vector<double> results = evaluate(model);
        for (u32 v = 0; v < model.variables; ++v) view.state(v) = results[v];
        u32 flags = program::lane::is_true(results[model.variables]) ? step_fires : 0;
        for (std::size_t i = model.variables + std::size_t{1}; i < results.size(); ++i) {
            if (!program::lane::is_true(results[i])) flags |= step_fails;
        }
        return flags;
    }

    float presynaptic(u32 rule, float weight, float trace, float same_side_trace, const float* parameters) const {
        return learning_[rule].change(false, weight, trace, same_side_trace, parameters);
    }
    float postsynaptic(u32 rule, float weight, float trace, float same_side_trace, const float* parameters) const {
        return learning_[rule].change(true, weight, trace, same_side_trace, parameters);
    }
    double release(u32 rule, double* values, u32 stride, i64& last, i64 step) const {
        const ReleaseRule& used = releases_[rule];
        inputs_.clear();
        for (u32 k = 0; k < used.states; ++k) inputs_.push_back(values[std::size_t{k} * stride]);
        const double factor = used.of_row(inputs_.data(), last, step);
        for (u32 k = 0; k < used.states; ++k) values[std::size_t{k} * stride] = inputs_[k];
        return factor;
    }
    double release_synapse(u32 rule, double* values, i64 last, i64 step, const double* parameters,
                           const SynapseDraws& draws, u32& count) const {
        return releases_[rule].of_synapse(values, last, step, parameters, draws, count);
    }

   private:
    /// Subnormal numbers are flushed as in groups of neurons, but not in stimuli.
    std::vector<double> evaluate(const DeviceProgram& model) const {
        const FlushSubnormals flush;
        if (model.is_single) return program::evaluate_in_single(*model.step, inputs_);
        return program::evaluate(*model.step, inputs_, words_);
    }

    std::span<const DeviceProgram> programs_;
    std::span<const LearningRule> learning_;
    std::span<const ReleaseRule> releases_;
    mutable std::vector<double> inputs_;
    mutable std::vector<std::uint64_t> words_;
};

/// The arrays of a block, in what takes the place of the memory of a device.
struct BlockMemory {
    BlockImage image;
    BlockRows rows;  ///< empty if they were constructed
    const Synapse* synapses = nullptr;
    SharedPlan plan;
    PackedRows packed;
    std::vector<Constant> constants;                 ///< of all groups
    std::vector<std::vector<Signal>> signals;        ///< by group
    std::deque<std::vector<PoissonInput>> poisson;
    std::deque<std::vector<NoiseInput>> noise;
    std::vector<Group> groups;
    PackedTables tables;
    BlockState state;
    PlacedCells cells;
    std::vector<i64> ring;
    std::vector<RemoteSpike> remote;
    std::vector<u16> lists;
    std::vector<Spike> spikes;
    u32 spike_count = 0;
    u64 events = 0;
    u32 list_room = 0;
    i64 courses_first = 1;
    BlockCourses courses;
};

class Emulator final : public Backend {
   public:
    explicit Emulator(const EmulatorOptions& options) : options_(options), random_(options.seed) {}

    std::string name() const override { return "emulator of a GPU"; }
    u32 blocks() const override { return options_.blocks; }

    void expect_construction() override {}
    ConstructedRows construct(const ConstructionImage& image) override {
        const auto place = [](const auto& elements) { return elements.data(); };
        const std::vector<ProjectionDraws> draws = draws_of(image, place);
        Construction construction = construction_of(image, place);
        std::vector<DrawnWeights> weights(draws.size());
        std::vector<u64> input_counts = image.input_counts;
        input_counts.resize(construction.receptor_count * construction.neurons, 0);
        std::vector<u64> sums(construction.stretches);
        std::vector<u32> scratch(options_.threads * construction.scratch_words, 0);
        urgent_.assign(construction.blocks, {});
        delay_counts_.assign(construction.receptor_count * std::size_t{construction.delay_room}, 0);
        delay_room_ = construction.delay_room;
        row_begin_.assign(construction.rows + 2, 0);
        BlockRows given;
        for (u32 b = 0; image.given && b < construction.blocks; ++b) {
            std::ranges::copy(image.given_lengths(b, given),
                              row_begin_.begin() + static_cast<std::ptrdiff_t>(b * construction.neurons + 2));
        }
        construction.draws = draws.data();
        construction.weights = weights.data();
        construction.urgent = urgent_.data();
        construction.delay_counts = delay_counts_.data();
        construction.input_counts = input_counts.data();
        construction.sums = sums.data();
        construction.scratch = scratch.data();
        construction.row_begin = row_begin_.data();
        std::vector<u32> threads(options_.threads);
        std::iota(threads.begin(), threads.end(), u32{0});
        std::vector<u64> synapses;
        for (u32 part = 0; part < build_parts; ++part) {
            if (static_cast<BuildPart>(part) == BuildPart::fill) {
                for (u32 b = 0; b < construction.blocks; ++b) {
                    const u64* const begin = row_begin_.data() + b * construction.neurons + 1;
                    synapses.push_back(begin[construction.neurons] - begin[0]);
                }
                synapses_.resize(row_begin_.back());
                construction.synapses = synapses_.data();
            }
            std::ranges::shuffle(threads, random_);
            const bool joins = static_cast<BuildPart>(part) == BuildPart::join;
            const u32 launches = !joins ? 1 : image.given ? construction.blocks : 0;
            for (u32 launch = 0; launch < launches; ++launch) {
                if (joins) {
                    image.given(launch, true, given);
                    construction.given_block = launch;
                    construction.given_begin = given.begin.data();
                    construction.given = given.synapses.data();
                }
                for (const u32 thread : threads) {
                    build(construction, static_cast<BuildPart>(part), thread, options_.threads);
                }
            }
        }
        return constructed(construction, std::move(synapses), std::move(weights), input_counts);
    }

    void load(NetworkImage image) override {
        network_.programs = std::move(image.programs);
        network_.learning_rules = std::move(image.learning_rules);
        network_.release_rules = std::move(image.release_rules);
        network_.cell_programs = std::move(image.cell_programs);
        network_.cell_rates = std::move(image.cell_rates);
        epoch_steps_ = image.epoch_steps;
        has_remote_ = image.has_remote;
        quantum_ = image.quantum;
        memory_ = std::vector<BlockMemory>(image.blocks.size());
        if (!image.has_rows) {
            row_begin_ = {};
            synapses_ = {};
        }
        for (std::size_t b = 0; b < memory_.size(); ++b) {
            memory_[b].image = std::move(image.blocks[b]);
        }
        choose_registers();
        may_split_ = options_.tuning.may_split.value_or(random_() % 4 != 0);
        for (std::size_t b = 0; image.has_rows && b < memory_.size(); ++b) take_drawn_rows(b);
        constexpr std::array<u32, 4> rooms{1, 7, 64, 512};
        arrival_room_ = options_.arrival_room != 0 ? options_.arrival_room : rooms[random_() % rooms.size()];
        for (std::size_t b = 0; b < memory_.size(); ++b) {
            BlockMemory& block = memory_[b];
            block.state.variables.assign(std::size_t{block.image.variables} * block.image.neurons, 0.0);
            block.state.refractory.assign(block.image.neurons, 0);
            block.ring.assign(std::size_t{block.image.slots} * block.image.inputs(), 0);
            make_lists(block, block.image.most_spikes(0));
            arrange_groups(block);
            put_cells(block, std::exchange(block.image.cells, {}));
            choose_plan(block);
        }
        records_.assign(2 * std::size_t{epoch_steps_} * memory_.size(), Record{});
        control_ = {};
        failure_.reset();
        clocks_.assign(part_count * memory_.size(), 0);
        steps_ = 0;
    }

    void set_rows(u32 block, BlockRows& rows) override {
        BlockMemory& memory = memory_[block];
        memory.packed = pack_rows(rows, memory.image.receptors, may_split_ && epoch_steps_ == 1);
        memory.rows = rows;
        memory.synapses = memory.rows.synapses.data();
    }
    void get_rows(u32 block, BlockRows& rows) override {
        const BlockMemory& memory = memory_[block];
        read_begins(memory.packed.words, memory.packed.length_bits, memory.image.rows, rows);
        rows.synapses.assign(memory.synapses, memory.synapses + rows.begin.back());
    }

    void set_tables(u32 block, const TablesImage& tables) override {
        memory_[block].tables = {};
        if (tables.empty()) return;
        std::vector<std::byte> bytes(pack_tables(tables, 0).bytes.size());
        PackedTables packed = pack_tables(tables, reinterpret_cast<std::uintptr_t>(bytes.data()));
        std::ranges::copy(packed.bytes, bytes.data());
        packed.bytes = std::move(bytes);
        memory_[block].tables = std::move(packed);
    }

    void set_constants(u32 block, std::span<const GroupImage> groups) override {
        memory_[block].image.groups.assign(groups.begin(), groups.end());
        arrange_groups(memory_[block]);
    }
    void set_cells(std::span<const CellsImage> blocks, std::span<const double> rates) override {
        network_.cell_rates.assign(rates.begin(), rates.end());
        for (std::size_t b = 0; b < blocks.size(); ++b) put_cells(memory_[b], blocks[b]);
    }
    void set_state(u32 block, const BlockState& state) override {
        memory_[block].state = state;
        const Cells& cells = memory_[block].cells.cells;
        std::ranges::copy(state.cells.potential, cells.potential);
        std::ranges::copy(state.cells.states, cells.states);
    }
    void get_state(u32 block, BlockState& state) override {
        state = memory_[block].state;
        const Cells& cells = memory_[block].cells.cells;
        std::copy_n(cells.potential, state.cells.potential.size(), state.cells.potential.begin());
        std::copy_n(cells.states, state.cells.states.size(), state.cells.states.begin());
    }
    void set_ring(u32 block, std::span<const i64> sums) override {
        memory_[block].ring.assign(sums.begin(), sums.end());
    }
    void receive(u32 block, std::span<const RemoteSpike> spikes) override {
        memory_[block].remote.assign(spikes.begin(), spikes.end());
    }

    void set_courses(i64 first, std::span<const BlockCourses> blocks) override {
        for (std::size_t b = 0; b < memory_.size(); ++b) {
            BlockMemory& block = memory_[b];
            block.courses_first = first;
            block.courses = blocks[b];
            const u32 most = block.image.most_spikes(block.courses.most_played);
            if (most > block.list_room) make_lists(block, most);
        }
    }

    void get_ring(u32 block, std::span<i64> sums) override { std::ranges::copy(memory_[block].ring, sums.begin()); }

    void set_learning(u32 block, u32 table, const LearningState& state, i64 step) override {
        const LearningTable& to = memory_[block].tables.learning[table];
        visit_state(state, to, [](const auto& values, auto* at) { std::ranges::copy(values, at); });
        std::fill_n(to.new_counts, to.neurons, 0);
        *to.greatest = state.greatest;
        *memory_[block].tables.settled = step;
    }
    void get_learning(u32 block, u32 table, LearningState& state) override {
        const LearningTable& from = memory_[block].tables.learning[table];
        visit_state(state, from, [](auto& values, const auto* at) { std::copy_n(at, values.size(), values.begin()); });
        state.greatest = *from.greatest;
    }
    void set_factors(u32 block, u32 table, const FactorState& state) override {
        const FactorTable& to = memory_[block].tables.factors[table];
        visit_state(state, to, [](const auto& values, auto* at) { std::ranges::copy(values, at); });
    }
    void get_factors(u32 block, u32 table, FactorState& state) override {
        const FactorTable& from = memory_[block].tables.factors[table];
        visit_state(state, from, [](auto& values, const auto* at) { std::copy_n(at, values.size(), values.begin()); });
    }
    void settle(i64 step) override {
        launch({.first = step + 1, .last = step + 1, .settles = 1}, [] { return false; });
    }

    void replay(i64 step, bool takes_back) override {
        const double sign = takes_back ? -1.0 : 1.0;
        launch({.inverse_quantum = sign, .first = step + 1, .last = step + 1, .replays = 1}, [] { return false; });
    }

    i64 run(i64 first, i64 last, const std::function<bool()>& stops) override {
        return launch({.first = first, .last = last}, stops);
    }

    bool should_settle() const override { return control_.should_settle != 0; }
    std::optional<Failure> failure() const override { return failure_; }
    void take_spikes(u32 block, std::vector<Spike>& spikes) override {
        BlockMemory& memory = memory_[block];
        spikes.assign(memory.spikes.begin(), memory.spikes.begin() + memory.spike_count);
        memory.spike_count = 0;
    }
    u64 events(u32 block) override { return memory_[block].events; }
    DeviceBytes memory() const override {
        DeviceBytes bytes{.spikes = records_.size() * sizeof(Record)};
        bytes.synapses = synapses_.size() * sizeof(Synapse);
        for (const BlockMemory& block : memory_) {
            // A GPU has room for the largest table of rows.
            bytes.synapses += (u64{block.image.rows} + RowTable::entry_words) * sizeof(u64) +
                              block.rows.synapses.size() * sizeof(Synapse);
            bytes.rings += block.ring.size() * sizeof(i64);
            bytes.state += block.state.variables.size() * sizeof(double) + block.state.refractory.size() * sizeof(i32) +
                           pack_groups(block.image.groups, network_.programs, 0).bytes.size();
            bytes.spikes += block.lists.size() * sizeof(u16) + block.spikes.size() * sizeof(Spike);
            bytes.synapses += block.tables.bytes.size();
            bytes.state += block.cells.bytes.size();
        }
        bytes.state += network_.cell_rates.size() * sizeof(double);
        return bytes;
    }

   private:
    void take_drawn_rows(std::size_t b) {
        BlockMemory& block = memory_[b];
        const std::span<const u64> begin =
            std::span(row_begin_).subspan(b * std::size_t{block.image.rows}, block.image.rows + std::size_t{1});
        block.packed = index_rows(begin);
        if (may_split_ && epoch_steps_ == 1) split_rows(urgent_[b], begin.back() - begin.front(), block.packed);
        block.synapses = synapses_.data() + begin.front();
        for (std::size_t r = 0; r < block.image.receptors.size(); ++r) {
            ReceptorImage& receptor = block.image.receptors[r];
            receptor.delay_counts = counts_of(delay_counts_, r, receptor.delays, delay_room_);
        }
    }

    /// @param parameters with the steps, and the sign of contributions as inverse_quantum
    i64 launch(Parameters parameters, const std::function<bool()>& stops) {
        const auto count = static_cast<u32>(memory_.size());
        std::vector<BlockData> data(count);
        u32 source = 0;
        for (u32 b = 0; b < count; ++b) {
            data[b] = data_of(memory_[b], source);
            source += memory_[b].image.neurons;
        }
        control_.stop = 0;
        control_.failed = 0;
        control_.first_failure = ~u64{0};
        if (parameters.settles != 0) control_.should_settle = 0;
        // All have been read. Those of a run that begins with an earlier step must not be taken for new ones.
        std::ranges::fill(records_, Record{});
        std::vector<RemoteSpike> remote;
        std::vector<u64> remote_begin{0};
        for (BlockMemory& block : memory_) {
            remote.insert(remote.end(), block.remote.begin(), block.remote.end());
            remote_begin.push_back(remote.size());
            block.remote.clear();
        }
        parameters.remote = remote.empty() ? nullptr : remote.data();
        parameters.remote_begin = remote_begin.data();
        for (const BlockData& block : data) {
            if (block.courses.played_begin != nullptr) parameters.has_repeats = 1;
        }
        for (const BlockMemory& block : memory_) {
            if (block.image.most_relayed > 0) parameters.has_repeats = 1;
        }
        parameters.has_remote = has_remote_ ? 1 : 0;
        parameters.blocks = count;
        parameters.epoch_steps = epoch_steps_;
        parameters.quantum = quantum_;
        parameters.inverse_quantum /= quantum_;
        parameters.data = data.data();
        parameters.records = records_.data();
        parameters.control = &control_;
        parameters.arrival_room = arrival_room_;
        if (has_registers_) {
            run_blocks<EmulatedModels<register_room>>(parameters, stops);
        } else {
            run_blocks<EmulatedModels<0>>(parameters, stops);
        }
        failure_ = failure_of(control_, parameters.first);
        if (!options_.tuning.clocks.empty() && (parameters.settles | parameters.replays) == 0) {
            steps_ += control_.reached - parameters.first + 1;
            write_clocks(options_.tuning.clocks, clocks_, steps_);
        }
        return control_.reached;
    }

    /// Threads can keep the state of a neuron each.
    void choose_registers() {
        bool can = true;
        for (const BlockMemory& block : memory_) can = can && block.image.neurons <= options_.threads;
        for (const DeviceProgram& program : network_.programs) can = can && program.variables <= register_room;
        has_registers_ = can && options_.tuning.has_registers.value_or(random_() % 2 == 0);
    }

    /// All, some or none of the sums of inputs are in shared memory.
    void choose_plan(BlockMemory& block) {
        const auto count = static_cast<u32>(memory_.size());
        const SharedNeed need = shared_need(block.image, network_.programs, count, arrival_room_);
        u64 bytes = need.most + need.most / 8;
        switch (random_() % 3) {
            case 0:
                bytes = need.least;
                break;
            case 1:
                bytes = need.least + random_() % (need.most - need.least + 1);
                break;
            default:
                break;
        }
        if (options_.tuning.shared_bytes) bytes = std::max(need.least, *options_.tuning.shared_bytes);
        const SharedRoom room{
            .bytes = static_cast<u32>(bytes), .arrival_room = arrival_room_, .has_registers = has_registers_};
        block.plan = plan_shared(block.image, network_.programs, count, room);
    }

    /// Without state.
    void put_cells(BlockMemory& block, const CellsImage& image) const {
        std::vector<std::byte> bytes(place_cells(image, 0, nullptr).bytes.size());
        const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
        block.cells = place_cells(image, address, network_.cell_rates.data());
        std::ranges::copy(block.cells.bytes, bytes.data());
        block.cells.bytes = std::move(bytes);
        block.state.cells = {.potential = std::vector<double>(image.nodes.size(), 0.0),
                             .states = std::vector<double>(image.states, 0.0)};
    }

    void make_lists(BlockMemory& block, u32 list_room) const {
        block.list_room = list_room;
        block.lists.assign(2 * std::size_t{epoch_steps_} * list_room, 0);
        const std::size_t least = 4 * std::size_t{epoch_steps_} * list_room;
        block.spikes.resize(std::max<std::size_t>(least, options_.spike_room));
    }

    void arrange_groups(BlockMemory& block) const {
        block.groups.clear();
        block.constants.clear();
        block.signals.assign(block.image.groups.size(), {});
        block.poisson.clear();
        block.noise.clear();
        for (std::size_t g = 0; g < block.image.groups.size(); ++g) {
            const GroupImage& image = block.image.groups[g];
            for (const SignalImage& each : image.signals) {
                block.signals[g].push_back(signal_of(each, [&]<class Element>(const std::vector<Element>& values) {
                    if constexpr (std::is_same_v<Element, PoissonInput>) {
                        return std::as_const(block.poisson.emplace_back(values)).data();
                    } else if constexpr (std::is_same_v<Element, NoiseInput>) {
                        return std::as_const(block.noise.emplace_back(values)).data();
                    } else {
                        return values.data();
                    }
                }));
            }
            Group group = numbers_of(image, network_.programs, static_cast<u32>(block.constants.size()));
            group.refractory_steps = image.refractory_steps.data();
            group.signals = block.signals[g].data();
            group.ids = image.ids.data();
            block.groups.push_back(group);
            for (const std::vector<double>& values : image.constants) {
                block.constants.push_back(constant_of(values, values.data()));
            }
        }
    }

    static BlockData data_of(BlockMemory& block, u32 first_source) {
        BlockData data{.neurons = block.image.neurons,
                       .slots = block.image.slots,
                       .receptor_count = static_cast<u32>(block.image.receptors.size()),
                       .group_count = static_cast<u32>(block.groups.size()),
                       .constant_count = static_cast<u32>(block.constants.size()),
                       .spike_room = static_cast<u32>(block.spikes.size()),
                       .list_room = block.list_room,
                       .first_source = first_source,
                       .is_split = block.packed.is_split ? 1U : 0U,
                       .urgent_bits = block.packed.urgent_bits,
                       .groups = block.groups.data(),
                       .constants = block.constants.data(),
                       .state = block.state.variables.data(),
                       .refractory = block.state.refractory.data(),
                       .rows = {block.packed.words.data(), block.packed.length_bits},
                       .synapses = block.synapses,
                       .ring = block.ring.data(),
                       .lists = block.lists.data(),
                       .spikes = block.spikes.data(),
                       .spike_count = &block.spike_count,
                       .events = &block.events,
                       .learning_count = static_cast<u32>(block.tables.learning.size()),
                       .factor_count = static_cast<u32>(block.tables.factors.size()),
                       .learning = block.tables.learning_tables,
                       .factors = block.tables.factor_tables,
                       .settled = block.tables.settled,
                       .receptors = {},
                       .shared = block.plan.places,
                       .courses = {.first = block.courses_first,
                                   .count = block.courses.count,
                                   .rows = block.courses.rows.data(),
                                   .values = block.courses.values.data(),
                                   .played_begin = nullptr,
                                   .played = block.courses.played.data()},
                       .cells = block.cells.cells};
        if (!block.courses.played_begin.empty()) data.courses.played_begin = block.courses.played_begin.data();
        std::ranges::copy(block.plan.receptors, data.receptors);
        return data;
    }

    /// A block of threads.
    template <class Models>
    struct Running {
        Running(const Parameters& parameters, const Models& models, u32 number, u32 thread_count)
            : memory(parameters.data[number].shared.bytes / sizeof(Shared) + 1) {
            auto* const bytes = reinterpret_cast<unsigned char*>(memory.data());
            // Not cleared, as memory of a device.
            std::fill_n(bytes, memory.size() * sizeof(Shared), static_cast<unsigned char>(0xAB));
            threads.reserve(thread_count);
            for (u32 thread = 0; thread < thread_count; ++thread) {
                threads.emplace_back(parameters, models, number, thread, thread_count, memory.data());
            }
            parts.assign(thread_count, threads.front().first_part());
            has_run.assign(thread_count, 0);
        }
        bool is_done() const { return parts.front() == Part::done; }

        std::vector<Shared> memory;
        std::vector<Block<Models>> threads;
        std::vector<Part> parts;    ///< in which threads are
        std::vector<char> has_run;  ///< threads that wait for the others
        std::span<u64> runs;        ///< of each part
    };

    template <class Models>
    void run_blocks(const Parameters& parameters, const std::function<bool()>& stops) {
        const Models models(network_);
        std::vector<std::unique_ptr<Running<Models>>> active;
        for (u32 b = 0; b < parameters.blocks; ++b) {
            active.push_back(std::make_unique<Running<Models>>(parameters, models, b, options_.threads));
            active.back()->runs = std::span(clocks_).subspan(b * std::size_t{part_count}, part_count);
        }
        std::erase_if(active, [](const auto& block) { return block->is_done(); });
        if (active.empty()) control_.reached = parameters.last;
        while (!active.empty()) {
            if (stops()) control_.stop = 1;
            const std::size_t chosen = random_() % active.size();
            run_warps(*active[chosen]);
            if (active[chosen]->is_done()) active.erase(active.begin() + static_cast<std::ptrdiff_t>(chosen));
        }
    }

    /// Lets each warp run to the next barrier, or to a record that is not there yet: warps in any order, and the lanes of each
    /// in turn. Then all go on, if all have got to the barrier.
    template <class Models>
    void run_warps(Running<Models>& running) {
        const u32 warps = options_.threads / warp_size;
        warps_.resize(warps);
        std::iota(warps_.begin(), warps_.end(), u32{0});
        std::shuffle(warps_.begin(), warps_.end(), random_);
        bool is_ready = true;
        for (const u32 warp : warps_) {
            const bool is_backwards = random_() % 2 == 1;
            for (u32 k = 0; k < warp_size; ++k) {
                const u32 thread = warp * warp_size + (is_backwards ? warp_size - 1 - k : k);
                is_ready = run_to_barrier(running, thread) && is_ready;
            }
        }
        if (!is_ready) return;
        for (u32 thread = 0; thread < options_.threads; ++thread) {
            running.parts[thread] = running.threads[thread].next(running.parts[thread]);
            running.has_run[thread] = 0;
        }
    }

    template <class Models>
    static bool run_to_barrier(Running<Models>& running, u32 thread) {
        Block<Models>& block = running.threads[thread];
        Part& part = running.parts[thread];
        while (running.has_run[thread] == 0) {
            if (!block.run(part)) return false;
            if (thread == 0) ++running.runs[static_cast<std::size_t>(part)];
            if (block.has_barrier(part)) {
                running.has_run[thread] = 1;
            } else {
                part = block.next(part);
            }
        }
        return true;
    }

    EmulatorOptions options_;
    std::mt19937_64 random_;
    NetworkImage network_;  ///< without blocks
    bool has_registers_ = false;
    bool may_split_ = false;
    u32 arrival_room_ = 0;
    u32 epoch_steps_ = 1;
    // Constructed rows; see Construction.
    std::vector<u64> row_begin_;
    std::vector<Synapse> synapses_;
    std::vector<UrgentSynapses> urgent_;
    std::vector<u32> delay_counts_;
    u32 delay_room_ = 0;
    bool has_remote_ = false;
    double quantum_ = 1.0;
    std::vector<BlockMemory> memory_;
    std::vector<Record> records_;
    std::vector<u64> clocks_;  ///< [block][part]
    i64 steps_ = 0;            ///< that were done
    Control control_;
    std::optional<Failure> failure_;
    std::vector<u32> warps_;
};

}  // namespace

std::unique_ptr<Backend> make_emulator(const EmulatorOptions& options) {
    if (options.threads % warp_size != 0 || options.threads < options.blocks || options.blocks == 0) {
        throw InternalError("threads of an emulated block");
    }
    return std::make_unique<Emulator>(options);
}

}  // namespace ranvier::device
