#include "models/program_synapse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include "base/errors.hpp"
#include "models/pair_plasticity.hpp"
#include "models/program_rule.hpp"
#include "models/width_dispatch.hpp"
#include "program/evaluate.hpp"
#include "program/intervals.hpp"
#include "program/operations.hpp"

namespace ranvier::models {

namespace {

using connect::TraceKind;
using program::Interval;
using program::Program;
using program::Type;

class SynapseChecker {
   public:
    explicit SynapseChecker(const SynapseProgramDescription& description) : own_(description) {}

    void check() const {
        if (own_.name.empty()) refuse("name", "''", "a model needs a name");
        check_synapse_parameters(own_.parameters, [&](const std::string& what, const std::string& value,
                                                      const std::string& bound) { refuse(what, value, bound); });
        if (own_.parameters.empty() || own_.parameters.back().name != pair_plasticity::axonal_fraction.name) {
            refuse("parameters", std::to_string(own_.parameters.size()), "the last one must be axonal_fraction");
        }
        check_prepare();
        check_event("presynaptic", own_.presynaptic);
        check_event("postsynaptic", own_.postsynaptic);
    }

   private:
    [[noreturn]] void refuse(std::string_view what, std::string value, std::string bound) const {
        throw ValueOutOfBoundsError({.object = std::string(what) + " of synapse model '" + own_.name + "'",
                                     .value = std::move(value),
                                     .bound = std::move(bound),
                                     .remedy = "models are made of equations by ranvier.synapse()"});
    }
    void need(std::string_view what, std::size_t given, std::size_t wanted) const {
        if (given == wanted) return;
        throw ShapeError({.object = "number of " + std::string(what) + " of synapse model '" + own_.name + "'",
                          .value = std::to_string(given),
                          .bound = "there must be " + std::to_string(wanted),
                          .remedy = "models are made of equations by ranvier.synapse()"});
    }

    void check_prepare() const {
        (void)program::check(own_.prepare, "prepare of " + own_.name, false);
        need("inputs of 'prepare'", own_.prepare.inputs.size(), own_.parameters.size());
        for (const Type type : own_.prepare.inputs) check_type("an input of 'prepare'", type, Type::number);
        const std::vector<Type> types = program::result_types(own_.prepare);
        const auto need_result = [&](std::string_view what, std::uint32_t result, Type type) {
            if (result >= types.size()) refuse(what, std::to_string(result), "'prepare' has fewer results");
            check_type(what, types[result], type);
        };
        for (const SynapseProgramTrace& trace : own_.traces) {
            if (trace.is_read) need_result("a time constant", trace.time_constant, Type::number);
        }
        for (const Condition& condition : own_.conditions) need_result("a condition", condition.result, Type::truth);
    }
    void check_type(std::string_view what, Type given, Type wanted) const {
        if (given != wanted)
            refuse(what, std::string(to_string(given)), "it must be a " + std::string(to_string(wanted)));
    }

    void check_event(std::string_view what, const Program& event) const {
        const std::string name = std::string(what) + " program of " + own_.name;
        (void)program::check(event, name, false);
        need("inputs of the " + std::string(what) + " program", event.inputs.size(), own_.parameters.size() + 3);
        for (const Type type : event.inputs) check_type("an input of the " + name, type, Type::number);
        need("results of the " + std::string(what) + " program", event.results.size(), 1);
        check_type("the result of the " + name, program::result_types(event)[0], Type::number);
        for (const program::Instruction& instruction : event.instructions) {
            if (instruction.operation == program::Operation::loop) refuse(name, "a loop", "it can have none");
        }
    }

    const SynapseProgramDescription& own_;
};

/// Calculates in which weights those of synapses stay.
class WeightRange {
   public:
    WeightRange(const SynapseProgramDescription& description, std::span<const double> parameters)
        : own_(description), parameters_(parameters) {}

    std::optional<std::pair<double, double>> find() const {
        const auto above = one_sided(1.0);
        const auto below = one_sided(-1.0);
        if (!above) return below;
        if (!below) return above;
        // Each weight keeps the sign that it has.
        return std::pair{below->first, above->second};
    }

   private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    /// Weights of one sign, which begin at 0. Bounds are those where an event leaves weights at last, wherever they were.
    std::optional<std::pair<double, double>> one_sided(double sign) const {
        const Interval all = sign > 0.0 ? Interval{0.0, infinity} : Interval{-infinity, 0.0};
        for (const double far : ends_after(all, sign, true)) {
            const Interval range = sign > 0.0 ? Interval{0.0, far} : Interval{far, 0.0};
            if (keeps(range)) return narrowed(range, sign);
        }
        if (keeps(all)) return narrowed(all, sign);
        return std::nullopt;
    }
    /// The same, where weights keep away from 0, too.
    std::pair<double, double> narrowed(const Interval& range, double sign) const {
        for (const double near : ends_after(range, sign, false)) {
            const Interval narrow = sign > 0.0 ? Interval{near, range.high} : Interval{range.low, near};
            if (narrow.low <= narrow.high && keeps(narrow)) return {narrow.low, narrow.high};
        }
        return {range.low, range.high};
    }

    /// The ends far from 0, or near to it, of the weights after each of the events; 0 and what is infinite left out.
    std::vector<double> ends_after(const Interval& weights, double sign, bool far) const {
        std::vector<double> ends;
        for (const Program* const event : {&own_.presynaptic, &own_.postsynaptic}) {
            const Interval after = weights_after(*event, weights);
            const double end = (sign > 0.0) == far ? after.high : after.low;
            if (std::isfinite(end) && end * sign > 0.0) ends.push_back(end);
        }
        std::ranges::sort(ends, [&](double a, double b) { return (std::abs(a) < std::abs(b)) == far; });
        return ends;
    }
    bool keeps(const Interval& weights) const {
        return weights.contains(weights_after(own_.presynaptic, weights)) &&
               weights.contains(weights_after(own_.postsynaptic, weights));
    }

    Interval weights_after(const Program& event, const Interval& weights) const {
        const bool is_presynaptic = &event == &own_.presynaptic;
        const auto trace = [](bool accumulates) { return Interval{0.0, accumulates ? infinity : 1.0}; };
        const Interval of_presynaptic = trace(own_.presynaptic_traces_accumulate);
        const Interval of_postsynaptic = trace(own_.postsynaptic_traces_accumulate);
        std::vector<Interval> inputs{weights, is_presynaptic ? of_postsynaptic : of_presynaptic,
                                     is_presynaptic ? of_presynaptic : of_postsynaptic};
        for (const double value : parameters_) inputs.push_back(Interval::of(value));
        return program::intervals_of(event, inputs)[0];
    }

    const SynapseProgramDescription& own_;
    std::span<const double> parameters_;
};

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
          range_(weight_range(*description_, parameters_).value_or(std::pair{0.0, 0.0})),
          resolution_(resolution) {}

    double least_weight() const override { return range_.first; }
    double greatest_weight() const override { return range_.second; }

    connect::PlasticTableMemory memory(bool double_weights) const override {
        return double_weights ? memory_of<double>() : memory_of<float>();
    }

   private:
    friend class WidthDispatch<ProgramDynamics>;

    connect::Learning learning() const {
        const std::vector<double> made = prepared(*description_, parameters_);
        const auto steps = [&](TraceKind kind) {
            const SynapseProgramTrace& trace = description_->trace(kind);
            return trace.is_read ? made[trace.time_constant] / resolution_ : 1.0;
        };
        connect::Learning learning{.presynaptic_steps = steps(TraceKind::presynaptic),
                                   .postsynaptic_steps = steps(TraceKind::postsynaptic),
                                   .axonal_fraction = parameters_.back()};
        if (description_->trace(TraceKind::own_presynaptic).is_read)
            learning.own_presynaptic_steps = {steps(TraceKind::own_presynaptic)};
        if (description_->trace(TraceKind::own_postsynaptic).is_read)
            learning.own_postsynaptic_steps = {steps(TraceKind::own_postsynaptic)};
        return learning;
    }
    template <class Real>
    connect::PlasticTableMemory memory_of() const {
        connect::PlasticTableMemory memory =
            connect::plastic_table_memory(learning(), make_program_rule<Real>(*description_, parameters_, nullptr, {}));
        const ProgramRuleBytes bytes = program_rule_bytes<Real>(*description_, parameters_);
        memory.compiled_rule_bytes = bytes.compiled;
        memory.interpreted_rule_bytes = bytes.interpreted;
        return memory;
    }
    template <class Target, class Real>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Real> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        connect::Learning own = learning();
        own.quantum = arguments.quantum;
        return connect::make_plastic_table(
            std::move(columns), own,
            make_program_rule<Real>(*description_, parameters_, arguments.synapses, compiled<Real>(arguments)),
            arguments);
    }
    template <class Real>
    std::optional<CompiledEvents> compiled(const connect::PlasticTableArguments& arguments) const {
        if (!arguments.compiled_rules) return std::nullopt;
        return compiled_->find(
            {.set = *arguments.compiled_rules, .double_weights = std::is_same_v<Real, double>, .own_parameters = {}});
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
                                                      std::span<const double> parameters) {
    const auto exact = WeightRange(description, parameters).find();
    if (!exact) return exact;
    // Parameters may be rounded: then the range is that of the rounded ones, which must be there, too.
    std::vector<double> rounded;
    for (const double value : parameters) rounded.push_back(rounded_parameter<float>(value));
    if (!WeightRange(description, rounded).find()) return std::nullopt;
    return exact;
}

ProgramSynapse::ProgramSynapse(SynapseProgramDescription description) {
    check(description);
    description_ = std::make_shared<const SynapseProgramDescription>(std::move(description));
    parameters_ = infos_of(description_->parameters);
    model_ = {.name = description_->name,
              .summary = description_->summary,
              .equations = description_->equations,
              .reference = description_->reference,
              .parameters = parameters_,
              .weight_unit = description_->weight_unit,
              .own = this,
              .own_fingerprint = fingerprint_of(*description_)};
}

std::unique_ptr<connect::SynapseDynamics> ProgramSynapse::create(std::span<const double> values,
                                                                 double resolution) const {
    return std::make_unique<ProgramDynamics>(description_, compiled_, values, resolution);
}

std::array<double, 2> ProgramSynapse::changes(std::span<const double> values, double weight) const {
    const auto range = weight_range(*description_, values).value_or(std::pair{0.0, 0.0});
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

std::optional<std::string> ProgramSynapse::conflict(std::span<const double> values) const {
    const std::vector<double> made = prepared(*description_, values);
    for (const Condition& condition : description_->conditions) {
        if (!program::lane::is_true(made[condition.result])) return condition.text;
    }
    for (const double time_constant : time_constants(values)) {
        if (pair_plasticity::time_constant.contains(time_constant)) continue;
        return "the time constant of a trace is " + to_text(time_constant) + " ms; it must be > 0 and <= 1e+05";
    }
    if (!weight_range(*description_, values)) {
        return "weights might change their sign or become infinite: write w = max(..., 0), or "
               "w = clip(w + ..., 0, W_max), where an event changes them";
    }
    return std::nullopt;
}

}  // namespace ranvier::models
