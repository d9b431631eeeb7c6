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

/// Numbers by place; the padding repeats the first place.
template <class Read>
AlignedVector<double> by_place(std::span<const GeneralPlace> places, std::pmr::memory_resource* memory, Read read) {
    AlignedVector<double> values(memory);
    for (const GeneralPlace& each : places) values.push_back(read(*each.plan, each.place));
    values.resize(padded_size(places.size()), values.front());
    return values;
}

/// The constant inputs of programs, needed only for their construction.
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
    // The calcium current of a step is unknown before the step.
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
            const std::vector<double>& jumps_of_place = place.plan->jumps[place.place];
            jumps.insert(jumps.end(), jumps_of_place.begin(), jumps_of_place.end());
        }
        slots.push_back(place.plan->slots[place.place]);
        place.plan = nullptr;
    }
}

GeneralStates::GeneralStates(std::span<const GeneralPlaces> mechanisms, Settings settings,
                             std::pmr::memory_resource* memory)
    : settings_(std::move(settings)), inputs_(memory), flow_(settings_.gains.size(), 0.0, memory) {
    for (const GeneralPlaces& each : mechanisms) {
        const Mechanism& mechanism = mechanisms_.emplace_back(each, settings_, memory);
        inputs_.reserve(mechanism.padded);
        failures_.resize(std::max(failures_.size(), mechanism.padded / 8), 0);
        moves_calcium_ = moves_calcium_ || !mechanism.before.empty();
    }
    moves_calcium_ = moves_calcium_ && has_pools();
}

double& GeneralStates::state(std::size_t mechanism, std::size_t block, std::size_t place, std::size_t state) {
    Mechanism& found = mechanisms_[mechanism];
    return found.states_of(block)[state * found.padded + place];
}

void GeneralStates::gather(const Mechanism& mechanism, const double* potential, bool at_gather_slots,
                           const GeneralBlock& block, double part) {
    const std::size_t count = mechanism.places.size();
    for (std::size_t k = 0; k < count; ++k) {
        inputs_.potential[k] = potential[at_gather_slots ? mechanism.places[k].gather_slot : mechanism.places[k].node];
    }
    std::fill_n(inputs_.potential.begin() + static_cast<std::ptrdiff_t>(count), mechanism.padded - count,
                inputs_.potential[0]);
    if (mechanism.current.reads(External::time) || mechanism.step.reads(External::time)) {
        std::fill_n(inputs_.time.begin(), mechanism.padded, block.begin + part * settings_.step);
    }
    if (!mechanism.general->follows_calcium) return;
    for (std::size_t k = 0; k < mechanism.padded; ++k) {
        inputs_.calcium[k] = block.calcium[mechanism.places[k < count ? k : 0].calcium];
    }
    if (!mechanism.current.reads(External::calcium_reversal) && !mechanism.step.reads(External::calcium_reversal))
        return;
    for (std::size_t k = 0; k < mechanism.padded; ++k) {
        inputs_.calcium_reversal[k] =
            settings_.nernst * (mechanism.outside_logarithm[k] - math::log(inputs_.calcium[k]));
    }
}

void GeneralStates::predict(const GeneralBlock& block) {
    for (Mechanism& mechanism : mechanisms_) {
        if (!mechanism.half) continue;
        gather(mechanism, block.potential, false, block, 0.5);
        if (mechanism.half->run(mechanism.padded, mechanism.states_of(block.number), inputs_,
                                mechanism.predicted.data(), failures_.data())) {
            note(mechanism, OutOfBounds::Of::iteration, 0, nullptr);
        }
    }
}

void GeneralStates::add_currents(const GeneralBlock& block) {
    for (Mechanism& mechanism : mechanisms_) {
        if (!mechanism.general->currents.empty()) add(mechanism, block);
    }
}

void GeneralStates::add(Mechanism& mechanism, const GeneralBlock& block) {
    gather(mechanism, block.potential, true, block, 0.5);
    double* const states = mechanism.half ? mechanism.predicted.data() : mechanism.states_of(block.number);
    (void)mechanism.current.run(mechanism.padded, states, inputs_, mechanism.results.data(), failures_.data());
    const std::size_t count = mechanism.places.size();
    for (std::size_t k = 0; k < count; ++k) {
        double flow = 0.0;
        double slope = 0.0;
        for (std::size_t c = 0; c < mechanism.general->currents.size(); ++c) {
            if (!mechanism.general->currents[c].flows) continue;
            flow += mechanism.results[2 * c * mechanism.padded + k];
            slope += mechanism.results[(2 * c + 1) * mechanism.padded + k];
        }
        const GeneralPlace& place = mechanism.places[k];
        double& diagonal = block.diagonal[place.gather_slot];
        const double wanted = slope * mechanism.covered[k];
        const double least = place.least_diagonal - diagonal;
        const double added = wanted < least ? least : wanted;
        diagonal += added;
        block.current[place.gather_slot] += added * inputs_.potential[k] - flow * mechanism.covered[k];
    }
    for (std::size_t c = 0; c < mechanism.general->currents.size(); ++c) {
        const double* const values = mechanism.results.data() + 2 * c * mechanism.padded;
        if (!all_numbers(values, 2 * mechanism.padded)) {
            note(mechanism, OutOfBounds::Of::current, c, values);
            note(mechanism, OutOfBounds::Of::current, c, values + mechanism.padded);
        }
    }
    if (moves_calcium_ && !mechanism.before.empty())
        std::copy_n(inputs_.potential.begin(), count, mechanism.before.begin());
}

void GeneralStates::advance(const GeneralBlock& block) {
    const double* const solved = settings_.scheme == Scheme::staggered ? block.current : block.potential;
    if (moves_calcium_) {
        std::ranges::fill(flow_, 0.0);
        for (const Mechanism& mechanism : mechanisms_) add_calcium_flow(mechanism, solved);
    }
    for (Mechanism& mechanism : mechanisms_) {
        if (mechanism.general->states.empty()) continue;
        gather(mechanism, solved, false, block, 1.0);
        if (mechanism.general->reads_calcium_current) read_calcium_current(mechanism, solved, block);
        double* const states = mechanism.states_of(block.number);
        if (mechanism.step.run(mechanism.padded, states, inputs_, nullptr, failures_.data())) {
            note(mechanism, OutOfBounds::Of::iteration, 0, nullptr);
        }
        check_states(mechanism, states);
    }
    if (moves_calcium_) {
        for (std::size_t p = 0; p < flow_.size(); ++p) block.calcium[p] += settings_.gains[p] * flow_[p];
    }
    for (Mechanism& mechanism : mechanisms_) {
        if (mechanism.general->is_pool()) set_calcium(mechanism, block);
    }
}

void GeneralStates::receive(std::size_t block, double* const* inputs, const std::uint32_t* sites,
                            std::span<const std::uint32_t> cells) {
    for (Mechanism& mechanism : mechanisms_) {
        if (!mechanism.receptor) continue;
        const std::uint32_t receptor = *mechanism.receptor;
        double* const states = mechanism.states_of(block);
        const std::size_t count = mechanism.general->states.size();
        for (std::size_t k = 0; k < mechanism.places.size(); ++k) {
            const GeneralPlace& place = mechanism.places[k];
            if (place.cell >= cells.size()) continue;
            double& input = inputs[receptor][std::size_t{cells[place.cell]} * sites[receptor] + place.place];
            const double weight = std::exchange(input, -0.0);
            if (weight == 0.0) continue;
            for (std::size_t s = 0; s < count; ++s)
                states[s * mechanism.padded + k] += weight * mechanism.jumps[k * count + s];
        }
    }
}

void GeneralStates::add_calcium_flow(const Mechanism& mechanism, const double* solved) {
    for (std::size_t k = 0; k < mechanism.places.size(); ++k) {
        const GeneralPlace& place = mechanism.places[k];
        if (place.calcium == GeneralPlace::nowhere) continue;
        for (std::size_t c = 0; c < mechanism.general->currents.size(); ++c) {
            if (!mechanism.general->currents[c].carries_calcium) continue;
            const double* const values = mechanism.results.data() + 2 * c * mechanism.padded + k;
            const double density = values[0] + values[mechanism.padded] * (solved[place.node] - mechanism.before[k]);
            flow_[place.calcium] += density * mechanism.covered[k];
        }
    }
}

void GeneralStates::read_calcium_current(const Mechanism& mechanism, const double* solved, const GeneralBlock& block) {
    for (std::size_t k = 0; k < mechanism.padded; ++k) {
        const GeneralPlace& place = mechanism.places[k < mechanism.places.size() ? k : 0];
        const double through_gates =
            block.calcium_conductance[place.gather_slot] * (solved[place.node] - block.calcium_reversal[place.calcium]);
        inputs_.calcium_current[k] = (through_gates + flow_[place.calcium]) / mechanism.surface[k];
    }
}

void GeneralStates::set_calcium(Mechanism& mechanism, const GeneralBlock& block) {
    const double* const states =
        mechanism.states_of(block.number) + static_cast<std::size_t>(mechanism.general->calcium) * mechanism.padded;
    for (std::size_t k = 0; k < mechanism.places.size(); ++k) block.calcium[mechanism.places[k].calcium] = states[k];
}

void GeneralStates::check_states(Mechanism& mechanism, const double* states) {
    if (all_numbers(states, mechanism.general->states.size() * mechanism.padded)) return;
    for (std::size_t s = 0; s < mechanism.general->states.size(); ++s) {
        note(mechanism, OutOfBounds::Of::state, s, states + s * mechanism.padded);
    }
}

/// @param values one per place; a value that is not finite is out of bounds. Null: see failures_
void GeneralStates::note(const Mechanism& mechanism, OutOfBounds::Of of, std::size_t variable, const double* values) {
    for (std::size_t k = 0; k < mechanism.places.size(); ++k) {
        const GeneralPlace& place = mechanism.places[k];
        if (place.cell == GeneralPlace::nowhere) continue;
        const bool has_failed = values != nullptr ? !all_numbers(values + k, 1) : (failures_[k / 8] >> k % 8 & 1) != 0;
        if (!has_failed) continue;
        out_of_bounds_.push_back({.of = of,
                                  .cell = place.cell,
                                  .slot = mechanism.slots[k],
                                  .painted = mechanism.painted,
                                  .variable = static_cast<std::uint32_t>(variable),
                                  .value = values != nullptr ? values[k] : 0.0});
    }
}

}  // namespace ranvier::cable
