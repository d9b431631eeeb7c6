#include "connect/plasticity/scaled_delivery.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "connect/tables/delivery_loops.hpp"

namespace ranvier::connect::detail {

namespace {

struct NoDelay {};

template <class Target, class Weight, class Delay, bool wide = false>
struct DeliverScaled {
    using Arguments = ScaledArguments<Target, Weight>;
    static constexpr bool same_delay = std::is_same_v<Delay, NoDelay>;
    static constexpr std::size_t block = 256;

    RANVIER_ALWAYS_INLINE static void run(const Arguments* arguments, const Delay* delays) {
        const Arguments& a = *arguments;
        std::array<double, block> added;
        for (std::size_t r = 0; r < a.count; ++r) {
            if (r + a.ahead < a.count) prefetch(a, delays, r + a.ahead);
            const double factor = a.factors[r];
            const double to_grid = a.to_grid;
            for (std::uint64_t begin = a.begins[r]; begin < a.ends[r]; begin += block) {
                const std::size_t count = std::min<std::uint64_t>(block, a.ends[r] - begin);
                const Weight* const weights = a.weights + begin;
                for (std::size_t i = 0; i < count; ++i) {
                    added[i] = (static_cast<double>(weights[i]) * factor + to_grid) - to_grid;
                }
                add(a, delays, begin, count, added.data());
            }
        }
    }

   private:
    RANVIER_ALWAYS_INLINE static void prefetch(const Arguments& a, const Delay* delays, std::size_t row) {
        const std::uint64_t begin = a.begins[row];
        const auto length = static_cast<std::size_t>(a.ends[row] - begin);
        prefetch_span(a.targets + begin, length * sizeof(Target));
        prefetch_span(a.weights + begin, length * sizeof(Weight));
        if constexpr (!same_delay) prefetch_span(delays + begin, length * sizeof(Delay));
    }

    RANVIER_ALWAYS_INLINE static void add(const Arguments& a, const Delay* delays, std::uint64_t begin,
                                          std::size_t count, const double* added) {
        const Target* const targets = a.targets + begin;
        if constexpr (wide) {
            for (std::size_t i = 0; i < count; ++i) {
                Step arrival = a.base;  // NOLINT(misc-const-correctness): with one delay it never changes
                if constexpr (!same_delay) arrival += delays[begin + i];
                add_wide(a.inputs.wide_slot(arrival)[targets[i]], added[i], a.inputs.exponent);
            }
        } else if constexpr (same_delay) {
            add_run(targets, added, count, a.inputs.slot(a.base));
        } else {
            for (std::size_t i = 0; i < count; ++i) {
                a.inputs.slot(a.base + delays[begin + i])[targets[i]] += added[i];
            }
        }
    }
};

template <class Target, class Weight, class Delay>
void deliver(InstructionSet set, const ScaledArguments<Target, Weight>& arguments, const Delay* delays) {
    if (arguments.inputs.wide != nullptr) {
        DeliverScaled<Target, Weight, Delay, true>::run(&arguments, delays);
    } else {
        Dispatched<DeliverScaled<Target, Weight, Delay>>::call(set, &arguments, delays);
    }
}

}  // namespace

template <class Target, class Weight>
void deliver_scaled(InstructionSet set, const ScaledArguments<Target, Weight>& arguments) {
    if (arguments.narrow_delays != nullptr) {
        deliver(set, arguments, arguments.narrow_delays);
    } else if (arguments.wide_delays != nullptr) {
        deliver(set, arguments, arguments.wide_delays);
    } else {
        deliver(set, arguments, static_cast<const NoDelay*>(nullptr));
    }
}

template void deliver_scaled(InstructionSet, const ScaledArguments<std::uint16_t, float>&);
template void deliver_scaled(InstructionSet, const ScaledArguments<std::uint32_t, float>&);
template void deliver_scaled(InstructionSet, const ScaledArguments<std::uint16_t, double>&);
template void deliver_scaled(InstructionSet, const ScaledArguments<std::uint32_t, double>&);

}  // namespace ranvier::connect::detail
