#include "cable/cell_group.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/errors.hpp"
#include "base/subnormals.hpp"
#include "cable/cell_plan.hpp"
#include "cable/kernel.hpp"

namespace ranvier::cable {

namespace {

using models::GroupArguments;
using models::GroupValues;
using models::UpdateArguments;

/// Cells stand in blocks of 8, one in each lane. Lanes without a cell calculate one that nothing reaches.
class CellGroup final : public models::NeuronGroup {
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
          constant_current_(padded_current(arguments.parameters[0])),
          diagonal_(plan_.slots() * lanes, 0.0, memory_),
          current_(plan_.slots() * lanes, 0.0, memory_) {
        for (std::size_t i = 0; i < blocks_ * lanes; ++i) begin_at(i, arguments.variables[0][std::min(i, size_ - 1)]);
        begin_gates();
    }

    std::size_t update(const UpdateArguments& arguments) override {
        const FlushSubnormals flush;
        std::size_t fired = 0;
        for (std::size_t block = 0; block < blocks_; ++block) advance(block, arguments, fired);
        return fired;
    }

    std::size_t largest_output() const override { return size_; }

    bool is_finite() const override {
        const auto finite = [](double value) { return std::abs(value) <= std::numeric_limits<double>::max(); };
        return std::ranges::all_of(potential_, finite) && std::ranges::all_of(slow_, finite);
    }

    std::optional<std::string> failure() const override {
        if (!is_finite()) return "a potential has left the range of numbers";
        if (!has_left_table_) return std::nullopt;
        return "a potential has left the range from " + to_text(RateTable::lowest) + " to " +
               to_text(RateTable::highest) + " mV for which rates of channels are tabulated";
    }

    void read(std::size_t variable, std::span<const std::uint32_t> neurons, double* out) const override {
        const Probe potential{.name = {}, .kind = Probe::Kind::potential, .place = spec_.detector};
        const Probe& probe = variable == 0 ? potential : spec_.probes[variable - 1];
        if (probe.kind == Probe::Kind::gate) return read_gate(probe, neurons, out);
        const std::uint32_t slot = probe.kind == Probe::Kind::potential ? plan_.slot_at(probe.place) : 0;
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            const std::size_t cell = neurons[k];
            out[k] = probe.kind == Probe::Kind::potential
                         ? potential_[place_of(cell, slot)]
                         : slow_[receptor_place(cell, probe.of)] - fast_[receptor_place(cell, probe.of)];
        }
    }

    /// The potential where the cell fires; what else could be written is read only.
    void write(std::size_t /*variable*/, std::span<const std::uint32_t> neurons, const double* values) override {
        for (std::size_t k = 0; k < neurons.size(); ++k) potential_[place_of(neurons[k], plan_.detector)] = values[k];
    }

    void check(std::size_t variable, std::span<const std::uint32_t> /*neurons*/,
               const double* /*values*/) const override {
        if (variable != 0) throw InternalError("a probe was written to");
    }

    void exchange_state(std::uint32_t cell, Step /*now*/, StateColumns& columns) override {
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

    AlignedVector<double> padded_current(const GroupValues& values) const {
        AlignedVector<double> current(blocks_ * lanes, 0.0, memory_);
        for (std::size_t i = 0; i < size_; ++i) current[i] = values[i];
        return current;
    }

    void begin_at(std::size_t cell, double potential) {
        for (std::size_t slot = 0; slot < plan_.slots(); ++slot) potential_[place_of(cell, slot)] = potential;
    }

    /// Gates are where they tend to at the initial potential.
    void begin_gates() {
        for (const CellPlan::Class& own : plan_.classes) {
            gates_.emplace_back(blocks_ * own.state_size(), 0.0, memory_);
            std::vector<double> potentials(blocks_ * lanes);
            for (std::size_t i = 0; i < potentials.size(); ++i) potentials[i] = potential_[place_of(i, 0)];
            std::vector<double> steady(potentials.size());
            std::vector<double> part(potentials.size());
            for (std::size_t gate = 0; gate < own.gates.size(); ++gate) {
                exact_rates(instruction_set_, own.gates[gate], step_, spec_.celsius, potentials, steady.data(),
                            part.data());
                for (std::size_t i = 0; i < potentials.size(); ++i) {
                    for (std::size_t place = 0; place < own.slots.size(); ++place) {
                        gates_.back()[gate_place(own, i, place, gate)] = steady[i];
                    }
                }
            }
        }
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
                                     .electrode = plan_.electrode,
                                     .injected = injected};
        const bool left = spec_.scheme == Scheme::staggered
                              ? Dispatched<BlockKernel<true>>::call(instruction_set_, &kernel)
                              : Dispatched<BlockKernel<false>>::call(instruction_set_, &kernel);
        has_left_table_ = has_left_table_ || left;
        for (std::size_t l = 0; l < cells; ++l) {
            if (before[l] < spec_.threshold && at_detector[l] >= spec_.threshold) {
                arguments.spikes[fired++] = static_cast<std::uint32_t>(first + l);
            }
        }
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
            kernel_classes_.push_back({.size = own.slots.size(),
                                       .slots = own.slots.data(),
                                       .gates = gates,
                                       .quads = own.quads(),
                                       .current_count = own.currents.size(),
                                       .currents = own.currents.data()});
            KernelClass& kernel = kernel_classes_.back();
            if (own.table) {
                kernel.table = own.table->data();
                kernel.rows = static_cast<double>(own.table->rows());
                kernel.lowest = RateTable::lowest;
                kernel.rows_per_millivolt = own.table->rows_per_millivolt();
            } else {
                advance_exactly(own, gates, potential);
            }
        }
    }

    /// Gates of a block without a table.
    void advance_exactly(const CellPlan::Class& own, double* gates, const double* potential) {
        const std::size_t count = own.slots.size() * lanes;
        const std::size_t stride = own.quads() * gates_of_quad;
        gathered_.resize(count);
        steady_.resize(count);
        part_.resize(count);
        for (std::size_t i = 0; i < count; ++i) gathered_[i] = potential[own.slots[i / lanes] * lanes + i % lanes];
        for (std::size_t gate = 0; gate < own.gates.size(); ++gate) {
            exact_rates(instruction_set_, own.gates[gate], step_, spec_.celsius, gathered_, steady_.data(),
                        part_.data());
            for (std::size_t i = 0; i < count; ++i) {
                double& x = gates[i * stride + gate];
                x += (steady_[i] - x) * part_[i];
            }
        }
    }

    /// A gate is stored as it was before it follows the present potential, which it does at the begin of the next step.
    void read_gate(const Probe& probe, std::span<const std::uint32_t> neurons, double* out) const {
        const std::uint32_t slot = plan_.slot_at(probe.place);
        const CellPlan::Class& own = *plan_.class_with(probe.of, slot);
        const auto c = static_cast<std::size_t>(&own - plan_.classes.data());
        const auto painted = static_cast<std::size_t>(std::ranges::find(own.painted, probe.of) - own.painted.begin());
        const std::size_t gate = own.first_gates[painted] + probe.gate;
        const std::size_t place = own.place_of(slot);
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            const double x = gates_[c][gate_place(own, neurons[k], place, gate)];
            const std::vector<double> potential{potential_[place_of(neurons[k], slot)]};
            double steady = 0.0;
            double part = 0.0;
            if (own.table) {
                own.table->look_up(gate, potential[0], steady, part);
            } else {
                exact_rates(instruction_set_, own.gates[gate], step_, spec_.celsius, potential, &steady, &part);
            }
            out[k] = x + (steady - x) * part;
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
    AlignedVector<double> constant_current_;
    bool has_left_table_ = false;
    // Of the block that is advanced.
    AlignedVector<double> diagonal_;
    AlignedVector<double> current_;
    AlignedVector<double> inputs_;
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
