#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ranvier::connect {

/// Synapses of one projection and kind on their way into a table, as columns of equal length.
struct SynapseBatch {
    const std::uint32_t* rows = nullptr;  ///< sources, as numbered by TablePlan::row_map
    const std::uint32_t* targets = nullptr;  ///< inputs; see InputLayout
    const double* weights = nullptr;  ///< rounded to the grid and to the stored precision
    const std::uint16_t* delays = nullptr;  ///< relative to the shortest delay of the table
    const double* parameters = nullptr;  ///< per-synapse parameters, one after another
    std::size_t stride = 0;  ///< between the values of two of these parameters
    std::size_t count = 0;
    std::uint16_t tag = 0;

    std::uint32_t row(std::size_t i) const { return rows[i]; }
    std::uint32_t target(std::size_t i) const { return targets[i]; }
    double weight(std::size_t i) const { return weights[i]; }
    std::uint16_t delay(std::size_t i) const { return delays[i]; }
};

struct StagedSynapse {
    std::uint32_t row;
    std::uint32_t target;
    float weight;
    std::uint16_t delay;
};

/// A SynapseBatch of staged synapses.
struct StagedBatch {
    const StagedSynapse* synapses = nullptr;
    std::size_t count = 0;
    std::uint16_t tag = 0;

    std::uint32_t row(std::size_t i) const { return synapses[i].row; }
    std::uint32_t target(std::size_t i) const { return synapses[i].target; }
    double weight(std::size_t i) const { return static_cast<double>(synapses[i].weight); }
    std::uint16_t delay(std::size_t i) const { return synapses[i].delay; }
};

/// Collects synapses that are drawn in the order of their targets, and passes on those of neighbouring rows together.
///
/// The rows of a table are written at as many places as there are sources: more than a second-level cache and the
/// buffers of address translation hold. If each synapse were stored when it is drawn, each column would cost a cache
/// line from memory. Several synapses of a row that are stored shortly after one another share these lines. Synapses of
/// a row keep their order.
class SynapseStage {
    /// 2 MB. Measured with 4,800 of the microcircuit's neurons: 64 ranges of 1,024 synapses take a third longer, and 128
    /// of 2,048 as long.
    static constexpr std::size_t ranges = 128;
    static constexpr std::size_t capacity = 1024;
    /// Between ranges: with a power of two, all ranges would be written in the same set of the first cache.
    static constexpr std::size_t stride = capacity + 64 / sizeof(StagedSynapse);

   public:
    /// Whether synapses of a projection on one shard should be staged: their rows' places of writing do not fit a
    /// second-level cache, or so large a table that its pages do not fit the buffers of address translation. Measured:
    /// with 9,000 rows of hpc_benchmark, 47 MB in all, staging takes a tenth longer; with 760 MB, a quarter less.
    /// @param rows possible rows of the projection
    static bool pays(std::uint64_t rows, double synapses) {
        constexpr double most_rows_in_cache = 10'000;
        constexpr double most_in_buffers = 1e7;
        constexpr double least_rows = 1024;
        const auto places = static_cast<double>(rows);
        if (synapses < 4.0 * ranges * capacity) return false;
        return places > most_rows_in_cache || (places > least_rows && synapses > most_in_buffers);
    }
    /// Bytes of a stage.
    static constexpr std::size_t bytes() { return ranges * (stride * sizeof(StagedSynapse) + sizeof(std::uint32_t)); }

    /// Begins with synapses of `rows` rows, the first of which is `first_row`. @pre nothing is staged
    void begin(std::uint32_t first_row, std::uint64_t rows) {
        first_row_ = first_row;
        shift_ = static_cast<std::uint32_t>(std::bit_width((rows - 1) / ranges));
        synapses_.resize(ranges * stride);
        sizes_.resize(ranges);
    }

    /// @param pass called with a StagedBatch when a range of rows is full
    template <class Pass>
    void add(const SynapseBatch& batch, Pass&& pass) {
        tag_ = batch.tag;
        for (std::size_t i = 0; i < batch.count; ++i) {
            const std::size_t range = (batch.rows[i] - first_row_) >> shift_;
            const std::size_t place = sizes_[range]++;
            synapses_[range * stride + place] = {batch.rows[i], batch.targets[i], static_cast<float>(batch.weights[i]),
                                                 batch.delays[i]};
            if (place + 1 == capacity) pass_range(range, pass);
        }
    }

    /// Passes on all that is left.
    template <class Pass>
    void finish(Pass&& pass) {
        for (std::size_t range = 0; range < sizes_.size(); ++range) {
            if (sizes_[range] > 0) pass_range(range, pass);
        }
    }

   private:
    template <class Pass>
    void pass_range(std::size_t range, Pass& pass) {
        pass(StagedBatch{synapses_.data() + range * stride, sizes_[range], tag_});
        sizes_[range] = 0;
    }

    std::uint32_t first_row_ = 0;
    std::uint32_t shift_ = 0;
    std::uint16_t tag_ = 0;
    std::vector<StagedSynapse> synapses_;  ///< places of each range, `stride` apart
    std::vector<std::uint32_t> sizes_;
};

}  // namespace ranvier::connect
