#include <array>
#include <numeric>

#include "base/errors.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/registry.hpp"
#include "connect/rules/rule_checks.hpp"

namespace ranvier::connect {

namespace {

class UniformIndegree final : public RuleSampler {
   public:
    UniformIndegree(const MajorView& view, std::uint32_t least, std::uint32_t greatest, bool allow_multapses,
                    std::uint64_t seed, ProjectionId projection)
        : view_(view),
          least_(least),
          greatest_(greatest),
          allow_multapses_(allow_multapses),
          degree_key_(make_key(seed, Purpose::degree, projection.value)),
          partner_key_(make_key(seed, Purpose::partner, projection.value)) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.resize(count);
        const std::uint64_t choices = std::uint64_t{greatest_} - least_ + 1;
        for (std::uint64_t i = 0; i < count; ++i) {
            SequentialRandom random({degree_key_, begin + i * stride});
            degrees[i] = least_ + static_cast<std::uint32_t>(random.next_below(choices));
        }
        partners.resize(std::accumulate(degrees.begin(), degrees.end(), std::uint64_t{0}));
        const auto draw_partners = allow_multapses_ ? draw_with_repetition : draw_without_repetition;
        draw_partners(set, partner_key_, view_, begin, stride, degrees, partners.data());
    }

    double expected_synapses() const override {
        return static_cast<double>(view_.majors()) * 0.5 *
               (static_cast<double>(least_) + static_cast<double>(greatest_));
    }
    double expected_repeats() const override {
        if (!allow_multapses_) return 0.0;
        const double choices = static_cast<double>(greatest_) - static_cast<double>(least_) + 1.0;
        const double mean = 0.5 * (static_cast<double>(least_) + static_cast<double>(greatest_));
        return expected_repeats_of(view_, mean, (choices * choices - 1.0) / 12.0);
    }
    std::optional<std::uint64_t> array_length() const override { return std::nullopt; }
    std::uint64_t array_position(std::uint64_t, std::uint64_t) const override {
        throw InternalError("synapses of uniform_indegree have no position in an array");
    }

   private:
    MajorView view_;
    std::uint32_t least_;
    std::uint32_t greatest_;
    bool allow_multapses_;
    RandomKey degree_key_;
    RandomKey partner_key_;
};

constexpr std::array parameters{
    RuleParameterInfo{"indegree_min", "least number of synapses of a target", "a whole number >= 0"},
    RuleParameterInfo{"indegree_max", "greatest number of synapses of a target", "a whole number >= indegree_min"},
    allow_autapses_info,
    allow_multapses_info,
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    if (spec.least_number > spec.number) {
        throw RuleError({.object = "indegree_min of rule 'uniform_indegree'",
                         .value = std::to_string(spec.least_number),
                         .bound = "it must not exceed indegree_max, " + std::to_string(spec.number),
                         .remedy = "swap them"});
    }
    const MajorView view(pairs, RuleSampler::Major::target, spec.allow_autapses);
    check_degree(spec.name, "indegree_max", view, RuleSampler::Major::target, spec.number, spec.allow_multapses);
    checked_product(spec.name, view.majors(), spec.number);
    return std::make_unique<UniformIndegree>(view, static_cast<std::uint32_t>(spec.least_number),
                                             static_cast<std::uint32_t>(spec.number), spec.allow_multapses, seed,
                                             projection);
}

}  // namespace

const RuleInfo uniform_indegree_rule{
    .name = "uniform_indegree",
    .summary = "every target gets a number of synapses drawn uniformly, with sources drawn uniformly",
    .parameters = parameters,
    .bind = bind,
};

}  // namespace ranvier::connect
