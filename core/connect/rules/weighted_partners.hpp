#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "connect/rules/pair_weights.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::connect {

/// Draws given numbers of partners of neurons, one after another, each with a probability in proportion to the value of
/// the pair; without multapses, among those that were not drawn before.
///
/// Candidates are drawn in proportion to an upper bound of the value, which is constant in each of some nodes of the
/// index, and taken with the ratio of the value to the bound. A neuron for which too many are in vain looks at all of
/// its candidates: without multapses by exponential keys (P. S. Efraimidis and P. G. Spirakis, "Weighted random sampling
/// with a reservoir", 2006), which is the same law.
class WeightedPartners {
   public:
    /// @param object the numbers, for errors: "indegree of rule 'fixed_indegree'"
    WeightedPartners(PairWeights weights, bool allow_multapses, RandomKey key, std::string object);

    /// What was drawn for some neurons.
    struct Sums {
        double candidates = 0.0;
        double weight = 0.0;  ///< from which the candidates were drawn: the sum of their bounds
        double taken = 0.0;
        double values = 0.0;  ///< of the pairs that were taken
    };
    /// @param partners room for the sum of the degrees, in the order of the neurons and of drawing
    /// @throws RuleError for a neuron with too few candidates, ValueOutOfBoundsError
    Sums draw(InstructionSet set, std::span<const std::uint64_t> majors, std::span<const std::uint32_t> degrees,
              std::uint64_t* partners) const;

    /// Draws for some neurons, those in the corners of space among them, and counts the candidates of as many as can be
    /// looked at in some tens of milliseconds.
    /// @throws RuleError if one has too few candidates, ValueOutOfBoundsError
    void check_some(std::uint32_t degree) const;
    /// The mean probability that two synapses of a neuron are from one pair, with multapses: estimated from the draws of
    /// some neurons. @param degree of these
    double probability_of_repetition(std::uint32_t degree) const;

    const PairWeights& weights() const { return weights_; }
    /// See PairWeights::use.
    void use(ProcessIndexes& indexes, bool draws_here = true) { weights_.use(indexes, draws_here); }
    bool allow_multapses() const { return allow_multapses_; }

   private:
    class Drawing;

    std::vector<std::uint64_t> corners() const;
    /// @throws RuleError for a neuron with too few candidates
    void check_numbers(std::uint32_t degree) const;
    [[noreturn]] void refuse(std::uint64_t neuron, std::uint32_t degree, std::uint64_t candidates) const;

    PairWeights weights_;
    bool allow_multapses_;
    RandomKey key_;
    std::string object_;
};

}  // namespace ranvier::connect
