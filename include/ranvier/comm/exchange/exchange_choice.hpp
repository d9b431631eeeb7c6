#pragma once

#include <concepts>
#include <string_view>

namespace ranvier::comm {

struct ExchangeInfo;

/// A method of exchanging spikes, which can be given by name, or none.
class ExchangeChoice {
   public:
    ExchangeChoice() = default;
    /// @throws UnknownNameError for a name that is neither empty nor that of a method
    template <std::convertible_to<std::string_view> Name>
    explicit(false) ExchangeChoice(const Name& name) : method_(find(name)) {}

    /// Null if none was chosen.
    const ExchangeInfo* method() const { return method_; }
    bool empty() const { return method_ == nullptr; }
    /// Empty if none was chosen.
    std::string_view name() const;

   private:
    static const ExchangeInfo* find(std::string_view name);

    const ExchangeInfo* method_ = nullptr;
};

}  // namespace ranvier::comm
