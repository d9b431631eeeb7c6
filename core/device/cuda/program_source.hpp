#pragma once

#include <span>
#include <string>

#include "device/backend/backend.hpp"

namespace ranvier::device {

/// Whether the result of an operation on numbers that are not subnormal may be subnormal. Within the other operations
/// of a program (program/operations.hpp) it makes no difference whether subnormal numbers are flushed.
bool may_be_subnormal(program::Operation operation);

struct KernelShape {
    /// Most threads of a block, for which registers must suffice; 0: as many as its registers allow.
    u32 threads = 0;
    u32 blocks = 1;  ///< that a multiprocessor runs at once
    /// Variables that a thread keeps of its neuron (Block), 0: they are in memory.
    u32 registers = 0;
    u32 signals = all_signals;  ///< kinds of stimuli, as bits
    bool has_clocks = false;    ///< it counts Parameters::clocks
};

/// What the synapses of a network that change with spikes need.
struct SynapseRules {
    std::span<const LearningRule> learning = {};
    std::span<const ReleaseRule> release = {};
};

/// The functor `Models` of core/device/kernel/block.hpp for the programs of a network, as CUDA C++: a function for each
/// different program, with a statement for each instruction, one for each side of a
/// rule, and those that a CellThread needs. It is C++ for processors, too, which tests compile.
///
/// GPUs cannot flush subnormal numbers of 64 bits, so each operation whose result may be subnormal has a comparison.
/// Where the exact result of a product or quotient is within 2^-53 below the smallest normal number, in relation to it,
/// it becomes this number, as on no processor or only on some (base/subnormals.hpp).
/// @throws StateError for a program that cannot run on a GPU yet
std::string models_source(std::span<const DeviceProgram> programs, const KernelShape& shape = {},
                          const SynapseRules& rules = {}, const CellPrograms& cells = {});

/// The whole source of the kernel `run`, whose only parameter is a `Parameters`. It includes kernel_texts().
/// @throws StateError for a program that cannot run on a GPU yet
std::string kernel_source(std::span<const DeviceProgram> programs, const KernelShape& shape = {},
                          const SynapseRules& rules = {}, const CellPrograms& cells = {});

/// The CUDA C++ of the kernel that draws rows (core/device/kernel/construction.hpp).
std::string construction_source();

}  // namespace ranvier::device
