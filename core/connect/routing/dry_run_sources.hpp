#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ranvier/base/hash.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::connect {

/// The local neuron that represents one of another process in a dry run.
///
/// The other processes are assumed to send the spikes of this one at the same time. If each sent the spikes of the
/// neuron at the same place, these would arrive here for neighboring rows, since ids are distributed round-robin. The
/// rows would then be in the cache, and delivery would appear up to twice as fast as in a real run. Therefore another
/// process sends the spikes of another neuron of the same population: with equal numbers of spikes and destinations,
/// but at a different position.
class DryRunSources {
   public:
    /// @pre places ascend with ids, as in placements in which all ranks are alike
    explicit DryRunSources(const ProcessLayout& layout) : rank_(layout.rank()) {
        for (const PopulationRange& population : layout.populations()) {
            const std::uint64_t first = layout.ids().count_below(population.first);
            parts_.push_back({first, layout.ids().within(population.first, population.size).size()});
        }
    }

    /// The place of the local neuron that represents the neuron at a place of another process.
    std::uint64_t here(Rank there, std::uint64_t place) const {
        if (there == rank_) return place;
        const PopulationPlaces& part = part_of(place);
        return part.first + rotated(place - part.first, shift(there, part.size), part.size);
    }
    /// The place of the neuron of another process that is represented by the neuron at a place of this process.
    std::uint64_t there(Rank there, std::uint64_t place) const {
        if (there == rank_) return place;
        const PopulationPlaces& part = part_of(place);
        return part.first + rotated(place - part.first, part.size - shift(there, part.size), part.size);
    }

   private:
    /// The local neurons of a population.
    struct PopulationPlaces {
        std::uint64_t first;  ///< place
        std::uint64_t size;
    };

    const PopulationPlaces& part_of(std::uint64_t place) const {
        const auto after =
            std::ranges::upper_bound(parts_, place, {}, [](const PopulationPlaces& part) { return part.first; });
        return *(after - 1);
    }
    static std::uint64_t rotated(std::uint64_t index, std::uint64_t shift, std::uint64_t size) {
        return index + shift < size ? index + shift : index + shift - size;
    }
    /// Less than the number of neurons, if there are any.
    static std::uint64_t shift(Rank there, std::uint64_t neurons) {
        // Scaled by the upper bits: a division for each spike would be too slow.
        return (mix(static_cast<std::uint64_t>(there.value)) >> 32) * neurons >> 32;
    }

    Rank rank_;
    std::vector<PopulationPlaces> parts_;  ///< of all populations, ascending
};

}  // namespace ranvier::connect
