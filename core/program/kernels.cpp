#include "program/kernels.hpp"

#include "base/normal_lanes.hpp"
#include "program/operations.hpp"
#include "program/step_function.hpp"

namespace ranvier::program {

namespace {

// The number of lanes is a multiple of lanes_of_kernel, so that vector loops have no remainder. Where `out` is also an
// operand, a lane is read before it is written. Operands of code compiled for several instruction sets are raw
// pointers, so that no function of the standard library is called.
RANVIER_ALWAYS_INLINE std::size_t lanes_of(const Frame* frame) {
    const std::size_t lanes = frame->lanes;
    if (lanes % lanes_of_kernel != 0) __builtin_unreachable();
    return lanes;
}

template <Operation operation>
struct Unary {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        const double* const a = frame->places[instruction->operands[0]];
        double* const out = frame->places[instruction->out];
        const std::size_t lanes = lanes_of(frame);
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < lanes; ++k) out[k] = lane::apply<operation>(a[k]);
        return 0;
    }
};

/// Both parts of a quantile take three times as long as the centre alone.
struct DrawNormal {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        const double* const words = frame->places[instruction->operands[0]];
        double* const out = frame->places[instruction->out];
        const std::size_t lanes = lanes_of(frame);
        double uniform[normal_lanes::most];
        for (std::size_t begin = 0; begin < lanes; begin += normal_lanes::most) {
            const std::size_t rest = lanes - begin;
            const std::size_t count = rest < normal_lanes::most ? rest : normal_lanes::most;
            for (std::size_t k = 0; k < count; ++k) uniform[k] = to_open_unit(lane::bits(words[begin + k]));
            normal_lanes::fill_quantiles(uniform, count, out + begin);
        }
        return 0;
    }
};

template <Operation operation, bool a_is_scalar, bool b_is_scalar>
struct Binary {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        const double* const a = frame->places[instruction->operands[0]];
        const double* const b = frame->places[instruction->operands[1]];
        double* const out = frame->places[instruction->out];
        const double a_of_all = *a;
        const double b_of_all = *b;
        const std::size_t lanes = lanes_of(frame);
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < lanes; ++k) {
            out[k] = lane::apply<operation>(a_is_scalar ? a_of_all : a[k], b_is_scalar ? b_of_all : b[k]);
        }
        return 0;
    }
};

template <bool a_is_scalar, bool b_is_scalar>
struct Select {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        const double* const truth = frame->places[instruction->operands[0]];
        const double* const a = frame->places[instruction->operands[1]];
        const double* const b = frame->places[instruction->operands[2]];
        double* const out = frame->places[instruction->out];
        const double a_of_all = *a;
        const double b_of_all = *b;
        const std::size_t lanes = lanes_of(frame);
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < lanes; ++k) {
            out[k] = lane::select(truth[k], a_is_scalar ? a_of_all : a[k], b_is_scalar ? b_of_all : b[k]);
        }
        return 0;
    }
};

template <bool is_scalar>
struct Copy {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        const double* const a = frame->places[instruction->operands[0]];
        double* const out = frame->places[instruction->out];
        const double of_all = *a;
        const std::size_t lanes = lanes_of(frame);
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < lanes; ++k) out[k] = is_scalar ? of_all : a[k];
        return 0;
    }
};

struct TakeWeights {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        double* const weights = frame->places[instruction->operands[0]];
        double* const out = frame->places[instruction->out];
        const std::size_t lanes = lanes_of(frame);
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < lanes; ++k) {
            out[k] = weights[k] + 0.0;
            weights[k] = -0.0;
        }
        return 0;
    }
};

template <bool is_last>
struct TakeRefractory {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        const std::int32_t* const release = frame->release;
        const auto clock = static_cast<std::int32_t>(frame->clock);
        double* const out = frame->places[instruction->out];
        const std::size_t lanes = lanes_of(frame);
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < lanes; ++k) {
            out[k] = lane::to_lane(is_last ? release[k] == clock : release[k] >= clock);
        }
        return 0;
    }
};

struct TakeValid {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        double* const out = frame->places[instruction->out];
        const std::size_t valid = frame->valid;
        const std::size_t lanes = lanes_of(frame);
        for (std::size_t k = 0; k < lanes; ++k) out[k] = lane::to_lane(k < valid);
        return 0;
    }
};

struct CheckLoop {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        const double* const again = frame->places[instruction->operands[0]];
        const double* const present = frame->places[instruction->operands[1]];
        double* const out = frame->places[instruction->out];
        std::uint64_t any = 0;
        const std::size_t lanes = lanes_of(frame);
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < lanes; ++k) {
            const std::uint64_t continues = lane::bits(again[k]) & lane::bits(present[k]);
            out[k] = std::bit_cast<double>(continues);
            any |= continues;
        }
        return any;
    }
};

struct Report {
    RANVIER_ALWAYS_INLINE static std::uint64_t run(const Frame* frame, const BlockInstruction* instruction) {
        const double* const truth = frame->places[instruction->operands[0]];
        std::uint64_t any = 0;
        const std::size_t lanes = lanes_of(frame);
        for (std::size_t k = 0; k < lanes; ++k) any |= lane::bits(truth[k]);
        return any;
    }
};

template <class Body, InstructionSet set>
std::uint64_t call(const Frame* frame, const BlockInstruction* instruction) {
    return Dispatched<Body>::call(set, frame, instruction);
}

template <class Body>
Kernel kernel(InstructionSet set) {
    switch (set) {
        case InstructionSet::avx512:
            return call<Body, InstructionSet::avx512>;
        case InstructionSet::avx2:
            return call<Body, InstructionSet::avx2>;
        case InstructionSet::baseline:
            break;
    }
    return call<Body, InstructionSet::baseline>;
}

/// Not both operands are scalars: such an instruction is computed at lowering.
Kernel binary(InstructionSet set, const BlockInstruction& instruction) {
    return lane::visit_binary(instruction.operation, [&]<Operation operation>() {
        if ((instruction.scalars & 1) != 0) return kernel<Binary<operation, true, false>>(set);
        if ((instruction.scalars & 2) != 0) return kernel<Binary<operation, false, true>>(set);
        return kernel<Binary<operation, false, false>>(set);
    });
}

Kernel select(InstructionSet set, std::uint8_t scalars) {
    const bool first = (scalars & 2) != 0;
    const bool second = (scalars & 4) != 0;
    if (first) return second ? kernel<Select<true, true>>(set) : kernel<Select<true, false>>(set);
    return second ? kernel<Select<false, true>>(set) : kernel<Select<false, false>>(set);
}

Kernel operate(InstructionSet set, const BlockInstruction& instruction) {
    if (instruction.operation == Operation::select) return select(set, instruction.scalars);
    if (instruction.operation == Operation::normal_draw) return kernel<DrawNormal>(set);
    if (is_draw(instruction.operation) || signature(instruction.operation).operands.size() == 1) {
        return lane::visit_unary(instruction.operation,
                                 [&]<Operation operation>() { return kernel<Unary<operation>>(set); });
    }
    return binary(set, instruction);
}

}  // namespace

Kernel find_kernel(InstructionSet set, const BlockInstruction& instruction) {
    switch (instruction.action) {
        case Action::operate:
            return operate(set, instruction);
        case Action::copy:
            return instruction.scalars != 0 ? kernel<Copy<true>>(set) : kernel<Copy<false>>(set);
        case Action::take_weights:
            return kernel<TakeWeights>(set);
        case Action::take_refractory:
            return kernel<TakeRefractory<false>>(set);
        case Action::take_last_refractory:
            return kernel<TakeRefractory<true>>(set);
        case Action::take_valid:
            return kernel<TakeValid>(set);
        case Action::check_loop:
            return kernel<CheckLoop>(set);
        case Action::report_fires:
        case Action::report_failures:
            return kernel<Report>(set);
        case Action::begin_loop:
        case Action::next_iteration:
            break;
    }
    return nullptr;
}

}  // namespace ranvier::program
