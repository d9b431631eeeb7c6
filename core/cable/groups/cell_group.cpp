#include "cable/groups/cell_group.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/math.hpp"
#include "base/step_times.hpp"
#include "base/subnormals.hpp"
#include "base/tight_list.hpp"
#include "cable/groups/cell_arrangement.hpp"
#include "cable/groups/device_forms.hpp"
#include "cable/groups/general_columns.hpp"
#include "cable/groups/outside_fields.hpp"
#include "cable/groups/probe_reading.hpp"
#include "cable/kernels/program_rates.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

using models::AdvanceArguments;
using models::GroupArguments;
using models::GroupValues;
using models::UpdateArguments;

std::vector<std::uint32_t> kinds_of_cells(const GroupArguments& arguments, const CellModel& model) {
    std::vector<std::uint32_t> kinds;
    for (std::uint64_t i = 0; i < arguments.ids.size(); ++i) {
        const std::uint64_t cell = arguments.ids[i].value - arguments.population_first.value;
        kinds.push_back(static_cast<std::uint32_t>(model.kind_of(cell)));
    }
    return kinds;
}

std::shared_ptr<PlanLibrary> library(const GroupArguments& arguments, const CellModel& model) {
    const double step = arguments.resolution;
    if (arguments.shared == nullptr) return std::make_shared<PlanLibrary>(model, step, arguments.memory);
    return arguments.shared->get<PlanLibrary>(&model, step, [&](std::pmr::memory_resource* memory) {
        return std::make_shared<PlanLibrary>(model, step, memory);
    });
}

/// Cells in blocks: see CellArrangement.
class CellGroup final : public models::NeuronGroup,
                        public models::CompartmentReader,
                        public models::OutsideReceiver,
                        public device::CellSource,
                        private CellValues {
   public:
    CellGroup(const CellModel& model, const GroupArguments& arguments)
        : model_(model),
          step_(arguments.resolution),
          instruction_set_(arguments.instruction_set),
          memory_(arguments.memory),
          layouts_(model_, kinds_of_cells(arguments, model_), library(arguments, model_), arguments.instruction_set),
          cells_(std::make_unique<CellArrangement>(layouts_, arguments.parameters.subspan(1), memory_)),
          constant_current_(currents(arguments.parameters[0])),
          refractory_steps_(static_cast<Step>(steps_rounded_up("t_ref", model_.spec().refractory_time, step_))),
          released_(refractory_steps_ > 0 ? layouts_.cells() : 0, 0, memory_),
          injected_(memory_),
          scratch_(memory_) {
        for (std::uint32_t r = 0; r < model_.receptors.size(); ++r) {
            sites_.push_back(model_.sites_at(r).most);
        }
        reserve(*cells_);
        if (!arguments.fields.empty()) {
            outside_ = std::make_unique<OutsideFields>(arguments.fields, layouts_, step_, memory_);
            make_outside_currents(*cells_);
        }
        if (arguments.reads_compartments || records_electrodes())
            injected_.assign(model_.spec().electrodes.size() * layouts_.cells(), 0.0);
        for (std::size_t cell = 0; cell < layouts_.cells(); ++cell) begin_at(cell, arguments.variables[0][cell]);
        for (const auto& store : cells_->stores()) store->fill_idle_lanes();
    }

    std::size_t update(const UpdateArguments& arguments) override {
        const FlushSubnormals flush;
        std::size_t fired = 0;
        for (const auto& store : cells_->stores()) {
            for (std::size_t block = 0; block < store->blocks(); ++block) {
                fired += advance(*store, block, arguments, arguments.spikes + fired);
            }
        }
        if (cells_->stores().size() > 1) std::sort(arguments.spikes, arguments.spikes + fired);
        return fired;
    }

    /// Takes each block through all steps before the next one, so that its state stays in the cache.
    void advance(const AdvanceArguments& arguments) override {
        const FlushSubnormals flush;
        for (const auto& store : cells_->stores()) {
            for (std::size_t block = 0; block < store->blocks(); ++block) advance(*store, block, arguments);
        }
    }

    /// The detector of a refractory cell finds no spikes.
    Step silent_until(Step now) const override {
        if (released_.empty()) return now;
        return std::max(now, *std::ranges::min_element(released_) - 1);
    }

    std::size_t largest_output() const override { return layouts_.cells(); }

    bool is_finite() const override {
        return std::ranges::all_of(cells_->stores(), [](const auto& store) { return store->is_finite(); });
    }

    bool has_failed() const override { return out_of_bounds_.first().has_value(); }

    std::optional<models::GroupFailure> failure() const override {
        const std::optional<OutOfBounds>& first = out_of_bounds_.first();
        if (first) return describe(*first, layouts_.of(first->cell));
        if (!is_finite()) return models::GroupFailure{.what = "a potential is not finite"};
        return std::nullopt;
    }

    void read(std::size_t variable, std::span<const std::uint32_t> neurons, double* out) const override {
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            const CellPlan& plan = layouts_.of(neurons[k]);
            out[k] = variable == 0 ? potential(neurons[k], plan.detector)
                                   : read_probe(plan.spec->probes[variable - 1], plan, *this, neurons[k]);
        }
    }

    const CompartmentReader* compartments() const override { return this; }

    void read_compartments(std::size_t variable, std::uint32_t neuron, double* out) const override {
        const CellPlan& plan = layouts_.of(neuron);
        if (variable == 1) return read_membrane_currents(plan, *this, neuron, out);
        for (const Compartment& compartment : plan.spec->compartments.compartments()) {
            *out++ = potential(neuron, plan.slot_of_node[compartment.node]);
        }
    }

    Forms forms() const override {
        CellArrangement::Plans plans = cells_->plans(layouts_);
        Forms made{.forms = {}, .of_cells = std::move(plans.of_cells)};
        for (const auto& plan : plans.plans) {
            made.forms.push_back(std::make_shared<const device::CellForm>(device_form(*plan, step_)));
        }
        return made;
    }
    device::u64 version() const override { return version_; }
    double threshold(std::size_t cell) const override { return cells_->store(cell).settings().threshold(number(cell)); }
    std::span<const double> clamp_numbers(std::size_t cell) const override {
        return cells_->store(cell).settings().numbers(number(cell));
    }
    double constant_current(std::size_t cell) const override { return constant_current_[cell]; }
    device::i64 refractory_steps() const override { return refractory_steps_; }
    std::uint32_t sites_at(std::uint32_t receptor) const override { return sites_[receptor]; }
    void read_state(std::size_t cell, std::vector<double>& numbers) const override {
        visit_state(cell, [&](double& value) { numbers.push_back(value); });
        for (std::size_t e = 0; e < layouts_.of(cell).electrodes.size(); ++e) {
            numbers.push_back(injected_.empty() ? 0.0 : injected(cell, e));
        }
    }
    void write_state(std::size_t cell, device::i64 now, std::span<const double> numbers) override {
        now_ = now;
        auto next = numbers.begin();
        visit_state(cell, [&](double& value) { value = *next++; });
        for (std::size_t at = cell; at < injected_.size(); at += layouts_.cells()) injected_[at] = *next++;
    }
    std::int32_t refractory(std::size_t cell, device::i64 now) const override {
        return released_.empty() ? 0 : static_cast<std::int32_t>(std::max<Step>(released_[cell] - now - 1, 0));
    }
    void set_refractory(std::size_t cell, device::i64 now, std::int32_t steps) override {
        if (!released_.empty()) released_[cell] = now + 1 + steps;
    }

    OutsideReceiver* outside() override { return outside_ != nullptr ? this : nullptr; }

    void set_distributions(std::size_t field, std::uint32_t cell, std::span<const double> potentials) override {
        outside_->set_distributions(field, cell, potentials);
        renew_outside_currents(cell);
    }

    void set_potentials(std::size_t field, std::uint32_t cell, std::span<const double> potentials, Step now) override {
        outside_->set_potentials(field, cell, potentials, now);
        renew_outside_currents(cell);
    }

    Step potentials_set(std::size_t field, std::uint32_t cell) const override {
        return outside_->potentials_set(field, cell);
    }

    /// Sets the potential of the whole cell; all other variables are read-only.
    void write(std::size_t /*variable*/, std::span<const std::uint32_t> neurons, const double* values) override {
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            CellStore& store = cells_->store(neurons[k]);
            const std::size_t cell = number(neurons[k]);
            for (std::uint32_t slot = 0; slot < layouts_.of(neurons[k]).slots(); ++slot) {
                store.potential(cell, slot) = values[k];
            }
        }
    }

    void check(std::size_t variable, std::span<const std::uint32_t> /*neurons*/,
               const double* /*values*/) const override {
        if (variable != 0) throw InternalError("a probe was written to");
    }

    void serialize_state(std::uint32_t cell, Step now, StateColumns& columns) override {
        if (columns.loads()) now_ = now;
        const CellPlan& plan = layouts_.of(cell);
        CellStore& store = cells_->store(cell);
        const std::size_t k = number(cell);
        columns.serialize_size(plan.slots());
        // In the order of the nodes, which does not depend on the arrangement.
        const auto slot = [&](std::size_t node) { return plan.slot_of_node[node]; };
        columns.serialize_list<double>("V_m", plan.slots(),
                                       [&](std::size_t node) -> double& { return store.potential(k, slot(node)); });
        if (!released_.empty()) {
            auto refractory = static_cast<std::int32_t>(std::max<Step>(released_[cell] - now - 1, 0));
            columns.serialize("refractory_steps", refractory);
            if (columns.loads()) released_[cell] = now + 1 + refractory;
        }
        serialize_gates(cell, columns);
        serialize_general(model_, plan, store, k, columns);
        serialize_receptors(cell, columns);
        for (std::size_t at = cell; at < injected_.size(); at += layouts_.cells()) {
            columns.serialize("injected_" + std::to_string(at / layouts_.cells()), injected_[at]);
        }
        if (outside_) outside_->serialize(cell, columns);
        if (!has_pools()) return;
        double nowhere = 0.0;
        columns.serialize_list<double>("calcium", plan.slots(), [&](std::size_t node) -> double& {
            if (!plan.pools.is_at(slot(node))) return nowhere;
            return store.calcium(k, plan.pools.place_of(slot(node)));
        });
    }

    std::unique_ptr<models::ParameterChange> prepare_parameters(std::span<const GroupValues> parameters) override {
        const std::span<const GroupValues> per_cell_parameters = parameters.subspan(1);
        std::unique_ptr<CellArrangement> changed;
        std::optional<CellArrangement::Settings> settings;
        for (std::size_t cell = 0; cell < layouts_.cells() && changed == nullptr; ++cell) {
            const std::vector<double> present = cells_->per_cell_values(cell);
            std::vector<double> values;
            for (const GroupValues& each : per_cell_parameters) values.push_back(each[cell]);
            if (values == present) continue;
            const std::uint32_t kind = layouts_.kind_of(cell);
            if (layouts_.plan_values(kind, values) == layouts_.plan_values(kind, present)) {
                if (!settings) settings = cells_->prepare_settings(per_cell_parameters, layouts_);
                continue;
            }
            changed = std::make_unique<CellArrangement>(layouts_, per_cell_parameters, memory_);
            reserve(*changed);
            if (outside_) make_outside_currents(*changed);
        }
        return std::make_unique<Change>(*this, currents(parameters[0]), std::move(changed), std::move(settings));
    }

   private:
    class Change final : public models::ParameterChange {
       public:
        Change(CellGroup& group, AlignedVector<double> current, std::unique_ptr<CellArrangement> cells,
               std::optional<CellArrangement::Settings> settings)
            : group_(group), current_(std::move(current)), cells_(std::move(cells)), settings_(std::move(settings)) {}
        void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const override {
            group_.check(variable, neurons, values);
        }
        void apply() noexcept override {
            std::ranges::copy(current_, group_.constant_current_.begin());
            ++group_.version_;
            if (cells_ == nullptr) {
                if (settings_) group_.cells_->swap_settings(*settings_);
                return;
            }
            cells_->take(*group_.cells_, group_.layouts_);
            for (const auto& store : cells_->stores()) store->fill_idle_lanes();
            group_.cells_ = std::move(cells_);
        }

       private:
        CellGroup& group_;
        AlignedVector<double> current_;
        std::unique_ptr<CellArrangement> cells_;  ///< null: no plan has changed
        std::optional<CellArrangement::Settings> settings_;  ///< set if per-cell parameters have changed, but no plan
    };

    std::size_t number(std::size_t cell) const { return cells_->home(cell).cell; }

    /// Calls act() with the numbers of the state of a cell, in the order of read_state(), but for the currents of electrodes.
    template <class Act>
    void visit_state(std::size_t cell, const Act& act) const {
        const CellPlan& plan = layouts_.of(cell);
        CellStore& store = cells_->store(cell);
        const std::size_t k = number(cell);
        for (std::uint32_t slot = 0; slot < plan.slots(); ++slot) act(store.potential(k, slot));
        for (std::size_t c = 0; c < plan.classes.size(); ++c) {
            for (std::size_t place = 0; place < plan.classes[c].slots.size(); ++place) {
                for (std::size_t g = 0; g < plan.classes[c].gates.size(); ++g) act(store.gate(k, c, place, g));
            }
        }
        for (std::size_t p = 0; p < plan.pools.size(); ++p) act(store.calcium(k, p));
        for (std::size_t g = 0; g < plan.generals.size(); ++g) {
            const GeneralPlan& general = plan.generals[g];
            for (std::size_t place = 0; place < general.slots.size(); ++place) {
                for (std::size_t s = 0; s < general.model->general->states.size(); ++s)
                    act(store.state(k, g, place, s));
            }
        }
        for (std::size_t r = 0; r < plan.receptors.size(); ++r) {
            act(store.slow(k, r));
            act(store.fast(k, r));
        }
    }

    bool has_pools() const {
        return std::ranges::any_of(layouts_.kinds(),
                                   [](const auto& plan) { return plan != nullptr && plan->pools.size() > 0; });
    }

    bool records_electrodes() const {
        for (std::size_t kind = 0; kind < model_.kinds(); ++kind) {
            if (std::ranges::find(model_.spec(kind).probes, Probe::Kind::electrode_current, &Probe::kind) !=
                model_.spec(kind).probes.end()) {
                return true;
            }
        }
        return false;
    }

    void reserve(const CellArrangement& cells) {
        for (const auto& store : cells.stores()) scratch_.reserve(store->slots(), has_pools());
    }

    void make_outside_currents(const CellArrangement& cells) const {
        for (const auto& store : cells.stores()) {
            const auto has_field = [&](std::uint32_t cell) { return outside_->acts_on(cell); };
            bool acts = false;
            for (std::size_t block = 0; block < store->blocks(); ++block) {
                acts = acts || std::ranges::any_of(store->cells_of(block), has_field);
            }
            if (acts) store->make_outside_currents(memory_);
        }
    }

    /// Makes the next step of the block of a cell calculate its currents again.
    void renew_outside_currents(std::size_t cell) {
        const CellArrangement::Home home = cells_->home(cell);
        CellStore& store = cells_->store(cell);
        store.outside_until(store.block_of(home.cell)) = 0;
    }

    /// Calculates the currents of a block in a step, unless those of the step before still hold.
    void follow_outside(CellStore& store, std::size_t block, Step step) {
        if (step <= store.outside_until(block)) return;
        store.outside_until(block) = outside_->unchanged_until(step);
        for (const std::uint32_t cell : store.cells_of(block)) {
            if (!outside_->acts_on(cell)) continue;
            outside_potentials_.resize(layouts_.of(cell).slots());
            outside_->read(cell, step, outside_potentials_);
            const std::span<const double> sums =
                outside_currents(layouts_.of(cell), *this, cell, outside_potentials_, outside_sums_);
            const std::size_t k = number(cell);
            for (std::uint32_t slot = 0; slot < sums.size(); ++slot) store.outside_current(k, slot) = sums[slot];
        }
    }

    AlignedVector<double> currents(const GroupValues& values) const {
        AlignedVector<double> current(layouts_.cells(), 0.0, memory_);
        for (std::size_t i = 0; i < current.size(); ++i) current[i] = values[i];
        return current;
    }

    /// Sets the initial states of general mechanisms, pools first: others may read their calcium.
    void begin_general(std::size_t cell, double potential) {
        const CellPlan& plan = layouts_.of(cell);
        CellStore& store = cells_->store(cell);
        const std::size_t k = number(cell);
        for (const bool is_pool : {true, false}) {
            for (std::size_t g = 0; g < plan.generals.size(); ++g) {
                const GeneralPlan& general_plan = plan.generals[g];
                const GeneralInfo& general = *general_plan.model->general;
                if (general.is_pool() != is_pool) continue;
                for (std::size_t place = 0; place < general_plan.slots.size(); ++place) {
                    const std::optional<std::uint32_t>& pool = general_plan.pools[place];
                    const double calcium = pool ? store.calcium(k, *pool) : 0.0;
                    const std::vector<double> states = initial_states(general_plan, place,
                                                                      {.potential = potential,
                                                                       .celsius = plan.spec->celsius,
                                                                       .calcium = calcium,
                                                                       .nernst = plan.pools.nernst,
                                                                       .step = step_,
                                                                       .time = time()});
                    for (std::size_t s = 0; s < states.size(); ++s) store.state(k, g, place, s) = states[s];
                    if (is_pool) store.calcium(k, pool.value()) = states[static_cast<std::size_t>(general.calcium)];
                }
            }
        }
    }

    /// Sets the whole cell to a potential, and gates to their steady states or user-defined initial values.
    void begin_at(std::size_t cell, double potential) {
        const CellPlan& plan = layouts_.of(cell);
        CellStore& store = cells_->store(cell);
        const std::size_t k = number(cell);
        for (std::uint32_t slot = 0; slot < plan.slots(); ++slot) store.potential(k, slot) = potential;
        begin_general(cell, potential);
        for (std::size_t c = 0; c < plan.classes.size(); ++c) {
            const CellPlan::Class& compartment_class = plan.classes[c];
            std::vector<double> arguments{potential};
            std::vector<double> logarithms;
            if (compartment_class.follows != Follows::potential) {
                arguments.clear();
                for (const std::uint32_t slot : compartment_class.slots) {
                    arguments.push_back(argument_of(compartment_class, cell, slot));
                    if (compartment_class.follows == Follows::both) logarithms.push_back(log_calcium(cell, slot));
                }
            }
            std::vector<double> steady(arguments.size());
            std::vector<double> part(arguments.size());
            for (std::size_t gate = 0; gate < compartment_class.gates.size(); ++gate) {
                exact_rates(instruction_set_, compartment_class.gates[gate], step_, plan.spec->celsius, arguments,
                            steady.data(), part.data(), logarithms);
                for (std::size_t i = 0; i < arguments.size(); ++i) {
                    const double logarithm = logarithms.empty() ? 0.0 : logarithms[i];
                    const auto given =
                        initial_value(compartment_class.gates[gate], arguments[i], logarithm, plan.spec->celsius);
                    if (given)
                        steady[i] =
                            stored_initially(plan, compartment_class, gate, arguments[i], *given, steady[i], part[i]);
                }
                for (std::size_t place = 0; place < compartment_class.slots.size(); ++place) {
                    store.gate(k, c, place, gate) = steady[arguments.size() == 1 ? 0 : place];
                }
            }
        }
    }

    /// The stored value of a gate with an initial value: the first step starts by advancing the gates (see gate()), from
    /// the stored value to the initial value at time 0 or, with the staggered scheme, to its value half a step later. A
    /// gate that a step brings to within 1e-6 of its steady state starts there: the stored value would lose its digits.
    /// @param steady, part exact, for the whole step
    double stored_initially(const CellPlan& plan, const CellPlan::Class& compartment_class, std::size_t gate,
                            double argument, double given, double steady, double part) const {
        if (plan.spec->scheme == Scheme::staggered) given = steady + (given - steady) * std::sqrt(1.0 - part);
        if (compartment_class.table != nullptr) compartment_class.table->look_up(gate, argument, steady, part);
        return 1.0 - part > 1e-6 ? steady + (given - steady) / (1.0 - part) : steady;
    }

    std::size_t advance(CellStore& store, std::size_t block, const UpdateArguments& arguments, std::uint32_t* spikes) {
        BlockStep step{.update = arguments,
                       .constant_current = constant_current_.data(),
                       .sites = sites_.data(),
                       .injected = injected_.empty() ? nullptr : injected_.data(),
                       .cells = layouts_.cells(),
                       .step = step_,
                       .instruction_set = instruction_set_,
                       .scratch = scratch_,
                       .out_of_bounds = out_of_bounds_};
        if (store.has_outside_currents()) follow_outside(store, block, arguments.step);
        const std::size_t fired = store.advance(block, step, spikes);
        now_ = arguments.step;
        return released_.empty() ? fired : without_refractory(arguments.step, spikes, fired);
    }

    /// Removes the cells that cannot fire yet from those whose potential has crossed the threshold in a step; returns
    /// the number of those that remain.
    std::size_t without_refractory(Step step, std::uint32_t* cells, std::size_t count) {
        std::size_t fired = 0;
        for (std::size_t i = 0; i < count; ++i) {
            Step& released = released_[cells[i]];
            if (step < released) continue;
            released = step + refractory_steps_;
            cells[fired++] = cells[i];
        }
        return fired;
    }

    void advance(CellStore& store, std::size_t block, const AdvanceArguments& arguments) {
        std::vector<double*> inputs(arguments.inputs.size());
        std::vector<const double*> more_currents(arguments.more_currents.size());
        std::size_t observed = 0;
        for (Step step = arguments.first; step <= arguments.last; ++step) {
            for (std::size_t r = 0; r < inputs.size(); ++r) inputs[r] = arguments.inputs[r].row(step);
            const auto row = [&](const models::StepRows& rows) {
                return rows.data == nullptr ? nullptr : rows.row(step);
            };
            for (std::size_t e = 0; e < more_currents.size(); ++e) more_currents[e] = row(arguments.more_currents[e]);
            const std::size_t fired = advance(store, block,
                                              {.step = step,
                                               .inputs = inputs.data(),
                                               .current = row(arguments.current),
                                               .more_currents = more_currents,
                                               .spikes = arguments.room},
                                              arguments.room);
            for (std::size_t i = 0; i < fired; ++i) append(*arguments.spikes, {step, arguments.room[i]});
            if (observed == arguments.observed.size() || arguments.observed[observed] != step) continue;
            ++observed;
            const std::span<const std::uint32_t> cells = store.cells_of(block);
            for (std::size_t begin = 0; begin < cells.size();) {
                std::size_t end = begin + 1;
                while (end < cells.size() && cells[end] == cells[begin] + (end - begin)) ++end;
                arguments.observer->observe(step, cells[begin], cells[begin] + (end - begin));
                begin = end;
            }
        }
    }

    /// By number. A receptor with several sites is saved by node, since sites differ between kinds of cells, or by site if
    /// sites are separate.
    void serialize_receptors(std::uint32_t cell, StateColumns& columns) {
        const CellPlan& plan = layouts_.of(cell);
        CellStore& store = cells_->store(cell);
        const std::size_t k = number(cell);
        for (std::uint32_t r = 0; r < sites_.size(); ++r) {
            if (model_.spec().receptors[r].model->general != nullptr) {
                serialize_sites(r, sites_[r], plan, store, k, columns);
                continue;
            }
            const std::string of = std::to_string(r);
            if (sites_[r] == 1) {
                const std::size_t receptor = plan.receptor_at(r, 0);
                columns.serialize("slow_" + of, store.slow(k, receptor));
                columns.serialize("fast_" + of, store.fast(k, receptor));
                continue;
            }
            if (plan.spec->separate_sites) {
                for (std::uint32_t site = 0; site < sites_[r]; ++site) {
                    const bool is_there = site < plan.spec->receptors[r].places.size();
                    double nowhere = 0.0;
                    const std::size_t receptor = is_there ? plan.receptor_at(r, site) : 0;
                    const std::string of_site = of + "_" + std::to_string(site);
                    columns.serialize("slow_" + of_site, is_there ? store.slow(k, receptor) : nowhere);
                    columns.serialize("fast_" + of_site, is_there ? store.fast(k, receptor) : nowhere);
                }
                continue;
            }
            std::vector<std::size_t> at(plan.slots(), plan.receptors.size());  // by slot
            for (std::size_t receptor = 0; receptor < plan.receptors.size(); ++receptor) {
                if (plan.receptors[receptor].number == r) at[plan.receptors[receptor].slot] = receptor;
            }
            double nowhere = 0.0;
            const auto serialize = [&](const std::string& name, auto member) {
                columns.serialize_list<double>(name, plan.slots(), [&](std::size_t node) -> double& {
                    const std::size_t receptor = at[plan.slot_of_node[node]];
                    return receptor == plan.receptors.size() ? nowhere : (store.*member)(k, receptor);
                });
            };
            serialize("slow_" + of, &CellStore::slow);
            serialize("fast_" + of, &CellStore::fast);
        }
    }

    /// By mechanism, since a mechanism is in different classes in different kinds of cells.
    void serialize_gates(std::uint32_t cell, StateColumns& columns) {
        std::vector<std::size_t> gates;  // by mechanism: the maximum over all kinds
        for (std::size_t kind = 0; kind < model_.kinds(); ++kind) {
            const std::vector<PaintedMechanism>& painted = model_.spec(kind).mechanisms;
            gates.resize(std::max(gates.size(), painted.size()));
            for (std::size_t m = 0; m < painted.size(); ++m) {
                gates[m] = std::max(gates[m], painted[m].mechanism->gates.size());
            }
        }
        const CellPlan& plan = layouts_.of(cell);
        CellStore& store = cells_->store(cell);
        for (std::uint32_t m = 0; m < gates.size(); ++m) {
            for (std::size_t gate = 0; gate < gates[m]; ++gate) {
                double nowhere = 0.0;
                const bool is_there =
                    m < plan.spec->mechanisms.size() && gate < plan.spec->mechanisms[m].mechanism->gates.size();
                columns.serialize_list<double>(
                    "gate_" + std::to_string(m) + "_" + std::to_string(gate), plan.slots(),
                    [&](std::size_t node) -> double& {
                        const std::uint32_t slot = plan.slot_of_node[node];
                        const CellPlan::Class* const compartment_class = is_there ? plan.class_with(m, slot) : nullptr;
                        if (compartment_class == nullptr) return nowhere;
                        const auto index = static_cast<std::size_t>(compartment_class - plan.classes.data());
                        return store.gate(number(cell), index, compartment_class->place_of(slot),
                                          compartment_class->first_gate(m) + gate);
                    });
            }
        }
    }

    /// The variable that the gates of a class depend on; for gates that also depend on calcium, its logarithm is
    /// passed separately.
    double argument_of(const CellPlan::Class& compartment_class, std::size_t cell, std::uint32_t slot) const {
        return compartment_class.follows == Follows::calcium ? log_calcium(cell, slot) : potential(cell, slot);
    }
    double log_calcium(std::size_t cell, std::uint32_t slot) const {
        return math::log(calcium(cell, layouts_.of(cell).pools.place_of(slot)));
    }

    double potential(std::size_t cell, std::uint32_t slot) const override {
        return cells_->store(cell).potential(number(cell), slot);
    }
    double calcium(std::size_t cell, std::size_t pool) const override {
        return cells_->store(cell).calcium(number(cell), pool);
    }
    double conductance(std::size_t cell, std::size_t receptor) const override {
        CellStore& store = cells_->store(cell);
        return store.slow(number(cell), receptor) - store.fast(number(cell), receptor);
    }
    double injected(std::size_t cell, std::size_t electrode) const override {
        return injected_[electrode * layouts_.cells() + cell];
    }
    bool outside_potentials(std::size_t cell, std::vector<double>& by_slot) const override {
        if (outside_ == nullptr || !outside_->acts_on(cell)) return false;
        by_slot.resize(layouts_.of(cell).slots());
        outside_->read(cell, now_, by_slot);
        return true;
    }
    ClampCourse::Action action(std::size_t cell, std::size_t clamp) const override {
        return cells_->store(cell).settings().action(number(cell), layouts_.of(cell).clamps[clamp], now_);
    }
    double state(std::size_t cell, std::size_t general, std::size_t place, std::size_t state) const override {
        return cells_->store(cell).state(number(cell), general, place, state);
    }
    const ReceptorConstants& receptor_constants(std::size_t cell, std::size_t receptor) const override {
        return cells_->store(cell).receptor_constants(number(cell), receptor);
    }
    double step() const override { return step_; }
    double time() const override { return static_cast<double>(now_) * step_; }
    double log_outside(std::size_t cell, std::size_t pool) const override {
        return cells_->store(cell).log_outside(number(cell), pool);
    }
    std::vector<double> per_cell_values(std::size_t cell) const override { return cells_->per_cell_values(cell); }

    /// A stored gate lags behind the present potential until the next step starts: by a whole step or, in the
    /// staggered scheme, from half a step before the present time to half a step after it.
    double gate(std::size_t cell, std::size_t class_index, std::size_t place, std::size_t gate) const override {
        const CellPlan::Class& compartment_class = layouts_.of(cell).classes[class_index];
        const double x = cells_->store(cell).gate(number(cell), class_index, place, gate);
        const std::vector<double> argument{argument_of(compartment_class, cell, compartment_class.slots[place])};
        double steady = 0.0;
        double part = 0.0;
        if (compartment_class.table != nullptr) {
            compartment_class.table->look_up(gate, argument[0], steady, part);
        } else {
            std::vector<double> logarithm;
            if (compartment_class.follows == Follows::both)
                logarithm.push_back(log_calcium(cell, compartment_class.slots[place]));
            exact_rates(instruction_set_, compartment_class.gates[gate], step_, layouts_.of(cell).spec->celsius,
                        argument, &steady, &part, logarithm);
        }
        if (layouts_.of(cell).spec->scheme == Scheme::staggered) part = 1.0 - std::sqrt(std::max(1.0 - part, 0.0));
        return x + (steady - x) * part;
    }

    const CellModel& model_;
    double step_;
    InstructionSet instruction_set_;
    std::pmr::memory_resource* memory_;
    CellLayouts layouts_;
    std::unique_ptr<CellArrangement> cells_;
    AlignedVector<double> constant_current_;
    Step refractory_steps_;  ///< from a spike to the first step that may have the next one; 0 or 1: any step may
    AlignedVector<Step> released_;  ///< by cell: the first step in which it may fire; empty: all may fire
    std::vector<std::uint32_t> sites_;  ///< by receptor: inputs of each cell
    AlignedVector<double> injected_;  ///< see BlockStep::injected
    std::unique_ptr<OutsideFields> outside_;  ///< null: no potentials outside act on the cells
    std::vector<double> outside_potentials_;  ///< scratch memory for a cell, by slot
    std::vector<double> outside_sums_;  ///< and for its currents
    BlockScratch scratch_;
    FirstOutOfBounds out_of_bounds_;
    Step now_ = 0;  ///< the last step calculated
    device::u64 version_ = 0;  ///< of plans and settings
};

}  // namespace

std::unique_ptr<models::NeuronGroup> create_cell_group(const CellModel& model, const GroupArguments& arguments) {
    return std::make_unique<CellGroup>(model, arguments);
}

}  // namespace ranvier::cable
