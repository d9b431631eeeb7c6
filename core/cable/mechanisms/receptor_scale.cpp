#include "cable/mechanisms/receptor_scale.hpp"

#include "base/math.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

ReceptorConstants two_exponentials(double tau_rise, double tau_decay, double reversal, double step) {
    // The difference is greatest where the slopes are equal.
    const double peak = tau_rise * tau_decay / (tau_decay - tau_rise) * math::log(tau_decay / tau_rise);
    const double greatest = math::exp(-peak / tau_decay) - math::exp(-peak / tau_rise);
    return {.reversal = reversal,
            .decay = math::exp(-step / tau_decay),
            .rise = math::exp(-step / tau_rise),
            .scale = 1.0 / greatest,
            .half_decay = math::exp(-0.5 * step / tau_decay),
            .half_rise = math::exp(-0.5 * step / tau_rise)};
}

std::optional<std::string> rise_conflict(double tau_rise, double tau_decay) {
    // For closer time constants the difference of the exponentials loses its digits.
    if (tau_rise <= 0.999 * tau_decay) return std::nullopt;
    return "tau_rise is " + to_text(tau_rise) + " ms and tau_decay " + to_text(tau_decay) +
           " ms; tau_rise can be at most 0.999 tau_decay";
}

}  // namespace ranvier::cable
