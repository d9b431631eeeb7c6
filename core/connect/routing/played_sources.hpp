#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ranvier/base/hash.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::connect {

/// Which neuron here stands for one of another process, in a dry run.
///
/// The other processes are taken to send what this one sends, at the same time. If each sent the spikes of the neuron at the
/// same place, these spikes would arrive here for neighboring rows, since ids are dealt to processes in turn. The rows would
/// then be in the cache, and delivery would look up to twice as fast as in a real run. So another process sends the spikes
/// of another neuron of the same population: as many spikes and destinations, but anywhere.
class PlayedSources {
   public:
    /// @pre places go up with ids, as in those placements for which all ranks are alike
    explicit PlayedSources(const ProcessLayout& layout) : rank_(layout.rank()) {
        for (const PopulationRange& population : layout.populations()) {
            const std::uint64_t first = layout.ids().count_below(population.first);
            parts_.push_back({first, layout.ids().within(population.first, population.size).size()});
        }
    }

    /// The place of the neuron of this process that stands for the neuron at a place of another process.
    std::uint64_t here(Rank there, std::uint64_t place) const {
        if (there == rank_) return place;
        const PopulationPlaces& part = part_of(place);
        return part.first + turned(place - part.first, shift(there, part.size), part.size);
    }
    /// The place of the neuron of another process that the neuron at a place of this process stands for.
    std::uint64_t there(Rank there, std::uint64_t place) const {
        if (there == rank_) return place;
        const PopulationPlaces& part = part_of(place);
        return part.first + turned(place - part.first, part.size - shift(there, part.size), part.size);
    }

   private:
    /// The neurons of a population here.
    struct PopulationPlaces {
        std::uint64_t first;  ///< place
        std::uint64_t size;
    };

    const PopulationPlaces& part_of(std::uint64_t place) const {
        const auto after =
            std::ranges::upper_bound(parts_, place, {}, [](const PopulationPlaces& part) { return part.first; });
        return *(after - 1);
    }
    static std::uint64_t turned(std::uint64_t index, std::uint64_t shift, std::uint64_t size) {
        return index + shift < size ? index + shift : index + shift - size;
    }
    /// Below the number of neurons, if there are any.
    static std::uint64_t shift(Rank there, std::uint64_t neurons) {
        // A part of all by the upper bits, since a division for each spike would take too long.
        return (mix(static_cast<std::uint64_t>(there.value)) >> 32) * neurons >> 32;
    }

    Rank rank_;
    std::vector<PopulationPlaces> parts_;  ///< of all populations, ascending
};

}  // namespace ranvier::connect
