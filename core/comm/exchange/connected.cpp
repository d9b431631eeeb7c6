#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// The processes that this one sends to or receives from, ascending. @note Collective.
std::vector<Rank> find_partners(Communicator& communicator, const Destinations& destinations) {
    const auto ranks = static_cast<std::size_t>(communicator.size());
    std::vector<std::byte> sends(ranks);
    std::vector<std::byte> receives(ranks);
    for (const Rank rank : destinations.ranks()) sends[static_cast<std::size_t>(rank.value)] = std::byte{1};
    communicator.alltoall(sends, receives);
    std::vector<Rank> partners;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if ((sends[rank] | receives[rank]) != std::byte{0}) partners.emplace_back(static_cast<std::int32_t>(rank));
    }
    return partners;
}

/// The lowest rank of the component of this process in the graph of processes that exchange spikes. Each process adopts the
/// lowest rank that its partners know, as often as the longest path of a component needs. @note Collective.
std::int32_t find_component(Communicator& communicator, const Destinations& destinations) {
    const std::vector<Rank> partners = find_partners(communicator, destinations);
    const bool with_itself = std::ranges::binary_search(partners, communicator.rank());
    // One process exchanges spikes with all others. This is usual, and then a neighborhood would be large.
    if (communicator.greatest(partners.size() + (with_itself ? 0 : 1)) ==
        static_cast<std::uint64_t>(communicator.size())) {
        return 0;
    }
    const std::unique_ptr<Neighborhood> neighborhood = communicator.make_neighborhood(partners, partners);
    std::int32_t lowest = communicator.rank().value;
    std::vector<std::int32_t> mine(partners.size());
    std::vector<std::int32_t> theirs(partners.size());
    for (bool changes = true; changes;) {
        std::fill(mine.begin(), mine.end(), lowest);
        neighborhood->alltoall(std::as_bytes(std::span<const std::int32_t>(mine)),
                               std::as_writable_bytes(std::span(theirs)));
        const std::int32_t before = lowest;
        for (const std::int32_t label : theirs) lowest = std::min(lowest, label);
        changes = communicator.greatest(lowest < before ? 1 : 0) == 1;
    }
    return lowest;
}

/// Whether the processes have more than one component. @note Collective.
bool has_parts(const ExchangeArguments& arguments) {
    Communicator& communicator = *arguments.communicator;
    return communicator.greatest(
               static_cast<std::uint64_t>(find_component(communicator, *checked_destinations(arguments)))) > 0;
}

/// Destinations with ranks of a part of the processes.
class PartDestinations final : public Destinations {
   public:
    /// @param members the ranks of the part among all processes, ascending
    PartDestinations(std::shared_ptr<const Destinations> all, std::vector<Rank> members)
        : all_(std::move(all)), members_(std::move(members)) {}

    void find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
              std::vector<Destination>& found) const override {
        if (first >= last) return;
        const std::size_t before = found.size();
        const Rank last_member = members_[static_cast<std::size_t>(last.value) - 1];
        all_->find(shard, local, members_[static_cast<std::size_t>(first.value)], Rank{last_member.value + 1}, found);
        auto member = members_.begin() + first.value;
        for (std::size_t i = before; i < found.size(); ++i) {
            // Both ascend.
            member = std::lower_bound(member, members_.end(), found[i].rank);
            found[i].rank = Rank{static_cast<std::int32_t>(member - members_.begin())};
        }
    }
    std::vector<Rank> ranks() const override {
        std::vector<Rank> ranks = all_->ranks();
        for (Rank& rank : ranks) {
            const auto member = std::lower_bound(members_.begin(), members_.end(), rank);
            rank = Rank{static_cast<std::int32_t>(member - members_.begin())};
        }
        return ranks;
    }
    std::uint32_t sources(std::uint32_t shard) const override { return all_->sources(shard); }
    std::uint64_t address_limit() const override { return all_->address_limit(); }

    std::uint64_t bytes() const { return bytes_of(members_); }

   private:
    std::shared_ptr<const Destinations> all_;
    std::vector<Rank> members_;
};

/// An alltoall of the processes that are connected by synapses, directly or over others: each such part of the processes has
/// a communicator of its own. Parts do not wait for each other, and each chooses its numbers of rounds and lengths of
/// sections.
class ConnectedExchange final : public SpikeExchange {
   public:
    explicit ConnectedExchange(const ExchangeArguments& arguments) {
        if (arguments.communicator == nullptr) throw InternalError("exchange of spikes: no communicator was given");
        Communicator& all = *arguments.communicator;
        const std::shared_ptr<const Destinations> destinations = checked_destinations(arguments);
        const std::int32_t component = find_component(all, *destinations);
        ExchangeArguments of_part = arguments;
        of_part.communicator = all.split(component);
        if (of_part.communicator->size() < all.size()) {
            std::vector<Rank> members(static_cast<std::size_t>(of_part.communicator->size()));
            const Rank here = all.rank();
            of_part.communicator->allgather(std::as_bytes(std::span(&here, 1)),
                                            std::as_writable_bytes(std::span(members)));
            part_ = std::make_shared<PartDestinations>(destinations, std::move(members));
            of_part.destinations = part_;
        }
        exchange_ = alltoall_exchange.make(of_part);
    }

    std::string_view name() const override { return connected_exchange.name; }
    void begin(Step first_step) override { exchange_->begin(first_step); }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        exchange_->collocate(worker, outboxes);
    }
    void transfer(bool flush) override { exchange_->transfer(flush); }
    void take(std::uint32_t worker, const Visit& visit) override { exchange_->take(worker, visit); }
    bool more() const override { return exchange_->more(); }
    void next_round() override { exchange_->next_round(); }

    ExchangeCounts counts() const override {
        ExchangeCounts counts = exchange_->counts();
        if (part_) counts.buffer_bytes += part_->bytes();
        return counts;
    }
    void reset_counts() override { exchange_->reset_counts(); }

   private:
    std::shared_ptr<const PartDestinations> part_;  ///< null if all processes are connected
    std::unique_ptr<SpikeExchange> exchange_;
};

}  // namespace

const ExchangeInfo connected_exchange{
    .name = "connected",
    .summary = "like alltoall, but only among processes that are connected by synapses, directly or over others",
    .directed = true,
    .make = make_exchange<ConnectedExchange>,
    .can_win = has_parts,
};

}  // namespace ranvier::comm
