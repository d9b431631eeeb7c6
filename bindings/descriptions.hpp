#pragma once

#include <span>
#include <vector>

/// What the bindings of descriptions of models share.
namespace ranvier::bindings {

template <class Item>
std::vector<Item> as_list(std::span<const Item> items) {
    return {items.begin(), items.end()};
}

}  // namespace ranvier::bindings
