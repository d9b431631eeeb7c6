#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"
#include "ranvier/connect/tables/table_columns.hpp"

namespace ranvier::connect {

/// Some synapses of one source, as columns of double precision, regardless of the stored precision.
struct SynapseFactorBlock {
    const double* const* parameters;  ///< by parameter of the model
    double* const* states;            ///< by number of the state
    double* factors;                  ///< output: factors of the spike
    std::size_t count;
    Step now;
    Step last;  ///< previous spike of the source
    double resolution;  ///< ms
};

/// Initial state of such synapses, and the effect of a spike. Compiled once for each model: shared parameters have the
/// same form as per-synapse ones.
struct SynapseFactorRule {
    std::string_view type;  ///< of the rule in C++, for kernels
    std::size_t parameters;
    std::span<const std::string_view> state_names;
    Step never;  ///< value of `last` before the first spike
    void (*begin)(const SynapseFactorBlock& block);
    void (*release)(InstructionSet set, const SynapseFactorBlock& block);
};

/// A table of synapses at which each spike adds the weight times a factor with per-synapse state, since parameters are
/// per synapse. Weights do not change.
/// @param shared values of the parameters of the model @param per_synapse parameters that are columns of the table
/// instead
template <class Target, class Weight>
std::unique_ptr<SynapseTable> make_synapse_factor_table(TableColumns<Target, Weight> columns,
                                                        const SynapseFactorRule& rule, std::span<const double> shared,
                                                        std::span<const std::uint32_t> per_synapse,
                                                        const PlasticTableArguments& arguments);

/// Memory of such a table, on a shard.
PlasticTableMemory synapse_factor_memory(const SynapseFactorRule& rule, std::size_t weight_bytes);

}  // namespace ranvier::connect
