#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/base/shared_array.hpp"

/// Positions of neurons.
namespace ranvier::connect {

inline constexpr std::size_t most_dimensions = 3;

/// Coordinates x, y, z. In two dimensions z is 0.
using Point = std::array<double, most_dimensions>;

/// The unit in which the coordinates of a population are given, and kept.
enum class LengthUnit : std::uint8_t { millimetre, micrometre };

/// "mm" or "um".
std::string_view to_string(LengthUnit unit);

/// The positions of the neurons of one population, by their index. Immutable.
///
/// Grids and random positions are functions of the index, so that no process holds the positions of all neurons.
struct Positions {
    /// One row of `dimensions` coordinates for each neuron.
    struct Array {
        SharedArray coordinates;
    };
    /// The index along the last axis varies fastest.
    struct Grid {
        std::array<std::uint64_t, most_dimensions> shape{1, 1, 1};
        Point first{};  ///< of index 0
        Point spacing{};
    };
    /// Uniform within a shape that fills a box; drawn from a key of the network and the population.
    struct Random {
        enum class Shape : std::uint8_t {
            box,
            ellipsoid,  ///< its interior; an ellipse in two dimensions
            cylinder,   ///< its interior; the axis is z, three dimensions only
            surface,    ///< of a ball; a circle in two dimensions. All sides of the box are equal
        };
        Shape shape = Shape::box;
        Point lower{};   ///< of the box
        Point extent{};  ///< of the box
        /// Between any two neurons; 0: they are independent. Positions with such a distance depend on each other, and
        /// `located` makes an array of them.
        double min_distance = 0.0;
    };

    unsigned dimensions = 2;
    LengthUnit unit = LengthUnit::millimetre;
    std::variant<Array, Grid, Random> form = {};
    /// By axis: the length after which space repeats itself; 0 on an axis that is not periodic.
    Point period{};
    /// Of periodic axes: the lower end of the box that repeats.
    Point origin{};

    /// The position of the neuron with this index. @param key of random positions
    /// @pre there is no least distance
    Point at(std::uint64_t index, RandomKey key) const;

    /// @param size number of neurons of the population
    /// @param population its name, for errors
    /// @throws ShapeError for a number of positions other than the size, ValueOutOfBoundsError for coordinates, extents,
    ///         distances and periods that are not finite, extents <= 0, and positions outside of a periodic box
    void check(std::uint64_t size, const std::string& population) const;

    bool is_periodic() const { return period != Point{}; }
    /// Bytes of an array.
    std::uint64_t bytes() const;
};

/// Positions that can be evaluated one by one: those given, unless they have a least distance. Then these are drawn.
/// @pre checked
/// @param poll called now and then if this takes long; what it throws ends it
/// @throws ValueOutOfBoundsError, for this population, if there is no space for so many neurons
std::shared_ptr<const Positions> located(const std::shared_ptr<const Positions>& positions, std::uint64_t size,
                                         RandomKey key, const std::string& population,
                                         const std::function<void()>& poll = {});

/// The positions of the neurons of a network, by id.
class Space {
   public:
    struct Part {
        NeuronId first;
        std::uint64_t size = 0;
        std::shared_ptr<const Positions> positions;  ///< located; null: the population has none
        RandomKey key = {};
    };

    /// @param parts populations, ascending by id
    explicit Space(std::vector<Part> parts);

    /// The population of a neuron. @pre it exists
    const Part& part_of(NeuronId id) const;
    /// @pre the neuron has a position
    Point at(NeuronId id) const {
        const Part& part = part_of(id);
        return part.positions->at(id.value - part.first.value, part.key);
    }
    std::span<const Part> parts() const { return parts_; }

    /// Indexes of neurons by their positions, which rules share (connect/space/partner_index.hpp).
    struct Indexes;
    Indexes& indexes() const { return *indexes_; }
    /// Frees the index that was needed last, unless a rule holds it.
    void forget_index() const;

   private:
    std::vector<Part> parts_;
    std::shared_ptr<Indexes> indexes_;
};

/// The positions of the sources and the targets of a rule, by the indices that the rule uses (see PairSpace).
struct PairPositions {
    std::shared_ptr<const Space> space;
    IdSequence sources;
    IdSequence targets;
    unsigned dimensions = 2;
    LengthUnit unit = LengthUnit::millimetre;
    Point period{};  ///< see Positions

    Point source(std::uint64_t index) const { return space->at(sources[index]); }
    Point target(std::uint64_t index) const { return space->at(targets[index]); }
    /// Target minus source; on periodic axes the shortest of all images.
    Point displacement(const Point& source, const Point& target) const {
        Point difference{};
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            difference[axis] = shortest(target[axis] - source[axis], period[axis]);
        }
        return difference;
    }
    static double shortest(double difference, double period);
    /// Euclidean length.
    static double length(const Point& displacement);
};

/// The positions of a pair of selections of neurons. Null unless all of them have positions.
/// @param object "projection 'E to I'", for errors
/// @throws ValueOutOfBoundsError if dimensions, units or periods differ among them
std::shared_ptr<const PairPositions> pair_positions(std::shared_ptr<const Space> space, const IdSequence& sources,
                                                    const IdSequence& targets, const std::string& object);

}  // namespace ranvier::connect
