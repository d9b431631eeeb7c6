#include "ranvier/cable/mechanisms/registry.hpp"

#include <span>
#include <string_view>

#include "base/registry.hpp"

namespace ranvier::cable {

namespace {

constexpr Registry<MechanismModel> known_mechanisms("mechanism", all_mechanisms);
constexpr Registry<ReceptorModel> known_receptors("receptor", all_receptors);

}  // namespace

std::span<const MechanismModel* const> mechanisms() { return known_mechanisms.items(); }

const MechanismModel& find_mechanism(std::string_view name) { return known_mechanisms.find(name); }

std::span<const ReceptorModel* const> receptors() { return known_receptors.items(); }

const ReceptorModel& find_receptor(std::string_view name) { return known_receptors.find(name); }

}  // namespace ranvier::cable
