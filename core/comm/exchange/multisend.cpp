#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/tight_list.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/point_to_point.hpp"

namespace ranvier::comm {

namespace {

/// One message for each spike and process that needs it, with all its addresses there, sent immediately.
class MultisendExchange final : public PointToPointExchange {
   public:
    /// @param tags by turn
    MultisendExchange(const ExchangeArguments& arguments, const ExchangeInfo& info, std::span<const int> tags,
                      Completion completion)
        : PointToPointExchange(arguments, completion),
          info_(info),
          tags_(tags.first(turns())),
          outgoing_(options().workers) {}

    std::string_view name() const override { return info_.name; }

   protected:
    void prepare(std::uint32_t worker, std::span<const EmittedSpike> spikes) override {
        Outgoing& mine = outgoing_[worker];
        for (const EmittedSpike& spike : spikes) {
            mine.found.clear();
            destinations().find(worker, spike.local, Rank{0}, Rank{ranks()}, mine.found);
            for_each_rank(mine.found, [&](Rank rank, std::span<const Destination> there) {
                append(mine.messages, {rank, there.size()});
                make_room(mine.words, mine.words.size() + there.size());
                for (const Destination& destination : there) {
                    mine.words.push_back(ArrivedSpike(destination.address, spike.lag).word());
                }
            });
        }
    }

    void send_prepared(std::uint32_t worker) override {
        Outgoing& mine = outgoing_[worker];
        std::span<const std::uint64_t> words = mine.words;
        counts_.spikes_sent += words.size();
        Epoch& present = epoch(turn());
        for (const auto& [rank, count] : mine.messages) {
            if (rank == communicator().rank()) {
                make_room(present.arrived, present.arrived.size() + count);
                for (const std::uint64_t word : words.first(count)) present.arrived.emplace_back(word);
            } else {
                send(words.first(count), rank, tags_[turn()], turn());
            }
            words = words.subspan(count);
        }
        mine.messages.clear();
        mine.words.clear();
    }

    std::span<const int> tags() const override { return tags_; }

    void handle(int tag, const Message& message) override {
        Epoch& of_message = epoch(static_cast<std::uint32_t>(std::ranges::find(tags_, tag) - tags_.begin()));
        ++of_message.received;
        add_words(of_message, message);
    }

    std::uint64_t buffer_bytes() const override {
        std::uint64_t bytes = PointToPointExchange::buffer_bytes();
        for (const Outgoing& of_worker : outgoing_) {
            bytes += bytes_of(of_worker.found) + bytes_of(of_worker.words) + bytes_of(of_worker.messages);
        }
        return bytes;
    }

   private:
    struct ToRank {
        Rank rank;
        std::size_t words;
    };
    /// Aligned to avoid false sharing: workers write concurrently.
    struct alignas(64) Outgoing {
        std::vector<Destination> found;
        std::vector<ToRank> messages;
        std::vector<std::uint64_t> words;
    };

    const ExchangeInfo& info_;
    std::span<const int> tags_;
    std::vector<Outgoing> outgoing_;
};

std::unique_ptr<SpikeExchange> make_multisend(const ExchangeArguments& arguments) {
    return std::make_unique<MultisendExchange>(arguments, multisend_exchange, tags::multisend,
                                               Completion::conservation);
}
std::unique_ptr<SpikeExchange> make_multisend_reduce_scatter(const ExchangeArguments& arguments) {
    return std::make_unique<MultisendExchange>(arguments, multisend_reduce_scatter_exchange,
                                               tags::multisend_reduce_scatter, Completion::counts);
}

}  // namespace

const ExchangeInfo multisend_exchange{
    .name = "multisend",
    .summary = "sends a message for each spike and process that needs it, as soon as it is known",
    .directed = true,
    .make = make_multisend,
};
const ExchangeInfo multisend_reduce_scatter_exchange{
    .name = "multisend_reduce_scatter",
    .summary = "as multisend; a reduction tells each process how many messages to receive",
    .directed = true,
    .make = make_multisend_reduce_scatter,
};

}  // namespace ranvier::comm
