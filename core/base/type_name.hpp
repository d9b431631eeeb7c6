#pragma once

#include <string_view>

namespace ranvier {

/// The name of a type as the compiler writes it: C++ that means the same type wherever this is declared.
template <class T>
constexpr std::string_view type_name() {
    // "... [with T = float; ...]" of GCC, "... [T = float]" of Clang.
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("T = ") + 4);
    return text.substr(0, text.find_first_of(";]"));
}
static_assert(type_name<float>() == "float");

}  // namespace ranvier
