#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "base/ids.hpp"
#include "base/math.hpp"
#include "connect/plasticity/row_factor_table.hpp"
#include "connect/tables/synapse_dynamics.hpp"
#include "models/model_info.hpp"
#include "models/width_dispatch.hpp"

/// What models of short-term plasticity have in common: the weight stays, and the part of it that a spike adds depends on the
/// spikes of the source before.
///
/// Such a model gives a class with `parameters`, `constants(values, resolution)`, and a class `Rule` for
/// connect::RowFactorTable, whose factors are at most 1.
namespace ranvier::models::short_term {

inline constexpr Bounds part{.lower = 0.0, .upper = 1.0};
/// So that an interval has a finite number of them.
inline constexpr Bounds time_constant{.lower = 1e-6, .upper = 1e9};
inline constexpr Bounds time_constant_or_none{.lower = 0.0, .upper = 1e9};

/// What is left after a time, with 0 for a time constant of 0.
inline double decay(double time, double tau) { return tau == 0.0 ? 0.0 : math::exp(-time / tau); }

template <class Model>
class Dynamics final : public WidthDispatch<Dynamics<Model>> {
   public:
    Dynamics(std::span<const double> values, double resolution) : constants_(Model::constants(values, resolution)) {}

    double least_weight() const override { return -std::numeric_limits<double>::infinity(); }
    double greatest_weight() const override { return std::numeric_limits<double>::infinity(); }
    double greatest_factor() const override { return 1.0; }

    connect::PlasticTableMemory memory(bool /*double_weights*/) const override {
        // The same for all targets and weights.
        return connect::RowFactorTable<typename Model::Rule, std::uint16_t, float>::memory();
    }

   private:
    friend class WidthDispatch<Dynamics>;

    template <class Target, class Weight>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Weight> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        using Table = connect::RowFactorTable<typename Model::Rule, Target, Weight>;
        return std::make_unique<Table>(std::move(columns), constants_, arguments);
    }

    typename Model::Rule::Constants constants_;
};

template <class Model>
std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values, double resolution) {
    return std::make_unique<Dynamics<Model>>(values, resolution);
}

}  // namespace ranvier::models::short_term
