#include "base/errors.hpp"

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"

namespace ranvier::bindings {

namespace {

/// Sets the Python error `name` of ranvier.errors, which takes the four fields and composes the message as the core does.
void set_error(const char* name, const Error& error) {
    const nb::object type = nb::module_::import_("ranvier.errors").attr(name);
    const ErrorFields& fields = error.fields();
    const nb::object value = type(fields.object, fields.value, fields.bound, fields.remedy);
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
    } catch (const DelayError& error) {
        set_error("DelayError", error);
    } catch (const RuleError& error) {
        set_error("RuleError", error);
    } catch (const InsufficientMemoryError& error) {
        set_error("InsufficientMemoryError", error);
    } catch (const StateError& error) {
        set_error("StateError", error);
    } catch (const CommunicationError& error) {
        set_error("CommunicationError", error);
    } catch (const RemoteError& error) {
        set_error("RemoteError", error);
    } catch (const Error& error) {
        set_error("RanvierError", error);
    } catch (const std::bad_alloc&) {
        // What the checks before could not see: others took the memory meanwhile.
        set_error("InsufficientMemoryError",
                  Error({.object = "memory",
                         .value = "",
                         .bound = "the system has no more of it for this process",
                         .remedy = "make the network smaller, or run it on a larger machine"}));
    } catch (const InternalError& error) {
        const nb::object type = nb::module_::import_("ranvier.errors").attr("InternalError");
        PyErr_SetString(type.ptr(), error.what());
    }
}

/// For names that only Python knows: the same message as for those of the core.
void raise_unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    throw unknown_name(kind, name, views);
}

}  // namespace

engine::Poll make_poll(const nb::callable* progress) {
    return [progress] {
        const nb::gil_scoped_acquire lock;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress != nullptr) (*progress)();
    };
}

void bind_errors(nb::module_& module) {
    nb::register_exception_translator(translate);
    module.def("raise_unknown_name", raise_unknown_name, nb::arg("kind"), nb::arg("name"), nb::arg("known"),
               "Raise the UnknownNameError that names the known name nearest to `name`.");
}

}  // namespace ranvier::bindings
