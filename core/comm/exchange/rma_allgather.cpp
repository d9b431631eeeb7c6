#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/undirected.hpp"

namespace ranvier::comm {

namespace {

/// Every process sends all its spikes to all processes by writing into their memory, in as many steps as the number of
/// processes has binary digits (Shehzad and Bozkuş, 2016, "Optimizing NEURON simulation environment using remote memory
/// access with recursive doubling on distributed memory systems").
///
/// The paper pairs processes for each step by a rule that holds for certain numbers of them. Here, as in Bruck's
/// algorithm, in step k a process writes all its blocks to the process 2^k ranks before it, with wrap-around, and in
/// the last step only those that are missing there: that works for any number of processes. Afterwards block i is that
/// of the i-th process after this one.
///
/// Blocks are equally long: a count, and room for spikes, which may be unused in part. All processes
/// see all counts, so that all agree whether another round is needed, and change the length of blocks alike.
///
/// The rounds alternate between two windows: a process that is one round ahead never writes where this process still
/// reads, and one fence for each step is enough.
class RmaAllgatherExchange final : public UndirectedExchange {
   public:
    explicit RmaAllgatherExchange(const ExchangeArguments& arguments)
        : UndirectedExchange(arguments),
          block_spikes_(options().allgather_spikes),
          most_spikes_(std::max<std::uint64_t>(
              {1, block_spikes_,
               options().buffer_bytes / (outboxes_.packing().bytes() * static_cast<std::uint64_t>(ranks()))})) {
        make_windows();
    }

    std::string_view name() const override { return rma_allgather_exchange.name; }

   protected:
    bool send_round(bool first) override {
        const std::uint64_t most = gather();
        const bool more = most > block_spikes_;
        adapt(most, first);
        return more;
    }
    std::uint64_t buffer_bytes() const override {
        const std::uint64_t window_bytes =
            windows_.size() * bytes_for(window_spikes_) * static_cast<std::size_t>(ranks());
        return UndirectedExchange::buffer_bytes() + window_bytes;
    }

   private:
    static constexpr std::size_t head_bytes = sizeof(std::uint64_t);

    /// Bytes of a block of so many spikes.
    std::size_t bytes_for(std::uint64_t spikes) const { return head_bytes + spikes * outboxes_.packing().bytes(); }

    void make_windows() {
        window_spikes_ = block_spikes_;
        for (std::unique_ptr<Window>& window : windows_) {
            // Freed first, so that never both are held.
            window.reset();
            window = communicator().make_window(bytes_for(window_spikes_) * static_cast<std::size_t>(ranks()));
        }
    }

    /// One round. Returns the greatest number of spikes that a process had to send in it.
    std::uint64_t gather() {
        Window& window = *windows_[turn_];
        turn_ ^= 1;
        const std::size_t block_bytes = bytes_for(block_spikes_);
        const std::span<std::byte> memory = window.memory();
        const std::uint64_t count = outboxes_.left();
        std::memcpy(memory.data(), &count, head_bytes);
        outboxes_.take(memory.subspan(head_bytes, in_block(count)));

        for (std::int32_t have = 1; have < ranks(); have *= 2) {
            const std::int32_t now = std::min(have, ranks() - have);
            const Rank target{(communicator().rank().value - have + ranks()) % ranks()};
            const auto data = memory.first(static_cast<std::size_t>(now) * block_bytes);
            window.put(data, target, static_cast<std::size_t>(have) * block_bytes);
            window.fence();
            count_collective(data.size(), 1);
        }

        std::uint64_t most = 0;
        for (std::int32_t i = 0; i < ranks(); ++i) {
            const std::span<const std::byte> block =
                memory.subspan(static_cast<std::size_t>(i) * block_bytes, block_bytes);
            std::uint64_t of_rank = 0;
            std::memcpy(&of_rank, block.data(), head_bytes);
            const Rank from{(communicator().rank().value + i) % ranks()};
            outboxes_.unpack(from, block.subspan(head_bytes, in_block(of_rank)), arrived_);
            most = std::max(most, of_rank);
        }
        return most;
    }

    std::size_t in_block(std::uint64_t count) const {
        return std::min(count, block_spikes_) * outboxes_.packing().bytes();
    }

    /// Extends blocks when a round was not enough, and shortens them after a while in which a quarter would have been.
    void adapt(std::uint64_t most, bool first_round) {
        if (most > block_spikes_) {
            quiet_ = 0;
            block_spikes_ = std::clamp(std::bit_ceil(most), block_spikes_, most_spikes_);
            if (block_spikes_ > window_spikes_) make_windows();
        } else if (first_round) {
            quiet_ = most <= block_spikes_ / 4 && block_spikes_ > options().allgather_spikes ? quiet_ + 1 : 0;
            if (quiet_ < quiet_epochs) return;
            quiet_ = 0;
            // The windows stay as they are: creating them is the most expensive part.
            block_spikes_ = std::max<std::uint64_t>(block_spikes_ / 2, options().allgather_spikes);
        }
    }
    static constexpr std::uint32_t quiet_epochs = 16;

    std::uint64_t block_spikes_;  ///< capacity of a block; as most_spikes_ and quiet_ the same on all processes
    std::uint64_t most_spikes_;
    std::uint32_t quiet_ = 0;
    std::array<std::unique_ptr<Window>, 2> windows_;
    std::uint64_t window_spikes_ = 0;  ///< capacity of a block that fits into the windows
    std::uint32_t turn_ = 0;
};

}  // namespace

const ExchangeInfo rma_allgather_exchange{
    .name = "rma_allgather",
    .summary = "sends every spike to all processes by writing into their memory, in logarithmically many steps",
    .directed = false,
    .make = make_exchange<RmaAllgatherExchange>,
};

}  // namespace ranvier::comm
