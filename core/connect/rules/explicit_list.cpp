#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/counted.hpp"
#include "connect/rules/filtered.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/shared_array.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace explicit_list_parts {

/// A list of pairs, sorted by target once; the synapses of a target keep the order of the list. The memory is
/// proportional to the list, not to the neurons in its range.
class ExplicitList final : public RuleSampler {
   public:
    /// @param taken whether each pair is connected; empty: all are
    ExplicitList(SharedIndices sources, const SharedIndices& targets, const std::vector<std::uint8_t>& taken)
        : sources_(std::move(sources)), positions_(targets.size()) {
        sort_positions(targets);
        if (!taken.empty()) std::erase_if(positions_, [&](std::uint32_t position) { return taken[position] == 0; });
        const auto target_of = [&](std::uint32_t position) { return targets[position]; };
        std::uint64_t distinct = 0;
        for (std::size_t i = 0; i < positions_.size(); ++i) {
            if (i == 0 || target_of(positions_[i]) != target_of(positions_[i - 1])) ++distinct;
        }
        targets_.reserve(distinct);
        first_.reserve(distinct + 1);
        for (std::size_t i = 0; i < positions_.size(); ++i) {
            if (!targets_.empty() && target_of(positions_[i]) == targets_.back()) continue;
            targets_.push_back(target_of(positions_[i]));
            first_.push_back(static_cast<std::uint32_t>(i));
        }
        first_.push_back(static_cast<std::uint32_t>(positions_.size()));
    }

    Major major() const override { return Major::target; }

    void draw(InstructionSet, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.resize(count);
        partners.clear();
        std::size_t place = place_of(begin, 0, targets_.size());
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t target = begin + i * stride;
            // At most as many targets as neurons lie in between.
            place = place_of(target, place, stride);
            degrees[i] = 0;
            if (place == targets_.size() || targets_[place] != target) continue;
            degrees[i] = first_[place + 1] - first_[place];
            for (std::uint32_t j = first_[place]; j < first_[place + 1]; ++j) {
                partners.push_back(sources_[positions_[j]]);
            }
        }
    }

    double expected_synapses() const override { return static_cast<double>(positions_.size()); }
    double expected_repeats() const override {
        // Tables only distinguish between none and any.
        constexpr double certain = 1e9;
        return find_repetition() ? certain : 0.0;
    }
    std::optional<std::uint64_t> array_length() const override { return sources_.size(); }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return positions_[first_[place_of(major, 0, targets_.size())] + ordinal];
    }

    std::uint64_t bytes() const override {
        return targets_.size() * sizeof(std::uint64_t) + (first_.size() + positions_.size()) * sizeof(std::uint32_t);
    }

    /// The position in the list of the first synapse that repeats the pair of an earlier one.
    std::optional<std::uint64_t> find_repetition() const {
        std::optional<std::uint64_t> found;
        std::vector<std::uint64_t> of_target;
        for (std::size_t place = 0; place < targets_.size(); ++place) {
            of_target.assign(positions_.begin() + static_cast<std::ptrdiff_t>(first_[place]),
                             positions_.begin() + static_cast<std::ptrdiff_t>(first_[place + 1]));
            std::ranges::stable_sort(of_target, {}, [&](std::uint64_t position) { return sources_[position]; });
            for (std::size_t i = 1; i < of_target.size(); ++i) {
                const bool repeated = sources_[of_target[i]] == sources_[of_target[i - 1]];
                if (repeated && (!found || of_target[i] < *found)) found = of_target[i];
            }
        }
        return found;
    }

   private:
    void sort_positions(const SharedIndices& targets) {
        std::iota(positions_.begin(), positions_.end(), std::uint32_t{0});
        if (std::ranges::is_sorted(targets)) return;
        const std::uint64_t range = std::ranges::max(targets) + 1;
        if (range > 4 * targets.size()) {
            std::ranges::stable_sort(positions_, {}, [&](std::uint32_t position) { return targets[position]; });
            return;
        }
        // Few neurons for so many pairs: counting is faster.
        std::vector<std::uint32_t> next(range + 1);
        for (const std::uint64_t target : targets) ++next[target + 1];
        for (std::uint64_t target = 0; target < range; ++target) next[target + 1] += next[target];
        for (std::uint32_t position = 0; position < targets.size(); ++position) {
            positions_[next[targets[position]]++] = position;
        }
    }

    /// The position of the first target that is not below this one, from `begin` to `begin + most`.
    std::size_t place_of(std::uint64_t target, std::size_t begin, std::uint64_t most) const {
        const std::size_t end = begin + std::min<std::uint64_t>(most, targets_.size() - begin);
        const auto first = targets_.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = targets_.begin() + static_cast<std::ptrdiff_t>(end);
        return static_cast<std::size_t>(std::lower_bound(first, last, target) - targets_.begin());
    }

    SharedIndices sources_;
    std::vector<std::uint64_t> targets_;  ///< with synapses, ascending
    /// Start of the synapses of each target in positions_, and the end of all. A list has fewer than 2^32 pairs.
    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> positions_;  ///< in the list, by target
};

void check_indices(std::string_view side, const SharedIndices& indices, std::uint64_t size) {
    const auto bad = std::ranges::find_if(indices, [&](std::uint64_t index) { return index >= size; });
    if (bad == indices.end()) return;
    throw ValueOutOfBoundsError(
        {.object = std::string(side) + " at position " + std::to_string(bad - indices.begin()) + " of rule 'explicit'",
         .value = std::to_string(*bad),
         .bound = "it must be below " + std::to_string(size) + ", the number of " + std::string(side) + "s",
         .remedy = "give indices within the connected range, not global ids"});
}

constexpr std::array parameters{
    RuleParameterInfo{.name = "sources",
                      .kind = RuleParameterInfo::Kind::indices,
                      .meaning = "for each connection, the index of its source among the sources"},
    RuleParameterInfo{.name = "targets",
                      .kind = RuleParameterInfo::Kind::indices,
                      .meaning = "for each connection, the index of its target among the targets"},
    allow_autapses_info("whether the list may connect a neuron to itself"),
    allow_multapses_info("whether the list may contain a pair more than once"),
    mask_info(),
    probability_info("probability that a pair of the list is connected"),
};

void check(const RuleSpec& spec) {
    const std::size_t sources = spec.indices("sources").size();
    const std::size_t targets = spec.indices("targets").size();
    if (sources == targets) return;
    throw ShapeError({.object = "length of targets of rule 'explicit'",
                      .value = std::to_string(targets),
                      .bound = there_are(sources, "source"),
                      .remedy = "give one source and one target for each synapse"});
}

RuleError pair_error(const RuleSpec& spec, std::uint64_t position, std::string bound, std::string remedy) {
    return RuleError({.object = "pair at position " + std::to_string(position) + " of rule 'explicit'",
                      .value = "(" + std::to_string(spec.indices("sources")[position]) + ", " +
                               std::to_string(spec.indices("targets")[position]) + ")",
                      .bound = std::move(bound),
                      .remedy = std::move(remedy)});
}

/// Whether each pair is within the mask, and drawn with its probability; empty: all are.
std::vector<std::uint8_t> taken_pairs(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                      ProjectionId projection) {
    std::vector<std::uint8_t> taken;
    if (connects_all(spec)) return taken;
    const PairWeights weights = pair_weights(spec, pairs, RuleSampler::Major::target, true);
    const RandomStream stream{make_key(seed, Purpose::partner, projection.value), 0, 0};
    const std::span<const std::uint64_t> sources(spec.indices("sources"));
    const std::span<const std::uint64_t> targets(spec.indices("targets"));
    constexpr std::size_t at_once = 4096;
    for (std::size_t begin = 0; begin < sources.size(); begin += at_once) {
        const std::size_t count = std::min(at_once, sources.size() - begin);
        const std::vector<std::uint8_t> some = taken_of(weights, stream, static_cast<std::uint32_t>(begin),
                                                        sources.subspan(begin, count), targets.subspan(begin, count));
        taken.insert(taken.end(), some.begin(), some.end());
    }
    return taken;
}

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    const SharedIndices& sources = spec.indices("sources");
    const SharedIndices& targets = spec.indices("targets");
    if (sources.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw RuleError({.object = "length of the list of rule 'explicit'",
                         .value = std::to_string(sources.size()),
                         .bound = "it must be below 2^32",
                         .remedy = "split it into several projections"});
    }
    check_indices("source", sources, pairs.sources);
    check_indices("target", targets, pairs.targets);
    const MajorView view(pairs, RuleSampler::Major::target, spec.flag("allow_autapses"));
    for (std::uint64_t i = 0; i < targets.size(); ++i) {
        if (view.excluded(targets[i]) != sources[i]) continue;
        throw pair_error(spec, i, "it connects a neuron to itself", "remove the pair, or allow autapses");
    }
    auto list = std::make_unique<ExplicitList>(sources, targets, taken_pairs(spec, pairs, seed, projection));
    if (!spec.flag("allow_multapses")) {
        if (const auto position = list->find_repetition()) {
            throw pair_error(spec, *position, "the list already contains this pair", "remove it, or allow multapses");
        }
    }
    return list;
}

}  // namespace explicit_list_parts
}  // namespace

const RuleInfo explicit_rule{
    .name = "explicit",
    .summary = "a list of all connections, in coordinate form",
    .notes =
        "Arrays of weights or delays hold one number per connection of the list, in the same order, also for those "
        "that a "
        "mask or a probability leaves out.",
    .parameters = explicit_list_parts::parameters,
    .check = explicit_list_parts::check,
    .bind = explicit_list_parts::bind,
};

}  // namespace ranvier::connect
