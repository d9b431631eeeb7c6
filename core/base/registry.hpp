#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "ranvier/base/errors.hpp"

namespace ranvier {

/// Descriptions that are found by name. Each is a constant in a separate file; the file that defines the registry lists
/// them. Registration by static objects would have an undefined order, and a linker may drop them.
template <class Item>
class Registry {
   public:
    /// @param kind the kind of item in errors: "neuron model"
    constexpr Registry(std::string_view kind, std::span<const Item* const> items) : kind_(kind), items_(items) {}

    constexpr std::span<const Item* const> items() const { return items_; }

    /// @throws UnknownNameError, which suggests the nearest name
    const Item& find(std::string_view name) const {
        std::vector<std::string_view> names;
        names.reserve(items_.size());
        for (const Item* const item : items_) {
            if (item->name == name) return *item;
            names.push_back(item->name);
        }
        throw unknown_name(kind_, name, names);
    }

   private:
    std::string_view kind_;
    std::span<const Item* const> items_;
};

}  // namespace ranvier
