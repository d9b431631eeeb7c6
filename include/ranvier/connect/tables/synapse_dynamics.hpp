#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/base/buffer.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/page_memory.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/base/step_rounding.hpp"
#include "ranvier/connect/placement/input_layout.hpp"
#include "ranvier/connect/tables/expected_spikes.hpp"
#include "ranvier/connect/tables/table.hpp"
#include "ranvier/connect/tables/table_columns.hpp"
#include "ranvier/connect/tables/transmitter.hpp"

namespace ranvier::connect {

/// What a table of synapses that are not static needs beside its columns.
struct PlasticTableArguments {
    std::uint32_t local_neurons = 0;
    const InputLayout* layout = nullptr;  ///< of the targets; read while the table is made
    std::uint32_t receptor = 0;
    double resolution = 0.1;  ///< ms
    /// What is added to the inputs is rounded to this: a power of two.
    double quantum = 0x1p-32;
    /// Call what was compiled for the synapse model and this instruction set, where there is such; none: interpret programs.
    std::optional<InstructionSet> compiled_rules = std::nullopt;
    std::pmr::memory_resource* synapses = page_memory();  ///< both must outlive the table
    std::pmr::memory_resource* spikes = page_memory();

    /// The neuron of each input, where neurons have several inputs; else empty.
    Buffer<std::uint32_t> neurons_of_inputs() const {
        if (layout == nullptr || !layout->has_sites()) return {};
        Buffer<std::uint32_t> neurons(layout->size(), synapses);
        layout->copy_neurons(neurons.span());
        return neurons;
    }
};

/// What a table of synapses that are not static takes on a shard, beside its columns.
struct PlasticTableMemory {
    std::size_t synapse_bytes = 0;   ///< of each synapse
    bool numbers_pairs = false;  ///< where a pair has several synapses, each keeps which it is
    bool needs_sources = false;  ///< keeps them, even where they are to be forgotten
    std::size_t target_bytes = 0;  ///< of each neuron of the shard
    std::size_t input_bytes = 0;  ///< of each input of the shard, where neurons have several
    std::size_t row_bytes = 0;  ///< of each row
    std::size_t constant_bytes = 0;  ///< whatever its size
    /// The same, where the rule is a program that is compiled, or interpreted (BuildOptions::compiled_rules).
    std::size_t compiled_rule_bytes = 0;
    std::size_t interpreted_rule_bytes = 0;
    /// What it stores of spikes, in bytes; null: nothing.
    std::function<double(const ExpectedSpikes&)> spike_bytes = nullptr;
};

/// Steps of a delay that the presynaptic spike takes to the synapse.
inline DelaySteps axonal_steps(double axonal_fraction, DelaySteps delay) {
    return static_cast<DelaySteps>(round_half_up(axonal_fraction * static_cast<double>(delay)));
}
/// How many lists there are of spikes that wait for as long.
inline std::size_t lists_of_waiting(DelaySteps longest_axonal) {
    return std::bit_ceil(std::size_t{longest_axonal} + 1);
}

/// Bytes of a whole number for each synapse, where the greatest of them is this: none where all are 0.
constexpr std::size_t narrow_bytes(std::uint32_t greatest) {
    if (greatest == 0) return 0;
    if (greatest <= UINT8_MAX) return sizeof(std::uint8_t);
    return greatest <= UINT16_MAX ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
}

/// Spikes beside the newest that are kept before synapses learn from all of them. They may take about as much as a sixteenth
/// of the synapses, and are not looked for too often.
constexpr std::uint64_t most_older_spikes(std::uint64_t synapses) {
    return std::max<std::uint64_t>(1 << 16, synapses / 32);
}

/// A synapse model with the values of the parameters that all synapses of a table share, and a place for those that they have
/// of their own.
class SynapseDynamics {
   public:
    virtual ~SynapseDynamics() = default;

    /// Weights stay between these, which have the same sign unless one is 0; either may be infinite.
    virtual double least_weight() const = 0;
    virtual double greatest_weight() const = 0;
    /// Where synapses may have bounds of their own: the parameter of the model that weights lie between 0 and.
    virtual std::optional<std::uint32_t> bound_parameter() const { return std::nullopt; }
    /// Where only the user changes weights: at most so many times the weight is added. 0 where they change with spikes.
    virtual double greatest_factor() const { return 0.0; }
    /// For what synapses draw while they run.
    virtual void use_key(RandomKey /*key*/) {}
    /// Of models that have a transmitter.
    virtual void use_transmitter(const Transmitter& /*transmitter*/) {}
    /// Null where spikes of other neurons do not act on the synapses.
    virtual const Transmitter* transmitter() const { return nullptr; }
    /// Which of the model's parameters each synapse has a value of its own for, ascending: the columns of its tables
    /// (TableColumns::parameters).
    std::span<const std::uint32_t> own_parameters() const { return own_parameters_; }
    /// @param ranges the least and the greatest value of each of them
    virtual void use_own_parameters(std::vector<std::uint32_t> parameters,
                                    std::span<const std::pair<double, double>> /*ranges*/) {
        own_parameters_ = std::move(parameters);
    }

    virtual PlasticTableMemory memory(bool double_weights) const = 0;
    /// @param columns whose rows are sorted by delay
    virtual std::unique_ptr<SynapseTable> make_table(TableColumns<std::uint16_t, float> columns,
                                                     const PlasticTableArguments& arguments) const = 0;
    virtual std::unique_ptr<SynapseTable> make_table(TableColumns<std::uint32_t, float> columns,
                                                     const PlasticTableArguments& arguments) const = 0;
    virtual std::unique_ptr<SynapseTable> make_table(TableColumns<std::uint16_t, double> columns,
                                                     const PlasticTableArguments& arguments) const = 0;
    virtual std::unique_ptr<SynapseTable> make_table(TableColumns<std::uint32_t, double> columns,
                                                     const PlasticTableArguments& arguments) const = 0;

   private:
    std::vector<std::uint32_t> own_parameters_;
};

/// Bits between the greatest weight that a synapse may come to have, and what weights are rounded to when they are added.
inline constexpr int bits_of_learning = 32;

/// The greatest absolute value that weights that are not static may come to have. Weights that the model does not bound
/// may grow 256 times: there is room for it in the sums.
/// @param given bound of the user; 0: none @param greatest initial one
inline double bound_of_learning(const SynapseDynamics& dynamics, double given, double greatest) {
    constexpr double most_growth = 256.0;
    const double bound = std::max(std::abs(dynamics.least_weight()), std::abs(dynamics.greatest_weight()));
    // Weights that are stored in single precision stop at the bound as rounded to that, which may lie above it.
    if (std::isfinite(bound)) return std::max(bound, static_cast<double>(static_cast<float>(bound)));
    const double growth = dynamics.greatest_factor() == 0.0 ? most_growth : 1.0;
    return std::max(given, greatest == 0.0 ? 1.0 : growth * greatest);
}
/// What weights that may grow to a bound are rounded to when they are added to the inputs.
inline double quantum_of_learning(double bound) { return std::ldexp(1.0, std::ilogb(bound) + 1 - bits_of_learning); }

}  // namespace ranvier::connect
