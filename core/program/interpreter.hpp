#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/aligned_array.hpp"
#include "program/block_code.hpp"
#include "program/kernels.hpp"
#include "program/lane_compaction.hpp"
#include "program/step_function.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::program {

/// Executes a program block by block. Not thread-safe.
class Interpreter {
   public:
    /// @param memory resource for its code and registers, which must outlive it
    Interpreter(const BlockCode& code, InstructionSet set, std::pmr::memory_resource* memory);
    Interpreter(Interpreter&&) = default;
    Interpreter& operator=(Interpreter&&) = default;
    Interpreter(const Interpreter&) = delete;
    Interpreter& operator=(const Interpreter&) = delete;
    ~Interpreter() = default;

    /// Bytes of its code and registers.
    static std::size_t bytes(const BlockCode& code);

    /// Sets the instruction set of later calls.
    void use(InstructionSet set);

    /// Greatest number of lanes of a call, a multiple of lane_multiple: the registers then fit the first-level cache,
    /// or those of a loop the second-level one.
    std::size_t most_lanes() const { return most_lanes_; }
    const BlockCode& code() const { return code_; }

    // Arrays of the next call, each with at least as many elements as that has lanes. Arrays of uniform inputs are not
    // read.
    void set_input(std::size_t input, const double* lanes) { places_[input] = const_cast<double*>(lanes); }
    void set_draw(std::size_t draw, const std::uint64_t* words) {
        places_[code_.inputs + draw] = reinterpret_cast<double*>(const_cast<std::uint64_t*>(words));
    }
    void set_output(std::size_t output, double* lanes) { places_[code_.inputs + code_.draws + output] = lanes; }

    struct Call {
        std::size_t lanes = 0;  ///< a multiple of lanes_of_kernel
        std::size_t valid = 0;
        const std::int32_t* release = nullptr;
        std::int64_t clock = 0;
        std::uint8_t* fires = nullptr;
        std::uint8_t* failures = nullptr;
    };
    /// Returns some_fire and some_fail: see StepFunction.
    std::uint32_t run(const Call& call);

   private:
    BlockCode code_;
    InstructionSet set_;
    AlignedVector<Kernel> kernels_;  ///< by instruction
    std::size_t most_lanes_;
    AlignedVector<double> registers_;
    AlignedVector<double*> places_;
    std::vector<std::uint32_t> iterations_;  ///< by loop
    LaneCompaction compaction_;  ///< of the current loop
};

}  // namespace ranvier::program
