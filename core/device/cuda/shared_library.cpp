#include "device/cuda/shared_library.hpp"

namespace ranvier::device {

SharedLibrary load_library(std::span<const std::string> paths) {
    SharedLibrary result;
    for (const std::string& path : paths) {
        if (void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
            return {.handle = {handle, [](void* each) { ::dlclose(each); }}, .path = path};
        }
        const char* const message = ::dlerror();
        result.problem +=
            (result.problem.empty() ? "" : "; ") + (message != nullptr ? message : path + " cannot be loaded");
    }
    return result;
}

}  // namespace ranvier::device
