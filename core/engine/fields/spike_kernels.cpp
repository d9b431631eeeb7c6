#include "engine/fields/spike_kernels.hpp"

#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

std::vector<double> sum_kernels(const SpikeKernels& kernels, std::span<const double> counts,
                                std::span<const std::int64_t> bins) {
    const auto [values, sets, lags, outputs] = kernels;
    std::vector<double> sums(bins.size() * outputs, 0.0);
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const auto bin = static_cast<std::size_t>(bins[i]);
        if (bins[i] < 0 || (bin + 1) * sets > counts.size()) throw InternalError("a bin without counts of spikes");
        double* const sum = sums.data() + i * outputs;
        for (std::size_t set = 0; set < sets; ++set) {
            for (std::size_t lag = 0; lag < lags && lag <= bin; ++lag) {
                const double count = counts[(bin - lag) * sets + set];
                if (count == 0.0) continue;
                const double* const kernel = values.data() + (set * lags + lag) * outputs;
                for (std::size_t output = 0; output < outputs; ++output) sum[output] += count * kernel[output];
            }
        }
    }
    return sums;
}

}  // namespace ranvier::engine
