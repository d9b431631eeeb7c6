#include "engine/simulation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <utility>

#include "base/errors.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "connect/table_builder.hpp"
#include "engine/lowering.hpp"
#include "engine/memory.hpp"
#include "engine/neuron_access.hpp"
#include "engine/queries.hpp"
#include "engine/shard.hpp"
#include "parallel/processors.hpp"
#include "parallel/team.hpp"

namespace ranvier::engine {

namespace {

/// Steps that runs are delivered ahead unless the user says otherwise; measured on the full-scale microcircuit.
constexpr std::uint32_t default_window = 4;
constexpr std::uint32_t most_threads = 4096;
/// Workers meet at least this often, in steps, so that a wish to stop is heard.
constexpr Step longest_epoch = 128;

std::uint32_t choose_threads(const SimulationOptions& options) {
    if (options.threads > most_threads) {
        throw ValueOutOfBoundsError({.object = "threads",
                                     .value = std::to_string(options.threads),
                                     .bound = "at most " + std::to_string(most_threads),
                                     .remedy = "use one thread for each processor"});
    }
    if (options.threads > 0) return options.threads;
    return static_cast<std::uint32_t>(parallel::available_processors().size());
}

std::uint32_t choose_window(const SimulationOptions& options) {
    const std::uint32_t window = options.delivery_window > 0 ? options.delivery_window : default_window;
    if (!std::has_single_bit(window) || window > 1024) {
        throw ValueOutOfBoundsError({.object = "delivery_window",
                                     .value = std::to_string(window),
                                     .bound = "a power of two from 1 to 1024",
                                     .remedy = "leave it at 0"});
    }
    return window;
}

connect::TableLayout parse_layout(const std::string& name) {
    static constexpr std::array<std::string_view, 3> names{"auto", "runs", "ring"};
    if (name == "auto") return connect::TableLayout::automatic;
    if (name == "runs") return connect::TableLayout::runs;
    if (name == "ring") return connect::TableLayout::ring;
    throw unknown_name("table layout", name, names);
}

}  // namespace

struct Simulation::Implementation {
    Implementation(const Network& description, SimulationOptions chosen)
        : network(description),
          lowered(network),
          options(std::move(chosen)),
          window(choose_window(options)),
          instruction_set(parse_instruction_set(options.instruction_set)),
          build_options{.instruction_set = instruction_set,
                        .resolution = network.resolution(),
                        .double_weights = options.weight_precision == models::Precision::double_precision,
                        .layout = parse_layout(options.table_layout)},
          epoch_steps(std::min(lowered.shortest_delay(), longest_epoch)) {
        if (network.unit_count() == 0) {
            throw StateError({.object = "network",
                              .value = "empty",
                              .bound = "a simulation needs at least one neuron",
                              .remedy = "create a population first"});
        }
        const std::uint32_t threads = choose_threads(options);
        for (std::uint32_t shard = 0; shard < threads; ++shard) {
            layouts.emplace_back(ShardId{shard}, threads, lowered.ranges());
        }
        for (std::size_t i = 0; i < network.stimuli().size(); ++i) lowered.receptor(i);
    }

    void build(const Poll& poll);
    void run(Step steps, const Poll& poll);
    void run_worker(std::uint32_t worker, Step first, Step last);
    struct EpochSpikes;
    void take_epoch(std::uint32_t worker, std::uint64_t epoch, Step begin, Step end, EpochSpikes& spikes);

    Network network;
    LoweredNetwork lowered;
    SimulationOptions options;
    std::uint32_t window;
    InstructionSet instruction_set;
    connect::BuildOptions build_options;
    Step epoch_steps;  ///< spikes are exchanged at its multiples: no delay is shorter
    std::vector<connect::ShardLayout> layouts;
    comm::Communicator communicator;
    std::unique_ptr<comm::SpikeExchange> exchange = std::make_unique<comm::NoExchange>();
    std::unique_ptr<parallel::Team> team;
    std::vector<std::unique_ptr<Shard>> shards;
    std::atomic<Step> step{0};
    Step counted_from = 0;
    PhaseTimes phases;
    /// Step after which a run ends early, written by worker 0 before the barrier that ends an epoch; one for each of two
    /// epochs in turn, like the outboxes.
    std::array<bool, 2> stop_decision{};
    /// Whole epochs begun since the start; chooses the outbox.
    std::uint64_t epoch = 0;
};

void Simulation::Implementation::build(const Poll& poll) {
    check_memory(estimate_memory(lowered, layouts, build_options, window), options.memory_limit);
    LapTimer timer;
    team = std::make_unique<parallel::Team>(static_cast<std::uint32_t>(layouts.size()), options.pin_threads);
    shards.resize(layouts.size());
    connect::TableBuilder builder(lowered.plans(), layouts, build_options, *team);
    team->run(
        [&](std::uint32_t worker) {
            shards[worker] = std::make_unique<Shard>(lowered, layouts[worker], options, instruction_set);
            builder.build(worker);
        },
        poll);
    phases.build = timer.lap();
    team->run([&](std::uint32_t worker) { shards[worker]->set_tables(builder.finish(worker), window); }, poll);
    phases.init = timer.lap();
}

void Simulation::Implementation::run(Step steps, const Poll& poll) {
    if (steps <= 0) return;
    const Step first = step.load(std::memory_order_relaxed) + 1;
    constexpr Step most_steps = std::int64_t{1} << 60;
    if (steps > most_steps - first) {
        throw ValueOutOfBoundsError({.object = "steps to run",
                                     .value = std::to_string(steps),
                                     .bound = "a simulation has at most 2^60 steps",
                                     .remedy = "run for a shorter time"});
    }
    LapTimer timer;
    const auto finish = [&] { phases.simulation += timer.lap(); };
    try {
        team->run([&](std::uint32_t worker) { run_worker(worker, first, first + steps - 1); }, poll);
    } catch (...) {
        finish();
        throw;
    }
    finish();
}

/// What a worker needs to take in an epoch's spikes; kept from one epoch to the next, so that nothing is allocated.
struct Simulation::Implementation::EpochSpikes {
    std::vector<std::span<const comm::SpikeRecord>> outboxes;
    std::vector<std::span<const comm::SpikeRecord>> incoming;
    std::vector<NeuronId> sources;
};

/// All workers do this side by side, and meet once an epoch. One meeting suffices, since outboxes alternate: who runs
/// ahead into the next epoch writes the other box, and cannot reach the one after before all have read this one.
void Simulation::Implementation::run_worker(std::uint32_t worker, Step first, Step last) {
    Shard& shard = *shards[worker];
    std::uint64_t own_epoch = epoch;
    team->wait();  // nobody may change `epoch` before all have read it
    shard.use_outbox(own_epoch);
    shard.outbox(own_epoch).clear();
    Step epoch_begin = first;
    EpochSpikes spikes;
    LapTimer timer;
    for (Step now = first; now <= last; ++now) {
        shard.begin_step(now);
        shard.times.deliver += timer.lap();
        shard.update(now);
        shard.times.update += timer.lap();
        shard.record(now);
        shard.times.record += timer.lap();
        if (now % epoch_steps != 0 && now != last) continue;
        shard.publish_recorded_bytes();
        if (worker == 0) stop_decision[own_epoch % 2] = team->stop_requested();
        team->wait();
        shard.times.communicate += timer.lap();
        take_epoch(worker, own_epoch, epoch_begin, now, spikes);
        shard.times.deliver += timer.lap();
        if (worker == 0) step.store(now, std::memory_order_relaxed);
        const bool stop = stop_decision[own_epoch % 2];
        ++own_epoch;
        shard.use_outbox(own_epoch);
        shard.outbox(own_epoch).clear();
        epoch_begin = now + 1;
        if (stop) break;
    }
    if (worker == 0) epoch = own_epoch;
}

/// Hands the spikes of an epoch to the tables of one shard, step by step.
void Simulation::Implementation::take_epoch(std::uint32_t worker, std::uint64_t own_epoch, Step begin, Step end,
                                            EpochSpikes& spikes) {
    spikes.outboxes.clear();
    for (const auto& shard : shards) spikes.outboxes.emplace_back(shard->outbox(own_epoch));
    exchange->exchange(worker, spikes.outboxes, spikes.incoming);
    for (Step stamp = begin; stamp <= end; ++stamp) {
        spikes.sources.clear();
        for (std::span<const comm::SpikeRecord>& stretch : spikes.incoming) {
            std::size_t taken = 0;
            while (taken < stretch.size() && stretch[taken].step == stamp) {
                spikes.sources.push_back(stretch[taken++].source);
            }
            stretch = stretch.subspan(taken);
        }
        if (!spikes.sources.empty()) shards[worker]->accept(stamp, spikes.sources, end);
    }
}

Simulation::Simulation(const Network& network, SimulationOptions options, const Poll& poll)
    : implementation_(std::make_unique<Implementation>(network, std::move(options))) {
    implementation_->build(poll);
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::run(Step steps, const Poll& poll) { implementation_->run(steps, poll); }
Step Simulation::step() const { return implementation_->step.load(std::memory_order_relaxed); }
double Simulation::resolution() const { return implementation_->network.resolution(); }
std::uint32_t Simulation::threads() const { return static_cast<std::uint32_t>(implementation_->layouts.size()); }
std::uint32_t Simulation::ranks() const { return static_cast<std::uint32_t>(implementation_->communicator.size()); }
std::string_view Simulation::instruction_set() const { return to_string(implementation_->instruction_set); }

Counts Simulation::counts() const {
    const Implementation& self = *implementation_;
    Counts counts;
    counts.neurons = self.network.neuron_count();
    counts.steps = step() - self.counted_from;
    counts.population_spikes.resize(self.network.populations().size(), 0);
    for (const auto& shard : self.shards) {
        counts.synapses += shard->synapses();
        counts.synaptic_events += shard->synaptic_events();
        for (const Shard::Group& group : shard->groups()) {
            counts.population_spikes[group.population.value] += group.spikes;
            if (!group.plays_spikes) counts.spikes += group.spikes;
        }
    }
    return counts;
}

void Simulation::reset_counts() {
    Implementation& self = *implementation_;
    for (const auto& shard : self.shards) shard->reset_counts();
    self.counted_from = step();
    self.phases.simulation = 0.0;
}

PhaseTimes Simulation::times() const {
    PhaseTimes times = implementation_->phases;
    for (const auto& shard : implementation_->shards) {
        const double share = 1.0 / static_cast<double>(implementation_->shards.size());
        times.update += shard->times.update * share;
        times.deliver += shard->times.deliver * share;
        times.communicate += shard->times.communicate * share;
        times.record += shard->times.record * share;
    }
    return times;
}

std::vector<MemoryItem> Simulation::memory() const {
    std::vector<MemoryItem> items{{"synapses", 0}, {"neurons", 0}, {"inputs", 0},
                                  {"stimuli", 0},  {"spikes", 0},  {"recordings", 0}};
    for (const auto& shard : implementation_->shards) {
        items[0].bytes += shard->synapse_bytes();
        items[1].bytes += shard->neuron_bytes();
        items[2].bytes += shard->input_bytes();
        items[3].bytes += shard->stimulus_bytes();
        items[4].bytes += shard->spike_bytes();
        items[5].bytes += shard->recorded_bytes();
    }
    return items;
}

SpikeData Simulation::take_spikes(RecorderIndex recorder) {
    std::vector<comm::SpikeRecord> all;
    for (const auto& shard : implementation_->shards) {
        std::vector<comm::SpikeRecord>& own = shard->recorded_spikes(recorder);
        all.insert(all.end(), own.begin(), own.end());
        std::vector<comm::SpikeRecord>{}.swap(own);
        shard->publish_recorded_bytes();
    }
    std::sort(all.begin(), all.end(), [](const comm::SpikeRecord& a, const comm::SpikeRecord& b) {
        return a.step != b.step ? a.step < b.step : a.source < b.source;
    });
    SpikeData data;
    data.steps.reserve(all.size());
    data.neurons.reserve(all.size());
    for (const comm::SpikeRecord& spike : all) {
        data.steps.push_back(spike.step);
        data.neurons.push_back(spike.source.value);
    }
    return data;
}

StateData Simulation::take_state(RecorderIndex recorder) {
    const StateRecorderSpec& spec = implementation_->network.state_recorders()[recorder];
    const std::size_t neurons = spec.indices.size();
    const std::size_t variables = spec.variables.size();
    StateData data;
    for (const auto& shard : implementation_->shards) {
        Shard::StateRecorder& own = shard->state_recorder(recorder);
        if (data.steps.empty()) {
            data.steps = own.steps;
            data.values.resize(data.steps.size() * variables * neurons);
        }
        std::size_t next = 0;
        for (std::size_t row = 0; row < data.steps.size() * variables; ++row) {
            for (const std::size_t place : own.places) data.values[row * neurons + place] = own.values[next++];
        }
        std::vector<Step>{}.swap(own.steps);
        std::vector<double>{}.swap(own.values);
        shard->publish_recorded_bytes();
    }
    return data;
}

std::uint64_t Simulation::recorded_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& shard : implementation_->shards) bytes += shard->published_recorded_bytes();
    return bytes;
}

std::uint64_t Simulation::count_connections(const ConnectionQuery& query) const {
    return ConnectionAccess(implementation_->lowered, implementation_->shards).count(query, *implementation_->team);
}

ConnectionData Simulation::connections(const ConnectionQuery& query) const {
    return ConnectionAccess(implementation_->lowered, implementation_->shards).find(query, *implementation_->team);
}

std::vector<double> Simulation::weights(std::span<const std::uint64_t> handles) const {
    return ConnectionAccess(implementation_->lowered, implementation_->shards).weights(handles);
}

void Simulation::set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights) {
    ConnectionAccess(implementation_->lowered, implementation_->shards)
        .set_weights(handles, weights, implementation_->build_options.double_weights, step());
}

std::vector<double> Simulation::get(PopulationId population, std::string_view name,
                                    std::span<const std::uint32_t> indices) const {
    return NeuronAccess(implementation_->lowered, implementation_->shards).get(population, name, indices);
}

void Simulation::set(PopulationId population, std::string_view name, std::span<const std::uint32_t> indices,
                     std::span<const double> values) {
    NeuronAccess(implementation_->lowered, implementation_->shards).set(population, name, indices, values);
}

std::vector<MemoryItem> predict_memory(const Network& network, const SimulationOptions& options) {
    const LoweredNetwork lowered(network);
    const std::uint32_t threads = choose_threads(options);
    std::vector<connect::ShardLayout> layouts;
    for (std::uint32_t shard = 0; shard < threads; ++shard)
        layouts.emplace_back(ShardId{shard}, threads, lowered.ranges());
    const connect::BuildOptions build{.resolution = network.resolution(),
                                      .double_weights = options.weight_precision == models::Precision::double_precision,
                                      .layout = parse_layout(options.table_layout)};
    MemoryEstimate estimate = estimate_memory(lowered, layouts, build, choose_window(options));
    estimate.items.push_back({"construction", estimate.peak_bytes - estimate.final_bytes});
    return estimate.items;
}

}  // namespace ranvier::engine
