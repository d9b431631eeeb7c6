#include "cable/plans/packed_plan.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

/// The classes of a node, one for each kind of input of gates, and whether it has a pool; 0: no mechanisms.
using Signature = std::uint64_t;
constexpr Signature no_node = ~Signature{0};
constexpr unsigned bits_of_class = 20;
constexpr Signature pool_bit = Signature{1} << 62;

Signature signature_of(Follows follows, std::uint32_t class_number) {
    if (class_number + 1 >= std::uint32_t{1} << bits_of_class) throw InternalError("too many kinds of compartments");
    return Signature{class_number + 1} << bits_of_class * static_cast<unsigned>(follows);
}

/// The index of the class with this input, plus 1; 0: none.
Signature class_in(Signature signature, Follows follows) {
    const Signature mask = (Signature{1} << bits_of_class) - 1;
    return signature >> bits_of_class * static_cast<unsigned>(follows) & mask;
}

/// The signature for which a slot is calculated in place, or 0: that of all its nodes, or of at least `least` of
/// them.
/// @param is_exact whether a signature has a class without a rate table: formulas are not finite at all potentials
///         that other membranes can have
template <class IsExact>
Signature signature_in_place(std::span<const Signature> nodes, std::size_t least, const IsExact& is_exact) {
    // The first lane always has a node.
    const auto is_alike = [&](Signature each) { return each == nodes[0] || each == no_node; };
    if (std::ranges::all_of(nodes, is_alike)) return nodes[0];
    for (const Signature each : nodes) {
        const auto count = static_cast<std::size_t>(std::ranges::count(nodes, each));
        if (each == 0 || each == no_node || count < least) continue;
        if (count == lanes || !is_exact(each)) return each;
    }
    return 0;
}

/// Chunks of elements with the same key.
template <class Key>
class Chunks {
   public:
    void add(const Key& key, std::uint32_t number, std::uint32_t cell, std::uint32_t position,
             const ReceptorConstants& constants = {}, std::uint32_t receptor = 0) {
        auto& open = open_[key];
        if (open.empty() || open.back().cells.back() != PackedPlan::nowhere) {
            open.push_back({.number = number, .constants = constants, .receptors = {}, .cells = {}, .positions = {}});
            open.back().cells.fill(PackedPlan::nowhere);
        }
        PackedPlan::Chunk& chunk = open.back();
        const auto lane =
            static_cast<std::size_t>(std::ranges::find(chunk.cells, PackedPlan::nowhere) - chunk.cells.begin());
        chunk.cells[lane] = cell;
        chunk.receptors[lane] = receptor;
        chunk.positions[lane] = position;
    }
    /// By key. Free lanes get separate positions, which belong to no node.
    void take(std::vector<PackedPlan::Chunk>& chunks, std::size_t idle_slot) {
        for (auto& [key, open] : open_) {
            for (PackedPlan::Chunk& chunk : open) {
                for (std::size_t l = 0; l < lanes; ++l) {
                    if (chunk.cells[l] != PackedPlan::nowhere) continue;
                    chunk.positions[l] = static_cast<std::uint32_t>(idle_slot * lanes + l);
                }
                chunks.push_back(chunk);
            }
        }
    }

   private:
    std::map<Key, std::vector<PackedPlan::Chunk>> open_;
};

std::vector<std::uint64_t> key_of(const ReceptorConstants& c) {
    std::vector<std::uint64_t> key;
    for (const double value :
         {c.reversal, c.decay, c.rise, c.scale, c.half_decay, c.half_rise, c.blockers, c.block_slope}) {
        key.push_back(std::bit_cast<std::uint64_t>(value));
    }
    return key;
}

/// The place in a class of the lane of a position.
std::size_t place_in(std::span<const std::uint32_t> slots, std::uint32_t position) {
    const auto found = std::ranges::lower_bound(slots, position / static_cast<std::uint32_t>(lanes));
    return static_cast<std::size_t>(found - slots.begin()) * lanes + position % lanes;
}

}  // namespace

PackedPlan::Class::Class(const CellPlan::Class& model, std::pmr::memory_resource* memory)
    : follows(model.follows),
      gates(model.gates),
      table(model.table),
      slots(memory),
      present(memory),
      currents(model.currents),
      calcium_currents(model.calcium_currents) {}

PackedPlan::PackedPlan(Cells cells, std::pmr::memory_resource* memory)
    : axial(memory),
      capacity(memory),
      leak(memory),
      drive(memory),
      level_begins(memory),
      join_begins(memory),
      joins(memory),
      begin_slots(memory),
      late_begins(memory),
      late_slots(memory),
      is_plain(memory),
      sources(memory),
      pools(memory),
      positions(memory),
      gather_slots(memory) {
    place_nodes(cells);
    add_classes(cells, memory);
    place_mechanisms(cells);
    fill_cable(cells);
    fill_classes(cells, memory);
    fill_pools(cells);
    add_receptors(cells);
    add_electrodes(cells);
    choose_begins(cells);
}

void PackedPlan::place_nodes(Cells cells) {
    std::vector<const Compartments*> trees;
    std::size_t all = 0;
    for (const CellPlan* const cell : cells) {
        trees.push_back(&cell->spec->compartments);
        first_.push_back(all);
        all += cell->slots();
    }
    const PackedOrder order(trees);
    node_slots = order.slots();
    level_begins.assign(order.level_begins.begin(), order.level_begins.end());
    join_begins.assign(order.join_begins.begin(), order.join_begins.end());
    positions.resize(all);
    axial.assign(node_slots * lanes, 0.0);
    for (std::size_t k = 0; k < cells.size(); ++k) {
        const std::vector<std::uint32_t>& slot_of_node = cells[k]->slot_of_node;
        for (std::size_t node = 0; node < slot_of_node.size(); ++node) {
            positions[first_[k] + slot_of_node[node]] = order.positions[k][node];
            axial[order.positions[k][node]] = cells[k]->axial[slot_of_node[node]];
        }
    }
    for (const PackedOrder::Join& join : order.joins) {
        joins.push_back({join.child, join.parent, std::exchange(axial[join.child], 0.0)});
    }
}

void PackedPlan::add_classes(Cells cells, std::pmr::memory_resource* memory) {
    for (const CellPlan* const cell : cells) {
        first_classes_.push_back(classes_of_.size());
        classes_of_.resize(classes_of_.size() + cell->classes.size());
    }
    std::map<std::vector<std::uint64_t>, std::uint32_t> numbers;
    // A compartment may have a class for each, and its currents are added in this order.
    for (const Follows follows : all_followed) {
        for (std::size_t k = 0; k < cells.size(); ++k) {
            for (std::size_t c = 0; c < cells[k]->classes.size(); ++c) {
                const CellPlan::Class& compartment_class = cells[k]->classes[c];
                if (compartment_class.follows != follows) continue;
                const auto [found, is_new] =
                    numbers.try_emplace(compartment_class.key, static_cast<std::uint32_t>(classes.size()));
                if (is_new) {
                    classes.emplace_back(compartment_class, memory);
                    classes.back().celsius = cells[k]->spec->celsius;
                }
                classes_of_[first_classes_[k] + c] = found->second;
            }
        }
    }
}

void PackedPlan::place_mechanisms(Cells cells) {
    // A node has at most one class for each kind of input of gates.
    std::vector<Signature> signatures(node_slots * lanes, no_node);
    for (std::size_t k = 0; k < cells.size(); ++k) {
        for (std::uint32_t slot = 0; slot < cells[k]->slots(); ++slot) signatures[position(k, slot)] = 0;
        for (std::size_t c = 0; c < cells[k]->classes.size(); ++c) {
            const CellPlan::Class& compartment_class = cells[k]->classes[c];
            const Signature bits = signature_of(compartment_class.follows, class_of(k, c));
            for (const std::uint32_t slot : compartment_class.slots) signatures[position(k, slot)] |= bits;
        }
        for (const std::uint32_t slot : cells[k]->pools.slots) signatures[position(k, slot)] |= pool_bit;
    }
    const auto give_slot = [&](Signature signature, std::uint32_t slot) {
        for (const Follows follows : all_followed) {
            const Signature number = class_in(signature, follows);
            if (number != 0) classes[number - 1].slots.push_back(slot);
        }
        if ((signature & pool_bit) != 0) pools.slots.push_back(slot);
    };
    gather_slots.assign(positions.begin(), positions.end());
    std::vector<std::uint32_t> gather_slot_at(node_slots * lanes);
    for (std::uint32_t p = 0; p < gather_slot_at.size(); ++p) gather_slot_at[p] = p;
    const auto is_exact = [&](Signature signature) {
        return std::ranges::any_of(all_followed, [&](Follows follows) {
            const Signature number = class_in(signature, follows);
            return number != 0 && classes[number - 1].table == nullptr;
        });
    };
    std::map<Signature, std::vector<std::uint32_t>> at_gather_slots;
    for (std::uint32_t slot = 0; slot < node_slots; ++slot) {
        const std::span lane_signatures = std::span(signatures).subspan(slot * lanes, lanes);
        const Signature in_place = signature_in_place(lane_signatures, least_in_place, is_exact);
        give_slot(in_place, slot);
        for (std::uint32_t l = 0; l < lanes; ++l) {
            if (lane_signatures[l] == 0 || lane_signatures[l] == no_node || lane_signatures[l] == in_place) continue;
            at_gather_slots[lane_signatures[l]].push_back(static_cast<std::uint32_t>(slot * lanes) + l);
        }
    }
    for (const auto& [signature, nodes] : at_gather_slots) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const auto slot = static_cast<std::uint32_t>(node_slots + sources.size() / lanes);
            if (i % lanes == 0) give_slot(signature, slot);
            gather_slot_at[nodes[i]] = static_cast<std::uint32_t>(node_slots * lanes + sources.size());
            sources.push_back(nodes[i]);
        }
        while (sources.size() % lanes != 0) {
            sources.push_back(static_cast<std::uint32_t>(node_slots * lanes + sources.size()));
        }
    }
    for (std::uint32_t& gather_slot : gather_slots) gather_slot = gather_slot_at[gather_slot];
}

void PackedPlan::fill_cable(Cells cells) {
    // One additional slot as the padding of incomplete receptors and electrodes.
    const std::size_t all = (node_slots + 1) * lanes + sources.size();
    capacity.assign(all, 0.0);
    leak.assign(all, 1.0);
    drive.assign(all, 0.0);
    for (std::size_t k = 0; k < cells.size(); ++k) {
        for (std::uint32_t slot = 0; slot < cells[k]->slots(); ++slot) {
            // Receptors read those at the node itself, too.
            for (const std::uint32_t at : {gather_slot(k, slot), position(k, slot)}) {
                capacity[at] = cells[k]->capacity[slot];
                leak[at] = cells[k]->leak[slot];
                drive[at] = cells[k]->drive[slot];
            }
        }
    }
}

void PackedPlan::fill_classes(Cells cells, std::pmr::memory_resource* memory) {
    const auto fill = [&](std::size_t k, std::size_t c) {
        const CellPlan::Class& given = cells[k]->classes[c];
        Class& packed_class = classes[class_of(k, c)];
        packed_class.present.resize(packed_class.slots.size() * lanes, 0.0);
        for (const std::uint32_t slot : given.slots)
            packed_class.present[place_in(packed_class.slots, gather_slot(k, slot))] = 1.0;
        packed_class.conductances.resize(given.conductances.size(), AlignedVector<double>(memory));
        for (std::size_t g = 0; g < given.conductances.size(); ++g) {
            packed_class.conductances[g].resize(packed_class.slots.size() * lanes, 0.0);
            for (std::size_t i = 0; i < given.slots.size(); ++i) {
                packed_class.conductances[g][place_in(packed_class.slots, gather_slot(k, given.slots[i]))] =
                    given.conductances[g][i];
            }
        }
        // Currents keep their order, and their references to conductances.
        const auto point = [&](std::vector<KernelCurrent>& to, const std::vector<KernelCurrent>& from) {
            for (std::size_t i = 0; i < to.size(); ++i) {
                const auto found = std::ranges::find(given.conductances, from[i].conductance,
                                                     [](const AlignedVector<double>& values) { return values.data(); });
                to[i].conductance =
                    packed_class.conductances[static_cast<std::size_t>(found - given.conductances.begin())].data();
            }
        };
        point(packed_class.currents, given.currents);
        point(packed_class.calcium_currents, given.calcium_currents);
    };
    for (std::size_t k = 0; k < cells.size(); ++k) {
        for (std::size_t c = 0; c < cells[k]->classes.size(); ++c) fill(k, c);
    }
}

void PackedPlan::fill_pools(Cells cells) {
    pools.nernst = cells.front()->pools.nernst;
    const auto each = [&](AlignedVector<double> PoolPlan::* member, double idle) {
        AlignedVector<double>& values = pools.*member;
        values.assign(pools.slots.size() * lanes, idle);
        for (std::size_t k = 0; k < cells.size(); ++k) {
            const PoolPlan& given = cells[k]->pools;
            for (std::size_t p = 0; p < given.size(); ++p) {
                values[place_in(pools.slots, gather_slot(k, given.slots[p]))] = (given.*member)[p];
            }
        }
    };
    // Without a pool, a concentration of 1 stays constant.
    each(&PoolPlan::rest, 1.0);
    each(&PoolPlan::log_outside, 0.0);
    each(&PoolPlan::decay, 0.0);
    each(&PoolPlan::gain, 0.0);
    each(&PoolPlan::half_decay, 0.0);
    each(&PoolPlan::half_gain, 0.0);
}

void PackedPlan::add_receptors(Cells cells) {
    // By number and place first: the receptors in one compartment act in their order, independent of other cells with the
    // same receptors. Those with one number and place are in different compartments, as lanes must be.
    Chunks<std::tuple<std::uint32_t, std::uint32_t, std::vector<std::uint64_t>>> chunks;
    for (std::uint32_t k = 0; k < cells.size(); ++k) {
        for (std::uint32_t r = 0; r < cells[k]->receptors.size(); ++r) {
            const CellPlan::Receptor& receptor = cells[k]->receptors[r];
            chunks.add({receptor.number, receptor.place, key_of(receptor.constants)}, receptor.number, k,
                       position(k, receptor.slot), receptor.constants, r);
        }
    }
    chunks.take(receptors, all_slots() - 1);
}

void PackedPlan::add_electrodes(Cells cells) {
    Chunks<std::uint32_t> injecting;
    Chunks<std::tuple<std::uint32_t, const CellSpec*>> clamps;
    for (std::uint32_t k = 0; k < cells.size(); ++k) {
        for (std::uint32_t e = 0; e < cells[k]->electrodes.size(); ++e) {
            injecting.add(e, e, k, position(k, cells[k]->electrodes[e]));
        }
        for (std::uint32_t c = 0; c < cells[k]->clamps.size(); ++c) {
            clamps.add({c, cells[k]->spec}, c, k, position(k, cells[k]->clamps[c].slot));
        }
    }
    injecting.take(electrodes, all_slots() - 1);
    clamps_from = electrodes.size();
    clamps.take(electrodes, all_slots() - 1);
}

void PackedPlan::begin_all() {
    for (std::uint32_t slot = 0; slot < is_plain.size(); ++slot) {
        if (std::exchange(is_plain[slot], 0) == 1) begin_slots.push_back(slot);
    }
    begin_slots.insert(begin_slots.end(), late_slots.begin(), late_slots.end());
    late_slots.clear();
    std::ranges::fill(late_begins, 0);
}

void PackedPlan::choose_begins(Cells cells) {
    enum class Begin : std::uint8_t { in_level, first, in_class };
    std::vector<Begin> begins(all_slots(), Begin::first);
    std::fill_n(begins.begin(), node_slots, Begin::in_level);
    const auto needs = [&](std::size_t slot) { begins[slot] = Begin::first; };
    for (const std::uint32_t source : sources) needs(source / lanes);
    for (const std::uint32_t slot : pools.slots) needs(slot);
    for (const auto* const chunks : {&receptors, &electrodes}) {
        for (const Chunk& chunk : *chunks) {
            for (const std::uint32_t position : chunk.positions) needs(position / lanes);
        }
    }
    for (const Class& compartment_class : classes) {
        if (compartment_class.follows == Follows::potential) continue;
        for (const std::uint32_t slot : compartment_class.slots) needs(slot);
    }
    for (std::size_t k = 0; k < cells.size(); ++k) {
        for (const GeneralPlan& general : cells[k]->generals) {
            for (const std::uint32_t slot : general.slots) needs(gather_slot(k, slot) / lanes);
        }
    }
    for (const Class& compartment_class : classes) {
        if (compartment_class.follows != Follows::potential) continue;
        for (const std::uint32_t slot : compartment_class.slots) begins[slot] = Begin::in_class;
    }
    for (std::uint32_t slot = 0; slot < begins.size(); ++slot) {
        if (begins[slot] == Begin::first) begin_slots.push_back(slot);
    }
    for (const Begin begin : begins) is_plain.push_back(begin == Begin::in_level ? 1 : 0);
    late_begins.push_back(0);
    for (std::size_t level = 0; level + 1 < level_begins.size(); ++level) {
        for (std::uint32_t j = join_begins[level]; j < join_begins[level + 1]; ++j) {
            const auto slot = joins[j].parent / static_cast<std::uint32_t>(lanes);
            if (std::exchange(is_plain[slot], 0) == 1) late_slots.push_back(slot);
        }
        late_begins.push_back(static_cast<std::uint32_t>(late_slots.size()));
    }
}

}  // namespace ranvier::cable
