#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "connect/plasticity/learning_rule.hpp"
#include "connect/plasticity/rule_loops.hpp"
#include "models/synapses/learning_rules.hpp"
#include "models/synapses/width_dispatch.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"
#include "ranvier/models/model_info.hpp"

/// The common base of models of spike-timing dependent plasticity that learn from pairs or triplets of spikes.
///
/// Such a model gives a class with `parameters`, `learning(values)`, `rule<Real>(values)` for the precision in which
/// weights are stored, the bounds of the weight, and `changes(values, weight)` (SynapseModel). If parameters may
/// differ between synapses, it gives `rule_parameters`, the indices of those that the rule reads, and
/// `per_synapse_rule<Real>(values, indices of per-synapse parameters)`, which reads them in this order; `time_constants`, the
/// indices of those of the traces, by connect::TraceKind; and `bound_parameter`, the index of the bound of weights,
/// which lie between 0 and its value. If a transmitter modulates learning, the class gives `modulation(values,
/// resolution)` in place of a rule.
namespace ranvier::models::pair_plasticity {

/// Time constant of a trace: with longer ones, a trace would not decay within the largest number of steps (see
/// connect::Decay).
inline constexpr Bounds time_constant{.lower = 0.0, .upper = 1e5, .lower_open = true};

/// The axonal fraction of the delay, from the source to the synapse.
inline constexpr ParameterInfo axonal_fraction{"axonal_fraction",
                                               "",
                                               0.0,
                                               {.lower = 0.0, .upper = 1.0},
                                               "Part of the delay that is axonal, rounded to a step; the rest is "
                                               "dendritic, and postsynaptic spikes take it to the "
                                               "synapse, too"};

/// Calls a function with the exponent as one of its three compile-time values.
template <class Call>
auto with_exponent(double y, Call call) {
    using learning_rules::Exponent;
    if (y == 0.0) return call(std::integral_constant<Exponent, Exponent::zero>{});
    if (y == 1.0) return call(std::integral_constant<Exponent, Exponent::one>{});
    return call(std::integral_constant<Exponent, Exponent::any>{});
}

template <class Model>
class Dynamics final : public WidthDispatch<Dynamics<Model>> {
   public:
    Dynamics(std::span<const double> values, double resolution) : resolution_(resolution) {
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = values[i];
    }

    double least_weight() const override { return Model::weight_bounds(values_).first; }
    double greatest_weight() const override { return Model::weight_bounds(values_).second; }
    std::optional<std::uint32_t> bound_parameter() const override {
        if constexpr (requires { Model::bound_parameter; }) return Model::bound_parameter;
        return std::nullopt;
    }
    void use_transmitter(const connect::Transmitter& transmitter) override { transmitter_ = transmitter; }
    const connect::Transmitter* transmitter() const override { return transmitter_ ? &*transmitter_ : nullptr; }

    bool runs_on_device() const override { return true; }
    double axonal_fraction() const override { return learning_in_steps().axonal_fraction; }

    connect::PlasticTableMemory memory(bool double_weights) const override {
        return double_weights ? memory_of<double>() : memory_of<float>();
    }

   private:
    friend class WidthDispatch<Dynamics>;

    connect::Learning learning_in_steps() const {
        connect::Learning learning = Model::learning(values_);
        learning.presynaptic_steps /= resolution_;
        learning.postsynaptic_steps /= resolution_;
        for (double& steps : learning.same_side_presynaptic_steps) steps /= resolution_;
        for (double& steps : learning.same_side_postsynaptic_steps) steps /= resolution_;
        if constexpr (requires { Model::time_constants; }) {
            learning.per_synapse_times.resolution = resolution_;
            for (std::size_t k = 0; k < Model::time_constants.size(); ++k) {
                learning.per_synapse_times.columns[k] = column_of(Model::time_constants[k]);
            }
        }
        return learning;
    }
    template <class Real>
    connect::LearningRule<Real> rule() const {
        if constexpr (requires { Model::modulation(values_, resolution_); }) {
            connect::LearningRule<Real> rule;
            rule.modulation =
                std::make_shared<const connect::ModulationConstants>(Model::modulation(values_, resolution_));
            return rule;
        } else {
            connect::LearningRule<Real> rule = Model::template rule<Real>(values_);
            if constexpr (requires {
                              Model::template per_synapse_rule<Real>(values_, this->per_synapse_parameters());
                          }) {
                if (!this->per_synapse_parameters().empty()) rule.per_synapse = per_synapse_rule<Real>();
            }
            return rule;
        }
    }
    /// Maps the parameters of the rule to columns of the table.
    template <class Real>
    connect::PerSynapseRule<Real> per_synapse_rule() const {
        connect::PerSynapseRule<Real> rule =
            Model::template per_synapse_rule<Real>(values_, this->per_synapse_parameters());
        rule.parameter_count = Model::rule_parameters.size();
        for (std::size_t k = 0; k < rule.parameter_count; ++k) {
            rule.parameters[k].shared = static_cast<Real>(values_[Model::rule_parameters[k]]);
            rule.parameters[k].column = column_of(Model::rule_parameters[k]);
        }
        return rule;
    }
    /// The column of tables with the values of a parameter, if it differs between synapses.
    std::optional<std::size_t> column_of(std::uint32_t parameter) const {
        const auto per_synapse = this->per_synapse_parameters();
        const auto column = std::ranges::find(per_synapse, parameter);
        if (column == per_synapse.end()) return std::nullopt;
        return static_cast<std::size_t>(column - per_synapse.begin());
    }
    template <class Real>
    connect::PlasticTableMemory memory_of() const {
        return connect::plastic_table_memory(learning_in_steps(), rule<Real>());
    }
    template <class Target, class Real>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Real> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        connect::Learning learning = learning_in_steps();
        learning.quantum = arguments.quantum;
        return connect::make_plastic_table(std::move(columns), learning, rule<Real>(), arguments);
    }

    std::array<double, Model::parameters.size()> values_;
    std::optional<connect::Transmitter> transmitter_;
    double resolution_;
};

template <class Model>
std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values, double resolution) {
    return std::make_unique<Dynamics<Model>>(values, resolution);
}

}  // namespace ranvier::models::pair_plasticity
