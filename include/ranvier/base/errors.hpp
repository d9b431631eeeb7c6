#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ranvier {

/// What every error of a user tells: which object, which value it had, what bound it broke and what to do.
struct ErrorFields {
    std::string object;
    std::string value;
    std::string bound;
    std::string remedy;
};

/// Base of all errors that a user can cause and mend. The message is put together from the fields.
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

/// An array does not have the length or the number of dimensions that is needed.
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

/// A connection rule cannot be carried out on these populations.
class RuleError : public Error {
   public:
    using Error::Error;
};

/// More memory would be needed than the machine has.
class InsufficientMemoryError : public Error {
   public:
    using Error::Error;
};

/// A call that the present state of the object does not allow.
class StateError : public Error {
   public:
    using Error::Error;
};

/// A file cannot be read, or its content is not what it must be.
class FileError : public Error {
   public:
    using Error::Error;
};

/// The transport between processes failed.
class CommunicationError : public Error {
   public:
    using Error::Error;
};

/// Another process of the run failed, or describes another network, so that this one cannot go on.
class RemoteError : public Error {
   public:
    using Error::Error;
};

/// A bug in Ranvier, never a user's mistake.
class InternalError : public std::logic_error {
   public:
    explicit InternalError(const std::string& what);
};

/// The name among `known` that is nearest to `given` by edit distance, whatever its case, or an empty view when none is
/// near: when more than half of the letters would have to change.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known);

/// An UnknownNameError whose remedy names the nearest valid name and lists all of them.
UnknownNameError unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known);

/// `value` as text with as many digits as are needed to tell it apart.
std::string to_text(double value);

}  // namespace ranvier
