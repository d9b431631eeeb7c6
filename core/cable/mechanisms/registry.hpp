#pragma once

#include <limits>

#include "cable/mechanism.hpp"
#include "cable/receptor.hpp"
#include "models/model_info.hpp"

/// Every mechanism and receptor, defined in the file of its name. A new one gets a line here and one in registry.cpp.
namespace ranvier::cable {

/// mV
inline constexpr models::Bounds reversal_bounds{.lower = -1000.0, .upper = 1000.0};
/// S/cm^2: far above those of any membrane, and what sums and products stay finite with.
inline constexpr models::Bounds density_bounds{.lower = 0.0, .upper = 1e6};
/// ms
inline constexpr models::Bounds time_bounds{.lower = 1e-6, .upper = 1e9};

/// Of currents that carry calcium: NaN, not given, where a pool gives it.
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

}  // namespace ranvier::cable
