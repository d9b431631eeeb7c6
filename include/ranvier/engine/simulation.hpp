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
#include "ranvier/engine/trace.hpp"
#include "ranvier/fmm/geometry.hpp"
#include "ranvier/network/network.hpp"
#include "ranvier/parallel/memory.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::parallel {
class Team;
}

namespace ranvier::engine {

/// Called on the calling thread about 20 times a second while workers are busy. If it throws, the work stops at the
/// next safe point and the exception is rethrown.
using Poll = std::function<void()>;

/// Seconds of wall-clock time in each phase, on this process. The parts of the simulation are means over the threads.
struct PhaseTimes {
    double build = 0.0;  ///< neurons and synapses
    double init = 0.0;  ///< sorting of the tables, presynaptic table, input buffers
    double simulation = 0.0;  ///< all runs
    double update = 0.0;  ///< neurons and stimuli
    double collocate = 0.0;  ///< collocation of spikes for the exchange
    double communicate = 0.0;  ///< the exchange itself
    double deliver = 0.0;  ///< synapses
    double wait = 0.0;  ///< for other threads, and for other processes if that is timed separately
    double record = 0.0;
};

/// Traffic of an exchange method on this process; see comm::ExchangeCounts.
struct Traffic {
    std::string method;  ///< "none": there are no other processes
    comm::ExchangeCounts counts;
    std::uint64_t presynaptic_entries = 0;
    std::uint64_t presynaptic_bytes = 0;
    std::uint64_t build_rounds = 0;  ///< collective rounds of building the presynaptic table, each pass counted
};

/// One item of the memory account.
struct MemoryItem {
    std::string component;
    std::uint64_t bytes = 0;
};

/// The same by NUMA node.
struct NodeMemoryItem {
    std::optional<std::uint32_t> node;  ///< of the owning threads; none if they are not bound to a node
    std::string component;
    std::uint64_t bytes = 0;
};

/// Delays of the threads of a process by other programs during a simulation.
struct Crowding {
    double delayed = 0.0;  ///< seconds for which threads were ready but waited for a processor, summed
    double crowded = 0.0;  ///< seconds in which the process adapted to that: threads not bound, and some of them idle
    std::uint64_t taken_over = 0;  ///< shards advanced in place of preempted threads, one epoch each
    double asleep = 0.0;  ///< seconds for which the process slept instead of polling while it waited for others
};

/// The stepping of the shards of a process.
struct SteppingCounts {
    bool is_asynchronous = false;  ///< false: all together, also if no shard could ever be ahead of another
    std::uint64_t visits = 0;  ///< number of times that a shard was advanced
    double moved_bytes = 0.0;  ///< accessed by these visits, and so loaded into a worker's cache
};

struct Counts {
    std::uint64_t neurons = 0;
    std::uint64_t synapses = 0;
    std::uint64_t spikes = 0;  ///< of neurons, since the start or the last reset_counts()
    std::uint64_t synaptic_events = 0;  ///< synapses reached by a spike
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
    std::vector<std::uint64_t> places;  ///< of the neurons in the recorder, ascending
};

struct CountData {
    std::vector<Step> steps;  ///< at the end of each bin
    std::vector<std::uint64_t> counts;  ///< [bin][set of neurons]
};

/// Values of some synapses, by the name of the parameter.
using GivenParameters = std::map<std::string, std::span<const double>>;

/// Synapses as arrays, in the order (projection, source, target, delay, order of drawing). Their weights are read
/// separately.
struct ConnectionData {
    std::vector<std::uint64_t> sources;
    std::vector<std::uint64_t> targets;
    std::vector<DelaySteps> delays;
    std::vector<std::uint32_t> projections;
    std::vector<std::uint32_t> sites;  ///< of the receptor of the target
    /// The location of each synapse: an opaque handle for weights() and set_weights() of the same simulation.
    std::vector<std::uint64_t> handles;
};

/// A query of synapses; an empty optional means "all".
struct ConnectionQuery {
    std::optional<std::vector<std::uint64_t>> sources = std::nullopt;  ///< global ids
    std::optional<std::vector<std::uint64_t>> targets = std::nullopt;  ///< global ids
    std::optional<ProjectionId> projection = std::nullopt;
    std::optional<std::string> receptor = std::nullopt;  ///< of the targets, by name
    std::optional<std::vector<std::uint64_t>> sites = std::nullopt;  ///< of the receptor of the target
};

/// A network that has been built, and its state at one point in time.
///
/// Not thread-safe; several simulations may coexist.
class Simulation {
   public:
    /// Builds the network. The description is copied as far as needed.
    /// @param communicator the processes that simulate it together; null: this one alone. All of them must describe
    ///         the same network with the same options; threads, shards and limits may differ. All must call the
    ///         functions marked as collective.
    /// @throws InsufficientMemoryError before anything is built, StateError for a network without units, RemoteError
    ///         if another process fails or has another description, all of Network's @note Collective.
    Simulation(network::Network network, SimulationOptions options, const Poll& poll = {},
               std::shared_ptr<comm::Communicator> communicator = nullptr);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    /// Runs; if `poll` throws, the simulation stops after a whole step and can be continued. The other processes stop
    /// after the same step, with a RemoteError. @note Collective.
    void run(Step steps, const Poll& poll = {});

    /// Steps since the start. May be read from poll.
    Step step() const;
    double resolution() const;

    std::uint32_t threads() const;
    std::uint32_t shards() const;
    /// The places of the workers of this process.
    std::span<const parallel::Place> places() const;
    /// The workers of this process, for other work between calls.
    parallel::Team& team() const;
    /// Whether some of them, or of other processes of the host, share a processor.
    bool is_crowded() const;
    /// Number of shards that each worker of this process has updated per epoch, assigned and stolen ones.
    std::vector<parallel::StealingCounts> stealing_counts() const;
    /// How often a worker has added parts of a delivery to the shard of another worker since the last reset of counts.
    std::uint64_t shared_deliveries() const;
    /// The stepping of the shards of this process since the last reset_counts().
    SteppingCounts stepping() const;
    /// With asynchronous stepping: number of advances by 0, 1, ... steps at a time since the last reset_counts(), on
    /// this process. Otherwise empty.
    std::vector<std::uint64_t> visits() const;
    /// Delays of the threads of this process by other programs since the last reset_counts().
    Crowding crowding() const;
    std::uint32_t ranks() const;
    /// Whether connections are sorted by source.
    bool sorts_connections() const;
    comm::Communicator& communicator() const;
    /// Neurons and sources of this process, ascending.
    const IdSequence& local_ids() const;
    /// Steps between two exchanges of spikes.
    Step epoch_steps() const;
    std::string_view instruction_set() const;

    /// Counts of all processes. @note Collective.
    Counts counts() const;
    /// Resets the counts of spikes, events and steps and the times of the simulation phase (after a pre-simulation).
    void reset_counts();
    /// Mean cost of a neuron of each population since the last reset_counts(), in seconds per step: its update, and
    /// the share of delivery for the synapses onto it that were reached.
    /// @throws StateError if costs are not measured, and before the first step @note Collective.
    std::vector<double> costs() const;
    /// Number of timed steps: since the last reset_counts(), or since a state was loaded.
    Step timed_steps() const;
    /// Of this process.
    PhaseTimes times() const;
    /// By thread of this process.
    std::vector<WorkerTimes> worker_times() const;
    /// By epoch since the last reset_counts(), if they are traced.
    std::vector<EpochTimes> epoch_times() const;
    /// By thread: the latest pieces of work since the last reset_counts(), as many as SimulationOptions::trace.
    std::vector<std::vector<TracedWork>> trace() const;
    /// Of this process.
    Traffic traffic() const;
    /// The most other processes that the spikes of a neuron of this process are sent to: all, if the exchange method
    /// sends to all; 0 without exchange. Reads the whole presynaptic table.
    std::uint64_t greatest_fan_out() const;
    /// Counted at allocation, except for the buffers of the exchange, which are queried.
    std::vector<MemoryItem> memory() const;
    /// The memory of its device, if it has one; that of an emulator is memory of the host.
    std::vector<MemoryItem> device_memory() const;
    std::vector<NodeMemoryItem> memory_by_node() const;
    /// The actual location of the larger arrays, from a sample of their pages.
    parallel::PagesByNode memory_pages() const;

    /// Moves out the data of a recorder since the last call, in canonical order. @note Collective, unless the data
    /// stay local.
    SpikeData take_spikes(network::RecorderIndex recorder, Gather how = Gather::everywhere);
    /// The spikes since the last call, counted in bins (SpikeRecorderSpec::bin). The next call goes on with the last bin
    /// if its end is after the present step.
    CountData take_counts(network::RecorderIndex recorder, Gather how = Gather::everywhere);
    /// With Gather::local, the values are those of local neurons, whose places in the recorder are returned.
    StateData take_state(network::RecorderIndex recorder, Gather how = Gather::everywhere);
    /// Sets the power of 2 that no weight of a readout exceeds, the same on all processes.
    void set_readout_exponent(network::RecorderIndex recorder, int exponent);
    /// Sets the weights with which a neuron of this process enters the outputs of a readout
    /// (StateRecorderSpec::outputs): [compartment][output]. Called for each of its neurons before the first step.
    void set_readout(network::RecorderIndex recorder, NeuronId neuron, std::span<const double> weights);
    /// Sets the distributions of given potentials at a neuron of this process, mV [distribution][compartment]: for each
    /// neuron on which a field acts, before the first step.
    void set_field(std::size_t field, NeuronId neuron, std::span<const double> potentials);
    /// Prepares the coupling of the cells of a field without given potentials, before the first step.
    /// @param lines of the compartments of its cells, in the order of their ids, um: of all cells on all processes or, with an
    /// accuracy, of those of this process
    /// @param poll what it throws ends the preparation and makes the simulation useless, if there is one process
    /// @throws ValueOutOfBoundsError when its accuracy cannot be reached @note Collective.
    void set_coupling(std::size_t field, std::span<const fmm::LinePiece> lines, const Poll& poll = {});
    /// Bytes that all recorders hold now. May be read from poll (then approximate).
    std::uint64_t recorded_bytes() const;

    // The following functions are collective and return the same on all processes.

    /// Builds the tables that a query of connections reads, if a device has drawn the synapses without them. Queries do so
    /// themselves, but cannot be interrupted.
    /// @throws what `poll` throws
    void prepare_connections(const ConnectionQuery& query, const Poll& poll) const;
    std::uint64_t count_connections(const ConnectionQuery& query) const;
    ConnectionData connections(const ConnectionQuery& query) const;
    std::vector<double> weights(std::span<const std::uint64_t> handles) const;
    /// The receptors of synapses, as indices in the targets' models. Not collective.
    std::vector<std::uint32_t> receptors(std::span<const std::uint64_t> handles) const;
    /// The indices of those of some synapses that are stored on this process, with their targets, ascending. They
    /// differ between processes.
    std::vector<std::uint64_t> stored_here(std::span<const std::uint64_t> handles) const;
    /// A spike is transmitted with the weight at its arrival, even if the weight changed while it was in transit.
    /// @throws ValueOutOfBoundsError for weights that are not finite, that the model of the target does not accept,
    ///         beyond the bound of the projection, or whose sign would move them to another receptor (zero belongs to
    ///         both); nothing is changed then.
    void set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights);
    /// A parameter of synapses.
    /// @throws UnknownNameError if the model of one of them has no such parameter
    std::vector<double> synapse_parameters(std::span<const std::uint64_t> handles, std::string_view name) const;
    /// Changes per-synapse parameters, all or none, for spikes sent later.
    /// @throws UnknownNameError, ShapeError, ValueOutOfBoundsError @note Collective, like the call above.
    void set_synapse_parameters(std::span<const std::uint64_t> handles, const GivenParameters& given);

    /// A variable or a parameter of some neurons (indices within the population), by name.
    std::vector<double> get(PopulationId population, std::string_view name,
                            std::span<const std::uint64_t> indices) const;
    /// @throws UnknownNameError, ShapeError, ValueOutOfBoundsError; nothing is changed then.
    void set(std::span<const network::NeuronChange> changes);
    void set(PopulationId population, std::string_view name, std::span<const std::uint64_t> indices,
             std::span<const double> values);
    /// Changes values of a stimulus from the next step on. Random numbers of a step stay the same.
    /// @throws UnknownNameError, ShapeError, ValueOutOfBoundsError; nothing is changed then.
    /// @param steps after which values were given, if not the present one: drawn ones depend on it
    void set_stimulus(std::size_t stimulus, std::map<std::string, network::Values, std::less<>> values,
                      std::map<std::string, std::vector<double>, std::less<>> sequences,
                      std::optional<network::Values> weight,
                      const std::map<std::string, Step, std::less<>>& steps = {});
    /// Changes sequences of sources of a stimulator from the next step on.
    /// @throws as set_stimulus()
    void set_sequences(PopulationId population, network::Sequences sequences);
    /// Replaces the spikes (ms, after the present) that some units have still to play.
    /// @throws ValueOutOfBoundsError, ShapeError, also if sums of so many spikes at once would not be exact; nothing
    ///         is changed then.
    void set_spike_times(PopulationId population, std::span<const std::uint64_t> units,
                         std::span<const std::vector<double>> spike_times);

    /// Defined in a private header, for the files of the engine that save and load the state.
    struct Implementation;
    Implementation& implementation() { return *implementation_; }

   private:
    std::unique_ptr<Implementation> implementation_;
};

/// Activity that determines the size of spike buffers.
struct Activity {
    double rate = 10.0;  ///< spikes/s of a neuron, on average
    /// The maximum number of spikes relative to the mean: in a step, and in an epoch. 0: as for independent neurons.
    double most_in_step = 0.0;
    double most_in_epoch = 0.0;
    /// Simulated time, ms: synapses that learn keep spikes for long, up to a limit.
    double time = std::numeric_limits<double>::infinity();
};

/// Bytes that building and running a network would take, by the same account as Simulation::memory(), for rank `rank`
/// of `ranks`.
std::vector<MemoryItem> predict_memory(const network::Network& network, const SimulationOptions& options,
                                       std::int32_t ranks = 1, Rank rank = Rank{0}, const Activity& activity = {});
/// Whether connections would be sorted by source, with as many shards on each of the ranks.
bool sorts_connections(const network::Network& network, const SimulationOptions& options, std::int32_t ranks);
/// Bytes of memory that are still available to this process if this number of processes of the machine need as much:
/// limited by the machine, control groups and limits of the process (parallel/memory_room.hpp).
std::uint64_t available_memory(std::int32_t processes = 1);

}  // namespace ranvier::engine
