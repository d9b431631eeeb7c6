#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "engine/network.hpp"

namespace ranvier::engine {

struct SimulationOptions {
    std::uint32_t threads = 0;  ///< 0: one for each processor that the process may use
    models::Precision precision = models::Precision::double_precision;         ///< of the state of neurons
    models::Precision weight_precision = models::Precision::single_precision;  ///< of stored weights
    std::string instruction_set = "auto";  ///< "auto", "baseline", "avx2", "avx512"
    std::string table_layout = "auto";  ///< how tables deliver: "auto", "runs" or "ring" (connect/stored_table.hpp)
    std::uint32_t delivery_window = 0;  ///< steps whose inputs runs are added to at a time, a power of two; 0: chosen
    bool pin_threads = true;  ///< bind workers to processors, when they take all of them
    std::uint64_t memory_limit = 0;  ///< bytes that the network may take; 0: what the machine has available
};

/// Called from the thread that called, about 20 times a second, while workers are busy. What it throws stops the work at
/// the next safe point and is thrown on.
using Poll = std::function<void()>;

/// Seconds of wall-clock time in each phase. The three parts of the simulation are means over the threads.
struct PhaseTimes {
    double build = 0.0;  ///< neurons and synapses
    double init = 0.0;  ///< sorting of the tables, input buffers
    double simulation = 0.0;  ///< all runs
    double update = 0.0;  ///< neurons and stimuli
    double deliver = 0.0;  ///< synapses
    double communicate = 0.0;  ///< waiting for other threads and exchanging spikes
    double record = 0.0;
};

/// One part of the program's own account of memory.
struct MemoryItem {
    std::string component;
    std::uint64_t bytes = 0;
};

struct Counts {
    std::uint64_t neurons = 0;
    std::uint64_t synapses = 0;
    std::uint64_t spikes = 0;  ///< of neurons, since the start or the last reset_counts()
    std::uint64_t synaptic_events = 0;  ///< synapses that were reached by a spike
    Step steps = 0;  ///< since the last reset_counts()
    std::vector<std::uint64_t> population_spikes;  ///< by population
};

/// Spikes in the order (step, neuron).
struct SpikeData {
    std::vector<Step> steps;
    std::vector<std::uint64_t> neurons;
};

/// Samples of a state recorder: values[(sample * variables + variable) * neurons + neuron].
struct StateData {
    std::vector<Step> steps;
    std::vector<double> values;
};

/// Synapses as arrays, in the order (projection, source, target, delay, order of drawing).
struct ConnectionData {
    std::vector<std::uint64_t> sources;
    std::vector<std::uint64_t> targets;
    std::vector<double> weights;  ///< mV or pA
    std::vector<DelaySteps> delays;
    std::vector<std::uint32_t> projections;
    /// Where each synapse is stored; an opaque handle for weights() and set_weights() of the same simulation.
    std::vector<std::uint64_t> handles;
};

/// Which synapses; an empty optional is "all".
struct ConnectionQuery {
    std::optional<std::vector<std::uint64_t>> sources = std::nullopt;  ///< global ids
    std::optional<std::vector<std::uint64_t>> targets = std::nullopt;  ///< global ids
    std::optional<ProjectionId> projection = std::nullopt;
};

/// A network that has been built, and its state at one point in time.
///
/// Not safe to be called from several threads at once; several simulations may run side by side.
class Simulation {
   public:
    /// Builds the network. The description is copied as far as it is needed.
    /// @throws InsufficientMemoryError before anything is built, StateError for a network without units, all of Network's
    Simulation(const Network& network, SimulationOptions options, const Poll& poll = {});
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    /// Runs; when `poll` throws, the simulation stops after a whole step and can be continued.
    void run(Step steps, const Poll& poll = {});

    /// Steps since the start. May be read from poll.
    Step step() const;
    double resolution() const;

    std::uint32_t threads() const;
    std::uint32_t ranks() const;
    std::string_view instruction_set() const;

    Counts counts() const;
    /// Zeroes the counts of spikes, events and steps and the times of the simulation phase (after a pre-simulation).
    void reset_counts();
    PhaseTimes times() const;
    std::vector<MemoryItem> memory() const;

    /// Takes out what a recorder has gathered since it was taken out last.
    SpikeData take_spikes(RecorderIndex recorder);
    StateData take_state(RecorderIndex recorder);
    /// Bytes that all recorders hold now. May be read from poll (then approximate).
    std::uint64_t recorded_bytes() const;

    std::uint64_t count_connections(const ConnectionQuery& query) const;
    ConnectionData connections(const ConnectionQuery& query) const;
    std::vector<double> weights(std::span<const std::uint64_t> handles) const;
    /// A spike finds the weight that a synapse has when it arrives, also when it was on its way while the weight changed.
    /// @throws ValueOutOfBoundsError for weights that are not finite, beyond the bound of the projection, or whose sign
    /// would move them to another receptor (zero belongs to both); nothing is changed then.
    void set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights);

    /// A variable or a parameter of some neurons (indices within the population), by name.
    std::vector<double> get(PopulationId population, std::string_view name,
                            std::span<const std::uint32_t> indices) const;
    /// @throws UnknownNameError, ShapeError, ValueOutOfBoundsError; nothing is changed then.
    void set(PopulationId population, std::string_view name, std::span<const std::uint32_t> indices,
             std::span<const double> values);

   private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// Bytes that building and running a network would take, by the same account as Simulation::memory().
std::vector<MemoryItem> predict_memory(const Network& network, const SimulationOptions& options);
/// Bytes of memory that this process may still take (machine and control group).
std::uint64_t available_memory();

}  // namespace ranvier::engine
