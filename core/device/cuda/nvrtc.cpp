#include "device/cuda/nvrtc.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "device/cuda/kernel_texts.hpp"
#include "device/cuda/shared_library.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

constexpr int compilation_error = 6;  // NVRTC_ERROR_COMPILATION

constexpr std::string_view install_compiler =
    "install it with `pip install ranvier[cuda]`, or `pip install ranvier[cuda12]` for a driver older than 580";

std::string architecture_text(u32 architecture) { return "sm_" + std::to_string(architecture); }

std::string without_end(std::string text) {
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
}

/// A program of NVRTC.
class SourceProgram {
   public:
    SourceProgram(const NvrtcFunctions& functions, const std::string& source) : functions_(functions) {
        std::vector<const char*> texts;
        std::vector<const char*> names;
        for (const KernelText& each : kernel_texts()) {
            texts.push_back(each.text);
            names.push_back(each.name);
        }
        check(functions_.create_program(&program_, source.c_str(), "ranvier.cu", static_cast<int>(texts.size()),
                                        texts.data(), names.data()));
    }
    ~SourceProgram() { functions_.destroy_program(&program_); }
    SourceProgram(const SourceProgram&) = delete;
    SourceProgram& operator=(const SourceProgram&) = delete;

    void compile(const std::vector<std::string>& options) {
        std::vector<const char*> texts;
        texts.reserve(options.size());
        for (const std::string& option : options) texts.push_back(option.c_str());
        const int error = functions_.compile_program(program_, static_cast<int>(texts.size()), texts.data());
        if (error == compilation_error) {
            throw DeviceError({.object = "source of the kernels of this network",
                               .value = without_end(log()),
                               .bound = "NVRTC cannot compile it for " + options.front(),
                               .remedy = "try another version of nvidia-cuda-nvrtc, and report this as a bug of "
                                         "Ranvier"});
        }
        check(error);
    }

    std::string log() const { return read(functions_.get_program_log_size, functions_.get_program_log); }
    std::string ptx() const { return read(functions_.get_ptx_size, functions_.get_ptx); }
    std::string cubin() const { return read(functions_.get_cubin_size, functions_.get_cubin); }

   private:
    void check(int error) const {
        if (error == 0) return;
        throw DeviceError({.object = "NVRTC, the compiler of kernels",
                           .value = functions_.get_error_string(error),
                           .bound = "it failed",
                           .remedy = "install it anew: pip install --force-reinstall nvidia-cuda-nvrtc"});
    }

    std::string read(int (*size_of)(void*, std::size_t*), int (*copy)(void*, char*)) const {
        std::size_t size = 0;
        check(size_of(program_, &size));
        std::string text(size, '\0');
        if (size > 0) check(copy(program_, text.data()));
        return text;
    }

    const NvrtcFunctions& functions_;
    void* program_ = nullptr;
};

}  // namespace

std::string cuda_version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

KernelTarget choose_target(u32 capability, std::span<const u32> supported) {
    const auto refuse = [&](const std::string& bound, const std::string& remedy) {
        throw DeviceError({.object = "architecture of the GPU",
                           .value = architecture_text(capability),
                           .bound = bound,
                           .remedy = remedy});
    };
    if (capability < oldest_architecture) {
        refuse("kernels need " + architecture_text(oldest_architecture) + " or newer",
               "use a GPU of 2018 or later, or simulate on processors: leave out `device`");
    }
    KernelTarget best;
    for (const u32 architecture : supported) {
        if (architecture > capability) break;
        best = {.architecture = architecture, .is_ptx = architecture / 10 != capability / 10};
    }
    if (best.architecture < oldest_architecture) {
        refuse("the compiler supports " +
                   (supported.empty() ? "none" : architecture_text(supported.front()) + " and newer"),
               "use an older compiler: pip install nvidia-cuda-nvrtc-cu12");
    }
    return best;
}

KernelCompiler::KernelCompiler(const NvrtcFunctions& functions, std::shared_ptr<void> library)
    : functions_(functions), library_(std::move(library)) {
    const auto check = [&](int error) {
        if (error == 0) return;
        throw DeviceError({.object = "NVRTC, the compiler of kernels",
                           .value = functions_.get_error_string(error),
                           .bound = "it does not tell its version",
                           .remedy = std::string(install_compiler)});
    };
    int major = 0;
    int minor = 0;
    check(functions_.version(&major, &minor));
    version_ = 1000 * major + 10 * minor;
    int count = 0;
    check(functions_.get_num_supported_archs(&count));
    std::vector<int> architectures(static_cast<std::size_t>(std::max(count, 0)));
    check(functions_.get_supported_archs(architectures.data()));
    for (const int each : architectures) architectures_.push_back(static_cast<u32>(each));
    std::ranges::sort(architectures_);
}

std::shared_ptr<const KernelCompiler> KernelCompiler::load(const std::string& path) {
    // Both major versions that know all architectures from sm_75 to sm_100.
    static const std::array<std::string, 2> names{"libnvrtc.so.13", "libnvrtc.so.12"};
    const std::span<const std::string> tried = path.empty() ? std::span(names) : std::span(&path, 1);
    const SharedLibrary library = load_library(tried);
    const auto refuse = [&](const std::string& value, const std::string& bound) {
        throw DeviceError({.object = "NVRTC, the compiler of kernels for GPUs",
                           .value = value,
                           .bound = bound,
                           .remedy = std::string(install_compiler)});
    };
    if (library.handle == nullptr) refuse(library.problem, "it cannot be loaded");
    NvrtcFunctions functions{};
    FunctionFinder finder(library);
    finder.find(functions.get_error_string, "nvrtcGetErrorString");
    finder.find(functions.version, "nvrtcVersion");
    finder.find(functions.get_num_supported_archs, "nvrtcGetNumSupportedArchs");
    finder.find(functions.get_supported_archs, "nvrtcGetSupportedArchs");
    finder.find(functions.create_program, "nvrtcCreateProgram");
    finder.find(functions.destroy_program, "nvrtcDestroyProgram");
    finder.find(functions.compile_program, "nvrtcCompileProgram");
    finder.find(functions.get_program_log_size, "nvrtcGetProgramLogSize");
    finder.find(functions.get_program_log, "nvrtcGetProgramLog");
    finder.find(functions.get_ptx_size, "nvrtcGetPTXSize");
    finder.find(functions.get_ptx, "nvrtcGetPTX");
    finder.find(functions.get_cubin_size, "nvrtcGetCUBINSize");
    finder.find(functions.get_cubin, "nvrtcGetCUBIN");
    if (!finder.missing().empty()) refuse(library.path, "it lacks " + finder.missing());
    return std::make_shared<const KernelCompiler>(functions, library.handle);
}

CompiledKernel KernelCompiler::compile(const std::string& source, KernelTarget target) const {
    if (!std::ranges::binary_search(architectures_, target.architecture)) {
        std::string known;
        for (const u32 each : architectures_) known += (known.empty() ? "" : ", ") + architecture_text(each);
        throw DeviceError({.object = "architecture of a GPU",
                           .value = architecture_text(target.architecture),
                           .bound = "NVRTC " + cuda_version_text(version_) + " supports " + known,
                           .remedy = "install another version of nvidia-cuda-nvrtc"});
    }
    SourceProgram program(functions_, source);
    program.compile({"--gpu-architecture=" + (target.is_ptx ? "compute_" + std::to_string(target.architecture)
                                                            : architecture_text(target.architecture)),
                     "--std=c++20", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=true",
                     // Functions of the core are for the device, too, without saying so.
                     "--device-as-default-execution-space",
                     // Not all values of a program are used.
                     "--diag-suppress=177,550"});
    return {
        .target = target, .code = target.is_ptx ? program.ptx() : program.cubin(), .log = without_end(program.log())};
}

}  // namespace ranvier::device
