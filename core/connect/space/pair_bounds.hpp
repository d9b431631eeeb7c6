#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "ranvier/connect/space/mask.hpp"
#include "ranvier/connect/space/pair_function.hpp"
#include "ranvier/connect/space/positions.hpp"

namespace ranvier::connect {

/// The pairs over which a function is bounded.
struct PairRegion {
    /// Limits the pairs to those of neurons at positions, within a mask that may be null.
    void limit(const PairPositions& positions, Mask::Pointer within, bool is_reversed = false);

    /// Of all quantities but the distance, which follows from the displacements; 0 along axes that there are not.
    PairRanges ranges;
    unsigned dimensions = 2;
    Mask::Pointer mask = nullptr;  ///< null: all pairs
    bool is_mask_reversed = false;  ///< the mask is of displacements from targets to sources
};

/// Bounds of the results of a function over pairs, by interval arithmetic: the ranges of its quantities are divided where
/// a result may be least or greatest, 1024 times along each of them at most. Parts outside of the mask are left out.
/// Bounds are never too narrow, and too wide where a quantity occurs several times.
class PairBounds {
   public:
    PairBounds(const PairFunction& function, const PairRegion& region);

    /// Whether no pair is within the mask.
    bool is_empty() const { return is_empty_; }

    /// Bounds of a result over a part of the pairs.
    struct Part {
        PairRanges::Range bounds;
        PairRanges ranges;
    };
    /// The part with the least lower bound of a result. @pre !is_empty()
    /// @param enough parts are not divided if their lower bound is not below
    Part least(std::size_t result = 0, double enough = std::numeric_limits<double>::infinity()) const;
    /// The part with the greatest upper bound. @pre !is_empty()
    Part greatest(std::size_t result = 0, double enough = -std::numeric_limits<double>::infinity()) const;

    /// The quantities whose ranges are divided, in their order.
    std::span<const PairQuantity> quantities() const { return divided_; }
    /// Parts of equal size throughout the region, `most` at most.
    std::vector<PairRanges> some_parts(std::size_t most) const;

   private:
    struct Box;
    Part find(std::size_t result, bool is_least, double enough) const;
    PairRanges ranges_of(const Box& box) const;
    bool is_outside(const PairRanges& ranges) const;
    void limit_distances();

    const PairFunction& function_;
    PairRegion region_;
    std::vector<PairQuantity> divided_;
    bool follows_ = false;  ///< the distance follows from displacements that are divided
    bool is_empty_ = false;
    std::optional<PairRanges::Range> limits_;  ///< of the distance
};

/// The distances of displacements in ranges along the axes.
PairRanges::Range distances_of(const PairRanges& ranges, unsigned dimensions);

}  // namespace ranvier::connect
