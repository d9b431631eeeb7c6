#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/undirected.hpp"

namespace ranvier::comm {

namespace {

/// The buffers of one epoch. Every process sends all its spikes to all processes: a fixed number of them, with the count,
/// in one allgather. If any process has more, a second allgather of variable lengths, known from the counts, carries the
/// rest (Hines, Kumar and Schürmann, 2011), in several rounds if the rest exceeds the limit of the buffer.
class AllgatherBuffers {
   public:
    AllgatherBuffers(const ExchangeArguments& arguments, const SpikePacking& packing)
        : rank_(arguments.communicator->rank()),
          ranks_(static_cast<std::size_t>(arguments.communicator->size())),
          spikes_(arguments.options.allgather_spikes),
          spike_bytes_(packing.bytes()),
          most_at_once_(std::max<std::uint64_t>(1, arguments.options.buffer_bytes / spike_bytes_)) {}

    std::span<const std::byte> block() const { return block_; }
    std::span<std::byte> blocks() { return blocks_; }
    std::span<const std::byte> rest() const { return rest_; }
    std::span<std::byte> rests() { return rests_; }
    /// Bytes of each process in a second allgather.
    std::span<const std::size_t> counts() const { return counts_; }
    /// Whether any process has spikes for another second allgather.
    bool anything_left() const { return most_left_ > 0; }
    std::uint64_t bytes() const {
        return bytes_of(block_) + bytes_of(blocks_) + bytes_of(rest_) + bytes_of(rests_) + bytes_of(left_) +
               bytes_of(counts_);
    }

    /// Before the first allgather: the count and the first spikes.
    void fill_block(PackedOutboxes& outboxes) {
        const std::uint64_t count = outboxes.left();
        block_.resize(block_bytes());
        std::memcpy(block_.data(), &count, sizeof count);
        outboxes.take(std::span(block_).subspan(sizeof count, in_block(count)));
        blocks_.resize(block_bytes() * ranks_);
    }
    /// After it: how much is left.
    void note_blocks() {
        most_left_ = 0;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            most_left_ = std::max(most_left_, left_of(count_in(block_of(rank))));
        }
        if (!anything_left()) return;
        left_.resize(ranks_);
        for (std::size_t rank = 0; rank < ranks_; ++rank) left_[rank] = left_of(count_in(block_of(rank)));
    }
    void unpack_blocks(const PackedOutboxes& outboxes, std::vector<ArrivedSpike>& arrived) const {
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            const std::span block = block_of(rank);
            const std::uint64_t count = count_in(block);
            outboxes.unpack(Rank{static_cast<std::int32_t>(rank)}, block.subspan(sizeof count, in_block(count)),
                            arrived);
        }
    }

    /// Before a second allgather: the rest, limited by the buffer.
    void fill_rest(PackedOutboxes& outboxes) {
        counts_.resize(ranks_);
        std::size_t total = 0;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            const std::uint64_t now = std::min(left_[rank], most_at_once_);
            left_[rank] -= now;
            counts_[rank] = now * spike_bytes_;
            total += counts_[rank];
        }
        most_left_ -= std::min(most_left_, most_at_once_);
        rest_.resize(counts_[static_cast<std::size_t>(rank_.value)]);
        outboxes.take(rest_);
        rests_.resize(total);
    }
    /// After it.
    void unpack_rest(const PackedOutboxes& outboxes, std::vector<ArrivedSpike>& arrived) const {
        std::span<const std::byte> rest = rests_;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            outboxes.unpack(Rank{static_cast<std::int32_t>(rank)}, rest.first(counts_[rank]), arrived);
            rest = rest.subspan(counts_[rank]);
        }
    }

   private:
    std::size_t block_bytes() const { return sizeof(std::uint64_t) + spikes_ * spike_bytes_; }
    std::span<const std::byte> block_of(std::size_t rank) const {
        return std::span(blocks_).subspan(block_bytes() * rank, block_bytes());
    }
    static std::uint64_t count_in(std::span<const std::byte> block) {
        std::uint64_t count = 0;
        std::memcpy(&count, block.data(), sizeof count);
        return count;
    }
    /// Bytes that the spikes of a process with this many occupy in its block.
    std::size_t in_block(std::uint64_t count) const { return std::min(count, spikes_) * spike_bytes_; }
    std::uint64_t left_of(std::uint64_t count) const { return count - std::min(count, spikes_); }

    Rank rank_;
    std::size_t ranks_;
    std::uint64_t spikes_;  ///< in a block
    std::size_t spike_bytes_;
    std::uint64_t most_at_once_;  ///< spikes of one process in a second allgather
    std::uint64_t most_left_ = 0;  ///< greatest number of spikes that a process has still to send
    std::vector<std::uint64_t> left_;  ///< the same for each process; valid where there are any
    std::vector<std::size_t> counts_;
    std::vector<std::byte> block_;   ///< of this process
    std::vector<std::byte> blocks_;  ///< of all processes
    std::vector<std::byte> rest_;
    std::vector<std::byte> rests_;
};

class AllgatherExchange final : public UndirectedExchange {
   public:
    explicit AllgatherExchange(const ExchangeArguments& arguments)
        : UndirectedExchange(arguments), buffers_(arguments, outboxes_.packing()) {}

    std::string_view name() const override { return allgather_exchange.name; }

   protected:
    bool send_round(bool first) override {
        if (first) {
            buffers_.fill_block(outboxes_);
            communicator().allgather(buffers_.block(), buffers_.blocks());
            count_collective(buffers_.block().size());
            buffers_.note_blocks();
            buffers_.unpack_blocks(outboxes_, arrived_);
        }
        if (buffers_.anything_left()) {
            buffers_.fill_rest(outboxes_);
            communicator().allgatherv(buffers_.rest(), buffers_.rests(), buffers_.counts());
            count_collective(buffers_.rest().size());
            buffers_.unpack_rest(outboxes_, arrived_);
        }
        return buffers_.anything_left();
    }
    std::uint64_t buffer_bytes() const override { return UndirectedExchange::buffer_bytes() + buffers_.bytes(); }

   private:
    AllgatherBuffers buffers_;
};

/// The allgather of an epoch in the background of the next epoch's update, with two intervals per shortest delay. Hines,
/// Kumar and Schürmann (2011) propose a thread of each process for it, which waits in MPI_Allgather while other threads
/// compute. Ranvier initializes MPI with MPI_THREAD_SERIALIZED, and a program may have done the same: while one thread
/// waits in MPI, no other thread may call it, not even in another part of the program. So the collective is non-blocking,
/// and the thread that computes lets it make progress after each step. As in the paper, the second allgather, of spikes
/// that do not fit into the first one, also starts during the update, as soon as the first one is complete.
///
/// Processes start the second allgather at different times, so these collectives have a communicator of their own, on
/// which their order is the same everywhere: those of an epoch come before the first one of the next epoch.
class AllgatherOverlapExchange final : public ExchangeBase {
   public:
    explicit AllgatherOverlapExchange(const ExchangeArguments& arguments)
        : ExchangeBase(arguments),
          own_(communicator().split(0)),
          epochs_{Epoch(arguments), Epoch(arguments)},
          present_(&epochs_[0]),
          previous_(&epochs_[1]) {}
    AllgatherOverlapExchange(const AllgatherOverlapExchange&) = delete;
    AllgatherOverlapExchange& operator=(const AllgatherOverlapExchange&) = delete;

    std::string_view name() const override { return allgather_overlap_exchange.name; }
    bool has_latency() const override { return options().intervals == 2; }
    bool directed() const override { return false; }

    void begin(Step first_step) override {
        if (present_->is_pending) std::swap(present_, previous_);
        present_->first_step = first_step;
        present_->outboxes.clear();
        filling_ = present_;
        ++counts_.exchanges;
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        if (filling_ != nullptr) filling_->outboxes.pack(worker, outboxes[worker]);
    }
    void transfer(bool flush) override {
        const bool finishing = flush || !has_latency();
        arrivals_.clear();
        Epoch* completed = previous_->is_pending ? previous_ : nullptr;
        if (completed != nullptr) start_rest_if_any(*completed);
        if (filling_ != nullptr) start_blocks(*filling_);
        filling_ = nullptr;
        if (completed == nullptr && finishing) {
            completed = present_;
            start_rest_if_any(*completed);
        }
        if (completed != nullptr) finish_round(*completed);
        more_ = completed != nullptr && (completed->is_pending || (finishing && present_->is_pending));
    }
    void advance(std::uint32_t /*shard*/, std::span<const EmittedSpike> /*outbox*/) override {
        if (previous_->request != nullptr && previous_->request->test() && previous_->gathers_blocks) {
            start_rest_if_any(*previous_);
        }
    }

   protected:
    std::uint64_t buffer_bytes() const override {
        std::uint64_t bytes = bytes_of(arrived_);
        for (const Epoch& epoch : epochs_) bytes += epoch.outboxes.bytes() + epoch.buffers.bytes();
        return bytes;
    }

   private:
    struct Epoch {
        explicit Epoch(const ExchangeArguments& arguments)
            : outboxes(arguments), buffers(arguments, outboxes.packing()) {}
        Step first_step = 0;
        PackedOutboxes outboxes;
        AllgatherBuffers buffers;
        bool is_pending = false;      ///< whether it was sent and has spikes that were not handed over
        bool gathers_blocks = false;  ///< whether the request is the first allgather
        bool has_blocks = false;      ///< whether those were not unpacked
        // Declared after its buffers, so that it completes before they are destroyed.
        std::unique_ptr<Request> request;
    };

    void start_blocks(Epoch& epoch) {
        counts_.spikes_sent += epoch.outboxes.left() * static_cast<std::uint64_t>(ranks());
        epoch.buffers.fill_block(epoch.outboxes);
        epoch.request = own_->start_allgather(epoch.buffers.block(), epoch.buffers.blocks());
        count_collective(epoch.buffers.block().size());
        epoch.is_pending = true;
        epoch.gathers_blocks = true;
        epoch.has_blocks = true;
    }
    /// Starts a second allgather, unless one is in progress, or nothing is left. Waits for the first one.
    void start_rest_if_any(Epoch& epoch) {
        if (epoch.gathers_blocks) {
            epoch.request->wait();
            epoch.request.reset();
            epoch.gathers_blocks = false;
            epoch.buffers.note_blocks();
        }
        if (epoch.request != nullptr || !epoch.buffers.anything_left()) return;
        epoch.buffers.fill_rest(epoch.outboxes);
        epoch.request = own_->start_allgatherv(epoch.buffers.rest(), epoch.buffers.rests(), epoch.buffers.counts());
        count_collective(epoch.buffers.rest().size());
    }
    void finish_round(Epoch& epoch) {
        arrived_.clear();
        if (epoch.has_blocks) epoch.buffers.unpack_blocks(epoch.outboxes, arrived_);
        epoch.has_blocks = false;
        if (epoch.request != nullptr) {
            epoch.request->wait();
            epoch.request.reset();
            epoch.buffers.unpack_rest(epoch.outboxes, arrived_);
        }
        counts_.spikes_received += arrived_.size();
        arrivals_.push_back({epoch.first_step, arrived_});
        epoch.is_pending = epoch.buffers.anything_left();
    }

    std::unique_ptr<Communicator> own_;
    std::array<Epoch, 2> epochs_;
    std::vector<ArrivedSpike> arrived_;  ///< in the last round
    Epoch* present_;
    Epoch* previous_;
    Epoch* filling_ = nullptr;  ///< the one that the workers fill, if any
};

}  // namespace

const ExchangeInfo allgather_exchange{
    .name = "allgather",
    .summary = "sends every spike to all processes, in 2 to 8 bytes",
    .directed = false,
    .make = make_exchange<AllgatherExchange>,
};
const ExchangeInfo allgather_overlap_exchange{
    .name = "allgather_overlap",
    .summary = "sends as allgather does, while neurons of the next epoch are updated",
    .directed = false,
    .make = make_exchange<AllgatherOverlapExchange>,
};

}  // namespace ranvier::comm
