#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "device/backend/cells_image.hpp"
#include "device/backend/construction.hpp"
#include "device/backend/device_bytes.hpp"
#include "device/backend/plastic_image.hpp"
#include "device/backend/tuning.hpp"
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
    bool is_single = false;
    std::vector<u32> draws = {};  ///< indices, ascending

    /// Whether only one of the draws 2k and 2k + 1 is drawn: its random bits then come from a block of two steps.
    bool is_unpaired(u32 draw) const { return !std::ranges::binary_search(draws, draw ^ 1U); }
};

/// Poisson input, as the host has it; see PoissonInput. Arrays have one value for all targets, or one for each.
struct PoissonImage {
    u32 key_low = 0;
    u32 key_high = 0;
    i64 delay = 1;
    u32 threshold_count = 0;
    std::vector<double> weights;
    std::vector<i64> starts;
    std::vector<i64> stops;
    std::vector<u32> thresholds;
    std::vector<u32> lengths;
    std::vector<double> survival;
};

/// Noise currents, as the host has them; see NoiseInput.
struct NoiseImage {
    u32 key_low = 0;
    u32 key_high = 0;
    i64 delay = 1;
    std::vector<double> weights;
    std::vector<double> means;
    std::vector<double> deviations;
    std::vector<double> modulations;
    std::vector<double> cycles_per_step;
    std::vector<double> phases;
    std::vector<i64> starts;
    std::vector<i64> stops;
    std::vector<i64> intervals;
};

/// A stimulus of a group, as the host has it; see Signal.
struct SignalImage {
    u32 input = 0;
    u32 first = 0;
    u32 count = 0;
    std::vector<i32> indices = {};  ///< empty: targets are the neurons from `first` on
    std::vector<u64> ids = {};      ///< by target, for random numbers
    std::variant<u32, PoissonImage, NoiseImage> form = u32{0};  ///< u32: the index of a course
};

/// @param place returns where the elements of an array are for the kernel
template <class Value, class Place>
PerTarget<Value> per_target(const std::vector<Value>& values, const Place& place) {
    return {place(values), values.size() > 1 ? 1U : 0U};
}

template <class Place>
PoissonInput poisson_input(const PoissonImage& image, const u64* ids, const Place& place) {
    return {.threshold_count = image.threshold_count,
            .key_low = image.key_low,
            .key_high = image.key_high,
            .delay = image.delay,
            .ids = ids,
            .weights = per_target(image.weights, place),
            .starts = per_target(image.starts, place),
            .stops = per_target(image.stops, place),
            .means_vary = image.lengths.size() > 1 ? 1U : 0U,
            .thresholds = place(image.thresholds),
            .lengths = place(image.lengths),
            .survival = place(image.survival)};
}

template <class Place>
NoiseInput noise_input(const NoiseImage& image, const u64* ids, const Place& place) {
    return {.key_low = image.key_low,
            .key_high = image.key_high,
            .delay = image.delay,
            .ids = ids,
            .weights = per_target(image.weights, place),
            .means = per_target(image.means, place),
            .deviations = per_target(image.deviations, place),
            .modulations = per_target(image.modulations, place),
            .cycles_per_step = per_target(image.cycles_per_step, place),
            .phases = per_target(image.phases, place),
            .starts = per_target(image.starts, place),
            .stops = per_target(image.stops, place),
            .intervals = per_target(image.intervals, place)};
}

/// @param place also takes spans of PoissonInput and NoiseInput
template <class Place>
Signal signal_of(const SignalImage& image, const Place& place) {
    Signal signal{.kind = SignalKind::course,
                  .input = image.input,
                  .targets = {image.first, image.count, image.indices.empty() ? nullptr : place(image.indices)}};
    const u64* const ids = image.ids.empty() ? nullptr : place(image.ids);
    if (const auto* const poisson = std::get_if<PoissonImage>(&image.form)) {
        signal.kind = SignalKind::poisson;
        signal.poisson = place(std::vector{poisson_input(*poisson, ids, place)});
    } else if (const auto* const noise = std::get_if<NoiseImage>(&image.form)) {
        signal.kind = SignalKind::noise;
        signal.noise = place(std::vector{noise_input(*noise, ids, place)});
    } else {
        signal.course = std::get<u32>(image.form);
    }
    return signal;
}

/// The neurons of a population in a block, as the host has them; see Group.
struct GroupImage {
    u32 first = 0;
    u32 count = 0;
    u32 program = 0;
    u32 most_relayed = 0;  ///< other than 0: neurons relay what arrives at their receptor, and have no program
    /// Detailed cells, which have no program, and one constant: a current, pA.
    bool is_cells = false;
    bool reads_negative_zero = false;
    std::vector<std::vector<double>> constants;
    std::vector<i32> refractory_steps;
    std::vector<u32> first_inputs;
    std::vector<SignalImage> signals = {};
    // Of draws of the program.
    u32 key_low = 0;
    u32 key_high = 0;
    std::vector<u64> ids = {};

    bool has_program() const { return most_relayed == 0 && !is_cells; }
};

/// The numbers of a group, without the arrays that it points to.
/// @param first_constant number of constants of the groups before it
inline Group numbers_of(const GroupImage& image, std::span<const DeviceProgram> programs, u32 first_constant) {
    const DeviceProgram without{.step = nullptr,
                                .constants = static_cast<u32>(image.constants.size()),
                                .receptors = static_cast<u32>(image.first_inputs.size())};
    const DeviceProgram& model = image.has_program() ? programs[image.program] : without;
    Group group;
    group.first_constant = first_constant;
    group.most_relayed = image.most_relayed;
    group.is_cells = image.is_cells ? 1 : 0;
    group.first = image.first;
    group.count = image.count;
    group.program = image.program;
    group.variables = model.variables;
    group.constant_count = model.constants;
    group.receptors = model.receptors;
    group.refractory_varies = image.refractory_steps.size() > 1 ? 1 : 0;
    group.reads_negative_zero = image.reads_negative_zero ? 1 : 0;
    group.signal_count = static_cast<u32>(image.signals.size());
    group.key_low = image.key_low;
    group.key_high = image.key_high;
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
    u32 most_relayed = 0;  ///< spikes of all its relays in a step
    std::vector<ReceptorImage> receptors;
    std::vector<GroupImage> groups;
    u32 rows = 0;  ///< of all sources of this process, then those that other processes' sources have in this block
    u64 synapses = 0;  ///< of its rows
    bool has_tables = false;  ///< of synapses that change with spikes
    CellsImage cells = {};

    u32 inputs() const {
        u32 sum = 0;
        for (const ReceptorImage& receptor : receptors) sum += receptor.inputs;
        return sum;
    }

    /// Most spikes in a step, as far as records can count them.
    /// @param played by the host
    u32 most_spikes(u32 played) const { return std::min<u32>(neurons + most_relayed + played, Record::stop - 1U); }
};

struct NetworkImage {
    u32 epoch_steps = 1;
    bool has_rows = false;  ///< those that were constructed
    bool has_remote = false;  ///< whether other processes have spikes for this one
    double quantum = 1.0;  ///< a power of two
    std::vector<DeviceProgram> programs;
    std::vector<LearningRule> learning_rules = {};
    std::vector<ReleaseRule> release_rules = {};
    CellPrograms cell_programs = {};
    std::vector<double> cell_rates = {};  ///< tables of all cells
    std::vector<BlockImage> blocks;
};

/// A state of all neurons of a block between two runs.
struct BlockState {
    std::vector<double> variables;  ///< [variable][neuron]
    std::vector<i32> refractory;  ///< steps that are left
    CellsState cells = {};
};

/// What the host has calculated for a block in some steps; see Courses.
struct BlockCourses {
    u32 count = 0;
    std::vector<u32> rows;
    std::vector<double> values;
    std::vector<u32> played_begin;  ///< empty: no spikes are played
    std::vector<u16> played;
    u32 most_played = 0;  ///< spikes in a step
};

/// Longest epoch in steps: a block has records and lists of spikes for two.
inline constexpr std::int64_t longest_epoch = 32;

/// A condition that did not hold.
struct Failure {
    i64 step = 0;
    u32 block = 0;
    u32 neuron = 0;  ///< of the block, or no_neuron
};
/// @param first step of the run
inline std::optional<Failure> failure_of(const Control& control, i64 first) {
    if (control.failed == 0) return std::nullopt;
    const u64 found = control.first_failure;
    return Failure{first + static_cast<i64>(found >> 32), static_cast<u32>(found >> 16 & 0xFFFF),
                   static_cast<u32>(found & 0xFFFF)};
}

/// The UUID of a GPU.
using DeviceIdentity = std::array<std::uint8_t, 16>;

/// A device, or its emulator, with a network.
class Backend {
   public:
    virtual ~Backend() = default;

    /// What it runs on, for users.
    virtual std::string name() const = 0;
    /// Which GPU of all machines it is; zeros for an emulator, which shares nothing.
    virtual DeviceIdentity identity() const { return {}; }
    /// Blocks of threads for a network: how many shards the process makes.
    virtual u32 blocks() const = 0;

    /// Announces construct(), so that the device can prepare for it while the caller goes on.
    virtual void expect_construction() = 0;
    /// Draws the rows of all blocks, and joins them with those that are given, for the next network that is loaded with has_rows.
    /// @throws InsufficientMemoryError if they do not fit into the memory of the device
    virtual ConstructedRows construct(const ConstructionImage& image) = 0;
    /// Loads a network, with empty rings. Images are not needed afterwards.
    /// @throws InsufficientMemoryError if it does not fit into the memory of the device, rows included
    virtual void load(NetworkImage image) = 0;
    /// Copies the rows of a block of the loaded network, unless it has rows: those of each block, before the first run. Their
    /// synapses get another order. Thread-safe for different blocks.
    virtual void set_rows(u32 block, BlockRows& rows) = 0;
    /// Reads the rows of a block of the loaded network.
    virtual void get_rows(u32 block, BlockRows& rows) = 0;
    /// The same for the synapses of a block that change with spikes.
    virtual void set_tables(u32 block, const TablesImage& tables) = 0;
    /// Replaces groups' constants.
    virtual void set_constants(u32 block, std::span<const GroupImage> groups) = 0;
    /// Replaces the cells of all blocks by others with the same nodes, receptors and electrodes.
    /// @param rates as NetworkImage::cell_rates
    virtual void set_cells(std::span<const CellsImage> blocks, std::span<const double> rates) = 0;
    virtual void set_state(u32 block, const BlockState& state) = 0;
    virtual void get_state(u32 block, BlockState& state) = 0;
    /// Sums of weights that are yet to arrive, within the greatest delay of the receptor: [receptor][step % slots][input], in
    /// quanta.
    virtual void set_ring(u32 block, std::span<const i64> sums) = 0;
    /// Spikes of other processes, in the order of their steps and numbers, which the next run or settle() delivers first. They must arrive
    /// later than the last step that was done. Those of an earlier call that no run has delivered are dropped.
    virtual void receive(u32 block, std::span<const RemoteSpike> spikes) = 0;
    virtual void get_ring(u32 block, std::span<i64> sums) = 0;
    /// The state of a table of TablesImage::learning. @param step of this state
    virtual void set_learning(u32 block, u32 table, const LearningState& state, i64 step) = 0;
    /// @param state whose arrays have the sizes of those of the table
    virtual void get_learning(u32 block, u32 table, LearningState& state) = 0;
    virtual void set_factors(u32 block, u32 table, const FactorState& state) = 0;
    virtual void get_factors(u32 block, u32 table, FactorState& state) = 0;
    /// All synapses learn from the spikes that have arrived up to a step, the last one that was done, and from spikes of
    /// other processes.
    virtual void settle(i64 step) = 0;
    /// Adds the static synapses of the spikes of receive() to the rings, as far as they arrive after a step, the last one that
    /// was done. The spikes may have been delivered before. @param takes_back whether they are subtracted
    virtual void replay(i64 step, bool takes_back) = 0;
    /// Whether settle() must be called before the next run: blocks do that themselves, unless other processes have spikes
    /// that they do not know yet.
    virtual bool should_settle() const = 0;

    /// Gives the blocks what the host has calculated for the steps from `first` on, to which later runs keep.
    /// @pre the spikes of the last run have been taken
    virtual void set_courses(i64 first, std::span<const BlockCourses> blocks) = 0;

    /// Runs steps from `first` to `last`, inclusive. Returns the last step that was done: an earlier one if there was no
    /// room for more spikes, if `stops` returned true, or if a neuron has failed.
    /// @param stops called now and then by this thread
    virtual i64 run(i64 first, i64 last, const std::function<bool()>& stops) = 0;
    /// Where a condition of a program did not hold first in the last run, if one did not.
    virtual std::optional<Failure> failure() const = 0;
    /// The spikes of a block since the last call, in the order of steps.
    virtual void take_spikes(u32 block, std::vector<Spike>& spikes) = 0;
    /// Synapses that spikes of this process have reached in a block, since the network was loaded.
    virtual u64 events(u32 block) = 0;
    /// Memory of the device that the loaded network takes.
    virtual DeviceBytes memory() const = 0;
    /// Bytes of a network that the device has room for now; none: memory of the host.
    virtual std::optional<u64> room() const { return std::nullopt; }
};

/// How the emulator runs.
struct EmulatorOptions {
    u32 blocks = 4;
    u32 threads = 64;  ///< of a block: a multiple of 32, at least the number of blocks
    /// Of the orders of blocks and warps.
    u64 seed = 1;
    /// Spikes that a block has room for; 0: chosen.
    u32 spike_room = 0;
    u32 arrival_room = 0;  ///< 0: drawn
    /// What is not chosen is drawn: so that all, some or none of the sums of inputs are in shared memory, for example.
    Tuning tuning = {};
};

std::unique_ptr<Backend> make_emulator(const EmulatorOptions& options);

}  // namespace ranvier::device
