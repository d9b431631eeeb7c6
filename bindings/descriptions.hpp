#pragma once

#include <span>
#include <vector>

#include "bindings.hpp"

/// Common code of the bindings of descriptions of models.
namespace ranvier::bindings {

template <class Item>
std::vector<Item> as_list(std::span<const Item> items) {
    return {items.begin(), items.end()};
}

/// A list of descriptions. Each keeps the model alive, because the model owns its texts.
template <class Item>
nb::typed<nb::list, Item> as_list_of(nb::handle model, std::span<const Item> items) {
    nb::list list;
    for (const Item& item : items) {
        const nb::object described = nb::cast(item);
        nb::keep_alive_obj(described, model);
        list.append(described);
    }
    return nb::borrow<nb::typed<nb::list, Item>>(list);
}

}  // namespace ranvier::bindings
