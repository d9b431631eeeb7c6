#include "values.hpp"

#include <memory>
#include <span>

#include "ranvier/base/errors.hpp"

namespace ranvier::bindings {

SharedArray to_shared_array(const InputArray<double>& array) {
    // The last owner acquires the interpreter lock to release the array, as nanobind's arrays do.
    const auto owner = std::make_shared<const InputArray<double>>(array);
    return {std::shared_ptr<const double>(owner, owner->data()), owner->size()};
}

network::Values to_values(const InputValue& value) {
    if (const auto* array = std::get_if<InputArray<double>>(&value)) return to_shared_array(*array);
    if (const auto* mapped = std::get_if<SharedArray>(&value)) return *mapped;
    if (const auto* distribution = std::get_if<Distribution>(&value)) return *distribution;
    if (const auto* function = std::get_if<std::shared_ptr<const connect::PairFunction>>(&value)) {
        return network::ExpressionValues{.function = *function};
    }
    return std::get<double>(value);
}

std::map<std::string, network::Values, std::less<>> to_values(const InputValues& values) {
    std::map<std::string, network::Values, std::less<>> result;
    for (const auto& [name, value] : values) result.emplace(name, to_values(value));
    return result;
}

std::map<std::string, std::vector<double>, std::less<>> to_lists(const InputSequences& sequences) {
    std::map<std::string, std::vector<double>, std::less<>> lists;
    for (const auto& [key, array] : sequences) lists.emplace(key, to_vector<double>(array));
    return lists;
}

std::vector<std::vector<double>> to_lists(const InputArray<double>& times, const InputArray<std::int64_t>& counts) {
    std::vector<std::vector<double>> lists;
    lists.reserve(counts.size());
    std::span<const double> rest = to_span(times);
    const auto fail = [](std::int64_t count, std::string bound) {
        throw ShapeError({.object = "number of spike times of a unit",
                          .value = std::to_string(count),
                          .bound = std::move(bound),
                          .remedy = "give as many times as the counts say"});
    };
    for (const std::int64_t count : to_span(counts)) {
        if (count < 0) fail(count, "it must be >= 0");
        if (static_cast<std::uint64_t>(count) > rest.size()) fail(count, std::to_string(rest.size()) + " are left");
        const auto times_of_unit = rest.first(static_cast<std::size_t>(count));
        lists.emplace_back(times_of_unit.begin(), times_of_unit.end());
        rest = rest.subspan(times_of_unit.size());
    }
    if (!rest.empty()) fail(0, std::to_string(rest.size()) + " are left over");
    return lists;
}

}  // namespace ranvier::bindings
