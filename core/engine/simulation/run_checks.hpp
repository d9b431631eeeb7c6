#pragma once

#include <memory>
#include <span>

#include "engine/shard/shard.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::engine {

/// What must hold after a run: no check of a description can rule out that its values together lead beyond what numbers hold.
class RunChecks {
   public:
    /// @param weight_bounds by kind: of synapses that learn; else 0 @param double_precision of the state of all neurons
    RunChecks(const network::LoweredNetwork& network, std::span<const std::unique_ptr<Shard>> shards,
              std::span<const double> weight_bounds, bool double_precision)
        : network_(network), shards_(shards), weight_bounds_(weight_bounds), double_precision_(double_precision) {}

    /// @param now the last step
    /// @throws StateError when a variable of a neuron is infinite or not a number, or beyond its bounds
    void check_finite(Step now) const;
    /// @throws ValueOutOfBoundsError when a weight has grown beyond what sums have room for
    void check_growth() const;
    /// @throws StateError when a variable that synapses share has become infinite
    void check_rows() const;

   private:
    struct FirstFailure {
        models::GroupFailure failure;
        Step step;
        NeuronId neuron;
        PopulationId population;
    };
    [[noreturn]] void throw_failure(const FirstFailure& first) const;

    const network::LoweredNetwork& network_;
    std::span<const std::unique_ptr<Shard>> shards_;
    std::span<const double> weight_bounds_;
    bool double_precision_;
};

}  // namespace ranvier::engine
