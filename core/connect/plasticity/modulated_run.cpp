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

/// An interval without a pulse. For equal eligibility, the weights of all synapses change equally in it.
struct Stretch {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::int32_t pulse = 0;  ///< the last one before it
    double after_pulse = 0.0;  ///< concentration
    double gain = 0.0;  ///< change of a weight with eligibility 1 at the start
};

double gain_of(const ModulationConstants& c, const Concentration& concentration, const StretchGains& gains,
               const Stretch& stretch, std::int32_t begin, std::int32_t end) {
    const double eligible = gains.constant(end - begin);
    if (stretch.after_pulse == 0.0) return -c.baseline * eligible;
    const double present = stretch.after_pulse * concentration.decay(begin - stretch.pulse);
    return present * gains.falling(end - begin) - c.baseline * eligible;
}

struct Limits {
    double to_grid = 0.0;  ///< adding and subtracting it rounds a weight to its stored precision
    double least = 0.0;
    double greatest = 0.0;

    RANVIER_ALWAYS_INLINE double stop(double weight) const {
        weight = (weight + to_grid) - to_grid;
        weight = weight < greatest ? weight : greatest;
        return weight > least ? weight : least;
    }
};

/// The stretches from the current state of a visit's weights to the requested one.
struct Course {
    std::vector<Stretch> stretches;  ///< at least one, except before the first presynaptic spike
    std::size_t closed = 0;  ///< number of them that end with a pulse or at the requested step
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
        course.limits.to_grid = grid_of_modulated(c);
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
        stretch.gain = gain_of(c, *m.concentration, *m.gains, stretch, stretch.begin, step);
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

/// Visits synapses in blocks. Synapses whose targets have not fired process all pulses together. The others process the
/// pulses in groups of lanes; where the target of one fires, that synapse is advanced to the spike alone, and then
/// together with the others again.
template <class Real>
struct ModulatedRun {
    using Arguments = LearnArguments<Real>;
    using Modulated = ModulatedArguments<Real>;
    using Visit = LearnVisit<Real>;
    using History = SpikeHistory<Real>;
    using Bits = typename History::Bits;
    static constexpr std::size_t block = 512;
    static constexpr std::size_t newest = History::newest;

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const Arguments* arguments, const Visit* visit, const Modulated* modulated,
                                          const Course* course) {
        const Arguments& a = *arguments;
        const Visit& v = *visit;
        const Modulated& m = *modulated;
        Block b;
        for (std::size_t begin = 0; begin < v.count; begin += block) {
            const std::size_t count = std::min(block, v.count - begin);
            load(a, v, m, b, begin, count);
            look<set>(a, v, b, count);
            if (!m.first) {
                list_busy(a, v, b, count);
                follow_idle(v, m, *course, b);
                for (std::size_t k = 0; k < b.busy_count; k += lanes) follow_busy(a, v, m, *course, b, k);
            }
            if (a.arrives) arrive(v, m, b, count);
            store(a, v, m, b, begin, count);
        }
    }

   private:
    /// Synapses that process pulses together.
    static constexpr std::size_t lanes = 16;
    static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();

    struct Block {
        std::array<double, block> weights;
        std::array<double, block> eligibility;
        std::array<std::int32_t, block> base;  ///< step of this value
        std::array<std::uint32_t, block> targets;
        std::array<std::int32_t, block> end;
        std::array<std::int32_t, block> meets;
        std::array<std::int32_t, block> first;  ///< newest postsynaptic spike up to `end`
        std::array<std::uint32_t, block> place;
        std::array<Real, block> trace;  ///< postsynaptic, at the arrival of the current spike
        // Synapses with postsynaptic spikes since the last presynaptic one, processed or pending, and the others:
        std::array<std::uint16_t, block> busy;
        std::array<std::uint16_t, block> idle;
        std::array<double, block> idle_weights;
        std::array<double, block> idle_eligibility;
        std::size_t busy_count = 0;
        std::size_t idle_count = 0;
        std::vector<std::int32_t> posts;  ///< of some busy synapses, newest first for each
    };
    struct Lanes {
        alignas(64) std::array<double, lanes> weights;
        alignas(64) std::array<double, lanes> eligibility;
        alignas(64) std::array<double, lanes> gain;
        alignas(64) std::array<std::int32_t, lanes> base;
        alignas(64) std::array<std::int32_t, lanes> now;  ///< step of the current weight
        alignas(64) std::array<std::int32_t, lanes> next;  ///< postsynaptic spike
        std::array<std::size_t, lanes> left;  ///< number of remaining ones in `posts`, from its start
        std::array<std::size_t, lanes> begin;
    };

    RANVIER_ALWAYS_INLINE static void load(const Arguments& a, const Visit& v, const Modulated& m, Block& b,
                                           std::size_t begin, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            b.targets[i] = a.wide_targets ? static_cast<const std::uint32_t*>(v.targets)[begin + i]
                                          : static_cast<const std::uint16_t*>(v.targets)[begin + i];
        }
        find_neurons(a, std::span(b.targets).first(count));
        for (std::size_t i = 0; i < count; ++i) {
            b.weights[i] = static_cast<double>(v.weights[begin + i]);
            b.eligibility[i] = static_cast<double>(m.eligibility[begin + i]);
            b.base[i] = m.first ? v.meets : v.last;
        }
        if (m.remainders == nullptr) return;
        for (std::size_t i = 0; i < count; ++i) b.weights[i] += static_cast<double>(m.remainders[begin + i]);
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void look(const Arguments& a, const Visit& v, Block& b, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            b.end[i] = v.end;
            b.meets[i] = v.meets;
        }
        look_up_some(set, a, b.targets.data(), b.end.data(), b.meets.data(), count, b.first.data(), b.place.data(),
                     b.trace.data());
    }

    RANVIER_ALWAYS_INLINE static void list_busy(const Arguments& a, const Visit& v, Block& b, std::size_t count) {
        b.busy_count = 0;
        b.idle_count = 0;
        for (std::size_t i = 0; i < count; ++i) {
            // A spike between the last presynaptic one and the end, or possibly an older one.
            const bool is_busy = b.place[i] >= newest * a.history->neurons() || b.first[i] > v.since;
            b.busy[b.busy_count] = static_cast<std::uint16_t>(i);
            b.idle[b.idle_count] = static_cast<std::uint16_t>(i);
            b.busy_count += is_busy ? 1 : 0;
            b.idle_count += is_busy ? 0 : 1;
        }
    }

    RANVIER_ALWAYS_INLINE static void follow_idle(const Visit& v, const Modulated& m, const Course& course, Block& b) {
        const Limits limits = course.limits;
        const std::size_t count = b.idle_count;
        for (std::size_t k = 0; k < count; ++k) b.idle_weights[k] = b.weights[b.idle[k]];
        for (std::size_t k = 0; k < count; ++k) b.idle_eligibility[k] = b.eligibility[b.idle[k]];
        for (std::size_t j = 0; j < course.closed; ++j) {
            const Stretch& stretch = course.stretches[j];
            const double gain = m.decay(stretch.begin - v.last) * stretch.gain;
            for (std::size_t k = 0; k < count; ++k)
                b.idle_weights[k] = limits.stop(b.idle_weights[k] + b.idle_eligibility[k] * gain);
        }
        for (std::size_t k = 0; k < count; ++k) b.weights[b.idle[k]] = b.idle_weights[k];
    }

    /// Appends the postsynaptic spikes of a neuron after one step and up to another, newest first. Returns the last one
    /// before them.
    static std::int32_t list_spikes(const Arguments& a, const Visit& v, std::uint32_t target, std::uint32_t place,
                                    std::vector<std::int32_t>& found) {
        const std::uint32_t neurons = a.history->neurons();
        for (; place < newest * neurons; place += neurons) {
            const std::int32_t step = a.history->steps()[place];
            if (step <= v.learnt) return step;
            found.push_back(step);
        }
        const auto* older = a.history->first_older(target);
        for (; older != nullptr && older->step > v.learnt; older = a.history->next_older(*older)) {
            if (older->step <= v.end) found.push_back(older->step);
        }
        return older == nullptr ? History::never : older->step;
    }

    /// Processes some of the synapses with postsynaptic spikes.
    RANVIER_ALWAYS_INLINE static void follow_busy(const Arguments& a, const Visit& v, const Modulated& m,
                                                  const Course& course, Block& b, std::size_t first_busy) {
        Lanes l;
        const std::size_t count = std::min(lanes, b.busy_count - first_busy);
        begin_lanes(a, v, course, b, first_busy, count, l);
        std::int32_t next = next_of(l);
        std::int32_t now = now_of(l);
        for (std::size_t j = 0; j < course.closed; ++j) {
            const Stretch& stretch = course.stretches[j];
            if (next < stretch.end) {
                pass_spikes(a, v, m, course, stretch, b, l, stretch.end);
                next = next_of(l);
                now = now_of(l);
            }
            if (now <= stretch.begin) {
                follow_whole(m, course.limits, stretch, l);
            } else {
                find_gains(m, stretch, l);
                follow_rest(m, course.limits, stretch, l);
            }
        }
        // Of the last stretch, which may continue.
        const Stretch& open = course.stretches.back();
        for (std::size_t i = 0; i < lanes; ++i) l.now[i] = std::max(l.now[i], open.begin);
        if (course.closed == course.stretches.size()) {
            for (std::size_t i = 0; i < lanes; ++i) l.now[i] = std::max(l.now[i], open.end);
        }
        pass_spikes(a, v, m, course, open, b, l, none);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = b.busy[first_busy + i];
            b.weights[at] = l.weights[i];
            b.eligibility[at] = l.eligibility[i];
            b.base[at] = l.base[i];
        }
    }

    RANVIER_ALWAYS_INLINE static void begin_lanes(const Arguments& a, const Visit& v, const Course& course, Block& b,
                                                  std::size_t first_busy, std::size_t count, Lanes& l) {
        const std::int32_t begin = course.stretches.front().begin;
        b.posts.clear();
        for (std::size_t i = 0; i < lanes; ++i) {
            l.weights[i] = 0.0;
            l.eligibility[i] = 0.0;
            l.base[i] = v.last;
            l.now[i] = begin;
            l.next[i] = none;
            if (i >= count) continue;
            const std::size_t at = b.busy[first_busy + i];
            l.begin[i] = b.posts.size();
            const std::int32_t before = list_spikes(a, v, b.targets[at], b.place[at], b.posts);
            l.left[i] = b.posts.size();
            if (l.left[i] > l.begin[i]) l.next[i] = b.posts[--l.left[i]];
            l.weights[i] = b.weights[at];
            l.eligibility[i] = b.eligibility[at];
            if (before > v.since) l.base[i] = std::max(before, v.last);
            l.now[i] = std::max(begin, l.base[i]);
        }
    }

    /// Advances synapses whose targets fire before a step to that spike, one by one.
    [[gnu::noinline]] static void pass_spikes(const Arguments& a, const Visit& v, const Modulated& m,
                                              const Course& course, const Stretch& stretch, const Block& b, Lanes& l,
                                              std::int32_t end) {
        for (std::size_t i = 0; i < lanes; ++i) {
            while (l.next[i] < end) {
                const std::int32_t spike = l.next[i];
                const std::int32_t now = std::max(l.now[i], stretch.begin);
                if (spike > now) {
                    const double gain = gain_of(*m.constants, *m.concentration, *m.gains, stretch, now, spike);
                    l.weights[i] =
                        course.limits.stop(l.weights[i] + l.eligibility[i] * (m.decay(now - l.base[i]) * gain));
                    l.now[i] = spike;
                }
                const Real trace = v.trace * a.presynaptic(spike - v.last);
                l.eligibility[i] = as_stored(l.eligibility[i] * m.decay(spike - l.base[i]) +
                                             m.constants->up * static_cast<double>(trace));
                l.base[i] = spike;
                l.next[i] = l.left[i] > l.begin[i] ? b.posts[--l.left[i]] : none;
            }
        }
    }

    /// The next spike over all lanes.
    RANVIER_ALWAYS_INLINE static std::int32_t next_of(const Lanes& l) {
        std::int32_t next = none;
        for (std::size_t i = 0; i < lanes; ++i) next = std::min(next, l.next[i]);
        return next;
    }
    /// The step of the lane that is furthest ahead.
    RANVIER_ALWAYS_INLINE static std::int32_t now_of(const Lanes& l) {
        std::int32_t now = std::numeric_limits<std::int32_t>::min();
        for (std::size_t i = 0; i < lanes; ++i) now = std::max(now, l.now[i]);
        return now;
    }

    [[gnu::noinline]] static void find_gains(const Modulated& m, const Stretch& stretch, Lanes& l) {
        for (std::size_t i = 0; i < lanes; ++i) {
            const bool is_within = l.now[i] > stretch.begin && l.now[i] < stretch.end;
            l.gain[i] = is_within ? gain_of(*m.constants, *m.concentration, *m.gains, stretch, l.now[i], stretch.end)
                                  : stretch.gain;
        }
    }

    /// From the start to the end of a stretch.
    RANVIER_ALWAYS_INLINE static void follow_whole(const Modulated& m, const Limits& limits, const Stretch& stretch,
                                                   Lanes& l) {
        const auto decay = m.decay;
        const double gain = stretch.gain;
        const std::int32_t begin = stretch.begin;
        for (std::size_t i = 0; i < lanes; ++i) {
            l.weights[i] = limits.stop(l.weights[i] + l.eligibility[i] * (decay(begin - l.base[i]) * gain));
        }
    }
    /// To the end of a stretch, for lanes that are partly within it.
    RANVIER_ALWAYS_INLINE static void follow_rest(const Modulated& m, const Limits& limits, const Stretch& stretch,
                                                  Lanes& l) {
        const auto decay = m.decay;
        for (std::size_t i = 0; i < lanes; ++i) {
            const std::int32_t now = std::max(l.now[i], stretch.begin);
            const double factor = decay(now - l.base[i]) * l.gain[i];
            const double followed = limits.stop(l.weights[i] + l.eligibility[i] * factor);
            l.weights[i] = now < stretch.end ? followed : l.weights[i];
        }
    }

    RANVIER_ALWAYS_INLINE static double as_stored(double value) {
        return static_cast<double>(static_cast<Real>(value));
    }

    RANVIER_ALWAYS_INLINE static void arrive(const Visit& v, const Modulated& m, Block& b, std::size_t count) {
        const auto decay = m.decay;
        const double down = m.constants->down;
        for (std::size_t i = 0; i < count; ++i) {
            const auto trace = static_cast<double>(b.trace[i]);
            b.eligibility[i] = as_stored(b.eligibility[i] * decay(v.meets - b.base[i]) - down * trace);
        }
    }

    RANVIER_ALWAYS_INLINE static void store(const Arguments& a, const Visit& v, const Modulated& m, const Block& b,
                                            std::size_t begin, std::size_t count) {
        Real* const weights = v.weights + begin;
        for (std::size_t i = 0; i < count; ++i) weights[i] = static_cast<Real>(b.weights[i]);
        if (m.new_remainders != nullptr) {
            for (std::size_t i = 0; i < count; ++i) {
                const auto stored = static_cast<double>(static_cast<Real>(b.weights[i]));
                m.new_remainders[begin + i] = static_cast<Real>(b.weights[i] - stored);
            }
        }
        if (m.new_eligibility != nullptr) {
            for (std::size_t i = 0; i < count; ++i) m.new_eligibility[begin + i] = static_cast<Real>(b.eligibility[i]);
        }
        if (a.greatest == nullptr) return;
        Bits greatest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Bits size = std::bit_cast<Bits>(static_cast<Real>(b.weights[i])) & (~Bits{0} >> 1);
            greatest = greatest < size ? size : greatest;
        }
        *a.greatest = std::max(*a.greatest, greatest);
        if (v.inputs == nullptr) return;
        const double to_grid = a.to_grid;
        std::array<double, block> added;
        for (std::size_t i = 0; i < count; ++i)
            added[i] = (static_cast<double>(static_cast<Real>(b.weights[i])) + to_grid) - to_grid;
        if (a.neurons != nullptr) {
            for (std::size_t i = 0; i < count; ++i) v.inputs[input_of(a, v, begin + i)] += added[i];
            return;
        }
        for (std::size_t i = 0; i < count; ++i) v.inputs[b.targets[i]] += added[i];
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
