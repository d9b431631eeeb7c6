#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sampling.hpp"
#include "connect/rules/degree_tree.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "connect/rules/weighted_partners.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace fixed_total_number_parts {

/// Draws the number of synapses of each target, then their sources: equivalent to drawing the pairs one by one, but
/// every target can be drawn separately.
class FixedTotalNumber final : public RuleSampler {
   public:
    FixedTotalNumber(const MajorView& view, const RuleSpec& spec, std::uint64_t seed, ProjectionId projection)
        : view_(view),
          number_(spec.count("number")),
          allow_multapses_(spec.flag("allow_multapses")),
          key_(make_key(seed, Purpose::partner, projection.value)),
          degrees_(view, number_, allow_multapses_, make_key(seed, Purpose::degree, projection.value)) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.resize(count);
        degrees_.draw(begin, stride, degrees);
        partners.resize(std::accumulate(degrees.begin(), degrees.end(), std::uint64_t{0}));
        const auto draw_partners = allow_multapses_ ? draw_with_repetition : draw_without_repetition;
        draw_partners(set, key_, view_, begin, stride, degrees, partners.data());
    }

    std::optional<PartnerDraws> partner_draws() const override {
        std::optional<PartnerDraws> made = view_.draws(repetition(allow_multapses_), key_);
        if (!made) return made;
        made->degrees = [this](std::uint64_t begin, std::span<std::uint32_t> degrees) {
            degrees_.draw(begin, 1, degrees);
        };
        return made;
    }
    double expected_synapses() const override { return static_cast<double>(number_); }
    double expected_repeats() const override {
        if (!allow_multapses_ || view_.majors() == 0) return 0.0;
        const double mean = static_cast<double>(number_) / static_cast<double>(view_.majors());
        return expected_repeats_of(view_, mean, mean);
    }
    /// The synapses of a target are known only after drawing, so an array could not follow their order.
    std::optional<std::uint64_t> array_length() const override { return std::nullopt; }
    std::uint64_t array_position(std::uint64_t, std::uint64_t) const override {
        throw InternalError("synapses of fixed_total_number have no position in an array");
    }

   private:
    MajorView view_;
    std::uint64_t number_;
    bool allow_multapses_;
    RandomKey key_;
    DegreeTree degrees_;
};

/// Sums of pairs that are checked when a rule is described; greater ones when it draws.
constexpr double most_pairs_checked = 4e6;
/// Pairs that a process evaluates at most, and the time of one.
constexpr double most_pairs = 1e9;
constexpr double seconds_of_pair = 1e-8;

/// The same where pairs differ. Each process sums the probabilities of all pairs, to know the degrees.
class WeightedTotalNumber final : public RuleSampler {
   public:
    WeightedTotalNumber(const MajorView& view, std::uint64_t number, WeightedPartners partners, RandomKey key)
        : view_(view), number_(number), partners_(std::move(partners)), key_(key) {}

    Major major() const override { return Major::target; }

    /// @throws RuleError if there are too few pairs
    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.assign(count, 0);
        partners.clear();
        if (number_ == 0 || count == 0) return;
        degrees_of_all().tree->draw(begin, stride, degrees);
        partners.resize(std::accumulate(degrees.begin(), degrees.end(), std::uint64_t{0}));
        std::vector<std::uint64_t> majors(count);
        for (std::uint64_t i = 0; i < count; ++i) majors[i] = begin + i * stride;
        partners_.draw(set, majors, degrees, partners.data());
    }

    double expected_synapses() const override { return static_cast<double>(number_); }
    double expected_repeats() const override {
        if (number_ < 2 || !partners_.allow_multapses()) return 0.0;
        const auto number = static_cast<double>(number_);
        const Sums& sums = degrees_of_all();
        return 0.5 * number * (number - 1.0) * sums.squares / (sums.values * sums.values);
    }
    std::optional<std::uint64_t> array_length() const override { return std::nullopt; }
    std::uint64_t array_position(std::uint64_t, std::uint64_t) const override {
        throw InternalError("synapses of fixed_total_number have no position in an array");
    }
    std::uint64_t bytes() const override { return (view_.majors() + 1) * sizeof(double); }
    /// All partners are needed for the sums.
    void use(ProcessIndexes& indexes, bool /*draws_here*/) override { partners_.use(indexes, false); }

    std::uint64_t preparations() const override {
        return number_ == 0 ? 0 : (view_.majors() + majors_of_part - 1) / majors_of_part;
    }
    void prepare(std::uint64_t part) const override {
        if (is_summed_) return;
        std::call_once(prepared_, [this] { totals_.resize(view_.majors()); });
        const PairWeights& weights = partners_.weights();
        const std::uint64_t end = std::min((part + 1) * majors_of_part, view_.majors());
        for (std::uint64_t i = part * majors_of_part; i < end; ++i) {
            totals_[i] = weights.total(weights.neuron(i), waste_of_sums);
        }
    }

    /// Checks what can be known quickly.
    void check() const {
        if (number_ == 0) return;
        const PairWeights& weights = partners_.weights();
        constexpr std::uint64_t sampled = 8;
        std::uint64_t pairs = 0;
        for (std::uint64_t i = 0; i < sampled; ++i) {
            pairs += weights.total(weights.neuron(view_.majors() * i / sampled), waste_of_sums).evaluated;
        }
        const double all = static_cast<double>(pairs) * static_cast<double>(view_.majors()) / sampled;
        if (all > most_pairs) {
            refuse("each process sums the probabilities of about " + to_text(std::round(all)) +
                       " pairs, which would take " + to_text(std::round(all * seconds_of_pair)) + " s",
                   "limit the pairs by a mask, or use a fixed in-degree");
        }
        if (all <= most_pairs_checked) degrees_of_all();
    }

   private:
    static constexpr double waste_of_sums = 100.0;
    static constexpr std::uint64_t majors_of_part = 64;

    struct Sums {
        std::optional<DegreeTree> tree;
        double values = 0.0;
        double squares = 0.0;
    };

    [[noreturn]] void refuse(std::string bound, std::string remedy) const {
        throw RuleError({.object = "number of rule 'fixed_total_number'",
                         .value = std::to_string(number_),
                         .bound = std::move(bound),
                         .remedy = std::move(remedy)});
    }

    const Sums& degrees_of_all() const {
        std::call_once(summed_, [this] { sum(); });
        return sums_;
    }

    void sum() const {
        const PairWeights& weights = partners_.weights();
        const bool prepared = !totals_.empty();
        std::vector<double> values(view_.majors() + 1);
        std::vector<std::uint64_t> pairs(view_.majors() + 1);
        for (std::uint64_t i = 0; i < view_.majors(); ++i) {
            const PairWeights::Total total = prepared ? totals_[i] : weights.total(weights.neuron(i), waste_of_sums);
            values[i + 1] = values[i] + total.sum;
            pairs[i + 1] = pairs[i] + total.positive;
            sums_.squares += total.squares;
        }
        is_summed_ = true;
        totals_ = {};
        sums_.values = values.back();
        if (pairs.back() == 0) {
            refuse("there is no pair within the mask and with a probability above 0",
                   "enlarge the mask, or set it to 0");
        }
        if (partners_.allow_multapses()) {
            sums_.tree.emplace(view_, number_, std::move(values), key_);
            return;
        }
        if (number_ > pairs.back()) {
            refuse("there are only " + std::to_string(pairs.back()) +
                       " pairs within the mask and none may be connected twice",
                   "lower it, enlarge the mask, or allow multapses");
        }
        sums_.tree.emplace(view_, number_, std::move(pairs), key_);
    }

    MajorView view_;
    std::uint64_t number_;
    WeightedPartners partners_;
    RandomKey key_;
    /// By major neuron, from prepare().
    mutable std::vector<PairWeights::Total> totals_;
    mutable std::once_flag prepared_;
    mutable std::once_flag summed_;
    mutable std::atomic<bool> is_summed_ = false;
    mutable Sums sums_;
};

constexpr std::array parameters{
    count_info("number", "total number of connections"),
    allow_autapses_info("whether a neuron may be paired with itself"),
    allow_multapses_info("whether a pair may be drawn more than once"),
    mask_info(),
    probability_info("probability that a pair is taken, in proportion to which pairs are drawn"),
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    const std::uint64_t number = spec.count("number");
    const bool allow_autapses = spec.flag("allow_autapses");
    const std::uint64_t allowed = count_pairs(spec.name(), pairs, allow_autapses);
    const auto fail = [&](std::string bound, std::string remedy) {
        throw RuleError({.object = "number of rule 'fixed_total_number'",
                         .value = std::to_string(number),
                         .bound = std::move(bound),
                         .remedy = std::move(remedy)});
    };
    if (number > most_items) fail("it must be at most 2^62", "lower it");
    if (number > 0 && allowed == 0) fail("there is no pair that may be connected", "set it to 0");
    if (!spec.flag("allow_multapses") && number > allowed) {
        fail("there are only " + std::to_string(allowed) + " allowed pairs and none may be connected twice",
             "lower it, or allow multapses");
    }
    if (number > 0) {
        // Degrees are 32 bits wide; ten standard deviations above the mean are never reached.
        const double mean = static_cast<double>(number) / static_cast<double>(pairs.targets);
        if (mean + 10.0 * std::sqrt(mean) > std::numeric_limits<std::uint32_t>::max()) {
            fail("a target would have 2^32 synapses or more", "lower it");
        }
    }
    const MajorView view(pairs, RuleSampler::Major::target, allow_autapses);
    if (pairs_differ(spec) || (std::get<double>(spec.pair_value("probability")) == 0.0 && number > 0)) {
        check_narrow(spec, pairs);
        PairWeights weights = pair_weights(spec, pairs, RuleSampler::Major::target, allow_autapses);
        const bool allow_multapses = spec.flag("allow_multapses");
        if (!allow_multapses && !weights.constant()) {
            throw RuleError({.object = "probability of rule 'fixed_total_number'",
                             .value = "an expression",
                             .bound = "without multapses, all pairs must have the same",
                             .remedy = "allow multapses, give a mask only, or use a fixed in-degree"});
        }
        auto sampler = std::make_unique<WeightedTotalNumber>(
            view, number,
            WeightedPartners(std::move(weights), allow_multapses, make_key(seed, Purpose::partner, projection.value),
                             "number of synapses of a target, by rule 'fixed_total_number',"),
            make_key(seed, Purpose::degree, projection.value));
        sampler->check();
        return sampler;
    }
    return std::make_unique<FixedTotalNumber>(view, spec, seed, projection);
}

}  // namespace fixed_total_number_parts
}  // namespace

const RuleInfo fixed_total_number_rule{
    .name = "fixed_total_number",
    .summary = "a fixed total number of connections, between pairs of a source and a target that are drawn uniformly",
    .notes =
        "With a mask or an expression, pairs are drawn in proportion to their probability. Each process then sums the "
        "probabilities of all pairs within the mask, and holds one number for each target. Without multapses, pairs "
        "may "
        "differ by the mask only.",
    .parameters = fixed_total_number_parts::parameters,
    .bind = fixed_total_number_parts::bind,
};

}  // namespace ranvier::connect
