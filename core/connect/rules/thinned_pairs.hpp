#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "connect/rules/pair_weights.hpp"
#include "connect/rules/placed_sampler.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// Draws each pair on its own, with a probability or a mean number of synapses that depends on the pair.
///
/// The partners of a neuron are divided into nodes of the index in which the value varies little. In each, candidates are
/// drawn with the upper bound of the value there, as points of a Poisson process, and taken with the ratio of the value
/// to the bound. Where that is a function of the distance, tables of bounds decide nearly all without the value. The number of operations follows the synapses that are made and the logarithm of
/// the number of partners, also without a mask. This is how K. Bringmann, R. Keusch and J. Lengler, "Sampling geometric
/// inhomogeneous random graphs in linear time" (2017) draw random graphs.
class ThinnedPairs final : public PlacedSampler {
   public:
    enum class Synapses : std::uint8_t {
        at_most_one,  ///< of a pair, with a probability
        poisson,      ///< of a pair, a Poisson number with a mean
    };

    ThinnedPairs(PairWeights weights, Synapses synapses, RandomKey key);

    Major major() const override { return weights_.description().major; }
    void draw_places(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
                     std::vector<std::uint32_t>& degrees, std::vector<std::uint32_t>& places) const override;
    const PartnerIndex& index() const override { return weights_.index(); }
    bool is_spatial() const override { return weights_.description().positions != nullptr; }
    double expected_synapses() const override { return estimate().synapses; }
    std::optional<double> known_synapses() const override { return std::nullopt; }
    std::optional<double> expected_synapses_here() const override;
    double expected_repeats() const override { return estimate().repeats; }
    /// The synapses of a neuron are known only after drawing, so an array could not follow their order.
    std::optional<std::uint64_t> array_length() const override { return std::nullopt; }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override;
    void use(ProcessIndexes& indexes, bool draws_here) override;

    /// Checks what fails while it draws, as far as this can be known in some milliseconds: the values of some pairs,
    /// unless bounds prove that all are valid, and the time.
    /// @throws RuleError for far more candidates than synapses, ValueOutOfBoundsError
    void check() const;

   private:
    using Segment = PairWeights::Segment;
    struct Estimate {
        double synapses = 0.0;
        double repeats = 0.0;
        double candidates = 0.0;
    };
    class Drawing;

    /// Neurons from which an estimate is made, at most: those that draw, and those among which they draw.
    struct Sample {
        std::uint64_t majors;
        std::uint64_t most_majors;  ///< where numbers of synapses differ much
        std::uint64_t partners;
    };
    static constexpr Sample full_sample{256, 1 << 14, 1 << 20};
    static constexpr Sample small_sample{16, 16, 8192};

    double most_waste() const;
    /// Of all neurons, the same on each process. @throws RuleError, ValueOutOfBoundsError as check()
    const Estimate& estimate() const;
    /// @param majors that draw; null for all
    Estimate make_estimate(const Sample& sample, const IdSequence* majors = nullptr) const;
    /// Whether there are far more candidates than synapses.
    static bool takes_too_long(const Estimate& total);
    [[noreturn]] void refuse(const Estimate& total) const;

    PairWeights weights_;
    Synapses synapses_;
    RandomKey key_;
    bool certain_;  ///< each pair within the mask is connected
    mutable std::once_flag estimated_;
    mutable Estimate estimate_;
    /// Those of a process that draw, where all are not on it.
    std::optional<IdSequence> majors_here_;
    mutable std::optional<double> synapses_here_;
};

/// A sampler that has been checked. @throws as ThinnedPairs::check()
std::unique_ptr<RuleSampler> thinned_pairs(PairWeights weights, ThinnedPairs::Synapses synapses, RandomKey key);

}  // namespace ranvier::connect
