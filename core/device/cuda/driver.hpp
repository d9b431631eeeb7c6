#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "device/kernel/machine.hpp"

/// NVIDIA's driver as a library. It is loaded at run time; its functions are declared here, after NVIDIA's documentation of
/// them, so that no toolkit is needed to build Ranvier, and no GPU to install it.
namespace ranvier::device {

/// Functions of the driver, which return 0 or the number of an error. Contexts, modules, functions and streams are pointers
/// to something unknown; memory of a device has an address of 64 bits.
struct DriverFunctions {
    int (*get_error_name)(int error, const char** name);
    int (*get_error_string)(int error, const char** text);
    int (*init)(unsigned flags);
    int (*driver_get_version)(int* version);
    int (*device_get_count)(int* count);
    int (*device_get)(int* device, int number);
    int (*device_get_name)(char* name, int size, int device);
    int (*device_get_uuid)(unsigned char* uuid, int device);  ///< 16 bytes
    int (*device_get_attribute)(int* value, int attribute, int device);
    int (*primary_context_retain)(void** context, int device);
    int (*primary_context_release)(int device);
    int (*context_push)(void* context);
    int (*context_pop)(void** context);
    int (*module_load_data)(void** module, const void* code);
    int (*module_unload)(void* module);
    int (*module_get_function)(void** function, void* module, const char* name);
    int (*function_get_attribute)(int* value, int attribute, void* function);
    int (*function_set_attribute)(void* function, int attribute, int value);
    int (*most_active_blocks)(int* blocks, void* function, int threads, std::size_t shared_bytes);
    int (*launch_cooperative)(void* function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                              unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,
                              void* stream, void** parameters);
    int (*memory_get_info)(std::size_t* free, std::size_t* total);
    int (*memory_allocate)(std::uint64_t* address, std::size_t bytes);
    int (*memory_free)(std::uint64_t address);
    int (*copy_to_device)(std::uint64_t to, const void* from, std::size_t bytes, void* stream);
    int (*copy_to_host)(void* to, std::uint64_t from, std::size_t bytes, void* stream);
    int (*fill_bytes)(std::uint64_t to, unsigned char value, std::size_t count, void* stream);
    int (*fill_words)(std::uint64_t to, unsigned value, std::size_t count, void* stream);
    int (*host_allocate)(void** memory, std::size_t bytes, unsigned flags);
    int (*host_free)(void* memory);
    int (*stream_create)(void** stream, unsigned flags);
    int (*stream_destroy)(void* stream);
    int (*stream_synchronize)(void* stream);
    int (*stream_query)(void* stream);
};

/// Errors of the driver (CUresult) that have a meaning here.
enum class DriverError : int {
    none = 0,
    out_of_memory = 2,
    stub_library = 34,
    no_device = 100,
    invalid_image = 200,
    no_binary_for_device = 209,
    invalid_ptx = 218,
    unsupported_ptx_version = 222,
    not_ready = 600,
    launch_out_of_resources = 701,
    cooperative_launch_too_large = 720,
    system_not_ready = 802,
    system_driver_mismatch = 803,
};

/// Attributes of devices (CUdevice_attribute).
enum class DeviceAttribute : int {
    multiprocessors = 16,
    limits_run_time = 17,  ///< of kernels: a screen is attached
    capability_major = 75,
    capability_minor = 76,
    cooperative_launch = 95,
    shared_bytes_of_multiprocessor = 81,
    reserved_shared_bytes = 111,  ///< of each block, by the driver
    most_shared_bytes = 97,  ///< of a block, if the kernel asks for them
};

/// Attributes of kernels (CUfunction_attribute).
enum class FunctionAttribute : int {
    most_threads = 0,  ///< of a block
    static_shared_bytes = 1,
    local_bytes = 3,  ///< of a thread, in the memory of the device
    registers = 4,    ///< of a thread
    most_dynamic_shared_bytes = 8,
};

class Driver {
   public:
    /// Loads and initialises the driver.
    /// @param path of its library; empty: by its name
    /// @throws DeviceError if there is no driver or no device, or if it cannot be initialised
    static std::shared_ptr<const Driver> load(const std::string& path);

    /// Initialises the driver. @param library keeps the functions loaded
    /// @throws DeviceError if there is no device, or if it cannot be initialised
    explicit Driver(const DriverFunctions& functions, std::shared_ptr<void> library = nullptr);

    const DriverFunctions& functions() const { return functions_; }
    /// Latest version of CUDA that it supports, as 12090 for 12.9.
    int version() const { return version_; }
    int device_count() const { return device_count_; }

    /// The name and the text of an error.
    std::string error_text(int error) const;
    /// @param what was tried, as "copying the state of neurons"
    /// @throws InsufficientMemoryError if there is too little memory, DeviceError for other errors
    void check(int error, std::string_view what) const;

   private:
    DriverFunctions functions_;
    std::shared_ptr<void> library_;
    int version_ = 0;
    int device_count_ = 0;
};

/// @throws DeviceError unless the driver runs code of a compiler of this version of CUDA: code of an architecture if it is of
/// the same major version or newer, PTX if it is not older
void check_versions(int driver, int compiler, bool is_ptx);

}  // namespace ranvier::device
