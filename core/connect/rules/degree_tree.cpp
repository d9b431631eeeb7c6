#include "connect/rules/degree_tree.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/sampling.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

struct DegreeTree::Request {
    std::uint64_t begin;
    std::uint64_t stride;
    std::span<std::uint32_t> degrees;

    /// The first requested neuron that is not below `neuron`.
    std::uint64_t first_from(std::uint64_t neuron) const {
        if (neuron <= begin) return 0;
        const std::uint64_t distance = neuron - begin;
        return stride == 1 ? distance : (distance + stride - 1) / stride;
    }
};

/// Processes [begin, end), which contains the requested neurons [first, last).
void DegreeTree::descend(const Request& request, std::uint64_t node, std::uint64_t begin, std::uint64_t end,
                         std::uint64_t synapses, std::uint64_t first, std::uint64_t last) const {
    if (first == last || synapses == 0) return;
    if (end - begin == 1) {
        if (synapses > std::numeric_limits<std::uint32_t>::max()) {
            throw RuleError({.object = "number of synapses of one neuron",
                             .value = std::to_string(synapses),
                             .bound = "it must be below 2^32",
                             .remedy = "lower the total number"});
        }
        request.degrees[first] = static_cast<std::uint32_t>(synapses);
        return;
    }
    const std::uint64_t middle = begin + (end - begin) / 2;
    const std::uint64_t left_pairs = pairs(begin, middle);
    const std::uint64_t right_pairs = pairs(middle, end);
    SequentialRandom random({key_, node, 0});
    const double share = values_before_.empty()
                             ? static_cast<double>(left_pairs) / static_cast<double>(left_pairs + right_pairs)
                             : share_of_values(begin, middle, end);
    const std::uint64_t left = allow_multapses_ ? draw_binomial(random, synapses, share)
                                                : draw_hypergeometric(random, left_pairs, right_pairs, synapses);
    const std::uint64_t split = std::clamp(request.first_from(middle), first, last);
    descend(request, 2 * node, begin, middle, left, first, split);
    descend(request, 2 * node + 1, middle, end, synapses - left, split, last);
}

void DegreeTree::draw(std::uint64_t begin, std::uint64_t stride, std::span<std::uint32_t> degrees) const {
    std::fill(degrees.begin(), degrees.end(), 0);
    descend({begin, stride, degrees}, 1, 0, view_.majors(), synapses_, 0, degrees.size());
}

}  // namespace ranvier::connect
