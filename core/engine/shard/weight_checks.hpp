#pragma once

#include <vector>

#include "connect/tables/table_builder.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

/// Checks that weights are kept and that their sums are exact.
namespace ranvier::engine {

/// By receptor.
using WeightRanges = std::vector<connect::WeightRange>;

/// Before anything is drawn: weights that were given as numbers. @throws ValueOutOfBoundsError as agree_on_weights
void check_given_weights(const network::LoweredNetwork& network, bool double_weights);

/// What is known of all weights before tables are handed out.
struct WeightAgreement {
    WeightRanges ranges;
    /// By kind: what is rounded to when weights are added to the inputs, and the greatest absolute value that they may come
    /// to have; 0 for static ones.
    std::vector<double> quanta;
    std::vector<double> bounds;
};

/// What all processes have stored, for each receptor of the models.
/// @throws ValueOutOfBoundsError for weights so small that their precision cannot keep them, or spread so widely that no sum
/// can; on all processes alike. @note Collective.
WeightAgreement agree_on_weights(const connect::TableBuilder& builder, const network::LoweredNetwork& network,
                                 bool double_weights, comm::Communicator& communicator);

/// @throws ValueOutOfBoundsError when sums of such weights would not be exact
void check_sums(const connect::WeightRange& range, const std::string& object);

/// @throws ValueOutOfBoundsError when a weight (absolute value) is too small to be kept
void check_least_weight(double least, bool double_weights, const std::string& object);

}  // namespace ranvier::engine
