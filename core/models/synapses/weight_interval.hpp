#pragma once

#include <optional>
#include <string>

namespace ranvier::models {

// Why the interval [W_min, W_max] of weights is invalid; nothing if it is valid.
[[nodiscard]] inline std::optional<std::string> weight_interval_conflict(double least, double greatest) {
    if (least > greatest) return "W_min is greater than W_max";
    if (least == 0.0 && greatest == 0.0) return "W_min and W_max are 0: then all weights stay 0";
    if (least < 0.0 && greatest > 0.0)
        return "W_min and W_max have different signs: weights of both signs would belong to different receptors";
    return std::nullopt;
}

}  // namespace ranvier::models
