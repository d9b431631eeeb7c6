#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/state/restored_sources.hpp"
#include "engine/state/state_tables.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/engine/simulation.hpp"

namespace ranvier::engine {

/// Returns the state of a simulation, which must not run meanwhile, table by table in pieces.
class StateSaver {
   public:
    /// @throws StateError for a dry run @note Collective.
    explicit StateSaver(Simulation& simulation);
    ~StateSaver();
    StateSaver(const StateSaver&) = delete;
    StateSaver& operator=(const StateSaver&) = delete;

    const StateTotals& totals() const { return totals_; }
    const std::vector<StateTable>& tables() const { return tables_; }
    /// The next rows of a table of this process; nothing at the end. Tables in any order.
    std::optional<std::vector<StateColumns::Column>> next(std::size_t table);

   private:
    /// The position in a table.
    struct Place {
        std::size_t shard = 0;
        std::uint64_t next = 0;
        std::vector<std::uint32_t> counts = {};  ///< of synapses, by target on the shard
    };

    Simulation::Implementation& self() const { return simulation_.implementation(); }
    /// Each adds rows of one shard, and returns whether it has more.
    /// @pre there is another shard
    bool save(const StateTable& table, Place& place, StateColumns& columns) const;
    bool save_neurons(const StateTable& table, Place& place, StateColumns& columns) const;
    bool save_stimulus(const StateTable& table, Place& place, StateColumns& columns) const;
    bool save_synapses(const StateTable& table, Place& place, StateColumns& columns) const;
    bool save_sources(const StateTable& table, Place& place, StateColumns& columns) const;
    bool save_targets(const StateTable& table, Place& place, StateColumns& columns) const;
    bool save_spikes(Place& place, StateColumns& columns) const;
    bool save_inputs(Place& place, StateColumns& columns) const;

    Simulation& simulation_;
    std::unique_ptr<RestoredSources> sources_;
    StateTotals totals_;
    std::vector<StateTable> tables_;
    std::vector<Place> places_;
};

/// Approximate number of list elements in memory at a time when the state of this number of synapses is saved or
/// loaded.
std::uint64_t state_elements_at_once(std::uint64_t synapses);

}  // namespace ranvier::engine
