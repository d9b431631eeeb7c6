#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cell_testing.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/cable/cell/clamp.hpp"
#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// One cell as the equations say, one number after the other: rates from their formulas, and a full matrix that is solved by
/// elimination with pivots. It shares with the kernels the descriptions of cells and mechanisms, not what is made of them.
class ScalarCell {
   public:
    ScalarCell(const CellSpec& spec, double step)
        : spec_(spec),
          step_(step),
          potential_(spec.compartments.nodes().size(), spec.initial_potential),
          slow_(spec.receptors.size(), std::vector<double>(potential_.size(), 0.0)),
          fast_(slow_) {
        for (std::size_t c = 0; c < spec.compartments.size(); ++c) pools_.push_back(pool_of(c));
        for (const PaintedMechanism& painted : spec.mechanisms) {
            auto& own = gates_.emplace_back();
            for (const GateInfo& gate : painted.mechanism->gates) {
                own.emplace_back();
                for (std::size_t c = 0; c < spec.compartments.size(); ++c) {
                    own.back().push_back(covers(painted, c) ? rates(painted, gate, c).steady : 0.0);
                }
            }
        }
        for (const PlacedClamp& clamp : spec.clamps) clamps_.emplace_back(clamp, step);
    }

    /// @param inputs nS, of each receptor and site: weights of the spikes that arrive at the end of the step
    /// @param injected pA
    void advance(Step now, std::span<const std::vector<double>> inputs, double injected) {
        const std::size_t nodes = spec_.compartments.nodes().size();
        matrix_.assign(nodes, std::vector<double>(nodes, 0.0));
        values_.assign(nodes, 0.0);
        constant_.assign(nodes, 0.0);
        add_cable();
        for (std::size_t c = 0; c < spec_.compartments.size(); ++c) add_membrane(c);
        for (std::size_t r = 0; r < spec_.receptors.size(); ++r) add_receptor(r, inputs[r]);
        values_[node_at(spec_.electrodes[0].place)] += injected;
        for (std::size_t k = 0; k < clamps_.size(); ++k) {
            const ClampCourse::Action action = clamps_[k].at(now);
            const std::size_t node = node_at(spec_.clamps[k].place);
            matrix_[node][node] += action.conductance;
            values_[node] += action.current;
        }
        solve();
        for (std::size_t c = 0; c < pools_.size(); ++c) {
            Pool& pool = pools_[c];
            if (!pool.is_there) continue;
            const double flow = pool.conductance * (values_[node_of(c)] - pool.reversal);
            pool.calcium = after(pool, flow, step_);
        }
        for (std::size_t i = 0; i < nodes; ++i) {
            potential_[i] = staggered() ? 2.0 * values_[i] - potential_[i] : values_[i];
        }
    }

    double potential(std::size_t compartment) const { return potential_[node_of(compartment)]; }
    const std::vector<double>& potentials() const { return potential_; }
    /// By node: exponentials of all synapses there.
    const std::vector<double>& slow(std::size_t receptor) const { return slow_[receptor]; }
    const std::vector<double>& fast(std::size_t receptor) const { return fast_[receptor]; }
    /// Of a node; 0 where no pool is.
    double calcium(std::size_t node) const {
        for (std::size_t c = 0; c < pools_.size(); ++c) {
            if (node_of(c) == node) return pools_[c].calcium;
        }
        return 0.0;
    }

   private:
    struct Pool {
        bool is_there = false;
        double rest = 0.0;
        double outside = 0.0;
        double decay = 0.0;
        double filling = 0.0;  ///< mM/ms of 1 pA
        double calcium = 0.0;
        // Of a step.
        double conductance = 0.0;
        double reversal = 0.0;
    };

    static constexpr double faraday = 96485.33212;
    static constexpr double gas_constant = 8.314462618;

    static double value_at(const std::vector<double>& values, std::size_t compartment) {
        return values[values.size() == 1 ? 0 : compartment];
    }
    static bool covers(const PaintedMechanism& painted, std::size_t c) { return value_at(painted.covered, c) > 0.0; }
    bool staggered() const { return spec_.scheme == Scheme::staggered; }
    std::size_t node_of(std::size_t compartment) const { return spec_.compartments.compartments()[compartment].node; }
    /// @pre the node has membrane
    std::size_t compartment_of(std::size_t node) const {
        return static_cast<std::size_t>(spec_.compartments.nodes()[node].compartment);
    }
    std::size_t node_at(Place place) const { return node_of(spec_.compartments.at(place, "place")); }
    double area(const PaintedMechanism& painted, std::size_t c) const {
        return spec_.compartments.compartments()[c].area * value_at(painted.covered, c);
    }

    Pool pool_of(std::size_t c) const {
        Pool pool;
        for (const PaintedMechanism& painted : spec_.mechanisms) {
            const PoolInfo* const info = painted.mechanism->pool;
            if (info == nullptr || !covers(painted, c)) continue;
            const auto parameter = [&](std::size_t p) { return value_at(painted.parameters[p], c); };
            pool.is_there = true;
            pool.rest = parameter(info->rest);
            pool.calcium = pool.rest;
            pool.outside = parameter(info->outside);
            pool.decay = parameter(info->decay);
            // 1 pA = 1e-12 C/s carries 1e-12 / (2 F) mol/s, and 1 um^3 is 1e-15 l.
            pool.filling = -parameter(info->share) * 1e3 / (2.0 * faraday * area(painted, c) * parameter(info->depth));
        }
        return pool;
    }
    /// The concentration after a current has flown for a while.
    static double after(const Pool& pool, double flow, double time) {
        const double steady = pool.rest + flow * pool.filling * pool.decay;
        return steady + (pool.calcium - steady) * std::exp(-time / pool.decay);
    }
    double reversal_of(const Pool& pool, double calcium) const {
        return 1e3 * gas_constant * (spec_.celsius + 273.15) / (2.0 * faraday) * std::log(pool.outside / calcium);
    }

    Rates rates(const PaintedMechanism& painted, const GateInfo& gate, std::size_t c) const {
        Rates found{};
        const double argument = gate.follows == Follows::calcium ? std::log(pools_[c].calcium) : potential_[node_of(c)];
        std::vector<double> parameters;
        for (const auto& values : painted.parameters) parameters.push_back(values.front());
        gate.rates(InstructionSet::baseline, {.size = 1,
                                              .argument = &argument,
                                              .celsius = spec_.celsius,
                                              .parameters = parameters.data(),
                                              .steady = &found.steady,
                                              .tau = &found.tau});
        return found;
    }

    void add_cable() {
        const auto nodes = spec_.compartments.nodes();
        for (std::size_t i = 1; i < nodes.size(); ++i) {
            const auto parent = static_cast<std::size_t>(nodes[i].parent);
            const double g = axial_nanosiemens / (spec_.axial_resistivity * nodes[i].resistance_integral);
            add_constant(i, g);
            add_constant(parent, g);
            matrix_[i][parent] -= g;
            matrix_[parent][i] -= g;
        }
        for (std::size_t c = 0; c < spec_.compartments.size(); ++c) {
            // The staggered scheme solves for the middle of the step.
            const double g = capacity(c);
            add_constant(node_of(c), g);
            values_[node_of(c)] += g * potential_[node_of(c)];
        }
    }
    double capacity(std::size_t c) const {
        const double time = staggered() ? 0.5 * step_ : step_;
        return spec_.compartments.compartments()[c].area * value_at(spec_.capacitance, c) * picofarads / time;
    }
    void add_constant(std::size_t node, double g) {
        matrix_[node][node] += g;
        constant_[node] += g;
    }

    void add_membrane(std::size_t c) {
        const std::size_t node = node_of(c);
        Pool& pool = pools_[c];
        pool.conductance = 0.0;
        for (std::size_t m = 0; m < gates_.size(); ++m) {
            if (covers(spec_.mechanisms[m], c)) add_mechanism(m, c);
        }
        if (!pool.is_there) return;
        pool.reversal = reversal_of(pool, pool.calcium);
        if (staggered()) {
            const double flow = pool.conductance * (potential_[node] - pool.reversal);
            pool.reversal = reversal_of(pool, after(pool, flow, 0.5 * step_));
        }
        matrix_[node][node] += pool.conductance;
        values_[node] += pool.conductance * pool.reversal;
    }

    void add_mechanism(std::size_t m, std::size_t c) {
        const PaintedMechanism& painted = spec_.mechanisms[m];
        const MechanismModel& model = *painted.mechanism;
        for (std::size_t i = 0; i < model.gates.size(); ++i) {
            const Rates now = rates(painted, model.gates[i], c);
            gates_[m][i][c] = now.steady + (gates_[m][i][c] - now.steady) * std::exp(-step_ / now.tau);
        }
        for (const CurrentInfo& current : model.currents) {
            double g = area(painted, c) * value_at(painted.parameters[current.conductance], c) * nanosiemens;
            for (const GatePower& gate : current.gates) g *= std::pow(gates_[m][gate.gate][c], gate.power);
            const double reversal = value_at(painted.parameters[current.reversal], c);
            if (std::isnan(reversal)) {
                pools_[c].conductance += g;
                continue;
            }
            if (current.gates.empty()) constant_[node_of(c)] += g;
            matrix_[node_of(c)][node_of(c)] += g;
            values_[node_of(c)] += g * reversal;
        }
    }

    void add_receptor(std::size_t r, const std::vector<double>& inputs) {
        std::vector<double> of_nodes(potential_.size(), 0.0);
        std::vector<bool> is_at(potential_.size(), false);
        for (std::size_t site = 0; site < inputs.size(); ++site) {
            const std::size_t node = node_at(spec_.receptors[r].places[site]);
            of_nodes[node] += inputs[site];
            is_at[node] = true;
        }
        for (std::size_t node = 0; node < is_at.size(); ++node) {
            if (is_at[node]) add_receptor(r, node, of_nodes[node]);
        }
    }

    void add_receptor(std::size_t r, std::size_t node, double input) {
        const PlacedReceptor& placed = spec_.receptors[r];
        const ReceptorConstants k = placed.model->constants(placed.parameters, step_);
        const double v = potential_[node];
        double& slow = slow_[r][node];
        double& fast = fast_[r][node];
        double g = staggered() ? slow * k.half_decay - fast * k.half_rise : slow - fast;
        if (k.blockers > 0.0) {
            const double blocked = k.blockers * std::exp(-k.block_slope * v);
            g /= 1.0 + blocked;
            // The block follows the potential by its slope, which takes at most half of the capacitance from the diagonal.
            const double slope = g * k.block_slope * blocked / (1.0 + blocked) * (v - k.reversal);
            const double least = constant_[node] - 0.5 * capacity(compartment_of(node));
            const double added = std::max(slope, least - matrix_[node][node]);
            matrix_[node][node] += added;
            values_[node] += added * v;
        }
        matrix_[node][node] += g;
        values_[node] += g * k.reversal;
        slow = slow * k.decay + k.scale * input;
        if (k.rise > 0.0) fast = fast * k.rise + k.scale * input;
    }

    /// What is solved for takes the place of the values.
    void solve() {
        const std::size_t size = values_.size();
        for (std::size_t column = 0; column < size; ++column) {
            std::size_t pivot = column;
            for (std::size_t row = column; row < size; ++row) {
                if (std::abs(matrix_[row][column]) > std::abs(matrix_[pivot][column])) pivot = row;
            }
            std::swap(matrix_[pivot], matrix_[column]);
            std::swap(values_[pivot], values_[column]);
            for (std::size_t row = column + 1; row < size; ++row) {
                const double factor = matrix_[row][column] / matrix_[column][column];
                if (factor == 0.0) continue;
                for (std::size_t k = column; k < size; ++k) matrix_[row][k] -= factor * matrix_[column][k];
                values_[row] -= factor * values_[column];
            }
        }
        for (std::size_t row = size; row-- > 0;) {
            for (std::size_t k = row + 1; k < size; ++k) values_[row] -= matrix_[row][k] * values_[k];
            values_[row] /= matrix_[row][row];
        }
    }

    const CellSpec& spec_;
    double step_;
    std::vector<double> potential_;
    std::vector<std::vector<std::vector<double>>> gates_;  ///< [mechanism][gate][compartment]
    std::vector<Pool> pools_;                              ///< of each compartment
    std::vector<std::vector<double>> slow_;  ///< by receptor and node
    std::vector<std::vector<double>> fast_;
    std::vector<ClampCourse> clamps_;
    // Of a step.
    std::vector<std::vector<double>> matrix_;
    std::vector<double> values_;
    std::vector<double> constant_;  ///< of the diagonal: what does not change from step to step
};

}  // namespace ranvier::cable
