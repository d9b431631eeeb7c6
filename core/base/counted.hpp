#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ranvier {

/// A number and its noun, for messages: "1 neuron", "2 neurons".
inline std::string counted(std::uint64_t number, std::string_view noun) {
    std::string text = std::to_string(number) + " " + std::string(noun);
    if (number != 1) text += noun.ends_with('s') ? "es" : "s";
    return text;
}

/// "there is 1 neuron", "there are 2 neurons".
inline std::string there_are(std::uint64_t number, std::string_view noun) {
    return std::string(number == 1 ? "there is " : "there are ") + counted(number, noun);
}

}  // namespace ranvier
