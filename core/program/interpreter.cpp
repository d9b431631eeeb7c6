#include "program/interpreter.hpp"

#include <algorithm>
#include <cassert>

#include "program/operations.hpp"

namespace ranvier::program {

namespace {

/// Half of the first-level cache of common processors; the other half is for state and inputs.
constexpr std::size_t register_bytes = std::size_t{16} << 10;
/// Half of a small second-level cache. With more lanes, lanes with many iterations can be compacted better.
constexpr std::size_t register_bytes_of_loops = std::size_t{128} << 10;
constexpr std::size_t most_lanes_of_call = 256;

std::size_t choose_lanes(const BlockCode& code) {
    const std::size_t bytes = code.loops.empty() ? register_bytes : register_bytes_of_loops;
    const std::size_t fit = bytes / sizeof(double) / std::max<std::size_t>(1, code.registers);
    return std::clamp(fit / lane_multiple * lane_multiple, lane_multiple, most_lanes_of_call);
}

void pack(const double* truth, std::size_t lanes, std::uint8_t* bytes) {
    for (std::size_t begin = 0; begin < lanes; begin += 8) {
        unsigned byte = 0;
        for (std::size_t k = 0; k < 8; ++k) byte |= (lane::is_true(truth[begin + k]) ? 1U : 0U) << k;
        bytes[begin / 8] = static_cast<std::uint8_t>(byte);
    }
}

}  // namespace

Interpreter::Interpreter(const BlockCode& code, InstructionSet set, std::pmr::memory_resource* memory)
    : code_(code.in(memory)),
      set_(set),
      kernels_(code_.instructions.size(), nullptr, memory),
      most_lanes_(choose_lanes(code_)),
      registers_(code_.registers * most_lanes_, 0.0, memory),
      places_(code_.places(), nullptr, memory),
      iterations_(code_.loops.size(), 0),
      compaction_(code_.loops, most_lanes_, memory) {
    for (std::size_t i = 0; i < kernels_.size(); ++i) kernels_[i] = find_kernel(set, code_.instructions[i]);
    for (std::size_t s = 0; s < code_.scalars.size(); ++s) places_[code_.first_scalar() + s] = &code_.scalars[s];
    for (std::size_t r = 0; r < code_.registers; ++r) {
        places_[code_.first_register() + r] = registers_.data() + r * most_lanes_;
    }
}

std::size_t Interpreter::bytes(const BlockCode& code) {
    const std::size_t of_code = code.instructions.size() * (sizeof(BlockInstruction) + sizeof(Kernel)) +
                                code.scalars.size() * sizeof(double) + code.places() * sizeof(double*);
    return of_code + (code.registers + LaneCompaction::most_places(code.loops)) * choose_lanes(code) * sizeof(double);
}

void Interpreter::use(InstructionSet set) {
    if (set == set_) return;
    set_ = set;
    for (std::size_t i = 0; i < kernels_.size(); ++i) kernels_[i] = find_kernel(set, code_.instructions[i]);
}

std::uint32_t Interpreter::run(const Call& call) {
    assert(call.lanes % lanes_of_kernel == 0 && call.lanes <= most_lanes_ && call.valid <= call.lanes);
    Frame frame{.places = places_.data(),
                .lanes = call.lanes,
                .valid = call.valid,
                .release = call.release,
                .clock = call.clock};
    std::uint32_t flags = 0;
    const std::size_t end = code_.instructions.size();
    for (std::size_t i = 0; i < end;) {
        const BlockInstruction& instruction = code_.instructions[i];
        const std::uint64_t any = kernels_[i] != nullptr ? kernels_[i](&frame, &instruction) : 0;
        ++i;
        switch (instruction.action) {
            case Action::begin_loop:
                iterations_[instruction.loop] = 0;
                break;
            case Action::check_loop:
                if (any == 0) {
                    frame.lanes = compaction_.leave(code_.loops[instruction.loop], places_, frame.lanes);
                    i = instruction.target;
                } else {
                    frame.lanes = compaction_.compact(code_.loops[instruction.loop], places_, frame.lanes);
                }
                break;
            case Action::next_iteration:
                if (++iterations_[instruction.loop] < instruction.most) {
                    i = instruction.target;
                } else {
                    frame.lanes = compaction_.leave(code_.loops[instruction.loop], places_, frame.lanes);
                }
                break;
            case Action::report_fires:
                if (any == 0) break;
                flags |= some_fire;
                pack(places_[instruction.operands[0]], call.lanes, call.fires);
                break;
            case Action::report_failures:
                if (any == 0) break;
                flags |= some_fail;
                pack(places_[instruction.operands[0]], call.lanes, call.failures);
                break;
            default:
                break;
        }
    }
    return flags;
}

}  // namespace ranvier::program
