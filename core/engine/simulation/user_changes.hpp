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

/// What the user has changed since the network was built: it is saved with the state.
struct UserChanges {
    UserChanges() = default;
    UserChanges(std::size_t populations, std::size_t kinds)
        : parameters(populations), spikes(populations), weights(kinds) {}

    /// A value of neurons has been set: variables are state, which is saved in any case.
    void note_value(const network::Population& population, std::string_view name) {
        const auto is_it = [&](const auto& info) { return info.name == name; };
        if (std::ranges::any_of(population.model->parameters, is_it) &&
            std::ranges::none_of(population.model->variables, is_it)) {
            parameters[population.id.value].emplace(name);
        }
    }

    std::vector<std::set<std::string, std::less<>>> parameters;  ///< names, by population
    std::vector<bool> spikes;                                    ///< that units play, by population
    std::vector<bool> weights;                                   ///< or parameters of synapses, by kind
};

}  // namespace ranvier::engine
