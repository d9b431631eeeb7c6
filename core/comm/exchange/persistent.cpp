#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/point_to_point.hpp"
#include "comm/exchange/source_table.hpp"

namespace ranvier::comm {

namespace {

/// A message to all processes that need the spikes of a source, set up when it first fires and then only started again, as
/// the record-replay variant of Hines, Kumar and Schürmann (2011).
///
/// What is sent is the same for all who receive it: the name of the source and the lag, one word. So each process keeps a
/// table of its addresses by process and name, exchanged at set-up. The alternative, one message with the addresses of all,
/// would bring each process mostly what it does not need, with a thousand processes eight kilobytes a spike.
///
/// A message that has not left yet cannot be started again. A spike that comes by then is sent as it is by multisend, in the
/// same form.
///
/// Messages are set up lazily because each takes memory for every process that it goes to, and most sources of a large
/// network are silent for long.
class PersistentExchange final : public PointToPointExchange {
   public:
    explicit PersistentExchange(const ExchangeArguments& arguments)
        : PointToPointExchange(arguments),
          addresses_(communicator(), destinations(), options(), AddressesOf{*this, {}}),
          shards_(options().workers) {
        for (std::uint32_t shard = 0; shard < shards_.size(); ++shard) {
            shards_[shard].channels.resize(destinations().sources(shard));
        }
    }

    std::string_view name() const override { return persistent_exchange.name; }

   protected:
    void prepare(std::uint32_t worker, std::span<const EmittedSpike> spikes) override {
        Shard& mine = shards_[worker];
        for (const EmittedSpike& spike : spikes) {
            mine.outgoing.push_back(spike);
            // What is needed here does not travel.
            const Rank self = communicator().rank();
            mine.found.clear();
            destinations().find(worker, spike.local, self, Rank{self.value + 1}, mine.found);
            for (const Destination& destination : mine.found) {
                mine.own.emplace_back(destination.address, spike.lag);
            }
        }
    }

    void send_prepared(std::uint32_t worker) override {
        Shard& mine = shards_[worker];
        Epoch& present = epoch(parity());
        present.arrived.insert(present.arrived.end(), mine.own.begin(), mine.own.end());
        counts_.spikes_sent += mine.own.size();
        for (const EmittedSpike& spike : mine.outgoing) {
            if (mine.channels[spike.local] == nullptr) open_channel(worker, spike.local);
            Channel& channel = *mine.channels[spike.local];
            counts_.spikes_sent += channel.addresses;
            if (channel.ranks == 0) continue;
            std::uint64_t word = ArrivedSpike(source_name(worker, spike.local), spike.lag).word();
            if (parity() == 1) word |= parity_flag;
            if (channel.send->done()) {
                std::memcpy(channel.send->buffer().data(), &word, sizeof word);
                channel.send->start();
                present.sent += channel.ranks;
                counts_.messages += channel.ranks;
                counts_.bytes_sent += channel.ranks * sizeof word;
            } else {
                send_apart(worker, spike.local, word);
            }
        }
        mine.outgoing.clear();
        mine.own.clear();
    }

    std::span<const int> tags() const override { return tags::persistent; }

    void handle(int /*tag*/, const Message& message) override {
        for_each_word(message, [&](std::uint64_t word) {
            Epoch& of_message = epoch((word & parity_flag) != 0 ? 1 : 0);
            ++of_message.received;
            const ArrivedSpike spike(word & ArrivedSpike::mask);
            const std::span<const std::uint64_t> addresses = addresses_.find(message.from, spike.address());
            if (addresses.empty()) {
                throw InternalError("exchange of spikes: rank " + std::to_string(message.from.value) +
                                    " sends a spike that is not needed here");
            }
            for (const std::uint64_t address : addresses) of_message.arrived.emplace_back(address, spike.lag());
        });
    }

    std::uint64_t buffer_bytes() const override {
        std::uint64_t bytes = PointToPointExchange::buffer_bytes() + addresses_.bytes() + channel_bytes_;
        for (const Shard& shard : shards_) {
            bytes += bytes_of(shard.found) + bytes_of(shard.outgoing) + bytes_of(shard.own) + bytes_of(shard.channels);
        }
        return bytes;
    }

   private:
    /// In a message, which has one tag for ever: whether its epoch is an odd one.
    static constexpr std::uint64_t parity_flag = std::uint64_t{1} << 63;

    /// The message of one source.
    struct Channel {
        std::size_t ranks = 0;        ///< that it goes to, this one not among them
        std::uint64_t addresses = 0;  ///< that it has there
        std::unique_ptr<PersistentSend> send;
    };
    /// Apart from those of other workers, which write at the same time.
    struct alignas(64) Shard {
        std::vector<Destination> found;
        std::vector<EmittedSpike> outgoing;
        std::vector<ArrivedSpike> own;
        std::vector<std::unique_ptr<Channel>> channels;
    };
    /// Tells the other processes what the sources here are called, and that they are needed there.
    struct AddressesOf {
        const PersistentExchange& exchange;
        std::vector<Destination> found;

        template <class Give>
        void operator()(std::uint32_t shard, std::uint32_t local, Give give) {
            found.clear();
            exchange.destinations().find(shard, local, Rank{0}, Rank{exchange.ranks()}, found);
            for (const Destination& destination : found) {
                if (destination.rank != exchange.communicator().rank()) give(destination.rank, destination.address);
            }
        }
    };

    void open_channel(std::uint32_t shard, std::uint32_t local) {
        auto channel = std::make_unique<Channel>();
        std::vector<Destination>& found = shards_[shard].found;
        found.clear();
        destinations().find(shard, local, Rank{0}, Rank{ranks()}, found);
        std::vector<Rank> to;
        for_each_rank(found, [&](Rank rank, std::span<const Destination> there) {
            if (rank == communicator().rank()) return;
            to.push_back(rank);
            channel->addresses += there.size();
        });
        channel->ranks = to.size();
        if (!to.empty()) {
            channel->send = communicator().make_persistent_send(sizeof(std::uint64_t), to, tags::persistent[0]);
        }
        // What the communicator keeps is its own affair; at least a rank and a handle for each message.
        channel_bytes_ += sizeof(Channel) + to.size() * (sizeof(Rank) + sizeof(void*));
        shards_[shard].channels[local] = std::move(channel);
    }

    /// For a source that fires again before its message has left: to wait could be to wait for the next exchange.
    void send_apart(std::uint32_t shard, std::uint32_t local, std::uint64_t word) {
        std::vector<Destination>& found = shards_[shard].found;
        found.clear();
        destinations().find(shard, local, Rank{0}, Rank{ranks()}, found);
        for_each_rank(found, [&](Rank rank, std::span<const Destination>) {
            if (rank != communicator().rank()) send({&word, 1}, rank, tags::persistent[0], parity());
        });
    }

    SourceTable<std::uint64_t> addresses_;
    std::vector<Shard> shards_;
    std::uint64_t channel_bytes_ = 0;
};

}  // namespace

const ExchangeInfo persistent_exchange{
    .name = "persistent",
    .summary = "sends a message for each spike and process, set up once for each source",
    .directed = true,
    .make = [](const ExchangeArguments& arguments) -> std::unique_ptr<SpikeExchange> {
        return std::make_unique<PersistentExchange>(arguments);
    },
};

}  // namespace ranvier::comm
