#include "device/backend/cell_forest.hpp"

#include <algorithm>
#include <tuple>

#include "ranvier/base/errors.hpp"

namespace ranvier::device {

/// Builds the forest of a block.
class CellForests::Builder {
   public:
    explicit Builder(CellForests& all) : all_(all) {}

    void add(const CellGroupOfBlock& group) {
        image_.sites_of_groups.resize((group.number + std::size_t{1}) * most_receptors, 1);
        for (u32 r = 0; r < group.receptors; ++r) {
            image_.sites_of_groups[group.number * most_receptors + r] = group.cells->sites_at(r);
        }
        CellSource::Forms forms = group.cells->forms();
        const auto first_form = static_cast<u32>(forms_.size());
        for (const auto& form : forms.forms) add_form(*form);
        for (u32 i = 0; i < group.count; ++i) {
            const FormInBlock& form = forms_[first_form + forms.of_cells[i]];
            const auto cell = static_cast<u32>(image_.cells.size());
            image_.cells.push_back({.threshold = group.cells->threshold(i),
                                    .group = group.number,
                                    .number = i,
                                    .first_number = add_numbers(group.cells->clamp_numbers(i))});
            form_of_cells_.push_back(first_form + forms.of_cells[i]);
            for (u32 node = 0; node < form.depths.size(); ++node) {
                waiting_.push_back({form.depths[node], form.signatures[node], form.first_kind + node, cell, node});
            }
        }
        forest_.versions.push_back(group.cells->version());
        forest_.forms.push_back(std::move(forms));
    }

    std::pair<CellsImage, Forest> finish() {
        if (!waiting_.empty()) {
            std::ranges::sort(waiting_, {}, [](const Waiting& node) {
                return std::tuple(node.depth, node.signature, node.kind, node.cell);
            });
            place_nodes();
            join_nodes();
        }
        forest_.nodes = image_.nodes;
        forest_.states = image_.states;
        return {std::move(image_), std::move(forest_)};
    }

   private:
    /// A node of a cell that has no position yet.
    struct Waiting {
        u32 depth;
        u32 signature;
        u32 kind;
        u32 cell;
        u32 node;
    };
    struct FormInBlock {
        const CellForm* form = nullptr;
        u32 first_kind = 0;
        std::vector<u32> depths;  ///< by node
        std::vector<u32> signatures;
    };

    u32 add_numbers(std::span<const double> numbers) {
        const auto first = static_cast<u32>(image_.numbers.size());
        image_.numbers.insert(image_.numbers.end(), numbers.begin(), numbers.end());
        return first;
    }

    void add_form(const CellForm& form) {
        FormInBlock made{
            .form = &form, .first_kind = static_cast<u32>(image_.kinds.size()), .depths = {}, .signatures = {}};
        std::vector<u32> classes;
        classes.reserve(form.classes.size());
        for (const RateForm& each : form.classes) classes.push_back(class_number(each));
        std::vector<u32> mechanisms;
        mechanisms.reserve(form.mechanisms.size());
        for (const MechanismForm& each : form.mechanisms) mechanisms.push_back(all_.mechanism_number(each));
        for (std::size_t node = 0; node < form.nodes.size(); ++node) {
            made.depths.push_back(node == 0 ? 0 : made.depths[form.parents[node]] + 1);
            made.signatures.push_back(add_kind(form.nodes[node], classes, mechanisms));
        }
        forms_.push_back(std::move(made));
    }

    /// @param classes, mechanisms numbers of those of the form. Returns the signature of its nodes: those with the same one
    /// do the same, with other constants.
    u32 add_kind(const NodeForm& form, std::span<const u32> classes, std::span<const u32> mechanisms) {
        NodeKind kind = form.kind;
        std::vector<u32> signature{form.columns, form.pool ? 1U : 0U, static_cast<u32>(form.receptors.size()),
                                   static_cast<u32>(form.electrodes.size())};
        kind.first_class = static_cast<u32>(image_.classes_of_kinds.size());
        kind.class_count = static_cast<u32>(form.classes.size());
        for (const u32 number : form.classes) {
            image_.classes_of_kinds.push_back(classes[number]);
            signature.push_back(classes[number]);
        }
        kind.first_conductance = add_numbers(form.conductances);
        if (form.pool) {
            image_.pools.push_back(*form.pool);
            kind.pool = static_cast<u32>(image_.pools.size());
        }
        kind.first_receptor = static_cast<u32>(image_.receptors.size());
        kind.receptor_count = static_cast<u32>(form.receptors.size());
        for (const NodeForm::Receptor& each : form.receptors) {
            CellReceptor& receptor = image_.receptors.emplace_back(each.numbers);
            receptor.first_site = static_cast<u32>(image_.sites.size());
            receptor.site_count = static_cast<u32>(each.sites.size());
            image_.sites.insert(image_.sites.end(), each.sites.begin(), each.sites.end());
        }
        kind.first_electrode = static_cast<u32>(image_.electrodes.size());
        kind.electrode_count = static_cast<u32>(form.electrodes.size());
        for (const NodeForm::Electrode& each : form.electrodes) {
            CellElectrode& electrode = image_.electrodes.emplace_back(each.numbers);
            if (electrode.is_clamp != 0 && electrode.differs == 0) electrode.first_number = add_numbers(each.course);
        }
        kind.first_place = static_cast<u32>(image_.places.size());
        kind.place_count = static_cast<u32>(form.places.size());
        for (const NodeForm::Place& each : form.places) {
            CellPlace& place = image_.places.emplace_back(each.numbers);
            place.mechanism = mechanisms[each.mechanism];
            place.first_number = add_numbers(each.inputs);
            place.first_jump = add_numbers(each.jumps);
            signature.push_back(~place.mechanism);
        }
        image_.kinds.push_back(kind);
        columns_.push_back(form.columns);
        return signatures_.try_emplace(std::move(signature), static_cast<u32>(signatures_.size())).first->second;
    }

    u32 class_number(const RateForm& form) {
        const auto [found, is_new] = classes_.try_emplace(form.key, static_cast<u32>(image_.classes.size()));
        if (!is_new) return found->second;
        RateClass made = form.numbers;
        if (form.table.empty()) {
            made.has_table = 0;
            made.first_exact = static_cast<u32>(image_.exact_gates.size());
            for (std::size_t gate = 0; gate < form.gates.size(); ++gate) {
                image_.exact_gates.push_back({all_.rate_number(form.gates[gate]), add_numbers(form.parameters[gate])});
            }
        } else {
            made.table = all_.table_place(form.table);
        }
        made.first_current = static_cast<u32>(image_.currents.size());
        image_.currents.insert(image_.currents.end(), form.currents.begin(), form.currents.end());
        image_.classes.push_back(made);
        return found->second;
    }

    void place_nodes() {
        std::size_t first = 0;
        for (const u32 form : form_of_cells_) {
            forest_.first_positions.push_back(first);
            first += forms_[form].depths.size();
        }
        forest_.positions.assign(first, 0);
        for (std::size_t begin = 0; begin < waiting_.size();) {
            std::size_t end = begin;
            while (end < waiting_.size() && waiting_[end].depth == waiting_[begin].depth &&
                   waiting_[end].signature == waiting_[begin].signature) {
                ++end;
            }
            if (begin == 0 || waiting_[begin].depth != waiting_[begin - 1].depth) {
                image_.level_begins.push_back(static_cast<u32>(begin));
            }
            for (std::size_t n = begin; n < end; ++n) {
                const Waiting& node = waiting_[n];
                forest_.positions[forest_.first_positions[node.cell] + node.node] = static_cast<u32>(n);
                image_.nodes.push_back({.kind = node.kind,
                                        .cell = node.cell,
                                        .first_state = static_cast<u32>(image_.states + (n - begin)),
                                        .stride = static_cast<u32>(end - begin)});
            }
            image_.states += (end - begin) * columns_[waiting_[begin].kind];
            begin = end;
        }
        image_.level_begins.push_back(static_cast<u32>(waiting_.size()));
        if (image_.states > UINT32_MAX || image_.numbers.size() > UINT32_MAX) {
            throw StateError({.object = "detailed cells of a block of a device",
                              .value = std::to_string(std::max(image_.states, image_.numbers.size())) + " numbers",
                              .bound = "there can be at most 2^32",
                              .remedy = "use more blocks (shards), or run on processors: device='cpu'"});
        }
    }

    /// Children are joined in the order of the elimination on processors: from the last one on.
    void join_nodes() {
        std::vector<std::vector<u32>> children;
        for (u32 cell = 0; cell < form_of_cells_.size(); ++cell) {
            const std::vector<u32>& parents = forms_[form_of_cells_[cell]].form->parents;
            const u32* const positions = forest_.positions.data() + forest_.first_positions[cell];
            children.assign(parents.size(), {});
            for (std::size_t node = parents.size(); --node > 0;) children[parents[node]].push_back(positions[node]);
            for (std::size_t node = 0; node < parents.size(); ++node) {
                CellNode& placed = image_.nodes[positions[node]];
                placed.parent = positions[node == 0 ? 0 : parents[node]];
                placed.first_child = static_cast<u32>(image_.children.size());
                placed.child_count = static_cast<u32>(children[node].size());
                image_.children.insert(image_.children.end(), children[node].begin(), children[node].end());
            }
        }
    }

    CellForests& all_;
    CellsImage image_;
    Forest forest_;
    std::vector<FormInBlock> forms_;
    std::vector<u32> columns_;  ///< by kind
    std::vector<u32> form_of_cells_;
    std::vector<Waiting> waiting_;
    std::map<std::vector<std::uint64_t>, u32> classes_;
    std::map<std::vector<u32>, u32> signatures_;
};

CellForests::CellForests(std::vector<std::vector<CellGroupOfBlock>> blocks) : blocks_(std::move(blocks)) {
    programs_.has_cells = std::ranges::any_of(blocks_, [](const auto& groups) { return !groups.empty(); });
}

bool CellForests::have_changed() const {
    for (std::size_t b = 0; b < forests_.size(); ++b) {
        for (std::size_t g = 0; g < blocks_[b].size(); ++g) {
            if (forests_[b].versions[g] != blocks_[b][g].cells->version()) return true;
        }
    }
    return false;
}

std::vector<CellsImage> CellForests::images() {
    std::vector<CellsImage> images;
    forests_.clear();
    rates_.clear();
    tables_.clear();
    for (const auto& groups : blocks_) {
        Builder builder(*this);
        for (const CellGroupOfBlock& group : groups) builder.add(group);
        auto [image, forest] = builder.finish();
        images.push_back(std::move(image));
        forests_.push_back(std::move(forest));
    }
    // Of all blocks.
    for (CellsImage& image : images) image.mechanisms = mechanisms_;
    return images;
}

u32 CellForests::mechanism_number(const MechanismForm& form) {
    const auto number = static_cast<u32>(mechanisms_.size());
    const auto [found, is_new] = mechanism_numbers_.try_emplace({form.programs.step, form.programs.has_half}, number);
    if (!is_new) return found->second;
    mechanisms_.push_back(form.numbers);
    mechanisms_.back().program = number;
    programs_.mechanisms.push_back(form.programs);
    return number;
}

u32 CellForests::rate_number(const RateProgram& rate) {
    const auto [found, is_new] = rate_numbers_.try_emplace(rate.program, static_cast<u32>(programs_.rates.size()));
    if (is_new) programs_.rates.push_back(rate);
    return found->second;
}

u64 CellForests::table_place(std::span<const double> table) {
    const auto [found, is_new] = tables_.try_emplace(table.data(), rates_.size());
    if (is_new) rates_.insert(rates_.end(), table.begin(), table.end());
    return found->second;
}

template <class Act>
void CellForests::for_cells(std::size_t block, const Act& act) const {
    const Forest& forest = forests_[block];
    std::size_t cell = 0;
    for (std::size_t g = 0; g < blocks_[block].size(); ++g) {
        for (u32 i = 0; i < blocks_[block][g].count; ++i, ++cell) {
            const CellForm& form = *forest.forms[g].forms[forest.forms[g].of_cells[i]];
            act(blocks_[block][g], i, form,
                std::span(forest.positions).subspan(forest.first_positions[cell], form.nodes.size()));
        }
    }
}

void CellForests::read(std::size_t block, i64 now, BlockState& state) const {
    if (is_empty()) return;
    const Forest& forest = forests_[block];
    state.cells.potential.assign(forest.nodes.size(), 0.0);
    state.cells.states.assign(forest.states, 0.0);
    std::vector<double> numbers;
    for_cells(block, [&](const CellGroupOfBlock& group, u32 i, const CellForm& form, std::span<const u32> positions) {
        numbers.clear();
        group.cells->read_state(i, numbers);
        auto next = numbers.begin();
        for (const u32 position : positions) state.cells.potential[position] = *next++;
        for (const CellForm::StatePlace& place : form.state) {
            const CellNode& node = forest.nodes[positions[place.node]];
            state.cells.states[node.first_state + std::size_t{place.column} * node.stride] = *next++;
        }
        state.refractory[group.first + i] = group.cells->refractory(i, now);
    });
}

void CellForests::write(std::size_t block, i64 now, const BlockState& state) const {
    if (is_empty()) return;
    const Forest& forest = forests_[block];
    std::vector<double> numbers;
    for_cells(block, [&](const CellGroupOfBlock& group, u32 i, const CellForm& form, std::span<const u32> positions) {
        numbers.clear();
        for (const u32 position : positions) numbers.push_back(state.cells.potential[position]);
        for (const CellForm::StatePlace& place : form.state) {
            const CellNode& node = forest.nodes[positions[place.node]];
            numbers.push_back(state.cells.states[node.first_state + std::size_t{place.column} * node.stride]);
        }
        group.cells->write_state(i, now, numbers);
        group.cells->set_refractory(i, now, state.refractory[group.first + i]);
    });
}

}  // namespace ranvier::device
