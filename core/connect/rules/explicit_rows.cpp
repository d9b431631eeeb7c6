#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "base/counted.hpp"
#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/shared_array.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace explicit_rows_parts {

/// The sources of all targets, one target after another. The arrays are those of the user, without a copy: they may be
/// larger than the memory if they are mapped files, and draw() reads the rows of its targets only.
class ExplicitRows final : public RuleSampler {
   public:
    ExplicitRows(SharedIndices starts, SharedIndices sources)
        : starts_(std::move(starts)), sources_(std::move(sources)) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.resize(count);
        partners.clear();
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::span<const std::uint64_t> sources = row(begin + i * stride);
            degrees[i] = static_cast<std::uint32_t>(sources.size());
            partners.insert(partners.end(), sources.begin(), sources.end());
        }
    }

    double expected_synapses() const override { return static_cast<double>(sources_.size()); }
    double expected_repeats() const override {
        // Tables only distinguish between none and any.
        constexpr double certain = 1e9;
        return find_repetition() ? certain : 0.0;
    }
    std::optional<std::uint64_t> array_length() const override { return sources_.size(); }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return starts_[major] + ordinal;
    }

    /// The position of a connection that repeats the pair of an earlier one: in the first row that has one.
    std::optional<std::uint64_t> find_repetition() const {
        std::vector<std::uint64_t> positions;
        for (std::uint64_t target = 0; target + 1 < starts_.size(); ++target) {
            const std::span<const std::uint64_t> sources = row(target);
            if (std::ranges::adjacent_find(sources, std::greater_equal{}) == sources.end()) continue;
            positions.resize(sources.size());
            for (std::uint64_t i = 0; i < positions.size(); ++i) positions[i] = starts_[target] + i;
            std::ranges::stable_sort(positions, {}, [&](std::uint64_t position) { return sources_[position]; });
            const auto repeated =
                std::ranges::adjacent_find(positions, {}, [&](std::uint64_t position) { return sources_[position]; });
            if (repeated != positions.end()) return *(repeated + 1);
        }
        return std::nullopt;
    }

   private:
    std::span<const std::uint64_t> row(std::uint64_t target) const {
        return {sources_.data() + starts_[target], sources_.data() + starts_[target + 1]};
    }

    SharedIndices starts_;
    SharedIndices sources_;
};

constexpr std::array parameters{
    RuleParameterInfo{.name = "starts",
                      .kind = RuleParameterInfo::Kind::indices,
                      .meaning = "for each target, the position in `sources` of its first connection, and at the end "
                                 "the number of all connections: one more number than targets"},
    RuleParameterInfo{.name = "sources",
                      .kind = RuleParameterInfo::Kind::indices,
                      .meaning = "for each connection, the index of its source among the sources, sorted by target"},
    allow_autapses_info("whether the rows may connect a neuron to itself"),
    allow_multapses_info("whether the rows may contain a pair more than once"),
};

void check(const RuleSpec& spec) {
    const SharedIndices& starts = spec.indices("starts");
    const std::uint64_t connections = spec.indices("sources").size();
    const auto fail = [](std::string object, std::uint64_t value, std::string bound) {
        throw RuleError({.object = std::move(object) + " of rule 'explicit_rows'",
                         .value = std::to_string(value),
                         .bound = std::move(bound),
                         .remedy = "give one more number than targets: 0, and the numbers of connections of the first "
                                   "target, of the first two targets, ..., of all"});
    };
    if (starts.empty()) fail("length of starts", 0, "it must be one more than the number of targets");
    if (starts[0] != 0) fail("element 0 of starts", starts[0], "it must be 0");
    const auto* const falls = std::ranges::adjacent_find(starts, std::greater{});
    if (falls != starts.end()) {
        fail("element " + std::to_string(falls + 1 - starts.begin()) + " of starts", falls[1],
             "it must not be below the one before it, " + std::to_string(falls[0]));
    }
    if (starts[starts.size() - 1] != connections) {
        fail("last element of starts", starts[starts.size() - 1], there_are(connections, "source"));
    }
}

std::uint64_t target_of(const SharedIndices& starts, std::uint64_t position) {
    return static_cast<std::uint64_t>(std::ranges::upper_bound(starts, position) - starts.begin()) - 1;
}

void check_sources(const SharedIndices& starts, const SharedIndices& sources, std::uint64_t size) {
    const auto* const bad = std::ranges::find_if(sources, [&](std::uint64_t index) { return index >= size; });
    if (bad == sources.end()) return;
    const auto position = static_cast<std::uint64_t>(bad - sources.begin());
    throw ValueOutOfBoundsError({.object = "source at position " + std::to_string(position) +
                                           " of rule 'explicit_rows', of target " +
                                           std::to_string(target_of(starts, position)),
                                 .value = std::to_string(*bad),
                                 .bound = "it must be below " + std::to_string(size) + ", the number of sources",
                                 .remedy = "give indices within the connected range, not global ids"});
}

RuleError pair_error(const RuleSpec& spec, std::uint64_t position, std::string bound, std::string remedy) {
    return RuleError({.object = "pair at position " + std::to_string(position) + " of rule 'explicit_rows'",
                      .value = "(" + std::to_string(spec.indices("sources")[position]) + ", " +
                               std::to_string(target_of(spec.indices("starts"), position)) + ")",
                      .bound = std::move(bound),
                      .remedy = std::move(remedy)});
}

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t, ProjectionId) {
    const SharedIndices& starts = spec.indices("starts");
    const SharedIndices& sources = spec.indices("sources");
    if (starts.size() - 1 != pairs.targets) {
        throw ShapeError({.object = "number of rows of rule 'explicit_rows'",
                          .value = std::to_string(starts.size() - 1),
                          .bound = there_are(pairs.targets, "target"),
                          .remedy = "give one row for each target"});
    }
    const MajorView view(pairs, RuleSampler::Major::target, spec.flag("allow_autapses"));
    for (std::uint64_t target = 0; target < pairs.targets; ++target) {
        const std::uint64_t degree = starts[target + 1] - starts[target];
        if (degree > std::numeric_limits<std::uint32_t>::max()) {
            throw RuleError(
                {.object = "number of connections of target " + std::to_string(target) + " of rule 'explicit_rows'",
                 .value = std::to_string(degree),
                 .bound = "it must be below 2^32",
                 .remedy = "split the rows into several projections"});
        }
    }
    check_sources(starts, sources, pairs.sources);
    for (std::uint64_t target = 0; !spec.flag("allow_autapses") && target < pairs.targets; ++target) {
        const std::span row(sources.begin() + starts[target], sources.begin() + starts[target + 1]);
        const auto self = std::ranges::find(row, view.excluded(target));
        if (self == row.end()) continue;
        throw pair_error(spec, starts[target] + static_cast<std::uint64_t>(self - row.begin()),
                         "it connects a neuron to itself", "remove the pair, or allow autapses");
    }
    auto rows = std::make_unique<ExplicitRows>(starts, sources);
    if (!spec.flag("allow_multapses")) {
        if (const auto position = rows->find_repetition()) {
            throw pair_error(spec, *position, "the row already contains this pair", "remove it, or allow multapses");
        }
    }
    return rows;
}

}  // namespace explicit_rows_parts
}  // namespace

const RuleInfo explicit_rows_rule{
    .name = "explicit_rows",
    .summary = "a list of all connections, in compressed form: the sources of each target, one target after another",
    .notes =
        "This is the form of the matrices that are called compressed sparse rows, with the targets as rows. Arrays of "
        "weights or delays hold one number per connection, in the same order.",
    .parameters = explicit_rows_parts::parameters,
    .check = explicit_rows_parts::check,
    .bind = explicit_rows_parts::bind,
};

}  // namespace ranvier::connect
