#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "connect/rules/partners.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::connect {

/// Distributes a fixed number of synapses over the major neurons, as if every synapse were assigned to one of the
/// allowed pairs with equal probability, with or without repetition of pairs.
///
/// The range of major neurons is halved recursively; at each node of this binary tree, one binomial or hypergeometric
/// draw from a separate stream of the node distributes its synapses over its halves. So any process can follow the path
/// to any neuron and finds the same degree there, without drawing those of the others.
class DegreeTree {
   public:
    DegreeTree(const MajorView& view, std::uint64_t synapses, bool allow_multapses, RandomKey key)
        : view_(view), synapses_(synapses), allow_multapses_(allow_multapses), key_(key) {}

    /// The same if pairs differ: each pair is chosen with a probability in proportion to its value.
    /// @param values_before the sum of the values of the pairs of all major neurons before each, and of all
    DegreeTree(const MajorView& view, std::uint64_t synapses, std::vector<double> values_before, RandomKey key)
        : view_(view),
          synapses_(synapses),
          allow_multapses_(true),
          key_(key),
          values_before_(std::move(values_before)) {}
    /// The same without repetition, if only some pairs are allowed.
    /// @param pairs_before the number of allowed pairs of all major neurons before each, and of all
    DegreeTree(const MajorView& view, std::uint64_t synapses, std::vector<std::uint64_t> pairs_before, RandomKey key)
        : view_(view),
          synapses_(synapses),
          allow_multapses_(false),
          key_(key),
          pairs_before_(std::move(pairs_before)) {}

    std::uint64_t bytes() const {
        return values_before_.size() * sizeof(double) + pairs_before_.size() * sizeof(std::uint64_t);
    }

    /// Degrees of the neurons begin, begin + stride, ... The common part of the paths to consecutive neurons is drawn
    /// once.
    void draw(std::uint64_t begin, std::uint64_t stride, std::span<std::uint32_t> degrees) const;

   private:
    struct Request;

    /// Number of allowed pairs of the major neurons [begin, end).
    std::uint64_t pairs(std::uint64_t begin, std::uint64_t end) const {
        if (!pairs_before_.empty()) return pairs_before_[end] - pairs_before_[begin];
        return view_.partners() * (end - begin) - view_.count_excluded(begin, end);
    }
    /// The share of the first half in the values of the pairs of [begin, end).
    double share_of_values(std::uint64_t begin, std::uint64_t middle, std::uint64_t end) const {
        const double first = values_before_[middle] - values_before_[begin];
        return first / (first + (values_before_[end] - values_before_[middle]));
    }
    void descend(const Request& request, std::uint64_t node, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t synapses, std::uint64_t first, std::uint64_t last) const;

    MajorView view_;
    std::uint64_t synapses_;
    bool allow_multapses_;
    RandomKey key_;
    std::vector<double> values_before_;
    std::vector<std::uint64_t> pairs_before_;
};

}  // namespace ranvier::connect
