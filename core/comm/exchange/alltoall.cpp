#include <memory>
#include <span>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/marked_sections.hpp"

namespace ranvier::comm {

namespace {

/// Sends spikes only to the processes that need them, in equally long sections of one all-to-all, and in more rounds if
/// these are too short (Jordan et al., 2018).
class AlltoallExchange final : public ExchangeBase {
   public:
    explicit AlltoallExchange(const ExchangeArguments& arguments)
        : ExchangeBase(arguments),
          sections_(checked_destinations(arguments), ranks(), options(), options().buffer_bytes) {}

    std::string_view name() const override { return alltoall_exchange.name; }

    void begin(Step first_step) override {
        sections_.begin(first_step);
        ++counts_.exchanges;
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        sections_.collocate(worker, outboxes);
    }
    void transfer(bool /*flush*/) override {
        sections_.seal();
        communicator().alltoall(sections_.to_send(), sections_.to_receive());
        count_collective(sections_.to_send().size());
    }
    void take(std::uint32_t worker, const Visit& visit) override { sections_.take(worker, visit); }
    bool more() const override { return sections_.more(); }
    void next_round() override { sections_.next_round(); }

    ExchangeCounts counts() const override {
        ExchangeCounts counts = ExchangeBase::counts();
        sections_.add_to(counts);
        return counts;
    }
    void reset_counts() override {
        ExchangeBase::reset_counts();
        sections_.reset_counts();
    }

   protected:
    std::uint64_t buffer_bytes() const override { return sections_.bytes(); }

   private:
    MarkedSections sections_;
};

}  // namespace

const ExchangeInfo alltoall_exchange{
    .name = "alltoall",
    .summary = "sends spikes only where they are needed, in equal sections of one collective",
    .directed = true,
    .make = make_exchange<AlltoallExchange>,
};

}  // namespace ranvier::comm
