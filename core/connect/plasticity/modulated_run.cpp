#include "connect/plasticity/modulated_run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/math.hpp"

namespace ranvier::connect {

namespace {

/// A time without a pulse. The weights of all synapses change in it in the same way, for the same eligibility.
struct Stretch {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::int32_t pulse = 0;    ///< the last one before
    double after_pulse = 0.0;  ///< concentration
    double gain = 0.0;         ///< change of a weight whose eligibility is 1 at the beginning
};

double gain_of(const ModulationConstants& c, const Concentration& concentration, const Stretch& stretch,
               std::int32_t begin, std::int32_t end) {
    const double time = static_cast<double>(end - begin) * c.resolution;
    const double both = 1.0 / (1.0 / c.tau_eligibility + 1.0 / c.tau_transmitter);
    const double eligible = -c.tau_eligibility * math::expm1(-time / c.tau_eligibility);
    if (stretch.after_pulse == 0.0) return -c.baseline * eligible;
    const double present = stretch.after_pulse * concentration.decay(begin - stretch.pulse);
    return present * (-both * math::expm1(-time / both)) - c.baseline * eligible;
}

struct Limits {
    double to_grid = 0.0;  ///< what rounds a weight to what is stored of it when it is added and taken off again
    double least = 0.0;
    double greatest = 0.0;

    RANVIER_ALWAYS_INLINE double stop(double weight) const {
        weight = (weight + to_grid) - to_grid;
        weight = weight < greatest ? weight : greatest;
        return weight > least ? weight : least;
    }
};

/// The stretches from where the weights of a visit are to where they are wanted.
struct Course {
    std::vector<Stretch> stretches;
    std::size_t closed = 0;  ///< so many of them end with a pulse, or where weights are wanted
    Limits limits;
};

template <class Real>
Course course_of(bool arrives, const LearnVisit<Real>& v, const ModulatedArguments<Real>& m) {
    Course course;
    const ModulationConstants& c = *m.constants;
    const double infinity = std::numeric_limits<double>::infinity();
    course.limits.least = m.bounded ? static_cast<double>(static_cast<Real>(c.least)) : -infinity;
    course.limits.greatest = m.bounded ? static_cast<double>(static_cast<Real>(c.greatest)) : infinity;
    if constexpr (std::is_same_v<Real, float>) {
        // Two numbers of 24 bits hold this.
        const double bound = std::max(std::abs(c.least), std::abs(c.greatest));
        course.limits.to_grid = 0x1.8p52 * std::ldexp(1.0, std::ilogb(bound) + 1 - 46);
    }
    if (m.first) return course;
    const std::int32_t end = arrives ? v.meets : v.end;
    const std::span<const Concentration::Pulse> pulses = m.concentration->pulses();
    std::size_t next = m.concentration->first_after(m.seen + v.dendritic);
    Stretch stretch{.begin = v.last};
    const auto pass = [&](const Concentration::Pulse& pulse) {
        stretch.pulse = pulse.step - v.dendritic;
        stretch.after_pulse = pulse.after;
        stretch.begin = std::max(stretch.begin, stretch.pulse);
    };
    const auto reach = [&](std::int32_t step) {
        stretch.end = step;
        stretch.gain = gain_of(c, *m.concentration, stretch, stretch.begin, step);
        course.stretches.push_back(stretch);
    };
    if (next > 0) pass(pulses[next - 1]);
    for (; next < pulses.size() && pulses[next].step - v.dendritic <= end; ++next) {
        reach(pulses[next].step - v.dendritic);
        pass(pulses[next]);
    }
    course.closed = course.stretches.size();
    reach(std::max(end, stretch.begin));
    if (arrives || m.to_end) ++course.closed;
    return course;
}

template <class Real>
struct ModulatedRun {
    using Arguments = LearnArguments<Real>;
    using Modulated = ModulatedArguments<Real>;
    using Visit = LearnVisit<Real>;
    using History = SpikeHistory<Real>;
    using Bits = typename History::Bits;
    static constexpr std::size_t block = 512;
    static constexpr std::size_t newest = History::newest;

    RANVIER_ALWAYS_INLINE static void run(const Arguments* arguments, const Visit* visit, const Modulated* modulated,
                                          const Course* course) {
        const Arguments& a = *arguments;
        const Visit& v = *visit;
        const Modulated& m = *modulated;
        Block b;
        std::vector<std::int32_t> posts;
        for (std::size_t begin = 0; begin < v.count; begin += block) {
            const std::size_t count = std::min(block, v.count - begin);
            load(a, v, m, b, begin, count);
            if (!m.first) {
                list_busy(a, v, b, count);
                for (std::size_t k = 0; k < b.busy_count; ++k) b.busy_weights[k] = b.weights[b.busy[k]];
                follow_all(v, m, *course, b, count);
                for (std::size_t k = 0; k < b.busy_count; ++k) follow_one(a, v, m, *course, b, k, posts);
            }
            if (a.arrives) arrive(a, v, m, b, count);
            store(a, v, m, b, begin, count);
        }
    }

   private:
    struct Block {
        std::array<double, block> weights;
        std::array<double, block> eligibility;
        std::array<std::int32_t, block> base;  ///< when that was so
        std::array<std::uint32_t, block> targets;
        std::array<std::uint16_t, block> busy;  ///< synapses that have learnt from postsynaptic spikes, or have to
        std::array<double, block> busy_weights;
        std::size_t busy_count = 0;
    };

    RANVIER_ALWAYS_INLINE static void load(const Arguments& a, const Visit& v, const Modulated& m, Block& b,
                                           std::size_t begin, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            b.targets[i] = a.wide_targets ? static_cast<const std::uint32_t*>(v.targets)[begin + i]
                                          : static_cast<const std::uint16_t*>(v.targets)[begin + i];
        }
        for (std::size_t i = 0; i < count; ++i) {
            b.weights[i] = static_cast<double>(v.weights[begin + i]);
            b.eligibility[i] = static_cast<double>(m.eligibility[begin + i]);
            b.base[i] = m.first ? v.meets : v.last;
        }
        if (m.remainders == nullptr) return;
        for (std::size_t i = 0; i < count; ++i) b.weights[i] += static_cast<double>(m.remainders[begin + i]);
    }

    /// One of the newest spikes of a neuron, by age.
    RANVIER_ALWAYS_INLINE static std::int32_t spike(const Arguments& a, std::uint32_t target, std::size_t age) {
        return a.history->steps()[age * a.history->neurons() + target];
    }

    RANVIER_ALWAYS_INLINE static void list_busy(const Arguments& a, const Visit& v, Block& b, std::size_t count) {
        b.busy_count = 0;
        for (std::size_t i = 0; i < count; ++i) {
            // Between the last presynaptic spike and the end, or there may be older ones.
            std::size_t age = 0;
            while (age < newest && spike(a, b.targets[i], age) > v.end) ++age;
            const bool is_busy = age == newest || spike(a, b.targets[i], age) > v.since;
            b.busy[b.busy_count] = static_cast<std::uint16_t>(i);
            b.busy_count += is_busy ? 1 : 0;
        }
    }

    /// As if there were no postsynaptic spikes.
    RANVIER_ALWAYS_INLINE static void follow_all(const Visit& v, const Modulated& m, const Course& course, Block& b,
                                                 std::size_t count) {
        const Limits limits = course.limits;
        for (std::size_t j = 0; j < course.closed; ++j) {
            const Stretch& stretch = course.stretches[j];
            const double gain = m.decay(stretch.begin - v.last) * stretch.gain;
            for (std::size_t i = 0; i < count; ++i) b.weights[i] = limits.stop(b.weights[i] + b.eligibility[i] * gain);
        }
    }

    /// The postsynaptic spikes of a neuron later than one step and up to another, newest first, and the last one before them.
    static std::int32_t list_spikes(const Arguments& a, const Visit& v, std::uint32_t target,
                                    std::vector<std::int32_t>& found) {
        found.clear();
        for (std::size_t age = 0; age < newest; ++age) {
            const std::int32_t step = spike(a, target, age);
            if (step <= v.learnt) return step;
            if (step <= v.end) found.push_back(step);
        }
        const auto* older = a.history->first_older(target);
        for (; older != nullptr && older->step > v.learnt; older = a.history->next_older(*older)) {
            if (older->step <= v.end) found.push_back(older->step);
        }
        return older == nullptr ? History::never : older->step;
    }

    /// One synapse with postsynaptic spikes.
    [[gnu::noinline]] static void follow_one(const Arguments& a, const Visit& v, const Modulated& m,
                                             const Course& course, Block& b, std::size_t k,
                                             std::vector<std::int32_t>& posts) {
        const std::size_t i = b.busy[k];
        const std::int32_t before = list_spikes(a, v, b.targets[i], posts);
        double weight = b.busy_weights[k];
        double eligibility = b.eligibility[i];
        std::int32_t base = before > v.since ? std::max(before, v.last) : v.last;
        std::int32_t now = std::max(course.stretches.front().begin, base);
        const auto follow = [&](const Stretch& stretch, std::int32_t end) {
            if (end <= now) return;
            const bool is_whole = now == stretch.begin && end == stretch.end;
            const double gain = is_whole ? stretch.gain : gain_of(*m.constants, *m.concentration, stretch, now, end);
            weight = course.limits.stop(weight + eligibility * (m.decay(now - base) * gain));
            now = end;
        };
        std::size_t j = 0;
        for (auto spike = posts.rbegin(); spike != posts.rend(); ++spike) {
            for (; j < course.closed && course.stretches[j].end <= *spike; ++j) {
                follow(course.stretches[j], course.stretches[j].end);
            }
            follow(course.stretches[std::min(j, course.stretches.size() - 1)], *spike);
            const Real trace = v.trace * a.presynaptic(*spike - v.last);
            eligibility =
                as_stored(eligibility * m.decay(*spike - base) + m.constants->up * static_cast<double>(trace));
            base = *spike;
        }
        for (; j < course.closed; ++j) follow(course.stretches[j], course.stretches[j].end);
        b.weights[i] = weight;
        b.eligibility[i] = eligibility;
        b.base[i] = base;
    }

    RANVIER_ALWAYS_INLINE static double as_stored(double value) {
        return static_cast<double>(static_cast<Real>(value));
    }

    /// The trace of the last postsynaptic spike before the present presynaptic one.
    static Real postsynaptic_trace(const Arguments& a, const Visit& v, std::uint32_t target) {
        for (std::size_t age = 0; age < newest; ++age) {
            const std::int32_t step = spike(a, target, age);
            if (step == History::never) return Real{0};
            if (step >= v.meets) continue;
            return a.history->traces()[age * a.history->neurons() + target] * a.postsynaptic(v.meets - step);
        }
        const auto* older = a.history->first_older(target);
        while (older != nullptr && older->step >= v.meets) older = a.history->next_older(*older);
        return older == nullptr ? Real{0} : older->after * a.postsynaptic(v.meets - older->step);
    }

    RANVIER_ALWAYS_INLINE static void arrive(const Arguments& a, const Visit& v, const Modulated& m, Block& b,
                                             std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto trace = static_cast<double>(postsynaptic_trace(a, v, b.targets[i]));
            b.eligibility[i] = as_stored(b.eligibility[i] * m.decay(v.meets - b.base[i]) - m.constants->down * trace);
        }
    }

    RANVIER_ALWAYS_INLINE static void store(const Arguments& a, const Visit& v, const Modulated& m, const Block& b,
                                            std::size_t begin, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) v.weights[begin + i] = static_cast<Real>(b.weights[i]);
        if (m.new_remainders != nullptr) {
            for (std::size_t i = 0; i < count; ++i) {
                m.new_remainders[begin + i] =
                    static_cast<Real>(b.weights[i] - static_cast<double>(v.weights[begin + i]));
            }
        }
        if (m.new_eligibility != nullptr) {
            for (std::size_t i = 0; i < count; ++i) m.new_eligibility[begin + i] = static_cast<Real>(b.eligibility[i]);
        }
        if (a.greatest == nullptr) return;
        for (std::size_t i = 0; i < count; ++i) {
            const Bits size = std::bit_cast<Bits>(v.weights[begin + i]) & (~Bits{0} >> 1);
            *a.greatest = std::max(*a.greatest, size);
        }
        if (v.inputs == nullptr) return;
        for (std::size_t i = 0; i < count; ++i) {
            v.inputs[b.targets[i]] += (static_cast<double>(v.weights[begin + i]) + a.to_grid) - a.to_grid;
        }
    }
};

}  // namespace

template <class Real>
void modulated_run(InstructionSet set, const LearnArguments<Real>& arguments, const LearnVisit<Real>& visit,
                   const ModulatedArguments<Real>& modulated) {
    const Course course = course_of(arguments.arrives, visit, modulated);
    Dispatched<ModulatedRun<Real>>::call(set, &arguments, &visit, &modulated, &course);
}

template void modulated_run(InstructionSet, const LearnArguments<float>&, const LearnVisit<float>&,
                            const ModulatedArguments<float>&);
template void modulated_run(InstructionSet, const LearnArguments<double>&, const LearnVisit<double>&,
                            const ModulatedArguments<double>&);

}  // namespace ranvier::connect
