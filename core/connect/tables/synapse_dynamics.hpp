#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>

#include "base/page_memory.hpp"
#include "base/random.hpp"
#include "connect/placement/layout.hpp"
#include "connect/tables/table.hpp"
#include "connect/tables/table_columns.hpp"

namespace ranvier::connect {

/// What a table of synapses that are not static needs beside its columns.
struct PlasticTableArguments {
    std::uint32_t local_neurons = 0;
    const ShardLayout* layout = nullptr;  ///< of the targets; read while the table is made
    std::uint32_t receptor = 0;
    double resolution = 0.1;  ///< ms
    /// What is added to the inputs is rounded to this: a power of two.
    double quantum = 0x1p-32;
    std::pmr::memory_resource* synapses = page_memory();  ///< both must outlive the table
    std::pmr::memory_resource* spikes = page_memory();
};

/// A synapse model with the values of the parameters that all synapses of a table share.
class SynapseDynamics {
   public:
    virtual ~SynapseDynamics() = default;

    /// Weights stay between these; one of them is 0, and either may be infinite.
    virtual double least_weight() const = 0;
    virtual double greatest_weight() const = 0;
    /// Where only the user changes weights: at most so many times the weight is added. 0 where they change with spikes.
    virtual double greatest_factor() const { return 0.0; }
    /// For what synapses draw while they run.
    virtual void use_key(RandomKey /*key*/) {}

    /// @param columns whose rows are sorted by delay
    virtual std::unique_ptr<SynapseTable> make_table(TableColumns<std::uint16_t, float> columns,
                                                     const PlasticTableArguments& arguments) const = 0;
    virtual std::unique_ptr<SynapseTable> make_table(TableColumns<std::uint32_t, float> columns,
                                                     const PlasticTableArguments& arguments) const = 0;
    virtual std::unique_ptr<SynapseTable> make_table(TableColumns<std::uint16_t, double> columns,
                                                     const PlasticTableArguments& arguments) const = 0;
    virtual std::unique_ptr<SynapseTable> make_table(TableColumns<std::uint32_t, double> columns,
                                                     const PlasticTableArguments& arguments) const = 0;
};

}  // namespace ranvier::connect
