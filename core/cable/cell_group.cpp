#include "cable/cell_group.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/errors.hpp"
#include "base/math.hpp"
#include "base/subnormals.hpp"
#include "base/tight_list.hpp"
#include "cable/cell_plan.hpp"
#include "cable/kernel.hpp"
#include "cable/probe_reading.hpp"

namespace ranvier::cable {

namespace {

using models::AdvanceArguments;
using models::GroupArguments;
using models::GroupValues;
using models::UpdateArguments;

/// Cells stand in blocks of 8, one in each lane. Lanes without a cell calculate one that nothing reaches.
class CellGroup final : public models::NeuronGroup, private CellValues {
   public:
    explicit CellGroup(const GroupArguments& arguments)
        : cell_(CellModel::of(*arguments.model)),
          spec_(cell_.spec()),
          step_(arguments.resolution),
          size_(arguments.ids.size()),
          blocks_((size_ + lanes - 1) / lanes),
          instruction_set_(arguments.instruction_set),
          memory_(arguments.memory),
          plan_(spec_, step_, memory_),
          potential_(blocks_ * plan_.slots() * lanes, 0.0, memory_),
          slow_(blocks_ * plan_.receptors.size() * lanes, 0.0, memory_),
          fast_(slow_.size(), 0.0, memory_),
          calcium_(blocks_ * plan_.pools.size() * lanes, 0.0, memory_),
          constant_current_(padded_current(arguments.parameters[0])),
          diagonal_(plan_.slots() * lanes, 0.0, memory_),
          current_(plan_.slots() * lanes, 0.0, memory_),
          clamp_currents_(plan_.clamps.size() * lanes, 0.0, memory_),
          actions_(plan_.clamps.size()) {
        for (auto* const values : {&logarithm_, &calcium_conductance_, &calcium_reversal_}) {
            *values = AlignedVector<double>(plan_.pools.size() > 0 ? plan_.slots() * lanes : 0, 0.0, memory_);
        }
        for (std::size_t i = 0; i < blocks_ * lanes; ++i) begin_at(i, arguments.variables[0][std::min(i, size_ - 1)]);
        begin_gates();
    }

    std::size_t update(const UpdateArguments& arguments) override {
        const FlushSubnormals flush;
        std::size_t fired = 0;
        for (std::size_t block = 0; block < blocks_; ++block) advance(block, arguments, fired);
        return fired;
    }

    /// Block after block through all steps, so that what a block needs stays in the cache.
    void advance(const AdvanceArguments& arguments) override {
        const FlushSubnormals flush;
        std::vector<double*> inputs(arguments.inputs.size());
        for (std::size_t block = 0; block < blocks_; ++block) {
            std::size_t observed = 0;
            for (Step step = arguments.first; step <= arguments.last; ++step) {
                for (std::size_t r = 0; r < inputs.size(); ++r) inputs[r] = arguments.inputs[r].row(step);
                const bool has_current = arguments.current.data != nullptr;
                std::size_t fired = 0;
                advance(block,
                        {.step = step,
                         .inputs = inputs.data(),
                         .current = has_current ? arguments.current.row(step) : nullptr,
                         .spikes = arguments.room},
                        fired);
                for (std::size_t i = 0; i < fired; ++i) append(*arguments.spikes, {step, arguments.room[i]});
                if (observed == arguments.observed.size() || arguments.observed[observed] != step) continue;
                arguments.observer->observe(step, block * lanes, std::min(size_, (block + 1) * lanes));
                ++observed;
            }
        }
    }

    std::size_t largest_output() const override { return size_; }

    bool is_finite() const override {
        const auto finite = [](double value) { return std::abs(value) <= std::numeric_limits<double>::max(); };
        return std::ranges::all_of(potential_, finite) && std::ranges::all_of(slow_, finite);
    }

    std::optional<std::string> failure() const override {
        if (!is_finite()) return "a potential has left the range of numbers";
        if ((left_ & calcium_has_left) != 0) {
            return "a concentration of calcium has left the range from " + to_text(lowest_calcium) + " to " +
                   to_text(highest_calcium) +
                   " mM: steps are too long for its pool, or too much current flows into too thin a shell";
        }
        if ((left_ & potential_has_left) == 0) return std::nullopt;
        return "a potential has left the range from " + to_text(potential_range.lowest) + " to " +
               to_text(potential_range.highest) + " mV for which rates of channels are tabulated";
    }

    void read(std::size_t variable, std::span<const std::uint32_t> neurons, double* out) const override {
        if (variable == 0) {
            for (std::size_t k = 0; k < neurons.size(); ++k) out[k] = potential_[place_of(neurons[k], plan_.detector)];
            return;
        }
        const Probe& probe = spec_.probes[variable - 1];
        for (std::size_t k = 0; k < neurons.size(); ++k) out[k] = read_probe(probe, plan_, *this, neurons[k]);
    }

    /// The potential where the cell fires; what else could be written is read only.
    void write(std::size_t /*variable*/, std::span<const std::uint32_t> neurons, const double* values) override {
        for (std::size_t k = 0; k < neurons.size(); ++k) potential_[place_of(neurons[k], plan_.detector)] = values[k];
    }

    void check(std::size_t variable, std::span<const std::uint32_t> /*neurons*/,
               const double* /*values*/) const override {
        if (variable != 0) throw InternalError("a probe was written to");
    }

    void exchange_state(std::uint32_t cell, Step now, StateColumns& columns) override {
        if (columns.loads()) set_clamps(now);
        columns.exchange_size(plan_.slots());
        // In the order of the nodes, which no layout changes.
        const auto slot = [&](std::size_t node) { return plan_.slot_of_node[node]; };
        columns.exchange_list<double>(
            "V_m", plan_.slots(), [&](std::size_t node) -> double& { return potential_[place_of(cell, slot(node))]; });
        for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
            const CellPlan::Class& own = plan_.classes[c];
            for (std::size_t gate = 0; gate < own.gates.size(); ++gate) {
                double nowhere = 0.0;
                columns.exchange_list<double>(
                    "gate_" + std::to_string(c) + "_" + std::to_string(gate), plan_.slots(),
                    [&](std::size_t node) -> double& {
                        if (!std::ranges::binary_search(own.slots, slot(node))) return nowhere;
                        return gates_[c][gate_place(own, cell, own.place_of(slot(node)), gate)];
                    });
            }
        }
        for (std::size_t r = 0; r < plan_.receptors.size(); ++r) {
            const std::string number = std::to_string(r);
            columns.exchange("slow_" + number, slow_[receptor_place(cell, r)]);
            columns.exchange("fast_" + number, fast_[receptor_place(cell, r)]);
        }
        if (plan_.pools.size() == 0) return;
        double nowhere = 0.0;
        columns.exchange_list<double>("calcium", plan_.slots(), [&](std::size_t node) -> double& {
            if (!plan_.pools.is_at(slot(node))) return nowhere;
            return calcium_[pool_place(cell, plan_.pools.place_of(slot(node)))];
        });
    }

    std::unique_ptr<models::ParameterChange> prepare_parameters(std::span<const GroupValues> parameters) override {
        return std::make_unique<Change>(*this, padded_current(parameters[0]));
    }

   private:
    class Change final : public models::ParameterChange {
       public:
        Change(CellGroup& group, AlignedVector<double> current) : group_(group), current_(std::move(current)) {}
        void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const override {
            group_.check(variable, neurons, values);
        }
        void apply() noexcept override { std::ranges::copy(current_, group_.constant_current_.begin()); }

       private:
        CellGroup& group_;
        AlignedVector<double> current_;
    };

    std::size_t place_of(std::size_t cell, std::size_t slot) const {
        return (cell / lanes * plan_.slots() + slot) * lanes + cell % lanes;
    }
    std::size_t receptor_place(std::size_t cell, std::size_t receptor) const {
        return (cell / lanes * plan_.receptors.size() + receptor) * lanes + cell % lanes;
    }
    std::size_t gate_place(const CellPlan::Class& own, std::size_t cell, std::size_t place, std::size_t gate) const {
        const std::size_t stride = own.quads() * gates_of_quad;
        return cell / lanes * own.state_size() + (place * lanes + cell % lanes) * stride + gate;
    }

    std::size_t pool_place(std::size_t cell, std::size_t pool) const {
        return (cell / lanes * plan_.pools.size() + pool) * lanes + cell % lanes;
    }

    AlignedVector<double> padded_current(const GroupValues& values) const {
        AlignedVector<double> current(blocks_ * lanes, 0.0, memory_);
        for (std::size_t i = 0; i < size_; ++i) current[i] = values[i];
        return current;
    }

    void begin_at(std::size_t cell, double potential) {
        for (std::size_t slot = 0; slot < plan_.slots(); ++slot) potential_[place_of(cell, slot)] = potential;
        for (std::size_t p = 0; p < plan_.pools.size(); ++p) calcium_[pool_place(cell, p)] = plan_.pools.rest[p];
    }

    /// What the gates of a class follow.
    double argument_of(const CellPlan::Class& own, std::size_t cell, std::uint32_t slot) const {
        if (own.follows == Follows::potential) return potential_[place_of(cell, slot)];
        return math::log(calcium_[pool_place(cell, plan_.pools.place_of(slot))]);
    }

    /// Gates are where they tend to at the initial potential and concentration.
    void begin_gates() {
        for (const CellPlan::Class& own : plan_.classes) {
            gates_.emplace_back(blocks_ * own.state_size(), 0.0, memory_);
            std::vector<double> arguments(blocks_ * lanes);
            std::vector<double> steady(arguments.size());
            std::vector<double> part(arguments.size());
            const auto begin = [&](std::size_t gate) {
                exact_rates(instruction_set_, own.gates[gate], step_, spec_.celsius, arguments, steady.data(),
                            part.data());
            };
            for (std::size_t place = 0; place < own.slots.size(); ++place) {
                for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = argument_of(own, i, own.slots[place]);
                for (std::size_t gate = 0; gate < own.gates.size(); ++gate) {
                    begin(gate);
                    for (std::size_t i = 0; i < arguments.size(); ++i) {
                        gates_.back()[gate_place(own, i, place, gate)] = steady[i];
                    }
                }
            }
        }
    }

    void set_clamps(Step step) {
        for (std::size_t c = 0; c < actions_.size(); ++c) {
            actions_[c] = plan_.clamps[c].course.at(step);
            for (std::size_t l = 0; l < lanes; ++l) clamp_currents_[c * lanes + l] = actions_[c].current;
        }
    }

    double potential(std::size_t cell, std::uint32_t slot) const override { return potential_[place_of(cell, slot)]; }
    double calcium(std::size_t cell, std::size_t pool) const override { return calcium_[pool_place(cell, pool)]; }
    double conductance(std::size_t cell, std::size_t receptor) const override {
        return slow_[receptor_place(cell, receptor)] - fast_[receptor_place(cell, receptor)];
    }
    ClampCourse::Action action(std::size_t clamp) const override { return actions_[clamp]; }

    /// A gate is stored as it was before it follows the present potential, which it does at the begin of the next step.
    double gate(std::size_t cell, std::size_t class_index, std::size_t place, std::size_t gate) const override {
        const CellPlan::Class& own = plan_.classes[class_index];
        const double x = gates_[class_index][gate_place(own, cell, place, gate)];
        const std::vector<double> argument{argument_of(own, cell, own.slots[place])};
        double steady = 0.0;
        double part = 0.0;
        if (own.table) {
            own.table->look_up(gate, argument[0], steady, part);
        } else {
            exact_rates(instruction_set_, own.gates[gate], step_, spec_.celsius, argument, &steady, &part);
        }
        return x + (steady - x) * part;
    }

    void advance(std::size_t block, const UpdateArguments& arguments, std::size_t& fired) {
        const std::size_t first = block * lanes;
        const std::size_t cells = std::min(lanes, size_ - first);
        alignas(line_bytes) double injected[lanes];
        for (std::size_t l = 0; l < lanes; ++l) injected[l] = constant_current_[first + l];
        if (arguments.current != nullptr) {
            for (std::size_t l = 0; l < cells; ++l) injected[l] += arguments.current[first + l];
        }
        double* const potential = potential_.data() + block * plan_.slots() * lanes;
        const double* const at_detector = potential + plan_.detector * lanes;
        alignas(line_bytes) double before[lanes];
        for (std::size_t l = 0; l < lanes; ++l) before[l] = at_detector[l];

        take_inputs(block, cells, arguments);
        set_clamps(arguments.step);
        prepare_electrodes(injected);
        const KernelPools pools = prepare_pools(block);
        prepare_classes(block, potential);
        const KernelArguments kernel{.slots = plan_.slots(),
                                     .parents = plan_.parents.data(),
                                     .axial = plan_.axial.data(),
                                     .capacity = plan_.capacity.data(),
                                     .leak = plan_.leak.data(),
                                     .drive = plan_.drive.data(),
                                     .potential = potential,
                                     .diagonal = diagonal_.data(),
                                     .current = current_.data(),
                                     .class_count = kernel_classes_.size(),
                                     .classes = kernel_classes_.data(),
                                     .receptor_count = kernel_receptors_.size(),
                                     .receptors = kernel_receptors_.data(),
                                     .electrode_count = kernel_electrodes_.size(),
                                     .electrodes = kernel_electrodes_.data(),
                                     .pools = pools};
        left_ |= advance_block(instruction_set_, spec_.scheme, kernel);
        for (std::size_t l = 0; l < cells; ++l) {
            if (before[l] < spec_.threshold && at_detector[l] >= spec_.threshold) {
                arguments.spikes[fired++] = static_cast<std::uint32_t>(first + l);
            }
        }
    }

    void prepare_electrodes(const double* injected) {
        kernel_electrodes_.assign(1, {.slot = plan_.electrode, .current = injected});
        for (std::size_t c = 0; c < actions_.size(); ++c) {
            kernel_electrodes_.push_back({.slot = plan_.clamps[c].slot,
                                          .conductance = actions_[c].conductance,
                                          .current = clamp_currents_.data() + c * lanes});
        }
    }

    KernelPools prepare_pools(std::size_t block) {
        const PoolPlan& pools = plan_.pools;
        if (pools.size() == 0) return {};
        KernelPools kernel{.size = pools.size(),
                           .slots = pools.slots.data(),
                           .rest = pools.rest.data(),
                           .log_outside = pools.log_outside.data(),
                           .decay = pools.decay.data(),
                           .gain = pools.gain.data(),
                           .half_decay = pools.half_decay.data(),
                           .half_gain = pools.half_gain.data(),
                           .nernst = pools.nernst,
                           .concentration = calcium_.data() + block * pools.size() * lanes,
                           .logarithm = logarithm_.data(),
                           .conductance = calcium_conductance_.data(),
                           .reversal = calcium_reversal_.data()};
        // Exact rates are calculated before the kernel begins.
        if (spec_.rates == RateMethod::exact) CalciumKernel<false>::begin(kernel);
        return kernel;
    }

    void take_inputs(std::size_t block, std::size_t cells, const UpdateArguments& arguments) {
        inputs_.assign(plan_.receptors.size() * lanes, 0.0);
        kernel_receptors_.clear();
        for (std::size_t r = 0; r < plan_.receptors.size(); ++r) {
            double* const given = arguments.inputs[r] + block * lanes;
            for (std::size_t l = 0; l < cells; ++l) {
                inputs_[r * lanes + l] = given[l];
                given[l] = -0.0;
            }
            const std::size_t state = (block * plan_.receptors.size() + r) * lanes;
            kernel_receptors_.push_back({.slot = plan_.receptors[r].slot,
                                         .constants = plan_.receptors[r].constants,
                                         .slow = slow_.data() + state,
                                         .fast = fast_.data() + state,
                                         .input = inputs_.data() + r * lanes});
        }
    }

    void prepare_classes(std::size_t block, const double* potential) {
        kernel_classes_.clear();
        for (std::size_t c = 0; c < plan_.classes.size(); ++c) {
            const CellPlan::Class& own = plan_.classes[c];
            double* const gates = gates_[c].data() + block * own.state_size();
            const double* const argument = own.follows == Follows::calcium ? logarithm_.data() : potential;
            kernel_classes_.push_back({.size = own.slots.size(),
                                       .slots = own.slots.data(),
                                       .argument = argument,
                                       .gates = gates,
                                       .quads = own.quads(),
                                       .current_count = own.currents.size(),
                                       .currents = own.currents.data(),
                                       .calcium_count = own.calcium_currents.size(),
                                       .calcium_currents = own.calcium_currents.data()});
            KernelClass& kernel = kernel_classes_.back();
            if (own.table) {
                kernel.table = own.table->data();
                kernel.rows = static_cast<double>(own.table->rows());
                kernel.lowest = own.table->lowest();
                kernel.rows_per_unit = own.table->rows_per_unit();
            } else {
                advance_exactly(own, gates, argument);
            }
        }
    }

    /// Gates of a block without a table.
    void advance_exactly(const CellPlan::Class& own, double* gates, const double* argument) {
        const std::size_t count = own.slots.size() * lanes;
        const std::size_t stride = own.quads() * gates_of_quad;
        gathered_.resize(count);
        steady_.resize(count);
        part_.resize(count);
        for (std::size_t i = 0; i < count; ++i) gathered_[i] = argument[own.slots[i / lanes] * lanes + i % lanes];
        for (std::size_t gate = 0; gate < own.gates.size(); ++gate) {
            exact_rates(instruction_set_, own.gates[gate], step_, spec_.celsius, gathered_, steady_.data(),
                        part_.data());
            for (std::size_t i = 0; i < count; ++i) {
                double& x = gates[i * stride + gate];
                x += (steady_[i] - x) * part_[i];
            }
        }
    }

    const CellModel& cell_;
    const CellSpec& spec_;
    double step_;
    std::size_t size_;
    std::size_t blocks_;
    InstructionSet instruction_set_;
    std::pmr::memory_resource* memory_;
    CellPlan plan_;
    // By block; within it [slot][lane], [class][place in the class][lane][gate], [receptor][lane].
    AlignedVector<double> potential_;
    std::vector<AlignedVector<double>> gates_;
    AlignedVector<double> slow_;
    AlignedVector<double> fast_;
    AlignedVector<double> calcium_;  ///< mM [pool][lane]
    AlignedVector<double> constant_current_;
    std::uint32_t left_ = 0;  ///< what values have left their bounds
    // Of the block that is advanced.
    AlignedVector<double> diagonal_;
    AlignedVector<double> current_;
    AlignedVector<double> logarithm_;
    AlignedVector<double> calcium_conductance_;
    AlignedVector<double> calcium_reversal_;
    AlignedVector<double> inputs_;
    AlignedVector<double> clamp_currents_;      ///< [clamp][lane]
    std::vector<ClampCourse::Action> actions_;  ///< of clamps in the present step
    std::vector<KernelElectrode> kernel_electrodes_;
    std::vector<KernelClass> kernel_classes_;
    std::vector<KernelReceptor> kernel_receptors_;
    std::vector<double> gathered_;
    std::vector<double> steady_;
    std::vector<double> part_;
};

}  // namespace

std::unique_ptr<models::NeuronGroup> create_cell_group(const GroupArguments& arguments) {
    return std::make_unique<CellGroup>(arguments);
}

}  // namespace ranvier::cable
