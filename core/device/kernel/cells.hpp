#pragma once

#include "base/math.hpp"
#include "device/kernel/machine.hpp"

/// Detailed cells in a block: the calculations of core/cable/kernels, node by node.
///
/// All cells of a block are one forest. Its nodes are sorted by their depth, and within a depth by what they have, so that
/// neighbouring threads do the same; cells of different shapes differ in nothing else. What a node does in a step depends on
/// itself alone, but for the elimination, which takes one depth after another. Children are joined to their parent in one order,
/// so that the bits are those of processors.
namespace ranvier::device {

/// g V^p..., minus g E: see KernelCurrent of core/cable.
struct CellCurrent {
    double reversal = 0.0;  ///< mV
    u32 gate_count = 0;
    u32 gates[4] = {};
    u32 powers[4] = {};
};

/// A gate whose rates are calculated without a table.
struct ExactGate {
    u32 program = 0;
    u32 first_parameter = 0;  ///< in Cells::numbers: the temperature, then the parameters of its mechanism
};

/// Gates with the same input, and the currents that they let through.
struct RateClass {
    u64 table = 0;  ///< place in Cells::rates
    double rows = 0.0;
    double lowest = 0.0;
    double rows_per_unit = 1.0;
    u32 has_table = 1;
    u32 first_exact = 0;  ///< without a table: in Cells::exact_gates
    u32 gate_count = 0;
    u32 follows_calcium = 0;  ///< else the potential; without a table, both are given
    u32 first_current = 0;
    u32 current_count = 0;
    u32 calcium_count = 0;  ///< currents into the pool, after the others
};
/// Of a group.
inline constexpr u32 most_receptors = 8;

inline constexpr u32 gates_of_rate_quad = 4;
/// Functions of a quad: steady states and the fractions of the way to them, each a cubic.
inline constexpr u32 functions_of_rate_quad = 2 * gates_of_rate_quad;
inline constexpr u32 numbers_of_rate_quad = 4 * functions_of_rate_quad;

/// Calcium below the membrane of a node.
struct CellPool {
    double rest = 0.0;         ///< mM
    double log_outside = 0.0;  ///< logarithm of a concentration in mM
    double decay = 0.0;
    double gain = 0.0;  ///< mM/pA
    double half_decay = 0.0;
    double half_gain = 0.0;
    double nernst = 0.0;  ///< mV
};
/// Columns of a pool in the states of its node.
enum PoolColumn : u32 { pool_calcium, pool_conductance, pool_reversal, pool_columns };

/// Synapses of a receptor at a node that share two exponentials; see ReceptorConstants of core/cable.
struct CellReceptor {
    double reversal = 0.0;
    double decay = 0.0;
    double rise = 0.0;
    double scale = 1.0;
    double half_decay = 0.0;
    double half_rise = 0.0;
    double blockers = 0.0;
    double block_slope = 0.0;
    u32 number = 0;  ///< of the group
    u32 first_site = 0;  ///< in Cells::sites
    u32 site_count = 0;
    u32 column = 0;  ///< of the slow exponential; that of the fast one follows
};

/// An electrode of the group, or a clamp.
struct CellElectrode {
    u32 number = 0;
    u32 is_clamp = 0;
    u32 holds = 0;  ///< a clamp: a potential
    u32 differs = 0;  ///< its numbers are those of each cell
    u32 first_number = 0;  ///< in Cells::numbers, or, if they differ, among the numbers of a cell
    u32 number_count = 0;
    u32 column = 0;  ///< of an electrode: what it injects, pA
};

/// A mechanism whose states advance by programs: GeneralInfo of core/cable.
struct CellMechanism {
    u32 program = 0;
    u32 states = 0;
    u32 currents = 0;
    u32 flows = 0;    ///< bits: currents that flow
    u32 carries = 0;  ///< bits: currents of calcium
    u32 has_half = 0;
    u32 reads_calcium_current = 0;
    u32 follows_calcium = 0;
    u32 pool_state = 0;  ///< 1 + the state that is the concentration; 0: not a pool
};

/// A mechanism at a node.
struct CellPlace {
    double covered = 0.0;
    double surface = 0.0;
    double log_outside = 0.0;
    u32 mechanism = 0;
    u32 column = 0;  ///< of its states; those of its results follow
    /// In Cells::numbers: temperature, step, half of it, calcium outside, diameter and area, then its parameters.
    u32 first_number = 0;
    u32 is_receptor = 0;
    u32 receptor = 0;
    u32 site = 0;
    u32 first_jump = 0;  ///< in Cells::numbers
};
enum PlaceNumber : u32 {
    place_celsius,
    place_step,
    place_half_step,
    place_outside,
    place_diameter,
    place_area,
    place_numbers
};

/// What equal nodes of cells have in common.
struct NodeKind {
    double capacity = 0.0;  ///< nS
    double leak = 0.0;      ///< nS
    double drive = 0.0;     ///< pA
    double axial = 0.0;     ///< nS, to the parent
    double step = 0.0;      ///< ms
    u32 is_staggered = 0;
    u32 is_detector = 0;
    u32 first_class = 0;  ///< in Cells::classes_of_kinds
    u32 class_count = 0;
    u32 first_conductance = 0;  ///< in Cells::numbers: of the currents of its classes
    u32 pool = 0;               ///< 1 + its index; 0: none
    u32 pool_column = 0;
    u32 first_receptor = 0;
    u32 receptor_count = 0;
    u32 first_electrode = 0;
    u32 electrode_count = 0;
    u32 first_place = 0;
    u32 place_count = 0;
};

struct CellNode {
    u32 kind = 0;
    u32 cell = 0;
    u32 parent = 0;
    u32 first_child = 0;  ///< in Cells::children
    u32 child_count = 0;
    u32 first_state = 0;  ///< column c of its states is at first_state + c stride
    u32 stride = 1;
};

struct CellOfBlock {
    double threshold = 0.0;  ///< mV
    u32 group = 0;
    u32 number = 0;  ///< in the group
    u32 first_number = 0;  ///< of its clamps, in Cells::numbers
};

/// The cells of a block.
struct Cells {
    u32 node_count = 0;
    u32 level_count = 0;
    const u32* level_begins = nullptr;  ///< by depth, and the end of the last one
    const CellNode* nodes = nullptr;
    const u32* children = nullptr;
    const NodeKind* kinds = nullptr;
    const u32* classes_of_kinds = nullptr;
    const RateClass* classes = nullptr;
    const CellCurrent* currents = nullptr;
    const ExactGate* exact_gates = nullptr;
    const CellPool* pools = nullptr;
    const CellReceptor* receptors = nullptr;
    const u32* sites = nullptr;
    const CellElectrode* electrodes = nullptr;
    const CellMechanism* mechanisms = nullptr;
    const CellPlace* places = nullptr;
    const CellOfBlock* cells = nullptr;
    const u32* sites_of_groups = nullptr;  ///< [group][receptor]: inputs of a cell
    const double* numbers = nullptr;
    const double* rates = nullptr;  ///< tables of all blocks
    double* potential = nullptr;    ///< mV, by node
    double* diagonal = nullptr;
    double* current = nullptr;
    double* states = nullptr;
};

/// mM, as in core/cable.
inline constexpr double lowest_pool_calcium = 1e-9;
inline constexpr double highest_pool_calcium = 1e3;

/// A number that has become subnormal counts as zero, as on processors.
RANVIER_DEVICE double cell_flushed(double number) { return number > -0x1p-1022 && number < 0x1p-1022 ? 0.0 : number; }

RANVIER_DEVICE bool is_finite_number(double number) {
    return number >= -0x1.fffffffffffffp1023 && number <= 0x1.fffffffffffffp1023;
}

/// Inputs of the programs of mechanisms, in the order of External of core/cable.
enum PlaceInput : u32 {
    input_potential,
    input_celsius,
    input_step,
    input_calcium,
    input_outside,
    input_calcium_reversal,
    input_calcium_current,
    input_diameter,
    input_area,
    input_time,
    place_inputs,
};

/// A place of a mechanism in a step: what its programs read and write.
template <class States>
struct PlaceView {
    States states;  ///< of the node: states(column)
    const double* numbers;
    u32 column;  ///< of the first state
    u32 results;  ///< column of the first result
    double potential;
    double calcium;
    double calcium_reversal;
    double calcium_current;
    double time;

    RANVIER_DEVICE double& state(u32 s) const { return states(column + s); }
    RANVIER_DEVICE double& result(u32 k) const { return states(results + k); }
    RANVIER_DEVICE double half_step() const { return numbers[place_half_step]; }
    RANVIER_DEVICE double parameter(u32 p) const { return numbers[place_numbers + p]; }
    RANVIER_DEVICE double input(u32 which) const {
        switch (which) {
            case input_potential:
                return potential;
            case input_celsius:
                return numbers[place_celsius];
            case input_step:
                return numbers[place_step];
            case input_calcium:
                return calcium;
            case input_outside:
                return numbers[place_outside];
            case input_calcium_reversal:
                return calcium_reversal;
            case input_calcium_current:
                return calcium_current;
            case input_diameter:
                return numbers[place_diameter];
            case input_area:
                return numbers[place_area];
            default:
                return time;
        }
    }
};

/// What a clamp does in a step: ClampCourse::at() of core/cable.
struct ClampAction {
    double conductance = 0.0;
    double current = 0.0;
};
RANVIER_DEVICE ClampAction clamp_action(const double* numbers, u32 size, i64 step) {
    const u32 count = size / 2 - 1;
    const double conductance = numbers[0];
    const double* const bounds = numbers + 1;
    const double* const levels = numbers + 2 + count;
    const double end = static_cast<double>(step);
    const double begin = end - 1.0;
    u32 level = 0;
    while (level <= count && bounds[level] <= begin) ++level;
    level = level > 0 ? level - 1 : 0;
    ClampAction action;
    for (; level < count && bounds[level] < end; ++level) {
        const double until = end < bounds[level + 1] ? end : bounds[level + 1];
        const double from = bounds[level] < begin ? begin : bounds[level];
        const double part = until - from;
        if (conductance > 0.0) {
            action.conductance += part * conductance;
            action.current += part * conductance * levels[level];
        } else {
            action.current += part * levels[level];
        }
    }
    return action;
}

/// The nodes of a block in a step, for one of its threads.
/// @tparam Block has `double take_cell_input(cell, receptor, input)`, which clears it, `double inject(cell, electrode)`,
/// `void finish_cell(cell, crosses)` with whether its potential has crossed the threshold, `void fail_cell(cell)` and
/// `i64 present_step()`
/// @tparam Models has, for gates without a table and for mechanisms,
///     void rates(u32 program, double argument, double logarithm, const double* parameters, double& steady, double& tau) const
///     bool place_currents(u32 program, PlaceView&) const   after half a step, if the scheme has it
///     bool advance_place(u32 program, PlaceView&) const    both return whether all loops have ended
template <class Block, class Models>
class CellThread {
   public:
    RANVIER_DEVICE CellThread(Block& block, const Models& models, const Cells& cells)
        : block_(block), models_(models), cells_(cells) {}

    /// The equation of a node.
    RANVIER_DEVICE void begin(u32 n) {
        const Site at = site(n);
        const double v = cells_.potential[n];
        at_ = {at.kind.leak, at.kind.capacity * v + at.kind.drive};
        const bool has_pool = at.kind.pool != 0;
        const double log_calcium = has_pool ? math::log(at.state(at.kind.pool_column + pool_calcium)) : 0.0;
        double calcium_conductance = 0.0;
        u32 column = 0;
        u32 conductance = at.kind.first_conductance;
        for (u32 c = 0; c < at.kind.class_count; ++c) {
            const RateClass& rates = cells_.classes[cells_.classes_of_kinds[at.kind.first_class + c]];
            if (rates.has_table != 0) {
                advance_by_table(rates, at, column, rates.follows_calcium != 0 ? log_calcium : v);
            } else {
                advance_exactly(rates, at, column, v, log_calcium);
            }
            for (u32 k = 0; k < rates.current_count; ++k) {
                const CellCurrent& current = cells_.currents[rates.first_current + k];
                const double g = conductance_of(current, cells_.numbers[conductance++], at, column);
                at_.diagonal = at_.diagonal + g;
                at_.current = at_.current + g * current.reversal;
            }
            for (u32 k = 0; k < rates.calcium_count; ++k) {
                const CellCurrent& current = cells_.currents[rates.first_current + rates.current_count + k];
                calcium_conductance =
                    calcium_conductance + conductance_of(current, cells_.numbers[conductance++], at, column);
            }
            column += rates.gate_count;
        }
        for (u32 p = 0; p < at.kind.place_count; ++p) add_place(cells_.places[at.kind.first_place + p], at, v);
        if (has_pool) add_pool(at, v, log_calcium, calcium_conductance);
        for (u32 r = 0; r < at.kind.receptor_count; ++r)
            add_receptor(cells_.receptors[at.kind.first_receptor + r], at, v);
        for (u32 e = 0; e < at.kind.electrode_count; ++e)
            add_electrode(cells_.electrodes[at.kind.first_electrode + e], at);
        cells_.diagonal[n] = at_.diagonal;
        cells_.current[n] = at_.current;
    }

    /// Gaussian elimination from the leaves to the roots and back (M. Hines, 1984). Inverses replace the diagonal; at a root,
    /// the solution replaces the current.
    RANVIER_DEVICE void eliminate(u32 n) {
        const CellNode& node = cells_.nodes[n];
        double d = cells_.diagonal[n];
        double i = cells_.current[n];
        for (u32 k = 0; k < node.child_count; ++k) {
            const u32 child = cells_.children[node.first_child + k];
            const double axial = cells_.kinds[cells_.nodes[child].kind].axial;
            const double part = axial * cells_.diagonal[child];
            d = d - part * axial;
            i = i + part * cells_.current[child];
        }
        const double inverse = 1.0 / d;
        cells_.diagonal[n] = inverse;
        cells_.current[n] = node.parent == n ? i * inverse : i;
    }

    /// The solution of a node, which replaces its current, from that of its parent.
    RANVIER_DEVICE void substitute(u32 n) {
        const CellNode& node = cells_.nodes[n];
        const double sum = cells_.current[n] + cells_.kinds[node.kind].axial * cells_.current[node.parent];
        cells_.current[n] = sum * cells_.diagonal[n];
    }

    /// What follows from the solution.
    RANVIER_DEVICE void finish(u32 n) {
        const Site at = site(n);
        const double solved = cells_.current[n];
        const double before = cells_.potential[n];
        const double v = at.kind.is_staggered != 0 ? 2.0 * solved - before : solved;
        if (at.kind.pool != 0) {
            const CellPool& pool = cells_.pools[at.kind.pool - 1];
            double& calcium = at.state(at.kind.pool_column + pool_calcium);
            const double flow = at.state(at.kind.pool_column + pool_conductance) *
                                (solved - at.state(at.kind.pool_column + pool_reversal));
            calcium = moved(pool, calcium, flow, pool.decay, pool.gain);
            keep(calcium, at);
        }
        if (at.kind.place_count != 0) advance_places(at, before, solved);
        cells_.potential[n] = v;
        if (at.kind.is_detector == 0) return;
        if (!is_finite_number(v)) fail(at);
        const CellOfBlock& cell = cells_.cells[at.node.cell];
        block_.finish_cell(cell, before < cell.threshold && v >= cell.threshold);
    }

   private:
    struct States {
        double* first;
        u32 stride;
        RANVIER_DEVICE double& operator()(u32 column) const { return first[static_cast<u64>(column) * stride]; }
    };
    struct Site {
        const CellNode& node;
        const NodeKind& kind;
        States state;
    };
    struct Equation {
        double diagonal = 0.0;
        double current = 0.0;
    };

    RANVIER_DEVICE Site site(u32 n) const {
        const CellNode& node = cells_.nodes[n];
        return {node, cells_.kinds[node.kind], {cells_.states + node.first_state, node.stride}};
    }

    RANVIER_DEVICE void advance_by_table(const RateClass& rates, const Site& at, u32 column, double argument) {
        double place = (argument - rates.lowest) * rates.rows_per_unit;
        if (!(place >= 0.0 && place < rates.rows)) {
            fail(at);
            place = 0.0;
        }
        const i32 row = static_cast<i32>(place);
        const double f = place - static_cast<double>(row);
        const u32 quads = (rates.gate_count + gates_of_rate_quad - 1) / gates_of_rate_quad;
        const double* const numbers = cells_.rates + rates.table + static_cast<u64>(row) * quads * numbers_of_rate_quad;
        for (u32 gate = 0; gate < rates.gate_count; ++gate) {
            const double* const of_gate =
                numbers + gate / gates_of_rate_quad * numbers_of_rate_quad + gate % gates_of_rate_quad;
            move_gate(at.state(column + gate), cubic(of_gate, f), cubic(of_gate + gates_of_rate_quad, f));
        }
    }

    RANVIER_DEVICE void advance_exactly(const RateClass& rates, const Site& at, u32 column, double v,
                                        double log_calcium) {
        for (u32 gate = 0; gate < rates.gate_count; ++gate) {
            const ExactGate& exact = cells_.exact_gates[rates.first_exact + gate];
            double steady = 0.0;
            double tau = 1.0;
            models_.rates(exact.program, rates.follows_calcium != 0 ? log_calcium : v, log_calcium,
                          cells_.numbers + exact.first_parameter, steady, tau);
            move_gate(at.state(column + gate), steady, -math::expm1(-at.kind.step / tau));
        }
    }

    /// c0 + f (c1 + f (c2 + f c3))
    RANVIER_DEVICE static double cubic(const double* numbers, double f) {
        double result = numbers[3 * functions_of_rate_quad];
        result = numbers[2 * functions_of_rate_quad] + f * result;
        result = numbers[functions_of_rate_quad] + f * result;
        return numbers[0] + f * result;
    }

    RANVIER_DEVICE static void move_gate(double& gate, double steady, double part) {
        gate = cell_flushed(gate + (steady - gate) * part);
    }

    RANVIER_DEVICE static double conductance_of(const CellCurrent& current, double g, const Site& at, u32 column) {
        for (u32 t = 0; t < current.gate_count; ++t) {
            const double x = at.state(column + current.gates[t]);
            switch (current.powers[t]) {
                case 1:
                    g = g * x;
                    break;
                case 2:
                    g = g * (x * x);
                    break;
                case 3:
                    g = g * (x * x * x);
                    break;
                case 4:
                    g = g * ((x * x) * (x * x));
                    break;
                default:
                    for (u32 p = 0; p < current.powers[t]; ++p) g = g * x;
            }
        }
        return g;
    }

    RANVIER_DEVICE static double moved(const CellPool& pool, double calcium, double flow, double decay, double gain) {
        return pool.rest + (calcium - pool.rest) * decay + flow * gain;
    }

    /// The number within the bounds of concentrations: NaN becomes the lowest one.
    RANVIER_DEVICE static double kept(double calcium) {
        const double above = calcium > lowest_pool_calcium ? calcium : lowest_pool_calcium;
        return above < highest_pool_calcium ? above : highest_pool_calcium;
    }
    RANVIER_DEVICE void keep(double& calcium, const Site& at) const {
        const double within = kept(calcium);
        if (calcium != within) fail(at);
        calcium = within;
    }
    RANVIER_DEVICE void fail(const Site& at) const { block_.fail_cell(cells_.cells[at.node.cell]); }

    RANVIER_DEVICE void add_pool(const Site& at, double v, double log_calcium, double g) {
        const CellPool& pool = cells_.pools[at.kind.pool - 1];
        const double calcium = at.state(at.kind.pool_column + pool_calcium);
        if (at.kind.is_staggered != 0) {
            const double flow = g * (v - pool.nernst * (pool.log_outside - log_calcium));
            log_calcium = math::log(kept(moved(pool, calcium, flow, pool.half_decay, pool.half_gain)));
        }
        const double e = pool.nernst * (pool.log_outside - log_calcium);
        at.state(at.kind.pool_column + pool_conductance) = g;
        at.state(at.kind.pool_column + pool_reversal) = e;
        at_.diagonal = at_.diagonal + g;
        at_.current = at_.current + g * e;
    }

    /// A negative conductance takes at most half of the capacitance from the diagonal, so that the solution stays bounded.
    RANVIER_DEVICE static double least_added(const Site& at, double diagonal) {
        return at.kind.leak - 0.5 * at.kind.capacity - diagonal;
    }

    RANVIER_DEVICE void add_receptor(const CellReceptor& c, const Site& at, double v) {
        double& slow = at.state(c.column);
        double& fast = at.state(c.column + 1);
        double g = at.kind.is_staggered != 0 ? slow * c.half_decay - fast * c.half_rise : slow - fast;
        if (c.blockers > 0.0) {
            const double blocked = c.blockers * math::exp(-c.block_slope * v);
            const double freed = 1.0 + blocked;
            g = g / freed;
            const double slope = g * c.block_slope * (blocked / freed) * (v - c.reversal);
            const double least = least_added(at, at_.diagonal);
            const double added = slope > least ? slope : least;
            at_.diagonal = at_.diagonal + added;
            at_.current = at_.current + added * v;
        }
        at_.diagonal = at_.diagonal + g;
        at_.current = at_.current + g * c.reversal;
        double sum = input(at, c.number, cells_.sites[c.first_site]);
        for (u32 s = 1; s < c.site_count; ++s) sum += input(at, c.number, cells_.sites[c.first_site + s]);
        const double weights = c.scale * sum;
        slow = cell_flushed(cell_flushed(slow * c.decay) + weights);
        if (c.rise == 0.0) return;
        fast = cell_flushed(cell_flushed(fast * c.rise) + weights);
    }

    /// What has arrived at a site, nS.
    RANVIER_DEVICE double input(const Site& at, u32 receptor, u32 site) const {
        const CellOfBlock& cell = cells_.cells[at.node.cell];
        const u32 sites = cells_.sites_of_groups[cell.group * most_receptors + receptor];
        return block_.take_cell_input(cell, receptor, cell.number * sites + site);
    }

    RANVIER_DEVICE void add_electrode(const CellElectrode& electrode, const Site& at) {
        const CellOfBlock& cell = cells_.cells[at.node.cell];
        if (electrode.is_clamp == 0) {
            const double injected = block_.inject(cell, electrode.number);
            at.state(electrode.column) = injected;
            at_.current = at_.current + injected;
            return;
        }
        const u32 first = electrode.first_number + (electrode.differs != 0 ? cell.first_number : 0);
        const ClampAction action = clamp_action(cells_.numbers + first, electrode.number_count, block_.present_step());
        if (electrode.holds != 0) at_.diagonal = at_.diagonal + action.conductance;
        at_.current = at_.current + action.current;
    }

    RANVIER_DEVICE PlaceView<States> view_of(const CellPlace& place, const CellMechanism& mechanism, const Site& at,
                                             double v, double part) const {
        PlaceView<States> view{at.state,
                               cells_.numbers + place.first_number,
                               place.column,
                               place.column + mechanism.states,
                               v,
                               0.0,
                               0.0,
                               0.0,
                               static_cast<double>(block_.present_step() - 1) * at.kind.step + part * at.kind.step};
        if (mechanism.follows_calcium != 0) {
            view.calcium = at.state(at.kind.pool_column + pool_calcium);
            view.calcium_reversal =
                cells_.pools[at.kind.pool - 1].nernst * (place.log_outside - math::log(view.calcium));
        }
        return view;
    }

    RANVIER_DEVICE void add_place(const CellPlace& place, const Site& at, double v) {
        const CellMechanism& mechanism = cells_.mechanisms[place.mechanism];
        if (mechanism.currents == 0) return;
        const PlaceView<States> view = view_of(place, mechanism, at, v, 0.5);
        if (!models_.place_currents(mechanism.program, view)) fail(at);
        double flow = 0.0;
        double slope = 0.0;
        for (u32 c = 0; c < mechanism.currents; ++c) {
            const double of_current = view.result(2 * c);
            const double derivative = view.result(2 * c + 1);
            if (!is_finite_number(of_current) || !is_finite_number(derivative)) fail(at);
            if ((mechanism.flows >> c & 1) == 0) continue;
            flow += of_current;
            slope += derivative;
        }
        const double wanted = slope * place.covered;
        const double least = least_added(at, at_.diagonal);
        const double added = wanted < least ? least : wanted;
        at_.diagonal += added;
        at_.current += added * v - flow * place.covered;
    }

    RANVIER_DEVICE void advance_places(const Site& at, double before, double solved) {
        double flow = 0.0;
        for (u32 p = 0; at.kind.pool != 0 && p < at.kind.place_count; ++p) {
            const CellPlace& place = cells_.places[at.kind.first_place + p];
            const CellMechanism& mechanism = cells_.mechanisms[place.mechanism];
            for (u32 c = 0; c < mechanism.currents; ++c) {
                if ((mechanism.carries >> c & 1) == 0) continue;
                const u32 result = place.column + mechanism.states + 2 * c;
                const double density = at.state(result) + at.state(result + 1) * (solved - before);
                flow += density * place.covered;
            }
        }
        for (u32 p = 0; p < at.kind.place_count; ++p) {
            const CellPlace& place = cells_.places[at.kind.first_place + p];
            const CellMechanism& mechanism = cells_.mechanisms[place.mechanism];
            if (mechanism.states == 0) continue;
            PlaceView<States> view = view_of(place, mechanism, at, solved, 1.0);
            if (mechanism.reads_calcium_current != 0) {
                const double through_gates = at.state(at.kind.pool_column + pool_conductance) *
                                             (solved - at.state(at.kind.pool_column + pool_reversal));
                view.calcium_current = (through_gates + flow) / place.surface;
            }
            if (!models_.advance_place(mechanism.program, view)) fail(at);
            for (u32 s = 0; s < mechanism.states; ++s) {
                if (!is_finite_number(view.state(s))) fail(at);
            }
        }
        if (at.kind.pool != 0) {
            double& calcium = at.state(at.kind.pool_column + pool_calcium);
            calcium += cells_.pools[at.kind.pool - 1].gain * flow;
            for (u32 p = 0; p < at.kind.place_count; ++p) {
                const CellPlace& place = cells_.places[at.kind.first_place + p];
                const u32 state = cells_.mechanisms[place.mechanism].pool_state;
                if (state != 0) calcium = at.state(place.column + state - 1);
            }
        }
        for (u32 p = 0; p < at.kind.place_count; ++p) {
            const CellPlace& place = cells_.places[at.kind.first_place + p];
            if (place.is_receptor == 0) continue;
            const double weight = input(at, place.receptor, place.site);
            if (weight == 0.0) continue;
            for (u32 s = 0; s < cells_.mechanisms[place.mechanism].states; ++s) {
                at.state(place.column + s) += weight * cells_.numbers[place.first_jump + s];
            }
        }
        if (at.kind.pool != 0) {
            double& calcium = at.state(at.kind.pool_column + pool_calcium);
            keep(calcium, at);
        }
    }

    Block& block_;
    const Models& models_;
    const Cells& cells_;
    Equation at_;
};

}  // namespace ranvier::device
