#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/synapse_weights.hpp"
#include "device/backend/backend.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Whether devices can draw the rows of a network on one process: by each rule that says how it draws (RuleSampler::partner_draws),
/// with numbers or distributions as weights and delays.
bool can_draw_rows(const connect::NetworkPlan& network);

/// Whether the device of the options draws the rows, so that processes need no tables. @param sorted by source
bool draws_on_device(const SimulationOptions& options, const connect::NetworkPlan& network, std::int32_t ranks,
                     bool sorted);

/// By block and receptor: the inputs, and the delays of synapses that reach them. Shards are blocks.
/// @param receptors of all models
std::vector<std::vector<device::ReceptorImage>> drawn_receptors(const connect::NetworkPlan& network,
                                                                const connect::ProcessLayout& layout,
                                                                std::uint32_t receptors);

/// What a device draws the rows from. Degrees are drawn here, in time proportional to the neurons.
/// @pre can_draw_rows() @param receptors drawn_receptors() @note Called by no worker of the team.
device::ConstructionImage construction_image(const connect::NetworkPlan& network, const connect::ProcessLayout& layout,
                                             std::span<const std::vector<device::ReceptorImage>> receptors,
                                             parallel::Team& team);

/// Rows that a device has drawn.
struct DrawnRows {
    std::vector<std::uint64_t> synapses;  ///< by block
    std::vector<std::vector<device::ReceptorImage>> receptors;
};

/// The weights of rows that a device has drawn.
class DrawnRowWeights final : public connect::SynapseWeights {
   public:
    /// @param network must outlive it
    DrawnRowWeights(const connect::NetworkPlan& network, device::ConstructedRows rows)
        : network_(&network), rows_(std::move(rows)) {}

    /// Whether weights are too small for single precision.
    bool are_lost() const;
    connect::WeightRange weights(std::size_t plan, std::uint32_t receptor) const override;
    std::uint64_t most_inputs(std::uint32_t receptor) const override { return rows_.most_inputs[receptor]; }
    const device::ConstructedRows& rows() const { return rows_; }

   private:
    const connect::NetworkPlan* network_;
    device::ConstructedRows rows_;
};

}  // namespace ranvier::engine
