#include "ranvier/base/instruction_set.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "ranvier/base/errors.hpp"

namespace ranvier {

namespace {

constexpr std::array all_sets{InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512};

}  // namespace

InstructionSet detect_instruction_set() {
#if RANVIER_HAS_WIDER_SETS
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512cd");
    if (avx512) return InstructionSet::avx512;
    return avx2 ? InstructionSet::avx2 : InstructionSet::baseline;
#else
    return InstructionSet::baseline;
#endif
}

std::span<const InstructionSet> available_instruction_sets() {
    const auto widest = static_cast<std::size_t>(detect_instruction_set());
    return std::span(all_sets).first(widest + 1);
}

InstructionSet available_instruction_set(AutoChoice<InstructionSet> choice) {
    const InstructionSet widest = detect_instruction_set();
    if (choice.value_or(widest) > widest) {
        throw ValueOutOfBoundsError({.object = "instruction set",
                                     .value = std::string(choice.name()),
                                     .bound = "this processor has only " + std::string(to_string(widest)),
                                     .remedy = "leave it at 'auto'"});
    }
    return choice.value_or(widest);
}

InstructionSet parse_instruction_set(std::string_view name) { return available_instruction_set(name); }

}  // namespace ranvier
