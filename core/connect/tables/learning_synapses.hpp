#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

namespace ranvier::connect {

/// Reads a variable, by its index among those that a table follows, of consecutive neurons of the shard, from local index
/// `first` on. Entries of neurons that have no such variable stay as they are.
using PotentialReader = std::function<void(std::size_t variable, std::uint32_t first, std::span<double> values)>;

/// Synapses that learn from the spikes of their targets.
class SpikeFollower {
   public:
    /// After the neurons of a step have been updated: those that have fired, by local index.
    virtual void postsynaptic_spikes(Step step, std::span<const std::uint32_t> neurons) = 0;

   protected:
    ~SpikeFollower() = default;
};

/// Synapses that learn from variables of their targets.
class PotentialFollower {
   public:
    /// The names of these variables.
    virtual std::span<const std::string_view> followed_variables() const = 0;
    /// Before the first step, and without effect later: their values after step `step`.
    virtual void begin_following(Step step, const PotentialReader& read) = 0;
    /// After the neurons of a step have been updated.
    virtual void follow(Step step, const PotentialReader& read) = 0;

   protected:
    ~PotentialFollower() = default;
};

/// Synapses that a transmitter modulates.
class ModulatedSynapses {
   public:
    /// So many spikes of the transmitter arrive in this step, which may lie ahead. Called in the order of the steps; the spikes
    /// of a step may come in several calls.
    virtual void modulate(Step step, std::uint64_t spikes) = 0;

   protected:
    ~ModulatedSynapses() = default;
};

/// Synapses whose weights change by themselves.
class LearningSynapses {
   public:
    /// Before the neurons of a step are updated: presynaptic spikes that arrive in it at the synapses themselves, which is
    /// before they arrive at the neurons.
    virtual void arrive(InstructionSet set, Step step, const InputRing& inputs) = 0;
    /// The greatest absolute value that a weight had when it was added to an input.
    virtual double greatest_added() const = 0;

    virtual SpikeFollower* spike_follower() { return nullptr; }
    virtual PotentialFollower* potential_follower() { return nullptr; }
    virtual ModulatedSynapses* modulated_synapses() { return nullptr; }

    // The state between two steps, beside that of synapses and rows (StoredSynapses).

    /// Before the state of the table is saved, or loaded into a table that has just been made. @param now the last step
    virtual void begin_saving(Step now) = 0;
    virtual void begin_loading(Step now) = 0;
    /// What the table stores of a neuron. @param neuron local index
    virtual void serialize_target(std::uint32_t neuron, StateColumns& columns) = 0;
    /// What the synapses of all tables of a kind have in common: the greatest of all that is loaded counts.
    virtual void serialize_common(StateColumns& columns) = 0;
    /// After all has been saved, or loaded.
    virtual void end_serialization() = 0;

   protected:
    ~LearningSynapses() = default;
};

}  // namespace ranvier::connect
