#include "cable/mechanisms/registry.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "base/errors.hpp"

namespace ranvier::cable {

namespace {

template <class Model>
const Model& find(std::span<const Model* const> all, std::string_view kind, std::string_view name) {
    std::vector<std::string_view> known;
    for (const Model* const model : all) {
        if (model->name == name) return *model;
        known.push_back(model->name);
    }
    throw unknown_name(kind, name, known);
}

}  // namespace

std::span<const MechanismModel* const> mechanisms() {
    static constexpr std::array all{&ca_hva,       &ca_lva,       &calcium_pool, &h_current, &hh,
                                    &k_fast,       &k_persistent, &k_transient,  &m_current, &na_persistent,
                                    &na_transient, &pas,          &sk_current};
    return all;
}

const MechanismModel& find_mechanism(std::string_view name) { return find(mechanisms(), "mechanism", name); }

std::span<const ReceptorModel* const> receptors() {
    static constexpr std::array all{&exp2syn, &expsyn, &nmda};
    return all;
}

const ReceptorModel& find_receptor(std::string_view name) { return find(receptors(), "receptor", name); }

}  // namespace ranvier::cable
