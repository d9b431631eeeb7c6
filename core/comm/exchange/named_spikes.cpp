#include "comm/exchange/named_spikes.hpp"

#include "base/tight_list.hpp"

namespace ranvier::comm {

NamedSpikesExchange::NamedSpikesExchange(const ExchangeArguments& arguments, Completion completion)
    : PointToPointExchange(arguments, completion), shards_(options().workers) {}

void NamedSpikesExchange::prepare(std::uint32_t worker, std::span<const EmittedSpike> spikes) {
    Shard& mine = shards_[worker];
    const Rank self = communicator().rank();
    for (const EmittedSpike& spike : spikes) {
        append(mine.outgoing, spike);
        // Spikes for this process are not sent.
        mine.found.clear();
        destinations().find(worker, spike.local, self, Rank{self.value + 1}, mine.found);
        make_room(mine.for_self, mine.for_self.size() + mine.found.size());
        for (const Destination& destination : mine.found) mine.for_self.emplace_back(destination.address, spike.lag);
    }
}

void NamedSpikesExchange::send_prepared(std::uint32_t worker) {
    Shard& mine = shards_[worker];
    Epoch& present = epoch(turn());
    make_room(present.arrived, present.arrived.size() + mine.for_self.size());
    present.arrived.insert(present.arrived.end(), mine.for_self.begin(), mine.for_self.end());
    counts_.spikes_sent += mine.for_self.size();
    for (const EmittedSpike& spike : mine.outgoing) {
        send_spike(worker, spike.local, ArrivedSpike(source_name(worker, spike.local), spike.lag).word());
    }
    mine.outgoing.clear();
    mine.for_self.clear();
}

std::span<const Destination> NamedSpikesExchange::find(std::uint32_t shard, std::uint32_t local) {
    std::vector<Destination>& found = shards_[shard].found;
    found.clear();
    destinations().find(shard, local, Rank{0}, Rank{ranks()}, found);
    return found;
}

std::uint64_t NamedSpikesExchange::buffer_bytes() const {
    std::uint64_t bytes = PointToPointExchange::buffer_bytes();
    for (const Shard& shard : shards_)
        bytes += bytes_of(shard.found) + bytes_of(shard.outgoing) + bytes_of(shard.for_self);
    return bytes;
}

}  // namespace ranvier::comm
