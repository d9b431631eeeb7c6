#include "connect/rules/selected.hpp"

#include <utility>

namespace ranvier::connect {

namespace {

std::uint64_t extent(const IdSequence& ids) { return ids.empty() ? 0 : ids.back().value - ids[0].value + 1; }

/// Maps the neurons 0, 1, 2, ... of a rule to neurons with gaps between them.
class SelectedSampler final : public RuleSampler {
   public:
    SelectedSampler(std::unique_ptr<RuleSampler> rule, IdSequence majors, IdSequence partners)
        : rule_(std::move(rule)),
          majors_(std::move(majors)),
          partners_(std::move(partners)),
          first_major_(majors_.empty() ? 0 : majors_[0].value),
          first_partner_(partners_.empty() ? 0 : partners_[0].value) {}

    Major major() const override { return rule_->major(); }

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        if (majors_.is_contiguous()) {
            rule_->draw(set, begin, stride, count, degrees, partners);
        } else {
            draw_selected(set, begin, stride, count, degrees, partners);
        }
        if (partners_.is_contiguous()) return;
        for (std::uint64_t& partner : partners) partner = partners_[partner].value - first_partner_;
    }

    double expected_synapses() const override { return rule_->expected_synapses(); }
    std::optional<double> known_synapses() const override { return rule_->known_synapses(); }
    std::optional<double> expected_synapses_here() const override { return rule_->expected_synapses_here(); }
    double expected_repeats() const override { return rule_->expected_repeats(); }
    std::optional<std::uint64_t> array_length() const override { return rule_->array_length(); }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return rule_->array_position(majors_.count_below(NeuronId{first_major_ + major}), ordinal);
    }
    std::optional<PartnerDraws> partner_draws() const override {
        std::optional<PartnerDraws> made = rule_->partner_draws();
        if (!made || extent(majors_) >= PartnerDraws::none || extent(partners_) >= PartnerDraws::none) {
            return std::nullopt;
        }
        if (!majors_.is_contiguous()) {
            made->numbers.assign(extent(majors_), PartnerDraws::none);
            for (std::uint64_t i = 0; i < majors_.size(); ++i) {
                made->numbers[majors_[i].value - first_major_] = static_cast<std::uint32_t>(i);
            }
        }
        if (!partners_.is_contiguous()) {
            for (std::uint64_t i = 0; i < partners_.size(); ++i) {
                made->partner_ids.push_back(static_cast<std::uint32_t>(partners_[i].value - first_partner_));
            }
        }
        return made;
    }
    std::uint64_t bytes() const override { return rule_->bytes(); }
    void use(ProcessIndexes& indexes, bool draws_here) override { rule_->use(indexes, draws_here); }
    std::uint64_t preparations() const override { return rule_->preparations(); }
    void prepare(std::uint64_t part) const override { rule_->prepare(part); }

   private:
    /// The rule draws for progressions of its neurons: each stretch that is one is drawn at once.
    void draw_selected(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
                       std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const {
        degrees.assign(count, 0);
        partners.clear();
        std::vector<std::uint64_t> places;
        std::vector<std::uint64_t> chosen;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto index = majors_.find(NeuronId{first_major_ + begin + i * stride});
            if (!index) continue;
            places.push_back(i);
            chosen.push_back(*index);
        }
        std::vector<std::uint32_t> drawn_degrees;
        std::vector<std::uint64_t> drawn_partners;
        for (std::size_t first = 0; first < chosen.size();) {
            std::size_t last = first + 1;
            const std::uint64_t step = last < chosen.size() ? chosen[last] - chosen[first] : 1;
            while (last < chosen.size() && chosen[last] - chosen[last - 1] == step) ++last;
            rule_->draw(set, chosen[first], step, last - first, drawn_degrees, drawn_partners);
            for (std::size_t i = first; i < last; ++i) degrees[places[i]] = drawn_degrees[i - first];
            partners.insert(partners.end(), drawn_partners.begin(), drawn_partners.end());
            first = last;
        }
    }

    std::unique_ptr<RuleSampler> rule_;
    IdSequence majors_;
    IdSequence partners_;
    std::uint64_t first_major_;
    std::uint64_t first_partner_;
};

std::shared_ptr<const SameNeurons> find_same(const IdSequence& sources, const IdSequence& targets) {
    auto same = std::make_shared<SameNeurons>();
    for (std::uint64_t source = 0; source < sources.size(); ++source) {
        if (const auto target = targets.find(sources[source])) same->pairs.push_back({source, *target});
    }
    return same;
}

/// Without neurons, the id is arbitrary.
NeuronId first_of(const IdSequence& ids) { return ids.empty() ? NeuronId{} : ids[0]; }

}  // namespace

SelectedRule bind_selected(const RuleSpec& spec, const IdSequence& sources, const IdSequence& targets,
                           std::uint64_t seed, ProjectionId projection,
                           std::shared_ptr<const PairPositions> positions) {
    const PairSpace hull{first_of(sources), extent(sources), first_of(targets), extent(targets)};
    PairSpace pairs = hull;
    pairs.positions = std::move(positions);
    if (sources.is_contiguous() && targets.is_contiguous()) {
        return {hull, bind_rule(spec, pairs, seed, projection), sources.size()};
    }
    pairs.sources = sources.size();
    pairs.targets = targets.size();
    pairs.same = find_same(sources, targets);
    auto rule = bind_rule(spec, pairs, seed, projection);
    const bool by_target = rule->major() == RuleSampler::Major::target;
    auto sampler = std::make_shared<SelectedSampler>(std::move(rule), by_target ? targets : sources,
                                                     by_target ? sources : targets);
    return {hull, std::move(sampler), sources.size()};
}

}  // namespace ranvier::connect
