#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "connect/rules/pair_weights.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// Draws a fixed number of partners of each neuron, one after another, each with a probability in proportion to the value
/// of the pair; without multapses, among those that were not drawn before.
///
/// Candidates are drawn in proportion to an upper bound of the value, which is constant in each of some nodes of the
/// index, and taken with the ratio of the value to the bound. A neuron for which too many are in vain looks at all of
/// its candidates: without multapses by exponential keys (P. S. Efraimidis and P. G. Spirakis, "Weighted random sampling
/// with a reservoir", 2006), which is the same law.
class WeightedDegree final : public RuleSampler {
   public:
    /// @param parameter the name of the degree
    WeightedDegree(PairWeights weights, std::uint32_t degree, bool allow_multapses, RandomKey key, std::string rule,
                   std::string parameter);

    Major major() const override { return weights_.description().major; }
    /// @throws RuleError for a neuron with too few candidates
    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override;
    double expected_synapses() const override {
        return static_cast<double>(weights_.majors()) * static_cast<double>(degree_);
    }
    double expected_repeats() const override;
    std::optional<std::uint64_t> array_length() const override { return weights_.majors() * degree_; }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return major * degree_ + ordinal;
    }
    std::uint64_t bytes() const override;

    /// Draws for some neurons, those in the corners of space among them.
    /// @throws RuleError if one has too few candidates, ValueOutOfBoundsError
    void check_some() const;

   private:
    class Drawing;

    const PartnerIndex& index() const;
    std::vector<std::uint64_t> corners() const;
    [[noreturn]] void refuse(std::uint64_t neuron, std::uint64_t candidates) const;

    PairWeights weights_;
    std::uint32_t degree_;
    bool allow_multapses_;
    RandomKey key_;
    std::string rule_;
    std::string parameter_;
    mutable std::once_flag index_made_;
    mutable std::shared_ptr<const PartnerIndex> index_;
};

}  // namespace ranvier::connect
