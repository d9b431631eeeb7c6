#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/kernel/network.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::device {

/// The program of a step; see models::StepProgram.
struct DeviceProgram {
    std::shared_ptr<const program::Program> step;
    u32 variables = 0;
    u32 constants = 0;
    u32 receptors = 0;
    bool takes_current = false;
    bool needs_last = false;
};

/// Poisson input of a group, as the host has it; see PoissonInput.
struct PoissonImage {
    u32 receptor = 0;
    u32 first = 0;
    u32 key_low = 0;
    u32 key_high = 0;
    i64 delay = 1;
    u32 threshold_count = 0;
    std::vector<i32> targets;
    std::vector<u64> ids;
    std::vector<double> weights;
    std::vector<i64> starts;
    std::vector<i64> stops;
    std::vector<u32> thresholds;
    std::vector<u32> lengths;
    std::vector<double> survival;
};

/// @param place returns where the elements of an array are for the kernel
template <class Place>
PoissonInput poisson_input(const PoissonImage& image, const Place& place) {
    return {.receptor = image.receptor,
            .first = image.first,
            .count = static_cast<u32>(image.ids.size()),
            .threshold_count = image.threshold_count,
            .key_low = image.key_low,
            .key_high = image.key_high,
            .delay = image.delay,
            .targets = image.targets.empty() ? nullptr : place(image.targets),
            .ids = place(image.ids),
            .weights = place(image.weights),
            .starts = place(image.starts),
            .stops = place(image.stops),
            .weights_vary = image.weights.size() > 1 ? 1U : 0U,
            .windows_vary = image.starts.size() > 1 ? 1U : 0U,
            .means_vary = image.lengths.size() > 1 ? 1U : 0U,
            .thresholds = place(image.thresholds),
            .lengths = place(image.lengths),
            .survival = place(image.survival)};
}

/// The neurons of a population in a block, as the host has them; see Group.
struct GroupImage {
    u32 first = 0;
    u32 count = 0;
    u32 program = 0;
    bool reads_negative_zero = false;
    std::vector<std::vector<double>> constants;
    std::vector<i32> refractory_steps;
    std::vector<u32> first_inputs;
    std::vector<PoissonImage> poisson = {};
};

/// The numbers of a group, without the arrays that it points to.
/// @param first_constant number of constants of the groups before it
inline Group numbers_of(const GroupImage& image, const DeviceProgram& model, u32 first_constant) {
    Group group;
    group.first_constant = first_constant;
    group.first = image.first;
    group.count = image.count;
    group.program = image.program;
    group.variables = model.variables;
    group.constant_count = model.constants;
    group.receptors = model.receptors;
    group.refractory_varies = image.refractory_steps.size() > 1 ? 1 : 0;
    group.reads_negative_zero = image.reads_negative_zero ? 1 : 0;
    group.poisson_count = static_cast<u32>(image.poisson.size());
    std::ranges::copy(image.first_inputs, group.first_inputs);
    return group;
}

/// @param place where the kernel has the values
inline Constant constant_of(const std::vector<double>& values, const double* place) {
    return {.values = values.size() > 1 ? place : nullptr, .value = values.size() == 1 ? values.front() : 0.0};
}

/// The inputs of a block at a receptor, which follow those of the receptors before it.
struct ReceptorImage {
    u32 inputs = 0;
    u32 delays = 0;  ///< the greatest one of its synapses, in steps
    /// By delay, how many synapses have it, or some of them: decides which sums are in shared memory. Empty: unknown.
    std::vector<u32> delay_counts = {};
};

/// The receptors of a block with the numbers of their inputs and cells.
inline std::vector<Receptor> numbered(std::span<const ReceptorImage> images) {
    std::vector<Receptor> receptors;
    u32 first_input = 0;
    u32 first_cell = 0;
    for (const ReceptorImage& image : images) {
        receptors.push_back({.first_input = first_input,
                             .inputs = image.inputs,
                             .delays = image.delays,
                             .near = 0,
                             .first_cell = first_cell,
                             .first_near = 0,
                             .first_flag = 0});
        first_input += image.inputs;
        first_cell += image.delays * image.inputs;
    }
    return receptors;
}

/// A block, as the host has it; see BlockData.
struct BlockImage {
    u32 neurons = 0;
    u32 slots = 0;
    u32 variables = 0;  ///< most of its groups
    std::vector<ReceptorImage> receptors;
    std::vector<GroupImage> groups;
    u32 rows = 0;  ///< of all sources of this process, then those that other processes' sources have in this block
    u64 synapses = 0;  ///< of its rows

    u32 inputs() const {
        u32 sum = 0;
        for (const ReceptorImage& receptor : receptors) sum += receptor.inputs;
        return sum;
    }
};

/// The incoming synapses of the neurons of a block.
struct BlockRows {
    std::vector<u64> begin;  ///< by row, and the end of the last one
    std::vector<Synapse> synapses;
};

struct NetworkImage {
    u32 epoch_steps = 1;
    double quantum = 1.0;  ///< a power of two
    std::vector<DeviceProgram> programs;
    std::vector<BlockImage> blocks;
};

/// A state of all neurons of a block between two runs.
struct BlockState {
    std::vector<double> variables;  ///< [variable][neuron]
    std::vector<i32> refractory;  ///< steps that are left
};

/// Longest epoch in steps: a block has records and lists of spikes for two.
inline constexpr std::int64_t longest_epoch = 32;

/// A device, or its emulator, with a network.
class Backend {
   public:
    virtual ~Backend() = default;

    /// What it runs on, for users.
    virtual std::string name() const = 0;
    /// Which GPU of all machines it is; zeros for an emulator, which shares nothing.
    virtual std::array<std::uint8_t, 16> identity() const { return {}; }
    /// Blocks of threads for a network: how many shards the process makes.
    virtual u32 blocks() const = 0;

    /// Loads a network without its rows, with empty rings. Images are not needed afterwards.
    /// @throws InsufficientMemoryError if it does not fit into the memory of the device, rows included
    virtual void load(NetworkImage image) = 0;
    /// Copies the rows of a block of the loaded network: those of each block, before the first run. Thread-safe for different
    /// blocks.
    virtual void set_rows(u32 block, const BlockRows& rows) = 0;
    /// Replaces groups' constants.
    virtual void set_constants(u32 block, std::span<const GroupImage> groups) = 0;
    virtual void set_state(u32 block, const BlockState& state) = 0;
    virtual void get_state(u32 block, BlockState& state) = 0;
    /// Sums of weights that are yet to arrive, within the greatest delay of the receptor: [receptor][step % slots][input], in
    /// quanta.
    virtual void set_ring(u32 block, std::span<const i64> sums) = 0;
    /// Spikes of other processes, which the next run delivers before its first step. They must arrive in this step or
    /// later. Those of an earlier call that no run has delivered are dropped.
    virtual void receive(u32 block, std::span<const RemoteSpike> spikes) = 0;

    /// Runs steps from `first` to `last`, inclusive. Returns the last step that was done: an earlier one if there was no
    /// room for more spikes, if `stops` returned true, or if a neuron has failed.
    /// @param stops called now and then by this thread
    virtual i64 run(i64 first, i64 last, const std::function<bool()>& stops) = 0;
    /// Whether a condition of a program did not hold.
    virtual bool has_failed() const = 0;
    /// The spikes of a block since the last call, in the order of steps.
    virtual void take_spikes(u32 block, std::vector<Spike>& spikes) = 0;
    /// Synapses that spikes of this process have reached in a block, since the network was loaded.
    virtual u64 events(u32 block) = 0;
    /// Bytes of memory of the device.
    virtual u64 bytes() const = 0;
};

/// How the emulator runs.
struct EmulatorOptions {
    u32 blocks = 4;
    u32 threads = 64;  ///< of a block: a multiple of 32, at least the number of blocks
    /// Of the orders of blocks and warps.
    u64 seed = 1;
    /// Spikes that a block has room for; 0: chosen.
    u32 spike_room = 0;
    u32 arrival_room = 512;
    /// Of a block; none: drawn, so that all, some or none of the sums of inputs are there.
    std::optional<u32> shared_bytes = {};
    /// Whether threads keep the state of their neurons, if none has more than one; none: drawn.
    std::optional<bool> has_registers = {};
};

std::unique_ptr<Backend> make_emulator(const EmulatorOptions& options);

}  // namespace ranvier::device
