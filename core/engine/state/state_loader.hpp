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

/// Puts the state that another simulation of the same network has saved into one that has just been built, on any
/// processes. If something is thrown on the way, the simulation is of no use any more.
class StateLoader {
   public:
    /// @throws StateError unless nothing has happened in the simulation yet @note Collective.
    StateLoader(Simulation& simulation, StateTotals totals);

    const std::vector<StateTable>& tables() const { return tables_; }
    /// Rows of a table, of which those are loaded that this process needs. Tables in their order, each in any number of
    /// pieces. @throws StateError for columns that are not those of the table
    void load(std::size_t table, std::vector<StateColumns::Column> columns);
    /// The processes of this run that have some neurons. @throws StateError for an id that does not exist
    std::vector<std::int32_t> ranks_of(std::span<const std::int64_t> ids) const;
    /// The sources of some more of the rows that this process has in a table of sources, each once, ascending; nothing when
    /// all have been named. Then what is loaded next must be the state of these, each once, which goes to these rows.
    std::optional<std::vector<std::int64_t>> next_sources(std::size_t table);
    /// After all pieces of "spikes", before any of "inputs". @note Collective.
    void replay();
    /// After all. @note Collective.
    void finish();

   private:
    Simulation::Implementation& self() const { return *simulation_.implementation_; }
    void load_parameters(std::uint32_t population, StateColumns& columns);
    /// When all pieces have been loaded.
    void set_parameters();
    void load_neurons(std::uint32_t population, StateColumns& columns);
    void load_stimulus(std::uint32_t index, StateColumns& columns);
    void load_synapses(connect::KindIndex kind, StateColumns& columns);
    void load_sources(connect::KindIndex kind, StateColumns& columns);
    /// Of those that have been named last.
    void load_named(connect::SynapseTable& table, StateColumns& columns);
    void load_targets(connect::KindIndex kind, StateColumns& columns);
    void load_common(connect::KindIndex kind, StateColumns& columns);
    void load_spikes(StateColumns& columns);
    void load_inputs(StateColumns& columns);
    /// Goes to a row of columns, and returns the id of its thing. @throws StateError for an id that does not exist
    NeuronId read_id(StateColumns& columns, std::size_t row) const;

    /// The input of a neuron of this process that a row is about. @throws StateError for a site that does not exist
    std::uint32_t read_input(StateColumns& columns, const connect::InputLayout& inputs, NeuronId id,
                             bool has_sites) const;

    Simulation& simulation_;
    std::unique_ptr<RestoredSources> sources_;
    StateTotals totals_;
    std::vector<StateTable> tables_;
    std::vector<std::vector<std::pair<Step, LocalIndex>>> sent_;  ///< by shard
    /// Of the population whose parameters are being loaded, by shard: all of them, one value for each neuron.
    std::vector<std::vector<models::GroupValues>> parameters_;
    std::uint32_t parameters_of_ = 0;
    /// Rows of a shard whose sources have been named.
    struct Named {
        std::size_t shard = 0;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    Named named_;
};

}  // namespace ranvier::engine
