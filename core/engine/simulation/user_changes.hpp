#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/network/network.hpp"

namespace ranvier::engine {

/// Changes by the user since the network was built, which are saved with the state.
struct UserChanges {
    UserChanges() = default;
    UserChanges(std::size_t populations, std::size_t kinds)
        : parameters(populations), spikes(populations), weights(kinds) {}

    /// Notes that a value of neurons has been set: variables are state, which is saved in any case.
    void note_value(const network::Population& population, std::string_view name) {
        const auto is_it = [&](const auto& info) { return info.name == name; };
        if (std::ranges::any_of(population.model->parameters, is_it) &&
            std::ranges::none_of(population.model->variables, is_it)) {
            parameters[population.id.value].emplace(name);
        }
    }

    std::vector<std::set<std::string, std::less<>>> parameters;  ///< names of changed ones, by population
    std::vector<bool> spikes;                                    ///< whether played spikes changed, by population
    /// whether weights or parameters of synapses changed, by kind
    std::vector<bool> weights;
};

}  // namespace ranvier::engine
