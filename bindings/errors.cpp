#include "ranvier/base/errors.hpp"

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"

namespace ranvier::bindings {

namespace {

/// Makes a Python error of ranvier.errors with a message, as its constructor would.
///
/// The constructor is not called, since it is Python code: Python could handle a pending signal in it, and raise
/// another error instead of this one. So signals wait until this one has been raised.
nb::object make_error(const nb::object& type, const char* message) {
    const nb::object text =
        nb::steal(PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace"));
    const nb::tuple arguments = nb::make_tuple(text);
    auto* const python_type = reinterpret_cast<PyTypeObject*>(type.ptr());
    // Not python_type->tp_new: the stable ABI hides the members of a type.
    const auto make = reinterpret_cast<newfunc>(PyType_GetSlot(python_type, Py_tp_new));
    nb::object value = nb::steal(make(python_type, arguments.ptr(), nullptr));
    if (!value.is_valid()) nb::raise_python_error();
    // An OSError sets them only in its constructor.
    value.attr("args") = arguments;
    return value;
}

/// Sets the Python error `name` of ranvier.errors with the four fields and the message of the core's error.
void set_error(const char* name, const Error& error) {
    const nb::object type = nb::module_::import_("ranvier.errors").attr(name);
    const nb::object value = make_error(type, error.what());
    const ErrorFields& fields = error.fields();
    value.attr("object") = fields.object;
    value.attr("value") = fields.value;
    value.attr("bound") = fields.bound;
    value.attr("remedy") = fields.remedy;
    PyErr_SetObject(type.ptr(), value.ptr());
}

void translate(const std::exception_ptr& pointer, void* /*unused*/) {
    try {
        std::rethrow_exception(pointer);
    } catch (const UnknownNameError& error) {
        set_error("UnknownNameError", error);
    } catch (const ValueOutOfBoundsError& error) {
        set_error("ValueOutOfBoundsError", error);
    } catch (const ShapeError& error) {
        set_error("ShapeError", error);
    } catch (const GridError& error) {
        set_error("GridError", error);
    } catch (const DelayError& error) {
        set_error("DelayError", error);
    } catch (const RuleError& error) {
        set_error("RuleError", error);
    } catch (const InsufficientMemoryError& error) {
        set_error("InsufficientMemoryError", error);
    } catch (const StateError& error) {
        set_error("StateError", error);
    } catch (const FileError& error) {
        set_error("FileError", error);
    } catch (const DeviceError& error) {
        set_error("DeviceError", error);
    } catch (const CommunicationError& error) {
        set_error("CommunicationError", error);
    } catch (const RemoteError& error) {
        set_error("RemoteError", error);
    } catch (const Error& error) {
        set_error("RanvierError", error);
    } catch (const std::bad_alloc&) {
        // The previous checks could not detect this: other processes took the memory meanwhile.
        set_error("InsufficientMemoryError",
                  Error({.object = "memory",
                         .value = "",
                         .bound = "the system has no more of it for this process",
                         .remedy = "make the network smaller, or run it on a larger machine"}));
    } catch (const InternalError& error) {
        const nb::object type = nb::module_::import_("ranvier.errors").attr("InternalError");
        PyErr_SetObject(type.ptr(), make_error(type, error.what()).ptr());
    }
}

/// For names that are defined in Python: the same message as for those of the core.
void raise_unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    throw unknown_name(kind, name, views);
}

}  // namespace

engine::Poll make_poll(const nb::callable* progress) {
    return [progress] {
        const Locked lock;
        if (must_leave()) leave();
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress != nullptr) (*progress)();
    };
}

void bind_errors(nb::module_& module) {
    nb::register_exception_translator(translate);
    module.def("raise_unknown_name", raise_unknown_name, nb::arg("kind"), nb::arg("name"), nb::arg("known"),
               "Raise an UnknownNameError that suggests the known name closest to `name`.");
}

}  // namespace ranvier::bindings
