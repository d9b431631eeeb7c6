#include <algorithm>
#include <array>
#include <limits>

#include "base/math.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace unordered_bernoulli_parts {

/// Each target decides on the pairs with the neurons before it on a ring, so that all targets have as many to decide on,
/// and processes as much to draw.
class UnorderedBernoulli final : public RuleSampler {
   public:
    UnorderedBernoulli(std::uint64_t size, double probability, RandomKey key)
        : size_(size), probability_(probability), key_(key) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.assign(count, 0);
        partners.clear();
        if (probability_ == 0.0) return;
        // The number of pairs skipped before the next connected one is geometrically distributed.
        const double inverse_log_of_failure = probability_ == 1.0 ? 0.0 : 1.0 / math::log1p(-probability_);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t target = begin + i * stride;
            SequentialRandom random({key_, target});
            const std::uint64_t pairs = pairs_of(target);
            for (std::uint64_t place = 1; place <= pairs; ++place) {
                const double skip = math::log(random.next_unit()) * inverse_log_of_failure;
                if (skip >= static_cast<double>(pairs - place + 1)) break;
                place += static_cast<std::uint64_t>(skip);
                partners.push_back(target >= place ? target - place : target + size_ - place);
                ++degrees[i];
            }
        }
    }

    double expected_synapses() const override {
        const auto size = static_cast<double>(size_);
        return size_ == 0 ? 0.0 : probability_ * 0.5 * size * (size - 1.0);
    }
    std::optional<std::uint64_t> array_length() const override { return std::nullopt; }
    std::uint64_t array_position(std::uint64_t, std::uint64_t) const override {
        throw InternalError("synapses of unordered_bernoulli have no position in an array");
    }

   private:
    /// Half of the other neurons. Of two opposite neurons on the ring, the first one decides.
    std::uint64_t pairs_of(std::uint64_t target) const {
        return (size_ - 1) / 2 + (size_ % 2 == 0 && target < size_ / 2 ? 1 : 0);
    }

    std::uint64_t size_;
    double probability_;
    RandomKey key_;
};

constexpr std::array parameters{
    RuleParameterInfo{.name = "probability",
                      .bounds = {.lower = 0.0, .upper = 1.0},
                      .meaning = "probability that a pair is connected"},
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    check_alike(spec, pairs);
    checked_product(spec.name(), pairs.sources, pairs.targets);
    if (pairs.sources > std::numeric_limits<std::uint32_t>::max()) {
        throw RuleError({.object = "number of sources of rule 'unordered_bernoulli'",
                         .value = std::to_string(pairs.sources),
                         .bound = "it must be below 2^32",
                         .remedy = "connect parts of the population"});
    }
    return std::make_unique<UnorderedBernoulli>(pairs.sources, spec.real("probability"),
                                                make_key(seed, Purpose::partner, projection.value));
}

}  // namespace unordered_bernoulli_parts
}  // namespace

const RuleInfo unordered_bernoulli_rule{
    .name = "unordered_bernoulli",
    .summary = "each unordered pair of neurons is connected with the same probability, in one direction",
    .notes =
        "The sources must be the targets: a population, or a part of it, that is connected to itself. Each pair of "
        "different neurons is decided once. The neurons are arranged in a ring in the order of their ids; the "
        "connection is "
        "from the neuron that is nearer before the other one, so that all neurons have nearly as many pairs in each "
        "direction. A second projection with the rule Reversed makes the other direction, so that all pairs are "
        "symmetric.",
    .parameters = unordered_bernoulli_parts::parameters,
    .bind = unordered_bernoulli_parts::bind,
};

}  // namespace ranvier::connect
