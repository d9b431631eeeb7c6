#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/rank_lists.hpp"

namespace ranvier::comm {

namespace {

/// Sends spikes only to the processes that need them: first their numbers, then the spikes.
///
/// Each count carries two flags: whether its sender sends any spikes at all, so that silent epochs skip the second
/// collective, and whether the sender has more than its buffer holds, so that all processes agree on another round.
class AlltoallvExchange final : public ExchangeBase {
   public:
    explicit AlltoallvExchange(const ExchangeArguments& arguments)
        : ExchangeBase(arguments),
          lists_(checked_destinations(arguments), ranks(), options()),
          most_per_worker_(std::max<std::uint64_t>(1, most_spikes() / options().workers)),
          send_heads_(lists_.partners()),
          received_heads_(lists_.partners()),
          send_bytes_(lists_.partners()),
          received_bytes_(lists_.partners()) {}

    std::string_view name() const override { return alltoallv_exchange.name; }

    void begin(Step first_step) override {
        first_step_ = first_step;
        first_round_ = true;
        ++counts_.exchanges;
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        if (first_round_) lists_.collocate(worker, outboxes);
    }
    void transfer(bool /*flush*/) override {
        first_round_ = false;
        lists_.take(most_per_worker_);
        counts_.spikes_sent += lists_.taken();
        const std::uint64_t flags = exchange_heads();
        const std::uint64_t received = (flags & sends_flag) != 0 ? exchange_data() : 0;
        counts_.spikes_received += received;
        arrivals_.assign(1, {first_step_, lists_.packing().arrived(received_.data(), received)});
        more_ = (flags & more_flag) != 0;
    }

   protected:
    std::uint64_t buffer_bytes() const override {
        return lists_.bytes() + bytes_of(send_heads_) + bytes_of(received_heads_) + bytes_of(send_bytes_) +
               bytes_of(received_bytes_) + bytes_of(received_);
    }

   private:
    /// Flags beside a count: the sender has more than it sends now; the sender sends to some process.
    static constexpr std::uint64_t more_flag = std::uint64_t{1} << 63;
    static constexpr std::uint64_t sends_flag = std::uint64_t{1} << 62;
    static constexpr std::uint64_t count_mask = sends_flag - 1;

    std::uint64_t most_spikes() const {
        return std::max<std::uint64_t>(options().buffer_bytes / lists_.packing().bytes(),
                                       static_cast<std::uint64_t>(ranks()));
    }

    /// Returns the combined flags of all processes.
    std::uint64_t exchange_heads() {
        std::uint64_t flags = 0;
        if (lists_.anything_left()) flags |= more_flag;
        if (!lists_.data().empty()) flags |= sends_flag;
        for (std::size_t i = 0; i < send_heads_.size(); ++i) {
            send_heads_[i] = lists_.counts()[i] | flags;
            send_bytes_[i] = lists_.counts()[i] * lists_.packing().bytes();
        }
        const auto send = std::as_bytes(std::span(send_heads_));
        communicator().alltoall(send, std::as_writable_bytes(std::span(received_heads_)));
        count_collective(send.size());
        std::uint64_t all_flags = 0;
        for (const std::uint64_t head : received_heads_) all_flags |= head;
        return all_flags;
    }

    /// Returns the number of received spikes.
    std::uint64_t exchange_data() {
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < received_heads_.size(); ++i) {
            const std::uint64_t count = received_heads_[i] & count_mask;
            received_bytes_[i] = count * lists_.packing().bytes();
            total += count;
        }
        const std::size_t bytes = total * lists_.packing().bytes();
        lengthen(received_, bytes + ArrivedSpikes::slack);
        communicator().alltoallv(lists_.data(), send_bytes_, std::span(received_).first(bytes), received_bytes_);
        count_collective(lists_.data().size());
        return total;
    }

    RankLists lists_;
    std::uint64_t most_per_worker_;  ///< limit of the spikes sent to a worker's part of the processes in one round
    Step first_step_ = 0;
    bool first_round_ = true;
    std::vector<std::uint64_t> send_heads_;
    std::vector<std::uint64_t> received_heads_;
    std::vector<std::size_t> send_bytes_;
    std::vector<std::size_t> received_bytes_;
    std::vector<std::byte> received_;  ///< never shrinks
};

}  // namespace

const ExchangeInfo alltoallv_exchange{
    .name = "alltoallv",
    .summary = "sends spikes only where they are needed: first their numbers, then the spikes",
    .directed = true,
    .make = make_exchange<AlltoallvExchange>,
};

}  // namespace ranvier::comm
