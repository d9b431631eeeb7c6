#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

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

/// What a recorder of state has gathered on a shard.
struct StateRecorder {
    /// Neurons of one population.
    struct RecordedGroup {
        explicit RecordedGroup(std::pmr::memory_resource* memory) : local(memory) {}

        PopulationId population;
        std::vector<std::size_t> variables;     ///< indices into the model's variables
        std::pmr::vector<std::uint32_t> local;  ///< indices within the group, ascending
        std::size_t first_place = 0;            ///< of its neurons among those of all parts
    };
    explicit StateRecorder(std::pmr::memory_resource* memory) : places(memory), steps(memory), values(memory) {}

    Step interval = 1;
    std::size_t variables = 0;
    std::vector<RecordedGroup> parts;
    std::pmr::vector<std::size_t> places;  ///< of the neurons of all parts among all of the recorder
    std::pmr::vector<Step> steps;
    std::pmr::vector<double> values;  ///< [sample][variable][local neuron]
    std::size_t stretch_samples = 0;  ///< samples before those of the steps that the shard advances by now
};

/// What is recorded of the neurons of a shard.
class ShardRecorders {
   public:
    /// @param groups are told which recorders record their state
    ShardRecorders(const network::Network& network, const connect::ShardLayout& layout, ShardGroups& groups,
                   std::pmr::memory_resource* memory);

    /// A neuron has fired.
    void remember(NeuronId neuron, Step step);

    /// Makes room for the samples of these steps, and times what recording them takes from here on.
    void begin_samples(Step first, Step last);
    /// Those of some steps of a group in which any recorder takes its state.
    std::span<const Step> observed_steps(const ShardGroup& group, Step first_own, Step last_own);
    /// Records the state of some neurons of a group after a step, if any recorder takes it then.
    void sample(const ShardGroup& group, Step step, std::size_t begin, std::size_t end);
    /// That samples took since begin_samples().
    double seconds() const { return seconds_; }

    /// Samples the neurons of a group while they advance several steps.
    class Observer final : public models::StateObserver {
       public:
        Observer(ShardRecorders& recorders, const ShardGroup& group) : recorders_(recorders), group_(group) {}
        void observe(Step own_step, std::size_t begin, std::size_t end) override {
            recorders_.sample(group_, own_step * group_.stride, begin, end);
        }

       private:
        ShardRecorders& recorders_;
        const ShardGroup& group_;
    };

    std::pmr::vector<RecordedSpike>& spikes(network::RecorderIndex recorder) {
        return spike_recorders_[recorder].spikes;
    }
    StateRecorder& state(network::RecorderIndex recorder) { return state_recorders_[recorder]; }
    /// Publishes to other threads how many bytes have been recorded.
    void publish_bytes() { published_bytes_.store(bytes(), std::memory_order_relaxed); }
    std::uint64_t published_bytes() const { return published_bytes_.load(std::memory_order_relaxed); }

   private:
    struct SpikeRecorder {
        std::vector<std::pair<NeuronId, NeuronId>> ranges;  ///< [first, last) ids, ascending, disjoint
        std::vector<IdSequence> sparse;                     ///< with gaps between them
        std::pmr::vector<RecordedSpike> spikes;
    };

    std::uint64_t bytes() const;

    std::vector<SpikeRecorder> spike_recorders_;
    std::vector<StateRecorder> state_recorders_;
    std::vector<Step> observed_steps_;
    double seconds_ = 0.0;
    std::atomic<std::uint64_t> published_bytes_{0};
};

}  // namespace ranvier::engine
