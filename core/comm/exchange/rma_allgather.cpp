#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/gather_plan.hpp"
#include "comm/exchange/undirected.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// Every process sends all its spikes to all processes, which forward them, by writing into memory of each other
/// (Shehzad and Bozkuş, 2016, "Optimizing NEURON simulation environment using remote memory access with recursive
/// doubling on distributed memory systems").
///
/// A block is a number of spikes and as many of them as fit. The number is that of all spikes which the process has
/// still to send; all processes see all numbers, so that all agree whether another round is needed, and whether blocks
/// need more room. Only the spikes that there are travel: room for others is in the windows alone.
///
/// The rounds alternate between two windows: a process that writes in the next round but one has the blocks of all
/// processes of the next round, so each of them has read those of this one.
class RmaAllgatherExchange final : public UndirectedExchange {
   public:
    RmaAllgatherExchange(const ExchangeArguments& arguments, const ExchangeInfo& info, GatherPlan plan, WindowSync sync)
        : UndirectedExchange(arguments),
          info_(info),
          plan_(std::move(plan)),
          sync_(sync),
          block_spikes_(options().allgather_spikes),
          most_spikes_(std::max<std::uint64_t>(
              {1, block_spikes_,
               options().buffer_bytes / (outboxes_.packing().bytes() * static_cast<std::uint64_t>(ranks()))})) {
        make_windows();
    }

    std::string_view name() const override { return info_.name; }

   protected:
    bool send_round(bool /*first*/) override {
        const std::uint64_t most = gather();
        if (most <= block_spikes_) return false;
        const std::uint64_t more = std::min(std::bit_ceil(most), most_spikes_);
        if (more > block_spikes_) {
            block_spikes_ = more;
            make_windows();
        }
        return true;
    }
    std::uint64_t buffer_bytes() const override {
        // Pages that nobody writes to take no memory.
        std::uint64_t window_bytes = 0;
        for (const GatherStep& step : plan_.steps) window_bytes += slot_bytes(step.expected);
        return UndirectedExchange::buffer_bytes() + windows_.size() * window_bytes + bytes_of(blocks_) + plan_.bytes();
    }

   private:
    static constexpr std::size_t head_bytes = sizeof(std::uint64_t);

    /// Bytes of the spikes in the block of a process that has so many to send.
    std::size_t in_block(std::uint64_t count) const {
        return std::min(count, block_spikes_) * outboxes_.packing().bytes();
    }
    std::size_t slot_bytes(std::size_t blocks) const { return blocks * (head_bytes + in_block(block_spikes_)); }

    void make_windows() {
        std::vector<std::size_t> slots;
        for (const GatherStep& step : plan_.steps) slots.push_back(slot_bytes(step.most));
        for (std::unique_ptr<Window>& window : windows_) {
            // Freed first, so that never both are held.
            window.reset();
            window = communicator().make_window(slots, sync_);
        }
    }

    /// One round. Returns the greatest number of spikes that a process had to send in it.
    std::uint64_t gather() {
        Window& window = *windows_[turn_];
        turn_ ^= 1;
        start_blocks();
        std::size_t have = 1;
        std::uint64_t most = unpack(blocks_, 0, 1).most;
        for (std::size_t slot = 0; slot < plan_.steps.size(); ++slot) {
            const GatherStep& step = plan_.steps[slot];
            std::optional<Window::Write> write;
            if (step.target) write = {.target = *step.target, .slot = slot, .data = blocks(step.first, step.last)};
            std::optional<Window::Expected> expected;
            if (step.origin) expected = {.origin = *step.origin, .slot = slot};
            window.step(write, expected);
            count_collective(write ? write->data.size() : 0, write ? 1 : 0);
            if (!expected) continue;
            const std::span<const std::byte> data = window.slot(slot);
            const Unpacked found = unpack(data, have, step.expected);
            most = std::max(most, found.most);
            if (have < plan_.forwarded) keep(data.first(found.bytes));
            have += step.expected;
        }
        return most;
    }

    /// The block of this process.
    void start_blocks() {
        const std::uint64_t count = outboxes_.left();
        blocks_.clear();
        lengthen(blocks_, head_bytes + in_block(count));
        std::memcpy(blocks_.data(), &count, head_bytes);
        outboxes_.take(std::span(blocks_).subspan(head_bytes));
    }

    struct Unpacked {
        std::size_t bytes = 0;   ///< of the blocks
        std::uint64_t most = 0;  ///< greatest number of spikes that one of the processes had to send
    };
    /// Unpacks the spikes of some processes, of which the first is at a place in the order of the plan.
    Unpacked unpack(std::span<const std::byte> data, std::size_t place, std::size_t count) {
        Unpacked found;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t of_rank = count_in(data.subspan(found.bytes));
            found.bytes += head_bytes + in_block(of_rank);
            found.most = std::max(found.most, of_rank);
        }
        const std::size_t spikes = (found.bytes - count * head_bytes) / outboxes_.packing().bytes();
        // Steps receive more and more, so that memory that just fits is seldom copied.
        arrived_.reserve(arrived_.size() + spikes);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t bytes = in_block(count_in(data));
            outboxes_.unpack(plan_.order[place + i], data.subspan(head_bytes, bytes), arrived_);
            data = data.subspan(head_bytes + bytes);
        }
        return found;
    }
    /// Appends blocks to those that are sent in later steps.
    void keep(std::span<const std::byte> data) {
        const std::size_t begin = blocks_.size();
        lengthen(blocks_, begin + data.size());
        std::memcpy(blocks_.data() + begin, data.data(), data.size());
    }

    /// Some of the blocks that are sent.
    std::span<const std::byte> blocks(std::size_t first, std::size_t last) const {
        const std::span<const std::byte> from = std::span(blocks_).subspan(bytes_of_blocks(blocks_, first));
        return from.first(bytes_of_blocks(from, last - first));
    }
    std::size_t bytes_of_blocks(std::span<const std::byte> data, std::size_t count) const {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < count; ++i) bytes += head_bytes + in_block(count_in(data.subspan(bytes)));
        return bytes;
    }
    static std::uint64_t count_in(std::span<const std::byte> block) {
        std::uint64_t count = 0;
        std::memcpy(&count, block.data(), head_bytes);
        return count;
    }

    const ExchangeInfo& info_;
    GatherPlan plan_;
    WindowSync sync_;
    std::uint64_t block_spikes_;  ///< room for so many spikes of a process; as most_spikes_ the same on all processes
    std::uint64_t most_spikes_;
    std::array<std::unique_ptr<Window>, 2> windows_;
    std::uint32_t turn_ = 0;
    std::vector<std::byte> blocks_;  ///< those that are sent in this round
};

template <const ExchangeInfo& info, GatherPlan (*plan)(Rank, std::int32_t), WindowSync sync>
std::unique_ptr<SpikeExchange> make(const ExchangeArguments& arguments) {
    // Checked by the base class; a plan needs it before.
    if (arguments.communicator == nullptr) throw InternalError("exchange of spikes: no communicator was given");
    const Communicator& communicator = *arguments.communicator;
    return std::make_unique<RmaAllgatherExchange>(arguments, info, plan(communicator.rank(), communicator.size()),
                                                  sync);
}

}  // namespace

const ExchangeInfo rma_allgather_exchange{
    .name = "rma_allgather",
    .summary =
        "sends every spike to all processes by recursive doubling, which writes into their memory; all processes "
        "meet after each step",
    .directed = false,
    .make = make<rma_allgather_exchange, doubling_plan, WindowSync::fence>,
};
const ExchangeInfo rma_allgather_counter_exchange{
    .name = "rma_allgather_counter",
    .summary = "as rma_allgather; a process polls a number that its partner writes after the spikes",
    .directed = false,
    .make = make<rma_allgather_counter_exchange, doubling_plan, WindowSync::counter>,
};
const ExchangeInfo rma_allgather_flush_exchange{
    .name = "rma_allgather_flush",
    .summary = "as rma_allgather; a process flushes what it has written, and sends its partner an empty message",
    .directed = false,
    .make = make<rma_allgather_flush_exchange, doubling_plan, WindowSync::flush>,
};
const ExchangeInfo rma_allgather_pscw_exchange{
    .name = "rma_allgather_pscw",
    .summary = "as rma_allgather; only partners meet (post, start, complete, wait)",
    .directed = false,
    .make = make<rma_allgather_pscw_exchange, doubling_plan, WindowSync::partners>,
};
const ExchangeInfo rma_bruck_exchange{
    .name = "rma_bruck",
    .summary = "as rma_allgather, by the algorithm of Bruck",
    .directed = false,
    .make = make<rma_bruck_exchange, bruck_plan, WindowSync::fence>,
};
const ExchangeInfo rma_bruck_counter_exchange{
    .name = "rma_bruck_counter",
    .summary = "as rma_allgather_counter, by the algorithm of Bruck",
    .directed = false,
    .make = make<rma_bruck_counter_exchange, bruck_plan, WindowSync::counter>,
};
const ExchangeInfo rma_bruck_flush_exchange{
    .name = "rma_bruck_flush",
    .summary = "as rma_allgather_flush, by the algorithm of Bruck",
    .directed = false,
    .make = make<rma_bruck_flush_exchange, bruck_plan, WindowSync::flush>,
};
const ExchangeInfo rma_bruck_pscw_exchange{
    .name = "rma_bruck_pscw",
    .summary = "as rma_allgather_pscw, by the algorithm of Bruck",
    .directed = false,
    .make = make<rma_bruck_pscw_exchange, bruck_plan, WindowSync::partners>,
};

}  // namespace ranvier::comm
