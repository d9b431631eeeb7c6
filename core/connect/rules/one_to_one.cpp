#include <algorithm>
#include <array>

#include "base/counted.hpp"
#include "connect/rules/filtered.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace one_to_one_parts {

class OneToOne final : public RuleSampler {
   public:
    OneToOne(const MajorView& view, std::uint64_t excluded)
        : view_(view), synapses_(static_cast<double>(view.majors() - excluded)) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.resize(count);
        partners.clear();
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t target = begin + i * stride;
            const bool allowed = view_.excluded(target) != target;
            degrees[i] = allowed ? 1 : 0;
            if (allowed) partners.push_back(target);
        }
    }

    std::optional<PartnerDraws> partner_draws() const override {
        std::optional<PartnerDraws> made = view_.draws(PartnerDraws::Way::same, {});
        if (made) made->degree = 1;
        return made;
    }
    double expected_synapses() const override { return synapses_; }
    std::optional<std::uint64_t> array_length() const override { return view_.majors(); }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t) const override { return major; }

   private:
    MajorView view_;
    double synapses_;
};

/// Number of neurons that would connect to themselves.
std::uint64_t count_autapses(const PairSpace& pairs) {
    // Two ranges of the same length have either all their pairs in common or none.
    if (!pairs.same) return pairs.first_source == pairs.first_target ? pairs.targets : 0;
    return static_cast<std::uint64_t>(std::ranges::count_if(
        pairs.same->pairs, [](const SameNeurons::Pair& pair) { return pair.source == pair.target; }));
}

constexpr std::array parameters{
    allow_autapses_info("whether a neuron may connect to itself"),
    mask_info(),
    probability_info("probability that a pair is connected"),
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    if (pairs.sources != pairs.targets) {
        throw RuleError({.object = "number of sources of rule 'one_to_one'",
                         .value = std::to_string(pairs.sources),
                         .bound = there_are(pairs.targets, "target"),
                         .remedy = "connect populations of the same size"});
    }
    const bool allow_autapses = spec.flag("allow_autapses");
    auto sampler = std::make_unique<OneToOne>(MajorView(pairs, RuleSampler::Major::target, allow_autapses),
                                              allow_autapses ? 0 : count_autapses(pairs));
    if (connects_all(spec)) return sampler;
    check_narrow(spec, pairs);
    return filtered(std::move(sampler), pair_weights(spec, pairs, RuleSampler::Major::target, allow_autapses),
                    make_key(seed, Purpose::partner, projection.value), true);
}

}  // namespace one_to_one_parts
}  // namespace

const RuleInfo one_to_one_rule{
    .name = "one_to_one",
    .summary = "the i-th source connects to the i-th target; there must be as many sources as targets",
    .notes = "Arrays of weights or delays hold one number per pair, in the order of the neurons.",
    .parameters = one_to_one_parts::parameters,
    .bind = one_to_one_parts::bind,
};

}  // namespace ranvier::connect
