#include "connect/tables/synapse_values.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

namespace ranvier::connect {

SynapseQuantities SynapseQuantities::of(InstructionSet set, const PairNeurons& neurons, RuleSampler::Major major,
                                        const DrawnSynapses& synapses) {
    std::vector<std::uint64_t> majors;
    majors.reserve(synapses.partners.size());
    for (std::size_t i = 0; i < synapses.degrees.size(); ++i) {
        majors.insert(majors.end(), synapses.degrees[i], synapses.begin + i * synapses.stride);
    }
    std::vector<std::uint64_t> partners(synapses.partners.begin(), synapses.partners.end());
    const bool by_target = major == RuleSampler::Major::target;
    SynapseQuantities made(set, neurons, by_target ? std::move(partners) : std::move(majors),
                           by_target ? std::move(majors) : std::move(partners));
    if (synapses.index != nullptr) {
        made.placed_ = PlacedPairs{.index = synapses.index,
                                   .begin = synapses.begin,
                                   .stride = synapses.stride,
                                   .degrees = synapses.degrees,
                                   .places = synapses.places,
                                   .partners_are_sources = by_target};
    }
    return made;
}

void SynapseQuantities::need(const SynapseExpression& expression) {
    Direction& direction = expression.is_reversed ? reversed_ : forward_;
    for (const PairQuantity input : expression.function->inputs()) {
        direction.needed[static_cast<std::size_t>(input)] = true;
    }
}

PairFunction::Quantities SynapseQuantities::of(const SynapseExpression& expression) {
    Direction& direction = expression.is_reversed ? reversed_ : forward_;
    if (!direction.is_computed) {
        if (expression.is_reversed) {
            const PairNeurons opposite{.positions = neurons_->positions,
                                       .sources = neurons_->targets,
                                       .targets = neurons_->sources,
                                       .first_source = neurons_->first_target,
                                       .first_target = neurons_->first_source};
            std::optional<PlacedPairs> placed = placed_;
            if (placed) placed->partners_are_sources = !placed->partners_are_sources;
            direction.arrays.compute(set_, opposite, direction.needed, targets_, sources_, placed ? &*placed : nullptr);
        } else {
            direction.arrays.compute(set_, *neurons_, direction.needed, sources_, targets_,
                                     placed_ ? &*placed_ : nullptr);
        }
        direction.is_computed = true;
    }
    return direction.arrays.quantities();
}

namespace {

void fill_expression(InstructionSet set, const PairFunction& function, RandomKey key, const DrawnSynapses& synapses,
                     const PairFunction::Quantities& quantities, double* out) {
    const std::size_t count = synapses.partners.size();
    if (!function.draws()) return function.evaluate(set, count, quantities, {}, out);
    std::vector<std::uint64_t> streams(count);
    std::vector<std::uint32_t> ordinals(count);
    std::size_t position = 0;
    for (std::size_t i = 0; i < synapses.degrees.size(); ++i) {
        const std::uint32_t degree = synapses.degrees[i];
        std::fill_n(streams.data() + position, degree, synapses.begin + i * synapses.stride);
        std::iota(ordinals.data() + position, ordinals.data() + position + degree, std::uint32_t{0});
        position += degree;
    }
    function.draw(set, count, quantities, key, PairFunction::Objects::at(streams.data(), ordinals.data()), out);
}

}  // namespace

SynapseValues::SynapseValues(std::variant<double, SharedArray, Distribution, SynapseExpression> values, RandomKey key,
                             bool is_whole)
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
    } else if (const auto* expression = std::get_if<SynapseExpression>(&values_)) {
        least_ = rounded(expression->least);
        greatest_ = rounded(expression->greatest);
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

void SynapseValues::fill(InstructionSet set, const RuleSampler& sampler, const DrawnSynapses& synapses,
                         SynapseQuantities* quantities, double* out) const {
    const std::size_t count = synapses.partners.size();
    if (const auto* number = std::get_if<double>(&values_)) {
        std::fill_n(out, count, *number);
        return;
    }
    const auto* const array = std::get_if<SharedArray>(&values_);
    if (const auto* expression = std::get_if<SynapseExpression>(&values_)) {
        fill_expression(set, *expression->function, key_, synapses, quantities->of(*expression), out);
    } else {
        const auto* const distribution = std::get_if<Distribution>(&values_);
        std::size_t position = 0;
        for (std::size_t k = 0; k < synapses.degrees.size(); ++k) {
            const std::uint64_t major = synapses.begin + k * synapses.stride;
            const std::size_t degree = synapses.degrees[k];
            double* const of_major = out + position;
            position += degree;
            if (distribution != nullptr) {
                distribution->fill(set, key_, major, 0, degree, of_major);
                continue;
            }
            for (std::size_t i = 0; i < degree; ++i) of_major[i] = (*array)[sampler.array_position(major, i)];
        }
    }
    if (!is_whole_ || array != nullptr) return;
    for (std::size_t i = 0; i < count; ++i) out[i] = rounded(out[i]);
}

void SynapseValues::values(InstructionSet set, const RuleSampler& sampler, std::span<const Synapse> synapses,
                           SynapseQuantities* quantities, double* out) const {
    const std::size_t count = synapses.size();
    if (const auto* number = std::get_if<double>(&values_)) {
        std::fill_n(out, count, *number);
    } else if (const auto* array = std::get_if<SharedArray>(&values_)) {
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = (*array)[sampler.array_position(synapses[i].major, synapses[i].ordinal)];
        }
    } else if (const auto* distribution = std::get_if<Distribution>(&values_)) {
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = rounded(distribution->draw(key_, synapses[i].major, synapses[i].ordinal));
        }
    } else {
        const auto& expression = std::get<SynapseExpression>(values_);
        std::vector<std::uint64_t> streams(count);
        std::vector<std::uint32_t> ordinals(count);
        for (std::size_t i = 0; i < count; ++i) {
            streams[i] = synapses[i].major;
            ordinals[i] = synapses[i].ordinal;
        }
        const auto objects = PairFunction::Objects::at(streams.data(), ordinals.data());
        expression.function->draw(set, count, quantities->of(expression), key_, objects, out);
        for (std::size_t i = 0; i < count; ++i) out[i] = rounded(out[i]);
    }
}

double SynapseValues::rounded(double value) const { return is_whole_ ? std::floor(value + 0.5) : value; }

}  // namespace ranvier::connect
