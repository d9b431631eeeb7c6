#include "cable/groups/cell_arrangement.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cable/groups/equal_cells.hpp"
#include "cable/groups/packed_cells.hpp"

namespace ranvier::cable {

CellLayouts::CellLayouts(const CellModel& model, std::vector<std::uint32_t> kinds_of_cells,
                         std::shared_ptr<PlanLibrary> library, InstructionSet instruction_set)
    : model_(model),
      kinds_of_cells_(std::move(kinds_of_cells)),
      library_(std::move(library)),
      plans_(model.kinds()),
      instruction_set_(instruction_set),
      changing_(model.kinds()) {
    for (const std::uint32_t kind : kinds_of_cells_) {
        if (plans_[kind] != nullptr) continue;
        const CellSpec& spec = model.spec(kind);
        plans_[kind] = plan(kind, defaults_of(spec.per_cell));
        for (std::uint32_t parameter = 0; parameter < spec.per_cell.size(); ++parameter)
            changing_[kind].push_back(changes_plan(spec, parameter));
    }
}

std::vector<double> CellLayouts::plan_values(std::uint32_t kind, std::vector<double> per_cell_values) const {
    for (std::size_t parameter = 0; parameter < per_cell_values.size(); ++parameter) {
        if (!changing_[kind][parameter])
            per_cell_values[parameter] = model_.spec(kind).per_cell[parameter].default_value;
    }
    return per_cell_values;
}

std::shared_ptr<const CellPlan> CellLayouts::plan(std::uint32_t kind, std::span<const double> per_cell_values) const {
    if (plans_[kind] != nullptr && std::ranges::equal(plans_[kind]->per_cell_values, per_cell_values))
        return plans_[kind];
    return library_->plan(kind, per_cell_values);
}

CellArrangement::CellArrangement(const CellLayouts& layouts, std::span<const models::GroupValues> parameters,
                                 std::pmr::memory_resource* memory)
    : per_cell_values_(memory), per_cell_count_(parameters.size()), homes_(layouts.cells(), memory) {
    for (std::size_t cell = 0; cell < layouts.cells(); ++cell) {
        for (const models::GroupValues& values : parameters) per_cell_values_.push_back(values[cell]);
    }
    std::map<std::pair<std::uint32_t, std::vector<double>>, std::vector<std::uint32_t>> alike;
    for (std::uint32_t cell = 0; cell < layouts.cells(); ++cell) {
        const std::uint32_t kind = layouts.kind_of(cell);
        alike[{kind, layouts.plan_values(kind, per_cell_values(cell))}].push_back(cell);
    }
    std::vector<std::uint32_t> others;
    for (auto& [variant, cells] : alike) {
        const std::size_t rest = cells.size() % lanes;
        const std::size_t equal = rest >= least_equal ? cells.size() : cells.size() - rest;
        others.insert(others.end(), cells.begin() + static_cast<std::ptrdiff_t>(equal), cells.end());
        cells.resize(equal);
        if (equal == 0) continue;
        CellSettings settings_of_cells = settings(cells, layouts, per_cell_values_);
        add(std::make_unique<EqualCells>(layouts.plan(variant.first, variant.second), std::move(cells),
                                         std::move(settings_of_cells), layouts.step(), layouts.instruction_set(),
                                         memory));
    }
    std::ranges::sort(others);
    for (std::size_t begin = 0; begin < others.size();) {
        std::size_t end = begin + 1;
        std::size_t nodes = layouts.of(others[begin]).slots();
        while (end < others.size() && nodes + layouts.of(others[end]).slots() <= most_nodes) {
            nodes += layouts.of(others[end]).slots();
            ++end;
        }
        pack(std::span(others).subspan(begin, end - begin), layouts, memory);
        begin = end;
    }
}

std::vector<double> CellArrangement::per_cell_values(std::size_t cell) const {
    const auto first = per_cell_values_.begin() + static_cast<std::ptrdiff_t>(cell * per_cell_count_);
    return {first, first + static_cast<std::ptrdiff_t>(per_cell_count_)};
}

CellArrangement::Plans CellArrangement::plans(const CellLayouts& layouts) const {
    Plans made;
    std::map<std::pair<std::uint32_t, std::vector<double>>, std::uint32_t> known;
    for (std::size_t cell = 0; cell < homes_.size(); ++cell) {
        const std::uint32_t kind = layouts.kind_of(cell);
        const auto number = static_cast<std::uint32_t>(made.plans.size());
        const auto [found, is_new] =
            known.try_emplace({kind, layouts.plan_values(kind, per_cell_values(cell))}, number);
        if (is_new) made.plans.push_back(layouts.plan(kind, found->first.second));
        made.of_cells.push_back(found->second);
    }
    return made;
}

void CellArrangement::add(std::unique_ptr<CellStore> store) {
    std::uint32_t number = 0;
    for (std::size_t block = 0; block < store->blocks(); ++block) {
        for (const std::uint32_t cell : store->cells_of(block)) {
            homes_[cell] = {static_cast<std::uint32_t>(stores_.size()), number++};
        }
    }
    stores_.push_back(std::move(store));
}

void CellArrangement::pack(std::span<const std::uint32_t> cells, const CellLayouts& layouts,
                           std::pmr::memory_resource* memory) {
    std::vector<std::shared_ptr<const CellPlan>> plans;
    std::vector<const CellPlan*> given;
    std::vector<std::shared_ptr<const CellPlan>> shared;
    for (const std::uint32_t cell : cells) {
        const std::uint32_t kind = layouts.kind_of(cell);
        plans.push_back(layouts.plan(kind, layouts.plan_values(kind, per_cell_values(cell))));
        given.push_back(plans.back().get());
        shared.push_back(layouts.shared(cell));
    }
    add(std::make_unique<PackedCells>(std::vector(cells.begin(), cells.end()), given, std::move(shared),
                                      settings(cells, layouts, per_cell_values_), layouts.step(),
                                      layouts.instruction_set(), memory));
}

CellSettings CellArrangement::settings(std::span<const std::uint32_t> cells, const CellLayouts& layouts,
                                       const std::pmr::vector<double>& per_cell_values) const {
    CellSettings made(per_cell_values.get_allocator().resource());
    for (const std::uint32_t cell : cells) {
        made.add(layouts.spec(cell), std::span(per_cell_values).subspan(cell * per_cell_count_, per_cell_count_),
                 layouts.step());
    }
    return made;
}

CellArrangement::Settings CellArrangement::prepare_settings(std::span<const models::GroupValues> parameters,
                                                            const CellLayouts& layouts) const {
    Settings prepared{.per_cell_values = std::pmr::vector<double>(per_cell_values_.get_allocator()), .of_stores = {}};
    for (std::size_t cell = 0; cell < layouts.cells(); ++cell) {
        for (const models::GroupValues& values : parameters) prepared.per_cell_values.push_back(values[cell]);
    }
    for (const auto& store : stores_) {
        std::vector<std::uint32_t> cells;
        for (std::size_t block = 0; block < store->blocks(); ++block) {
            const auto of_block = store->cells_of(block);
            cells.insert(cells.end(), of_block.begin(), of_block.end());
        }
        prepared.of_stores.push_back(settings(cells, layouts, prepared.per_cell_values));
    }
    return prepared;
}

void CellArrangement::swap_settings(Settings& settings) noexcept {
    per_cell_values_.swap(settings.per_cell_values);
    for (std::size_t i = 0; i < stores_.size(); ++i) std::swap(stores_[i]->settings(), settings.of_stores[i]);
}

void CellArrangement::take(const CellArrangement& other, const CellLayouts& layouts) noexcept {
    for (std::size_t cell = 0; cell < homes_.size(); ++cell) {
        const CellPlan& plan = layouts.of(cell);
        CellStore& to = store(cell);
        CellStore& from = other.store(cell);
        const std::size_t k = homes_[cell].cell;
        const std::size_t j = other.homes_[cell].cell;
        for (std::uint32_t slot = 0; slot < plan.slots(); ++slot) to.potential(k, slot) = from.potential(j, slot);
        for (std::size_t c = 0; c < plan.classes.size(); ++c) {
            const CellPlan::Class& compartment_class = plan.classes[c];
            for (std::size_t place = 0; place < compartment_class.slots.size(); ++place) {
                for (std::size_t g = 0; g < compartment_class.gates.size(); ++g)
                    to.gate(k, c, place, g) = from.gate(j, c, place, g);
            }
        }
        for (std::size_t p = 0; p < plan.pools.size(); ++p) to.calcium(k, p) = from.calcium(j, p);
        for (std::size_t g = 0; g < plan.generals.size(); ++g) {
            const GeneralPlan& general_plan = plan.generals[g];
            for (std::size_t place = 0; place < general_plan.slots.size(); ++place) {
                for (std::size_t s = 0; s < general_plan.model->general->states.size(); ++s) {
                    to.state(k, g, place, s) = from.state(j, g, place, s);
                }
            }
        }
        for (std::size_t r = 0; r < plan.receptors.size(); ++r) {
            to.slow(k, r) = from.slow(j, r);
            to.fast(k, r) = from.fast(j, r);
        }
    }
}

}  // namespace ranvier::cable
