#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/spike_lookup.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect {

namespace {

template <class Real>
struct TargetLookup {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const LearnArguments<Real>* arguments, std::int32_t end, std::int32_t meets,
                                          TargetView<Real>* view) {
        constexpr std::uint32_t block = detail::SpikeLookup<Real>::block;
        std::array<std::uint32_t, block> targets;
        std::array<std::int32_t, block> ends;
        std::array<std::int32_t, block> meeting;
        for (std::uint32_t i = 0; i < block; ++i) {
            targets[i] = i;
            ends[i] = end;
            meeting[i] = meets;
        }
        view->end = end;
        view->greatest_place = 0;
        const std::uint32_t neurons = arguments->history->neurons();
        for (std::uint32_t begin = 0; begin < neurons; begin += block) {
            const std::uint32_t count = std::min(block, neurons - begin);
            const std::uint32_t greatest = detail::SpikeLookup<Real>::template look_up<set>(
                *arguments, targets.data(), ends.data(), meeting.data(), count, view->first + begin,
                view->place + begin, view->trace + begin);
            view->greatest_place = std::max(view->greatest_place, greatest);
            for (std::uint32_t& target : targets) target += block;
        }
    }
};

template <class Real>
struct SomeTargetsLookup {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const LearnArguments<Real>* arguments, const std::uint32_t* targets,
                                          const std::int32_t* end, const std::int32_t* meets, std::size_t count,
                                          std::int32_t* first, std::uint32_t* place, Real* trace) {
        detail::SpikeLookup<Real>::template look_up<set>(*arguments, targets, end, meets, count, first, place, trace);
    }
};

}  // namespace

template <class Real>
void look_up_targets(InstructionSet set, const LearnArguments<Real>& arguments, std::int32_t end, std::int32_t meets,
                     TargetView<Real>& view) {
    Dispatched<TargetLookup<Real>>::call(detail::usable(set, arguments), &arguments, end, meets, &view);
}

template <class Real>
void look_up_some(InstructionSet set, const LearnArguments<Real>& arguments, const std::uint32_t* targets,
                  const std::int32_t* end, const std::int32_t* meets, std::size_t count, std::int32_t* first,
                  std::uint32_t* place, Real* trace) {
    Dispatched<SomeTargetsLookup<Real>>::call(detail::usable(set, arguments), &arguments, targets, end, meets, count,
                                              first, place, trace);
}

template void look_up_targets(InstructionSet, const LearnArguments<float>&, std::int32_t, std::int32_t,
                              TargetView<float>&);
template void look_up_targets(InstructionSet, const LearnArguments<double>&, std::int32_t, std::int32_t,
                              TargetView<double>&);
template void look_up_some(InstructionSet, const LearnArguments<float>&, const std::uint32_t*, const std::int32_t*,
                           const std::int32_t*, std::size_t, std::int32_t*, std::uint32_t*, float*);
template void look_up_some(InstructionSet, const LearnArguments<double>&, const std::uint32_t*, const std::int32_t*,
                           const std::int32_t*, std::size_t, std::int32_t*, std::uint32_t*, double*);

}  // namespace ranvier::connect
