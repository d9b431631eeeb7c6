#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.hpp"

namespace ranvier::comm {

/// A spike on its way: when it was emitted and by whom. To this layer it is a small record without meaning.
struct SpikeRecord {
    Step step = 0;
    NeuronId source;
};

/// A method of exchanging spikes between processes.
class SpikeExchange {
   public:
    virtual ~SpikeExchange() = default;

    virtual std::string_view name() const = 0;

    /// Brings the spikes of an epoch together: replaces `incoming` by all those that this process needs, as stretches
    /// that are each ascending by step, and that stay valid until the call after the next.
    ///
    /// @param outboxes the spikes of each shard of this process, ascending by step; all of them are complete
    /// @note Called by every worker of the process, and by every process. A method that sends does so in one of the
    /// workers, while the others wait.
    virtual void exchange(std::uint32_t worker, std::span<const std::span<const SpikeRecord>> outboxes,
                          std::vector<std::span<const SpikeRecord>>& incoming) = 0;
};

/// For one process: what its shards sent is what they receive, and nothing moves.
class NoExchange final : public SpikeExchange {
   public:
    std::string_view name() const override { return "none"; }
    void exchange(std::uint32_t, std::span<const std::span<const SpikeRecord>> outboxes,
                  std::vector<std::span<const SpikeRecord>>& incoming) override {
        incoming.assign(outboxes.begin(), outboxes.end());
    }
};

}  // namespace ranvier::comm
