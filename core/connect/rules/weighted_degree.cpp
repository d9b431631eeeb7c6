#include "connect/rules/weighted_degree.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace ranvier::connect {

namespace {
namespace weighted_degree_parts {

/// Neurons that are drawn when a rule is described, and for estimates.
constexpr std::uint64_t most_checked = 32;
constexpr std::uint64_t most_sampled = 64;
constexpr std::uint64_t most_indexed = 1 << 22;

}  // namespace weighted_degree_parts
}  // namespace

void WeightedDegree::draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
                          std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const {
    degrees.assign(count, degree_);
    partners.resize(count * degree_);
    if (degree_ == 0 || count == 0) return;
    std::vector<std::uint64_t> majors(count);
    for (std::uint64_t i = 0; i < count; ++i) majors[i] = begin + i * stride;
    partners_.draw(set, majors, degrees, partners.data());
}

double WeightedDegree::expected_repeats() const {
    if (!partners_.allow_multapses() || degree_ < 2 || weights().majors() == 0) return 0.0;
    const std::uint64_t sampled = std::min(weights().majors(), weighted_degree_parts::most_sampled);
    std::vector<std::uint64_t> partners(degree_);
    double equal = 0.0;
    for (std::uint64_t i = 0; i < sampled; ++i) {
        const std::uint64_t major = weights().majors() * i / sampled;
        const WeightedPartners::Sums sums =
            partners_.draw(detect_instruction_set(), {&major, 1}, {&degree_, 1}, partners.data());
        if (sums.taken == 0.0) continue;
        // Two draws are equal with the sum of squared values over the square of their sum. A value that is taken has the
        // mean (sum of squares) / (sum), and the sum is the part of the weight that is taken.
        const double sum_of_values = sums.weight * sums.taken / sums.candidates;
        equal += std::min(sums.values / sums.taken / sum_of_values, 1.0) / static_cast<double>(sampled);
    }
    const auto degree = static_cast<double>(degree_);
    return static_cast<double>(weights().majors()) * 0.5 * degree * (degree - 1.0) * equal;
}

std::vector<std::uint64_t> WeightedDegree::corners() const {
    // The neurons that are farthest in each diagonal direction, among as many as a description can look at.
    constexpr std::uint64_t most_looked_at = 10000;
    constexpr std::size_t directions = 8;
    std::array<double, directions> farthest{};
    farthest.fill(-std::numeric_limits<double>::infinity());
    std::array<std::uint64_t, directions> neurons{};
    const std::uint64_t stride = weights().majors() / most_looked_at + 1;
    for (std::uint64_t neuron = 0; neuron < weights().majors(); neuron += stride) {
        const Point at = weights().neuron(neuron).position;
        for (std::size_t direction = 0; direction < directions; ++direction) {
            double along = 0.0;
            for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
                along += (direction >> axis & 1) != 0 ? at[axis] : -at[axis];
            }
            if (along <= farthest[direction]) continue;
            farthest[direction] = along;
            neurons[direction] = neuron;
        }
    }
    return {neurons.begin(), neurons.end()};
}

void WeightedDegree::check_some() const {
    // The index of more neurons takes longer than a description should.
    if (degree_ == 0 || weights().majors() == 0 || weights().partners() > weighted_degree_parts::most_indexed) return;
    constexpr std::uint64_t checked = weighted_degree_parts::most_checked;
    std::vector<std::uint64_t> majors = corners();
    for (std::uint64_t i = 0; i < checked; ++i) majors.push_back(weights().majors() * i / checked);
    std::ranges::sort(majors);
    majors.erase(std::ranges::unique(majors).begin(), majors.end());
    const std::vector<std::uint32_t> degrees(majors.size(), degree_);
    std::vector<std::uint64_t> partners(majors.size() * degree_);
    partners_.draw(detect_instruction_set(), majors, degrees, partners.data());
}

}  // namespace ranvier::connect
