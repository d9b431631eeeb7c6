#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "program/operations.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::program {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline const std::vector<double> hostile_values{0.0,
                                                -0.0,
                                                1.0,
                                                -1.0,
                                                0.5,
                                                -0.5,
                                                0.3,
                                                -0.3,
                                                1.5,
                                                -1.5,
                                                2.5,
                                                1e-300,
                                                -1e-300,
                                                5e-324,
                                                -5e-324,
                                                2e-308,
                                                1e-17,
                                                -1e-17,
                                                0.35,
                                                -0.35,
                                                700.0,
                                                -700.0,
                                                701.0,
                                                -750.0,
                                                1e308,
                                                -1e308,
                                                0x1p52,
                                                -0x1p52,
                                                0x1p51 + 0.5,
                                                -0x1p51 - 0.5,
                                                0x1p53 + 2.0,
                                                1e16,
                                                12345.75,
                                                infinity,
                                                -infinity,
                                                not_a_number,
                                                0.999999999999999,
                                                1.000000000000001,
                                                -0.999999999999999};

/// Equal bits; numbers that are none are all alike.
inline bool alike(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

inline bool is_lane_of_truth(double lane) { return lane::bits(lane) == 0 || ~lane::bits(lane) == 0; }

inline std::vector<Operation> plain_operations() {
    std::vector<Operation> operations;
    for (std::size_t i = 0; i < operation_count; ++i) {
        const auto operation = static_cast<Operation>(i);
        if (operation != Operation::loop && operation != Operation::constant && !is_draw(operation)) {
            operations.push_back(operation);
        }
    }
    return operations;
}

}  // namespace ranvier::program
