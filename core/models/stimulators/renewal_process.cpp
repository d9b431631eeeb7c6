#include "models/stimulators/renewal_process.hpp"

#include <cmath>

#include "base/math.hpp"

namespace ranvier::models::renewal_process {

namespace {

/// Gamma distributed with a shape >= 1 and scale 1: G. Marsaglia and W. W. Tsang (2000).
double draw_gamma(SequentialRandom& random, double shape) {
    const double d = shape - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    while (true) {
        const double x = math::normal_quantile(random.next_unit());
        const double u = random.next_unit();
        const double root = 1.0 + c * x;
        if (root <= 0.0) continue;
        const double v = root * root * root;
        if (math::log(u) < 0.5 * x * x + d - d * v + d * math::log(v)) return d * v;
    }
}

}  // namespace

SequentialRandom numbers_of(RandomKey key, NeuronId train, std::uint32_t interval) {
    return SequentialRandom({key, train.value, interval});
}

double draw_interval(SequentialRandom& random, double shape) {
    if (shape == 1.0) return -math::log(random.next_unit());
    if (shape > 1.0) return draw_gamma(random, shape) / shape;
    // A gamma variable with a shape below 1 is one with a shape above 1 times a power of a uniform one.
    const double larger = draw_gamma(random, shape + 1.0);
    return larger * math::exp(math::log(random.next_unit()) / shape) / shape;
}

double draw_rest(SequentialRandom& random, double shape) {
    if (shape == 1.0) return -math::log(random.next_unit());
    // The interval that contains a given time is longer on average, in proportion to its length: its shape is greater
    // by 1.
    const double whole = draw_gamma(random, shape + 1.0) / shape;
    return whole * random.next_unit();
}

}  // namespace ranvier::models::renewal_process
