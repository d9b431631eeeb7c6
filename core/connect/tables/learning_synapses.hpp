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

/// Reads a variable, by its index among those that a table follows, of consecutive neurons of the shard, from local
/// index `first` on. Entries of neurons without the variable stay unchanged.
using PotentialReader = std::function<void(std::size_t variable, std::uint32_t first, std::span<double> values)>;

/// Synapses that learn from the spikes of their targets.
class SpikeDrivenSynapses {
   public:
    /// Called after the neurons of a step have been updated, with those that fired, by local index.
    virtual void postsynaptic_spikes(Step step, std::span<const std::uint32_t> neurons) = 0;

   protected:
    ~SpikeDrivenSynapses() = default;
};

/// Synapses that learn from variables of their targets.
class VoltageDrivenSynapses {
   public:
    /// The names of these variables.
    virtual std::span<const std::string_view> followed_variables() const = 0;
    /// Called before the first step, with values after step `step`; no effect later.
    virtual void begin_following(Step step, const PotentialReader& read) = 0;
    /// Called after the neurons of a step have been updated.
    virtual void follow(Step step, const PotentialReader& read) = 0;

   protected:
    ~VoltageDrivenSynapses() = default;
};

/// Synapses that a transmitter modulates.
class ModulatedSynapses {
   public:
    /// Adds spikes of the transmitter that arrive in this step, possibly a future one. Steps must not descend; the
    /// spikes of a step may be added in several calls.
    virtual void modulate(Step step, std::uint64_t spikes) = 0;

   protected:
    ~ModulatedSynapses() = default;
};

class LearningOnDevice;

/// Synapses with plastic weights.
class LearningSynapses {
   public:
    /// Called before the neurons of a step are updated, for the presynaptic spikes that reach the synapses in it, which
    /// is before they reach the neurons.
    virtual void arrive(InstructionSet set, Step step, const InputRing& inputs) = 0;
    /// The greatest absolute value of a weight when it was added to an input.
    virtual double greatest_added() const = 0;

    virtual SpikeDrivenSynapses* spike_driven() { return nullptr; }
    virtual VoltageDrivenSynapses* voltage_driven() { return nullptr; }
    virtual ModulatedSynapses* modulated_synapses() { return nullptr; }
    /// Null for synapses that learn on processors alone.
    virtual LearningOnDevice* on_device() { return nullptr; }

    // The state between two steps, beside that of synapses and rows (StoredSynapses).

    /// Called before the state is saved, or loaded into a new table. @param now the last step
    virtual void begin_saving(Step now) = 0;
    virtual void begin_loading(Step now) = 0;
    /// The state of a target neuron. @param neuron local index
    virtual void serialize_target(std::uint32_t neuron, StateColumns& columns) = 0;
    /// The state shared by the synapses of all tables of a kind: the greatest loaded value counts.
    virtual void serialize_common(StateColumns& columns) = 0;
    /// Called after everything has been saved or loaded.
    virtual void end_serialization() = 0;

   protected:
    ~LearningSynapses() = default;
};

}  // namespace ranvier::connect
