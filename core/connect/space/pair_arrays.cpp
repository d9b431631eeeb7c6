#include "connect/space/pair_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace ranvier::connect {

namespace {

/// Ids of one population whose coordinates are found together.
constexpr std::size_t batch = 256;

using Axes = std::array<double*, most_dimensions>;

/// As PairPositions::shortest().
struct Displace {
    RANVIER_ALWAYS_INLINE static void run(const double* __restrict source, const double* __restrict target,
                                          std::size_t count, double period, double* __restrict out) {
        if (period == 0.0) {
            for (std::size_t i = 0; i < count; ++i) out[i] = target[i] - source[i];
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const double difference = target[i] - source[i];
            out[i] = difference - period * __builtin_nearbyint(difference / period);
        }
    }
};

/// As PairPositions::length().
struct Length {
    RANVIER_ALWAYS_INLINE static void run(const double* __restrict x, const double* __restrict y,
                                          const double* __restrict z, std::size_t count, double* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) out[i] = __builtin_sqrt(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
    }
};

/// As draw_position() in a box: an axis has two words of a block.
struct PlaceInBox {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* __restrict words, std::size_t first, std::size_t count,
                                          double lower, double extent, double* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t word = words[4 * i + first] | std::uint64_t{words[4 * i + first + 1]} << 32;
            out[i] = lower + extent * to_open_unit(word);
        }
    }
};

struct PlaceOnGrid {
    /// Divides indices below 2^32 by the number of neurons along an axis: the quotient of two such numbers is rounded by
    /// less than its distance to the next whole number.
    RANVIER_ALWAYS_INLINE static void run(double* __restrict indices, std::size_t count, double shape, double first,
                                          double spacing, double* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) {
            const double quotient = static_cast<double>(static_cast<std::int64_t>(indices[i] / shape));
            const double rest = indices[i] - quotient * shape;
            indices[i] = quotient;
            out[i] = first + spacing * rest;
        }
    }
};

struct GatherPlaces {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* __restrict places, std::size_t count,
                                          const double* __restrict coordinates, double* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) out[i] = coordinates[places[i]];
    }
};

void place_random(InstructionSet set, const Positions::Random& random, RandomKey key, unsigned dimensions,
                  std::span<const std::uint64_t> indices, const Axes& out) {
    std::uint32_t words[4 * batch];
    std::array<std::uint32_t, batch> blocks{};
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        if (axis % 2 == 0) {
            blocks.fill(static_cast<std::uint32_t>(axis / 2));
            fill_blocks(set, key, 0, indices, std::span<const std::uint32_t>(blocks).first(indices.size()), words);
        }
        const std::uint32_t* const drawn = words;
        Dispatched<PlaceInBox>::call(set, drawn, 2 * (axis % 2), indices.size(), random.lower[axis],
                                     random.extent[axis], out[axis]);
    }
}

void place_on_grid(InstructionSet set, const Positions::Grid& grid, unsigned dimensions,
                   std::span<const std::uint64_t> indices, const Axes& out) {
    std::array<double, batch> left{};
    for (std::size_t i = 0; i < indices.size(); ++i) left[i] = static_cast<double>(indices[i]);
    for (std::size_t axis = dimensions; axis-- > 0;) {
        double* const numbers = left.data();
        Dispatched<PlaceOnGrid>::call(set, numbers, indices.size(), static_cast<double>(grid.shape[axis]),
                                      grid.first[axis], grid.spacing[axis], out[axis]);
    }
}

/// The coordinates of at most `batch` neurons of a population.
void copy_of_part(InstructionSet set, const Space::Part& part, std::span<const std::uint64_t> indices,
                  unsigned dimensions, const Axes& out) {
    const Positions& positions = *part.positions;
    if (const auto* const array = std::get_if<Positions::Array>(&positions.form)) {
        const double* const coordinates = array->coordinates.data();
        for (std::size_t i = 0; i < indices.size(); ++i) {
            for (std::size_t axis = 0; axis < dimensions; ++axis) {
                out[axis][i] = coordinates[indices[i] * dimensions + axis];
            }
        }
        return;
    }
    const auto* const random = std::get_if<Positions::Random>(&positions.form);
    if (random != nullptr && random->shape == Positions::Random::Shape::box) {
        return place_random(set, *random, part.key, dimensions, indices, out);
    }
    const auto* const grid = std::get_if<Positions::Grid>(&positions.form);
    if (grid != nullptr && part.size <= std::uint64_t{1} << 32) {
        return place_on_grid(set, *grid, dimensions, indices, out);
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const Point point = positions.at(indices[i], part.key);
        for (std::size_t axis = 0; axis < dimensions; ++axis) out[axis][i] = point[axis];
    }
}

}  // namespace

void copy_coordinates(InstructionSet set, const Space& space, std::span<const std::uint64_t> ids, unsigned dimensions,
                      const Axes& out) {
    std::array<std::uint64_t, batch> indices;
    std::array<std::size_t, batch> places;
    std::array<std::array<double, batch>, most_dimensions> found;
    for (std::size_t begin = 0; begin < ids.size(); begin += batch) {
        const std::span<const std::uint64_t> some = ids.subspan(begin, std::min(batch, ids.size() - begin));
        std::array<bool, batch> done{};
        // Mostly all are of one population.
        for (std::size_t next = 0; next < some.size(); ++next) {
            if (done[next]) continue;
            const Space::Part& part = space.part_of(NeuronId{some[next]});
            std::size_t count = 0;
            for (std::size_t i = next; i < some.size(); ++i) {
                const std::uint64_t index = some[i] - part.first.value;
                if (some[i] < part.first.value || index >= part.size) continue;
                done[i] = true;
                places[count] = i;
                indices[count++] = index;
            }
            copy_of_part(set, part, std::span<const std::uint64_t>(indices).first(count), dimensions,
                         {found[0].data(), found[1].data(), found[2].data()});
            for (std::size_t axis = 0; axis < dimensions; ++axis) {
                for (std::size_t k = 0; k < count; ++k) out[axis][begin + places[k]] = found[axis][k];
            }
        }
    }
}

void PairArrays::compute(InstructionSet set, const PairNeurons& neurons, const Needed& needed,
                         std::span<const std::uint64_t> sources, std::span<const std::uint64_t> targets,
                         const PlacedPairs* placed) {
    const std::size_t count = sources.size();
    const auto first_of = [](PairQuantity quantity) { return static_cast<std::size_t>(quantity); };
    const auto any = [&](PairQuantity first) {
        return std::any_of(needed.begin() + static_cast<std::ptrdiff_t>(first_of(first)),
                           needed.begin() + static_cast<std::ptrdiff_t>(first_of(first) + most_dimensions),
                           [](bool each) { return each; });
    };
    present_ = needed;
    const bool has_displacement = needed[first_of(PairQuantity::distance)] || any(PairQuantity::displacement_x);
    const bool is_spatial = has_displacement || any(PairQuantity::source_x) || any(PairQuantity::target_x);
    if (is_spatial) {
        const PairPositions& positions = *neurons.positions;
        const auto place = [&](PairQuantity first, std::uint64_t first_id, std::span<const std::uint64_t> indices) {
            ids_.resize(count);
            for (std::size_t i = 0; i < count; ++i) ids_[i] = first_id + indices[i];
            Axes axes{};
            for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
                std::vector<double>& coordinates = arrays_[first_of(first) + axis];
                coordinates.assign(count, 0.0);
                axes[axis] = coordinates.data();
            }
            copy_coordinates(set, *positions.space, ids_, positions.dimensions, axes);
        };
        if (placed == nullptr) {
            place(PairQuantity::source_x, neurons.first_source.value, sources);
            place(PairQuantity::target_x, neurons.first_target.value, targets);
        } else {
            copy_placed(set, neurons, *placed);
        }
        for (std::size_t axis = 0; has_displacement && axis < most_dimensions; ++axis) {
            const double* const from = arrays_[first_of(PairQuantity::source_x) + axis].data();
            const double* const to = arrays_[first_of(PairQuantity::target_x) + axis].data();
            std::vector<double>& displacement = arrays_[first_of(PairQuantity::displacement_x) + axis];
            displacement.resize(count);
            Dispatched<Displace>::call(set, from, to, count, positions.period[axis], displacement.data());
        }
        if (needed[first_of(PairQuantity::distance)]) {
            std::vector<double>& distance = array(PairQuantity::distance);
            distance.resize(count);
            const double* const x = array(PairQuantity::displacement_x).data();
            const double* const y = array(PairQuantity::displacement_y).data();
            const double* const z = array(PairQuantity::displacement_z).data();
            Dispatched<Length>::call(set, x, y, z, count, distance.data());
        }
    }
    const auto number = [&](PairQuantity quantity, const IdSequence& all, std::uint64_t first_id,
                            std::span<const std::uint64_t> indices) {
        if (!needed[first_of(quantity)]) return;
        std::vector<double>& numbers = array(quantity);
        numbers.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            numbers[i] = static_cast<double>(all.count_below(NeuronId{first_id + indices[i]}));
        }
    };
    number(PairQuantity::source_index, neurons.sources, neurons.first_source.value, sources);
    number(PairQuantity::target_index, neurons.targets, neurons.first_target.value, targets);
}

void PairArrays::copy_placed(InstructionSet set, const PairNeurons& neurons, const PlacedPairs& placed) {
    const PairPositions& positions = *neurons.positions;
    const std::size_t count = placed.places.size();
    const bool of_sources = placed.partners_are_sources;
    const auto first_partner = static_cast<std::size_t>(of_sources ? PairQuantity::source_x : PairQuantity::target_x);
    const auto first_major = static_cast<std::size_t>(of_sources ? PairQuantity::target_x : PairQuantity::source_x);
    const std::uint64_t first_id = (of_sources ? neurons.first_target : neurons.first_source).value;
    ids_.resize(placed.degrees.size());
    for (std::size_t i = 0; i < ids_.size(); ++i) ids_[i] = first_id + placed.begin + i * placed.stride;
    Axes axes{};
    for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
        of_majors_[axis].resize(ids_.size());
        axes[axis] = of_majors_[axis].data();
        for (const std::size_t first : {first_partner, first_major}) arrays_[first + axis].resize(count);
    }
    copy_coordinates(set, *positions.space, ids_, positions.dimensions, axes);
    for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
        double* const partners = arrays_[first_partner + axis].data();
        double* majors = arrays_[first_major + axis].data();
        if (axis >= positions.dimensions) {
            std::fill_n(partners, count, 0.0);
            std::fill_n(majors, count, 0.0);
            continue;
        }
        Dispatched<GatherPlaces>::call(set, placed.places.data(), count, placed.index->coordinates(axis).data(),
                                       partners);
        for (std::size_t i = 0; i < ids_.size(); ++i) majors = std::fill_n(majors, placed.degrees[i], axes[axis][i]);
    }
}

PairFunction::Quantities PairArrays::quantities(std::size_t begin) const {
    PairFunction::Quantities quantities{};
    for (std::size_t q = 0; q < quantities.size(); ++q) {
        if (present_[q]) quantities[q] = arrays_[q].data() + begin;
    }
    return quantities;
}

}  // namespace ranvier::connect
