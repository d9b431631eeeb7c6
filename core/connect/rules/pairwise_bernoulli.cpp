#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "connect/rules/thinned_pairs.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace pairwise_bernoulli_parts {

/// Larger than any number of partners, and still a whole number in a double and in 63 bits.
constexpr double beyond_all = 0x1p62;

/// Number of pairs skipped before the next connected one, geometrically distributed: floor(log u / log(1 - p)).
/// Rounding down is left to the caller, since narrow sets cannot vectorise it.
struct SkipsFromWords {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* __restrict words, std::size_t count,
                                          double inverse_log_of_failure, double* __restrict skips) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t word = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
            const double skip = math::log(to_open_unit(word)) * inverse_log_of_failure;
            skips[i] = skip < beyond_all ? skip : beyond_all;
        }
    }
};

class PairwiseBernoulli final : public RuleSampler {
   public:
    PairwiseBernoulli(const MajorView& view, double probability, double expected, RandomKey key)
        : view_(view),
          probability_(probability),
          expected_(expected),
          inverse_log_of_failure_(inverse_log(probability)),
          key_(key) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.assign(count, 0);
        partners.clear();
        if (probability_ == 0.0 || view_.partners() == 0) return;
        // Enough words for nearly all targets; the few that need more read them individually.
        const double mean = probability_ * static_cast<double>(view_.partners());
        const auto guess = static_cast<std::uint32_t>(std::min(2.0 * (mean + 2.0 * std::sqrt(mean) + 1.0), 4e9));
        const std::vector<std::uint32_t> wanted(count, guess);
        WordBatches batches(set, key_, begin, stride, wanted);
        std::uint64_t position = 0;
        for (auto pieces = batches.next(); !pieces.empty(); pieces = batches.next()) {
            for (const auto& piece : pieces) {
                const std::uint64_t major = begin + piece.ordinal * stride;
                std::uint32_t& degree = degrees[piece.ordinal];
                if (piece.first == 0) position = 0;
                position = take(set, piece.words, major, position, degree, partners);
                const std::uint64_t end = piece.first + piece.words.size();
                if (end < guess) continue;
                for (std::uint64_t block = end / 4; position < view_.allowed(major); ++block) {
                    const auto words = RandomStream{key_, major, 0}.block(static_cast<std::uint32_t>(block));
                    position = take(set, words, major, position, degree, partners);
                }
            }
        }
    }

    std::optional<PartnerDraws> partner_draws() const override {
        // Without a connection, not a word is drawn.
        std::optional<PartnerDraws> made =
            view_.draws(probability_ == 0.0 ? PartnerDraws::Way::with_repetition : PartnerDraws::Way::by_skips, key_);
        if (made) made->inverse_log_of_failure = inverse_log_of_failure_;
        return made;
    }
    double expected_synapses() const override { return expected_; }
    std::optional<std::uint64_t> array_length() const override { return std::nullopt; }
    std::uint64_t array_position(std::uint64_t, std::uint64_t) const override {
        throw InternalError("synapses of pairwise_bernoulli have no position in an array");
    }

   private:
    static constexpr std::size_t most_skips = 256;

    /// 1 / log(1 - p), finite also at both ends: 0 makes every skip 0.
    static double inverse_log(double probability) {
        if (probability == 1.0) return 0.0;
        return std::max(1.0 / math::log1p(-probability), -std::numeric_limits<double>::max());
    }

    /// Continues from `position`, the first allowed partner not yet skipped; returns the new position.
    std::uint64_t take(InstructionSet set, std::span<const std::uint32_t> words, std::uint64_t major,
                       std::uint64_t position, std::uint32_t& degree, std::vector<std::uint64_t>& partners) const {
        const std::uint64_t allowed = view_.allowed(major);
        const std::uint64_t excluded = view_.excluded(major);
        double skips[most_skips];
        while (!words.empty() && position < allowed) {
            const std::size_t count = std::min(most_skips, words.size() / 2);
            Dispatched<SkipsFromWords>::call(set, words.data(), count, inverse_log_of_failure_,
                                             static_cast<double*>(skips));
            for (std::size_t i = 0; i < count; ++i) {
                const auto skip = static_cast<std::uint64_t>(static_cast<std::int64_t>(skips[i]));
                if (skip >= allowed - position) return allowed;
                position += skip;
                partners.push_back(position + (position >= excluded ? 1 : 0));
                ++degree;
                ++position;
            }
            words = words.subspan(2 * count);
        }
        return position;
    }

    MajorView view_;
    double probability_;
    double expected_;
    double inverse_log_of_failure_;
    RandomKey key_;
};

constexpr std::array parameters{
    probability_info("probability that a pair is connected", std::nullopt),
    allow_autapses_info("whether a neuron may connect to itself"),
    mask_info(),
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    const bool allow_autapses = spec.flag("allow_autapses");
    const std::uint64_t allowed = count_pairs(spec.name(), pairs, allow_autapses);
    if (pairs_differ(spec)) {
        check_narrow(spec, pairs);
        return thinned_pairs(pair_weights(spec, pairs, RuleSampler::Major::target, allow_autapses),
                             ThinnedPairs::Synapses::at_most_one, make_key(seed, Purpose::partner, projection.value));
    }
    const double probability = std::get<double>(spec.pair_value("probability"));
    if (pairs.sources > std::numeric_limits<std::uint32_t>::max()) {
        throw RuleError({.object = "number of sources of rule 'pairwise_bernoulli'",
                         .value = std::to_string(pairs.sources),
                         .bound = "it must be below 2^32",
                         .remedy = "connect parts of the population"});
    }
    const MajorView view(pairs, RuleSampler::Major::target, allow_autapses);
    const double expected = probability * static_cast<double>(allowed);
    return std::make_unique<PairwiseBernoulli>(view, probability, expected,
                                               make_key(seed, Purpose::partner, projection.value));
}

}  // namespace pairwise_bernoulli_parts
}  // namespace

const RuleInfo pairwise_bernoulli_rule{
    .name = "pairwise_bernoulli",
    .summary = "each pair of a source and a target is connected with a probability, independently of others",
    .parameters = pairwise_bernoulli_parts::parameters,
    .bind = pairwise_bernoulli_parts::bind,
};

}  // namespace ranvier::connect
