#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ranvier/base/choice.hpp"

namespace ranvier::comm {

/// How processes notify each other of the progress of their groups of neurons.
enum class Notifications : std::uint8_t {
    /// One message from a process to another, for all groups of both (the communication reduce of
    /// Magalhães et al. 2019).
    packed,
    single,  ///< one message for each pair of groups, for comparison
};

}  // namespace ranvier::comm

namespace ranvier {

template <>
struct ChoiceNames<comm::Notifications> {
    static constexpr std::string_view kind = "notifications";
    static constexpr std::array<std::string_view, 2> names{"packed", "single"};
};

}  // namespace ranvier
