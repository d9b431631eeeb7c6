#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm {

/// Sends records from all processes to all processes through buffers of bounded size, in as many rounds as needed. For
/// network construction and queries; spikes use the exchange methods.
template <class Record>
class Redistribution {
    static_assert(std::is_trivially_copyable_v<Record>);

   public:
    /// @param buffer_bytes limit of the buffer on each side; at least one record for each process is always sent
    Redistribution(Communicator& communicator, std::uint64_t buffer_bytes)
        : communicator_(communicator),
          ranks_(static_cast<std::size_t>(communicator.size())),
          section_(std::max<std::uint64_t>(1, buffer_bytes / sizeof(Record) / ranks_)) {}

    /// Bytes of the buffers.
    std::uint64_t bytes() const {
        return (send_.capacity() + receive_.capacity()) * sizeof(Record) + 3 * ranks_ * sizeof(std::uint64_t) +
               pieces_.capacity() * sizeof(Piece);
    }

    /// Starts: counts[r] of the records, packed by rank, go to rank r. They must stay valid until the last round.
    /// @note Collective.
    void start(std::span<const Record> records, std::span<const std::uint64_t> counts) {
        records_ = records;
        counts_ = counts;
        most_ = communicator_.greatest(*std::max_element(counts.begin(), counts.end()));
        done_ = 0;
        begins_.assign(ranks_, 0);
        std::exclusive_scan(counts.begin(), counts.end(), begins_.begin(), std::uint64_t{0});
        sent_.resize(ranks_);
        arrived_.resize(ranks_);
    }

    /// Sends and receives what fits the buffers. Returns false, on all processes, when nothing was left.
    /// @note Collective.
    bool round() {
        pieces_.clear();
        if (done_ >= most_) return false;
        if (ranks_ == 1) {
            pieces_.push_back({Rank{0}, records_});
            done_ = most_;
            return true;
        }
        send_.clear();
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            const std::uint64_t left = counts_[rank] > done_ ? counts_[rank] - done_ : 0;
            const std::uint64_t now = std::min(left, section_);
            if (now > 0) {
                const auto begin = records_.begin() + static_cast<std::ptrdiff_t>(begins_[rank] + done_);
                send_.insert(send_.end(), begin, begin + static_cast<std::ptrdiff_t>(now));
            }
            sent_[rank] = now * sizeof(Record);
        }
        done_ += section_;
        communicator_.alltoall(std::as_bytes(std::span<const std::size_t>(sent_)),
                               std::as_writable_bytes(std::span(arrived_)));
        receive_.resize(std::accumulate(arrived_.begin(), arrived_.end(), std::size_t{0}) / sizeof(Record));
        communicator_.alltoallv(std::as_bytes(std::span<const Record>(send_)), sent_,
                                std::as_writable_bytes(std::span(receive_)), arrived_);
        std::size_t begin = 0;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            const std::size_t count = arrived_[rank] / sizeof(Record);
            if (count == 0) continue;
            pieces_.push_back(
                {Rank{static_cast<std::int32_t>(rank)}, std::span<const Record>(receive_).subspan(begin, count)});
            begin += count;
        }
        return true;
    }

    struct Piece {
        Rank from;
        std::span<const Record> records;
    };
    /// The records received in the last round, by rank; the records of one process keep their order.
    std::span<const Piece> received() const { return pieces_; }

    /// All rounds; calls receive(Piece). @note Collective.
    template <class Receive>
    void run(std::span<const Record> records, std::span<const std::uint64_t> counts, Receive receive) {
        start(records, counts);
        while (round()) {
            for (const Piece& piece : pieces_) receive(piece);
        }
    }

   private:
    Communicator& communicator_;
    std::size_t ranks_;
    std::uint64_t section_;
    std::span<const Record> records_;
    std::span<const std::uint64_t> counts_;
    std::uint64_t most_ = 0;  ///< greatest number of records from one process to another
    std::uint64_t done_ = 0;
    std::vector<std::uint64_t> begins_;
    std::vector<std::size_t> sent_;
    std::vector<std::size_t> arrived_;
    std::vector<Record> send_;
    std::vector<Record> receive_;
    std::vector<Piece> pieces_;
};

}  // namespace ranvier::comm
