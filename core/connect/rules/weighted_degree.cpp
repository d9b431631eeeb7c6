#include "connect/rules/weighted_degree.hpp"

namespace ranvier::connect {

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
    if (!partners_.allow_multapses() || degree_ < 2) return 0.0;
    const auto degree = static_cast<double>(degree_);
    return static_cast<double>(weights().majors()) * 0.5 * degree * (degree - 1.0) *
           partners_.probability_of_repetition(degree_);
}

}  // namespace ranvier::connect
