#pragma once

#include <memory>
#include <span>

#include "engine/shard/shard.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::engine {

/// Checks after a run: validation of a description cannot rule out that the combination of its values overflows.
class RunChecks {
   public:
    /// @param weight_bounds by kind: of synapses that learn; else 0 @param double_precision of the state of all neurons
    RunChecks(const network::LoweredNetwork& network, std::span<const std::unique_ptr<Shard>> shards,
              std::span<const double> weight_bounds, bool double_precision)
        : network_(network), shards_(shards), weight_bounds_(weight_bounds), double_precision_(double_precision) {}

    /// @param now the last step
    /// @throws StateError if a variable of a neuron is not finite, or out of bounds
    void check_finite(Step now) const;
    /// @throws ValueOutOfBoundsError if a weight has grown beyond the range of sums
    void check_growth() const;
    /// @throws StateError if a variable that synapses share has become infinite
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
