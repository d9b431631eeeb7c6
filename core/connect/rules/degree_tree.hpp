#pragma once

#include <cstdint>
#include <span>

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

    /// Degrees of the neurons begin, begin + stride, ... The common part of the paths to consecutive neurons is drawn
    /// once.
    void draw(std::uint64_t begin, std::uint64_t stride, std::span<std::uint32_t> degrees) const;

   private:
    struct Request;

    /// Number of allowed pairs of the major neurons [begin, end).
    std::uint64_t pairs(std::uint64_t begin, std::uint64_t end) const {
        return view_.partners() * (end - begin) - view_.count_excluded(begin, end);
    }
    void descend(const Request& request, std::uint64_t node, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t synapses, std::uint64_t first, std::uint64_t last) const;

    MajorView view_;
    std::uint64_t synapses_;
    bool allow_multapses_;
    RandomKey key_;
};

}  // namespace ranvier::connect
