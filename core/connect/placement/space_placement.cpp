#include "connect/placement/space_placement.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

namespace ranvier::connect {

namespace {

struct Box {
    Point lower;
    Point upper;
};

/// The smallest box around a population.
Box box_of(const Space::Part& population) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Box box{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
    for (std::uint64_t i = 0; i < population.size; ++i) {
        const Point position = population.positions->at(i, population.key);
        for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
            box.lower[axis] = std::min(box.lower[axis], position[axis]);
            box.upper[axis] = std::max(box.upper[axis], position[axis]);
        }
    }
    return box;
}

/// First element of a rank among `size`: sizes differ by one at most.
std::uint64_t first_of(std::uint64_t size, std::uint64_t ranks, std::uint64_t rank) {
    return rank * (size / ranks) + std::min(rank, size % ranks);
}

}  // namespace

std::uint64_t hilbert_index(std::array<std::uint32_t, most_dimensions> cell, unsigned dimensions) {
    // Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004): undo the reflections and
    // exchanges of axes from the coarsest level to the finest; the Gray code of what remains is the index, whose digits
    // are spread over the axes.
    const unsigned bits = hilbert_bits(dimensions);
    for (unsigned level = bits - 1; level > 0; --level) {
        const std::uint32_t finer = (std::uint32_t{1} << level) - 1;
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            if ((cell[axis] >> level & 1) != 0) {
                cell[0] ^= finer;
            } else {
                const std::uint32_t exchanged = (cell[0] ^ cell[axis]) & finer;
                cell[0] ^= exchanged;
                cell[axis] ^= exchanged;
            }
        }
    }
    for (std::size_t axis = 1; axis < dimensions; ++axis) cell[axis] ^= cell[axis - 1];
    std::uint32_t flips = 0;
    for (unsigned level = bits - 1; level > 0; --level) {
        if ((cell[dimensions - 1] >> level & 1) != 0) flips ^= (std::uint32_t{1} << level) - 1;
    }
    std::uint64_t index = 0;
    for (unsigned level = bits; level-- > 0;) {
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            index = index << 1 | ((cell[axis] ^ flips) >> level & 1);
        }
    }
    return index;
}

SpacePlacement::SpacePlacement(std::shared_ptr<const Space> space, std::int32_t ranks)
    : space_(std::move(space)), ranks_(ranks), parts_(space_->parts().size()) {
    // One curve for all populations of the same dimensions and unit.
    std::map<std::pair<unsigned, LengthUnit>, Box> boxes;
    for (const Space::Part& population : space_->parts()) {
        if (population.positions == nullptr || population.size == 0) continue;
        const Box box = box_of(population);
        const auto [place, is_new] =
            boxes.try_emplace({population.positions->dimensions, population.positions->unit}, box);
        if (is_new) continue;
        for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
            place->second.lower[axis] = std::min(place->second.lower[axis], box.lower[axis]);
            place->second.upper[axis] = std::max(place->second.upper[axis], box.upper[axis]);
        }
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Space::Part& population = space_->parts()[i];
        if (population.positions == nullptr || population.size == 0) continue;
        const unsigned dimensions = population.positions->dimensions;
        const Box& box = boxes.at({dimensions, population.positions->unit});
        // Cells are squares or cubes, so that the curve is as local along each axis.
        double longest = 0.0;
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            longest = std::max(longest, box.upper[axis] - box.lower[axis]);
        }
        parts_[i].lower = box.lower;
        if (longest > 0.0) parts_[i].cells_per_length.fill(std::ldexp(1.0, hilbert_bits(dimensions)) / longest);
        find_cuts(population, parts_[i]);
    }
}

SpacePlacement::Key SpacePlacement::key_of(const Space::Part& population, const Part& part, NeuronId id) const {
    const Positions& positions = *population.positions;
    const Point position = positions.at(id.value - population.first.value, population.key);
    const double last = std::ldexp(1.0, hilbert_bits(positions.dimensions)) - 1.0;
    std::array<std::uint32_t, most_dimensions> cell{};
    for (std::size_t axis = 0; axis < positions.dimensions; ++axis) {
        const double place = (position[axis] - part.lower[axis]) * part.cells_per_length[axis];
        cell[axis] = static_cast<std::uint32_t>(std::clamp(place, 0.0, last));
    }
    return {hilbert_index(cell, positions.dimensions), id.value};
}

void SpacePlacement::find_cuts(const Space::Part& population, Part& part) const {
    // The cuts are the keys at certain places of the sorted order. Counts in stretches of the curve tell in which
    // stretch each of them is; only the keys of these stretches are kept and sorted.
    constexpr unsigned digits = 16;
    const unsigned shift = population.positions->dimensions * hilbert_bits(population.positions->dimensions) - digits;
    const auto stretch_of = [&](const Key& key) { return static_cast<std::size_t>(key.first >> shift); };
    std::vector<std::uint64_t> before(std::size_t{1} << digits, 0);
    for (std::uint64_t i = 0; i < population.size; ++i) {
        ++before[stretch_of(key_of(population, part, NeuronId{population.first.value + i}))];
    }
    std::uint64_t sum = 0;
    for (std::uint64_t& count : before) {
        const std::uint64_t of_stretch = count;
        count = sum;
        sum += of_stretch;
    }
    const auto ranks = static_cast<std::uint64_t>(ranks_);
    const auto cut_of = [&](std::uint64_t rank) { return first_of(population.size, ranks, rank); };
    std::map<std::size_t, std::vector<Key>> kept;
    for (std::uint64_t rank = 1; rank < ranks; ++rank) {
        const std::uint64_t cut = cut_of(rank);
        if (cut == population.size) break;
        const auto after = std::ranges::upper_bound(before, cut);
        kept[static_cast<std::size_t>(after - before.begin() - 1)];
    }
    for (std::uint64_t i = 0; i < population.size && !kept.empty(); ++i) {
        const Key key = key_of(population, part, NeuronId{population.first.value + i});
        const auto found = kept.find(stretch_of(key));
        if (found != kept.end()) found->second.push_back(key);
    }
    for (auto& [stretch, keys] : kept) std::ranges::sort(keys);
    part.first.reserve(ranks - 1);
    for (std::uint64_t rank = 1; rank < ranks; ++rank) {
        const std::uint64_t cut = cut_of(rank);
        if (cut == population.size) {
            // The last ranks have none.
            part.first.push_back({std::numeric_limits<std::uint64_t>::max(), 0});
            continue;
        }
        const auto stretch = static_cast<std::size_t>(std::ranges::upper_bound(before, cut) - before.begin() - 1);
        part.first.push_back(kept.at(stretch)[cut - before[stretch]]);
    }
}

Rank SpacePlacement::rank_within(const Space::Part& population, const Part& part, NeuronId id) const {
    if (population.positions == nullptr) {
        return Rank{static_cast<std::int32_t>(id.value % static_cast<std::uint64_t>(ranks_))};
    }
    const auto after = std::ranges::upper_bound(part.first, key_of(population, part, id));
    return Rank{static_cast<std::int32_t>(after - part.first.begin())};
}

Rank SpacePlacement::rank_of(NeuronId id) const {
    const Space::Part& population = space_->part_of(id);
    return rank_within(population, parts_[static_cast<std::size_t>(&population - space_->parts().data())], id);
}

std::vector<std::uint64_t> SpacePlacement::ids(Rank rank) const {
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Space::Part& population = space_->parts()[i];
        for (std::uint64_t k = 0; k < population.size; ++k) {
            const NeuronId id{population.first.value + k};
            if (rank_within(population, parts_[i], id) == rank) ids.push_back(id.value);
        }
    }
    return ids;
}

std::uint64_t SpacePlacement::bytes() const {
    std::uint64_t bytes = parts_.capacity() * sizeof(Part);
    for (const Part& part : parts_) bytes += part.first.capacity() * sizeof(Key);
    return bytes;
}

}  // namespace ranvier::connect
