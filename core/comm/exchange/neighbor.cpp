#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/rank_lists.hpp"

namespace ranvier::comm {

namespace {

/// The ranks that send to this one, ascending. @note Collective.
std::vector<Rank> find_sources(Communicator& communicator, std::span<const Rank> destinations) {
    const auto ranks = static_cast<std::size_t>(communicator.size());
    std::vector<std::byte> sends(ranks);
    std::vector<std::byte> receives(ranks);
    for (const Rank rank : destinations) sends[static_cast<std::size_t>(rank.value)] = std::byte{1};
    communicator.alltoall(sends, receives);
    std::vector<Rank> sources;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (receives[rank] != std::byte{0}) sources.emplace_back(static_cast<std::int32_t>(rank));
    }
    return sources;
}

/// Sends spikes only to the processes that need them, in neighbourhood collectives: first the numbers, then the spikes.
///
/// All spikes are sent at once, regardless of the buffer limit: for another round all processes would have to agree, in
/// the very collective that this method avoids.
class NeighborExchange final : public ExchangeBase {
   public:
    explicit NeighborExchange(const ExchangeArguments& arguments)
        : ExchangeBase(arguments),
          lists_(checked_destinations(arguments), checked_destinations(arguments)->ranks(), options()),
          send_bytes_(lists_.partners()) {
        const std::vector<Rank> destinations = arguments.destinations->ranks();
        neighborhood_ = communicator().make_neighborhood(find_sources(communicator(), destinations), destinations);
        received_bytes_.resize(neighborhood_->sources().size());
    }

    std::string_view name() const override { return neighbor_exchange.name; }

    void begin(Step first_step) override {
        first_step_ = first_step;
        ++counts_.exchanges;
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        lists_.collocate(worker, outboxes);
    }
    void transfer(bool /*flush*/) override {
        lists_.take_all();
        for (std::size_t i = 0; i < send_bytes_.size(); ++i) {
            send_bytes_[i] = lists_.counts()[i] * lists_.packing().bytes();
        }
        const auto heads = std::as_bytes(std::span<const std::size_t>(send_bytes_));
        neighborhood_->alltoall(heads, std::as_writable_bytes(std::span(received_bytes_)));
        count_collective(heads.size(), send_bytes_.size());

        const auto bytes = std::accumulate(received_bytes_.begin(), received_bytes_.end(), std::size_t{0});
        lengthen(received_, bytes + ArrivedSpikes::slack);
        neighborhood_->alltoallv(lists_.data(), send_bytes_, std::span(received_).first(bytes), received_bytes_);
        count_collective(lists_.data().size(), send_bytes_.size());

        const std::size_t received = bytes / lists_.packing().bytes();
        counts_.spikes_sent += lists_.taken();
        counts_.spikes_received += received;
        arrivals_.assign(1, {first_step_, lists_.packing().arrived(received_.data(), received)});
    }

   protected:
    std::uint64_t buffer_bytes() const override {
        return lists_.bytes() + bytes_of(send_bytes_) + bytes_of(received_bytes_) + bytes_of(received_);
    }

   private:
    RankLists lists_;
    std::unique_ptr<Neighborhood> neighborhood_;
    Step first_step_ = 0;
    std::vector<std::size_t> send_bytes_;      ///< for each destination
    std::vector<std::size_t> received_bytes_;  ///< from each source
    std::vector<std::byte> received_;          ///< never shrinks
};

}  // namespace

const ExchangeInfo neighbor_exchange{
    .name = "neighbor",
    .summary = "sends spikes in collectives of the processes that need spikes of each other",
    .directed = true,
    .make = make_exchange<NeighborExchange>,
};

}  // namespace ranvier::comm
