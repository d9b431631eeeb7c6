#include "connect/rules/reversed.hpp"

#include <utility>

namespace ranvier::connect {

namespace {

class ReversedSampler final : public RuleSampler {
   public:
    explicit ReversedSampler(std::unique_ptr<RuleSampler> forward) : forward_(std::move(forward)) {}

    Major major() const override { return forward_->major() == Major::target ? Major::source : Major::target; }
    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        forward_->draw(set, begin, stride, count, degrees, partners);
    }
    double expected_synapses() const override { return forward_->expected_synapses(); }
    std::optional<double> known_synapses() const override { return forward_->known_synapses(); }
    std::optional<double> expected_synapses_here() const override { return forward_->expected_synapses_here(); }
    double expected_repeats() const override { return forward_->expected_repeats(); }
    std::optional<std::uint64_t> array_length() const override { return forward_->array_length(); }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return forward_->array_position(major, ordinal);
    }
    std::optional<PartnerDraws> partner_draws() const override { return forward_->partner_draws(); }
    std::uint64_t bytes() const override { return forward_->bytes(); }
    /// Where the forward rule draws for targets, a process draws for sources, which may be on any process.
    void use(ProcessIndexes& indexes, bool draws_here) override {
        forward_->use(indexes, draws_here && major() == Major::target);
    }
    std::uint64_t preparations() const override { return forward_->preparations(); }
    void prepare(std::uint64_t part) const override { forward_->prepare(part); }

   private:
    std::unique_ptr<RuleSampler> forward_;
};

}  // namespace

PairSpace reversed(const PairSpace& pairs) {
    PairSpace turned = pairs;
    std::swap(turned.first_source, turned.first_target);
    std::swap(turned.sources, turned.targets);
    if (pairs.same) {
        auto same = std::make_shared<SameNeurons>(*pairs.same);
        for (SameNeurons::Pair& pair : same->pairs) std::swap(pair.source, pair.target);
        turned.same = std::move(same);
    }
    if (pairs.positions) {
        auto positions = std::make_shared<PairPositions>(*pairs.positions);
        std::swap(positions->sources, positions->targets);
        turned.positions = std::move(positions);
    }
    return turned;
}

std::unique_ptr<RuleSampler> reversed(std::unique_ptr<RuleSampler> forward) {
    return std::make_unique<ReversedSampler>(std::move(forward));
}

}  // namespace ranvier::connect
