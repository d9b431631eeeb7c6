#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "ranvier/cable/cell/spec.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

/// Cells for tests, whose shapes are drawn.
namespace ranvier::cable {

// From S/cm^2 and um^2 to nS, from uF/cm^2 and um^2 to pF, from 1/(ohm cm 1/um) to nS.
inline constexpr double nanosiemens = 10.0;
inline constexpr double picofarads = 0.01;
inline constexpr double axial_nanosiemens = 1e5;

/// A tree of sections, some of which begin between the ends of their parents.
inline Compartments random_cell(std::mt19937& random, std::uint32_t sections) {
    const auto uniform = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const auto below = [&](std::uint32_t n) { return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random); };
    constexpr std::array positions{0.0, 0.3, 1.0, 1.0, 1.0};
    std::vector<Section> all(sections);
    std::vector<std::uint32_t> counts(sections);
    for (std::uint32_t i = 0; i < sections; ++i) {
        all[i].parent = i == 0 ? -1 : static_cast<std::int32_t>(below(i));
        all[i].parent_position = positions.at(below(positions.size()));
        all[i].tag = i == 0 ? 1 : 3;
        all[i].distances = {0.0, uniform(5.0, 100.0)};
        all[i].radii = {uniform(0.2, 3.0), uniform(0.2, 3.0)};
        counts[i] = 1 + below(5);
    }
    return {Morphology(std::move(all)), counts};
}

inline PaintedMechanism painted(std::string_view name, std::vector<double> covered) {
    PaintedMechanism made{.mechanism = &find_mechanism(name), .covered = std::move(covered), .parameters = {}};
    for (const models::ParameterInfo& parameter : made.mechanism->parameters) {
        made.parameters.push_back({parameter.default_value});
    }
    return made;
}

inline Place middle_of(const Compartment& own) { return {own.section, 0.5 * (own.begin + own.end)}; }

}  // namespace ranvier::cable
