#include "connect/synapse_values.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ranvier::connect {

double SynapseValues::least() const {
    if (const auto* array = std::get_if<Array>(&values_)) {
        return (*array)->empty() ? 0.0 : *std::min_element((*array)->begin(), (*array)->end());
    }
    if (const auto* distribution = std::get_if<Distribution>(&values_)) return distribution->least();
    return std::get<double>(values_);
}

double SynapseValues::greatest() const {
    if (const auto* array = std::get_if<Array>(&values_)) {
        return (*array)->empty() ? 0.0 : *std::max_element((*array)->begin(), (*array)->end());
    }
    if (const auto* distribution = std::get_if<Distribution>(&values_)) return distribution->greatest();
    return std::get<double>(values_);
}

std::pair<double, double> SynapseValues::expected_range(double count) const {
    const auto* distribution = std::get_if<Distribution>(&values_);
    if (distribution == nullptr || count < 1.0) return {least(), greatest()};
    // The least of n draws lies below x with probability 1 - (1 - F(x))^n, which is a half at F(x) = 1 - 2^(-1/n).
    const double tail = -std::expm1(-std::numbers::ln2 / count);
    return {distribution->quantile(tail), distribution->quantile(1.0 - tail)};
}

void SynapseValues::fill(InstructionSet set, const RuleSampler& sampler, std::uint64_t major, std::size_t count,
                         double* out) const {
    if (const auto* array = std::get_if<Array>(&values_)) {
        for (std::size_t i = 0; i < count; ++i) out[i] = (**array)[sampler.array_position(major, i)];
    } else if (const auto* distribution = std::get_if<Distribution>(&values_)) {
        distribution->fill(set, key_, major, 0, count, out);
    } else {
        std::fill_n(out, count, std::get<double>(values_));
    }
}

}  // namespace ranvier::connect
