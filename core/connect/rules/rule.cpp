#include "ranvier/connect/rules/rule.hpp"

#include <cmath>
#include <type_traits>

#include "base/registry.hpp"
#include "connect/rules/reversed.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {

using Kind = RuleParameterInfo::Kind;

constexpr Registry<RuleInfo> registry("connection rule", all_rules);

std::string object_of(const RuleInfo& rule, const RuleParameterInfo& parameter) {
    return std::string(parameter.name) + " of rule '" + std::string(rule.name) + "'";
}

std::string bound_of(const Bounds& bounds) {
    const bool is_open = bounds.lower_open || bounds.upper_open;
    if (!is_open && std::isfinite(bounds.lower) && std::isfinite(bounds.upper)) {
        return "it must be from " + to_text(bounds.lower) + " to " + to_text(bounds.upper);
    }
    return "it must be " + describe(bounds);
}

bool keeps_bounds(const RuleParameterInfo& parameter, const RuleValue& value) {
    if (const auto* const count = std::get_if<std::uint64_t>(&value)) {
        return parameter.bounds.contains(static_cast<double>(*count));
    }
    const auto* const real = std::get_if<double>(&value);
    return real == nullptr || (parameter.bounds.contains(*real) && std::isfinite(*real));
}

std::string text_of(const RuleValue& value) {
    return std::visit(
        [](const auto& given) -> std::string {
            using Value = std::decay_t<decltype(given)>;
            if constexpr (std::is_same_v<Value, bool>) return given ? "true" : "false";
            if constexpr (std::is_same_v<Value, std::uint64_t>) return std::to_string(given);
            if constexpr (std::is_same_v<Value, double>) return to_text(given);
            if constexpr (std::is_same_v<Value, std::shared_ptr<const PairFunction>>) return "'" + given->text() + "'";
            if constexpr (std::is_same_v<Value, Mask::Pointer>) return "a mask";
            return "a list";
        },
        value);
}

bool has_type(const RuleParameterInfo& parameter, const RuleValue& value) {
    switch (parameter.kind) {
        case Kind::flag:
            return std::holds_alternative<bool>(value);
        case Kind::count:
            return std::holds_alternative<std::uint64_t>(value);
        case Kind::real:
            return std::holds_alternative<double>(value);
        case Kind::indices:
            return std::holds_alternative<SharedIndices>(value);
        case Kind::pair_value:
            return std::holds_alternative<double>(value) ||
                   std::holds_alternative<std::shared_ptr<const PairFunction>>(value);
        case Kind::mask:
            break;
    }
    return std::holds_alternative<Mask::Pointer>(value);
}

void check_value(const RuleInfo& rule, const RuleParameterInfo& parameter, const RuleValue& value) {
    if (const auto* const function = std::get_if<std::shared_ptr<const PairFunction>>(&value);
        function != nullptr && (*function)->draws()) {
        throw ValueOutOfBoundsError({.object = object_of(rule, parameter),
                                     .value = text_of(value),
                                     .bound = "it must not draw random numbers",
                                     .remedy = "give an expression of the pair: the rule draws with its value"});
    }
    if (!has_type(parameter, value)) {
        throw ValueOutOfBoundsError({.object = object_of(rule, parameter),
                                     .value = text_of(value),
                                     .bound = "it must be " + describe_values(parameter),
                                     .remedy = "give a value of this type"});
    }
    if (keeps_bounds(parameter, value)) return;
    throw ValueOutOfBoundsError({.object = object_of(rule, parameter),
                                 .value = text_of(value),
                                 .bound = bound_of(parameter.bounds),
                                 .remedy = "give a value within the bounds"});
}

void check_names(const RuleInfo& rule, std::span<const RuleArgument> arguments) {
    std::vector<std::string_view> known;
    for (const RuleParameterInfo& parameter : rule.parameters) known.push_back(parameter.name);
    for (const RuleArgument& argument : arguments) {
        if (std::ranges::find(known, argument.parameter) == known.end()) {
            throw unknown_name("parameter of rule '" + std::string(rule.name) + "'", argument.parameter, known);
        }
    }
}

RuleValue default_of(const RuleInfo& rule, const RuleParameterInfo& parameter) {
    if (parameter.kind == Kind::mask) return Mask::Pointer();
    const std::optional<double>& value = parameter.default_value;
    if (!value || parameter.kind == Kind::indices) {
        throw RuleError({.object = "rule '" + std::string(rule.name) + "'",
                         .value = {},
                         .bound = "it needs " + std::string(parameter.name),
                         .remedy = "give a value for it"});
    }
    if (parameter.kind == Kind::flag) return *value != 0.0;
    if (parameter.kind == Kind::count) return static_cast<std::uint64_t>(*value);
    return *value;
}

}  // namespace

std::string describe_values(const RuleParameterInfo& parameter) {
    switch (parameter.kind) {
        case Kind::flag:
            return "true or false";
        case Kind::count:
            return "a whole number >= " + to_text(std::max(0.0, parameter.bounds.lower)) +
                   (std::isfinite(parameter.bounds.upper) ? " and <= " + to_text(parameter.bounds.upper) : "");
        case Kind::real:
            return describe(parameter.bounds);
        case Kind::pair_value:
            return describe(parameter.bounds) + ", or an expression of the pair";
        case Kind::mask:
            return "a mask";
        case Kind::indices:
            break;
    }
    return "whole numbers";
}

std::span<const RuleInfo* const> rules() { return registry.items(); }

const RuleInfo& find_rule(std::string_view name) { return registry.find(name); }

std::unique_ptr<RuleSampler> bind_rule(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                       ProjectionId projection) {
    if (!spec.reversal()) return spec.info().bind(spec, pairs, seed, projection);
    return reversed(spec.info().bind(spec, reversed(pairs), seed, spec.reversal()->of));
}

RuleSpec::RuleSpec(const RuleInfo& info, std::span<const RuleArgument> arguments) : info_(&info) {
    check_names(info, arguments);
    for (const RuleParameterInfo& parameter : info.parameters) {
        const auto given = std::ranges::find(arguments, parameter.name, &RuleArgument::parameter);
        values_.push_back(given == arguments.end() ? default_of(info, parameter) : given->value);
        check_value(info, parameter, values_.back());
    }
    if (info.check != nullptr) info.check(*this);
}

RuleSpec::RuleSpec(std::string_view rule, std::initializer_list<RuleArgument> arguments)
    : RuleSpec(find_rule(rule), std::span(arguments.begin(), arguments.size())) {}

std::string_view RuleSpec::name() const { return info_->name; }

Mask::Pointer RuleSpec::limit() const {
    for (const RuleValue& value : values_) {
        if (const auto* const mask = std::get_if<Mask::Pointer>(&value); mask != nullptr && *mask != nullptr) {
            return *mask;
        }
    }
    return nullptr;
}

bool RuleSpec::needs_positions() const {
    return std::ranges::any_of(values_, [](const RuleValue& value) {
        const auto* const function = std::get_if<std::shared_ptr<const PairFunction>>(&value);
        const auto* const mask = std::get_if<Mask::Pointer>(&value);
        return (function != nullptr && (*function)->is_spatial()) || (mask != nullptr && *mask != nullptr);
    });
}

PairValue RuleSpec::pair_value(std::string_view parameter) const {
    const RuleValue& given = value(parameter);
    if (const auto* const number = std::get_if<double>(&given)) return *number;
    return std::get<std::shared_ptr<const PairFunction>>(given);
}

const RuleValue& RuleSpec::value(std::string_view parameter) const {
    const auto found = std::ranges::find(info_->parameters, parameter, &RuleParameterInfo::name);
    if (found == info_->parameters.end()) {
        throw InternalError("rule " + std::string(info_->name) + " has no parameter " + std::string(parameter));
    }
    return values_[static_cast<std::size_t>(found - info_->parameters.begin())];
}

}  // namespace ranvier::connect
