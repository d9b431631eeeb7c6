#include "base/errors.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
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

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
        }
    }
    return row[b.size()];
}

}  // namespace

Error::Error(ErrorFields fields) : std::runtime_error(compose(fields)), fields_(std::move(fields)) {}

InternalError::InternalError(const std::string& what) : std::logic_error("internal error, please report: " + what) {}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
    std::string_view best;
    // A name with more than half of its letters wrong is not a slip of the finger.
    std::size_t best_distance = name.size() / 2 + 2;
    for (const std::string_view candidate : known) {
        const std::size_t distance = edit_distance(name, candidate);
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
        remedy = "did you mean '" + std::string(nearest) + "'? ";
    }
    remedy += "The valid names are:";
    const char* separator = " ";
    for (const std::string_view candidate : known) {
        remedy += separator + std::string(candidate);
        separator = ", ";
    }
    return UnknownNameError({.object = std::string(kind),
                             .value = "'" + std::string(name) + "'",
                             .bound = "there is none of that name",
                             .remedy = std::move(remedy)});
}

std::string to_text(double value) {
    if (std::isnan(value)) return "nan";
    char buffer[40];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return error == std::errc{} ? std::string(buffer, end) : std::string("?");
}

}  // namespace ranvier
