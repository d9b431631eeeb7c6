#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "engine/fields/line_potentials.hpp"
#include "engine/fields/spike_kernels.hpp"
#include "ranvier/base/errors.hpp"

/// Potentials that are summed pair by pair: of line pieces, and of spikes by kernels.
namespace ranvier::engine {
namespace TEST_FILE {

TEST(LinePotentials, AreThoseOfAnEvenlySpreadStrength) {
    const fmm::LinePiece piece{.begin = {1.0, 2.0, -3.0}, .end = {1.0, 2.0, 5.0}, .radius = 0.5};
    const fmm::LinePiece point{.begin = {1.0, 2.0, 1.0}, .end = {1.0, 2.0, 1.0}, .radius = 0.5};
    const std::vector<fmm::Point> targets{{4.0, 2.0, 1.0}, {1.0, 2.0, 9.0}, {1.0, 2.25, 4.0}};
    const LinePotentials found = line_potentials(std::array{piece, point}, targets);
    // Beside the middle, beyond the end, and beside the end; the last two at the radius from the axis.
    const std::array wanted{2.0 * std::asinh(4.0 / 3.0) / 8.0,
                            (std::asinh(12.0 / 0.5) - std::asinh(4.0 / 0.5)) / 8.0,
                            (std::asinh(7.0 / 0.5) + std::asinh(1.0 / 0.5)) / 8.0,
                            1.0 / 3.0,
                            1.0 / 8.0,
                            1.0 / std::hypot(0.25, 3.0)};
    ASSERT_EQ(found.potentials.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found.potentials[i], wanted[i], 1e-14) << i;
    EXPECT_EQ(found.inside, (std::vector<std::int64_t>{2, -1}));
}

TEST(LinePotentials, NameTheFirstTargetWithinThePiece) {
    const fmm::LinePiece piece{.begin = {}, .end = {10.0, 0.0, 0.0}, .radius = 2.0};
    // At the surface; beyond the end, nearer to it than the radius; inside.
    const std::vector<fmm::Point> targets{{5.0, 2.0, 0.0}, {11.0, 1.0, 0.0}, {5.0, 0.0, 1.0}};
    EXPECT_EQ(line_potentials(std::span(&piece, 1), targets).inside, std::vector<std::int64_t>{1});
    EXPECT_EQ(line_potentials(std::span(&piece, 1), std::span(targets).first(1)).inside, std::vector<std::int64_t>{-1});
    EXPECT_TRUE(line_potentials({}, targets).potentials.empty());
}

TEST(SpikeKernels, AddTheKernelOfEachSpikeFromItsBinOn) {
    constexpr std::size_t bins = 6;
    const std::vector<double> kernels{1.0, 10.0, 2.0, 20.0, 3.0, 30.0, /**/ 0.5, -1.0, 0.25, -2.0, 0.125, -4.0};
    std::vector<double> counts(bins * 2, 0.0);
    counts[1 * 2 + 0] = 2.0;  // two spikes of the first set in bin 1
    counts[3 * 2 + 1] = 1.0;  // one of the second set in bin 3
    const std::vector<std::int64_t> all{0, 1, 2, 3, 4, 5};
    const std::vector<double> wanted{0.0, 0.0, 2.0, 20.0, 4.0, 40.0, 6.0 + 0.5, 60.0 - 1.0, 0.25, -2.0, 0.125, -4.0};
    const SpikeKernels given{.values = kernels, .sets = 2, .lags = 3, .outputs = 2};
    EXPECT_EQ(sum_kernels(given, counts, all), wanted);
    EXPECT_EQ(sum_kernels(given, counts, std::array<std::int64_t, 2>{5, 2}),
              (std::vector<double>{0.125, -4.0, 4.0, 40.0}));
    EXPECT_TRUE(sum_kernels(given, counts, {}).empty());
    for (const std::int64_t wrong : {-1, 6}) {
        EXPECT_THROW(sum_kernels(given, counts, std::span(&wrong, 1)), InternalError);
    }
}

TEST(SpikeKernels, GiveTheSameBitsWhateverOtherBinsThereAre) {
    constexpr std::size_t sets = 3, lags = 7, outputs = 5, bins = 40;
    std::mt19937_64 engine(5);
    std::vector<double> kernels(sets * lags * outputs);
    for (double& value : kernels) value = static_cast<double>(engine() >> 11) * 0x1p-53 - 0.5;
    std::vector<double> counts(bins * sets);
    for (double& count : counts) count = static_cast<double>(engine() % 3);
    const SpikeKernels given{.values = kernels, .sets = sets, .lags = lags, .outputs = outputs};
    // The counts from some bin on are those of a run that was cut there; sums that need no others are the same.
    constexpr std::size_t cut = 11;
    const std::span<const double> late = std::span(counts).subspan(cut * sets);
    for (std::int64_t bin = lags - 1; bin < static_cast<std::int64_t>(bins - cut); ++bin) {
        const std::int64_t whole = bin + static_cast<std::int64_t>(cut);
        EXPECT_EQ(sum_kernels(given, late, std::span(&bin, 1)), sum_kernels(given, counts, std::span(&whole, 1)));
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
