#include "connect/tables/synapse_values.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace ranvier::connect {

SynapseValues::SynapseValues(std::variant<double, SharedArray, Distribution> values, RandomKey key, bool is_whole)
    : values_(std::move(values)), key_(key), is_whole_(is_whole) {
    if (const auto* array = std::get_if<SharedArray>(&values_)) {
        if (array->empty()) return;
        const auto [least, greatest] = std::ranges::minmax(*array);
        least_ = least;
        greatest_ = greatest;
        for (const double value : *array) {
            if (value != 0.0) least_magnitude_ = std::min(least_magnitude_, std::abs(value));
        }
    } else if (const auto* distribution = std::get_if<Distribution>(&values_)) {
        least_ = rounded(distribution->least());
        greatest_ = rounded(distribution->greatest());
    } else {
        least_ = greatest_ = std::get<double>(values_);
        if (least_ != 0.0) least_magnitude_ = std::abs(least_);
    }
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
    if (const auto* array = std::get_if<SharedArray>(&values_)) {
        for (std::size_t i = 0; i < count; ++i) out[i] = (*array)[sampler.array_position(major, i)];
    } else if (const auto* distribution = std::get_if<Distribution>(&values_)) {
        distribution->fill(set, key_, major, 0, count, out);
        if (!is_whole_) return;
        for (std::size_t i = 0; i < count; ++i) out[i] = rounded(out[i]);
    } else {
        std::fill_n(out, count, std::get<double>(values_));
    }
}

double SynapseValues::value(const RuleSampler& sampler, std::uint64_t major, std::uint32_t ordinal) const {
    if (const auto* array = std::get_if<SharedArray>(&values_)) return (*array)[sampler.array_position(major, ordinal)];
    if (const auto* distribution = std::get_if<Distribution>(&values_)) {
        return rounded(distribution->draw(key_, major, ordinal));
    }
    return std::get<double>(values_);
}

double SynapseValues::rounded(double value) const { return is_whole_ ? std::floor(value + 0.5) : value; }

}  // namespace ranvier::connect
