#pragma once

#include <string>

#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

/// @param device its name @param bound what it does not have
[[noreturn]] inline void refuse_for_device(const std::string& device, const std::string& bound) {
    throw StateError(
        {.object = "device", .value = "'" + device + "'", .bound = bound, .remedy = "run on processors: device='cpu'"});
}

}  // namespace ranvier::engine
