#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "connect/space/pair_arrays.hpp"
#include "ranvier/base/distribution.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/base/shared_array.hpp"
#include "ranvier/connect/rules/rule.hpp"
#include "ranvier/connect/space/pair_function.hpp"

namespace ranvier::connect {

/// An expression that gives the value of each synapse.
struct SynapseExpression {
    std::shared_ptr<const PairFunction> function;
    /// Bounds of the values that can occur.
    double least = -std::numeric_limits<double>::infinity();
    double greatest = std::numeric_limits<double>::infinity();
    /// Whether the value is that of the synapse from the target to the source.
    bool is_reversed = false;
};

/// The synapses of the major neurons begin, begin + stride, ... as RuleSampler::draw() gives them.
struct DrawnSynapses {
    std::uint64_t begin = 0;
    std::uint64_t stride = 1;
    std::span<const std::uint32_t> degrees;
    std::span<const std::uint64_t> partners;
    /// If the partners are known by their places in an index of positions; otherwise null.
    const PartnerIndex* index = nullptr;
    std::span<const std::uint32_t> places = {};
};

/// Quantities of pairs that values of the same synapses share.
class SynapseQuantities {
   public:
    /// @param neurons outlive it
    SynapseQuantities(InstructionSet set, const PairNeurons& neurons, std::vector<std::uint64_t> sources,
                      std::vector<std::uint64_t> targets)
        : set_(set), neurons_(&neurons), sources_(std::move(sources)), targets_(std::move(targets)) {}
    /// @param synapses their arrays outlive it
    static SynapseQuantities of(InstructionSet set, const PairNeurons& neurons, RuleSampler::Major major,
                                const DrawnSynapses& synapses);

    /// The quantities of a function, from a synapse on. Those of a reversed one are of the opposite pairs.
    PairFunction::Quantities of(const SynapseExpression& expression);
    /// To be called for all functions before of(), so that their quantities are computed together.
    void need(const SynapseExpression& expression);

   private:
    struct Direction {
        PairArrays::Needed needed{};
        PairArrays arrays;
        bool is_computed = false;
    };

    InstructionSet set_;
    const PairNeurons* neurons_;
    std::vector<std::uint64_t> sources_;
    std::vector<std::uint64_t> targets_;
    std::optional<PlacedPairs> placed_;
    Direction forward_;
    Direction reversed_;
};

/// The weights, the delays, or a parameter of the synapses of a projection: one for all synapses, one each (in the
/// order of the rule), drawn, or given by an expression of the pair of neurons.
///
/// The value of a synapse is a function of the key, its major neuron, its partner, and its index among the synapses of
/// the major neuron.
class SynapseValues {
   public:
    SynapseValues() = default;
    /// Scans an array once for its bounds.
    /// @param is_whole whether drawn values are rounded to whole numbers, halves up
    SynapseValues(std::variant<double, SharedArray, Distribution, SynapseExpression> values, RandomKey key,
                  bool is_whole = false);

    bool constant() const { return std::holds_alternative<double>(values_); }
    /// Bounds of the values; 0 without values.
    double least() const { return least_; }
    double greatest() const { return greatest_; }
    /// The least absolute value other than zero, if it is known before values are drawn; otherwise infinity.
    double least_magnitude() const { return least_magnitude_; }
    /// The medians of the least and of the greatest of `count` drawn values; the bounds if values are not drawn.
    std::pair<double, double> expected_range(double count) const;

    using Values = std::variant<double, SharedArray, Distribution, SynapseExpression>;
    const Values& given() const { return values_; }
    RandomKey key() const { return key_; }

    /// Null if the values are not given by an expression.
    const SynapseExpression* expression() const { return std::get_if<SynapseExpression>(&values_); }

    /// Values of all these synapses.
    /// @param quantities of the same synapses; may be null without an expression
    void fill(InstructionSet set, const RuleSampler& sampler, const DrawnSynapses& synapses,
              SynapseQuantities* quantities, double* out) const;

    /// A synapse: number `ordinal` of its major neuron.
    struct Synapse {
        std::uint64_t major = 0;
        std::uint32_t ordinal = 0;
    };
    /// Values of any synapses.
    void values(InstructionSet set, const RuleSampler& sampler, std::span<const Synapse> synapses,
                SynapseQuantities* quantities, double* out) const;

   private:
    double rounded(double value) const;

    std::variant<double, SharedArray, Distribution, SynapseExpression> values_ = 0.0;
    RandomKey key_;
    bool is_whole_ = false;
    double least_ = 0.0;
    double greatest_ = 0.0;
    double least_magnitude_ = std::numeric_limits<double>::infinity();
};

}  // namespace ranvier::connect
