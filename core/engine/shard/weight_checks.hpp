#pragma once

#include <vector>

#include "connect/tables/synapse_weights.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

/// Checks that weights can be stored and that their sums are exact.
namespace ranvier::engine {

/// By receptor.
using WeightRanges = std::vector<connect::WeightRange>;

/// Checks weights given as numbers before anything is drawn.
/// @throws ValueOutOfBoundsError as agree_on_weights
void check_given_weights(const network::LoweredNetwork& network, bool double_weights);

/// Properties of all weights that are agreed on before tables are created.
struct WeightAgreement {
    WeightRanges ranges;
    /// By kind: the grid to which weights are rounded when they are added to inputs, and the greatest absolute value
    /// that they can reach; 0 for static ones.
    std::vector<double> quanta;
    std::vector<double> bounds;
};

/// The ranges of the weights stored on all processes, for each receptor of the models.
/// @throws ValueOutOfBoundsError for weights too small for their precision, or of too wide a range for exact sums; on
///         all processes alike. @note Collective.
WeightAgreement agree_on_weights(const connect::SynapseWeights& drawn, const network::LoweredNetwork& network,
                                 bool double_weights, comm::Communicator& communicator);

/// @throws ValueOutOfBoundsError if sums of such weights would not be exact
void check_sums(const connect::WeightRange& range, const std::string& object);

/// @throws ValueOutOfBoundsError if a weight (absolute value) is too small to be stored
void check_least_weight(double least, bool double_weights, const std::string& object);

}  // namespace ranvier::engine
