#include "base/instruction_set.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "base/errors.hpp"

namespace ranvier {

namespace {

constexpr std::array all_sets{InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512};

}  // namespace

InstructionSet detect_instruction_set() {
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512cd");
    if (avx512) return InstructionSet::avx512;
    return avx2 ? InstructionSet::avx2 : InstructionSet::baseline;
}

std::span<const InstructionSet> available_instruction_sets() {
    const auto widest = static_cast<std::size_t>(detect_instruction_set());
    return std::span(all_sets).first(widest + 1);
}

std::string_view to_string(InstructionSet set) {
    switch (set) {
        case InstructionSet::avx512:
            return "avx512";
        case InstructionSet::avx2:
            return "avx2";
        case InstructionSet::baseline:
            break;
    }
    return "baseline";
}

InstructionSet parse_instruction_set(std::string_view name) {
    static constexpr std::array<std::string_view, 4> names{"auto", "baseline", "avx2", "avx512"};
    if (name == "auto") return detect_instruction_set();
    for (const InstructionSet set : all_sets) {
        if (name != to_string(set)) continue;
        if (set > detect_instruction_set()) {
            throw ValueOutOfBoundsError(
                {.object = "instruction set",
                 .value = std::string(name),
                 .bound = "this processor has only " + std::string(to_string(detect_instruction_set())),
                 .remedy = "leave it at 'auto'"});
        }
        return set;
    }
    throw unknown_name("instruction set", name, names);
}

}  // namespace ranvier
