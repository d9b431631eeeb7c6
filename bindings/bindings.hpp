#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "interpreter_lock.hpp"
#include "ranvier/engine/simulation.hpp"

/// Common declarations of the extension module. Each bind_* function adds the subject of one file to the module.
namespace ranvier::bindings {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_models(nb::module_& module);
void bind_cells(nb::module_& module);
void bind_programs(nb::module_& module);
void bind_synapse_programs(nb::module_& module);
void bind_pair_functions(nb::module_& module);
void bind_positions(nb::module_& module);
void bind_masks(nb::module_& module);
void bind_network(nb::module_& module);
void bind_simulation(nb::module_& module);
void bind_communicator(nb::module_& module);
void bind_topology(nb::module_& module);
void bind_info(nb::module_& module);
void bind_step_times(nb::module_& module);
void bind_fields(nb::module_& module);
void bind_devices(nb::module_& module);

/// A one-dimensional array owned by Python.
template <class Value>
using OutputArray = nb::ndarray<nb::numpy, Value, nb::ndim<1>>;

/// A one-dimensional array borrowed from Python for a call.
template <class Value>
using InputArray = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Moves a vector into an array, without a copy. `Value` may be the signed counterpart of an unsigned type: ids are
/// signed in Python, where mixing signed and unsigned arrays would give floating-point numbers.
template <class Value, class Element>
OutputArray<Value> to_array(std::vector<Element>&& vector) {
    static_assert(sizeof(Value) == sizeof(Element));
    auto owner = std::make_unique<std::vector<Element>>(std::move(vector));
    auto* const data = reinterpret_cast<Value*>(owner->data());
    const std::size_t size = owner->size();
    const nb::capsule capsule(owner.get(),
                              [](void* pointer) noexcept { delete static_cast<std::vector<Element>*>(pointer); });
    owner.release();
    return OutputArray<Value>(data, {size}, capsule);
}

template <class Value>
std::span<const Value> to_span(const InputArray<Value>& array) {
    return {array.data(), array.size()};
}

template <class Element, class Value>
std::vector<Element> to_vector(const InputArray<Value>& array) {
    std::vector<Element> result(array.size());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<Element>(array.data()[i]);
    return result;
}

/// Called by the engine from the calling thread, which has released the interpreter lock: lets Python handle signals,
/// so that Ctrl-C raises KeyboardInterrupt at a safe point, and calls `progress` unless it is null. `progress` must
/// outlive the poll.
engine::Poll make_poll(const nb::callable* progress);

}  // namespace ranvier::bindings
