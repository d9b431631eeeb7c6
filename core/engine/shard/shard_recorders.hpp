#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "base/exact_sum.hpp"
#include "engine/shard/shard_groups.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::engine {

struct RecordedSpike {
    Step step = 0;
    NeuronId neuron;

    friend auto operator<=>(const RecordedSpike&, const RecordedSpike&) = default;
};

/// The samples of a recorder of state on a shard.
struct StateRecorder {
    /// Neurons of one population.
    struct RecordedGroup {
        explicit RecordedGroup(std::pmr::memory_resource* memory) : local(memory), columns(memory), weights(memory) {}

        PopulationId population;
        std::vector<std::size_t> variables;     ///< indices into the model's variables, or those of its compartments
        std::pmr::vector<std::uint32_t> local;  ///< indices within the group, ascending
        /// By neuron, and one more: its first column among those of the part, if compartments are recorded.
        std::pmr::vector<std::size_t> columns;
        /// Of a readout: the weights of each column for each output, [column][output].
        std::pmr::vector<double> weights;
        std::size_t first_place = 0;            ///< index of its first column among those of all parts
    };
    explicit StateRecorder(std::pmr::memory_resource* memory)
        : places(memory), steps(memory), values(memory), sums(memory) {}

    bool sums_neurons() const { return outputs > 0 && !by_neuron; }

    Step interval = 1;
    std::size_t variables = 0;  ///< values of each place
    bool at_compartments = false;
    std::vector<RecordedGroup> parts;
    /// Indices of the neurons of all parts, or of their recorded compartments, among those of the recorder.
    std::pmr::vector<std::size_t> places;
    std::pmr::vector<Step> steps;
    std::pmr::vector<double> values;  ///< [sample][variable][place]
    // Of a readout.
    std::size_t outputs = 0;
    bool by_neuron = false;            ///< then its values are [sample][output][place], and it has no sums
    int exponent = 0;                  ///< of the sums
    std::pmr::vector<ExactSum> sums;   ///< [sample][output]
    std::vector<double> currents;      ///< room for the compartments of a neuron
    std::vector<double> contributions;  ///< and for its outputs
    std::size_t stretch_samples = 0;  ///< samples before the present stretch
};

/// The numbers of spikes of some sets of neurons on a shard, in bins of time.
struct SpikeCounts {
    explicit SpikeCounts(std::pmr::memory_resource* memory) : counts(memory) {}

    Step bin = 0;  ///< length of a bin, steps; 0: spikes are not counted
    std::vector<IdSequence> neurons;
    /// Step at the end of the first bin: the one with the first step since counts were taken.
    Step first_end = 0;
    std::pmr::vector<std::uint64_t> counts;  ///< [bin][set of neurons]

    /// Adds bins up to that of step `last`. Without any bins, the first one is that of step `first`.
    void reach(Step first, Step last) {
        const auto end_of = [this](Step step) { return (step + bin - 1) / bin * bin; };
        if (counts.empty()) first_end = end_of(first);
        counts.resize(static_cast<std::size_t>((end_of(last) - first_end) / bin + 1) * neurons.size());
    }
    void add(NeuronId neuron, Step step) {
        // Not negative: first_end is at most bin - 1 steps after the first step.
        const auto row = static_cast<std::size_t>((step - first_end + bin - 1) / bin);
        for (std::size_t set = 0; set < neurons.size(); ++set) {
            if (neurons[set].find(neuron)) ++counts[row * neurons.size() + set];
        }
    }
};

/// The recordings of the neurons of a shard.
class ShardRecorders {
   public:
    /// @param groups receive the list of recorders of their state
    ShardRecorders(const network::Network& network, const connect::ShardLayout& layout, ShardGroups& groups,
                   std::pmr::memory_resource* memory);

    /// Records a spike of a neuron.
    void remember(NeuronId neuron, Step step);

    /// Sets the weights of a neuron of this shard in a readout, [compartment][output].
    /// @return false if the readout does not have the neuron here
    bool set_readout(network::RecorderIndex recorder, const ShardGroup& group, std::uint32_t local,
                     std::span<const double> weights);

    /// Makes room for the samples and counts of these steps, and restarts the timer of recording.
    void begin_samples(Step first, Step last);
    /// The same for steps whose state is not known: the samples are NaN.
    void skip_samples(Step first, Step last);
    /// Those of some steps of a group in which any recorder samples its state.
    std::span<const Step> observed_steps(const ShardGroup& group, Step first_group_step, Step last_group_step);
    /// Records the state of some neurons of a group after a step, if any recorder samples it.
    void sample(const ShardGroup& group, Step step, std::size_t begin, std::size_t end);
    /// Time of sampling since begin_samples().
    double seconds() const { return seconds_; }

    /// Samples the neurons of a group while they advance several steps.
    class Observer final : public models::StateObserver {
       public:
        Observer(ShardRecorders& recorders, const ShardGroup& group) : recorders_(recorders), group_(group) {}
        void observe(Step group_step, std::size_t begin, std::size_t end) override {
            recorders_.sample(group_, group_step * group_.stride, begin, end);
        }

       private:
        ShardRecorders& recorders_;
        const ShardGroup& group_;
    };

    std::pmr::vector<RecordedSpike>& spikes(network::RecorderIndex recorder) {
        return spike_recorders_[recorder].spikes;
    }
    SpikeCounts& counts(network::RecorderIndex recorder) { return spike_recorders_[recorder].counts; }
    StateRecorder& state(network::RecorderIndex recorder) { return state_recorders_[recorder]; }
    /// Publishes the number of recorded bytes to other threads.
    void publish_bytes() { published_bytes_.store(bytes(), std::memory_order_relaxed); }
    std::uint64_t published_bytes() const { return published_bytes_.load(std::memory_order_relaxed); }

   private:
    struct SpikeRecorder {
        std::vector<std::pair<NeuronId, NeuronId>> ranges;  ///< [first, last) ids, ascending, disjoint
        std::vector<IdSequence> sparse;                     ///< with gaps between them
        std::pmr::vector<RecordedSpike> spikes;
        SpikeCounts counts;
    };

    std::uint64_t bytes() const;
    void add_readout(StateRecorder& recorder, const StateRecorder::RecordedGroup& part, std::size_t sample,
                     const models::CompartmentReader& reader, std::size_t neuron);

    std::vector<SpikeRecorder> spike_recorders_;
    std::vector<StateRecorder> state_recorders_;
    std::vector<Step> observed_steps_;
    double seconds_ = 0.0;
    std::atomic<std::uint64_t> published_bytes_{0};
};

}  // namespace ranvier::engine
