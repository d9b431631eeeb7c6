#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "connect/rules/weighted_partners.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// The same number of partners of each neuron, with masks and probabilities by distance.
class WeightedDegree final : public RuleSampler {
   public:
    WeightedDegree(WeightedPartners partners, std::uint32_t degree) : partners_(std::move(partners)), degree_(degree) {}

    Major major() const override { return weights().description().major; }
    /// @throws RuleError for a neuron with too few candidates
    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override;
    double expected_synapses() const override {
        return static_cast<double>(weights().majors()) * static_cast<double>(degree_);
    }
    /// Estimated from some neurons.
    double expected_repeats() const override;
    std::optional<std::uint64_t> array_length() const override { return weights().majors() * degree_; }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return major * degree_ + ordinal;
    }
    void use(ProcessIndexes& indexes, bool draws_here) override {
        partners_.use(indexes, draws_here && major() == Major::target);
    }

   private:
    const PairWeights& weights() const { return partners_.weights(); }

    WeightedPartners partners_;
    std::uint32_t degree_;
};

}  // namespace ranvier::connect
