#pragma once

#include <cstdint>
#include <span>

#include "connect/rules/partners.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::connect {

/// Deals a fixed number of synapses to the major neurons, as if every synapse fell on one of the allowed pairs with equal
/// probability, with or without repetition of pairs.
///
/// The range of major neurons is halved again and again; at each node of this binary tree, the synapses of the node are
/// dealt to its halves by one binomial or hypergeometric draw from a stream of the node's own. So anyone can follow the
/// path to any neuron and finds the same degree there, without drawing those of the others.
class DegreeTree {
   public:
    DegreeTree(const MajorView& view, std::uint64_t synapses, bool allow_multapses, RandomKey key)
        : view_(view), synapses_(synapses), allow_multapses_(allow_multapses), key_(key) {}

    /// Degrees of the neurons begin, begin + stride, ... The path to each is shared as far as it is that of the one before.
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
