#pragma once

#include <cstddef>
#include <cstdint>

#include "ranvier/parallel/rounds.hpp"

/// How spikes lie in the records of rounds; see engine/stepping/spike_records.hpp.
namespace ranvier::engine {

/// A spike in a record: its source, and the lag in the lower bits.
using RecordWord = std::uint32_t;
/// The same in a list in shared memory.
using ListWord = std::uint64_t;
constexpr std::uint32_t most_record_words = parallel::RoundRecords::message_bytes / sizeof(RecordWord);

/// Bytes of the shared memory that a shard uses. @param spikes the greatest number in an epoch
inline double shared_bytes(double spikes) {
    const double list = spikes > most_record_words ? spikes * sizeof(ListWord) : 0.0;
    return 2.0 * (parallel::RoundRecords::line_bytes + list);
}

}  // namespace ranvier::engine
