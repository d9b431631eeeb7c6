#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/spike_packing.hpp"

namespace ranvier::comm {

/// Base of the methods that send every spike to all processes. It has the packed outboxes of one epoch, which are sent in
/// one or more rounds, and the spikes received in the last round.
class UndirectedExchange : public ExchangeBase {
   public:
    explicit UndirectedExchange(const ExchangeArguments& arguments) : ExchangeBase(arguments), outboxes_(arguments) {}

    bool directed() const final { return false; }

    void begin(Step first_step) final {
        first_step_ = first_step;
        first_round_ = true;
        outboxes_.clear();
        ++counts_.exchanges;
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) final {
        if (first_round_) outboxes_.pack(worker, outboxes[worker]);
    }
    void transfer(bool /*flush*/) final {
        if (first_round_) counts_.spikes_sent += outboxes_.left() * static_cast<std::uint64_t>(ranks());
        arrived_.clear();
        more_ = send_round(first_round_);
        counts_.spikes_received += arrived_.size();
        arrivals_.assign(1, {first_step_, arrived_});
        first_round_ = false;
    }

   protected:
    /// Sends as many of the outboxes as fit into one round, and unpacks the received spikes into `arrived_`. Returns
    /// whether any process has more to send. @note Collective.
    virtual bool send_round(bool first) = 0;

    std::uint64_t buffer_bytes() const override { return outboxes_.bytes() + bytes_of(arrived_); }

    PackedOutboxes outboxes_;
    std::vector<ArrivedSpike> arrived_;

   private:
    Step first_step_ = 0;
    bool first_round_ = true;
};

}  // namespace ranvier::comm
