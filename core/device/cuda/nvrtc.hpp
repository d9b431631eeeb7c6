#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/kernel/machine.hpp"

/// NVRTC, NVIDIA's compiler of CUDA C++ as a library. It is loaded at run time; its functions are declared here, after
/// NVIDIA's documentation of them, so that no toolkit is needed to build Ranvier.
namespace ranvier::device {

/// Functions of NVRTC, which return 0 or the number of an error. A program is a pointer to something unknown.
struct NvrtcFunctions {
    const char* (*get_error_string)(int error);
    int (*version)(int* major, int* minor);
    int (*get_num_supported_archs)(int* count);
    int (*get_supported_archs)(int* architectures);
    int (*create_program)(void** program, const char* source, const char* name, int header_count,
                          const char* const* headers, const char* const* include_names);
    int (*destroy_program)(void** program);
    int (*compile_program)(void* program, int option_count, const char* const* options);
    int (*get_program_log_size)(void* program, std::size_t* size);
    int (*get_program_log)(void* program, char* log);
    int (*get_ptx_size)(void* program, std::size_t* size);
    int (*get_ptx)(void* program, char* ptx);
    int (*get_cubin_size)(void* program, std::size_t* size);
    int (*get_cubin)(void* program, char* cubin);
};

/// What a kernel is compiled for.
struct KernelTarget {
    u32 architecture = 0;  ///< as 90 for sm_90
    /// Text that the driver compiles for its device, instead of code of that architecture.
    bool is_ptx = false;

    friend bool operator==(const KernelTarget&, const KernelTarget&) = default;
};

/// Oldest devices that kernels support: those since 2018.
inline constexpr u32 oldest_architecture = 75;

/// What to compile for a device. Code runs on devices of the same major architecture that are not older, and PTX on all
/// that are not older.
/// @param capability of the device, as 90 for 9.0
/// @param supported by the compiler, ascending
/// @throws DeviceError if the device is older than oldest_architecture, or than all that the compiler supports
KernelTarget choose_target(u32 capability, std::span<const u32> supported);

struct CompiledKernel {
    KernelTarget target;
    std::string code;  ///< of the architecture, or PTX, which ends with '\0'
    std::string log;   ///< warnings
};

class KernelCompiler {
   public:
    /// Loads NVRTC.
    /// @param path of its library; empty: by its names
    /// @throws DeviceError if it is not found, or lacks a function
    static std::shared_ptr<const KernelCompiler> load(const std::string& path);

    /// @param library keeps the functions loaded
    explicit KernelCompiler(const NvrtcFunctions& functions, std::shared_ptr<void> library = nullptr);

    /// Of CUDA: 1000 times the major version, and 10 times the minor one, as that of a driver.
    int version() const { return version_; }
    /// Supported architectures, ascending.
    std::span<const u32> architectures() const { return architectures_; }

    /// Compiles a source that includes kernel_texts(). Operations are not fused, and divisions and square roots are those of
    /// IEEE 754.
    /// @throws DeviceError with the log of the compiler, or if it does not support the architecture
    CompiledKernel compile(const std::string& source, KernelTarget target) const;

   private:
    NvrtcFunctions functions_;
    std::shared_ptr<void> library_;
    int version_ = 0;
    std::vector<u32> architectures_;
};

/// A version of CUDA, as "12.9".
std::string cuda_version_text(int version);

}  // namespace ranvier::device
