#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "connect/tables/table_kind.hpp"
#include "ranvier/network/network.hpp"

/// The state of a simulation between two steps, as tables of named columns. The rows of a table belong to objects
/// with a global id; any process can save them, and the processes that have the object load them.
namespace ranvier::engine {

enum class StateTableKind : std::uint8_t {
    parameters,  ///< of neurons, those set by the user
    neurons,     ///< state
    stimuli,     ///< state of random stimuli, by target
    synapses,    ///< lists by target
    sources,     ///< state of synapses by source; an id may occur several times
    targets,     ///< state of synapses by target
    common,      ///< state that all synapses of a kind share; several rows
    spikes,      ///< that static synapses may have in transit
    inputs       ///< contributions of other synapses in transit: sums by neuron, receptor and step
};

struct StateTable {
    StateTableKind kind{};
    std::uint32_t number = 0;  ///< population, stimulus, or kind of synapses
    std::string name = {};
};

/// All tables of a network, in the order in which they must be loaded.
inline std::vector<StateTable> state_tables(std::size_t populations, std::size_t stimuli, std::size_t kinds) {
    std::vector<StateTable> tables;
    const auto add = [&](StateTableKind kind, std::size_t number, std::string name) {
        tables.push_back({kind, static_cast<std::uint32_t>(number), std::move(name)});
    };
    for (std::size_t i = 0; i < populations; ++i) {
        add(StateTableKind::parameters, i, "population" + std::to_string(i) + ".parameters");
        add(StateTableKind::neurons, i, "population" + std::to_string(i) + ".state");
    }
    for (std::size_t i = 0; i < stimuli; ++i) {
        add(StateTableKind::stimuli, i, "stimulus" + std::to_string(i) + ".state");
    }
    for (std::size_t i = 0; i < kinds; ++i) {
        const std::string kind = "synapses" + std::to_string(i);
        add(StateTableKind::synapses, i, kind + ".synapses");
        add(StateTableKind::sources, i, kind + ".sources");
        add(StateTableKind::targets, i, kind + ".targets");
        add(StateTableKind::common, i, kind + ".common");
    }
    add(StateTableKind::spikes, 0, "spikes");
    add(StateTableKind::inputs, 0, "inputs");
    return tables;
}

/// Values that are the same on all processes.
struct StateTotals {
    Step step = 0;
    Step counted_from = 0;
    std::uint64_t synaptic_events = 0;
    std::vector<std::uint64_t> population_spikes;
    /// Ranges of all weights so far, by receptor: least, greatest, quantum, most inputs.
    std::vector<std::vector<double>> weight_ranges;
    std::vector<std::vector<std::string>> parameters_set;  ///< by population
    std::vector<bool> weights_set;                         ///< by kind
    /// By population, if the user has changed them: the spikes that its units play.
    std::map<std::uint32_t, std::vector<std::vector<Step>>> spikes_set;
};

}  // namespace ranvier::engine
