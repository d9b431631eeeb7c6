#pragma once

#include <cstdint>
#include <vector>

#include "ranvier/engine/simulation.hpp"

namespace ranvier::engine {

/// Gives the tables of a simulation that have freed the sources of their rows these again, as long as it lives: their
/// processes know who they are, from the presynaptic tables. Does nothing where sources are known.
class RestoredSources {
   public:
    /// In buffers of bounded size, beside the sources themselves. @note Collective.
    explicit RestoredSources(Simulation::Implementation& simulation);
    ~RestoredSources();
    RestoredSources(const RestoredSources&) = delete;
    RestoredSources& operator=(const RestoredSources&) = delete;

   private:
    /// What a row is called by the process of its source.
    struct NamedRow {
        std::uint64_t address;
        std::uint64_t source;
    };
    /// The rows that some sources of this process reach, packed by rank.
    struct NamedRows {
        std::vector<NamedRow> rows;
        std::vector<std::uint64_t> counts;
    };
    /// Of the sources from one place on, of all shards one after another.
    NamedRows name_rows(std::uint64_t begin, std::uint64_t end) const;

    Simulation::Implementation& simulation_;
    bool restored_ = false;
};

}  // namespace ranvier::engine
