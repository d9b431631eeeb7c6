#include "ranvier/base/bounds.hpp"

#include <cmath>

#include "ranvier/base/errors.hpp"

namespace ranvier {

std::string describe(const Bounds& bounds) {
    std::string text;
    if (std::isfinite(bounds.lower)) text = (bounds.lower_open ? "> " : ">= ") + to_text(bounds.lower);
    if (std::isfinite(bounds.upper)) {
        if (!text.empty()) text += " and ";
        text += (bounds.upper_open ? "< " : "<= ") + to_text(bounds.upper);
    }
    if (!text.empty()) return text;
    return bounds.upper_open ? "below infinity" : "a number";
}

}  // namespace ranvier
