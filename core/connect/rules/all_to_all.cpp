#include <array>
#include <limits>
#include <numeric>

#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "connect/rules/thinned_pairs.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace all_to_all_parts {

class AllToAll final : public RuleSampler {
   public:
    AllToAll(const MajorView& view, std::uint64_t synapses) : view_(view), synapses_(synapses) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.resize(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            degrees[i] = static_cast<std::uint32_t>(view_.allowed(begin + i * stride));
        }
        partners.resize(std::accumulate(degrees.begin(), degrees.end(), std::uint64_t{0}));
        std::uint64_t* out = partners.data();
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t excluded = view_.excluded(begin + i * stride);
            for (std::uint64_t j = 0; j < degrees[i]; ++j) *out++ = j + (j >= excluded ? 1 : 0);
        }
    }

    std::optional<PartnerDraws> partner_draws() const override { return view_.draws(PartnerDraws::Way::all, {}); }
    double expected_synapses() const override { return static_cast<double>(synapses_); }
    /// Excluded pairs have an entry too, so that the array is the whole matrix of targets times sources.
    std::optional<std::uint64_t> array_length() const override { return view_.majors() * view_.partners(); }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return major * view_.partners() + ordinal + (ordinal >= view_.excluded(major) ? 1 : 0);
    }

   private:
    MajorView view_;
    std::uint64_t synapses_;
};

constexpr std::array parameters{
    allow_autapses_info("whether a neuron that is both a source and a target connects to itself"),
    mask_info(),
    probability_info("probability that a pair is connected"),
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    const std::uint64_t synapses = count_pairs(spec.name(), pairs, spec.flag("allow_autapses"));
    if (pairs.sources > std::numeric_limits<std::uint32_t>::max()) {
        throw RuleError({.object = "number of sources of rule 'all_to_all'",
                         .value = std::to_string(pairs.sources),
                         .bound = "a target can have fewer than 2^32 synapses of one projection",
                         .remedy = "connect parts of the population"});
    }
    if (!connects_all(spec)) {
        check_narrow(spec, pairs);
        return thinned_pairs(pair_weights(spec, pairs, RuleSampler::Major::target, spec.flag("allow_autapses")),
                             ThinnedPairs::Synapses::at_most_one, make_key(seed, Purpose::partner, projection.value));
    }
    return std::make_unique<AllToAll>(MajorView(pairs, RuleSampler::Major::target, spec.flag("allow_autapses")),
                                      synapses);
}

}  // namespace all_to_all_parts
}  // namespace

const RuleInfo all_to_all_rule{
    .name = "all_to_all",
    .summary = "every source connects to every target",
    .notes =
        "Arrays of weights or delays hold one number per pair, with the shape ``(targets, sources)`` or flattened. "
        "They "
        "also contain numbers for autapses that are not allowed; these are not used. With a mask or a probability, "
        "there "
        "are no arrays: the number of connections of a target is known only when they are drawn.",
    .parameters = all_to_all_parts::parameters,
    .bind = all_to_all_parts::bind,
};

}  // namespace ranvier::connect
