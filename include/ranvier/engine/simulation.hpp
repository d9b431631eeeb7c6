#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/engine/gather.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/engine/times.hpp"
#include "ranvier/network/network.hpp"
#include "ranvier/parallel/memory.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::engine {

/// Called from the thread that called, about 20 times a second, while workers are busy. What it throws stops the work at
/// the next safe point and is thrown on.
using Poll = std::function<void()>;

/// Seconds of wall-clock time in each phase, on this process. The parts of the simulation are means over the threads.
struct PhaseTimes {
    double build = 0.0;  ///< neurons and synapses
    double init = 0.0;  ///< sorting of the tables, presynaptic table, input buffers
    double simulation = 0.0;  ///< all runs
    double update = 0.0;  ///< neurons and stimuli
    double collocate = 0.0;  ///< putting spikes where the exchange takes them from
    double communicate = 0.0;  ///< the exchange itself
    double deliver = 0.0;  ///< synapses
    double wait = 0.0;  ///< for other threads, and for other processes where that is told apart
    double record = 0.0;
};

/// What an exchange method has moved on this process; see comm::ExchangeCounts.
struct Traffic {
    std::string method = "none";
    comm::ExchangeCounts counts;
    std::uint64_t presynaptic_entries = 0;
    std::uint64_t presynaptic_bytes = 0;
    std::uint64_t build_rounds = 0;  ///< collective rounds that building the presynaptic table took, each pass
};

/// One part of the program's own account of memory.
struct MemoryItem {
    std::string component;
    std::uint64_t bytes = 0;
};

/// The same by NUMA node.
struct NodeMemoryItem {
    std::optional<std::uint32_t> node;  ///< of the threads that own it; none when these are not bound to one
    std::string component;
    std::uint64_t bytes = 0;
};

/// How much other programs kept the threads of a process from their processors, while it simulated.
struct Crowding {
    double delayed = 0.0;  ///< seconds for which threads were ready but waited for a processor, all together
    double crowded =
        0.0;  ///< seconds in which the process counted on that: threads not bound, and some of them at rest
    std::uint64_t taken_over = 0;  ///< shards that were advanced for threads that were put aside, one epoch of each
    double asleep =
        0.0;  ///< seconds for which the process slept while it waited for others, instead of looking for them
};

/// How the shards of a process advanced.
struct SteppingCounts {
    bool is_asynchronous = false;  ///< no: all together, also where no shard could ever be ahead of another
    std::uint64_t visits = 0;      ///< how often one was advanced by some steps
    double moved_bytes = 0.0;      ///< that these visits went through: what has to come into a worker's cache
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
    std::vector<std::uint64_t> places;  ///< of the neurons among all of the recorder, ascending
};

/// Values of some synapses, by the name of the parameter.
using GivenParameters = std::map<std::string, std::span<const double>>;

/// Synapses as arrays, in the order (projection, source, target, delay, order of drawing). Their weights are read apart.
struct ConnectionData {
    std::vector<std::uint64_t> sources;
    std::vector<std::uint64_t> targets;
    std::vector<DelaySteps> delays;
    std::vector<std::uint32_t> projections;
    std::vector<std::uint32_t> sites;  ///< of the receptor of the target
    /// Where each synapse is stored; an opaque handle for weights() and set_weights() of the same simulation.
    std::vector<std::uint64_t> handles;
};

/// Which synapses; an empty optional is "all".
struct ConnectionQuery {
    std::optional<std::vector<std::uint64_t>> sources = std::nullopt;  ///< global ids
    std::optional<std::vector<std::uint64_t>> targets = std::nullopt;  ///< global ids
    std::optional<ProjectionId> projection = std::nullopt;
    std::optional<std::string> receptor = std::nullopt;  ///< of the targets, by name
    std::optional<std::vector<std::uint64_t>> sites = std::nullopt;  ///< of the receptor of the target
};

/// A network that has been built, and its state at one point in time.
///
/// Not safe to be called from several threads at once; several simulations may run side by side.
class Simulation {
   public:
    /// Builds the network. The description is copied as far as it is needed.
    /// @param communicator the processes that simulate it together; null: this one alone. All of them describe the same
    /// network with the same options. Threads, shards and limits may differ. They call all that is marked as collective
    /// together.
    /// @throws InsufficientMemoryError before anything is built, StateError for a network without units, RemoteError when
    /// another process fails or describes something else, all of Network's
    /// @note Collective.
    Simulation(network::Network network, SimulationOptions options, const Poll& poll = {},
               std::shared_ptr<comm::Communicator> communicator = nullptr);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    /// Runs; when `poll` throws, the simulation stops after a whole step and can be continued. The other processes stop
    /// after the same step, with a RemoteError. @note Collective.
    void run(Step steps, const Poll& poll = {});

    /// Steps since the start. May be read from poll.
    Step step() const;
    double resolution() const;

    std::uint32_t threads() const;
    std::uint32_t shards() const;
    /// Where the workers of this process are.
    std::span<const parallel::Place> places() const;
    /// Whether some of them, or of other processes of the host, have to share a processor.
    bool is_crowded() const;
    /// Shards that each worker of this process has updated for an epoch, its own and others'.
    std::vector<parallel::StealingCounts> stealing_counts() const;
    /// How the shards of this process advanced since the last reset_counts().
    SteppingCounts stepping() const;
    /// Where shards do not wait for all others: how often one advanced by 0, 1, ... steps at a time since the last
    /// reset_counts(), on this process. Else nothing.
    std::vector<std::uint64_t> visits() const;
    /// What other programs took from the threads of this process since the last reset_counts().
    Crowding crowding() const;
    std::uint32_t ranks() const;
    /// Whether connections are sorted by source.
    bool sorts_connections() const;
    comm::Communicator& communicator() const;
    /// Neurons and sources of this process, ascending.
    const IdSequence& own_ids() const;
    /// Steps between two exchanges of spikes.
    Step epoch_steps() const;
    std::string_view instruction_set() const;

    /// Of all processes. @note Collective.
    Counts counts() const;
    /// Zeroes the counts of spikes, events and steps and the times of the simulation phase (after a pre-simulation).
    void reset_counts();
    /// What a neuron of each population has cost on average since the last reset_counts(), in seconds a step: its update,
    /// and of delivery the share of the synapses onto it that were reached. @throws StateError unless costs are measured,
    /// and before the first step @note Collective.
    std::vector<double> costs() const;
    /// Steps that the times are of: since the last reset_counts(), or since a state was loaded.
    Step timed_steps() const;
    /// Of this process.
    PhaseTimes times() const;
    /// Of each thread of this process.
    std::vector<WorkerTimes> worker_times() const;
    /// Of each epoch since the last reset_counts(), if they are traced.
    const std::vector<EpochTimes>& epoch_times() const;
    /// Of this process.
    Traffic traffic() const;
    /// As counted where it is allocated, but for the buffers of the exchange, which are asked.
    std::vector<MemoryItem> memory() const;
    std::vector<NodeMemoryItem> memory_by_node() const;
    /// Where the larger arrays really lie, by a sample of their pages.
    parallel::PagesByNode memory_pages() const;

    /// Takes out what a recorder has gathered since it was taken out last, in canonical order. @note Collective, unless
    /// what it gathers stays local.
    SpikeData take_spikes(network::RecorderIndex recorder, Gather how = Gather::everywhere);
    /// With Gather::local, values are those of the neurons whose places among all of the recorder are given.
    StateData take_state(network::RecorderIndex recorder, Gather how = Gather::everywhere);
    /// Bytes that all recorders hold now. May be read from poll (then approximate).
    std::uint64_t recorded_bytes() const;

    // What follows is collective, and all processes get the same.

    std::uint64_t count_connections(const ConnectionQuery& query) const;
    ConnectionData connections(const ConnectionQuery& query) const;
    std::vector<double> weights(std::span<const std::uint64_t> handles) const;
    /// The receptors of synapses, by their places among those of the targets' models. Not collective.
    std::vector<std::uint32_t> receptors(std::span<const std::uint64_t> handles) const;
    /// Which of some synapses are stored on this process, with their targets: indices, ascending. The processes get
    /// different ones.
    std::vector<std::uint64_t> stored_here(std::span<const std::uint64_t> handles) const;
    /// A spike finds the weight that a synapse has when it arrives, also when it was on its way while the weight changed.
    /// @throws ValueOutOfBoundsError for weights that are not finite, that the model of the target does not take, beyond the
    /// bound of the projection, or whose sign would move them to another receptor (zero belongs to both); nothing is changed
    /// then.
    void set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights);
    /// A parameter of synapses. @throws UnknownNameError where the model of one of them has none of this name
    std::vector<double> synapse_parameters(std::span<const std::uint64_t> handles, std::string_view name) const;
    /// Changes parameters of which each synapse has a value of its own, all or none, for spikes that are sent later.
    /// @throws UnknownNameError, ShapeError, ValueOutOfBoundsError @note Collective, like the call above.
    void set_synapse_parameters(std::span<const std::uint64_t> handles, const GivenParameters& given);

    /// A variable or a parameter of some neurons (indices within the population), by name.
    std::vector<double> get(PopulationId population, std::string_view name,
                            std::span<const std::uint64_t> indices) const;
    /// @throws UnknownNameError, ShapeError, ValueOutOfBoundsError; nothing is changed then.
    void set(std::span<const network::NeuronChange> changes);
    void set(PopulationId population, std::string_view name, std::span<const std::uint64_t> indices,
             std::span<const double> values);
    /// Other values of a stimulus, of what reaches its targets from the next step on. Numbers that are drawn for a step stay
    /// the same. @throws UnknownNameError, ShapeError, ValueOutOfBoundsError; nothing is changed then.
    /// @param steps after which values were given, if it is not the present one: drawn ones depend on it
    void set_stimulus(std::size_t stimulus, std::map<std::string, network::Values, std::less<>> values,
                      std::map<std::string, std::vector<double>, std::less<>> sequences,
                      std::optional<network::Values> weight,
                      const std::map<std::string, Step, std::less<>>& steps = {});
    /// Other lists of numbers of sources that a stimulator draws, from the next step on. @throws as set_stimulus()
    void set_sequences(PopulationId population, network::Sequences sequences);
    /// Other spikes (ms, after the present) for some units that play spikes, in place of all that these have still to play.
    /// @throws ValueOutOfBoundsError, ShapeError, also where sums of so many spikes at once would not be exact; nothing is
    /// changed then.
    void set_spike_times(PopulationId population, std::span<const std::uint64_t> units,
                         std::span<const std::vector<double>> spike_times);

   private:
    friend class RestoredSources;
    friend class StateSaver;
    friend class StateLoader;
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// What buffers of spikes depend on.
struct Activity {
    double rate = 10.0;  ///< spikes/s of a neuron, on average
    /// The largest numbers of spikes relative to their means: in a step, and in an epoch. 0: as in a network whose neurons
    /// fire independently.
    double most_in_step = 0.0;
    double most_in_epoch = 0.0;
    /// ms that are simulated: synapses that learn keep spikes for long, up to a number.
    double time = std::numeric_limits<double>::infinity();
};

/// Bytes that building and running a network would take, by the same account as Simulation::memory().
/// Of rank `rank` of `ranks`.
std::vector<MemoryItem> predict_memory(const network::Network& network, const SimulationOptions& options,
                                       std::int32_t ranks = 1, Rank rank = Rank{0}, const Activity& activity = {});
/// Whether connections would be sorted by source, with as many shards on each of the ranks.
bool sorts_connections(const network::Network& network, const SimulationOptions& options, std::int32_t ranks);
/// Bytes of memory that this process may still take, if so many processes of this machine need as much: what the machine,
/// control groups and limits of the process leave (parallel/memory_room.hpp).
std::uint64_t available_memory(std::int32_t processes = 1);

}  // namespace ranvier::engine
