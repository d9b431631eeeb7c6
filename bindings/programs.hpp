#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/program/program.hpp"

/// Readers of descriptions, whose classes are defined in Python: see ranvier/equations/program.py.
namespace ranvier::bindings {

/// An attribute of a description.
template <class Value>
Value read(const nb::handle& object, const char* name) {
    const nb::object value = object.attr(name);
    try {
        return nb::cast<Value>(value);
    } catch (const nb::cast_error&) {
        const std::string text = std::string(name) + " of a " + nb::cast<std::string>(object.type().attr("__name__")) +
                                 " has a wrong type or value: " + nb::repr(value).c_str();
        throw nb::type_error(text.c_str());
    }
}

/// A program that is an attribute.
/// @throws ValueOutOfBoundsError if it is too long or too deeply nested
program::Program read_program(const nb::handle& description, const char* name);

/// A description of a program itself. @throws as read_program
program::Program to_program(const nb::handle& given);

/// The attribute `parameters`.
std::vector<models::ProgramParameter> read_parameters(const nb::handle& description);

/// The attributes `parameters` and `conditions`.
template <class Description>
void read_parameters_and_conditions(const nb::handle& given, Description& made) {
    made.parameters = read_parameters(given);
    for (auto& [result, text] : read<std::vector<std::pair<std::uint32_t, std::string>>>(given, "conditions")) {
        made.conditions.push_back({result, std::move(text)});
    }
}

/// Keeps compiled code alive by a Python object.
std::shared_ptr<const void> keep(nb::object owner);

}  // namespace ranvier::bindings
