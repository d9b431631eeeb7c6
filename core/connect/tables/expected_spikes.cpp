#include "ranvier/connect/tables/expected_spikes.hpp"

#include <algorithm>
#include <cmath>

namespace ranvier::connect {

double largest_list(double mean, double events, double most) {
    if (mean <= 0.0 || events <= 0.0) return 0.0;
    // The largest of some hundreds of Poisson numbers lies three standard deviations above their mean.
    return most > 0.0 ? mean * most : mean / events * std::max(1.0, events + 3.0 * std::sqrt(events));
}

double expected_beyond(double mean, std::size_t number) {
    constexpr double many = 100.0;  // almost never as few as that number
    if (mean > many) return std::max(0.0, mean - static_cast<double>(number));
    double left = mean - static_cast<double>(number);
    double probability = std::exp(-mean);
    for (std::size_t n = 0; n < number; ++n) {
        left += probability * static_cast<double>(number - n);
        probability *= mean / static_cast<double>(n + 1);
    }
    return std::max(0.0, left);
}

}  // namespace ranvier::connect
