#pragma once

#include "device/kernel/cells.hpp"
#include "device/kernel/machine.hpp"
#include "device/kernel/modulation.hpp"
#include "device/kernel/plastic.hpp"
#include "device/kernel/rows.hpp"
#include "device/kernel/signals.hpp"

/// A network as kernels see it: plain arrays in the memory of the device.
///
/// A block of threads has some neurons with their state, the ring of their inputs, and their incoming synapses. Nobody else
/// writes to these. Blocks tell each other their spikes by records.
namespace ranvier::device {

/// A constant of a step: one for each neuron of a group, or, without these, of all.
struct Constant {
    const double* values = nullptr;
    double value = 0.0;
};

/// The neurons of a population in a block.
struct Group {
    u32 first = 0;  ///< neuron of the block
    u32 count = 0;
    u32 program = 0;  ///< index of the program of their step
    u32 most_relayed = 0;  ///< other than 0: a neuron fires as many spikes as arrive, at most so many
    u32 is_cells = 0;  ///< of BlockData::cells
    u32 variables = 0;
    u32 constant_count = 0;
    u32 first_constant = 0;  ///< of those of the block
    u32 receptors = 0;
    u32 refractory_varies = 0;
    /// What a neuron without arrivals reads: -0.0 as a double, or 0.0.
    u32 reads_negative_zero = 0;
    u32 signal_count = 0;
    const i32* refractory_steps = nullptr;  ///< after a spike
    /// In the order of the description, so that rounding does not differ.
    const Signal* signals = nullptr;
    // Of draws of the program.
    u32 key_low = 0;
    u32 key_high = 0;
    const u64* ids = nullptr;  ///< by neuron of the group
    u32 first_inputs[most_receptors] = {};  ///< by receptor: the input of the first neuron; those of the others follow
};

/// The inputs of a block at a receptor, whose sums of weights are a ring of steps. The sums of the next `near` steps are in
/// shared memory, those of later ones in the ring in the memory of the device, each until its step is near. Between runs, all
/// are there.
struct Receptor {
    u32 first_input = 0;  ///< of the block; its part of the ring begins at `slots` times this
    u32 inputs = 0;
    u32 delays = 0;  ///< the greatest delay of its synapses, in steps; 0: it has no synapses
    u32 near = 0;  ///< at most `delays`
    u32 first_cell = 0;
    u32 first_near = 0;  ///< place of the sums in shared memory
    u32 first_flag = 0;  ///< word of flags: a bit for each sum of the ring that is not 0

    /// Cells number the inputs with the delays that their synapses may have.
    RANVIER_DEVICE u32 cell(u32 delay, u32 input) const { return first_cell + (delay - 1) * inputs + input; }
    RANVIER_DEVICE u32 end_of_cells() const { return first_cell + delays * inputs; }
    RANVIER_DEVICE bool has_flags() const { return near != 0 && near < delays; }
};

/// Whether a synapse has a delay of one step.
RANVIER_DEVICE bool is_urgent(const Receptor* receptors, u32 count, u32 cell) {
    u32 r = 0;
    while (r + 1 < count && cell >= receptors[r + 1].first_cell) ++r;
    return cell - receptors[r].first_cell < receptors[r].inputs;
}

/// Places of arrays in the shared memory of a block, in bytes.
struct SharedPlaces {
    u32 groups = 0;
    u32 constants = 0;
    u32 places = 0;  ///< of the spikes of each block among the arrivals of a step
    u32 arrivals = 0;  ///< two lists
    u32 sources = 0;  ///< of the arrivals, where synapses change with spikes
    u32 low = 0;  ///< halves of sums
    u32 high = 0;
    u32 flags = 0;
    u32 state = 0;  ///< as in the memory of the device; 0: it is there
    u32 refractory = 0;
    u32 flag_words = 0;
    u32 bytes = 0;  ///< of all
};

/// A row is read at once, and not soon again. Lines of a row follow each other.
RANVIER_DEVICE Synapse read_synapse(const Synapse* from) {
#if defined(__CUDACC__)
    Synapse synapse;
    asm("ld.global.nc.L2::128B.v2.b32 {%0, %1}, [%2];" : "=r"(synapse.cell), "=f"(synapse.weight) : "l"(from));
    return synapse;
#else
    return *from;
#endif
}

struct Spike {
    i64 step = 0;
    u32 neuron = 0;  ///< of the block
    u32 unused = 0;
};

/// A spike of another process, and the row of its source in a block.
struct RemoteSpike {
    i64 step = 0;
    u32 row = 0;
    u32 number = 0;  ///< among those of this row in this step
};

struct BlockData {
    u32 neurons = 0;
    u32 slots = 0;  ///< steps of the ring of inputs
    u32 receptor_count = 0;
    u32 group_count = 0;
    u32 constant_count = 0;  ///< of all groups
    u32 spike_room = 0;
    u32 list_room = 0;  ///< most spikes of a step
    u32 first_source = 0;  ///< of its neurons: sources are numbered by block
    /// Rows begin with their synapses of a delay of one step, at most 2^urgent_bits.
    u32 is_split = 0;
    u32 urgent_bits = 0;
    const Group* groups = nullptr;
    const Constant* constants = nullptr;
    double* state = nullptr;  ///< [variable][neuron]
    i32* refractory = nullptr;  ///< steps that are left, by neuron
    /// First the rows of all sources of this process, then those that sources of other processes have in this block.
    RowTable rows;
    const Synapse* synapses = nullptr;
    i64* ring = nullptr;  ///< [receptor][step % slots][input] sums of weights, in quanta
    u16* lists = nullptr;  ///< [step % (2 * epoch)][list_room] spikes that have no room in a record
    Spike* spikes = nullptr;
    u32* spike_count = nullptr;
    u64* events = nullptr;  ///< synapses reached by spikes of this process
    u32 learning_count = 0;
    u32 factor_count = 0;
    const LearningTable* learning = nullptr;
    const FactorTable* factors = nullptr;
    i64* settled = nullptr;  ///< the step up to which all synapses have learnt
    Receptor receptors[most_receptors];
    SharedPlaces shared;
    Courses courses;
    Cells cells;
};

/// In place of a neuron that has failed: a synapse.
inline constexpr u32 no_neuron = 0xFFFF;

/// What the host and the blocks tell each other while a kernel runs.
struct Control {
    u32 stop = 0;  ///< by the host
    u32 failed = 0;  ///< by blocks: a condition of a program does not hold
    /// The first neuron for which one does not: steps since the first one, its block and its number in 16 bits each.
    u64 first_failure = ~u64{0};
    u32 should_settle = 0;  ///< by blocks: a neuron has had too many spikes to learn from
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
    u32 arrival_room = 512;  ///< sources that a block takes at once
    /// Spikes of other processes that are delivered before the first step, by block; null: none.
    const RemoteSpike* remote = nullptr;
    const u64* remote_begin = nullptr;  ///< by block, and the end of the last one
    u64* clocks = nullptr;  ///< [block][part] cycles, for kernels with RANVIER_CLOCKS
    /// Instead of steps: all synapses learn from the spikes that have arrived before step `first`.
    u32 settles = 0;
    /// Instead of steps: static synapses of `remote`, which may have been delivered before, are added to the steps from
    /// `first` on.
    u32 replays = 0;
    /// Whether a source may fire several times in a step.
    u32 has_repeats = 0;
    /// Blocks do not let synapses learn themselves: they do not know the spikes of other processes yet.
    u32 has_remote = 0;
};

}  // namespace ranvier::device
