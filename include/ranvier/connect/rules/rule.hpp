#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ranvier/base/bounds.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/shared_array.hpp"

namespace ranvier::connect {

/// The sources that are targets too, where ids do not tell it by themselves.
struct SameNeurons {
    struct Pair {
        std::uint64_t source = 0;
        std::uint64_t target = 0;
    };
    using Side = std::uint64_t Pair::*;

    std::vector<Pair> pairs;  ///< indices of the same neuron on both sides, ascending on either

    /// The index on the other side.
    std::optional<std::uint64_t> find(Side side, std::uint64_t index) const {
        const auto found = std::ranges::lower_bound(pairs, index, {}, side);
        if (found == pairs.end() || (*found).*side != index) return std::nullopt;
        return side == &Pair::source ? found->target : found->source;
    }
    /// How many of [begin, end) of a side are on the other side too.
    std::uint64_t count(Side side, std::uint64_t begin, std::uint64_t end) const {
        const auto first = std::ranges::lower_bound(pairs, begin, {}, side);
        return static_cast<std::uint64_t>(std::ranges::lower_bound(first, pairs.end(), end, {}, side) - first);
    }
};

/// The pairs that a rule may connect: sources [0, sources) times targets [0, targets), as indices into two contiguous
/// ranges of global ids. Where the ranges overlap, a source and a target can be the same neuron.
struct PairSpace {
    NeuronId first_source;
    std::uint64_t sources = 0;
    NeuronId first_target;
    std::uint64_t targets = 0;
    /// Where the ids of a side are not contiguous: used instead of the first ids. Else null.
    std::shared_ptr<const SameNeurons> same = nullptr;

    /// The index among the sources that is the same neuron as this target, if there is one.
    std::optional<std::uint64_t> source_of_target(std::uint64_t target) const {
        if (same) return same->find(&SameNeurons::Pair::target, target);
        const std::uint64_t id = first_target.value + target;
        if (id < first_source.value || id - first_source.value >= sources) return std::nullopt;
        return id - first_source.value;
    }
    std::optional<std::uint64_t> target_of_source(std::uint64_t source) const {
        if (same) return same->find(&SameNeurons::Pair::source, source);
        const std::uint64_t id = first_source.value + source;
        if (id < first_target.value || id - first_target.value >= targets) return std::nullopt;
        return id - first_target.value;
    }
    /// Whether the sources are the targets.
    bool are_alike() const {
        if (sources != targets) return false;
        return same ? same->pairs.size() == sources : first_source == first_target;
    }
};

/// One parameter of a rule. What C++ and Python accept, check and document follows from it.
struct RuleParameterInfo {
    enum class Kind : std::uint8_t {
        flag,     ///< true or false
        count,    ///< a whole number that is not negative
        real,     ///< a finite number
        indices,  ///< a list of indices of neurons within the sources or the targets
    };

    std::string_view name;  ///< "indegree", "probability", "allow_autapses", ...
    Kind kind = Kind::real;
    std::string_view unit = {};             ///< empty: none
    std::optional<double> default_value{};  ///< nothing: the user must give a value; of a flag, 1 is true
    Bounds bounds = any_number;
    std::string_view meaning;
};

/// The valid values as text.
std::string describe_values(const RuleParameterInfo& parameter);

/// A value of a parameter, of the type that its kind tells.
using RuleValue = std::variant<bool, std::uint64_t, double, SharedIndices>;

/// A value and the parameter that it is for.
struct RuleArgument {
    RuleArgument(std::string_view of, RuleValue given) : parameter(of), value(std::move(given)) {}
    template <std::integral Whole>
        requires(!std::same_as<Whole, bool> && !std::same_as<Whole, std::uint64_t>)
    RuleArgument(std::string_view of, Whole given) : parameter(of), value(static_cast<std::uint64_t>(given)) {}

    std::string_view parameter;
    RuleValue value;
};

struct RuleInfo;

/// A rule with values for its parameters, checked as far as that is possible without neurons.
class RuleSpec {
   public:
    /// @throws UnknownNameError for a name that the rule has no parameter of, RuleError where a value is missing or does not
    ///         fit the others, ValueOutOfBoundsError, ShapeError
    RuleSpec(const RuleInfo& info, std::span<const RuleArgument> arguments);
    /// @throws UnknownNameError, too, for the name of the rule
    RuleSpec(std::string_view rule, std::initializer_list<RuleArgument> arguments = {});

    const RuleInfo& info() const { return *info_; }
    std::string_view name() const;
    /// In the order of the parameters.
    std::span<const RuleValue> values() const { return values_; }

    // The value of a parameter of the kind.
    bool flag(std::string_view parameter) const { return std::get<bool>(value(parameter)); }
    std::uint64_t count(std::string_view parameter) const { return std::get<std::uint64_t>(value(parameter)); }
    double real(std::string_view parameter) const { return std::get<double>(value(parameter)); }
    const SharedIndices& indices(std::string_view parameter) const { return std::get<SharedIndices>(value(parameter)); }

   private:
    const RuleValue& value(std::string_view parameter) const;

    const RuleInfo* info_;
    std::vector<RuleValue> values_;
};

/// A rule bound to a pair space and a seed. Immutable and safe to use from several threads.
///
/// Synapses are drawn per target or per source (the "major" neuron), and the partners of one major neuron are a function
/// of the seed, the projection and that neuron alone. Cost is proportional to what is drawn.
class RuleSampler {
   public:
    enum class Major : std::uint8_t { target, source };

    virtual ~RuleSampler() = default;

    virtual Major major() const = 0;

    /// The partners (indices within their range) of major neurons `begin, begin + stride, ...`, `count` of them, in
    /// ascending order of major neuron: `degrees[i]` partners of the i-th, appended to `partners`. Replaces what the
    /// vectors hold. The order of the partners of one neuron is part of the network: its weights are drawn in it.
    virtual void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
                      std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const = 0;

    /// Number of synapses in the whole projection: exact where the rule fixes it, else its expectation.
    virtual double expected_synapses() const = 0;
    /// How often a pair is drawn that has been drawn already, on average: 0 where the rule draws none twice.
    virtual double expected_repeats() const { return 0.0; }

    /// Length of arrays of weights or delays that fit the rule, or nothing when synapses have no natural order.
    virtual std::optional<std::uint64_t> array_length() const = 0;
    /// Position in such an array of synapse `ordinal` of a major neuron.
    virtual std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const = 0;

    /// Bytes that the sampler holds and that grow with an array that the user gave, beside those of the array itself.
    virtual std::uint64_t bytes() const { return 0; }
};

/// The description of a rule: a constant in the file of the rule, listed in connect/rules/registry.hpp. The class of the
/// rule in Python is made from it, with the name in CamelCase.
struct RuleInfo {
    std::string_view name;
    std::string_view summary;
    /// Further sentences for users: what the neurons must be, how arrays of weights and delays are arranged.
    std::string_view notes = {};
    std::span<const RuleParameterInfo> parameters;
    /// Checks values that depend on each other; null where none do.
    /// @throws RuleError, ValueOutOfBoundsError, ShapeError
    void (*check)(const RuleSpec& spec) = nullptr;
    /// Checks the rule against the pair space and binds it.
    /// @throws RuleError when it cannot be carried out, ValueOutOfBoundsError
    std::unique_ptr<RuleSampler> (*bind)(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                         ProjectionId projection) = nullptr;
};

/// All rules, by name.
std::span<const RuleInfo* const> rules();
/// @throws UnknownNameError
const RuleInfo& find_rule(std::string_view name);
std::unique_ptr<RuleSampler> bind_rule(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                       ProjectionId projection);

}  // namespace ranvier::connect
