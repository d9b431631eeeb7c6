#include <array>
#include <cstddef>

#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace pas_parts {

enum Parameter : std::size_t { g, e };

constexpr std::array parameters{
    models::ParameterInfo{"g", "S/cm^2", 0.001, density_bounds, "Conductance"},
    models::ParameterInfo{"e", "mV", -70.0, reversal_bounds, "Reversal potential"},
};
constexpr std::array currents{CurrentInfo{"i", g, e}};

}  // namespace pas_parts
}  // namespace

constinit const MechanismModel pas{
    .name = "pas",
    .summary = "Passive leak of the membrane",
    .equations = "i = g (V - e)",
    .reference = "W. Rall, Experimental Neurology 1, 491-527 (1959)",
    .parameters = pas_parts::parameters,
    .gates = {},
    .currents = pas_parts::currents,
};

}  // namespace ranvier::cable
