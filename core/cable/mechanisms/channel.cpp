#include "ranvier/cable/mechanisms/channel.hpp"

#include <algorithm>
#include <utility>

#include "base/counted.hpp"
#include "cable/kernels/class_kernel.hpp"
#include "program/evaluate.hpp"
#include "ranvier/base/description_hash.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

/// Number of inputs before the parameters of the mechanism: the inputs of gates, and the temperature.
std::size_t other_inputs(Follows follows) { return follows == Follows::both ? 3 : 2; }

[[noreturn]] void refuse(const ChannelDescription& description, const std::string& what, std::size_t value,
                         const std::string& bound) {
    throw ShapeError({.object = what + " of channel '" + description.name + "'",
                      .value = std::to_string(value),
                      .bound = bound,
                      .remedy = "channels are made of equations by ranvier.channel()"});
}

void check(const program::Program& program, std::size_t inputs, std::size_t results,
           const ChannelDescription& description, const std::string& what) {
    const auto types = program::check(program, what + " of channel '" + description.name + "'", false);
    const auto is_number = [](program::Type type) { return type == program::Type::number; };
    if (program.inputs.size() != inputs || !std::ranges::all_of(program.inputs, is_number)) {
        refuse(description, "inputs of " + what, program.inputs.size(), "they must be " + counted(inputs, "number"));
    }
    if (program.results.size() != results ||
        !std::ranges::all_of(program.results, [&](std::uint32_t result) { return is_number(types[result]); })) {
        refuse(description, "results of " + what, program.results.size(), "they must be " + counted(results, "number"));
    }
}

void check(const ChannelDescription& description) {
    const std::size_t parameters = description.parameters.size();
    const std::size_t inputs = other_inputs(description.follows) + parameters;
    for (const ChannelDescription::Gate& gate : description.gates) {
        check(gate.rates, inputs, 2, description, "rates of gate " + gate.name);
        if (gate.initial) check(*gate.initial, inputs, 1, description, "initial value of " + gate.name);
    }
    check(description.derive, description.derive.inputs.size(), parameters, description, "parameters");
    for (const ChannelDescription::Term& term : description.terms) {
        const std::size_t last = std::max(term.conductance, term.reversal);
        if (last >= parameters)
            refuse(description, "parameter of a current", last, "there is no parameter with this number");
        if (term.gates.size() > KernelCurrent::most_gates) {
            refuse(description, "gates of a current", term.gates.size(),
                   "there can be at most " + std::to_string(KernelCurrent::most_gates));
        }
        if (term.carries_calcium && term.gates.empty()) {
            refuse(description, "gates of a current of calcium", 0, "such a current has gates");
        }
        for (const GatePower power : term.gates) {
            if (power.gate >= description.gates.size())
                refuse(description, "gate of a current", power.gate, "there is no such gate");
        }
    }
    for (const ChannelDescription::Current& current : description.currents) {
        for (const std::uint32_t term : current.terms) {
            if (term >= description.terms.size())
                refuse(description, "part of a current", term, "there is no such part");
        }
    }
}

void add(DescriptionHash& hash, const ChannelDescription::Gate& gate) {
    hash.text(gate.name);
    models::add(hash, gate.rates);
    hash.whole(gate.initial ? 1 : 0);
    if (gate.initial) models::add(hash, *gate.initial);
}

/// Hash of behaviour and names; values of parameters belong to the cell.
std::uint64_t fingerprint_of(const ChannelDescription& description) {
    DescriptionHash hash;
    hash.whole(description.gates.size());
    if (description.follows != Follows::potential) hash.whole(static_cast<std::uint64_t>(description.follows));
    for (const ChannelDescription::Gate& gate : description.gates) add(hash, gate);
    hash.whole(description.terms.size());
    for (const ChannelDescription::Term& term : description.terms) {
        for (const std::size_t number :
             {std::size_t{term.conductance}, std::size_t{term.reversal}, term.gates.size()}) {
            hash.whole(number);
        }
        for (const GatePower power : term.gates) hash.whole(std::uint64_t{power.gate} << 32 | power.power);
        if (term.carries_calcium) hash.text("calcium");
    }
    hash.whole(description.currents.size());
    for (const ChannelDescription::Current& current : description.currents) {
        hash.text(current.name);
        hash.whole(current.terms.size());
        for (const std::uint32_t term : current.terms) hash.whole(term);
    }
    // Built-in mechanisms have the fingerprint 0.
    return hash.value() | 1;
}

}  // namespace

Channel::Channel(ChannelDescription description) : description_(std::move(description)) {
    check(description_);
    for (const models::ProgramParameter& parameter : description_.parameters) {
        parameters_.push_back(
            {parameter.name, parameter.unit, parameter.default_value, parameter.bounds, parameter.meaning});
    }
    for (const ChannelDescription::Gate& gate : description_.gates) {
        gates_.push_back({.name = gate.name,
                          .meaning = gate.meaning,
                          .follows = description_.follows,
                          .program = &gate.rates,
                          .initial = gate.initial ? &*gate.initial : nullptr});
    }
    for (const ChannelDescription::Term& term : description_.terms) {
        currents_.push_back({.name = description_.name,
                             .conductance = term.conductance,
                             .reversal = term.reversal,
                             .gates = term.gates,
                             .carries_calcium = term.carries_calcium});
    }
    for (const ChannelDescription::Current& current : description_.currents) {
        sums_.push_back({.name = current.name, .currents = current.terms});
    }
    model_ = {.name = description_.name,
              .summary = description_.summary,
              .equations = description_.equations,
              .reference = description_.reference,
              .parameters = parameters_,
              .gates = gates_,
              .currents = currents_,
              .sums = sums_,
              .fingerprint = fingerprint_of(description_)};
}

std::vector<double> Channel::derive(std::span<const double> given) const {
    if (given.size() != description_.derive.inputs.size()) {
        refuse(description_, "given values", given.size(),
               "there must be " + std::to_string(description_.derive.inputs.size()));
    }
    return program::evaluate(description_.derive, given);
}

}  // namespace ranvier::cable
