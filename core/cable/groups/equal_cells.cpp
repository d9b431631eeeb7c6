#include "cable/groups/equal_cells.hpp"

#include <algorithm>
#include <utility>

namespace ranvier::cable {

EqualCells::EqualCells(std::shared_ptr<const CellPlan> plan, std::vector<std::uint32_t> cells, CellSettings settings,
                       double step, InstructionSet set, std::pmr::memory_resource* memory)
    : CellStore(std::move(settings)),
      plan_(std::move(plan)),
      cells_(std::move(cells)),
      potential_(blocks() * plan_->slots() * lanes, plan_->spec->initial_potential, memory),
      slow_(blocks() * plan_->receptors.size() * lanes, 0.0, memory),
      fast_(slow_.size(), 0.0, memory),
      calcium_(blocks() * plan_->pools.size() * lanes, 0.0, memory) {
    for (const CellPlan::Class& compartment_class : plan_->classes)
        gates_.emplace_back(blocks() * compartment_class.state_size(), 0.0, memory);
    // Including lanes without a cell.
    for (std::size_t cell = 0; cell < blocks() * lanes; ++cell) {
        for (std::size_t p = 0; p < plan_->pools.size(); ++p) calcium(cell, p) = plan_->pools.rest[p];
    }
    if (!plan_->generals.empty()) add_general(step, set, memory);
}

void EqualCells::add_general(double step, InstructionSet set, std::pmr::memory_resource* memory) {
    std::vector<GeneralPlaces> mechanisms;
    for (const GeneralPlan& plan : plan_->generals) {
        GeneralPlaces& mechanism = mechanisms.emplace_back(GeneralPlaces{plan.painted, plan.model, {}});
        for (std::uint32_t place = 0; place < plan.slots.size(); ++place) {
            const std::uint32_t slot = plan.slots[place];
            const std::optional<std::uint32_t>& pool = plan.pools[place];
            for (std::uint32_t l = 0; l < lanes; ++l) {
                const auto at = [&](std::uint32_t row) { return row * static_cast<std::uint32_t>(lanes) + l; };
                mechanism.places.push_back({.plan = &plan,
                                            .place = place,
                                            .cell = l,
                                            .node = at(slot),
                                            .gather_slot = at(slot),
                                            .calcium = pool ? at(*pool) : GeneralPlace::nowhere,
                                            .least_diagonal = plan_->leak[slot] - 0.5 * plan_->capacity[slot]});
            }
        }
    }
    std::vector<double> gains;
    for (const double gain : plan_->pools.gain) gains.insert(gains.end(), lanes, gain);
    general_.emplace(mechanisms,
                     GeneralStates::Settings{.blocks = blocks(),
                                             .scheme = plan_->spec->scheme,
                                             .celsius = plan_->spec->celsius,
                                             .step = step,
                                             .nernst = plan_->pools.nernst,
                                             .set = set,
                                             .gains = std::move(gains)},
                     memory);
}

void EqualCells::fill_idle_lanes() {
    for (std::size_t cell = cells_.size(); cell < blocks() * lanes; ++cell) {
        const std::size_t first = cell / lanes * lanes;
        for (std::size_t p = 0; p < plan_->pools.size(); ++p) calcium(cell, p) = calcium(first, p);
        for (std::size_t g = 0; g < plan_->generals.size(); ++g) {
            const GeneralPlan& general_plan = plan_->generals[g];
            for (std::size_t place = 0; place < general_plan.slots.size(); ++place) {
                for (std::size_t s = 0; s < general_plan.model->general->states.size(); ++s) {
                    state(cell, g, place, s) = state(first, g, place, s);
                }
            }
        }
    }
}

void EqualCells::make_outside_currents(std::pmr::memory_resource* memory) {
    outside_currents_ = AlignedVector<double>(potential_.size(), 0.0, memory);
    outside_until_.assign(blocks(), 0);
}

std::span<const std::uint32_t> EqualCells::cells_of(std::size_t block) const {
    return std::span(cells_).subspan(block * lanes, std::min(lanes, cells_.size() - block * lanes));
}

std::size_t EqualCells::advance(std::size_t block, BlockStep& step, std::uint32_t* spikes) {
    BlockScratch& scratch = step.scratch;
    double* const potential = potential_.data() + block * plan_->slots() * lanes;
    const double* const at_detector = potential + plan_->detector * lanes;
    alignas(line_bytes) double before[lanes];
    for (std::size_t l = 0; l < lanes; ++l) before[l] = at_detector[l];

    // Currents and conductances of each clamp.
    const std::size_t rows = plan_->receptors.size() + plan_->electrodes.size() + 2 * plan_->clamps.size();
    scratch.inputs.resize(rows * lanes);
    take_inputs(block, step);
    prepare_electrodes(block, step, scratch.inputs.data() + plan_->receptors.size() * lanes);
    const std::span calcium =
        std::span(calcium_).subspan(block * plan_->pools.size() * lanes, plan_->pools.size() * lanes);
    const GeneralBlock general = general_block(block, potential, calcium.data(), step);
    if (general_) general_->predict(general);
    const KernelPools pools = pools_of_block<false>(plan_->pools, calcium.data(), scratch, plan_->has_exact_rates());
    prepare_classes(block, step, potential);
    const KernelArguments kernel{.slots = plan_->slots(),
                                 .parents = plan_->parents.data(),
                                 .axial = plan_->axial.data(),
                                 .capacity = plan_->capacity.data(),
                                 .leak = plan_->leak.data(),
                                 .drive = plan_->drive.data(),
                                 .potential = potential,
                                 .diagonal = scratch.diagonal.data(),
                                 .current = scratch.current.data(),
                                 .begin_count = plan_->begin_slots.size(),
                                 .begin_slots = plan_->begin_slots.data(),
                                 .class_count = scratch.classes.size(),
                                 .classes = scratch.classes.data(),
                                 .receptor_count = scratch.receptors.size(),
                                 .receptors = scratch.receptors.data(),
                                 .electrode_count = scratch.electrodes.size(),
                                 .electrodes = scratch.electrodes.data(),
                                 .pools = pools,
                                 .gather = {},
                                 .levels = {}};
    const Scheme scheme = plan_->spec->scheme;
    if (advance_gates<false>(step.instruction_set, kernel)) {
        note_out_of_bounds(OutOfBounds::Of::potential, block, step);
    }
    if (general_) general_->add_currents(general);
    if (!outside_currents_.empty()) {
        add_outside_currents(scratch.current, block * plan_->slots() * lanes, plan_->slots() * lanes);
    }
    if (advance_potentials<false>(step.instruction_set, scheme, kernel)) {
        note_out_of_bounds(OutOfBounds::Of::calcium, block, step);
    }
    if (general_) advance_general(*general_, general, calcium, step);
    return find_spikes(block, before, step, spikes);
}

std::size_t EqualCells::find_spikes(std::size_t block, const double* before, BlockStep& step, std::uint32_t* spikes) {
    const std::span<const std::uint32_t> cells = cells_of(block);
    const double* const at_detector = potential_.data() + (block * plan_->slots() + plan_->detector) * lanes;
    std::size_t fired = 0;
    bool all_numbers = true;
    for (std::size_t l = 0; l < cells.size(); ++l) {
        const double threshold = settings_.threshold(block * lanes + l);
        if (before[l] < threshold && at_detector[l] >= threshold) spikes[fired++] = cells[l];
        all_numbers = all_numbers && is_number(at_detector[l]);
    }
    // One NaN spreads to the whole cell in the next step.
    if (!all_numbers) note_out_of_bounds(OutOfBounds::Of::number, block, step);
    return fired;
}

void EqualCells::take_inputs(std::size_t block, BlockStep& step) {
    const std::span<const std::uint32_t> cells = cells_of(block);
    step.scratch.receptors.clear();
    for (std::size_t r = 0; r < plan_->receptors.size(); ++r) {
        double* const taken = step.scratch.inputs.data() + r * lanes;
        std::fill_n(taken, lanes, 0.0);
        const CellPlan::Receptor& receptor = plan_->receptors[r];
        double* const inputs = step.update.inputs[receptor.number];
        const std::size_t sites = step.sites[receptor.number];
        for (std::size_t l = 0; l < cells.size(); ++l) taken[l] = receptor.take(inputs + cells[l] * sites);
        const std::size_t state = (block * plan_->receptors.size() + r) * lanes;
        step.scratch.receptors.push_back({.slot = receptor.slot,
                                          .constants = receptor.constants,
                                          .slow = slow_.data() + state,
                                          .fast = fast_.data() + state,
                                          .input = taken});
    }
}

void EqualCells::prepare_electrodes(std::size_t block, BlockStep& step, double* currents) {
    std::vector<KernelElectrode>& electrodes = step.scratch.electrodes;
    electrodes.clear();
    const std::span<const std::uint32_t> cells = cells_of(block);
    for (std::size_t e = 0; e < plan_->electrodes.size(); ++e) {
        for (std::size_t l = 0; l < lanes; ++l) currents[l] = l < cells.size() ? step.inject(e, cells[l]) : 0.0;
        electrodes.push_back({.slot = plan_->electrodes[e], .current = currents});
        currents += lanes;
    }
    for (const CellPlan::Clamp& clamp : plan_->clamps) {
        double* const conductances = currents + lanes;
        ClampCourse::Action action;
        for (std::size_t l = 0; l < lanes; ++l) {
            // Lanes without a cell repeat the first cell.
            const std::size_t cell = block * lanes + (l < cells.size() ? l : 0);
            if (l == 0 || clamp.differs_per_cell) action = settings_.action(cell, clamp, step.update.step);
            currents[l] = action.current;
            conductances[l] = action.conductance;
        }
        electrodes.push_back(
            {.slot = clamp.slot, .conductance = clamp.holds ? conductances : nullptr, .current = currents});
        currents += 2 * lanes;
    }
}

void EqualCells::prepare_classes(std::size_t block, BlockStep& step, const double* potential) {
    std::vector<KernelClass>& kernels = step.scratch.classes;
    kernels.clear();
    for (std::size_t c = 0; c < plan_->classes.size(); ++c) {
        const CellPlan::Class& compartment_class = plan_->classes[c];
        double* const gates = gates_[c].data() + block * compartment_class.state_size();
        const Followed given = followed(compartment_class.follows, potential, step.scratch.logarithm.data());
        kernels.push_back({.size = compartment_class.slots.size(),
                           .slots = compartment_class.slots.data(),
                           .argument = given.argument,
                           .gates = gates,
                           .quads = compartment_class.quads(),
                           .begins = compartment_class.follows == Follows::potential,
                           .current_count = compartment_class.currents.size(),
                           .currents = compartment_class.currents.data(),
                           .calcium_count = compartment_class.calcium_currents.size(),
                           .calcium_currents = compartment_class.calcium_currents.data()});
        if (compartment_class.table != nullptr) {
            kernels.back().look_up_in(*compartment_class.table);
        } else {
            advance_exactly(compartment_class.gates, compartment_class.slots, plan_->spec->celsius, gates, given, step);
        }
    }
}

}  // namespace ranvier::cable
