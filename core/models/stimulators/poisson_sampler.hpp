#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/models/stimulator.hpp"

namespace ranvier::models {

/// Numbers of events of independent Poisson processes, one for each target, in each step.
///
/// The number of a target in a step is a function of (key, id of the target, step, mean) alone. Means up to
/// `greatest_tabulated_mean` invert the distribution function with one 32-bit word per number, so that probabilities are
/// rounded to multiples of 2^-32; the rare words below 2^-14 of all are continued with 64 more bits. Means above it are
/// drawn by transformed rejection: W. Hörmann, "The transformed rejection method for generating Poisson random variables",
/// Insurance: Mathematics and Economics 12 (1993).
class PoissonSampler {
   public:
    static constexpr double greatest_tabulated_mean = 16.0;
    static constexpr double greatest_mean = 0x1p30;

    /// Takes key, targets, instruction set and memory from `arguments`. All means are 0 at first.
    explicit PoissonSampler(const StimulusArguments& arguments);

    /// Mean number of events in a step: one for all targets or one each, 0 <= mean <= greatest_mean.
    void set_means(const GroupValues& means);

    /// Adds the thresholds and probabilities of the means. Returns false if one is too large for thresholds.
    bool describe(PoissonTrains& trains) const;

    /// Draws the numbers of a step for count() and add().
    void draw(Step step);
    /// The number of one target in the step that was drawn last.
    std::uint32_t count(std::size_t target) const;
    /// Adds number times weight for every target.
    void add(const GroupValues& weights, double* out) const;

   private:
    /// Four consecutive steps take the four words of one random block, so they are drawn together.
    static constexpr std::size_t steps_at_once = 4;

    void draw_tabulated();
    void draw_few();
    void finish_tails(std::size_t batch);
    void draw_large();
    std::int32_t table_end(std::size_t target) const { return table_ends_[means_.uniform() ? 0 : 2 * target]; }
    std::uint32_t continue_tail(std::size_t target, Step step) const;
    Step step_of(std::size_t step_in_block) const {
        return block_ * Step{steps_at_once} + static_cast<Step>(step_in_block);
    }
    /// Key of additional numbers in a step, beside the words for tables.
    RandomKey key_of(Step step) const;
    SequentialRandom more_random(std::size_t target, RandomKey key_of_step) const;
    double mean_of(std::size_t target) const { return means_[means_.uniform() ? 0 : target]; }
    /// The numbers of a target in the four steps are four bytes: two in each half.
    std::size_t place(std::size_t target, std::size_t step_in_block) const {
        return (step_in_block / 2) * half_ + 2 * target + step_in_block % 2;
    }

    RandomKey key_;
    IdSequence targets_;
    std::size_t size_;
    std::size_t half_;  ///< bytes of one half of numbers_
    InstructionSet instruction_set_;

    GroupValues means_;
    /// Rows of thresholds: a word below that of row k means more than k events. Sign bits are flipped, for signed
    /// comparisons. A row has one column for each byte of a half, or only those of one batch when all means are equal.
    AlignedVector<std::int32_t> thresholds_;
    std::size_t threshold_count_ = 0;
    /// By column: the number at which the table of a target ends and its tail starts.
    AlignedVector<std::int32_t> table_ends_;
    AlignedVector<std::uint8_t> numbers_;
    std::pmr::vector<std::uint8_t> has_tail_;  ///< by batch

    std::pmr::vector<std::uint32_t> large_targets_;  ///< targets whose means are not tabulated
    std::pmr::vector<std::array<std::uint32_t, steps_at_once>> large_numbers_;

    Step block_ = -1;  ///< index of the four steps drawn last
    std::size_t step_in_block_ = 0;
};

/// One number with a mean >= 10, by transformed rejection.
std::uint32_t draw_large_poisson(SequentialRandom& random, double mean);

}  // namespace ranvier::models
