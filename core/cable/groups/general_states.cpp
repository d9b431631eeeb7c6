#include "cable/groups/general_states.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/math.hpp"
#include "cable/kernels/calcium_kernel.hpp"
#include "program/kernels.hpp"

namespace ranvier::cable {

namespace {

std::size_t padded_size(std::size_t places) {
    return (places + program::lanes_of_kernel - 1) / program::lanes_of_kernel * program::lanes_of_kernel;
}

/// Numbers by place, padded with that of the first place.
template <class Read>
AlignedVector<double> by_place(std::span<const GeneralPlace> places, std::pmr::memory_resource* memory, Read read) {
    AlignedVector<double> values(memory);
    for (const GeneralPlace& each : places) values.push_back(read(*each.plan, each.place));
    values.resize(padded_size(places.size()), values.front());
    return values;
}

/// The constant inputs of programs, needed only while these are made.
struct Constants {
    Constants(std::span<const GeneralPlace> places, std::pmr::memory_resource* memory) {
        externals.resize(external_count, AlignedVector<double>(memory));
        const auto set = [&](External external, auto read) {
            externals[static_cast<std::size_t>(external)] = by_place(places, memory, read);
        };
        set(External::outside, [](const GeneralPlan& plan, std::size_t place) { return plan.outside[place]; });
        set(External::diameter, [](const GeneralPlan& plan, std::size_t place) { return plan.diameter[place]; });
        set(External::area, [](const GeneralPlan& plan, std::size_t place) { return plan.area[place]; });
        for (std::size_t p = 0; p < places.front().plan->parameters.size(); ++p) {
            parameters.push_back(by_place(
                places, memory, [&](const GeneralPlan& plan, std::size_t place) { return plan.parameters[p][place]; }));
        }
    }

    std::vector<AlignedVector<double>> externals;
    std::vector<AlignedVector<double>> parameters;

    GeneralProgram::Fixed fixed(double celsius, double step) const { return {celsius, step, externals, parameters}; }
};

GeneralProgram make(const program::Program& program, GeneralProgram::Results results, const GeneralPlaces& given,
                    const GeneralStates::Settings& settings, double step, std::pmr::memory_resource* memory) {
    const Constants constants(given.places, memory);
    return {program,      given.model->general->states.size(),
            results,      constants.fixed(settings.celsius, step),
            settings.set, memory};
}

bool all_numbers(const double* values, std::size_t count) {
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) any |= !(std::abs(values[i]) <= std::numeric_limits<double>::max());
    return !any;
}

}  // namespace

GeneralStates::Mechanism::Mechanism(const GeneralPlaces& given, const Settings& settings,
                                    std::pmr::memory_resource* memory)
    : painted(given.painted),
      general(given.model->general),
      places(given.places.begin(), given.places.end(), memory),
      slots(memory),
      jumps(memory),
      padded(padded_size(places.size())),
      covered(by_place(places, memory, [](const auto& plan, std::size_t k) { return plan.covered[k]; })),
      surface(by_place(places, memory, [](const auto& plan, std::size_t k) { return plan.surface[k]; })),
      outside_logarithm(
          by_place(places, memory, [](const auto& plan, std::size_t k) { return math::log(plan.outside[k]); })),
      current(make(*general->current, GeneralProgram::Results::apart, given, settings, settings.step, memory)),
      step(make(*general->step, GeneralProgram::Results::in_place, given, settings, settings.step, memory)),
      state(settings.blocks * general->states.size() * padded, 0.0, memory),
      predicted(memory),
      results(2 * general->currents.size() * padded, 0.0, memory),
      before(memory) {
    // The calcium current of a step is not known before the step.
    if (settings.scheme == Scheme::staggered && !general->reads_calcium_current) {
        half.emplace(
            make(*general->step, GeneralProgram::Results::apart, given, settings, 0.5 * settings.step, memory));
        predicted.assign(general->states.size() * padded, 0.0);
    }
    const bool carries = std::ranges::any_of(general->currents, &GeneralCurrentInfo::carries_calcium);
    if (carries) before.assign(padded, 0.0);
    receptor = places.front().plan->receptor;
    for (GeneralPlace& place : places) {
        if (receptor) {
            const std::vector<double>& own = place.plan->jumps[place.place];
            jumps.insert(jumps.end(), own.begin(), own.end());
        }
        slots.push_back(place.plan->slots[place.place]);
        place.plan = nullptr;
    }
}

GeneralStates::GeneralStates(std::span<const GeneralPlaces> mechanisms, Settings settings,
                             std::pmr::memory_resource* memory)
    : settings_(std::move(settings)), inputs_(memory), flow_(settings_.gains.size(), 0.0, memory) {
    for (const GeneralPlaces& each : mechanisms) {
        const Mechanism& own = mechanisms_.emplace_back(each, settings_, memory);
        inputs_.reserve(own.padded);
        failures_.resize(std::max(failures_.size(), own.padded / 8), 0);
        moves_calcium_ = moves_calcium_ || !own.before.empty();
    }
    moves_calcium_ = moves_calcium_ && has_pools();
}

double& GeneralStates::state(std::size_t mechanism, std::size_t block, std::size_t place, std::size_t state) {
    Mechanism& own = mechanisms_[mechanism];
    return own.states_of(block)[state * own.padded + place];
}

void GeneralStates::gather(const Mechanism& own, const double* potential, bool at_gather_slots,
                           const GeneralBlock& block, double part) {
    const std::size_t count = own.places.size();
    for (std::size_t k = 0; k < count; ++k) {
        inputs_.potential[k] = potential[at_gather_slots ? own.places[k].gather_slot : own.places[k].node];
    }
    std::fill_n(inputs_.potential.begin() + static_cast<std::ptrdiff_t>(count), own.padded - count,
                inputs_.potential[0]);
    if (own.current.reads(External::time) || own.step.reads(External::time)) {
        std::fill_n(inputs_.time.begin(), own.padded, block.begin + part * settings_.step);
    }
    if (!own.general->follows_calcium) return;
    for (std::size_t k = 0; k < own.padded; ++k) {
        inputs_.calcium[k] = block.calcium[own.places[k < count ? k : 0].calcium];
    }
    if (!own.current.reads(External::calcium_reversal) && !own.step.reads(External::calcium_reversal)) return;
    for (std::size_t k = 0; k < own.padded; ++k) {
        inputs_.calcium_reversal[k] = settings_.nernst * (own.outside_logarithm[k] - math::log(inputs_.calcium[k]));
    }
}

void GeneralStates::predict(const GeneralBlock& block) {
    for (Mechanism& own : mechanisms_) {
        if (!own.half) continue;
        gather(own, block.potential, false, block, 0.5);
        if (own.half->run(own.padded, own.states_of(block.number), inputs_, own.predicted.data(), failures_.data())) {
            note(own, OutOfBounds::Of::iteration, 0, nullptr);
        }
    }
}

void GeneralStates::add_currents(const GeneralBlock& block) {
    for (Mechanism& own : mechanisms_) {
        if (!own.general->currents.empty()) add(own, block);
    }
}

void GeneralStates::add(Mechanism& own, const GeneralBlock& block) {
    gather(own, block.potential, true, block, 0.5);
    double* const states = own.half ? own.predicted.data() : own.states_of(block.number);
    (void)own.current.run(own.padded, states, inputs_, own.results.data(), failures_.data());
    const std::size_t count = own.places.size();
    for (std::size_t k = 0; k < count; ++k) {
        double flow = 0.0;
        double slope = 0.0;
        for (std::size_t c = 0; c < own.general->currents.size(); ++c) {
            if (!own.general->currents[c].flows) continue;
            flow += own.results[2 * c * own.padded + k];
            slope += own.results[(2 * c + 1) * own.padded + k];
        }
        const GeneralPlace& place = own.places[k];
        double& diagonal = block.diagonal[place.gather_slot];
        const double wanted = slope * own.covered[k];
        const double least = place.least_diagonal - diagonal;
        const double added = wanted < least ? least : wanted;
        diagonal += added;
        block.current[place.gather_slot] += added * inputs_.potential[k] - flow * own.covered[k];
    }
    for (std::size_t c = 0; c < own.general->currents.size(); ++c) {
        const double* const values = own.results.data() + 2 * c * own.padded;
        if (!all_numbers(values, 2 * own.padded)) {
            note(own, OutOfBounds::Of::current, c, values);
            note(own, OutOfBounds::Of::current, c, values + own.padded);
        }
    }
    if (moves_calcium_ && !own.before.empty()) std::copy_n(inputs_.potential.begin(), count, own.before.begin());
}

void GeneralStates::advance(const GeneralBlock& block) {
    const double* const solved = settings_.scheme == Scheme::staggered ? block.current : block.potential;
    if (moves_calcium_) {
        std::ranges::fill(flow_, 0.0);
        for (const Mechanism& own : mechanisms_) add_calcium_flow(own, solved);
    }
    for (Mechanism& own : mechanisms_) {
        if (own.general->states.empty()) continue;
        gather(own, solved, false, block, 1.0);
        if (own.general->reads_calcium_current) read_calcium_current(own, solved, block);
        double* const states = own.states_of(block.number);
        if (own.step.run(own.padded, states, inputs_, nullptr, failures_.data())) {
            note(own, OutOfBounds::Of::iteration, 0, nullptr);
        }
        check_states(own, states);
    }
    if (moves_calcium_) {
        for (std::size_t p = 0; p < flow_.size(); ++p) block.calcium[p] += settings_.gains[p] * flow_[p];
    }
    for (Mechanism& own : mechanisms_) {
        if (own.general->is_pool()) set_calcium(own, block);
    }
}

void GeneralStates::receive(std::size_t block, double* const* inputs, const std::uint32_t* sites,
                            std::span<const std::uint32_t> cells) {
    for (Mechanism& own : mechanisms_) {
        if (!own.receptor) continue;
        double* const states = own.states_of(block);
        const std::size_t count = own.general->states.size();
        for (std::size_t k = 0; k < own.places.size(); ++k) {
            const GeneralPlace& place = own.places[k];
            if (place.cell >= cells.size()) continue;
            double& input = inputs[*own.receptor][std::size_t{cells[place.cell]} * sites[*own.receptor] + place.place];
            const double weight = std::exchange(input, -0.0);
            if (weight == 0.0) continue;
            for (std::size_t s = 0; s < count; ++s) states[s * own.padded + k] += weight * own.jumps[k * count + s];
        }
    }
}

void GeneralStates::add_calcium_flow(const Mechanism& own, const double* solved) {
    for (std::size_t k = 0; k < own.places.size(); ++k) {
        const GeneralPlace& place = own.places[k];
        if (place.calcium == GeneralPlace::nowhere) continue;
        for (std::size_t c = 0; c < own.general->currents.size(); ++c) {
            if (!own.general->currents[c].carries_calcium) continue;
            const double* const values = own.results.data() + 2 * c * own.padded + k;
            const double density = values[0] + values[own.padded] * (solved[place.node] - own.before[k]);
            flow_[place.calcium] += density * own.covered[k];
        }
    }
}

void GeneralStates::read_calcium_current(const Mechanism& own, const double* solved, const GeneralBlock& block) {
    for (std::size_t k = 0; k < own.padded; ++k) {
        const GeneralPlace& place = own.places[k < own.places.size() ? k : 0];
        const double through_gates =
            block.calcium_conductance[place.gather_slot] * (solved[place.node] - block.calcium_reversal[place.calcium]);
        inputs_.calcium_current[k] = (through_gates + flow_[place.calcium]) / own.surface[k];
    }
}

void GeneralStates::set_calcium(Mechanism& own, const GeneralBlock& block) {
    const double* const states =
        own.states_of(block.number) + static_cast<std::size_t>(own.general->calcium) * own.padded;
    for (std::size_t k = 0; k < own.places.size(); ++k) block.calcium[own.places[k].calcium] = states[k];
}

void GeneralStates::check_states(Mechanism& own, const double* states) {
    if (all_numbers(states, own.general->states.size() * own.padded)) return;
    for (std::size_t s = 0; s < own.general->states.size(); ++s) {
        note(own, OutOfBounds::Of::state, s, states + s * own.padded);
    }
}

/// @param values one per place; a value that is not finite has left its bounds. Null: see failures_
void GeneralStates::note(const Mechanism& own, OutOfBounds::Of of, std::size_t variable, const double* values) {
    for (std::size_t k = 0; k < own.places.size(); ++k) {
        const GeneralPlace& place = own.places[k];
        if (place.cell == GeneralPlace::nowhere) continue;
        const bool has_failed = values != nullptr ? !all_numbers(values + k, 1) : (failures_[k / 8] >> k % 8 & 1) != 0;
        if (!has_failed) continue;
        out_of_bounds_.push_back({.of = of,
                                  .cell = place.cell,
                                  .slot = own.slots[k],
                                  .painted = own.painted,
                                  .variable = static_cast<std::uint32_t>(variable),
                                  .value = values != nullptr ? values[k] : 0.0});
    }
}

}  // namespace ranvier::cable
