#include "connect/rules/filtered.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {
namespace filtered_parts {

/// Synapses from which the expected number is estimated, about.
constexpr double most_summed = 65536.0;

class Filtered final : public RuleSampler {
   public:
    Filtered(std::unique_ptr<RuleSampler> rule, PairWeights weights, RandomKey key, bool at_most_one)
        : rule_(std::move(rule)), weights_(std::move(weights)), key_(key), at_most_one_(at_most_one) {}

    Major major() const override { return rule_->major(); }

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        rule_->draw(set, begin, stride, count, degrees, partners);
        std::size_t from = 0;
        std::size_t to = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t major = begin + i * stride;
            const std::vector<std::uint64_t> same(degrees[i], major);
            const std::vector<std::uint64_t> others(partners.begin() + static_cast<std::ptrdiff_t>(from),
                                                    partners.begin() + static_cast<std::ptrdiff_t>(from + degrees[i]));
            const bool by_target = this->major() == Major::target;
            const std::vector<std::uint8_t> taken =
                taken_of(weights_, {key_, major, 0}, 0, by_target ? others : same, by_target ? same : others);
            from += degrees[i];
            degrees[i] = 0;
            for (std::size_t k = 0; k < taken.size(); ++k) {
                if (taken[k] == 0) continue;
                partners[to++] = others[k];
                ++degrees[i];
            }
        }
        partners.resize(to);
    }

    /// Exact for few synapses, and otherwise from some neurons.
    double expected_synapses() const override {
        const double all = rule_->expected_synapses();
        const std::uint64_t majors = weights_.majors();
        if (all == 0.0 || majors == 0) return 0.0;
        const auto stride = static_cast<std::uint64_t>(all / most_summed) + 1;
        std::vector<std::uint32_t> degrees;
        std::vector<std::uint64_t> partners;
        const std::uint64_t sampled = (majors - 1) / stride + 1;
        rule_->draw(detect_instruction_set(), 0, stride, sampled, degrees, partners);
        std::vector<std::uint64_t> same;
        for (std::uint64_t i = 0; i < sampled; ++i) same.insert(same.end(), degrees[i], i * stride);
        const bool by_target = major() == Major::target;
        std::vector<double> values;
        weights_.evaluate_pairs(by_target ? partners : same, by_target ? same : partners, values);
        double sum = 0.0;
        for (const double value : values) sum += value;
        return sum * static_cast<double>(majors) / static_cast<double>(sampled);
    }
    double expected_repeats() const override { return rule_->expected_repeats(); }
    std::optional<std::uint64_t> array_length() const override {
        return at_most_one_ ? rule_->array_length() : std::nullopt;
    }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        if (!at_most_one_) throw InternalError("synapses that are filtered have no position in an array");
        return rule_->array_position(major, ordinal);
    }
    std::uint64_t bytes() const override { return rule_->bytes(); }
    void use(ProcessIndexes& indexes, bool draws_here) override { rule_->use(indexes, draws_here); }
    std::uint64_t preparations() const override { return rule_->preparations(); }
    void prepare(std::uint64_t part) const override { rule_->prepare(part); }

   private:
    std::unique_ptr<RuleSampler> rule_;
    PairWeights weights_;
    RandomKey key_;
    bool at_most_one_;
};

}  // namespace filtered_parts
}  // namespace

std::unique_ptr<RuleSampler> filtered(std::unique_ptr<RuleSampler> rule, PairWeights weights, RandomKey key,
                                      bool at_most_one) {
    return std::make_unique<filtered_parts::Filtered>(std::move(rule), std::move(weights), key, at_most_one);
}

std::vector<std::uint8_t> taken_of(const PairWeights& weights, RandomStream stream, std::uint32_t number,
                                   std::span<const std::uint64_t> sources, std::span<const std::uint64_t> targets) {
    std::vector<double> values;
    weights.evaluate_pairs(sources, targets, values);
    std::vector<std::uint8_t> taken(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double uniform = to_open_unit(stream.word64(number + static_cast<std::uint32_t>(i)));
        taken[i] = uniform < values[i] ? 1 : 0;
    }
    return taken;
}

}  // namespace ranvier::connect
