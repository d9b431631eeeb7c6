#include "ranvier/base/errors.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace ranvier {

namespace {

std::string compose(const ErrorFields& fields) {
    std::string message = fields.object;
    if (!fields.value.empty()) message += " is " + fields.value;
    if (!fields.bound.empty()) message += (fields.value.empty() ? ": " : ", but ") + fields.bound;
    if (!fields.remedy.empty()) message += "; " + fields.remedy;
    return message;
}

/// A part of a name with at least this many letters suggests the name, at this edit distance.
constexpr std::size_t least_part = 3;
constexpr std::size_t part_distance = 2;

std::string lower_case(std::string_view text) {
    std::string result(text);
    for (char& letter : result) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return result;
}

/// Counts insertions, deletions, replacements and transpositions of neighbouring letters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before, above);
        std::swap(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            const bool are_transposed = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (are_transposed) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

Error::Error(ErrorFields fields) : std::runtime_error(compose(fields)), fields_(std::move(fields)) {}

InternalError::InternalError(const std::string& what) : std::logic_error("internal error, please report: " + what) {}

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known) {
    std::string_view best;
    const std::string name = lower_case(given);
    // A name with more than half of its letters wrong is not a typing error.
    const std::size_t most = name.size() / 2;
    std::size_t best_distance = std::numeric_limits<std::size_t>::max();
    for (const std::string_view candidate : known) {
        const std::string valid = lower_case(candidate);
        std::size_t distance = edit_distance(name, valid);
        // A user may give only a part of a name, or more than the name, as amplitude_times for times; a typing error
        // counts as nearer.
        const bool is_part = name.size() >= least_part && valid.find(name) != std::string::npos;
        if (is_part || name.ends_with("_" + valid)) {
            distance = std::min(distance, part_distance);
        } else if (distance > most) {
            continue;
        }
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

UnknownNameError unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known) {
    std::string remedy;
    if (const std::string_view nearest = nearest_name(name, known); !nearest.empty()) {
        remedy = "did you mean '" + std::string(nearest) + "'? The valid names are:";
    } else {
        remedy = known.empty() ? "there are no such names" : "the valid names are:";
    }
    const char* separator = " ";
    for (const std::string_view candidate : known) {
        remedy += separator + std::string(candidate);
        separator = ", ";
    }
    return UnknownNameError({.object = std::string(kind),
                             .value = "'" + std::string(name) + "'",
                             .bound = "this name does not exist",
                             .remedy = std::move(remedy)});
}

std::string to_text(double value) {
    if (std::isnan(value)) return "nan";
    char buffer[40];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return error == std::errc{} ? std::string(buffer, end) : std::string("?");
}

}  // namespace ranvier
