#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "models/equations/program_constants.hpp"
#include "models/equations/program_draws.hpp"
#include "models/equations/program_model.hpp"
#include "program/step_interpreter.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// The neurons to advance.
struct SteppedNeurons {
    const IdSequence& ids;
    std::vector<AlignedVector<double>>& state;  ///< by variable, padded to whole blocks
    AlignedVector<std::int32_t>& release;  ///< the last refractory step of each neuron, on the group's clock
};

/// One step of a range of neurons.
struct BlockStep {
    std::size_t begin = 0;
    std::size_t lanes = 0;
    std::size_t valid = 0;
    Step step = 0;
    std::int32_t clock = 0;
    double* const* inputs = nullptr;  ///< of all neurons, see UpdateArguments
    const double* current = nullptr;  ///< of all neurons, or null
};

/// Calls the step function of a program with its constants and scratch memory.
class ProgramStepper {
   public:
    ProgramStepper(const ProgramModel& model, const ProgramConstants& constants, const GroupArguments& arguments);

    /// The maximum number of neurons per call, a multiple of program::lane_multiple.
    std::size_t most_lanes() const { return most_lanes_; }
    /// The number of neurons that the next call advances if `left` remain. Compiled code takes the neurons of an
    /// incomplete block in a separate call: their inputs are copied, which takes longer than a call.
    std::size_t lanes_of(std::size_t left) const {
        const bool splits = interpreter_ == nullptr && left < most_lanes_ && left > program::lane_multiple;
        return splits ? left / program::lane_multiple * program::lane_multiple : most_lanes_;
    }

    /// Advances neurons by a step, and clears their inputs. Returns the result of the step function.
    /// @param constants those passed to the constructor
    std::uint32_t advance(const SteppedNeurons& neurons, const ProgramConstants& constants, const BlockStep& block);

    // After a call that returned `some_fire` or `some_fail`: calls visit(lane) for each of the first `valid` lanes
    // that fires or fails, ascending.
    template <class Visit>
    void for_each_that_fires(std::size_t valid, Visit&& visit) const {
        for_each_bit(fires_, valid, visit);
    }
    template <class Visit>
    void for_each_that_fails(std::size_t valid, Visit&& visit) const {
        for_each_bit(failures_, valid, visit);
    }

   private:
    /// Few of many bits are set; testing each lane would take as long as a step.
    template <class Visit>
    static void for_each_bit(std::span<const std::uint8_t> bytes, std::size_t valid, Visit& visit) {
        for (std::size_t first = 0; first < bytes.size(); first += sizeof(std::uint64_t)) {
            const std::size_t end = std::min(first + sizeof(std::uint64_t), bytes.size());
            std::uint64_t some = 0;
            std::memcpy(&some, bytes.data() + first, end - first);
            static_assert(std::endian::native == std::endian::little);
            for (; some != 0; some &= some - 1) {
                const std::size_t lane = 8 * first + static_cast<std::size_t>(std::countr_zero(some));
                if (lane >= valid) return;
                visit(lane);
            }
        }
    }
    void point_to_inputs(const BlockStep& block, program::StepArguments& arguments);

    CompiledStep compiled_;
    std::unique_ptr<program::StepInterpreter> interpreter_;  ///< null: a compiled function is used
    std::size_t most_lanes_;
    bool constants_per_lane_ = false;
    ProgramDraws draws_;
    AlignedVector<double> repeated_;  ///< uniform constants, each repeated to a vector, for compiled functions
    AlignedVector<double> inputs_;  ///< of an incomplete block; its current comes last
    std::vector<double*> state_pointers_;
    std::vector<const double*> constant_pointers_;
    std::vector<std::uint64_t> constant_masks_;
    std::vector<double*> input_pointers_;
    std::vector<std::uint8_t> fires_;
    std::vector<std::uint8_t> failures_;
};

}  // namespace ranvier::models
