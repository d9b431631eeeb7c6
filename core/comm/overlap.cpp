#include <array>
#include <memory>
#include <span>
#include <utility>

#include "comm/exchange_base.hpp"
#include "comm/exchange_methods.hpp"
#include "comm/sections.hpp"

namespace ranvier::comm {

namespace {

/// The exchange by all-to-all, which proceeds while the next epoch is updated.
///
/// With two intervals to the shortest delay the spikes of an epoch are needed at the end of the next one only. So at the end
/// of an epoch those of the one before are awaited, and the collective for its own is started. With one interval nothing may
/// be late, and it is awaited at once: then this is the method "alltoall".
class OverlapExchange final : public ExchangeBase {
   public:
    explicit OverlapExchange(const ExchangeArguments& arguments)
        : ExchangeBase(arguments),
          sections_{make_sections(arguments), make_sections(arguments)},
          present_(&sections_[0]),
          previous_(&sections_[1]) {}
    OverlapExchange(const OverlapExchange&) = delete;
    OverlapExchange& operator=(const OverlapExchange&) = delete;

    std::string_view name() const override { return overlap_exchange.name; }
    bool has_latency() const override { return options().intervals == 2; }

    void begin(Step first_step) override {
        present_->begin(first_step);
        filling_ = present_;
        ++counts_.exchanges;
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        filling_->collocate(worker, outboxes);
    }
    /// Completes the epoch before, then this one or, if it has time, only starts it. Either may need more rounds.
    bool transfer(bool flush) override {
        arrivals_.clear();
        if (filling_ == present_ && previous_under_way_) {
            previous_under_way_ = false;
            if (finish(*previous_)) {
                // What did not fit is collocated before this epoch, which has been, goes on.
                filling_ = previous_;
                return true;
            }
        } else if (filling_ == previous_) {
            start(*previous_);
            if (finish(*previous_)) return true;
            filling_ = present_;
        }
        start(*present_);
        if (flush || !has_latency()) return finish(*present_);
        std::swap(present_, previous_);
        previous_under_way_ = true;
        return false;
    }
    void advance(std::uint32_t /*shard*/, std::span<const EmittedSpike> /*outbox*/) override {
        if (request_ != nullptr) request_->test();
    }

   protected:
    std::uint64_t buffer_bytes() const override { return sections_[0].bytes() + sections_[1].bytes(); }

   private:
    Sections make_sections(const ExchangeArguments& arguments) const {
        // Both share what the buffer may take, if both are used.
        return {checked_destinations(arguments), ranks(), options(), options().buffer_bytes / (has_latency() ? 2 : 1)};
    }

    void start(Sections& sections) {
        sections.seal();
        request_ = communicator().start_alltoall(sections.to_send(), sections.to_receive());
        count_collective(sections.to_send().size());
    }
    /// Returns whether more is to be sent.
    bool finish(Sections& sections) {
        request_->wait();
        request_.reset();
        const bool more = sections.open(arrivals_);
        counts_.spikes_received += sections.received();
        if (!more) counts_.spikes_sent += sections.sent();
        return more;
    }

    std::array<Sections, 2> sections_;
    Sections* present_;
    Sections* previous_;
    Sections* filling_ = nullptr;  ///< which of the two the workers fill
    bool previous_under_way_ = false;
    // After the buffers that it uses, so that it is complete before they go.
    std::unique_ptr<Request> request_;
};

}  // namespace

const ExchangeInfo overlap_exchange{
    .name = "overlap",
    .summary = "is alltoall as a collective that proceeds while neurons are updated",
    .directed = true,
    .make = [](const ExchangeArguments& arguments) -> std::unique_ptr<SpikeExchange> {
        return std::make_unique<OverlapExchange>(arguments);
    },
};

}  // namespace ranvier::comm
