#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::connect {

/// What a table of synapses that add a factor of their weight knows between two steps.
struct FactorState {
    std::vector<double> values;             ///< [state of the rule][row]; empty if each synapse has states
    std::vector<Step> last;                 ///< by row
    std::vector<float> synapse_values = {};     ///< [state of the rule][synapse]
    std::vector<std::uint32_t> counts = {};  ///< whole numbers, by synapse
};

/// A spike at a synapse, for rules whose factors differ between the synapses of a row.
struct SynapseSpike {
    double* values;         ///< states of the synapse, or a copy of those of its row
    std::uint32_t* count;   ///< state of the synapse that is a whole number
    Step last = 0;          ///< spike of the source before this one
    Step step = 0;
    const double* parameters = nullptr;  ///< of the model, if they differ between synapses
    // The random numbers of the synapse.
    RandomStream stream = {};
    std::uint32_t block = 0;
};

/// How the factor of a spike is calculated.
struct FactorRule {
    std::string_view type = {};  ///< the C++ type of the rule, for kernels; empty: the rule is a program of the model
    std::span<const std::byte> constants = {};
    std::size_t states = 0;
    double quantum = 1.0;  ///< grid of the contributions to inputs: a power of two
    double resolution = 0.1;  ///< ms
    /// The factor of all synapses of a row: of(values of the states, step of the last spike, step). Null if rows
    /// have none.
    std::function<double(double*, Step&, Step)> of_row = nullptr;
    /// The factor of a synapse; null if all synapses of a row share it.
    std::function<double(const SynapseSpike&)> of_synapse = nullptr;
    // If parameters differ between synapses:
    std::vector<double> shared = {};  ///< by parameter of the model
    std::vector<std::span<const float>> parameters = {};  ///< the same; empty for those that are shared
    // If synapses draw random numbers:
    std::uint32_t blocks = 0;  ///< that a synapse may draw for one spike; 0: it draws none
    RandomKey key = {};
    std::span<const std::uint64_t> ids = {};  ///< of targets, by input
    bool has_counts = false;

    bool has_synapse_states() const { return of_synapse && !of_row; }
};

/// Adds the parameters of a model that differ between synapses, as columns of a table, and the others.
template <class Columns>
void add_parameters(FactorRule& rule, std::span<const double> shared, std::span<const std::uint32_t> per_synapse,
                    const Columns& columns) {
    rule.shared.assign(shared.begin(), shared.end());
    rule.parameters.resize(shared.size());
    for (std::size_t k = 0; k < per_synapse.size(); ++k) rule.parameters[per_synapse[k]] = columns[k].span();
}

/// A table whose spikes add a factor of the weight, which may be calculated on a device.
class FactorsOnDevice {
   public:
    virtual FactorRule factor_rule() const = 0;
    /// Numbers of the synapses among those of their pairs, for random numbers; empty if all are the first ones.
    virtual std::vector<std::uint32_t> numbers_in_pairs() const { return {}; }
    virtual void get_state(FactorState& state) const = 0;
    virtual void set_state(const FactorState& state) = 0;

   protected:
    ~FactorsOnDevice() = default;
};

}  // namespace ranvier::connect
