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

/// Some synapses of one source, as columns of double precision, whatever they are stored in.
struct OwnFactorBlock {
    const double* const* parameters;  ///< by parameter of the model
    double* const* states;            ///< by number of the state
    double* factors;                  ///< of the spike: to be written
    std::size_t count;
    Step now;
    Step last;          ///< in which the source fired before
    double resolution;  ///< ms
};

/// How such synapses begin, and what a spike does to them. It is compiled once for each model: what synapses share looks
/// like what they have of their own.
struct OwnFactorRule {
    std::size_t parameters;
    std::span<const std::string_view> state_names;
    Step never;  ///< takes the place of the step of the last spike, before the first
    void (*begin)(const OwnFactorBlock& block);
    void (*release)(InstructionSet set, const OwnFactorBlock& block);
};

/// A table of synapses of which each spike adds the weight times a factor, which has a state for each synapse, since synapses
/// have parameters of their own. Weights stay as they are.
/// @param shared values of the parameters of the model @param own those that are columns of the table instead
template <class Target, class Weight>
std::unique_ptr<SynapseTable> make_own_factor_table(TableColumns<Target, Weight> columns, const OwnFactorRule& rule,
                                                    std::span<const double> shared, std::span<const std::uint32_t> own,
                                                    const PlasticTableArguments& arguments);

/// What such a table takes, on a shard.
PlasticTableMemory own_factor_memory(const OwnFactorRule& rule, std::size_t weight_bytes);

}  // namespace ranvier::connect
