#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "connect/plasticity/random_release_table.hpp"
#include "models/synapses/width_dispatch.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

/// The common base of models of random transmission: the weight is constant, and a spike adds it a random number of
/// times.
///
/// Such a model gives a class with `parameters`, `most_released(constants)`, the maximum number of times that a spike
/// adds the weight, and a class `Rule` for connect::RandomReleaseTable.
namespace ranvier::models::random_release {

template <class Model>
class Dynamics final : public WidthDispatch<Dynamics<Model>> {
   public:
    Dynamics(std::span<const double> values, double resolution)
        : values_(values.begin(), values.end()), constants_(Model::Rule::constants(values.data(), resolution)) {}

    double least_weight() const override { return -std::numeric_limits<double>::infinity(); }
    double greatest_weight() const override { return std::numeric_limits<double>::infinity(); }
    double greatest_factor() const override { return Model::most_released(constants_); }
    void use_key(RandomKey key) override { key_ = key; }
    bool runs_on_device() const override { return true; }

    connect::PlasticTableMemory memory(bool double_weights) const override {
        const bool differs_per_synapse = !this->per_synapse_parameters().empty();
        // The same for all widths of targets.
        using Single = connect::RandomReleaseTable<typename Model::Rule, std::uint16_t, float>;
        using Double = connect::RandomReleaseTable<typename Model::Rule, std::uint16_t, double>;
        return double_weights ? Double::memory(constants_, differs_per_synapse)
                              : Single::memory(constants_, differs_per_synapse);
    }

   private:
    friend class WidthDispatch<Dynamics>;

    template <class Target, class Weight>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Weight> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        using Table = connect::RandomReleaseTable<typename Model::Rule, Target, Weight>;
        return std::make_unique<Table>(std::move(columns), values_, this->per_synapse_parameters(), key_, arguments);
    }

    std::vector<double> values_;  ///< of the parameters
    typename Model::Rule::Constants constants_;
    RandomKey key_;
};

template <class Model>
std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values, double resolution) {
    return std::make_unique<Dynamics<Model>>(values, resolution);
}

}  // namespace ranvier::models::random_release
