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
#include "ranvier/connect/rules/partner_draws.hpp"
#include "ranvier/connect/space/mask.hpp"
#include "ranvier/connect/space/pair_function.hpp"
#include "ranvier/connect/space/positions.hpp"

namespace ranvier::connect {

/// The sources that are also targets, where this does not follow from the ids.
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
    /// Number of elements of [begin, end) of a side that are also on the other side.
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
    /// Used instead of the first ids if the ids of a side are not contiguous; otherwise null.
    std::shared_ptr<const SameNeurons> same = nullptr;
    /// Null unless all sources and targets have positions.
    std::shared_ptr<const PairPositions> positions = nullptr;

    /// The index among the sources of the neuron that is this target, if any.
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
    /// Whether sources and targets are identical.
    bool are_alike() const {
        if (sources != targets) return false;
        return same ? same->pairs.size() == sources : first_source == first_target;
    }
};

/// One parameter of a rule. Checks, documentation and accepted values in C++ and Python follow from it.
struct RuleParameterInfo {
    enum class Kind : std::uint8_t {
        flag,     ///< true or false
        count,    ///< a whole number that is not negative
        real,     ///< a finite number
        indices,  ///< a list of indices of neurons within the sources or the targets
        pair_value,  ///< a number, or a function of a pair
        mask,        ///< the targets around a source; without one, all
    };

    std::string_view name;  ///< "indegree", "probability", "allow_autapses", ...
    Kind kind = Kind::real;
    std::string_view unit = {};  ///< empty without a unit
    std::optional<double> default_value{};  ///< nothing: the user must give a value; for a flag, 1 is true
    Bounds bounds = any_number;
    std::string_view meaning;
};

/// The valid values as text.
std::string describe_values(const RuleParameterInfo& parameter);

/// A number for each pair: the same for all, or a function.
using PairValue = std::variant<double, std::shared_ptr<const PairFunction>>;

/// A value of a parameter, of the type given by its kind: numbers of a pair_value are a double, or a function that is not
/// null; no mask is null.
using RuleValue =
    std::variant<bool, std::uint64_t, double, SharedIndices, std::shared_ptr<const PairFunction>, Mask::Pointer>;

/// A value for a parameter.
struct RuleArgument {
    RuleArgument(std::string_view of, RuleValue given) : parameter(of), value(std::move(given)) {}
    template <std::integral Whole>
        requires(!std::same_as<Whole, bool> && !std::same_as<Whole, std::uint64_t>)
    RuleArgument(std::string_view of, Whole given) : parameter(of), value(static_cast<std::uint64_t>(given)) {}

    std::string_view parameter;
    RuleValue value;
};

struct RuleInfo;

/// Says that a rule makes the connections of another projection in the opposite direction. They have the same random
/// numbers, so that both directions of a pair are there or neither is.
struct Reversal {
    ProjectionId of;
    // Whether drawn weights and delays are those of the other projection, too.
    bool same_weights = false;
    bool same_delays = false;
};

/// A rule with values for its parameters, checked as far as possible without neurons.
class RuleSpec {
   public:
    /// @throws UnknownNameError for a name that is not a parameter of the rule, RuleError where a value is missing or
    /// conflicts with others, ValueOutOfBoundsError, ShapeError
    RuleSpec(const RuleInfo& info, std::span<const RuleArgument> arguments);
    /// @throws UnknownNameError also for the name of the rule
    RuleSpec(std::string_view rule, std::initializer_list<RuleArgument> arguments = {});

    const RuleInfo& info() const { return *info_; }
    std::string_view name() const;
    /// In the order of the parameters.
    std::span<const RuleValue> values() const { return values_; }

    /// The same rule, for the opposite direction of a projection that has it.
    RuleSpec reversed(const Reversal& reversal) const {
        RuleSpec turned = *this;
        turned.reversal_ = reversal;
        return turned;
    }
    const std::optional<Reversal>& reversal() const { return reversal_; }

    // The value of a parameter of this kind.
    bool flag(std::string_view parameter) const { return std::get<bool>(value(parameter)); }
    std::uint64_t count(std::string_view parameter) const { return std::get<std::uint64_t>(value(parameter)); }
    double real(std::string_view parameter) const { return std::get<double>(value(parameter)); }
    const SharedIndices& indices(std::string_view parameter) const { return std::get<SharedIndices>(value(parameter)); }
    PairValue pair_value(std::string_view parameter) const;
    const Mask::Pointer& mask(std::string_view parameter) const { return std::get<Mask::Pointer>(value(parameter)); }

    /// The mask of the pairs, of a rule that takes one; null: all pairs.
    Mask::Pointer limit() const;
    /// Whether it has a mask, or a function of positions.
    bool needs_positions() const;

   private:
    const RuleValue& value(std::string_view parameter) const;

    const RuleInfo* info_;
    std::vector<RuleValue> values_;
    std::optional<Reversal> reversal_;
};

class ProcessIndexes;

/// A rule bound to a pair space and a seed. Thread-safe, and immutable but for use().
///
/// Synapses are drawn per target or per source (the "major" neuron), and the partners of one major neuron are a
/// function of the seed, the projection and that neuron alone. The cost is proportional to the number of draws.
class RuleSampler {
   public:
    enum class Major : std::uint8_t { target, source };

    virtual ~RuleSampler() = default;

    virtual Major major() const = 0;

    /// The partners (indices within their range) of major neurons `begin, begin + stride, ...`, `count` of them, in
    /// ascending order of major neuron: `degrees[i]` partners of the i-th, appended to `partners`. Replaces the content
    /// of the vectors. The order of the partners of one neuron is part of the network: its weights are drawn in it.
    virtual void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
                      std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const = 0;

    /// Number of synapses in the whole projection: exact if the rule fixes it, otherwise its expectation.
    virtual double expected_synapses() const = 0;
    /// The same, if it is known without an estimate that takes long.
    virtual std::optional<double> known_synapses() const { return expected_synapses(); }
    /// Of the process whose indexes are used, where that is not about its share of the neurons: nothing if it is, or is
    /// not known. @pre use() was called
    virtual std::optional<double> expected_synapses_here() const { return std::nullopt; }
    /// Expected number of repeated pairs: 0 if the rule never repeats a pair.
    virtual double expected_repeats() const { return 0.0; }

    /// Length of arrays of weights or delays that fit the rule; nothing if synapses have no natural order.
    virtual std::optional<std::uint64_t> array_length() const = 0;
    /// Position in such an array of synapse `ordinal` of a major neuron.
    virtual std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const = 0;

    /// Bytes held by the sampler that grow with an array of the user, in addition to the array itself, or with the
    /// number of neurons; without those of ProcessIndexes.
    virtual std::uint64_t bytes() const { return 0; }

    /// How draw() draws, for rules that devices draw too; nothing for others.
    virtual std::optional<PartnerDraws> partner_draws() const { return std::nullopt; }

    /// Takes its index of neurons by their positions from those of a process. Then draw() is for its neurons only, unless
    /// major() is source.
    /// @param draws_here false: draw() is for all neurons nevertheless
    virtual void use(ProcessIndexes& /*indexes*/, bool /*draws_here*/ = true) {}

    /// Number of parts of the work that the first draw() would do by itself, such as a sum over all pairs.
    virtual std::uint64_t preparations() const { return 0; }
    /// Does one part: several threads may do parts at once, before the first draw(). @throws ValueOutOfBoundsError
    virtual void prepare(std::uint64_t /*part*/) const {}
};

/// The description of a rule: a constant in the file of the rule, listed in connect/rules/registry.hpp. The Python
/// class of the rule, named in CamelCase, is generated from it.
struct RuleInfo {
    std::string_view name;
    std::string_view summary;
    /// Further sentences for users: requirements on the neurons, order of arrays of weights and delays.
    std::string_view notes = {};
    std::span<const RuleParameterInfo> parameters;
    /// Checks values that depend on each other; null if there are none.
    /// @throws RuleError, ValueOutOfBoundsError, ShapeError
    void (*check)(const RuleSpec& spec) = nullptr;
    /// Checks the rule against the pair space and binds it.
    /// @throws RuleError when it cannot be applied, ValueOutOfBoundsError
    std::unique_ptr<RuleSampler> (*bind)(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                         ProjectionId projection) = nullptr;
};

/// All rules, by name.
std::span<const RuleInfo* const> rules();
/// @throws UnknownNameError
const RuleInfo& find_rule(std::string_view name);
/// @throws as RuleInfo::bind
std::unique_ptr<RuleSampler> bind_rule(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                       ProjectionId projection);

}  // namespace ranvier::connect
