#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "base/math.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "connect/rules/thinned_pairs.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace unordered_bernoulli_parts {

/// The number of neurons before a target on a ring with which it decides on the pair: half of the others. Of two opposite
/// neurons, the first one decides.
std::uint64_t pairs_before(std::uint64_t size, std::uint64_t target) {
    return (size - 1) / 2 + (size % 2 == 0 && target < size / 2 ? 1 : 0);
}

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
            const std::uint64_t pairs = pairs_before(size_, target);
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
    std::uint64_t size_;
    double probability_;
    RandomKey key_;
};

/// Of the connections that ordered pairs would have, those from a neuron that is before the other one on the ring: one
/// decision on each pair, with the probability of its connection.
class UnorderedPairs final : public RuleSampler {
   public:
    UnorderedPairs(std::uint64_t size, std::unique_ptr<RuleSampler> ordered)
        : size_(size), ordered_(std::move(ordered)) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        ordered_->draw(set, begin, stride, count, degrees, partners);
        std::size_t from = 0;
        std::size_t to = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t target = begin + i * stride;
            const std::uint64_t decided = pairs_before(size_, target);
            const std::size_t first = to;
            for (const std::size_t end = from + degrees[i]; from < end; ++from) {
                const std::uint64_t source = partners[from];
                const std::uint64_t place = target > source ? target - source : target + size_ - source;
                if (place <= decided) partners[to++] = source;
            }
            degrees[i] = static_cast<std::uint32_t>(to - first);
        }
        partners.resize(to);
    }

    /// Exact where both directions have the same probability.
    double expected_synapses() const override { return 0.5 * ordered_->expected_synapses(); }
    std::optional<double> known_synapses() const override { return std::nullopt; }
    std::optional<std::uint64_t> array_length() const override { return std::nullopt; }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return ordered_->array_position(major, ordinal);
    }
    std::uint64_t bytes() const override { return ordered_->bytes(); }
    void use(ProcessIndexes& indexes, bool draws_here) override { ordered_->use(indexes, draws_here); }
    std::uint64_t preparations() const override { return ordered_->preparations(); }
    void prepare(std::uint64_t part) const override { ordered_->prepare(part); }

   private:
    std::uint64_t size_;
    std::unique_ptr<RuleSampler> ordered_;
};

constexpr std::array parameters{
    probability_info("probability that a pair is connected", std::nullopt),
    mask_info(),
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
    const RandomKey key = make_key(seed, Purpose::partner, projection.value);
    if (pairs_differ(spec)) {
        check_narrow(spec, pairs);
        auto ordered = thinned_pairs(pair_weights(spec, pairs, RuleSampler::Major::target, false),
                                     ThinnedPairs::Synapses::at_most_one, key);
        return std::make_unique<UnorderedPairs>(pairs.sources, std::move(ordered));
    }
    return std::make_unique<UnorderedBernoulli>(pairs.sources, std::get<double>(spec.pair_value("probability")), key);
}

}  // namespace unordered_bernoulli_parts
}  // namespace

const RuleInfo unordered_bernoulli_rule{
    .name = "unordered_bernoulli",
    .summary = "each unordered pair of neurons is connected with a probability, in one direction",
    .notes =
        "The sources must be the targets: a population, or a part of it, that is connected to itself. Each pair of "
        "different neurons is decided once. The neurons are arranged in a ring in the order of their ids; the "
        "connection is "
        "from the neuron that is nearer before the other one, so that all neurons have nearly as many pairs in each "
        "direction. A mask and an expression are of this connection, from the first to the second neuron, so they "
        "should be the same in both directions. A second projection with the rule Reversed makes the other direction, "
        "so that all pairs are "
        "symmetric.",
    .parameters = unordered_bernoulli_parts::parameters,
    .bind = unordered_bernoulli_parts::bind,
};

}  // namespace ranvier::connect
