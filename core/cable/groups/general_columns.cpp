#include "cable/groups/general_columns.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace ranvier::cable {

void serialize_general(const CellModel& model, const CellPlan& plan, CellStore& store, std::size_t cell,
                       StateColumns& columns) {
    std::set<std::pair<std::uint32_t, std::size_t>> states;  // mechanism and state, over all kinds
    for (std::size_t kind = 0; kind < model.kinds(); ++kind) {
        const std::vector<PaintedMechanism>& painted = model.spec(kind).mechanisms;
        for (std::uint32_t m = 0; m < painted.size(); ++m) {
            if (painted[m].mechanism->general == nullptr) continue;
            for (std::size_t s = 0; s < painted[m].mechanism->variables(); ++s) states.emplace(m, s);
        }
    }
    for (const auto& [m, s] : states) {
        const std::size_t state = s;
        const bool is_mechanism = m < plan.spec->mechanisms.size();
        const std::optional<std::size_t> found = is_mechanism ? plan.general_of(m) : std::nullopt;
        const std::size_t index = found.value_or(0);
        const GeneralPlan* const general_plan = found ? &plan.generals[index] : nullptr;
        const bool has = general_plan != nullptr && state < general_plan->model->variables();
        double nowhere = 0.0;
        columns.serialize_list<double>("state_" + std::to_string(m) + "_" + std::to_string(state), plan.slots(),
                                       [&](std::size_t node) -> double& {
                                           const std::uint32_t slot = plan.slot_of_node[node];
                                           if (!has || !general_plan->is_at(slot)) return nowhere;
                                           return store.state(cell, index, general_plan->place_of(slot), state);
                                       });
    }
}

void serialize_sites(std::uint32_t receptor, std::size_t sites, const CellPlan& plan, CellStore& store,
                     std::size_t cell, StateColumns& columns) {
    const std::size_t general = plan.general_of_receptor(receptor).value();
    const GeneralPlan& general_plan = plan.generals[general];
    double nowhere = 0.0;
    for (std::size_t site = 0; site < sites; ++site) {
        const std::string of = "site_" + std::to_string(receptor) + "_" + std::to_string(site) + "_";
        for (std::size_t s = 0; s < general_plan.model->variables(); ++s) {
            double& value = site < general_plan.slots.size() ? store.state(cell, general, site, s) : nowhere;
            columns.serialize(of + std::to_string(s), value);
        }
    }
}

}  // namespace ranvier::cable
