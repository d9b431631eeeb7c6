#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/undirected.hpp"

namespace ranvier::comm {

namespace {

/// Every process sends all its spikes to all processes: a fixed number of them, with the count, in one allgather. If
/// any process has more, a second allgather of variable lengths, known from the counts, carries the rest (Hines, Kumar
/// and Schürmann, 2011), in several rounds if the rest exceeds the limit of the buffer.
class AllgatherExchange final : public UndirectedExchange {
   public:
    explicit AllgatherExchange(const ExchangeArguments& arguments)
        : UndirectedExchange(arguments),
          block_bytes_(sizeof(std::uint64_t) + options().allgather_spikes * outboxes_.packing().bytes()),
          most_at_once_(std::max<std::uint64_t>(1, options().buffer_bytes / outboxes_.packing().bytes())) {}

    std::string_view name() const override { return allgather_exchange.name; }

   protected:
    bool send_round(bool first) override {
        if (first) gather_blocks();
        if (anything_left()) gather_rest();
        return anything_left();
    }
    std::uint64_t buffer_bytes() const override {
        return UndirectedExchange::buffer_bytes() + bytes_of(send_) + bytes_of(received_) + bytes_of(left_) +
               bytes_of(counts_of_ranks_);
    }

   private:
    bool anything_left() const { return most_left_ > 0; }

    /// The first allgather: counts and the first spikes.
    void gather_blocks() {
        const std::uint64_t count = outboxes_.left();
        send_.resize(block_bytes_);
        std::memcpy(send_.data(), &count, sizeof count);
        outboxes_.take(std::span(send_).subspan(sizeof count, in_block(count)));
        received_.resize(block_bytes_ * static_cast<std::size_t>(ranks()));
        communicator().allgather(send_, received_);
        count_collective(send_.size());

        most_left_ = 0;
        for (std::int32_t rank = 0; rank < ranks(); ++rank) {
            const std::span block = block_of(rank);
            const std::uint64_t of_rank = count_in(block);
            outboxes_.unpack(Rank{rank}, block.subspan(sizeof of_rank, in_block(of_rank)), arrived_);
            most_left_ = std::max(most_left_, left_of(of_rank));
        }
        if (!anything_left()) return;
        left_.resize(static_cast<std::size_t>(ranks()));
        for (std::int32_t rank = 0; rank < ranks(); ++rank) {
            left_[static_cast<std::size_t>(rank)] = left_of(count_in(block_of(rank)));
        }
    }

    /// The second allgather: the rest, limited by the buffer.
    void gather_rest() {
        const std::size_t spike_bytes = outboxes_.packing().bytes();
        counts_of_ranks_.resize(left_.size());
        std::size_t total = 0;
        for (std::size_t rank = 0; rank < left_.size(); ++rank) {
            const std::uint64_t now = std::min(left_[rank], most_at_once_);
            left_[rank] -= now;
            counts_of_ranks_[rank] = now * spike_bytes;
            total += counts_of_ranks_[rank];
        }
        most_left_ -= std::min(most_left_, most_at_once_);
        send_.resize(counts_of_ranks_[static_cast<std::size_t>(communicator().rank().value)]);
        outboxes_.take(send_);
        received_.resize(total);
        communicator().allgatherv(send_, received_, counts_of_ranks_);
        count_collective(send_.size());

        std::span<const std::byte> rest = received_;
        for (std::int32_t rank = 0; rank < ranks(); ++rank) {
            const std::size_t bytes = counts_of_ranks_[static_cast<std::size_t>(rank)];
            outboxes_.unpack(Rank{rank}, rest.first(bytes), arrived_);
            rest = rest.subspan(bytes);
        }
    }

    std::span<const std::byte> block_of(std::int32_t rank) const {
        return std::span(received_).subspan(block_bytes_ * static_cast<std::size_t>(rank), block_bytes_);
    }
    static std::uint64_t count_in(std::span<const std::byte> block) {
        std::uint64_t count = 0;
        std::memcpy(&count, block.data(), sizeof count);
        return count;
    }
    /// Bytes that the spikes of a process with this many occupy in its block.
    std::size_t in_block(std::uint64_t count) const {
        return std::min<std::uint64_t>(count, options().allgather_spikes) * outboxes_.packing().bytes();
    }
    std::uint64_t left_of(std::uint64_t count) const {
        return count - std::min<std::uint64_t>(count, options().allgather_spikes);
    }

    std::size_t block_bytes_;
    std::uint64_t most_at_once_;  ///< spikes of one process in a second allgather
    std::uint64_t most_left_ = 0;  ///< greatest number of spikes that a process has still to send
    std::vector<std::uint64_t> left_;  ///< the same for each process; valid where there are any
    std::vector<std::size_t> counts_of_ranks_;
    std::vector<std::byte> send_;
    std::vector<std::byte> received_;
};

}  // namespace

const ExchangeInfo allgather_exchange{
    .name = "allgather",
    .summary = "sends every spike to all processes, in 2 to 8 bytes",
    .directed = false,
    .make = make_exchange<AllgatherExchange>,
};

}  // namespace ranvier::comm
