#include "ranvier/connect/space/pair_function.hpp"

#include <algorithm>
#include <utility>

#include "program/evaluate.hpp"
#include "program/intervals.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {

constexpr std::array<std::string_view, pair_quantity_count> quantity_names{
    "distance", "displacement_x", "displacement_y", "displacement_z", "source_x",     "source_y",
    "source_z", "target_x",       "target_y",       "target_z",       "source_index", "target_index"};

}  // namespace

std::string_view to_string(PairQuantity quantity) { return quantity_names[static_cast<std::size_t>(quantity)]; }

PairQuantity parse_pair_quantity(std::string_view name) {
    const auto found = std::ranges::find(quantity_names, name);
    if (found == quantity_names.end()) throw unknown_name("quantity of a pair", name, quantity_names);
    return static_cast<PairQuantity>(found - quantity_names.begin());
}

PairFunction::PairFunction(program::Program program, std::vector<PairQuantity> inputs, std::string text)
    : program_(std::move(program)), inputs_(std::move(inputs)), text_(std::move(text)) {
    const std::string object = "expression '" + text_ + "'";
    program::check(program_, object, true);
    const std::vector<program::Type> results = program::result_types(program_);
    if (results.size() != 1 || results[0] != program::Type::number || program_.inputs.size() != inputs_.size()) {
        throw ShapeError(
            {.object = object,
             .value = std::to_string(results.size()) + " results of " + std::to_string(inputs_.size()) + " inputs",
             .bound = "it must have one number as its result, and a quantity for each input",
             .remedy = "give one expression"});
    }
    const std::vector<std::uint32_t> draws = program::draws_of(program_);
    draw_count_ = draws.empty() ? 0 : draws.back() + 1;
}

bool PairFunction::uses(PairQuantity quantity) const { return std::ranges::find(inputs_, quantity) != inputs_.end(); }

bool PairFunction::is_spatial() const { return std::ranges::any_of(inputs_, connect::is_spatial); }

bool PairFunction::is_radial() const {
    return std::ranges::all_of(inputs_, [](PairQuantity input) { return input == PairQuantity::distance; });
}

void PairFunction::evaluate(InstructionSet, std::size_t count,
                            const std::array<const double*, pair_quantity_count>& quantities,
                            std::span<const std::uint64_t* const> words, double* out) const {
    std::vector<double> lane(inputs_.size());
    std::vector<std::uint64_t> drawn(words.size());
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < lane.size(); ++k) lane[k] = quantities[static_cast<std::size_t>(inputs_[k])][i];
        for (std::size_t k = 0; k < drawn.size(); ++k) drawn[k] = words[k][i];
        out[i] = program::evaluate(program_, lane, drawn)[0];
    }
}

PairRanges::Range PairFunction::range(const PairRanges& ranges) const {
    std::vector<program::Interval> inputs;
    inputs.reserve(inputs_.size());
    for (const PairQuantity input : inputs_) inputs.push_back({ranges[input].low, ranges[input].high});
    const program::Interval found = program::intervals_of(program_, inputs)[0];
    if (found.may_fail) return {};
    return {found.low, found.high};
}

}  // namespace ranvier::connect
