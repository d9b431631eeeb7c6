#include "connect/synapse_values.hpp"

#include <algorithm>

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
