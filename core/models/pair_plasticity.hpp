#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/instruction_set.hpp"
#include "base/math.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "connect/plasticity/rule_loops.hpp"
#include "connect/tables/synapse_dynamics.hpp"
#include "models/model_info.hpp"

/// What models of spike-timing dependent plasticity have in common that learn from pairs of spikes, or from triplets.
///
/// Such a model gives a class template `Rule<Real>` for connect::make_learning_rule(), of the precision that weights are
/// stored in, and a class with `parameters`, `learning(values)`, `constants<Real>(values)` and the bounds of the weight.
namespace ranvier::models::pair_plasticity {

/// Of a trace: longer ones would not end before numbers of steps do (see connect::Decay).
inline constexpr Bounds time_constant{.lower = 0.0, .upper = 1e5, .lower_open = true};

/// Which part of the delay the presynaptic spike takes to the synapse.
inline constexpr ParameterInfo axonal_fraction{"axonal_fraction",
                                               "",
                                               0.0,
                                               {.lower = 0.0, .upper = 1.0},
                                               "Part of the delay that is axonal, rounded to a step; the rest is "
                                               "dendritic, and postsynaptic spikes take it to the "
                                               "synapse, too"};

/// x^y for exponents that are the same for all synapses, with the two that have short forms. Chosen without branches: a loop
/// with one is not vectorised.
template <class Real>
RANVIER_ALWAYS_INLINE Real power(Real x, Real y) {
    const Real any = math::pow(x, y);
    const Real one_or_any = y == Real{0} ? Real{1} : any;
    return y == Real{1} ? x : one_or_any;
}

template <class Model>
class Dynamics final : public connect::SynapseDynamics {
   public:
    Dynamics(std::span<const double> values, double resolution) : resolution_(resolution) {
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = values[i];
    }

    double least_weight() const override { return Model::weight_bounds(values_).first; }
    double greatest_weight() const override { return Model::weight_bounds(values_).second; }

    connect::PlasticTableMemory memory(bool double_weights) const override {
        return double_weights ? memory_of<double>() : memory_of<float>();
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint16_t, float> columns,
                                                      const connect::PlasticTableArguments& arguments) const override {
        return make(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint32_t, float> columns,
                                                      const connect::PlasticTableArguments& arguments) const override {
        return make(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint16_t, double> columns,
                                                      const connect::PlasticTableArguments& arguments) const override {
        return make(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint32_t, double> columns,
                                                      const connect::PlasticTableArguments& arguments) const override {
        return make(std::move(columns), arguments);
    }

   private:
    connect::Learning learning_in_steps() const {
        connect::Learning learning = Model::learning(values_);
        learning.presynaptic_steps /= resolution_;
        learning.postsynaptic_steps /= resolution_;
        for (double& steps : learning.own_presynaptic_steps) steps /= resolution_;
        for (double& steps : learning.own_postsynaptic_steps) steps /= resolution_;
        return learning;
    }
    template <class Real>
    connect::LearningRule<Real> rule() const {
        using Rule = typename Model::template Rule<Real>;
        return connect::make_learning_rule<Rule>(Model::template constants<Real>(values_));
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
    double resolution_;
};

template <class Model>
std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values, double resolution) {
    return std::make_unique<Dynamics<Model>>(values, resolution);
}

}  // namespace ranvier::models::pair_plasticity
