#pragma once

#include "device/kernel/machine.hpp"
#include "device/kernel/poisson.hpp"

/// A network as kernels see it: plain arrays in the memory of the device.
///
/// A block of threads has some neurons with their state, the ring of their inputs, and their incoming synapses. Nobody else
/// writes to these. Blocks tell each other their spikes by records.
namespace ranvier::device {

/// A constant of a step: of all neurons of a group, or one for each.
struct Constant {
    const double* values = nullptr;
    u32 varies = 0;
};

/// The neurons of a population in a block.
struct Group {
    u32 first = 0;  ///< neuron of the block
    u32 count = 0;
    u32 program = 0;  ///< index of the program of their step
    u32 variables = 0;
    u32 constant_count = 0;
    u32 receptors = 0;
    u32 refractory_varies = 0;
    /// What a neuron without arrivals reads: -0.0 as a double, or 0.0.
    u32 reads_negative_zero = 0;
    const Constant* constants = nullptr;
    const i32* refractory_steps = nullptr;  ///< after a spike
    const u32* first_inputs = nullptr;  ///< by receptor: the input of the first neuron; those of the others follow
    u32 poisson_count = 0;
    /// In the order of the description, so that rounding does not differ.
    const PoissonInput* poisson = nullptr;
};

/// A static synapse of a row.
struct Synapse {
    u32 cell = 0;  ///< delay in steps times the number of inputs, plus the input
    float weight = 0.0F;
};

struct Spike {
    i64 step = 0;
    u32 neuron = 0;  ///< of the block
    u32 unused = 0;
};

/// A spike of another process, and the row of its source in a block.
struct RemoteSpike {
    i64 step = 0;
    u32 row = 0;
    u32 unused = 0;
};

struct BlockData {
    u32 neurons = 0;
    u32 inputs = 0;
    u32 slots = 0;  ///< steps of the ring of inputs
    u32 group_count = 0;
    const Group* groups = nullptr;
    double* state = nullptr;  ///< [variable][neuron]
    i32* refractory = nullptr;  ///< steps that are left, by neuron
    /// By row, and the end of the last one: first the rows of all sources of this process, then those that sources of
    /// other processes have in this block.
    const u64* row_begin = nullptr;
    const Synapse* synapses = nullptr;
    i64* ring = nullptr;  ///< [slot][input] sums of weights, in quanta
    u16* lists = nullptr;  ///< [step % (2 * epoch)][neuron] spikes that have no room in a record
    Spike* spikes = nullptr;
    u32* spike_count = nullptr;
    u64* events = nullptr;  ///< synapses reached by spikes of this process
    u32 spike_room = 0;
    u32 first_source = 0;  ///< of its neurons: sources are numbered by block
};

/// What the host and the blocks tell each other while a kernel runs.
struct Control {
    u32 stop = 0;  ///< by the host
    u32 failed = 0;  ///< by blocks: a condition of a program does not hold
    i64 reached = 0;
};

struct Parameters {
    u32 blocks = 0;
    u32 epoch_steps = 1;  ///< at most the shortest delay
    double quantum = 1.0;
    double inverse_quantum = 1.0;
    const BlockData* data = nullptr;
    Record* records = nullptr;  ///< [step % (2 * epoch)][block]
    Control* control = nullptr;
    i64 first = 1;
    i64 last = 0;  ///< inclusive
    u32 arrival_room = 1024;  ///< sources that a block takes at once
    /// Spikes of other processes that are delivered before the first step, by block; null: none.
    const RemoteSpike* remote = nullptr;
    const u64* remote_begin = nullptr;  ///< by block, and the end of the last one
};

}  // namespace ranvier::device
