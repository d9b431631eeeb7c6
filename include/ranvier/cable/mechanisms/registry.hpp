#pragma once

#include <array>
#include <limits>

#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/receptor.hpp"
#include "ranvier/models/model_info.hpp"

/// All mechanisms and receptors, each defined in the file of its name. A new one is declared here and added to the
/// list below.
namespace ranvier::cable {

/// mV
inline constexpr Bounds reversal_bounds{.lower = -1000.0, .upper = 1000.0};
/// S/cm^2: far above the density of any membrane, and low enough to keep sums and products finite.
inline constexpr Bounds density_bounds{.lower = 0.0, .upper = 1e6};
/// ms
inline constexpr Bounds time_bounds{.lower = 1e-6, .upper = 1e9};

/// The reversal potential of currents that carry calcium: NaN, not given, where a pool sets it.
inline constexpr models::ParameterInfo calcium_reversal{
    "eca", "mV", std::numeric_limits<double>::quiet_NaN(), reversal_bounds,
    "Reversal potential of calcium, where there is no calcium_pool"};

extern const MechanismModel ca_hva;
extern const MechanismModel ca_lva;
extern const MechanismModel calcium_pool;
extern const MechanismModel h_current;
extern const MechanismModel hh;
extern const MechanismModel k_fast;
extern const MechanismModel k_persistent;
extern const MechanismModel k_transient;
extern const MechanismModel m_current;
extern const MechanismModel na_persistent;
extern const MechanismModel na_transient;
extern const MechanismModel pas;
extern const MechanismModel sk_current;

extern const ReceptorModel exp2syn;
extern const ReceptorModel expsyn;
extern const ReceptorModel nmda;

inline constexpr std::array all_mechanisms{
    &ca_hva,      &ca_lva,    &calcium_pool,  &h_current,    &hh,  &k_fast,     &k_persistent,
    &k_transient, &m_current, &na_persistent, &na_transient, &pas, &sk_current,
};

inline constexpr std::array all_receptors{
    &exp2syn,
    &expsyn,
    &nmda,
};

}  // namespace ranvier::cable
