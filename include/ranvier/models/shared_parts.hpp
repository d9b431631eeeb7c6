#pragma once

#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <tuple>
#include <typeindex>

namespace ranvier::models {

/// Constant tables that the groups of a simulation share, so that memory and caches hold them once. Thread-safe.
class SharedParts {
   public:
    /// @param memory for all parts; must outlive them
    explicit SharedParts(std::pmr::memory_resource* memory) : memory_(memory) {}

    /// The part of a given type, owner and length of a step (ms).
    /// @param make creates it in the memory on the first call
    template <class Part, class Make>
    std::shared_ptr<Part> get(const void* of, double step, Make make) {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<void>& part = parts_[{of, step, std::type_index(typeid(Part))}];
        if (part == nullptr) part = std::shared_ptr<Part>(make(memory_));
        return std::static_pointer_cast<Part>(part);
    }

   private:
    std::mutex mutex_;
    std::pmr::memory_resource* memory_;
    std::map<std::tuple<const void*, double, std::type_index>, std::shared_ptr<void>> parts_;
};

}  // namespace ranvier::models
