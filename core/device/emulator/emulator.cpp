#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "base/subnormals.hpp"
#include "device/backend/backend.hpp"
#include "device/kernel/block.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

/// Evaluates the programs of steps one neuron at a time.
class EmulatedModels {
   public:
    explicit EmulatedModels(std::vector<DeviceProgram> programs = {}) : programs_(std::move(programs)) {}

    u32 step(u32 number, StepView& view) const {
        const DeviceProgram& model = programs_[number];
        inputs_.clear();
        for (u32 v = 0; v < model.variables; ++v) inputs_.push_back(view.state[std::size_t{v} * view.stride]);
        for (u32 c = 0; c < model.constants; ++c) inputs_.push_back(view.constant(c));
        for (u32 r = 0; r < model.receptors; ++r) inputs_.push_back(view.inputs[r]);
        if (model.takes_current) inputs_.push_back(0.0);
        inputs_.push_back(program::lane::to_lane(view.is_refractory));
        if (model.needs_last) inputs_.push_back(program::lane::to_lane(view.is_last_refractory));
        const std::vector<double> results = program::evaluate(*model.step, inputs_);
        for (u32 v = 0; v < model.variables; ++v) view.state[std::size_t{v} * view.stride] = results[v];
        u32 flags = program::lane::is_true(results[model.variables]) ? step_fires : 0;
        for (std::size_t i = model.variables + std::size_t{1}; i < results.size(); ++i) {
            if (!program::lane::is_true(results[i])) flags |= step_fails;
        }
        return flags;
    }

   private:
    std::vector<DeviceProgram> programs_;
    mutable std::vector<double> inputs_;
};

/// The arrays of a block, in what takes the place of the memory of a device.
struct BlockMemory {
    BlockImage image;
    BlockRows rows;
    std::vector<std::vector<Constant>> constants;  ///< by group
    std::vector<std::vector<PoissonInput>> poisson;  ///< by group
    std::vector<Group> groups;
    BlockState state;
    std::vector<i64> ring;
    std::vector<RemoteSpike> remote;
    std::vector<u16> lists;
    std::vector<Spike> spikes;
    u32 spike_count = 0;
    u64 events = 0;
};

class Emulator final : public Backend {
   public:
    explicit Emulator(const EmulatorOptions& options) : options_(options), random_(options.seed) {}

    std::string name() const override { return "emulator of a GPU"; }
    u32 blocks() const override { return options_.blocks; }

    void load(NetworkImage image) override {
        models_ = EmulatedModels(image.programs);
        programs_ = std::move(image.programs);
        epoch_steps_ = image.epoch_steps;
        quantum_ = image.quantum;
        memory_ = std::vector<BlockMemory>(image.blocks.size());
        for (std::size_t b = 0; b < memory_.size(); ++b) {
            BlockMemory& block = memory_[b];
            block.image = std::move(image.blocks[b]);
            block.state.variables.assign(std::size_t{block.image.variables} * block.image.neurons, 0.0);
            block.state.refractory.assign(block.image.neurons, 0);
            block.ring.assign(std::size_t{block.image.slots} * block.image.inputs, 0);
            block.lists.assign(2 * std::size_t{epoch_steps_} * block.image.neurons, 0);
            const std::size_t least = 4 * std::size_t{epoch_steps_} * block.image.neurons;
            block.spikes.resize(std::max<std::size_t>(least, options_.spike_room));
            arrange_groups(block);
        }
        records_.assign(2 * std::size_t{epoch_steps_} * memory_.size(), Record{});
        control_ = {};
    }

    void set_rows(u32 block, const BlockRows& rows) override { memory_[block].rows = rows; }

    void set_constants(u32 block, std::span<const GroupImage> groups) override {
        memory_[block].image.groups.assign(groups.begin(), groups.end());
        arrange_groups(memory_[block]);
    }
    void set_state(u32 block, const BlockState& state) override { memory_[block].state = state; }
    void get_state(u32 block, BlockState& state) override { state = memory_[block].state; }
    void set_ring(u32 block, std::span<const i64> sums) override {
        memory_[block].ring.assign(sums.begin(), sums.end());
    }
    void receive(u32 block, std::span<const RemoteSpike> spikes) override {
        memory_[block].remote.assign(spikes.begin(), spikes.end());
    }

    i64 run(i64 first, i64 last, const std::function<bool()>& stops) override {
        const auto count = static_cast<u32>(memory_.size());
        std::vector<BlockData> data(count);
        u32 source = 0;
        for (u32 b = 0; b < count; ++b) {
            data[b] = data_of(memory_[b], source);
            source += memory_[b].image.neurons;
        }
        control_.stop = 0;
        // All have been read. Those of a run that begins with an earlier step must not be taken for new ones.
        std::ranges::fill(records_, Record{});
        std::vector<RemoteSpike> remote;
        std::vector<u64> remote_begin{0};
        for (BlockMemory& block : memory_) {
            remote.insert(remote.end(), block.remote.begin(), block.remote.end());
            remote_begin.push_back(remote.size());
            if (first <= last) block.remote.clear();
        }
        const Parameters parameters{.blocks = count,
                                    .epoch_steps = epoch_steps_,
                                    .quantum = quantum_,
                                    .inverse_quantum = 1.0 / quantum_,
                                    .data = data.data(),
                                    .records = records_.data(),
                                    .control = &control_,
                                    .first = first,
                                    .last = last,
                                    .arrival_room = options_.arrival_room,
                                    .remote = remote.empty() ? nullptr : remote.data(),
                                    .remote_begin = remote_begin.data()};
        run_blocks(parameters, stops);
        return control_.reached;
    }

    bool has_failed() const override { return control_.failed != 0; }
    void take_spikes(u32 block, std::vector<Spike>& spikes) override {
        BlockMemory& memory = memory_[block];
        spikes.assign(memory.spikes.begin(), memory.spikes.begin() + memory.spike_count);
        memory.spike_count = 0;
    }
    u64 events(u32 block) override { return memory_[block].events; }
    u64 bytes() const override {
        u64 bytes = records_.size() * sizeof(Record);
        for (const BlockMemory& block : memory_) {
            bytes += block.rows.begin.size() * sizeof(u64) + block.rows.synapses.size() * sizeof(Synapse) +
                     block.state.variables.size() * sizeof(double) + block.state.refractory.size() * sizeof(i32) +
                     block.ring.size() * sizeof(i64) + block.lists.size() * sizeof(u16) +
                     block.spikes.size() * sizeof(Spike);
        }
        return bytes;
    }

   private:
    void arrange_groups(BlockMemory& block) const {
        block.groups.clear();
        block.constants.clear();
        block.poisson.assign(block.image.groups.size(), {});
        // Groups point to the constants.
        block.constants.resize(block.image.groups.size());
        for (std::size_t g = 0; g < block.image.groups.size(); ++g) {
            const GroupImage& image = block.image.groups[g];
            for (const std::vector<double>& values : image.constants) {
                block.constants[g].push_back({values.data(), values.size() > 1 ? 1U : 0U});
            }
            for (const PoissonImage& each : image.poisson) {
                block.poisson[g].push_back(poisson_input(each, [](const auto& values) { return values.data(); }));
            }
            Group group = numbers_of(image, programs_[image.program]);
            group.constants = block.constants[g].data();
            group.refractory_steps = image.refractory_steps.data();
            group.first_inputs = image.first_inputs.data();
            group.poisson = block.poisson[g].data();
            block.groups.push_back(group);
        }
    }

    static BlockData data_of(BlockMemory& block, u32 first_source) {
        return {.neurons = block.image.neurons,
                .inputs = block.image.inputs,
                .slots = block.image.slots,
                .group_count = static_cast<u32>(block.groups.size()),
                .groups = block.groups.data(),
                .state = block.state.variables.data(),
                .refractory = block.state.refractory.data(),
                .row_begin = block.rows.begin.data(),
                .synapses = block.rows.synapses.data(),
                .ring = block.ring.data(),
                .lists = block.lists.data(),
                .spikes = block.spikes.data(),
                .spike_count = &block.spike_count,
                .events = &block.events,
                .spike_room = static_cast<u32>(block.spikes.size()),
                .first_source = first_source};
    }

    /// A block of threads between two parts.
    struct Running {
        Running(const Parameters& parameters, const EmulatedModels& models, u32 number, u32 threads)
            : memory((Shared::bytes(parameters.blocks, parameters.arrival_room) + sizeof(Shared) - 1) / sizeof(Shared)),
              block(parameters, models, number, threads, memory.data()),
              part(block.first_part()),
              waiting(threads) {
            std::iota(waiting.begin(), waiting.end(), u32{0});
            block.begin(0);
        }

        std::vector<Shared> memory;
        Block<EmulatedModels> block;
        Part part;
        std::vector<u32> waiting;  ///< threads that have not finished the part
    };

    void run_blocks(const Parameters& parameters, const std::function<bool()>& stops) {
        const FlushSubnormals flush;
        std::vector<std::unique_ptr<Running>> running;
        for (u32 b = 0; b < parameters.blocks; ++b) {
            running.push_back(std::make_unique<Running>(parameters, models_, b, options_.threads));
        }
        std::vector<u32> active;
        for (u32 b = 0; b < parameters.blocks; ++b) {
            if (running[b]->part != Part::done) active.push_back(b);
        }
        while (!active.empty()) {
            if (stops()) control_.stop = 1;
            const std::size_t chosen = random_() % active.size();
            Running& block = *running[active[chosen]];
            run_part(block);
            if (block.part == Part::done) {
                block.block.end(0);
                active.erase(active.begin() + static_cast<std::ptrdiff_t>(chosen));
            }
        }
        if (parameters.first > parameters.last) control_.reached = parameters.last;
    }

    /// Warps in any order, and the lanes of each in turn.
    void run_part(Running& running) {
        std::vector<u32>& waiting = running.waiting;
        std::erase_if(waiting, [&](u32 thread) { return running.block.run(running.part, thread); });
        if (!waiting.empty()) return;
        running.part = running.block.next(running.part);
        const u32 warps = options_.threads / warp_size;
        warps_.resize(warps);
        std::iota(warps_.begin(), warps_.end(), u32{0});
        std::shuffle(warps_.begin(), warps_.end(), random_);
        for (const u32 warp : warps_) {
            const bool backwards = random_() % 2 == 1;
            for (u32 lane = 0; lane < warp_size; ++lane) {
                waiting.push_back(warp * warp_size + (backwards ? warp_size - 1 - lane : lane));
            }
        }
    }

    EmulatorOptions options_;
    std::mt19937_64 random_;
    EmulatedModels models_;
    std::vector<DeviceProgram> programs_;
    u32 epoch_steps_ = 1;
    double quantum_ = 1.0;
    std::vector<BlockMemory> memory_;
    std::vector<Record> records_;
    Control control_;
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
