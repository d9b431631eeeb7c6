#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ranvier/base/distribution.hpp"
#include "ranvier/base/shared_array.hpp"
#include "ranvier/connect/space/pair_function.hpp"

namespace ranvier::network {

/// Values that an expression gives for each neuron, or for each synapse. Those of a neuron are the quantities of a
/// target.
struct ExpressionValues {
    /// A bound, and where it was found: "d from 0.3 to 0.31 mm"; empty if it is the same everywhere.
    struct Bound {
        double value = 0.0;
        std::string place = {};
    };

    std::shared_ptr<const connect::PairFunction> function;
    // Bounds of the values that the neurons of the network can have. The network finds them.
    Bound least = {};
    Bound greatest = {};
};

/// Values of many objects: one for all, one each, drawn for each, or given by an expression.
using Values = std::variant<double, SharedArray, Distribution, ExpressionValues>;

/// Whether values are known only when the network is built.
inline bool is_drawn(const Values& values) {
    return std::holds_alternative<Distribution>(values) || std::holds_alternative<ExpressionValues>(values);
}

using NamedValues = std::map<std::string, Values, std::less<>>;

/// Sequences of a stimulator, by name.
using Sequences = std::map<std::string, std::vector<double>, std::less<>>;

}  // namespace ranvier::network
