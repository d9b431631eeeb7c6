#include "device/cuda/driver.hpp"

#include <array>
#include <span>
#include <utility>

#include "device/cuda/nvrtc.hpp"
#include "device/cuda/shared_library.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

constexpr std::string_view use_processors = "or simulate on processors: leave out `device`";

std::string with_processors(const std::string& remedy) { return remedy + ", " + std::string(use_processors); }

DriverFunctions find_functions(const SharedLibrary& library) {
    DriverFunctions functions{};
    FunctionFinder finder(library);
    // Some names have the version of the interface, which NVIDIA's headers hide.
    finder.find(functions.get_error_name, "cuGetErrorName");
    finder.find(functions.get_error_string, "cuGetErrorString");
    finder.find(functions.init, "cuInit");
    finder.find(functions.driver_get_version, "cuDriverGetVersion");
    finder.find(functions.device_get_count, "cuDeviceGetCount");
    finder.find(functions.device_get, "cuDeviceGet");
    finder.find(functions.device_get_name, "cuDeviceGetName");
    finder.find(functions.device_get_uuid, "cuDeviceGetUuid_v2");
    finder.find(functions.device_get_attribute, "cuDeviceGetAttribute");
    finder.find(functions.primary_context_retain, "cuDevicePrimaryCtxRetain");
    finder.find(functions.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
    finder.find(functions.context_push, "cuCtxPushCurrent_v2");
    finder.find(functions.context_pop, "cuCtxPopCurrent_v2");
    finder.find(functions.module_load_data, "cuModuleLoadData");
    finder.find(functions.module_unload, "cuModuleUnload");
    finder.find(functions.module_get_function, "cuModuleGetFunction");
    finder.find(functions.function_get_attribute, "cuFuncGetAttribute");
    finder.find(functions.function_set_attribute, "cuFuncSetAttribute");
    finder.find(functions.most_active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    finder.find(functions.launch_cooperative, "cuLaunchCooperativeKernel");
    finder.find(functions.memory_get_info, "cuMemGetInfo_v2");
    finder.find(functions.memory_allocate, "cuMemAlloc_v2");
    finder.find(functions.memory_free, "cuMemFree_v2");
    finder.find(functions.copy_to_device, "cuMemcpyHtoDAsync_v2");
    finder.find(functions.copy_to_host, "cuMemcpyDtoHAsync_v2");
    finder.find(functions.fill_bytes, "cuMemsetD8Async");
    finder.find(functions.fill_words, "cuMemsetD32Async");
    finder.find(functions.host_allocate, "cuMemHostAlloc");
    finder.find(functions.host_free, "cuMemFreeHost");
    finder.find(functions.stream_create, "cuStreamCreate");
    finder.find(functions.stream_destroy, "cuStreamDestroy_v2");
    finder.find(functions.stream_synchronize, "cuStreamSynchronize");
    finder.find(functions.stream_query, "cuStreamQuery");
    if (!finder.missing().empty()) {
        throw DeviceError({.object = "NVIDIA's driver",
                           .value = library.path,
                           .bound = "it is too old: it lacks " + finder.missing(),
                           .remedy = with_processors("install a newer driver, at least version 525")});
    }
    return functions;
}

}  // namespace

std::shared_ptr<const Driver> Driver::load(const std::string& path) {
    const std::array<std::string, 1> paths{path.empty() ? "libcuda.so.1" : path};
    const SharedLibrary library = load_library(paths);
    if (library.handle == nullptr) {
        throw DeviceError({.object = "NVIDIA's driver",
                           .value = library.problem,
                           .bound = "it cannot be loaded",
                           .remedy = with_processors(
                               "install the driver for a GPU of NVIDIA, version 580 or later (a container gets the one "
                               "of its host, for example by `docker run --gpus all`)")});
    }
    return std::make_shared<const Driver>(find_functions(library), library.handle);
}

Driver::Driver(const DriverFunctions& functions, std::shared_ptr<void> library)
    : functions_(functions), library_(std::move(library)) {
    const int error = functions_.init(0);
    const auto refuse = [&](const std::string& bound, const std::string& remedy) {
        throw DeviceError({.object = "NVIDIA's driver",
                           .value = error != 0 ? error_text(error) : std::to_string(device_count_) + " devices",
                           .bound = bound,
                           .remedy = with_processors(remedy)});
    };
    const std::string no_device = "there is no GPU that this process can use";
    const std::string give_device =
        "run on a machine with a GPU of NVIDIA, make it visible (CUDA_VISIBLE_DEVICES, or the options of a container)";
    switch (static_cast<DriverError>(error)) {
        case DriverError::none:
            break;
        case DriverError::no_device:
            refuse(no_device, give_device);
            break;
        case DriverError::stub_library:
            refuse("this libcuda.so.1 is the stub of a toolkit, not a driver",
                   "remove the folder of stubs from LD_LIBRARY_PATH");
            break;
        case DriverError::system_driver_mismatch:
            refuse("its library and its kernel module are of different versions", "restart the machine");
            break;
        case DriverError::system_not_ready:
            refuse("the system is not ready yet", "start nvidia-fabricmanager on machines with NVSwitch");
            break;
        default:
            refuse("it cannot be initialised", "see what `nvidia-smi` reports");
    }
    check(functions_.driver_get_version(&version_), "reading the version of the driver");
    check(functions_.device_get_count(&device_count_), "counting devices");
    if (device_count_ == 0) refuse(no_device, give_device);
}

std::string Driver::error_text(int error) const {
    const char* name = nullptr;
    const char* text = nullptr;
    if (functions_.get_error_name(error, &name) != 0 || name == nullptr) return "error " + std::to_string(error);
    if (functions_.get_error_string(error, &text) != 0 || text == nullptr) return name;
    return std::string(name) + " (" + text + ")";
}

void Driver::check(int error, std::string_view what) const {
    if (error == 0) return;
    switch (static_cast<DriverError>(error)) {
        case DriverError::out_of_memory:
            throw InsufficientMemoryError({.object = "memory of the GPU",
                                           .value = error_text(error),
                                           .bound = std::string(what) + " needs more than is free",
                                           .remedy = with_processors("end other programs that use the GPU, make the "
                                                                     "network smaller")});
        case DriverError::invalid_image:
        case DriverError::no_binary_for_device:
        case DriverError::invalid_ptx:
        case DriverError::unsupported_ptx_version:
            throw DeviceError(
                {.object = "NVIDIA's driver, for CUDA " + cuda_version_text(version_),
                 .value = error_text(error),
                 .bound = "it cannot load the kernels",
                 .remedy = with_processors("update the driver, or install an older compiler: `pip install "
                                           "ranvier[cuda12]`")});
        case DriverError::launch_out_of_resources:
        case DriverError::cooperative_launch_too_large:
            throw DeviceError({.object = "GPU",
                               .value = error_text(error),
                               .bound = "its multiprocessors cannot run all blocks of the kernel at once",
                               .remedy = with_processors("end other programs that use the GPU, use fewer blocks")});
        default:
            throw DeviceError({.object = "GPU",
                               .value = error_text(error),
                               .bound = std::string(what) + " failed",
                               .remedy = with_processors("see what `nvidia-smi` and `dmesg` report, continue from a "
                                                         "saved state on another GPU")});
    }
}

void check_versions(int driver, int compiler, bool is_ptx) {
    const bool fits = is_ptx ? driver >= compiler : driver / 1000 >= compiler / 1000;
    if (fits) return;
    throw DeviceError({.object = "NVIDIA's driver",
                       .value = "for CUDA " + cuda_version_text(driver),
                       .bound = "it cannot run kernels of NVRTC " + cuda_version_text(compiler),
                       .remedy = driver / 1000 >= 12 ? "update the driver, or install an older compiler: `pip install "
                                                       "ranvier[cuda12]`"
                                                     : "update the driver, to version 525 at least"});
}

}  // namespace ranvier::device
