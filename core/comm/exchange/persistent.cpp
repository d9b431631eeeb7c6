#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/tight_list.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/named_spikes.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// One message to all processes that need the spikes of a source, set up at its first spike and then only restarted, as
/// the record-replay variant of Hines, Kumar and Schürmann (2011).
///
/// Each process keeps a table of its addresses by process and name, exchanged at set-up. The alternative, one message
/// with the addresses on all processes, would send each process mostly addresses that it does not need: with a thousand
/// processes eight kilobytes a spike.
///
/// A message cannot be restarted before it has been sent. A spike that comes earlier is sent as by multisend, in the
/// same format.
///
/// Messages are set up lazily because each takes memory for every process that it goes to, and most sources of a large
/// network are silent for long.
class PersistentExchange final : public NamedSpikesExchange {
   public:
    PersistentExchange(const ExchangeArguments& arguments, const ExchangeInfo& info, std::span<const int> tags,
                       Completion completion)
        : NamedSpikesExchange(arguments, completion),
          info_(info),
          tags_(tags),
          addresses_(communicator(), destinations(), options(), SendAddresses{*this}),
          channels_(options().workers) {
        for (std::uint32_t shard = 0; shard < channels_.size(); ++shard) {
            channels_[shard].resize(destinations().sources(shard));
        }
    }

    std::string_view name() const override { return info_.name; }

    ExchangeCounts counts() const override {
        ExchangeCounts counts = NamedSpikesExchange::counts();
        counts.sources_set_up = opened_;
        counts.bytes_of_sources = channel_bytes_;
        return counts;
    }

   protected:
    void send_spike(std::uint32_t shard, std::uint32_t local, std::uint64_t word) override {
        std::unique_ptr<Channel>& channel = channels_[shard][local];
        if (channel == nullptr) channel = open_channel(shard, local);
        counts_.spikes_sent += channel->addresses;
        if (channel->ranks == 0) return;
        word |= std::uint64_t{turn()} << turn_shift;
        if (channel->send->done()) {
            std::memcpy(channel->send->buffer().data(), &word, sizeof word);
            channel->send->start();
            if (counts_messages()) {
                // The number of messages to each process needs the list of processes at each spike.
                for_each_other_rank(shard, local,
                                    [&](Rank rank, std::span<const Destination>) { count_sent(rank, turn()); });
            } else {
                epoch(turn()).sent += channel->ranks;
            }
            counts_.messages += channel->ranks;
            counts_.bytes_sent += channel->ranks * sizeof word;
        } else {
            // Waiting until the message has been sent could mean waiting for the next exchange.
            for_each_other_rank(shard, local, [&](Rank rank, std::span<const Destination>) {
                send({&word, 1}, rank, tags_[0], turn());
            });
        }
    }

    std::span<const int> tags() const override { return tags_; }

    void handle(int /*tag*/, const Message& message) override {
        for_each_word(message, [&](std::uint64_t word) {
            Epoch& of_message = epoch(static_cast<std::uint32_t>(word >> turn_shift));
            ++of_message.received;
            const ArrivedSpike spike(word & ArrivedSpike::mask);
            const std::span<const std::uint64_t> addresses = addresses_.find(message.from, spike.address());
            if (addresses.empty()) {
                throw InternalError("exchange of spikes: rank " + std::to_string(message.from.value) +
                                    " sends a spike that is not needed here");
            }
            make_room(of_message.arrived, of_message.arrived.size() + addresses.size());
            for (const std::uint64_t address : addresses) of_message.arrived.emplace_back(address, spike.lag());
        });
    }

    std::uint64_t buffer_bytes() const override {
        std::uint64_t bytes = NamedSpikesExchange::buffer_bytes() + addresses_.bytes() + channel_bytes_;
        for (const auto& of_shard : channels_) bytes += bytes_of(of_shard);
        return bytes;
    }

   private:
    /// A message, whose tag is fixed, has the turn of its epoch in the upper two bits.
    static constexpr int turn_shift = 62;

    /// The message of one source.
    struct Channel {
        std::size_t ranks = 0;  ///< number of destinations, without this rank
        std::uint64_t addresses = 0;  ///< number of addresses there
        std::unique_ptr<PersistentSend> send;
    };
    /// Sends the names of the local sources, with their addresses there, to the other processes.
    struct SendAddresses {
        PersistentExchange& exchange;

        template <class Give>
        void operator()(std::uint32_t shard, std::uint32_t local, Give give) {
            exchange.for_each_other_rank(shard, local, [&](Rank rank, std::span<const Destination> there) {
                for (const Destination& destination : there) give(rank, destination.address);
            });
        }
    };

    std::unique_ptr<Channel> open_channel(std::uint32_t shard, std::uint32_t local) {
        auto channel = std::make_unique<Channel>();
        std::vector<Rank> to;
        for_each_other_rank(shard, local, [&](Rank rank, std::span<const Destination> there) {
            to.push_back(rank);
            channel->addresses += there.size();
        });
        channel->ranks = to.size();
        if (!to.empty()) {
            channel->send = communicator().make_persistent_send(sizeof(std::uint64_t), to, tags_[0]);
        }
        // The communicator does not report its memory; it is at least a rank and a handle for each message.
        ++opened_;
        channel_bytes_ += sizeof(Channel) + to.size() * (sizeof(Rank) + sizeof(void*));
        return channel;
    }

    const ExchangeInfo& info_;
    std::span<const int> tags_;
    SourceTable<std::uint64_t> addresses_;
    std::vector<std::vector<std::unique_ptr<Channel>>> channels_;  ///< of each shard, by source
    std::uint64_t opened_ = 0;
    std::uint64_t channel_bytes_ = 0;
};

std::unique_ptr<SpikeExchange> make_persistent(const ExchangeArguments& arguments) {
    return std::make_unique<PersistentExchange>(arguments, persistent_exchange, tags::persistent,
                                                Completion::conservation);
}
std::unique_ptr<SpikeExchange> make_persistent_reduce_scatter(const ExchangeArguments& arguments) {
    return std::make_unique<PersistentExchange>(arguments, persistent_reduce_scatter_exchange,
                                                tags::persistent_reduce_scatter, Completion::counts);
}

}  // namespace

const ExchangeInfo persistent_exchange{
    .name = "persistent",
    .summary = "sends a message for each spike and process, set up once for each source",
    .directed = true,
    .make = make_persistent,
};
const ExchangeInfo persistent_reduce_scatter_exchange{
    .name = "persistent_reduce_scatter",
    .summary = "as persistent; a reduction tells each process how many messages to receive",
    .directed = true,
    .make = make_persistent_reduce_scatter,
};

}  // namespace ranvier::comm
