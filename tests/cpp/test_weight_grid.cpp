// What tables and stimuli may add to inputs.
#include <gtest/gtest.h>

#include <cmath>

#include "connect/weight_grid.hpp"

namespace {

using ranvier::connect::WeightGrid;

TEST(WeightGrid, KeepsItsSpacing) {
    const WeightGrid grid(3.0, 100.0);
    for (const double weight : {0.1, -0.1, 3.0, 1e-9, -2.7}) {
        const double rounded = grid.round(weight);
        EXPECT_NEAR(rounded, weight, 0.5 * grid.spacing());
        EXPECT_EQ(std::fmod(rounded, grid.spacing()), 0.0);
    }
}

TEST(WeightGrid, HasNoNegativeZero) {
    // An input is -0.0 until something is added to it; weights of -0.0 would leave it so.
    for (const WeightGrid& grid : {WeightGrid(), WeightGrid(0.0, 0.0), WeightGrid(3.0, 100.0), WeightGrid(1e30, 1e6)}) {
        for (const double weight : {0.0, -0.0, -0.1 * grid.spacing(), 0.1 * grid.spacing(), -1e-300}) {
            const double rounded = grid.round(weight);
            EXPECT_EQ(rounded, 0.0);
            EXPECT_FALSE(std::signbit(rounded)) << weight;
            EXPECT_FALSE(std::signbit(-0.0 + rounded)) << weight;
        }
    }
}

}  // namespace
