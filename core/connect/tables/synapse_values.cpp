#include "connect/tables/synapse_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

namespace ranvier::connect {

namespace {

/// The quantities of pairs on which an expression depends, as arrays.
class PairArrays {
   public:
    PairArrays(const SynapseExpression& expression, std::size_t count) : expression_(expression) {
        const std::span<const PairQuantity> inputs = expression.function->inputs();
        numbers_.resize(inputs.size() * count);
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            arrays_[static_cast<std::size_t>(inputs[k])] = numbers_.data() + k * count;
        }
        is_spatial_ = expression.function->is_spatial();
    }

    /// @param source, target indices of the rule
    void set(std::size_t i, std::uint64_t source, std::uint64_t target) {
        const NeuronId from{expression_.first_source.value + source};
        const NeuronId to{expression_.first_target.value + target};
        if (is_spatial_) {
            const PairPositions& positions = *expression_.positions;
            const Point& source_position = position(from, source_);
            const Point& target_position = position(to, target_);
            if (expression_.is_reversed) {
                set_positions(i, target_position, source_position, positions);
            } else {
                set_positions(i, source_position, target_position, positions);
            }
        }
        const PairQuantity index_of_source =
            expression_.is_reversed ? PairQuantity::target_index : PairQuantity::source_index;
        const PairQuantity index_of_target =
            expression_.is_reversed ? PairQuantity::source_index : PairQuantity::target_index;
        if (double* const array = of(index_of_source)) {
            array[i] = static_cast<double>(expression_.sources.count_below(from));
        }
        if (double* const array = of(index_of_target)) {
            array[i] = static_cast<double>(expression_.targets.count_below(to));
        }
    }

    PairFunction::Quantities quantities() const {
        PairFunction::Quantities quantities{};
        std::ranges::copy(arrays_, quantities.begin());
        return quantities;
    }

   private:
    /// The last neuron of a side: one of both sides stays the same for many pairs.
    struct Last {
        std::optional<NeuronId> id;
        Point position{};
    };

    double* of(PairQuantity quantity) const { return arrays_[static_cast<std::size_t>(quantity)]; }

    const Point& position(NeuronId id, Last& last) {
        if (last.id != id) last = {id, expression_.positions->space->at(id)};
        return last.position;
    }

    void set_positions(std::size_t i, const Point& source, const Point& target, const PairPositions& positions) {
        const Point displacement = positions.displacement(source, target);
        if (double* const array = of(PairQuantity::distance)) array[i] = PairPositions::length(displacement);
        for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
            const auto put = [&](PairQuantity first, const Point& point) {
                double* const array = arrays_[static_cast<std::size_t>(first) + axis];
                if (array != nullptr) array[i] = point[axis];
            };
            put(PairQuantity::displacement_x, displacement);
            put(PairQuantity::source_x, source);
            put(PairQuantity::target_x, target);
        }
    }

    const SynapseExpression& expression_;
    bool is_spatial_ = false;
    std::vector<double> numbers_;
    std::array<double*, pair_quantity_count> arrays_{};
    Last source_;
    Last target_;
};

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

void SynapseValues::fill(InstructionSet set, const RuleSampler& sampler, std::uint64_t major,
                         std::span<const std::uint64_t> partners, double* out) const {
    const std::size_t count = partners.size();
    if (const auto* number = std::get_if<double>(&values_)) {
        std::fill_n(out, count, *number);
        return;
    }
    if (const auto* array = std::get_if<SharedArray>(&values_)) {
        for (std::size_t i = 0; i < count; ++i) out[i] = (*array)[sampler.array_position(major, i)];
        return;
    }
    if (const auto* distribution = std::get_if<Distribution>(&values_)) {
        distribution->fill(set, key_, major, 0, count, out);
    } else {
        const auto& expression = std::get<SynapseExpression>(values_);
        const bool by_target = sampler.major() == RuleSampler::Major::target;
        PairArrays pairs(expression, count);
        for (std::size_t i = 0; i < count; ++i) {
            pairs.set(i, by_target ? partners[i] : major, by_target ? major : partners[i]);
        }
        expression.function->draw(set, count, pairs.quantities(), key_, PairFunction::Objects::of(major, 0), out);
    }
    if (!is_whole_) return;
    for (std::size_t i = 0; i < count; ++i) out[i] = rounded(out[i]);
}

void SynapseValues::values(InstructionSet set, const RuleSampler& sampler, std::span<const Synapse> synapses,
                           double* out) const {
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
        const bool by_target = sampler.major() == RuleSampler::Major::target;
        PairArrays pairs(expression, count);
        std::vector<std::uint64_t> streams(count);
        std::vector<std::uint32_t> ordinals(count);
        for (std::size_t i = 0; i < count; ++i) {
            const Synapse& synapse = synapses[i];
            pairs.set(i, by_target ? synapse.partner : synapse.major, by_target ? synapse.major : synapse.partner);
            streams[i] = synapse.major;
            ordinals[i] = synapse.ordinal;
        }
        const auto objects = PairFunction::Objects::at(streams.data(), ordinals.data());
        expression.function->draw(set, count, pairs.quantities(), key_, objects, out);
        for (std::size_t i = 0; i < count; ++i) out[i] = rounded(out[i]);
    }
}

double SynapseValues::rounded(double value) const { return is_whole_ ? std::floor(value + 0.5) : value; }

}  // namespace ranvier::connect
