#include <array>
#include <cstddef>

#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace calcium_pool_parts {

constexpr Bounds share_bounds{.lower = 0.0, .upper = 1.0, .lower_open = true};
constexpr Bounds depth_bounds{.lower = 1e-6, .upper = 1e6};
constexpr Bounds inside_bounds{.lower = 1e-8, .upper = 100.0};
constexpr Bounds outside_bounds{.lower = 1e-6, .upper = 1000.0};

enum Parameter : std::size_t { gamma, depth, decay, Ca_rest, Ca_out };

constexpr std::array parameters{
    models::ParameterInfo{"gamma", "", 0.05, share_bounds, "Share of the calcium that comes in that is not buffered"},
    models::ParameterInfo{"depth", "um", 0.1, depth_bounds, "Depth of the shell below the membrane"},
    models::ParameterInfo{"decay", "ms", 80.0, time_bounds, "Time constant of the return to rest"},
    models::ParameterInfo{"Ca_rest", "mM", 0.0001, inside_bounds, "Concentration at rest, with which it begins"},
    models::ParameterInfo{"Ca_out", "mM", 2.0, outside_bounds, "Concentration outside of the cell"},
};
constexpr PoolInfo pool{.share = gamma, .depth = depth, .decay = decay, .rest = Ca_rest, .outside = Ca_out};

}  // namespace calcium_pool_parts
}  // namespace

constinit const MechanismModel calcium_pool{
    .name = "calcium_pool",
    .summary = "Calcium in a shell below the membrane, which calcium currents fill",
    .equations = R"(dCa/dt = -gamma i_Ca / (2 F depth) - (Ca - Ca_rest) / decay
i_Ca: sum of the calcium currents at the same place
eca = R T / (2 F) ln(Ca_out / Ca), for these currents
F = 96485.33212 C/mol, R = 8.314462618 J/(mol K), T = celsius + 273.15 K)",
    .reference =
        "A. Destexhe, Z. F. Mainen and T. J. Sejnowski, Journal of Computational Neuroscience 1, 195-230 (1994); with "
        "the values of E. Hay et al., PLoS Computational Biology 7, e1002107 (2011)",
    .parameters = calcium_pool_parts::parameters,
    .gates = {},
    .currents = {},
    .pool = &calcium_pool_parts::pool,
};

}  // namespace ranvier::cable
