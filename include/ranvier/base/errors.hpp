#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ranvier {

/// The content of every user error: the object, its value, the bound that it violates and the remedy.
struct ErrorFields {
    std::string object;
    std::string value;
    std::string bound;
    std::string remedy;
};

/// Base of all errors that a user can cause and fix. The message is composed of the fields.
class Error : public std::runtime_error {
   public:
    explicit Error(ErrorFields fields);

    const ErrorFields& fields() const noexcept { return fields_; }

   private:
    ErrorFields fields_;
};

/// A model, parameter, variable, rule, population or option of that name does not exist.
class UnknownNameError : public Error {
   public:
    using Error::Error;
};

/// A value is out of its bounds or not finite.
class ValueOutOfBoundsError : public Error {
   public:
    using Error::Error;
};

/// An array has the wrong length or number of dimensions.
class ShapeError : public Error {
   public:
    using Error::Error;
};

/// A time, interval or delay is not a multiple of the resolution.
class GridError : public Error {
   public:
    using Error::Error;
};

/// A delay is shorter than one step or too long.
class DelayError : public Error {
   public:
    using Error::Error;
};

/// A connection rule cannot be applied to these populations.
class RuleError : public Error {
   public:
    using Error::Error;
};

/// A call needs more memory than the machine has.
class InsufficientMemoryError : public Error {
   public:
    using Error::Error;
};

/// The present state of the object does not allow the call.
class StateError : public Error {
   public:
    using Error::Error;
};

/// A file cannot be read or has invalid content.
class FileError : public Error {
   public:
    using Error::Error;
};

/// A GPU, its driver or the compiler of its kernels is missing, too old, or has failed.
class DeviceError : public Error {
   public:
    using Error::Error;
};

/// The transport between processes failed.
class CommunicationError : public Error {
   public:
    using Error::Error;
};

/// Another process of the run failed or describes another network, so that this one cannot continue.
class RemoteError : public Error {
   public:
    using Error::Error;
};

/// A bug in Ranvier, not a mistake of the user.
class InternalError : public std::logic_error {
   public:
    explicit InternalError(const std::string& what);
};

/// The name in `known` nearest to `given` by edit distance, ignoring case. Empty if more than half of the letters would
/// have to change.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known);

/// An UnknownNameError whose remedy names the nearest valid name and lists all of them.
UnknownNameError unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known);

/// `value` as text with as many digits as identify it.
std::string to_text(double value);

}  // namespace ranvier
