#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/type_name.hpp"
#include "connect/plasticity/row_factor_table.hpp"
#include "connect/plasticity/synapse_factor_table.hpp"
#include "models/synapses/width_dispatch.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"
#include "ranvier/models/model_info.hpp"

/// The common base of models of short-term plasticity: the weight is constant, and the fraction of it that a spike
/// adds depends on the previous spikes of the source.
///
/// Such a model gives a class with `parameters`, and a class `Rule` for connect::RowFactorTable, whose factors are at
/// most 1, and whose functions are compiled into kernels.
namespace ranvier::models::short_term {

inline constexpr Bounds part{.lower = 0.0, .upper = 1.0};
/// Positive, so that an interval has a finite number of time constants.
inline constexpr Bounds time_constant{.lower = 1e-6, .upper = 1e9};
inline constexpr Bounds time_constant_or_none{.lower = 0.0, .upper = 1e9};

/// Synapses with per-synapse parameters, and so with per-synapse state.
template <class Model>
struct FactorsPerSynapse {
    using Rule = typename Model::Rule;
    using State = typename Rule::State;

    RANVIER_ALWAYS_INLINE static typename Rule::Constants constants(const connect::SynapseFactorBlock& block,
                                                                    std::size_t synapse) {
        double parameters[Model::parameters.size()];  // NOLINT(modernize-avoid-c-arrays): no calls in kernels
        for (std::size_t k = 0; k < Model::parameters.size(); ++k) parameters[k] = block.parameters[k][synapse];
        return Rule::constants(parameters, block.resolution);
    }
    RANVIER_ALWAYS_INLINE static void run(const connect::SynapseFactorBlock* block) {
        const connect::SynapseFactorBlock& b = *block;
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < b.count; ++i) {
            State state;
            for (std::size_t k = 0; k < Rule::states; ++k) state.values[k] = b.states[k][i];
            state.last = b.last;
            b.factors[i] = Rule::release(state, b.now, constants(b, i));
            for (std::size_t k = 0; k < Rule::states; ++k) b.states[k][i] = state.values[k];
        }
    }

    static void begin(const connect::SynapseFactorBlock& b) {
        for (std::size_t i = 0; i < b.count; ++i) {
            const State state = Rule::initial(constants(b, i));
            for (std::size_t k = 0; k < Rule::states; ++k) b.states[k][i] = state.values[k];
        }
    }
    static void release(InstructionSet set, const connect::SynapseFactorBlock& block) {
        Dispatched<FactorsPerSynapse>::call(set, &block);
    }
};

template <class Model>
inline constexpr connect::SynapseFactorRule factors_per_synapse{.type = type_name<typename Model::Rule::OnDevice>(),
                                                                .parameters = Model::parameters.size(),
                                                                .state_names = Model::Rule::state_names,
                                                                .never = typename Model::Rule::State{}.last,
                                                                .begin = FactorsPerSynapse<Model>::begin,
                                                                .release = FactorsPerSynapse<Model>::release};

template <class Model>
class Dynamics final : public WidthDispatch<Dynamics<Model>> {
   public:
    Dynamics(std::span<const double> values, double resolution)
        : values_(values.begin(), values.end()), constants_(Model::Rule::constants(values.data(), resolution)) {}

    double least_weight() const override { return -std::numeric_limits<double>::infinity(); }
    double greatest_weight() const override { return std::numeric_limits<double>::infinity(); }
    double greatest_factor() const override { return 1.0; }

    bool runs_on_device() const override { return true; }

    connect::PlasticTableMemory memory(bool double_weights) const override {
        if (!this->per_synapse_parameters().empty()) {
            return connect::synapse_factor_memory(factors_per_synapse<Model>,
                                                  double_weights ? sizeof(double) : sizeof(float));
        }
        // The same for all widths of targets and weights.
        return connect::RowFactorTable<typename Model::Rule, std::uint16_t, float>::memory();
    }

   private:
    friend class WidthDispatch<Dynamics>;

    template <class Target, class Weight>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Weight> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        if (!this->per_synapse_parameters().empty()) {
            return connect::make_synapse_factor_table(std::move(columns), factors_per_synapse<Model>, values_,
                                                      this->per_synapse_parameters(), arguments);
        }
        using Table = connect::RowFactorTable<typename Model::Rule, Target, Weight>;
        return std::make_unique<Table>(std::move(columns), constants_, arguments);
    }

    std::vector<double> values_;  ///< of the parameters
    typename Model::Rule::Constants constants_;
};

template <class Model>
std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values, double resolution) {
    return std::make_unique<Dynamics<Model>>(values, resolution);
}

}  // namespace ranvier::models::short_term
