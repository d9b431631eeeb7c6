#include "models/equations/program_synapse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "models/equations/program_rule.hpp"
#include "models/synapses/pair_plasticity.hpp"
#include "models/synapses/width_dispatch.hpp"
#include "program/domains.hpp"
#include "program/evaluate.hpp"
#include "program/intervals.hpp"
#include "program/operations.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

namespace {

using connect::TraceKind;
using program::Interval;
using program::Program;
using program::Type;

class SynapseChecker {
   public:
    explicit SynapseChecker(const SynapseProgramDescription& description) : description_(description) {}

    void check() const {
        if (description_.name.empty()) refuse("name", "''", "a model needs a name");
        check_synapse_parameters(description_.parameters,
                                 [&](const std::string& what, const std::string& value, const std::string& bound) {
                                     refuse(what, value, bound);
                                 });
        if (description_.parameters.empty() ||
            description_.parameters.back().name != pair_plasticity::axonal_fraction.name) {
            refuse("parameters", std::to_string(description_.parameters.size()),
                   "the last one must be axonal_fraction");
        }
        check_prepare();
        check_event("presynaptic", description_.presynaptic);
        check_event("postsynaptic", description_.postsynaptic);
    }

   private:
    [[noreturn]] void refuse(std::string_view what, std::string value, std::string bound) const {
        throw ValueOutOfBoundsError({.object = std::string(what) + " of synapse model '" + description_.name + "'",
                                     .value = std::move(value),
                                     .bound = std::move(bound),
                                     .remedy = "models are made of equations by ranvier.synapse()"});
    }
    void need(std::string_view what, std::size_t given, std::size_t wanted) const {
        if (given == wanted) return;
        throw ShapeError({.object = "number of " + std::string(what) + " of synapse model '" + description_.name + "'",
                          .value = std::to_string(given),
                          .bound = "there must be " + std::to_string(wanted),
                          .remedy = "models are made of equations by ranvier.synapse()"});
    }

    void check_prepare() const {
        (void)program::check(description_.prepare, "prepare of " + description_.name, false);
        need("inputs of 'prepare'", description_.prepare.inputs.size(), description_.parameters.size());
        for (const Type type : description_.prepare.inputs) check_type("an input of 'prepare'", type, Type::number);
        const std::vector<Type> types = program::result_types(description_.prepare);
        const auto need_result = [&](std::string_view what, std::uint32_t result, Type type) {
            if (result >= types.size()) refuse(what, std::to_string(result), "'prepare' has fewer results");
            check_type(what, types[result], type);
        };
        for (const SynapseProgramTrace& trace : description_.traces) {
            if (trace.is_read) need_result("a time constant", trace.time_constant, Type::number);
        }
        for (const Condition& condition : description_.conditions)
            need_result("a condition", condition.result, Type::truth);
    }
    void check_type(std::string_view what, Type given, Type wanted) const {
        if (given != wanted)
            refuse(what, std::string(to_string(given)), "it must be a " + std::string(to_string(wanted)));
    }

    void check_event(std::string_view what, const Program& event) const {
        const std::string name = std::string(what) + " program of " + description_.name;
        (void)program::check(event, name, false);
        need("inputs of the " + std::string(what) + " program", event.inputs.size(),
             description_.parameters.size() + 3);
        for (const Type type : event.inputs) check_type("an input of the " + name, type, Type::number);
        need("results of the " + std::string(what) + " program", event.results.size(), 1);
        check_type("the result of the " + name, program::result_types(event)[0], Type::number);
        for (const program::Instruction& instruction : event.instructions) {
            if (instruction.operation == program::Operation::loop) refuse(name, "a loop", "it can have none");
        }
    }

    const SynapseProgramDescription& description_;
};

/// Calculates the range of weights of synapses.
class WeightRange {
   public:
    WeightRange(const SynapseProgramDescription& description, std::span<const double> least,
                std::span<const double> greatest)
        : description_(description) {
        for (std::size_t i = 0; i < least.size(); ++i) parameters_.push_back({.low = least[i], .high = greatest[i]});
    }

    std::optional<std::pair<double, double>> find() const {
        const auto above = one_sided(1.0);
        const auto below = one_sided(-1.0);
        if (!above) return below;
        if (!below) return above;
        // The sign of each weight is preserved.
        return std::pair{below->first, above->second};
    }

    /// Ranges of the inputs of an event, for weights in some range.
    std::vector<Interval> inputs_of(const Program& event, const Interval& weights) const {
        const bool is_presynaptic = &event == &description_.presynaptic;
        const auto trace = [](bool accumulates) { return Interval{0.0, accumulates ? infinity : 1.0}; };
        const Interval of_presynaptic = trace(description_.presynaptic_traces_accumulate);
        const Interval of_postsynaptic = trace(description_.postsynaptic_traces_accumulate);
        std::vector<Interval> inputs{weights, is_presynaptic ? of_postsynaptic : of_presynaptic,
                                     is_presynaptic ? of_presynaptic : of_postsynaptic};
        inputs.insert(inputs.end(), parameters_.begin(), parameters_.end());
        return inputs;
    }

   private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    /// Bounds of weights of one sign, starting from 0: the bounds that events eventually reach from any weight.
    std::optional<std::pair<double, double>> one_sided(double sign) const {
        const Interval all = sign > 0.0 ? Interval{0.0, infinity} : Interval{-infinity, 0.0};
        for (const double far : ends_after(all, sign, true)) {
            const Interval range = sign > 0.0 ? Interval{0.0, far} : Interval{far, 0.0};
            if (keeps(range)) return narrowed(range, sign);
        }
        if (keeps(all)) return narrowed(all, sign);
        return std::nullopt;
    }
    /// The same for weights that also stay away from 0.
    std::pair<double, double> narrowed(const Interval& range, double sign) const {
        for (const double near : ends_after(range, sign, false)) {
            const Interval narrow = sign > 0.0 ? Interval{near, range.high} : Interval{range.low, near};
            if (narrow.low <= narrow.high && keeps(narrow)) return {narrow.low, narrow.high};
        }
        return {range.low, range.high};
    }

    /// The ends far from 0, or near to it, of the ranges of weights after each event, without 0 and infinity.
    std::vector<double> ends_after(const Interval& weights, double sign, bool far) const {
        std::vector<double> ends;
        for (const Program* const event : {&description_.presynaptic, &description_.postsynaptic}) {
            const Interval after = weights_after(*event, weights);
            const double end = (sign > 0.0) == far ? after.high : after.low;
            if (std::isfinite(end) && end * sign > 0.0) ends.push_back(end);
        }
        std::ranges::sort(ends, [&](double a, double b) { return (std::abs(a) < std::abs(b)) == far; });
        return ends;
    }
    bool keeps(const Interval& weights) const {
        return weights.contains(weights_after(description_.presynaptic, weights)) &&
               weights.contains(weights_after(description_.postsynaptic, weights));
    }

    Interval weights_after(const Program& event, const Interval& weights) const {
        return program::intervals_of(event, inputs_of(event, weights))[0];
    }

    const SynapseProgramDescription& description_;
    std::vector<Interval> parameters_;
};

/// Why an event may be undefined, such as a division by 0, or nothing.
std::optional<std::string> undefined_event(const SynapseProgramDescription& description, std::span<const double> least,
                                           std::span<const double> greatest) {
    const std::pair weights = weight_range(description, least, greatest).value_or(std::pair{0.0, 0.0});
    const WeightRange range(description, least, greatest);
    for (const bool is_presynaptic : {true, false}) {
        const Program& event = is_presynaptic ? description.presynaptic : description.postsynaptic;
        const auto inputs = range.inputs_of(event, {weights.first, weights.second});
        const program::DomainCheck found = program::check_domains(event, inputs)[0];
        if (!found.operation) continue;
        return std::string(is_presynaptic ? "on_pre" : "on_post") + program::undefined(*found.operation) +
               " (traces may have any value >= 0, and the weight any value in its range): write max(x, ...), or "
               "where(x > 0, ..., 0)";
    }
    return std::nullopt;
}

/// The parameter that is the time constant of a trace; nothing if the time constant is calculated from parameters.
std::optional<std::uint32_t> parameter_of(const SynapseProgramDescription& description,
                                          const SynapseProgramTrace& trace) {
    const std::uint32_t value = description.prepare.results[trace.time_constant];
    return value < description.parameters.size() ? std::optional(value) : std::nullopt;
}

/// Whether each parameter may differ between synapses: not if a time constant is calculated from it. Whether events
/// may divide by it, or take its root or logarithm, is checked with the range of weights.
std::vector<bool> may_differ(const SynapseProgramDescription& description) {
    std::vector<bool> may(description.parameters.size(), true);
    may.back() = false;  // the axonal part of the delay
    const std::vector<std::vector<bool>> inputs = program::dependencies(description.prepare);
    const auto share = [&](std::uint32_t result) {
        for (std::size_t i = 0; i < may.size(); ++i) may[i] = may[i] && !inputs[result][i];
    };
    for (const SynapseProgramTrace& trace : description.traces) {
        if (trace.is_read && !parameter_of(description, trace)) share(trace.time_constant);
    }
    return may;
}

std::vector<double> prepared(const SynapseProgramDescription& description, std::span<const double> parameters) {
    return program::evaluate(description.prepare, parameters);
}

class ProgramDynamics final : public WidthDispatch<ProgramDynamics> {
   public:
    ProgramDynamics(std::shared_ptr<const SynapseProgramDescription> description,
                    std::shared_ptr<const CompiledEventsLibrary> compiled, std::span<const double> parameters,
                    double resolution)
        : description_(std::move(description)),
          compiled_(std::move(compiled)),
          parameters_(parameters.begin(), parameters.end()),
          range_(weight_range(*description_, parameters_, parameters_).value_or(std::pair{0.0, 0.0})),
          resolution_(resolution) {}

    void use_per_synapse_parameters(std::vector<std::uint32_t> parameters,
                                    std::span<const std::pair<double, double>> ranges) override {
        std::vector<double> least = parameters_;
        std::vector<double> greatest = parameters_;
        for (std::size_t k = 0; k < parameters.size(); ++k) {
            std::tie(least[parameters[k]], greatest[parameters[k]]) = ranges[k];
        }
        range_ = weight_range(*description_, least, greatest).value_or(std::pair{0.0, 0.0});
        SynapseDynamics::use_per_synapse_parameters(std::move(parameters), ranges);
    }

    double least_weight() const override { return range_.first; }
    double greatest_weight() const override { return range_.second; }

    bool runs_on_device() const override { return true; }
    double axonal_fraction() const override { return parameters_.back(); }

    connect::PlasticTableMemory memory(bool double_weights) const override {
        return double_weights ? memory_of<double>() : memory_of<float>();
    }

   private:
    friend class WidthDispatch<ProgramDynamics>;

    /// The column of tables with the values of a parameter, if it differs between synapses.
    std::optional<std::size_t> column_of(std::uint32_t parameter) const {
        const auto per_synapse = per_synapse_parameters();
        const auto column = std::ranges::find(per_synapse, parameter);
        if (column == per_synapse.end()) return std::nullopt;
        return static_cast<std::size_t>(column - per_synapse.begin());
    }
    connect::Learning learning() const {
        const std::vector<double> made = prepared(*description_, parameters_);
        const auto steps = [&](TraceKind kind) {
            const SynapseProgramTrace& trace = description_->trace(kind);
            return trace.is_read ? made[trace.time_constant] / resolution_ : 1.0;
        };
        connect::Learning learning{.presynaptic_steps = steps(TraceKind::presynaptic),
                                   .postsynaptic_steps = steps(TraceKind::postsynaptic),
                                   .axonal_fraction = parameters_.back()};
        if (description_->trace(TraceKind::same_side_presynaptic).is_read)
            learning.same_side_presynaptic_steps = {steps(TraceKind::same_side_presynaptic)};
        if (description_->trace(TraceKind::same_side_postsynaptic).is_read)
            learning.same_side_postsynaptic_steps = {steps(TraceKind::same_side_postsynaptic)};
        learning.per_synapse_times.resolution = resolution_;
        for (std::size_t kind = 0; kind < connect::trace_kinds; ++kind) {
            const SynapseProgramTrace& trace = description_->traces[kind];
            const auto parameter = trace.is_read ? parameter_of(*description_, trace) : std::nullopt;
            if (parameter) learning.per_synapse_times.columns[kind] = column_of(*parameter);
        }
        return learning;
    }
    RuleParameters rule_parameters() const {
        return {.values = parameters_,
                .some_differ = !per_synapse_parameters().empty(),
                .per_synapse = read_by_events(*description_, per_synapse_parameters())};
    }
    template <class Real>
    connect::LearningRule<Real> rule(std::pmr::memory_resource* memory, std::optional<CompiledEvents> compiled) const {
        const RuleParameters parameters = rule_parameters();
        connect::LearningRule<Real> rule =
            make_program_rule<Real>(*description_, parameters, memory, std::move(compiled));
        for (std::size_t k = 0; k < parameters.per_synapse.size(); ++k) {
            rule.per_synapse.parameters[k].column = column_of(parameters.per_synapse[k]);
        }
        return rule;
    }
    template <class Real>
    connect::PlasticTableMemory memory_of() const {
        connect::PlasticTableMemory memory = connect::plastic_table_memory(learning(), rule<Real>(nullptr, {}));
        const ProgramRuleBytes bytes = program_rule_bytes<Real>(*description_, rule_parameters());
        memory.compiled_rule_bytes = bytes.compiled;
        memory.interpreted_rule_bytes = bytes.interpreted;
        return memory;
    }
    template <class Target, class Real>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Real> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        connect::Learning learned = learning();
        learned.quantum = arguments.quantum;
        return connect::make_plastic_table(std::move(columns), learned,
                                           rule<Real>(arguments.synapses, compiled<Real>(arguments)), arguments);
    }
    template <class Real>
    std::optional<CompiledEvents> compiled(const connect::PlasticTableArguments& arguments) const {
        if (!arguments.compiled_rules) return std::nullopt;
        return compiled_->find({.set = *arguments.compiled_rules,
                                .double_weights = std::is_same_v<Real, double>,
                                .per_synapse_parameters = rule_parameters().per_synapse});
    }

    std::shared_ptr<const SynapseProgramDescription> description_;
    std::shared_ptr<const CompiledEventsLibrary> compiled_;
    std::vector<double> parameters_;
    std::pair<double, double> range_;
    double resolution_;
};

}  // namespace

void check(const SynapseProgramDescription& description) { SynapseChecker(description).check(); }

std::uint64_t fingerprint_of(const SynapseProgramDescription& description) {
    DescriptionHash hash;
    hash.text(description.name);
    hash.text(description.weight_unit);
    add(hash, description.parameters);
    for (const SynapseProgramTrace& trace : description.traces) {
        hash.whole(trace.is_read ? trace.time_constant + std::uint64_t{1} : 0);
    }
    hash.whole((description.presynaptic_traces_accumulate ? 1 : 0) +
               (description.postsynaptic_traces_accumulate ? 2 : 0));
    add(hash, description.prepare);
    for (const Condition& condition : description.conditions) hash.whole(condition.result);
    add(hash, description.presynaptic);
    add(hash, description.postsynaptic);
    return hash.value();
}

std::optional<std::pair<double, double>> weight_range(const SynapseProgramDescription& description,
                                                      std::span<const double> least, std::span<const double> greatest) {
    const auto exact = WeightRange(description, least, greatest).find();
    if (!exact) return exact;
    // Parameters may be rounded; then the range holds for rounded ones, which must lie within it.
    const auto rounded = [](std::span<const double> values) {
        std::vector<double> made;
        for (const double value : values) made.push_back(rounded_parameter<float>(value));
        return made;
    };
    if (!WeightRange(description, rounded(least), rounded(greatest)).find()) return std::nullopt;
    return exact;
}

std::vector<std::uint32_t> read_by_events(const SynapseProgramDescription& description,
                                          std::span<const std::uint32_t> parameters) {
    std::vector<std::uint32_t> read;
    const auto before = program::dependencies(description.presynaptic);
    const auto after = program::dependencies(description.postsynaptic);
    // The last inputs of events are the parameters.
    const std::size_t first = description.presynaptic.inputs.size() - description.parameters.size();
    for (const std::uint32_t parameter : parameters) {
        if (before[0][first + parameter] || after[0][first + parameter]) read.push_back(parameter);
    }
    return read;
}

ProgramSynapse::ProgramSynapse(SynapseProgramDescription description) {
    check(description);
    description_ = std::make_shared<const SynapseProgramDescription>(std::move(description));
    parameters_ = infos_of(description_->parameters);
    const std::vector<bool> may = may_differ(*description_);
    for (std::size_t i = 0; i < may.size(); ++i) {
        if (may[i]) parameters_[i].per_synapse = PerSynapse::beginning;
    }
    model_ = {.name = description_->name,
              .summary = description_->summary,
              .equations = description_->equations,
              .reference = description_->reference,
              .parameters = parameters_,
              .weight_unit = description_->weight_unit,
              .user = this,
              .user_fingerprint = fingerprint_of(*description_)};
}

std::unique_ptr<connect::SynapseDynamics> ProgramSynapse::create(std::span<const double> values,
                                                                 double resolution) const {
    return std::make_unique<ProgramDynamics>(description_, compiled_, values, resolution);
}

std::array<double, 2> ProgramSynapse::changes(std::span<const double> values, double weight) const {
    const auto range = weight_range(*description_, values, values).value_or(std::pair{0.0, 0.0});
    const double farthest = std::abs(range.first) > std::abs(range.second) ? range.first : range.second;
    const double bound = std::isfinite(farthest) ? farthest : weight;
    if (bound == 0.0) return {0.0, 0.0};
    const auto change = [&](const Program& event) {
        double most = 0.0;
        for (const double part : {0.0, 0.5, 1.0}) {
            std::vector<double> inputs{part * bound, 1.0, 1.0};
            inputs.insert(inputs.end(), values.begin(), values.end());
            most = std::max(most, std::abs(program::evaluate(event, inputs)[0] - part * bound));
        }
        return most / std::abs(bound);
    };
    return {change(description_->postsynaptic), change(description_->presynaptic)};
}

std::vector<double> ProgramSynapse::time_constants(std::span<const double> values) const {
    const std::vector<double> made = prepared(*description_, values);
    std::vector<double> found;
    for (const SynapseProgramTrace& trace : description_->traces) {
        if (trace.is_read) found.push_back(made[trace.time_constant]);
    }
    return found;
}

std::optional<std::string> ProgramSynapse::conflict(std::span<const double> least, std::span<const double> greatest,
                                                    std::span<const std::uint32_t> per_synapse) const {
    for (const auto& values : {least, greatest}) {
        const std::vector<double> made = prepared(*description_, values);
        for (const Condition& condition : description_->conditions) {
            if (!program::lane::is_true(made[condition.result])) return condition.text;
        }
        for (const double time_constant : time_constants(values)) {
            if (pair_plasticity::time_constant.contains(time_constant)) continue;
            return "the time constant of a trace is " + to_text(time_constant) + " ms; it must be > 0 and <= 1e+05";
        }
    }
    if (read_by_events(*description_, per_synapse).size() > connect::most_rule_parameters) {
        return "synapses can have different values of at most " + std::to_string(connect::most_rule_parameters) +
               " parameters that events read";
    }
    if (auto unproven = conflict_of_events(least, greatest)) return unproven;
    return undefined_event(*description_, least, greatest);
}

std::optional<std::string> ProgramSynapse::conflict_of_events(std::span<const double> least,
                                                              std::span<const double> greatest) const {
    if (weight_range(*description_, least, greatest)) return std::nullopt;
    return "weights might change their sign or become infinite: write w = max(..., 0), or w = clip(w + ..., 0, W_max), "
           "where an event changes them";
}

}  // namespace ranvier::models
