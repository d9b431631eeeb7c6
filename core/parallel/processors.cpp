#include "parallel/processors.hpp"

#include <sched.h>

#include <algorithm>

namespace ranvier::parallel {

std::vector<int> available_processors() {
    std::vector<int> processors;
    // Allocated explicitly, because a machine may have more processors than the default set holds.
    constexpr int most = 16384;
    cpu_set_t* set = CPU_ALLOC(most);
    if (set != nullptr) {
        const std::size_t bytes = CPU_ALLOC_SIZE(most);
        CPU_ZERO_S(bytes, set);
        if (::sched_getaffinity(0, bytes, set) == 0) {
            for (int processor = 0; processor < most; ++processor) {
                if (CPU_ISSET_S(static_cast<std::size_t>(processor), bytes, set)) processors.push_back(processor);
            }
        }
        CPU_FREE(set);
    }
    if (processors.empty()) processors.push_back(0);
    return processors;
}

int current_processor() { return ::sched_getcpu(); }

bool pin_to_processor(int processor) { return pin_to_processors({&processor, 1}); }

bool pin_to_processors(std::span<const int> processors) {
    const int most = *std::max_element(processors.begin(), processors.end());
    cpu_set_t* set = CPU_ALLOC(most + 1);
    if (set == nullptr) return false;
    const std::size_t bytes = CPU_ALLOC_SIZE(most + 1);
    CPU_ZERO_S(bytes, set);
    for (const int processor : processors) CPU_SET_S(static_cast<std::size_t>(processor), bytes, set);
    const bool done = ::sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return done;
}

}  // namespace ranvier::parallel
