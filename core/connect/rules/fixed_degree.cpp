#include "connect/rules/fixed_degree.hpp"

#include <utility>

#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "connect/rules/weighted_degree.hpp"

namespace ranvier::connect {

namespace {

class FixedDegree final : public RuleSampler {
   public:
    FixedDegree(Major major, const MajorView& view, std::uint32_t degree, bool allow_multapses, RandomKey key)
        : major_(major), view_(view), degree_(degree), allow_multapses_(allow_multapses), key_(key) {}

    Major major() const override { return major_; }

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.assign(count, degree_);
        partners.resize(count * degree_);
        const auto draw_partners = allow_multapses_ ? draw_with_repetition : draw_without_repetition;
        draw_partners(set, key_, view_, begin, stride, degrees, partners.data());
    }

    std::optional<PartnerDraws> partner_draws() const override {
        std::optional<PartnerDraws> made = view_.draws(repetition(allow_multapses_), key_);
        if (made) made->degree = degree_;
        return made;
    }
    double expected_synapses() const override {
        return static_cast<double>(view_.majors()) * static_cast<double>(degree_);
    }
    double expected_repeats() const override {
        return allow_multapses_ ? expected_repeats_of(view_, static_cast<double>(degree_), 0.0) : 0.0;
    }
    std::optional<std::uint64_t> array_length() const override { return view_.majors() * degree_; }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return major * degree_ + ordinal;
    }

   private:
    Major major_;
    MajorView view_;
    std::uint32_t degree_;
    bool allow_multapses_;
    RandomKey key_;
};

}  // namespace

std::unique_ptr<RuleSampler> bind_fixed_degree(RuleSampler::Major major, const RuleSpec& spec, const PairSpace& pairs,
                                               std::uint64_t seed, ProjectionId projection) {
    const std::string_view parameter = major == RuleSampler::Major::target ? "indegree" : "outdegree";
    const std::uint64_t degree = spec.count(parameter);
    const bool allow_multapses = spec.flag("allow_multapses");
    const MajorView view(pairs, major, spec.flag("allow_autapses"));
    check_degree(spec.name(), parameter, view, major, degree, allow_multapses);
    checked_product(spec.name(), view.majors(), degree);
    // A probability that is the same for all pairs makes no difference, unless it is 0.
    if (pairs_differ(spec) || (std::get<double>(spec.pair_value("probability")) == 0.0 && degree > 0)) {
        check_narrow(spec, pairs);
        WeightedPartners partners(pair_weights(spec, pairs, major, spec.flag("allow_autapses")), allow_multapses,
                                  make_key(seed, Purpose::partner, projection.value),
                                  std::string(parameter) + " of rule '" + std::string(spec.name()) + "'");
        partners.check_some(static_cast<std::uint32_t>(degree));
        return std::make_unique<WeightedDegree>(std::move(partners), static_cast<std::uint32_t>(degree));
    }
    return std::make_unique<FixedDegree>(major, view, static_cast<std::uint32_t>(degree), allow_multapses,
                                         make_key(seed, Purpose::partner, projection.value));
}

}  // namespace ranvier::connect
