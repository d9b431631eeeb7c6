#include "cable/groups/device_forms.hpp"

#include <bit>
#include <string>
#include <utility>

#include "base/math.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

using device::u32;

/// Bits of CellMechanism.
constexpr std::size_t most_currents = 32;

class FormMaker {
   public:
    FormMaker(const CellPlan& plan, double step) : plan_(plan), step_(step) {}

    device::CellForm make() {
        form_.parents.assign(plan_.parents.begin(), plan_.parents.end());
        form_.nodes.resize(plan_.slots());
        for (u32 slot = 0; slot < plan_.slots(); ++slot) {
            device::NodeKind& kind = form_.nodes[slot].kind;
            kind.capacity = plan_.capacity[slot];
            kind.leak = plan_.leak[slot];
            kind.drive = plan_.drive[slot];
            kind.axial = plan_.axial[slot];
            kind.step = step_;
            kind.is_staggered = is_staggered() ? 1 : 0;
            kind.is_detector = slot == plan_.detector ? 1 : 0;
        }
        for (const CellPlan::Class& each : plan_.classes) add_class(each);
        add_pools();
        for (const GeneralPlan& each : plan_.generals) add_general(each);
        for (const CellPlan::Receptor& each : plan_.receptors) add_receptor(each);
        add_electrodes();
        return std::move(form_);
    }

   private:
    bool is_staggered() const { return plan_.spec->scheme == Scheme::staggered; }

    /// Numbers of the state of a node that follow.
    void add_state(u32 slot, u32 count) {
        for (u32 k = 0; k < count; ++k) form_.state.push_back({slot, form_.nodes[slot].columns + k});
    }

    void add_class(const CellPlan::Class& given) {
        const auto number = static_cast<u32>(form_.classes.size());
        form_.classes.push_back(rate_form(given));
        for (std::size_t place = 0; place < given.slots.size(); ++place) {
            const u32 slot = given.slots[place];
            device::NodeForm& node = form_.nodes[slot];
            node.classes.push_back(number);
            for (const auto* const currents : {&given.currents, &given.calcium_currents}) {
                for (const KernelCurrent& current : *currents) node.conductances.push_back(current.conductance[place]);
            }
            add_state(slot, static_cast<u32>(given.gates.size()));
            node.columns += static_cast<u32>(given.gates.size());
        }
    }

    device::RateForm rate_form(const CellPlan::Class& given) const {
        device::RateForm made;
        made.key = given.key;
        made.key.push_back(static_cast<std::uint64_t>(given.follows));
        // Cells of other populations may have other steps or temperatures.
        made.key.push_back(reinterpret_cast<std::uintptr_t>(given.table));
        made.key.push_back(std::bit_cast<std::uint64_t>(plan_.spec->celsius));
        made.numbers.gate_count = static_cast<u32>(given.gates.size());
        made.numbers.follows_calcium = given.follows == Follows::calcium ? 1 : 0;
        made.numbers.current_count = static_cast<u32>(given.currents.size());
        made.numbers.calcium_count = static_cast<u32>(given.calcium_currents.size());
        if (given.table != nullptr) {
            made.table = {given.table->data(), given.table->rows() * given.table->row_size()};
            made.numbers.rows = static_cast<double>(given.table->rows());
            made.numbers.lowest = given.table->lowest();
            made.numbers.rows_per_unit = given.table->rows_per_unit();
        } else {
            for (const GateOfMechanism& gate : given.gates) add_exact(gate, made);
        }
        for (const auto* const currents : {&given.currents, &given.calcium_currents}) {
            for (const KernelCurrent& current : *currents) {
                device::CellCurrent& added = made.currents.emplace_back();
                added.reversal = current.reversal;
                added.gate_count = current.gate_count;
                for (u32 t = 0; t < current.gate_count; ++t) {
                    added.gates[t] = current.gates[t].gate;
                    added.powers[t] = current.gates[t].power;
                }
            }
        }
        return made;
    }

    void add_exact(const GateOfMechanism& gate, device::RateForm& made) const {
        // A table of rates that are not smooth is never accurate.
        if (gate.gate->program == nullptr) {
            throw StateError({.object = "gate '" + std::string(gate.gate->name) + "' of a built-in mechanism",
                              .value = "without a table of its rates",
                              .bound = "devices have tables of such gates only",
                              .remedy = "run on processors: device='cpu'"});
        }
        made.gates.push_back({gate.gate->program, gate.gate->follows == Follows::both ? 2U : 1U});
        std::vector<double>& parameters = made.parameters.emplace_back(1, plan_.spec->celsius);
        parameters.insert(parameters.end(), gate.parameters.begin(), gate.parameters.end());
    }

    void add_pools() {
        const PoolPlan& pools = plan_.pools;
        for (std::size_t p = 0; p < pools.size(); ++p) {
            device::NodeForm& node = form_.nodes[pools.slots[p]];
            node.pool = device::CellPool{.rest = pools.rest[p],
                                         .log_outside = pools.log_outside[p],
                                         .decay = pools.decay[p],
                                         .gain = pools.gain[p],
                                         .half_decay = pools.half_decay[p],
                                         .half_gain = pools.half_gain[p],
                                         .nernst = pools.nernst};
            node.kind.pool_column = node.columns;
            static_assert(device::pool_calcium == 0);
            add_state(pools.slots[p], 1);
            node.columns += device::pool_columns;
        }
    }

    void add_general(const GeneralPlan& given) {
        const auto number = static_cast<u32>(form_.mechanisms.size());
        form_.mechanisms.push_back(mechanism_form(*given.model->general));
        const device::CellMechanism& mechanism = form_.mechanisms.back().numbers;
        for (std::size_t k = 0; k < given.slots.size(); ++k) {
            device::NodeForm& node = form_.nodes[given.slots[k]];
            device::NodeForm::Place& place = node.places.emplace_back();
            place.mechanism = number;
            place.numbers.covered = given.covered[k];
            place.numbers.surface = given.surface[k];
            place.numbers.log_outside = math::log(given.outside[k]);
            place.numbers.column = node.columns;
            place.inputs = {plan_.spec->celsius, step_,        0.5 * step_, given.outside[k],
                            given.diameter[k],   given.area[k]};
            static_assert(device::place_numbers == 6);
            for (const auto& values : given.parameters) place.inputs.push_back(values[k]);
            if (given.receptor) {
                place.numbers.is_receptor = 1;
                place.numbers.receptor = *given.receptor;
                place.numbers.site = static_cast<u32>(k);
                place.jumps = given.jumps[k];
            }
            add_state(given.slots[k], mechanism.states);
            node.columns += mechanism.states + 2 * mechanism.currents;
        }
    }

    device::MechanismForm mechanism_form(const GeneralInfo& general) const {
        const bool has_half = is_staggered() && !general.reads_calcium_current;
        device::MechanismForm made;
        made.numbers = {.states = static_cast<u32>(general.states.size()),
                        .currents = static_cast<u32>(general.currents.size()),
                        .has_half = has_half ? 1U : 0U,
                        .reads_calcium_current = general.reads_calcium_current ? 1U : 0U,
                        .follows_calcium = general.follows_calcium ? 1U : 0U,
                        .pool_state = static_cast<u32>(general.calcium + 1)};
        for (u32 c = 0; c < made.numbers.currents; ++c) {
            if (general.currents[c].flows) made.numbers.flows |= 1U << c;
            if (general.currents[c].carries_calcium) made.numbers.carries |= 1U << c;
        }
        made.programs = {.step = general.step,
                         .current = general.current,
                         .states = made.numbers.states,
                         .currents = made.numbers.currents,
                         .has_half = has_half};
        return made;
    }

    void add_receptor(const CellPlan::Receptor& given) {
        device::NodeForm& node = form_.nodes[given.slot];
        const ReceptorConstants& c = given.constants;
        device::NodeForm::Receptor& made = node.receptors.emplace_back();
        made.numbers = {.reversal = c.reversal,
                        .decay = c.decay,
                        .rise = c.rise,
                        .scale = c.scale,
                        .half_decay = c.half_decay,
                        .half_rise = c.half_rise,
                        .blockers = c.blockers,
                        .block_slope = c.block_slope,
                        .number = given.number,
                        .column = node.columns};
        made.sites = given.sites;
        add_state(given.slot, 2);
        node.columns += 2;
    }

    void add_electrodes() {
        for (u32 e = 0; e < plan_.electrodes.size(); ++e) {
            device::NodeForm& node = form_.nodes[plan_.electrodes[e]];
            device::NodeForm::Electrode& made = node.electrodes.emplace_back();
            made.numbers.number = e;
            made.numbers.column = node.columns;
            add_state(plan_.electrodes[e], 1);
            ++node.columns;
        }
        for (const CellPlan::Clamp& clamp : plan_.clamps) {
            const std::span<const double> course = clamp.course.numbers();
            device::NodeForm::Electrode& made = form_.nodes[clamp.slot].electrodes.emplace_back();
            made.numbers.is_clamp = 1;
            made.numbers.holds = clamp.holds ? 1 : 0;
            made.numbers.differs = clamp.differs_per_cell ? 1 : 0;
            made.numbers.first_number = static_cast<u32>(clamp.first_number);
            made.numbers.number_count = static_cast<u32>(course.size());
            made.course.assign(course.begin(), course.end());
        }
    }

    const CellPlan& plan_;
    double step_;
    device::CellForm form_;
};

}  // namespace

device::CellForm device_form(const CellPlan& plan, double step) { return FormMaker(plan, step).make(); }

std::optional<std::string> missing_on_devices(const CellSpec& spec) {
    const auto has_too_many = [](const MechanismModel& model) {
        return model.general != nullptr && model.general->currents.size() > most_currents;
    };
    const auto too_many = [](std::string_view name) {
        return "mechanisms with more than " + std::to_string(most_currents) + " currents, such as '" +
               std::string(name) + "'";
    };
    for (const PaintedMechanism& painted : spec.mechanisms) {
        const MechanismModel& model = *painted.mechanism;
        if (has_too_many(model)) return too_many(model.name);
        if (spec.rates != RateMethod::exact) continue;
        for (const GateInfo& gate : model.gates) {
            if (gate.program == nullptr) {
                return "rates='exact' of built-in mechanisms, such as '" + std::string(model.name) + "'";
            }
        }
    }
    for (const PlacedReceptor& receptor : spec.receptors) {
        if (receptor.model->general != nullptr && has_too_many(*receptor.model->general))
            return too_many(receptor.name);
    }
    return std::nullopt;
}

}  // namespace ranvier::cable
