#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/state/restored_sources.hpp"
#include "engine/state/state_tables.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/engine/simulation.hpp"

namespace ranvier::engine {

/// Loads a saved state of the same network into a new simulation on any number of processes. After an exception, the
/// simulation cannot be used any more.
class StateLoader {
   public:
    /// @throws StateError if the simulation has already run or changed @note Collective.
    StateLoader(Simulation& simulation, StateTotals totals);

    const std::vector<StateTable>& tables() const { return tables_; }
    /// Loads rows of a table; rows of other processes are skipped. Tables in their order, each in any number of
    /// pieces.
    /// @throws StateError for columns that do not belong to the table
    void load(std::size_t table, std::vector<StateColumns::Column> columns);
    /// The processes of this run that have some neurons.
    /// @throws StateError for an id that does not exist
    std::vector<std::int32_t> ranks_of(std::span<const std::int64_t> ids) const;
    /// The next sources of rows of this process in a table of sources, each once, ascending; nothing at the end. The
    /// next call of load() must contain the state of exactly these, each once.
    std::optional<std::vector<std::int64_t>> next_sources(std::size_t table);
    /// Called after all pieces of "spikes" and before any of "inputs". @note Collective.
    void replay();
    /// Called at the end. @note Collective.
    void finish();

   private:
    Simulation::Implementation& self() const { return simulation_.implementation(); }
    void load_parameters(std::uint32_t population, StateColumns& columns);
    /// Called when all pieces have been loaded.
    void set_parameters();
    void load_neurons(std::uint32_t population, StateColumns& columns);
    void load_stimulus(std::uint32_t index, StateColumns& columns);
    void load_synapses(connect::KindIndex kind, StateColumns& columns);
    void load_sources(connect::KindIndex kind, StateColumns& columns);
    /// Loads the sources returned last by next_sources().
    void load_named(connect::SynapseTable& table, StateColumns& columns);
    void load_targets(connect::KindIndex kind, StateColumns& columns);
    void load_common(connect::KindIndex kind, StateColumns& columns);
    void load_spikes(StateColumns& columns);
    void load_inputs(StateColumns& columns);
    /// Moves to a row of columns, and returns its id.
    /// @throws StateError for an id that does not exist
    NeuronId read_id(StateColumns& columns, std::size_t row) const;

    /// The input of a row of a neuron of this process.
    /// @throws StateError for a site that does not exist
    std::uint32_t read_input(StateColumns& columns, const connect::InputLayout& inputs, NeuronId id,
                             bool has_sites) const;

    Simulation& simulation_;
    std::unique_ptr<RestoredSources> sources_;
    StateTotals totals_;
    std::vector<StateTable> tables_;
    std::vector<std::vector<std::pair<Step, LocalIndex>>> sent_;  ///< by shard
    /// All parameters of the population being loaded, by shard, one value for each neuron.
    std::vector<std::vector<models::GroupValues>> parameters_;
    std::uint32_t parameters_of_ = 0;
    /// Rows of a shard whose sources have been returned.
    struct Named {
        std::size_t shard = 0;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    Named named_;
};

}  // namespace ranvier::engine
