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

/// What comes before the parameters of the mechanism: what gates follow, and the temperature.
std::size_t other_inputs(Follows follows) { return follows == Follows::both ? 3 : 2; }

[[noreturn]] void refuse(const ChannelDescription& own, const std::string& what, std::size_t value,
                         const std::string& bound) {
    throw ShapeError({.object = what + " of channel '" + own.name + "'",
                      .value = std::to_string(value),
                      .bound = bound,
                      .remedy = "channels are made of equations by ranvier.channel()"});
}

void check(const program::Program& program, std::size_t inputs, std::size_t results, const ChannelDescription& own,
           const std::string& what) {
    const auto types = program::check(program, what + " of channel '" + own.name + "'", false);
    const auto is_number = [](program::Type type) { return type == program::Type::number; };
    if (program.inputs.size() != inputs || !std::ranges::all_of(program.inputs, is_number)) {
        refuse(own, "inputs of " + what, program.inputs.size(), "they must be " + counted(inputs, "number"));
    }
    if (program.results.size() != results ||
        !std::ranges::all_of(program.results, [&](std::uint32_t result) { return is_number(types[result]); })) {
        refuse(own, "results of " + what, program.results.size(), "they must be " + counted(results, "number"));
    }
}

void check(const ChannelDescription& own) {
    const std::size_t parameters = own.parameters.size();
    const std::size_t inputs = other_inputs(own.follows) + parameters;
    for (const ChannelDescription::Gate& gate : own.gates) {
        check(gate.rates, inputs, 2, own, "rates of gate " + gate.name);
        if (gate.initial) check(*gate.initial, inputs, 1, own, "initial value of " + gate.name);
    }
    check(own.derive, own.derive.inputs.size(), parameters, own, "parameters");
    for (const ChannelDescription::Term& term : own.terms) {
        const std::size_t last = std::max(term.conductance, term.reversal);
        if (last >= parameters) refuse(own, "parameter of a current", last, "there is no parameter with this number");
        if (term.gates.size() > KernelCurrent::most_gates) {
            refuse(own, "gates of a current", term.gates.size(),
                   "there can be at most " + std::to_string(KernelCurrent::most_gates));
        }
        if (term.carries_calcium && term.gates.empty()) {
            refuse(own, "gates of a current of calcium", 0, "such a current has gates");
        }
        for (const GatePower power : term.gates) {
            if (power.gate >= own.gates.size()) refuse(own, "gate of a current", power.gate, "there is no such gate");
        }
    }
    for (const ChannelDescription::Current& current : own.currents) {
        for (const std::uint32_t term : current.terms) {
            if (term >= own.terms.size()) refuse(own, "part of a current", term, "there is no such part");
        }
    }
}

void add(DescriptionHash& hash, const ChannelDescription::Gate& gate) {
    hash.text(gate.name);
    models::add(hash, gate.rates);
    hash.whole(gate.initial ? 1 : 0);
    if (gate.initial) models::add(hash, *gate.initial);
}

/// Of all that it does and is called; values of parameters are those of the cell.
std::uint64_t fingerprint_of(const ChannelDescription& own) {
    DescriptionHash hash;
    hash.whole(own.gates.size());
    if (own.follows != Follows::potential) hash.whole(static_cast<std::uint64_t>(own.follows));
    for (const ChannelDescription::Gate& gate : own.gates) add(hash, gate);
    hash.whole(own.terms.size());
    for (const ChannelDescription::Term& term : own.terms) {
        for (const std::size_t number :
             {std::size_t{term.conductance}, std::size_t{term.reversal}, term.gates.size()}) {
            hash.whole(number);
        }
        for (const GatePower power : term.gates) hash.whole(std::uint64_t{power.gate} << 32 | power.power);
        if (term.carries_calcium) hash.text("calcium");
    }
    hash.whole(own.currents.size());
    for (const ChannelDescription::Current& current : own.currents) {
        hash.text(current.name);
        hash.whole(current.terms.size());
        for (const std::uint32_t term : current.terms) hash.whole(term);
    }
    // 0 is that of what comes with Ranvier.
    return hash.value() | 1;
}

}  // namespace

Channel::Channel(ChannelDescription description) : own_(std::move(description)) {
    check(own_);
    for (const models::ProgramParameter& own : own_.parameters) {
        parameters_.push_back({own.name, own.unit, own.default_value, own.bounds, own.meaning});
    }
    for (const ChannelDescription::Gate& own : own_.gates) {
        gates_.push_back({.name = own.name,
                          .meaning = own.meaning,
                          .follows = own_.follows,
                          .program = &own.rates,
                          .initial = own.initial ? &*own.initial : nullptr});
    }
    for (const ChannelDescription::Term& own : own_.terms) {
        currents_.push_back({.name = own_.name,
                             .conductance = own.conductance,
                             .reversal = own.reversal,
                             .gates = own.gates,
                             .carries_calcium = own.carries_calcium});
    }
    for (const ChannelDescription::Current& own : own_.currents) {
        sums_.push_back({.name = own.name, .currents = own.terms});
    }
    model_ = {.name = own_.name,
              .summary = own_.summary,
              .equations = own_.equations,
              .reference = own_.reference,
              .parameters = parameters_,
              .gates = gates_,
              .currents = currents_,
              .sums = sums_,
              .fingerprint = fingerprint_of(own_)};
}

std::vector<double> Channel::derive(std::span<const double> given) const {
    if (given.size() != own_.derive.inputs.size()) {
        refuse(own_, "given values", given.size(), "there must be " + std::to_string(own_.derive.inputs.size()));
    }
    return program::evaluate(own_.derive, given);
}

}  // namespace ranvier::cable
