#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "base/distribution.hpp"
#include "base/instruction_set.hpp"
#include "base/random.hpp"
#include "connect/rule.hpp"

namespace ranvier::connect {

/// The weights or the delays of a projection: one for all synapses, one each (in the order of the rule), or drawn.
///
/// The value of a synapse is a function of the key, its major neuron, and its place among the synapses of that neuron.
class SynapseValues {
   public:
    using Array = std::shared_ptr<const std::vector<double>>;

    SynapseValues() = default;
    SynapseValues(std::variant<double, Array, Distribution> values, RandomKey key)
        : values_(std::move(values)), key_(key) {}

    bool constant() const { return std::holds_alternative<double>(values_); }
    double least() const;
    double greatest() const;
    /// The median of the least and of the greatest of so many values that are drawn; the bounds where none is drawn.
    std::pair<double, double> expected_range(double count) const;

    /// Values of `count` synapses, the first `count` of this major neuron.
    void fill(InstructionSet set, const RuleSampler& sampler, std::uint64_t major, std::size_t count,
              double* out) const;

   private:
    std::variant<double, Array, Distribution> values_ = 0.0;
    RandomKey key_;
};

}  // namespace ranvier::connect
