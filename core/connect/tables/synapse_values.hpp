#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>

#include "ranvier/base/distribution.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/base/shared_array.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// The weights, the delays, or a parameter of the synapses of a projection: one for all synapses, one each (in the
/// order of the rule), or drawn.
///
/// The value of a synapse is a function of the key, its major neuron, and its index among the synapses of that neuron.
class SynapseValues {
   public:
    SynapseValues() = default;
    /// Scans an array once for its bounds.
    /// @param is_whole whether drawn values are rounded to whole numbers, halves up
    SynapseValues(std::variant<double, SharedArray, Distribution> values, RandomKey key, bool is_whole = false);

    bool constant() const { return std::holds_alternative<double>(values_); }
    /// Bounds of the values; 0 without values.
    double least() const { return least_; }
    double greatest() const { return greatest_; }
    /// The least absolute value other than zero, if it is known before values are drawn; otherwise infinity.
    double least_magnitude() const { return least_magnitude_; }
    /// The medians of the least and of the greatest of `count` drawn values; the bounds if values are not drawn.
    std::pair<double, double> expected_range(double count) const;

    /// Values of the first `count` synapses of this major neuron.
    void fill(InstructionSet set, const RuleSampler& sampler, std::uint64_t major, std::size_t count,
              double* out) const;
    /// The value of synapse `ordinal` alone.
    double value(const RuleSampler& sampler, std::uint64_t major, std::uint32_t ordinal) const;

   private:
    double rounded(double value) const;

    std::variant<double, SharedArray, Distribution> values_ = 0.0;
    RandomKey key_;
    bool is_whole_ = false;
    double least_ = 0.0;
    double greatest_ = 0.0;
    double least_magnitude_ = std::numeric_limits<double>::infinity();
};

}  // namespace ranvier::connect
