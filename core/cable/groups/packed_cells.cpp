#include "cable/groups/packed_cells.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace ranvier::cable {

namespace {

std::size_t place_in(std::span<const std::uint32_t> slots, std::uint32_t position) {
    const auto found = std::ranges::lower_bound(slots, position / static_cast<std::uint32_t>(lanes));
    return static_cast<std::size_t>(found - slots.begin()) * lanes + position % lanes;
}

}  // namespace

PackedCells::PackedCells(std::vector<std::uint32_t> cells, std::span<const CellPlan* const> plans,
                         std::vector<std::shared_ptr<const CellPlan>> layouts, CellSettings settings, double step,
                         InstructionSet set, std::pmr::memory_resource* memory)
    : CellStore(std::move(settings)),
      cells_(std::move(cells)),
      layouts_(std::move(layouts)),
      plan_(plans, memory),
      potential_(plan_.all_slots() * lanes, layouts_.front()->spec->initial_potential, memory),
      slow_(plan_.receptors.size() * lanes, 0.0, memory),
      fast_(slow_.size(), 0.0, memory),
      calcium_(plan_.pools.rest, memory) {
    for (const PackedPlan::Class& compartment_class : plan_.classes)
        gates_.emplace_back(compartment_class.state_size(), 0.0, memory);
    before_.resize(cells_.size());
    for (std::size_t k = 0; k < cells_.size(); ++k) {
        detectors_.push_back(plan_.position(k, layouts_[k]->detector));
    }
    for (const auto& layout : layouts_) {
        first_receptors_.push_back(receptor_places_.size());
        receptor_places_.resize(receptor_places_.size() + layout->receptors.size());
    }
    for (std::size_t chunk = 0; chunk < plan_.receptors.size(); ++chunk) {
        const PackedPlan::Chunk& receptors = plan_.receptors[chunk];
        for (std::size_t l = 0; l < lanes; ++l) {
            if (receptors.cells[l] == PackedPlan::nowhere) continue;
            receptor_places_[first_receptors_[receptors.cells[l]] + receptors.receptors[l]] =
                static_cast<std::uint32_t>(chunk * lanes + l);
        }
    }
    add_general(plans, step, set, memory);
}

/// Collects the mechanisms of all cells by their position in the order of a cell, so that the currents of each cell
/// are added in this order.
void PackedCells::add_general(std::span<const CellPlan* const> plans, double step, InstructionSet set,
                              std::pmr::memory_resource* memory) {
    std::map<std::pair<std::uint32_t, const MechanismModel*>, GeneralPlaces> found;
    for (const CellPlan* const cell : plans) {
        for (const GeneralPlan& plan : cell->generals) {
            found[{plan.painted, plan.model}] = {plan.painted, plan.model, {}};
        }
    }
    if (found.empty()) return;
    general_places_.resize(plans.size());
    for (std::uint32_t cell = 0; cell < plans.size(); ++cell) {
        for (const GeneralPlan& plan : plans[cell]->generals) {
            const auto place = found.find({plan.painted, plan.model});
            general_places_[cell].emplace_back(std::distance(found.begin(), place), place->second.places.size());
            append(place->second.places, plan, cell);
        }
    }
    std::vector<GeneralPlaces> mechanisms;
    mechanisms.reserve(found.size());
    for (auto& [key, places] : found) mechanisms.push_back(std::move(places));
    const CellSpec& spec = *layouts_.front()->spec;
    general_.emplace(mechanisms,
                     GeneralStates::Settings{.blocks = 1,
                                             .scheme = spec.scheme,
                                             .celsius = spec.celsius,
                                             .step = step,
                                             .nernst = plan_.pools.nernst,
                                             .set = set,
                                             .gains = {plan_.pools.gain.begin(), plan_.pools.gain.end()}},
                     memory);
}

void PackedCells::append(std::vector<GeneralPlace>& places, const GeneralPlan& plan, std::uint32_t cell) const {
    for (std::uint32_t place = 0; place < plan.slots.size(); ++place) {
        const std::uint32_t gather_slot = plan_.gather_slot(cell, plan.slots[place]);
        const std::optional<std::uint32_t>& pool = plan.pools[place];
        places.push_back({.plan = &plan,
                          .place = place,
                          .cell = cell,
                          .node = plan_.position(cell, plan.slots[place]),
                          .gather_slot = gather_slot,
                          .calcium = pool ? static_cast<std::uint32_t>(pool_place(cell, *pool)) : GeneralPlace::nowhere,
                          .least_diagonal = plan_.leak[gather_slot] - 0.5 * plan_.capacity[gather_slot]});
    }
}

double& PackedCells::state(std::size_t cell, std::size_t general, std::size_t place, std::size_t state) {
    const auto& [mechanism, first] = general_places_[cell][general];
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): cells with general mechanisms have them
    return general_->state(mechanism, 0, first + place, state);
}

void PackedCells::make_outside_currents(std::pmr::memory_resource* memory) {
    plan_.begin_all();
    outside_currents_ = AlignedVector<double>(potential_.size(), 0.0, memory);
    outside_until_.assign(1, 0);
}

std::size_t PackedCells::receptor_place(std::size_t cell, std::size_t receptor) const {
    return receptor_places_[first_receptors_[cell] + receptor];
}

double& PackedCells::gate(std::size_t cell, std::size_t class_index, std::size_t place, std::size_t gate) {
    const std::uint32_t number = plan_.class_of(cell, class_index);
    const PackedPlan::Class& compartment_class = plan_.classes[number];
    const std::uint32_t slot = layouts_[cell]->classes[class_index].slots[place];
    const std::size_t stride = compartment_class.quads() * gates_of_quad;
    return gates_[number][place_in(compartment_class.slots, plan_.gather_slot(cell, slot)) * stride + gate];
}

std::size_t PackedCells::pool_place(std::size_t cell, std::size_t pool) const {
    return place_in(plan_.pools.slots, plan_.gather_slot(cell, layouts_[cell]->pools.slots[pool]));
}

double& PackedCells::calcium(std::size_t cell, std::size_t pool) { return calcium_[pool_place(cell, pool)]; }

std::size_t PackedCells::advance(std::size_t block, BlockStep& step, std::uint32_t* spikes) {
    BlockScratch& scratch = step.scratch;
    for (std::size_t k = 0; k < cells_.size(); ++k) before_[k] = potential_[detectors_[k]];
    // Currents and conductances of each electrode.
    scratch.inputs.resize((plan_.receptors.size() + 2 * plan_.electrodes.size()) * lanes);
    take_inputs(step);
    prepare_electrodes(step, scratch.inputs.data() + plan_.receptors.size() * lanes);
    const GeneralBlock general = general_block(0, potential_.data(), calcium_.data(), step);
    if (general_) general_->predict(general);
    const KernelPools pools = pools_of_block<true>(plan_.pools, calcium_.data(), scratch, plan_.has_exact_rates());
    const KernelGather gather{
        .first = plan_.node_slots * lanes, .size = plan_.sources.size(), .sources = plan_.sources.data()};
    // Exact rates are calculated before the kernel starts.
    if (plan_.has_exact_rates()) BlockKernel<false, true>::gather_values(gather, potential_.data());
    prepare_classes(step);
    const KernelArguments kernel{.slots = plan_.all_slots(),
                                 .parents = nullptr,
                                 .axial = plan_.axial.data(),
                                 .capacity = plan_.capacity.data(),
                                 .leak = plan_.leak.data(),
                                 .drive = plan_.drive.data(),
                                 .potential = potential_.data(),
                                 .diagonal = scratch.diagonal.data(),
                                 .current = scratch.current.data(),
                                 .begin_count = plan_.begin_slots.size(),
                                 .begin_slots = plan_.begin_slots.data(),
                                 .class_count = scratch.classes.size(),
                                 .classes = scratch.classes.data(),
                                 .receptor_count = scratch.receptors.size(),
                                 .receptors = scratch.receptors.data(),
                                 .electrode_count = scratch.electrodes.size(),
                                 .electrodes = scratch.electrodes.data(),
                                 .pools = pools,
                                 .gather = gather,
                                 .levels = {.size = plan_.level_begins.size() - 1,
                                            .begins = plan_.level_begins.data(),
                                            .join_begins = plan_.join_begins.data(),
                                            .joins = plan_.joins.data(),
                                            .late_begins = plan_.late_begins.data(),
                                            .late_slots = plan_.late_slots.data(),
                                            .is_plain = plan_.is_plain.data()}};
    const Scheme scheme = layouts_.front()->spec->scheme;
    if (advance_gates<true>(step.instruction_set, kernel)) {
        note_out_of_bounds(OutOfBounds::Of::potential, block, step);
    }
    if (general_) general_->add_currents(general);
    if (!outside_currents_.empty()) add_outside_currents(scratch.current, 0, outside_currents_.size());
    if (advance_potentials<true>(step.instruction_set, scheme, kernel)) {
        note_out_of_bounds(OutOfBounds::Of::calcium, block, step);
    }
    if (general_) advance_general(*general_, general, calcium_, step);
    return find_spikes(step, spikes);
}

std::size_t PackedCells::find_spikes(BlockStep& step, std::uint32_t* spikes) {
    std::size_t fired = 0;
    bool all_numbers = true;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
        const double threshold = settings_.threshold(k);
        const double potential = potential_[detectors_[k]];
        if (before_[k] < threshold && potential >= threshold) spikes[fired++] = cells_[k];
        all_numbers = all_numbers && is_number(potential);
    }
    // One NaN spreads to the whole cell in the next step.
    if (!all_numbers) note_out_of_bounds(OutOfBounds::Of::number, 0, step);
    return fired;
}

void PackedCells::take_inputs(BlockStep& step) {
    step.scratch.receptors.clear();
    for (std::size_t chunk = 0; chunk < plan_.receptors.size(); ++chunk) {
        const PackedPlan::Chunk& receptors = plan_.receptors[chunk];
        double* const taken = step.scratch.inputs.data() + chunk * lanes;
        const std::size_t sites = step.sites[receptors.number];
        for (std::size_t l = 0; l < lanes; ++l) {
            taken[l] = 0.0;
            if (receptors.cells[l] == PackedPlan::nowhere) continue;
            double* const inputs =
                step.update.inputs[receptors.number] + std::size_t{cells_[receptors.cells[l]]} * sites;
            taken[l] = layouts_[receptors.cells[l]]->receptors[receptors.receptors[l]].take(inputs);
        }
        step.scratch.receptors.push_back({.slot = 0,
                                          .positions = receptors.positions.data(),
                                          .constants = receptors.constants,
                                          .slow = slow_.data() + chunk * lanes,
                                          .fast = fast_.data() + chunk * lanes,
                                          .input = taken});
    }
}

void PackedCells::prepare_electrodes(BlockStep& step, double* currents) {
    step.scratch.electrodes.clear();
    for (std::size_t chunk = 0; chunk < plan_.electrodes.size(); ++chunk) {
        const PackedPlan::Chunk& placed = plan_.electrodes[chunk];
        double* const current = currents + 2 * chunk * lanes;
        KernelElectrode electrode{.slot = 0, .positions = placed.positions.data(), .current = current};
        if (chunk >= plan_.clamps_from) {
            if (act(placed, step.update.step, current)) electrode.conductance = current + lanes;
        } else {
            for (std::size_t l = 0; l < lanes; ++l) {
                const bool has_cell = placed.cells[l] != PackedPlan::nowhere;
                current[l] = has_cell ? step.inject(placed.number, cells_[placed.cells[l]]) : 0.0;
            }
        }
        step.scratch.electrodes.push_back(electrode);
    }
}

/// Writes the currents of a clamp, then its conductances. Returns whether it has conductances.
bool PackedCells::act(const PackedPlan::Chunk& chunk, Step step, double* currents) const {
    const CellPlan::Clamp& clamp = layouts_[chunk.cells[0]]->clamps[chunk.number];
    ClampCourse::Action action;
    for (std::size_t l = 0; l < lanes; ++l) {
        // Lanes without a cell repeat the first cell.
        const std::uint32_t cell = chunk.cells[l] != PackedPlan::nowhere ? chunk.cells[l] : chunk.cells[0];
        if (l == 0 || clamp.differs_per_cell) action = settings_.action(cell, clamp, step);
        currents[l] = action.current;
        currents[lanes + l] = action.conductance;
    }
    return clamp.holds;
}

void PackedCells::prepare_classes(BlockStep& step) {
    std::vector<KernelClass>& kernels = step.scratch.classes;
    kernels.clear();
    for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
        const PackedPlan::Class& compartment_class = plan_.classes[c];
        const Followed given = followed(compartment_class.follows, potential_.data(), step.scratch.logarithm.data());
        kernels.push_back({.size = compartment_class.slots.size(),
                           .slots = compartment_class.slots.data(),
                           .argument = given.argument,
                           .present = compartment_class.present.data(),
                           .gates = gates_[c].data(),
                           .quads = compartment_class.quads(),
                           .begins = compartment_class.follows == Follows::potential,
                           .current_count = compartment_class.currents.size(),
                           .currents = compartment_class.currents.data(),
                           .calcium_count = compartment_class.calcium_currents.size(),
                           .calcium_currents = compartment_class.calcium_currents.data()});
        if (compartment_class.table != nullptr) {
            kernels.back().look_up_in(*compartment_class.table);
        } else {
            advance_exactly(compartment_class.gates, compartment_class.slots, compartment_class.celsius,
                            gates_[c].data(), given, step);
        }
    }
}

}  // namespace ranvier::cable
