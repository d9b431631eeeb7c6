#pragma once

#include <dlfcn.h>

#include <memory>
#include <span>
#include <string>

namespace ranvier::device {

/// A library that was loaded at run time, or the reason why not.
struct SharedLibrary {
    std::shared_ptr<void> handle{};  ///< unloads it with its last owner
    std::string path{};
    std::string problem{};
};

/// Loads the first of these libraries that can be loaded.
SharedLibrary load_library(std::span<const std::string> paths);

/// Finds functions of a library, and remembers the names of missing ones.
class FunctionFinder {
   public:
    explicit FunctionFinder(const SharedLibrary& library) : library_(library) {}

    template <class Function>
    void find(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(::dlsym(library_.handle.get(), name));
        if (function == nullptr) missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
    }
    const std::string& missing() const { return missing_; }

   private:
    const SharedLibrary& library_;
    std::string missing_;
};

}  // namespace ranvier::device
