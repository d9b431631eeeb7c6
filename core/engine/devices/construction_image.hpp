#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/synapse_weights.hpp"
#include "connect/tables/table_builder.hpp"
#include "device/backend/backend.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// By projection: whether devices can draw its synapses, which are static, by a rule that says how it draws
/// (RuleSampler::partner_draws), with numbers or distributions as weights and delays. Empty if there is none.
std::vector<bool> drawn_projections(const connect::NetworkPlan& network);

/// Those that the device of the options draws, so that the process needs no tables of them.
/// @param sorted whether connections are sorted by source
std::vector<bool> drawn_on_device(const SimulationOptions& options, const connect::NetworkPlan& network,
                                  std::int32_t ranks, bool sorted);

/// By block and receptor: the inputs, and the delays of synapses that reach them. Shards are blocks.
/// @param receptors of all models
std::vector<std::vector<device::ReceptorImage>> drawn_receptors(const connect::NetworkPlan& network,
                                                                const connect::ProcessLayout& layout,
                                                                std::uint32_t receptors);

/// What a device draws the rows from. Degrees are drawn here, in time proportional to the neurons.
/// @param receptors drawn_receptors() @param drawn among drawn_projections() @note Called by no worker of the team.
device::ConstructionImage construction_image(const connect::NetworkPlan& network, const connect::ProcessLayout& layout,
                                             std::span<const std::vector<device::ReceptorImage>> receptors,
                                             const std::vector<bool>& drawn, parallel::Team& team);

/// ConstructionImage::input_counts of tables. @param builder with their counts @param receptors of all models
std::vector<device::u64> input_counts(const connect::TableBuilder& builder, const device::ConstructionImage& image,
                                      std::uint32_t receptors);

/// Rows that a device has drawn, joined with those of static tables.
struct DrawnRows {
    std::vector<std::uint64_t> synapses;  ///< by block
    std::vector<std::vector<device::ReceptorImage>> receptors;
};

/// The weights of rows that a device has drawn, and of the tables of other projections.
class DrawnRowWeights final : public connect::SynapseWeights {
   public:
    /// @param network must outlive it, like the tables @param of_tables null: there are none
    DrawnRowWeights(const connect::NetworkPlan& network, device::ConstructedRows rows,
                    const connect::SynapseWeights* of_tables)
        : network_(&network), of_tables_(of_tables), rows_(std::move(rows)) {}

    /// Whether weights are too small for single precision.
    bool are_lost() const;
    connect::WeightRange weights(std::size_t plan, std::uint32_t receptor) const override;
    std::uint64_t most_inputs(std::uint32_t receptor) const override { return rows_.most_inputs[receptor]; }
    const device::ConstructedRows& rows() const { return rows_; }

   private:
    const connect::NetworkPlan* network_;
    const connect::SynapseWeights* of_tables_;
    device::ConstructedRows rows_;
};

}  // namespace ranvier::engine
