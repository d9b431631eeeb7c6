#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/exchange/point_to_point.hpp"
#include "comm/exchange/source_table.hpp"

namespace ranvier::comm {

/// Base of the methods that send a spike as one word, the name of its source and the lag, the same for all receivers.
/// Each receiver looks up its addresses for that name.
class NamedSpikesExchange : public PointToPointExchange {
   public:
    NamedSpikesExchange(const ExchangeArguments& arguments, Completion completion);

   protected:
    void prepare(std::uint32_t worker, std::span<const EmittedSpike> spikes) final;
    void send_prepared(std::uint32_t worker) final;
    std::uint64_t buffer_bytes() const override;

    /// Sends a spike to the other processes that need it, in the current epoch.
    /// @param word the name of its source and the lag
    virtual void send_spike(std::uint32_t shard, std::uint32_t local, std::uint64_t word) = 0;

    /// The destinations of a source on all processes, valid until the next call for this shard.
    std::span<const Destination> find(std::uint32_t shard, std::uint32_t local);
    /// Calls visit(rank, destinations there) for each other process that needs the spikes of a source.
    template <class Visit>
    void for_each_other_rank(std::uint32_t shard, std::uint32_t local, Visit visit) {
        for_each_rank(find(shard, local), [&](Rank rank, std::span<const Destination> there) {
            if (rank != communicator().rank()) visit(rank, there);
        });
    }

   private:
    /// Aligned to avoid false sharing: workers write concurrently.
    struct alignas(64) Shard {
        std::vector<Destination> found;
        std::vector<EmittedSpike> outgoing;
        std::vector<ArrivedSpike> for_self;  ///< spikes needed on this process
    };

    std::vector<Shard> shards_;
};

}  // namespace ranvier::comm
