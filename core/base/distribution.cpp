#include "ranvier/base/distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/math.hpp"
#include "base/normal_lanes.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier {

namespace {

using Kind = Distribution::Kind;
using Restriction = Distribution::Restriction;

template <Kind kind>
RANVIER_ALWAYS_INLINE double transform(double u, double first, double second) {
    if constexpr (kind == Kind::uniform) {
        return first + (second - first) * u;
    } else {
        return first - second * math::log(u);
    }
}

template <Kind kind>
struct TransformWords {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* __restrict words, std::size_t count, double first,
                                          double second, double* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t word = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
            out[i] = transform<kind>(to_open_unit(word), first, second);
        }
    }
};

/// Numbers that are transformed at a time.
constexpr std::size_t batch_size = normal_lanes::most;

/// Standard normal numbers. @param count at most batch_size
RANVIER_ALWAYS_INLINE void fill_standard_normal(const std::uint32_t* __restrict words, std::size_t count,
                                                double* __restrict out) {
    double uniform[batch_size];
    for (std::size_t i = 0; i < count; ++i) {
        uniform[i] = to_open_unit(words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32);
    }
    normal_lanes::fill_quantiles(uniform, count, out);
}

template <Kind kind>
struct TransformNormal {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* __restrict words, std::size_t count, double first,
                                          double second, double* __restrict out) {
        fill_standard_normal(words, count, out);
        for (std::size_t i = 0; i < count; ++i) {
            const double value = first + second * out[i];
            out[i] = kind == Kind::lognormal ? math::exp(value) : value;
        }
    }
};

struct FindOutside {
    /// One bit for each of at most normal_lanes::values_together values that are not within the bounds.
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const double* values, std::size_t count, double lower,
                                                   double upper) {
        std::uint64_t outside = 0;
        for (std::size_t k = 0; k < count; ++k) {
            outside |= values[k] >= lower && values[k] <= upper ? 0 : normal_lanes::bit_of_place[k];
        }
        return outside;
    }
};

/// math::normal_quantile for one number, where a branch is cheaper than computing both parts.
double one_standard_normal(double u) {
    const double q = u - 0.5;
    return q >= -0.425 && q <= 0.425 ? math::detail::quantile_central(q) : math::detail::quantile_tail(u);
}

double transform_one(const Distribution& d, std::uint64_t word) {
    const double u = to_open_unit(word);
    switch (d.kind) {
        case Kind::normal:
            return d.first + d.second * one_standard_normal(u);
        case Kind::lognormal:
            return math::exp(d.first + d.second * one_standard_normal(u));
        case Kind::uniform:
            return transform<Kind::uniform>(u, d.first, d.second);
        case Kind::exponential:
            return transform<Kind::exponential>(u, d.first, d.second);
        case Kind::constant:
            break;
    }
    return d.first;
}

double normal_probability(double z) { return 0.5 * std::erfc(-z * 0.70710678118654752); }

/// P(X <= x), without the restriction.
double cumulative(const Distribution& d, double x) {
    if (std::isinf(x)) return x > 0 ? 1.0 : 0.0;
    if (d.kind == Kind::constant || (d.second == 0.0 && d.kind != Kind::uniform)) {
        const double value = d.kind == Kind::lognormal ? std::exp(d.first) : d.first;
        return x >= value ? 1.0 : 0.0;
    }
    switch (d.kind) {
        case Kind::normal:
            return normal_probability((x - d.first) / d.second);
        case Kind::lognormal:
            return x <= 0.0 ? 0.0 : normal_probability((std::log(x) - d.first) / d.second);
        case Kind::uniform:
            if (d.first == d.second) return x >= d.first ? 1.0 : 0.0;
            return std::clamp((x - d.first) / (d.second - d.first), 0.0, 1.0);
        case Kind::exponential:
            return x <= d.first ? 0.0 : -std::expm1(-(x - d.first) / d.second);
        case Kind::constant:
            break;
    }
    return 1.0;
}

/// Redraws before the value is clamped to the nearer bound. With the acceptance that check() demands, reaching this
/// limit has a probability below 1e-17.
constexpr std::uint32_t most_attempts = 40000;

double restrict_one(const Distribution& d, double value, RandomKey key, std::uint64_t stream, std::uint32_t index) {
    if (d.restriction == Restriction::redraw) {
        RandomStream numbers{key, stream, 0};
        while (!(value >= d.lower && value <= d.upper) && numbers.attempt < most_attempts) {
            ++numbers.attempt;
            value = transform_one(d, numbers.word64(index));
        }
    }
    return std::clamp(value, d.lower, d.upper);
}

}  // namespace

double Distribution::least() const {
    // The transforms are monotonic in u (that of the exponential falls), so their bounds lie at the bounds of u.
    constexpr std::uint64_t last = ~std::uint64_t{0};
    const double a = transform_one(*this, 0);
    const double b = transform_one(*this, last);
    const double value = std::min(a, b);
    return restriction == Restriction::none ? value : std::clamp(value, lower, upper);
}

double Distribution::greatest() const {
    constexpr std::uint64_t last = ~std::uint64_t{0};
    const double value = std::max(transform_one(*this, 0), transform_one(*this, last));
    return restriction == Restriction::none ? value : std::clamp(value, lower, upper);
}

double Distribution::quantile(double probability) const {
    // The value of an exponential falls as its random word rises.
    const double along = kind == Kind::exponential ? 1.0 - probability : probability;
    const std::uint64_t word = along >= 1.0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(std::ldexp(along, 64));
    const double value = transform_one(*this, word);
    return restriction == Restriction::none ? value : std::clamp(value, lower, upper);
}

double Distribution::acceptance() const {
    if (restriction == Restriction::none) return 1.0;
    const double below = std::isinf(lower) ? 0.0 : cumulative(*this, std::nextafter(lower, -HUGE_VAL));
    return cumulative(*this, upper) - below;
}

void Distribution::check(std::string_view object) const {
    const auto fail = [&](double value, std::string bound, std::string remedy) {
        throw ValueOutOfBoundsError({.object = std::string(object),
                                     .value = to_text(value),
                                     .bound = std::move(bound),
                                     .remedy = std::move(remedy)});
    };
    for (const double value : {first, second}) {
        if (!std::isfinite(value)) fail(value, "every parameter of a distribution must be finite", "give a number");
    }
    const bool has_width = kind == Kind::normal || kind == Kind::lognormal || kind == Kind::exponential;
    if (has_width && second < 0.0) fail(second, "the width of a distribution must be >= 0", "give its absolute value");
    if (kind == Kind::uniform && second < first) {
        fail(second, "the upper end of a uniform distribution must not be below its lower end, " + to_text(first),
             "swap the two");
    }
    if (restriction != Restriction::none && (std::isnan(lower) || std::isnan(upper) || lower > upper)) {
        fail(lower, "the lower bound of a distribution must not be above the upper one, " + to_text(upper),
             "swap the two");
    }
    // math::exp saturates instead of giving infinity; 52 bits reach to 8.2 standard deviations.
    const bool saturates = kind == Kind::lognormal && std::abs(first) + 8.3 * second > 700.0;
    if (saturates || !std::isfinite(greatest()) || !std::isfinite(least())) {
        fail(second, "its values would overflow", "give smaller parameters");
    }
    if (restriction == Restriction::redraw && acceptance() < 1e-3) {
        fail(acceptance(), "redrawing must accept at least one draw in 1000 (this is the accepted fraction)",
             "widen the bounds or clip instead");
    }
}

void Distribution::fill(InstructionSet set, RandomKey key, std::uint64_t stream, std::uint32_t first_index,
                        std::size_t count, double* out) const {
    if (kind == Kind::constant) {
        std::fill_n(out, count, restriction == Restriction::none ? first : std::clamp(first, lower, upper));
        return;
    }
    std::uint32_t words[2 * batch_size];
    const RandomStream numbers{key, stream, 0};
    for (std::size_t done = 0; done < count; done += batch_size) {
        const std::size_t n = std::min(batch_size, count - done);
        const std::uint32_t index = first_index + static_cast<std::uint32_t>(done);
        numbers.fill(set, 2 * index, 2 * n, words);
        const std::uint32_t* source = words;
        double* target = out + done;
        switch (kind) {
            case Kind::normal:
                Dispatched<TransformNormal<Kind::normal>>::call(set, source, n, first, second, target);
                break;
            case Kind::lognormal:
                Dispatched<TransformNormal<Kind::lognormal>>::call(set, source, n, first, second, target);
                break;
            case Kind::uniform:
                Dispatched<TransformWords<Kind::uniform>>::call(set, source, n, first, second, target);
                break;
            case Kind::exponential:
                Dispatched<TransformWords<Kind::exponential>>::call(set, source, n, first, second, target);
                break;
            case Kind::constant:
                break;
        }
        if (restriction == Restriction::none) continue;
        for (std::size_t begin = 0; begin < n; begin += normal_lanes::values_together) {
            std::uint64_t outside = Dispatched<FindOutside>::call(
                set, target + begin, std::min(normal_lanes::values_together, n - begin), lower, upper);
            for (; outside != 0; outside &= outside - 1) {
                const std::size_t i = begin + static_cast<std::size_t>(__builtin_ctzll(outside));
                target[i] = restrict_one(*this, target[i], key, stream, index + static_cast<std::uint32_t>(i));
            }
        }
    }
}

double Distribution::draw(RandomKey key, std::uint64_t stream, std::uint32_t index) const {
    const double value = transform_one(*this, RandomStream{key, stream, 0}.word64(index));
    return restriction == Restriction::none ? value : restrict_one(*this, value, key, stream, index);
}

}  // namespace ranvier
