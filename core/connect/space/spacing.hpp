#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/connect/space/positions.hpp"

/// Positions that are no nearer to each other than a distance.
namespace ranvier::connect {

/// Points in the cells of a grid, to find those within `reach` of a place.
class CellGrid {
   public:
    /// A box, with the length after which it repeats itself by axis; 0: it does not.
    struct Box {
        unsigned dimensions = 2;
        Point lower{};
        Point extent{};
        Point period{};
    };

    /// @param points number of points that will be added, for the number of cells
    CellGrid(const Box& box, double reach, std::uint64_t points);

    /// Adds a point of the box, whose index is the number of those before it.
    void add(const Point& point);
    /// The index of a point that is nearer than `reach`, and its distance.
    std::optional<std::pair<std::uint64_t, double>> find_near(const Point& place) const;
    const Point& operator[](std::uint64_t index) const { return points_[index]; }

   private:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    using Cell = std::array<std::uint64_t, most_dimensions>;

    Cell cell_of(const Point& point) const;
    std::uint64_t number_of(const Cell& cell) const { return (cell[0] * counts_[1] + cell[1]) * counts_[2] + cell[2]; }
    double distance(const Point& a, const Point& b) const;

    Box box_;
    double reach_;
    Cell counts_{1, 1, 1};
    Point cells_per_length_{};
    std::vector<Point> points_;
    std::vector<std::uint64_t> first_;  ///< by cell: the point that was added last
    std::vector<std::uint64_t> next_;   ///< by point: the one before it in its cell
};

/// Two of some points that are nearer than a distance.
struct NearPair {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    double distance = 0.0;
};
/// @param coordinates `dimensions` of each point
/// @param box contains all points if it is periodic; its lower end and extent do not matter on other axes
std::optional<NearPair> find_near_pair(std::span<const double> coordinates, CellGrid::Box box, double distance);

/// Draws random positions one after the other, each again until none of those before it is nearer than the least
/// distance ("random sequential adsorption"). A position depends on the key and on those before it.
/// @pre the form is `Positions::Random`, and has been checked
/// @param population its name, for errors
/// @param poll called after some thousands of draws, if it is not empty; what it throws ends the drawing
/// @throws ValueOutOfBoundsError if there is no space for so many
Positions::Array draw_spaced(const Positions& positions, std::uint64_t size, RandomKey key,
                             const std::string& population, const std::function<void()>& poll);

/// One of random positions. @param attempt number of draws of this one before
Point draw_position(const Positions::Random& random, unsigned dimensions, RandomKey key, std::uint64_t index,
                    std::uint32_t attempt);

}  // namespace ranvier::connect
