#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ranvier::engine {

/// What a spike of each set of neurons adds to each output, by the number of bins since its bin.
struct SpikeKernels {
    std::span<const double> values;  ///< [set][lag][output]
    std::size_t sets = 0;
    std::size_t lags = 0;
    std::size_t outputs = 0;
};

/// The sums of the kernels of all spikes, in some bins. A sum is taken in the order of the sets, then of the lags, so
/// that it does not depend on the other bins.
/// @param counts numbers of spikes [bin][set]; there are no spikes before the first bin
/// @param bins in which sums are wanted
/// @return [element of `bins`][output]
std::vector<double> sum_kernels(const SpikeKernels& kernels, std::span<const double> counts,
                                std::span<const std::int64_t> bins);

}  // namespace ranvier::engine
