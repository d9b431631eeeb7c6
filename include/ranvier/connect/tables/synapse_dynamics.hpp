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

/// Arguments of a table of non-static synapses beside its columns.
struct PlasticTableArguments {
    std::uint32_t local_neurons = 0;
    const InputLayout* layout = nullptr;  ///< of the targets; read only during construction
    std::uint32_t receptor = 0;
    double resolution = 0.1;  ///< ms
    /// Grid of the contributions to inputs: a power of two.
    double quantum = 0x1p-32;
    /// The instruction set of compiled code of the synapse model to call, if available; nothing: interpret programs.
    std::optional<InstructionSet> compiled_rules = std::nullopt;
    std::pmr::memory_resource* synapses = page_memory();  ///< both must outlive the table
    std::pmr::memory_resource* spikes = page_memory();

    /// The neuron of each input, if neurons have several inputs; otherwise empty.
    Buffer<std::uint32_t> neurons_of_inputs() const {
        if (layout == nullptr || !layout->has_sites()) return {};
        Buffer<std::uint32_t> neurons(layout->size(), synapses);
        layout->copy_neurons(neurons.span());
        return neurons;
    }
};

/// Memory of a table of non-static synapses on a shard, beside its columns.
struct PlasticTableMemory {
    std::size_t synapse_bytes = 0;   ///< of each synapse
    bool numbers_pairs = false;      ///< if a pair has several synapses, each stores its number
    bool needs_sources = false;      ///< keeps the sources, even if they are to be freed
    std::size_t target_bytes = 0;    ///< of each neuron of the shard
    std::size_t input_bytes = 0;     ///< of each input of the shard, if neurons have several
    std::size_t row_bytes = 0;       ///< of each row
    std::size_t constant_bytes = 0;  ///< independent of the size
    /// The same, if the rule is a compiled or an interpreted program (BuildOptions::compiled_rules).
    std::size_t compiled_rule_bytes = 0;
    std::size_t interpreted_rule_bytes = 0;
    /// Bytes for stored spikes; null for none.
    std::function<double(const ExpectedSpikes&)> spike_bytes = nullptr;
};

/// Steps of a delay before the presynaptic spike reaches the synapse.
inline DelaySteps axonal_steps(double axonal_fraction, DelaySteps delay) {
    return static_cast<DelaySteps>(round_half_up(axonal_fraction * static_cast<double>(delay)));
}
/// Number of lists of waiting spikes.
inline std::size_t lists_of_waiting(DelaySteps longest_axonal) {
    return std::bit_ceil(std::size_t{longest_axonal} + 1);
}

/// Bytes per synapse of a whole number with this greatest value: none if all are 0.
constexpr std::size_t narrow_bytes(std::uint32_t greatest) {
    if (greatest == 0) return 0;
    if (greatest <= UINT8_MAX) return sizeof(std::uint8_t);
    return greatest <= UINT16_MAX ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
}

/// Number of spikes beside the newest that are kept before synapses learn from all of them: about a sixteenth of the
/// memory of the synapses, so that this is not too frequent.
constexpr std::uint64_t most_older_spikes(std::uint64_t synapses) {
    return std::max<std::uint64_t>(1 << 16, synapses / 32);
}

/// A synapse model with the values of the parameters shared by all synapses of a table, and the columns of the
/// per-synapse ones.
class SynapseDynamics {
   public:
    virtual ~SynapseDynamics() = default;

    /// Bounds of weights, with the same sign unless one is 0; either may be infinite.
    virtual double least_weight() const = 0;
    virtual double greatest_weight() const = 0;
    /// With per-synapse bounds: the parameter of the model that is the other bound beside 0.
    virtual std::optional<std::uint32_t> bound_parameter() const { return std::nullopt; }
    /// If only the user changes weights: greatest multiple of the weight that is added. 0 if weights change with
    /// spikes.
    virtual double greatest_factor() const { return 0.0; }
    /// For random numbers of synapses during a run.
    virtual void use_key(RandomKey /*key*/) {}
    /// Whether devices have tables of these synapses, too.
    virtual bool runs_on_device() const { return false; }
    /// The part of delays before the synapse, for synapses that learn.
    virtual double axonal_fraction() const { return 0.0; }
    /// For models with a transmitter.
    virtual void use_transmitter(const Transmitter& /*transmitter*/) {}
    /// Null if spikes of other neurons do not affect the synapses.
    virtual const Transmitter* transmitter() const { return nullptr; }
    /// The per-synapse parameters of the model, ascending: the columns of its tables (TableColumns::parameters).
    std::span<const std::uint32_t> per_synapse_parameters() const { return per_synapse_parameters_; }
    /// @param ranges least and greatest value of each
    virtual void use_per_synapse_parameters(std::vector<std::uint32_t> parameters,
                                            std::span<const std::pair<double, double>> /*ranges*/) {
        per_synapse_parameters_ = std::move(parameters);
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
    std::vector<std::uint32_t> per_synapse_parameters_;
};

/// Bits between the greatest possible weight of a synapse and the grid of its contributions to inputs.
inline constexpr int bits_of_learning = 32;

/// The greatest absolute value that non-static weights may reach. Weights that the model does not bound may grow 256
/// times: the sums have room for it.
/// @param given bound of the user; 0 for none @param greatest initial weight
inline double bound_of_learning(const SynapseDynamics& dynamics, double given, double greatest) {
    constexpr double most_growth = 256.0;
    const double bound = std::max(std::abs(dynamics.least_weight()), std::abs(dynamics.greatest_weight()));
    // Weights stored in single precision stop at the rounded bound, which may exceed it.
    if (std::isfinite(bound)) return std::max(bound, static_cast<double>(static_cast<float>(bound)));
    const double growth = dynamics.greatest_factor() == 0.0 ? most_growth : 1.0;
    return std::max(given, greatest == 0.0 ? 1.0 : growth * greatest);
}
/// Grid of the contributions to inputs of weights that may grow to a bound.
inline double quantum_of_learning(double bound) { return std::ldexp(1.0, std::ilogb(bound) + 1 - bits_of_learning); }

}  // namespace ranvier::connect
