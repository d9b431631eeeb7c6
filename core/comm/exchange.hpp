#pragma once

#include <cstdint>
#include <memory>
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

/// A method of exchanging spikes between processes. Called once an epoch, by one thread of each process.
class SpikeExchange {
   public:
    virtual ~SpikeExchange() = default;

    virtual std::string_view name() const = 0;
    /// Sends the spikes of this process to those that need them; replaces `incoming` by what the others sent here.
    /// @note Collective.
    virtual void exchange(std::span<const SpikeRecord> outgoing, std::vector<SpikeRecord>& incoming) = 0;
    /// Whether exchange() does anything, so that outgoing spikes need to be collected.
    virtual bool needed() const = 0;
};

/// For one process: nobody else is there.
class NoExchange final : public SpikeExchange {
   public:
    std::string_view name() const override { return "none"; }
    void exchange(std::span<const SpikeRecord>, std::vector<SpikeRecord>& incoming) override { incoming.clear(); }
    bool needed() const override { return false; }
};

}  // namespace ranvier::comm
