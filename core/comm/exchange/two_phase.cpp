#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/tight_list.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/named_spikes.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::comm {

namespace {

/// Messages in two phases, so that a spike for many processes costs its sender only as many messages as the square root
/// of their number: the processes are divided into subsets, and one process of each receives the spike and relays it to
/// the others (Hines, Kumar and Schürmann, 2011).
///
/// Set-up gives each relay the processes that need the spikes of a source, with the addresses. With two intervals per
/// shortest delay, "two_phase" relays a spike of one epoch in the next one, which the paper found to balance the load
/// best, and "two_phase_any" at once, in either of the two. Both bring it by the end of the next epoch. With one
/// interval, a spike is relayed at once.
class TwoPhaseExchange final : public NamedSpikesExchange {
   public:
    /// @param tags by phase and turn
    TwoPhaseExchange(const ExchangeArguments& arguments, const ExchangeInfo& info, std::span<const int> tags,
                     bool relays_in_any_interval)
        : NamedSpikesExchange(arguments, Completion::conservation),
          info_(info),
          tags_(tags),
          relays_in_any_interval_(relays_in_any_interval),
          relays_(options().workers),
          relayed_(communicator(), destinations(), options(), ChooseRelays{*this, {}}) {
        for (Relays& of_shard : relays_) of_shard.ranks.shrink_to_fit();
    }

    std::string_view name() const override { return info_.name; }

   protected:
    void send_spike(std::uint32_t shard, std::uint32_t local, std::uint64_t word) override {
        const Relays& mine = relays_[shard];
        const Source& source = mine.sources[local];
        for (std::size_t i = source.first_relay; i < mine.sources[local + 1].first_relay; ++i) {
            send({&word, 1}, mine.ranks[i], first_phase(turn()), turn());
        }
        counts_.spikes_sent += source.addresses;
    }

    std::span<const int> tags() const override { return tags_; }

    void handle(int tag, const Message& message) override {
        for (const std::uint32_t of_turn : {0U, 1U}) {
            if (tag == second_phase(of_turn)) {
                Epoch& of_message = epoch(of_turn);
                ++of_message.received;
                add_words(of_message, message);
            } else if (tag == first_phase(of_turn)) {
                for_each_word(message, [&](std::uint64_t word) {
                    append(waiting_[of_turn], {message.from, ArrivedSpike(word)});
                });
                if (relays_in_any_interval_ || !may_defer(of_turn)) send_deferred(of_turn);
            }
        }
    }

    /// Relays. Only now are the messages counted as received, since each of them may cause others.
    void send_deferred(std::uint32_t of_turn) override {
        for (const Waiting& spike : waiting_[of_turn]) relay(spike.from, spike.spike, of_turn);
        waiting_[of_turn].clear();
    }

    std::uint64_t buffer_bytes() const override {
        std::uint64_t bytes = NamedSpikesExchange::buffer_bytes() + relayed_.bytes() + bytes_of(words_);
        for (const auto& waiting : waiting_) bytes += bytes_of(waiting);
        for (const Relays& of_shard : relays_) bytes += bytes_of(of_shard.sources) + bytes_of(of_shard.ranks);
        return bytes;
    }

   private:
    int first_phase(std::uint32_t of_turn) const { return tags_[of_turn]; }
    int second_phase(std::uint32_t of_turn) const { return tags_[2 + of_turn]; }

    struct Source {
        std::size_t first_relay = 0;  ///< the entry of the next source is the end
        std::uint64_t addresses = 0;  ///< on other processes
    };
    /// The relays of each source of a shard.
    struct Relays {
        std::vector<Source> sources;  ///< with an additional entry as the end
        std::vector<Rank> ranks;
    };
    /// A spike to be relayed.
    struct Waiting {
        Rank from;
        ArrivedSpike spike;
    };

    /// Divides the processes that need a source into subsets, and sends each subset to the relay chosen for it.
    struct ChooseRelays {
        TwoPhaseExchange& exchange;
        std::vector<std::span<const Destination>> targets;  ///< destinations on each process

        template <class Give>
        void operator()(std::uint32_t shard, std::uint32_t local, Give give) {
            Relays& mine = exchange.relays_[shard];
            if (local == 0) mine.sources.resize(std::size_t{exchange.destinations().sources(shard)} + 1);
            targets.clear();
            exchange.for_each_other_rank(shard, local, [&](Rank, std::span<const Destination> there) {
                targets.push_back(there);
                mine.sources[local].addresses += there.size();
            });
            const std::size_t count = targets.size();
            const auto subsets = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
            for (std::size_t subset = 0; subset < subsets; ++subset) {
                const std::span members = std::span(targets).subspan(
                    count * subset / subsets, count * (subset + 1) / subsets - count * subset / subsets);
                const Rank relay = members[exchange.draw(shard, local, subset, members.size())].front().rank;
                mine.ranks.push_back(relay);
                for (const std::span<const Destination> there : members) {
                    for (const Destination& destination : there) give(relay, destination);
                }
            }
            mine.sources[local + 1].first_relay = mine.ranks.size();
        }
    };

    /// Pseudo-random choice of the relaying member of a subset: spreads the relays, and is always the same.
    std::size_t draw(std::uint32_t shard, std::uint32_t local, std::size_t subset, std::size_t members) const {
        constexpr RandomKey key{0x72656C61, 0x79730000};
        const std::uint32_t word = philox(
            {local, shard, static_cast<std::uint32_t>(communicator().rank().value), static_cast<std::uint32_t>(subset)},
            key)[0];
        return static_cast<std::size_t>(std::uint64_t{word} * members >> 32);
    }

    void relay(Rank from, ArrivedSpike spike, std::uint32_t of_turn) {
        const std::span<const Destination> list = relayed_.find(from, spike.address());
        if (list.empty()) {
            throw InternalError("exchange of spikes: rank " + std::to_string(from.value) +
                                " sends a spike that this process does not relay");
        }
        ++epoch(of_turn).received;
        for_each_rank(list, [&](Rank rank, std::span<const Destination> there) {
            if (rank == communicator().rank()) {
                make_room(epoch(of_turn).arrived, epoch(of_turn).arrived.size() + there.size());
                for (const Destination& destination : there) {
                    epoch(of_turn).arrived.emplace_back(destination.address, spike.lag());
                }
                return;
            }
            words_.clear();
            for (const Destination& destination : there) {
                words_.push_back(ArrivedSpike(destination.address, spike.lag()).word());
            }
            send(words_, rank, second_phase(of_turn), of_turn);
        });
    }

    const ExchangeInfo& info_;
    std::span<const int> tags_;
    bool relays_in_any_interval_;
    std::vector<Relays> relays_;  ///< of each shard
    SourceTable<Destination> relayed_;  ///< destinations to which this process relays, itself included
    std::array<std::vector<Waiting>, 2> waiting_;
    std::vector<std::uint64_t> words_;
};

std::unique_ptr<SpikeExchange> make_two_phase(const ExchangeArguments& arguments) {
    return std::make_unique<TwoPhaseExchange>(arguments, two_phase_exchange, tags::two_phase, false);
}
std::unique_ptr<SpikeExchange> make_two_phase_any(const ExchangeArguments& arguments) {
    return std::make_unique<TwoPhaseExchange>(arguments, two_phase_any_exchange, tags::two_phase_any, true);
}

}  // namespace

const ExchangeInfo two_phase_exchange{
    .name = "two_phase",
    .summary = "sends a message for each spike to some of the processes that need it, which relay it to the others",
    .directed = true,
    .make = make_two_phase,
};
const ExchangeInfo two_phase_any_exchange{
    .name = "two_phase_any",
    .summary = "as two_phase; relays a spike as soon as it arrives, also with two intervals",
    .directed = true,
    .make = make_two_phase_any,
};

}  // namespace ranvier::comm
