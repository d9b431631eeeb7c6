#include <array>
#include <memory>
#include <span>
#include <utility>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/marked_sections.hpp"

namespace ranvier::comm {

namespace {

/// Exchange by all-to-all in the background of the next epoch's update.
///
/// With two intervals per shortest delay, the spikes of an epoch are needed only at the end of the next one. So the end
/// of an epoch waits for the previous collective and starts its successor. With one interval no spike may be late, and
/// each collective is awaited at once, as in the method "alltoall".
class OverlapExchange final : public ExchangeBase {
   public:
    explicit OverlapExchange(const ExchangeArguments& arguments)
        : ExchangeBase(arguments),
          epochs_{make_epoch(arguments), make_epoch(arguments)},
          present_(&epochs_[0]),
          previous_(&epochs_[1]) {}
    OverlapExchange(const OverlapExchange&) = delete;
    OverlapExchange& operator=(const OverlapExchange&) = delete;

    std::string_view name() const override { return overlap_exchange.name; }
    bool has_latency() const override { return options().intervals == 2; }

    void begin(Step first_step) override {
        if (under_way(*present_)) std::swap(present_, previous_);
        present_->sections.begin(first_step);
        filling_ = present_;
        ++counts_.exchanges;
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        if (filling_ != nullptr) filling_->sections.collocate(worker, outboxes);
    }
    /// Starts sending the collocated spikes. Completes the previous epoch if it is in progress, otherwise this one
    /// unless it has latency.
    void transfer(bool flush) override {
        if (filling_ != nullptr) start(*filling_);
        const bool finishing = flush || !has_latency();
        const bool completes_previous = under_way(*previous_);
        completed_ = completes_previous ? previous_ : finishing ? present_ : nullptr;
        if (completed_ != nullptr) wait_for(*completed_);
        more_ = completes_previous && finishing;
    }
    void take(std::uint32_t worker, const Visit& visit) override {
        if (completed_ != nullptr) completed_->sections.take(worker, visit);
    }
    bool more() const override { return more_ || (completed_ != nullptr && completed_->sections.more()); }
    /// The remaining spikes of the previous epoch follow while this one is in progress.
    void next_round() override {
        filling_ = nullptr;
        if (!completed_->sections.more()) return;
        filling_ = completed_;
        filling_->sections.next_round();
    }
    void advance(std::uint32_t /*shard*/, std::span<const EmittedSpike> /*outbox*/) override {
        for (Epoch& epoch : epochs_) {
            if (under_way(epoch)) epoch.request->test();
        }
    }

    ExchangeCounts counts() const override {
        ExchangeCounts counts = ExchangeBase::counts();
        for (const Epoch& epoch : epochs_) epoch.sections.add_to(counts);
        return counts;
    }
    void reset_counts() override {
        ExchangeBase::reset_counts();
        for (Epoch& epoch : epochs_) epoch.sections.reset_counts();
    }

   protected:
    std::uint64_t buffer_bytes() const override { return epochs_[0].sections.bytes() + epochs_[1].sections.bytes(); }

   private:
    struct Epoch {
        MarkedSections sections;
        // Declared after its buffers, so that it completes before they are destroyed.
        std::unique_ptr<Request> request{};
    };

    Epoch make_epoch(const ExchangeArguments& arguments) const {
        // If both are used, they share the limit of the buffer.
        return {.sections{checked_destinations(arguments), ranks(), options(),
                          options().buffer_bytes / (has_latency() ? 2 : 1)}};
    }

    static bool under_way(const Epoch& epoch) { return epoch.request != nullptr; }
    void start(Epoch& epoch) {
        epoch.sections.seal();
        epoch.request = communicator().start_alltoall(epoch.sections.to_send(), epoch.sections.to_receive());
        count_collective(epoch.sections.to_send().size());
    }
    static void wait_for(Epoch& epoch) {
        epoch.request->wait();
        epoch.request.reset();
    }

    std::array<Epoch, 2> epochs_;
    Epoch* present_;
    Epoch* previous_;
    Epoch* filling_ = nullptr;  ///< of the two, the one that the workers fill, if any
    Epoch* completed_ = nullptr;  ///< the one whose spikes arrived in the last transfer, if any
};

}  // namespace

const ExchangeInfo overlap_exchange{
    .name = "overlap",
    .summary = "sends as alltoall does, while neurons of the next epoch are updated",
    .directed = true,
    .make = make_exchange<OverlapExchange>,
};

}  // namespace ranvier::comm
