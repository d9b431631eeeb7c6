#include "ranvier/base/choice.hpp"

#include <algorithm>
#include <vector>

#include "ranvier/base/errors.hpp"

namespace ranvier {

std::optional<std::size_t> find_choice(std::string_view kind, std::span<const std::string_view> names,
                                       std::string_view name, bool allows_automatic) {
    if (allows_automatic && name == automatic_choice) return std::nullopt;
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    std::vector<std::string_view> known;
    if (allows_automatic) known.push_back(automatic_choice);
    known.insert(known.end(), names.begin(), names.end());
    throw unknown_name(kind, name, known);
}

}  // namespace ranvier
