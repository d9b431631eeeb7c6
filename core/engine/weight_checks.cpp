#include "engine/weight_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "engine/network_checks.hpp"

namespace ranvier::engine {

namespace {

using connect::WeightRange;

/// Absolute values as numbers that are ordered as they are.
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

WeightRange join_all(const WeightRange& own, comm::Communicator& communicator) {
    std::uint64_t greatest[2] = {bits_of(own.greatest), own.most_inputs};
    std::uint64_t least[2] = {bits_of(own.least), bits_of(own.quantum)};
    communicator.reduce(greatest, comm::Reduction::greatest);
    communicator.reduce(least, comm::Reduction::least);
    return {.least = std::bit_cast<double>(least[0]),
            .greatest = std::bit_cast<double>(greatest[0]),
            .quantum = std::bit_cast<double>(least[1]),
            .most_inputs = greatest[1]};
}

/// The first projection, by id, that has a weight on any process that `matches`.
template <class Matches>
std::string first_projection(const connect::TableBuilder& builder, const LoweredNetwork& network,
                             std::uint32_t receptor, comm::Communicator& communicator, Matches matches) {
    std::uint64_t found = network.plans().size();
    for (std::size_t i = network.plans().size(); i-- > 0;) {
        if (matches(builder.weights(i, receptor))) found = i;
    }
    found = communicator.least(found);
    if (found == network.plans().size()) return "";
    return quoted(network.network().projections()[network.plans()[found].id.value].name);
}

}  // namespace

void check_least_weight(double least, bool double_weights, const std::string& object) {
    const double bound = connect::least_weight(double_weights);
    if (least >= bound) return;
    throw ValueOutOfBoundsError(
        {.object = object,
         .value = to_text(least),
         .bound = "weights that are not 0 have an absolute value of at least " + to_text(bound) + " in " +
                  (double_weights ? "double" : "single") + " precision",
         .remedy = double_weights ? "check its unit" : "check its unit, or store weights in double precision"});
}

void check_sums(const WeightRange& range, const std::string& object) {
    if (range.fits_wide()) return;
    throw ValueOutOfBoundsError(
        {.object = object,
         .value = "from " + to_text(range.least) + " to " + to_text(range.greatest),
         .bound = std::to_string(range.most_inputs) + " such weights can arrive at once, and their sum would need " +
                  to_text(std::ceil(std::log2(range.greatest_sum()))) + " bits; it can have 126",
         .remedy = "make the largest weights smaller, or the smallest larger"});
}

void check_given_weights(const LoweredNetwork& network, bool double_weights) {
    for (const connect::ProjectionPlan& plan : network.plans()) {
        check_least_weight(plan.weights.least_magnitude(), double_weights,
                           "weight of projection " + quoted(network.network().projections()[plan.id.value].name));
    }
}

WeightRanges agree_on_weights(const connect::TableBuilder& builder, const LoweredNetwork& network, bool double_weights,
                              comm::Communicator& communicator) {
    WeightRanges ranges(network.receptors());
    for (std::uint32_t receptor = 0; receptor < network.plan().receptors(); ++receptor) {
        WeightRange own{.most_inputs = builder.most_inputs(receptor)};
        for (std::size_t i = 0; i < network.plans().size(); ++i) own.join(builder.weights(i, receptor));
        WeightRange& all = ranges[receptor] = join_all(own, communicator);
        const auto projection_with = [&](auto matches) {
            return first_projection(builder, network, receptor, communicator, matches);
        };
        if (all.least < connect::least_weight(double_weights)) {
            const std::string name =
                projection_with([&](const WeightRange& stored) { return stored.least == all.least; });
            check_least_weight(all.least, double_weights, "weight of projection " + name);
        }
        for (const connect::ProjectionPlan& plan : network.plans()) {
            const double bound = network.network().projections()[plan.id.value].weight_bound;
            if (network.plan().feeds_receptor(plan, receptor)) all.greatest = std::max(all.greatest, bound);
        }
        if (all.fits_wide()) continue;
        const std::string least = projection_with([&](const WeightRange& stored) { return stored.least == all.least; });
        check_sums(all, "weights on neurons that projection " + least + " and others reach");
    }
    return ranges;
}

}  // namespace ranvier::engine
