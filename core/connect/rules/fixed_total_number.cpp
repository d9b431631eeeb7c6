#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/sampling.hpp"
#include "connect/rules/degree_tree.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
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

constexpr std::array parameters{
    count_info("number", "total number of connections"),
    allow_autapses_info("whether a neuron may be paired with itself"),
    allow_multapses_info("whether a pair may be drawn more than once"),
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
    return std::make_unique<FixedTotalNumber>(view, spec, seed, projection);
}

}  // namespace fixed_total_number_parts
}  // namespace

const RuleInfo fixed_total_number_rule{
    .name = "fixed_total_number",
    .summary = "a fixed total number of connections, between pairs of a source and a target that are drawn uniformly",
    .parameters = fixed_total_number_parts::parameters,
    .bind = fixed_total_number_parts::bind,
};

}  // namespace ranvier::connect
