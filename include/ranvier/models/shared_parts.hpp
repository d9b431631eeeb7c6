#pragma once

#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <tuple>
#include <typeindex>

namespace ranvier::models {

/// What the groups of a simulation share, so that it lies in memory and in the caches once: tables and the like that do not
/// change and that each group would make alike. May be used by several threads.
class SharedParts {
   public:
    /// @param memory for all parts, which must outlive them
    explicit SharedParts(std::pmr::memory_resource* memory) : memory_(memory) {}

    /// The part of one type that belongs to something and a length of a step (ms).
    /// @param make makes it of the memory, when it is asked for the first time
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
