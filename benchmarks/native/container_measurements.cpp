#include "container_measurements.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "linear_containers.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::benchmarks {

namespace {

using NeuronNumber = std::uint32_t;

/// Maximum number of steps from the push of an event until it is due, and length of the vector to which it is added.
constexpr Step longest_wait = 100;
constexpr std::uint32_t instances = 64;
constexpr Step spike_interval = 600;

struct TimedEvent {
    Step time = 0;
    NeuronNumber source = 0;
};

/// Events of one source are sorted by time, since all of them have the same delay.
Step wait_of(NeuronNumber source) { return 4 + source * 2654435761U % (longest_wait - 4); }

std::vector<NeuronNumber> others_than(NeuronNumber id, std::uint32_t neurons) {
    std::vector<NeuronNumber> others;
    for (NeuronNumber other = 0; other < neurons; ++other) {
        if (other != id) others.push_back(other);
    }
    return others;
}

/// Maximum number of waiting events of one source, which sends one in as many steps as there are sources.
std::uint32_t room_for(std::uint32_t sources) { return static_cast<std::uint32_t>(longest_wait) / sources + 2; }

class LinearNeuron {
   public:
    LinearNeuron(NeuronNumber id, std::uint32_t neurons)
        : LinearNeuron(others_than(id, neurons), room_for(neurons - 1)) {}

    Step least_time() const {
        Step least = std::numeric_limits<Step>::max();
        for (const Step time : times_.values()) least = std::min(least, time);
        return least;
    }
    void note(NeuronNumber source, Step time) { *times_.find(source) = time; }
    void push(const TimedEvent& event) { queue_.push(event.source, event); }
    std::uint64_t take_due(Step now) {
        due_.clear();
        queue_.pop(now, due_);
        for (const TimedEvent& event : due_) vector_[event.source % instances] += static_cast<double>(event.time);
        return due_.size();
    }
    template <class Visit>
    void visit_targets(Visit visit) const {
        for (std::size_t i = 0; i < targets_.keys().size(); ++i) visit(targets_.keys()[i], targets_.values()[i]);
    }
    std::uint64_t checksum() {
        double sum = 0.0;
        for (const double value : vector_) sum += value;
        return static_cast<std::uint64_t>(sum);
    }

   private:
    LinearNeuron(const std::vector<NeuronNumber>& others, std::uint32_t room)
        : memory_(LinearVector<double>::bytes(instances) + 2 * LinearMap<NeuronNumber, Step>::bytes(others.size()) +
                  LinearQueue<NeuronNumber, TimedEvent>::bytes(others.size(), room)),
          vector_(memory_, instances, 0.0),
          times_(memory_, others, 0),
          targets_(memory_, others, 1),
          queue_(memory_, others, room) {}

    LinearMemory memory_;
    LinearVector<double> vector_;
    LinearMap<NeuronNumber, Step> times_;
    LinearMap<NeuronNumber, Step> targets_;
    LinearQueue<NeuronNumber, TimedEvent> queue_;
    std::vector<TimedEvent> due_;
};

class StandardNeuron {
   public:
    StandardNeuron(NeuronNumber id, std::uint32_t neurons) : vector_(instances, 0.0) {
        for (const NeuronNumber other : others_than(id, neurons)) {
            times_[other] = 0;
            targets_[other] = 1;
        }
    }

    Step least_time() const {
        Step least = std::numeric_limits<Step>::max();
        for (const auto& [source, time] : times_) least = std::min(least, time);
        return least;
    }
    void note(NeuronNumber source, Step time) { times_.find(source)->second = time; }
    void push(const TimedEvent& event) { queue_.push(event); }
    std::uint64_t take_due(Step now) {
        std::uint64_t count = 0;
        for (; !queue_.empty() && queue_.top().time <= now; queue_.pop(), ++count) {
            vector_[queue_.top().source % instances] += static_cast<double>(queue_.top().time);
        }
        return count;
    }
    template <class Visit>
    void visit_targets(Visit visit) const {
        for (const auto& [target, delay] : targets_) visit(target, delay);
    }
    std::uint64_t checksum() const {
        double sum = 0.0;
        for (const double value : vector_) sum += value;
        return static_cast<std::uint64_t>(sum);
    }

   private:
    struct IsLater {
        bool operator()(const TimedEvent& a, const TimedEvent& b) const {
            return a.time != b.time ? a.time > b.time : a.source > b.source;
        }
    };

    std::vector<double> vector_;
    std::map<NeuronNumber, Step> times_;
    std::map<NeuronNumber, Step> targets_;
    std::priority_queue<TimedEvent, std::vector<TimedEvent>, IsLater> queue_;
};

/// As the shards of the engine: the times of sources in one array that is scanned, and a list of events for each of
/// the next steps.
class EngineNeuron {
   public:
    EngineNeuron(NeuronNumber id, std::uint32_t neurons)
        : id_(id), vector_(instances, 0.0), times_(neurons - 1, 0), targets_(others_than(id, neurons)) {}

    Step least_time() const {
        Step least = std::numeric_limits<Step>::max();
        for (const Step time : times_) least = std::min(least, time);
        return least;
    }
    /// The index of a source is available, as that of a pair of shards is.
    void note(NeuronNumber source, Step time) { times_[source - (source > id_ ? 1 : 0)] = time; }
    void push(const TimedEvent& event) { due_in(event.time).push_back(event); }
    std::uint64_t take_due(Step now) {
        std::uint64_t count = 0;
        for (; taken_ <= now; ++taken_) {
            std::vector<TimedEvent>& due = due_in(taken_);
            for (const TimedEvent& event : due) vector_[event.source % instances] += static_cast<double>(event.time);
            count += due.size();
            due.clear();
        }
        return count;
    }
    template <class Visit>
    void visit_targets(Visit visit) const {
        for (const NeuronNumber target : targets_) visit(target, Step{1});
    }
    std::uint64_t checksum() const {
        double sum = 0.0;
        for (const double value : vector_) sum += value;
        return static_cast<std::uint64_t>(sum);
    }

   private:
    static constexpr std::size_t slots = 128;
    static_assert(slots > longest_wait);
    std::vector<TimedEvent>& due_in(Step step) { return due_[static_cast<std::size_t>(step) % slots]; }

    NeuronNumber id_;
    std::vector<double> vector_;
    std::vector<Step> times_;
    std::vector<NeuronNumber> targets_;
    std::array<std::vector<TimedEvent>, slots> due_;
    Step taken_ = 0;
};

/// Not inlined, so that instruction counters can find the function.
template <class Neuron>
[[gnu::noinline]] void advance_containers(std::vector<Neuron>& neurons, const ContainerLoad& load, ContainerRun& run) {
    const std::uint32_t sources = load.neurons - 1;
    for (Step begin = 1; begin <= load.steps; begin += load.steps_at_once) {
        const Step end = std::min(load.steps, begin + load.steps_at_once - 1);
        for (NeuronNumber id = 0; id < load.neurons; ++id) {
            Neuron& neuron = neurons[id];
            ++run.iterations;
            for (Step now = begin; now <= end; ++now) {
                const auto turn = static_cast<std::uint64_t>(now) * 7 + id;
                run.checksum += static_cast<std::uint64_t>(neuron.least_time());
                if (turn % 10 != 0) {
                    const auto place = static_cast<NeuronNumber>(static_cast<std::uint64_t>(now) % sources);
                    const NeuronNumber source = place + (place >= id ? 1 : 0);
                    neuron.push({now + wait_of(source), source});
                }
                if (now % 2 == 0) run.events += neuron.take_due(now);
                if ((now + id) % spike_interval != 0) continue;
                neuron.visit_targets([&](NeuronNumber target, Step delay) { neurons[target].note(id, now + delay); });
            }
        }
    }
}

template <class Neuron>
ContainerRun measure(const ContainerLoad& load) {
    std::vector<Neuron> neurons;
    neurons.reserve(load.neurons);
    for (NeuronNumber id = 0; id < load.neurons; ++id) neurons.emplace_back(id, load.neurons);
    ContainerRun run;
    const auto begin = std::chrono::steady_clock::now();
    advance_containers(neurons, load, run);
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (Neuron& neuron : neurons) run.checksum = run.checksum * 31 + neuron.checksum();
    return run;
}

struct ContainerKind {
    std::string_view name;
    ContainerRun (*measure)(const ContainerLoad& load);
};

constexpr std::array<ContainerKind, 3> kinds_of_containers{{
    {"linear", measure<LinearNeuron>},
    {"std", measure<StandardNeuron>},
    {"engine", measure<EngineNeuron>},
}};

}  // namespace

ContainerRun measure_containers(std::string_view kind, const ContainerLoad& load) {
    const auto found = std::ranges::find(kinds_of_containers, kind, &ContainerKind::name);
    if (found == kinds_of_containers.end()) {
        std::vector<std::string_view> names;
        names.reserve(kinds_of_containers.size());
        for (const ContainerKind& known : kinds_of_containers) names.push_back(known.name);
        throw unknown_name("kind of containers", kind, names);
    }
    constexpr std::uint32_t most_neurons = 1U << 16;
    if (load.neurons < 2 || load.neurons > most_neurons) {
        throw ValueOutOfBoundsError(
            {.object = "neurons",
             .value = std::to_string(load.neurons),
             .bound = "from 2 to " + std::to_string(most_neurons) + ", each with all as sources",
             .remedy = ""});
    }
    if (load.steps < 1 || load.steps_at_once < 1) {
        throw ValueOutOfBoundsError({.object = "steps",
                                     .value = std::to_string(std::min(load.steps, load.steps_at_once)),
                                     .bound = "at least one, also at once",
                                     .remedy = ""});
    }
    return found->measure(load);
}

}  // namespace ranvier::benchmarks
