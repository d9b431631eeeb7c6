#pragma once

#include <span>

namespace ranvier::device {

/// A header of the kernels, as the compiler of kernels gets it: nothing of the machine on which this library was built is
/// needed at run time.
struct KernelText {
    const char* name;  ///< as in #include
    const char* text;
};

/// All of them. CMake makes their definition (cmake/RanvierKernelTexts.cmake).
std::span<const KernelText> kernel_texts();

}  // namespace ranvier::device
