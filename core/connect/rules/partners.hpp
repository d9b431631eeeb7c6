#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/rules/rule.hpp"

/// Uniform partners for many neurons at once.
namespace ranvier::connect {

inline constexpr std::uint64_t no_partner = std::numeric_limits<std::uint64_t>::max();

/// A pair space seen from the side by which a rule draws: "major" neurons and their partners.
class MajorView {
   public:
    MajorView(const PairSpace& pairs, RuleSampler::Major major, bool allow_autapses)
        : majors_(major == RuleSampler::Major::target ? pairs.targets : pairs.sources),
          partners_(major == RuleSampler::Major::target ? pairs.sources : pairs.targets),
          first_major_(major == RuleSampler::Major::target ? pairs.first_target.value : pairs.first_source.value),
          first_partner_(major == RuleSampler::Major::target ? pairs.first_source.value : pairs.first_target.value),
          same_(pairs.same),
          side_(major == RuleSampler::Major::target ? &SameNeurons::Pair::target : &SameNeurons::Pair::source),
          allow_autapses_(allow_autapses) {}

    std::uint64_t majors() const { return majors_; }
    std::uint64_t partners() const { return partners_; }

    /// The excluded partner of a neuron, which is the neuron itself, or no_partner.
    std::uint64_t excluded(std::uint64_t major) const {
        if (allow_autapses_) return no_partner;
        if (same_) return same_->find(side_, major).value_or(no_partner);
        // Ids below the first partner wrap around to large numbers.
        const std::uint64_t partner = first_major_ + major - first_partner_;
        return partner < partners_ ? partner : no_partner;
    }
    std::uint64_t allowed(std::uint64_t major) const { return partners_ - (excluded(major) == no_partner ? 0 : 1); }
    /// Whether some neurons have an excluded partner.
    bool excludes() const { return count_excluded(0, majors_) > 0; }
    /// Number of the major neurons [begin, end) with an excluded partner.
    std::uint64_t count_excluded(std::uint64_t begin, std::uint64_t end) const;

    /// What PartnerDraws says of pairs; nothing if there are too many.
    std::optional<PartnerDraws> draws(PartnerDraws::Way way, RandomKey key) const;

   private:
    std::uint64_t majors_;
    std::uint64_t partners_;
    std::uint64_t first_major_;
    std::uint64_t first_partner_;
    std::shared_ptr<const SameNeurons> same_;
    SameNeurons::Side side_;
    bool allow_autapses_;
};

constexpr PartnerDraws::Way repetition(bool allow_multapses) {
    return allow_multapses ? PartnerDraws::Way::with_repetition : PartnerDraws::Way::without_repetition;
}

/// RuleSampler::expected_repeats() for partners drawn with repetition.
/// @param degree mean number of partners of a major neuron @param variance of this number
inline double expected_repeats_of(const MajorView& view, double degree, double variance) {
    const double pairs = 0.5 * (degree * degree + variance - degree);  // of synapses of a major neuron
    return view.partners() == 0 ? 0.0
                                : static_cast<double>(view.majors()) * pairs / static_cast<double>(view.partners());
}

/// The random words of many streams, computed in batches that fit the cache, regardless of the number of words per
/// stream.
class WordBatches {
   public:
    /// A run of words of one stream: words [first, first + words.size()).
    struct Piece {
        std::size_t ordinal;  ///< index of the stream
        std::uint64_t first;
        std::span<const std::uint32_t> words;
    };

    /// At least wanted[i] words of stream begin + i * stride, from the first on, in whole blocks: multiples of four.
    WordBatches(InstructionSet set, RandomKey key, std::uint64_t begin, std::uint64_t stride,
                std::span<const std::uint32_t> wanted);

    /// Pieces in the order of streams and words; empty at the end. Valid until the next call.
    std::span<const Piece> next();

   private:
    static constexpr std::size_t batch = 512;

    InstructionSet set_;
    RandomKey key_;
    std::uint64_t begin_;
    std::uint64_t stride_;
    std::span<const std::uint32_t> wanted_;
    std::size_t ordinal_ = 0;
    std::uint64_t block_ = 0;
    std::vector<Piece> pieces_;
    std::vector<std::uint64_t> streams_;
    std::vector<std::uint32_t> blocks_;
    std::vector<std::uint32_t> words_;
};

/// Draws degrees[i] partners, uniformly among the allowed ones, for each of the major neurons begin, begin + stride,
/// ...; repetition is possible.
/// @param partners room for the sum of the degrees
void draw_with_repetition(InstructionSet set, RandomKey key, const MajorView& view, std::uint64_t begin,
                          std::uint64_t stride, std::span<const std::uint32_t> degrees, std::uint64_t* partners);

/// The same without repetition: every set of degrees[i] allowed partners is equally probable. degrees[i] must not
/// exceed the number of allowed partners.
void draw_without_repetition(InstructionSet set, RandomKey key, const MajorView& view, std::uint64_t begin,
                             std::uint64_t stride, std::span<const std::uint32_t> degrees, std::uint64_t* partners);

}  // namespace ranvier::connect
