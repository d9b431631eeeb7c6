#pragma once

#include <cstdint>
#include <vector>

#include "ranvier/engine/simulation.hpp"

namespace ranvier::engine {

/// Restores the freed sources of rows in the tables of a simulation during its lifetime, from the presynaptic
/// tables of other processes. Does nothing if sources were kept.
class RestoredSources {
   public:
    /// Uses buffers of bounded size in addition to the sources. @note Collective.
    explicit RestoredSources(Simulation::Implementation& simulation);
    ~RestoredSources();
    RestoredSources(const RestoredSources&) = delete;
    RestoredSources& operator=(const RestoredSources&) = delete;

   private:
    /// A row in the numbering of the process of its source.
    struct NamedRow {
        std::uint64_t address;
        std::uint64_t source;
    };
    /// The rows reached by some sources of this process, packed by rank.
    struct NamedRows {
        std::vector<NamedRow> rows;
        std::vector<std::uint64_t> counts;
    };
    /// The rows of sources [begin, end), counted through all shards.
    NamedRows name_rows(std::uint64_t begin, std::uint64_t end) const;

    Simulation::Implementation& simulation_;
    bool restored_ = false;
};

}  // namespace ranvier::engine
