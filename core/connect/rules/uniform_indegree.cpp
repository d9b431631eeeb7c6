#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "connect/rules/weighted_partners.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace uniform_indegree_parts {

class UniformIndegree final : public RuleSampler {
   public:
    /// @param weighted draws the partners where pairs differ
    UniformIndegree(const MajorView& view, std::uint32_t least, std::uint32_t greatest, bool allow_multapses,
                    std::uint64_t seed, ProjectionId projection, std::optional<WeightedPartners> weighted)
        : view_(view),
          least_(least),
          greatest_(greatest),
          allow_multapses_(allow_multapses),
          degree_key_(make_key(seed, Purpose::degree, projection.value)),
          partner_key_(make_key(seed, Purpose::partner, projection.value)),
          weighted_(std::move(weighted)) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.resize(count);
        draw_degrees(begin, stride, degrees);
        partners.resize(std::accumulate(degrees.begin(), degrees.end(), std::uint64_t{0}));
        if (weighted_) {
            std::vector<std::uint64_t> majors(count);
            for (std::uint64_t i = 0; i < count; ++i) majors[i] = begin + i * stride;
            weighted_->draw(set, majors, degrees, partners.data());
            return;
        }
        const auto draw_partners = allow_multapses_ ? draw_with_repetition : draw_without_repetition;
        draw_partners(set, partner_key_, view_, begin, stride, degrees, partners.data());
    }

    std::optional<PartnerDraws> partner_draws() const override {
        if (weighted_) return std::nullopt;
        std::optional<PartnerDraws> made = view_.draws(repetition(allow_multapses_), partner_key_);
        if (!made) return made;
        made->degrees = [this](std::uint64_t begin, std::span<std::uint32_t> degrees) {
            draw_degrees(begin, 1, degrees);
        };
        return made;
    }
    double expected_synapses() const override {
        return static_cast<double>(view_.majors()) * 0.5 *
               (static_cast<double>(least_) + static_cast<double>(greatest_));
    }
    double expected_repeats() const override {
        if (!allow_multapses_) return 0.0;
        const double choices = static_cast<double>(greatest_) - static_cast<double>(least_) + 1.0;
        const double mean = 0.5 * (static_cast<double>(least_) + static_cast<double>(greatest_));
        const double variance = (choices * choices - 1.0) / 12.0;
        if (!weighted_) return expected_repeats_of(view_, mean, variance);
        return static_cast<double>(view_.majors()) * 0.5 * (mean * mean + variance - mean) *
               weighted_->probability_of_repetition(greatest_);
    }
    std::optional<std::uint64_t> array_length() const override { return std::nullopt; }
    std::uint64_t array_position(std::uint64_t, std::uint64_t) const override {
        throw InternalError("synapses of uniform_indegree have no position in an array");
    }
    void use(ProcessIndexes& indexes, bool draws_here) override {
        if (weighted_) weighted_->use(indexes, draws_here);
    }

   private:
    void draw_degrees(std::uint64_t begin, std::uint64_t stride, std::span<std::uint32_t> degrees) const {
        const std::uint64_t choices = std::uint64_t{greatest_} - least_ + 1;
        for (std::uint64_t i = 0; i < degrees.size(); ++i) {
            SequentialRandom random({degree_key_, begin + i * stride});
            degrees[i] = least_ + static_cast<std::uint32_t>(random.next_below(choices));
        }
    }

    MajorView view_;
    std::uint32_t least_;
    std::uint32_t greatest_;
    bool allow_multapses_;
    RandomKey degree_key_;
    RandomKey partner_key_;
    std::optional<WeightedPartners> weighted_;
};

constexpr std::array parameters{
    count_info("indegree_min", "smallest number of connections of a target"),
    count_info("indegree_max", "largest number of connections of a target"),
    allow_autapses_info("whether a neuron may be drawn as its own source"),
    allow_multapses_info("whether a source may be drawn more than once for a target"),
    mask_info(),
    probability_info("probability that a pair is taken, in proportion to which partners are drawn"),
};

void check(const RuleSpec& spec) {
    const std::uint64_t least = spec.count("indegree_min");
    const std::uint64_t greatest = spec.count("indegree_max");
    if (least <= greatest) return;
    throw RuleError({.object = "indegree_min of rule 'uniform_indegree'",
                     .value = std::to_string(least),
                     .bound = "it must not exceed indegree_max, " + std::to_string(greatest),
                     .remedy = "swap them"});
}

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    const std::uint64_t greatest = spec.count("indegree_max");
    const bool allow_multapses = spec.flag("allow_multapses");
    const MajorView view(pairs, RuleSampler::Major::target, spec.flag("allow_autapses"));
    check_degree(spec.name(), "indegree_max", view, RuleSampler::Major::target, greatest, allow_multapses);
    checked_product(spec.name(), view.majors(), greatest);
    std::optional<WeightedPartners> weighted;
    if (pairs_differ(spec) || (std::get<double>(spec.pair_value("probability")) == 0.0 && greatest > 0)) {
        check_narrow(spec, pairs);
        weighted.emplace(pair_weights(spec, pairs, RuleSampler::Major::target, spec.flag("allow_autapses")),
                         allow_multapses, make_key(seed, Purpose::partner, projection.value),
                         "in-degree of rule 'uniform_indegree'");
        weighted->check_some(static_cast<std::uint32_t>(greatest));
    }
    return std::make_unique<UniformIndegree>(view, static_cast<std::uint32_t>(spec.count("indegree_min")),
                                             static_cast<std::uint32_t>(greatest), allow_multapses, seed, projection,
                                             std::move(weighted));
}

}  // namespace uniform_indegree_parts
}  // namespace

const RuleInfo uniform_indegree_rule{
    .name = "uniform_indegree",
    .summary = "every target gets a number of connections drawn uniformly, from sources drawn uniformly",
    .notes = "All whole numbers from indegree_min to indegree_max are equally probable.",
    .parameters = uniform_indegree_parts::parameters,
    .check = uniform_indegree_parts::check,
    .bind = uniform_indegree_parts::bind,
};

}  // namespace ranvier::connect
