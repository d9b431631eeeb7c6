#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// The candidate methods. Only those that can be the fastest with these processes are tried (ExchangeInfo::can_win).
/// Methods with latency are excluded because they would change the meaning of an engine step, two_phase_any because it
/// equals two_phase without latency, and shared_memory because it is not for all hosts, and has no class.
constexpr std::array candidates{&alltoall_exchange,
                                &allgather_exchange,
                                &alltoallv_exchange,
                                &connected_exchange,
                                &grid_exchange,
                                &hierarchical_exchange,
                                &neighbor_exchange,
                                &multisend_exchange,
                                &multisend_reduce_scatter_exchange,
                                &persistent_exchange,
                                &persistent_reduce_scatter_exchange,
                                &two_phase_exchange,
                                &rma_allgather_exchange,
                                &rma_allgather_counter_exchange,
                                &rma_allgather_flush_exchange,
                                &rma_allgather_pscw_exchange,
                                &rma_bruck_exchange,
                                &rma_bruck_counter_exchange,
                                &rma_bruck_flush_exchange,
                                &rma_bruck_pscw_exchange};

/// Each candidate is measured in several turns of a few epochs, since activity and the machine vary during a run.
constexpr std::uint32_t turns = 5;
constexpr std::uint32_t epochs_per_turn = 4;
/// A candidate whose median is so many times the least one is not measured again.
constexpr double too_slow = 1.5;

/// Measures several methods during the first epochs and keeps the fastest. A method that the transport cannot make on
/// some process is not tried.
///
/// Measured is the time from the start of an epoch to the start of the next one, including the update before the
/// exchange and the delivery after it: methods differ in the work they do during the update and in what they leave to
/// the receiver. A difference hidden by these does not matter. The last epoch of a run does not count.
class AutoExchange final : public SpikeExchange {
   public:
    explicit AutoExchange(const ExchangeArguments& arguments) : communicator_(arguments.communicator) {
        ExchangeArguments without_latency = arguments;
        without_latency.options.intervals = 1;
        for (const ExchangeInfo* const info : candidates) {
            if (!info->directed && !arguments.options.finds_sources) continue;
            if (info->can_win == nullptr || info->can_win(without_latency)) try_to_make(*info, without_latency);
        }
        next_ = last_ = tried_.front().exchange.get();
    }

    /// "auto" while measuring, then with the method, as "auto (alltoall)".
    std::string_view name() const override { return name_; }
    /// Of the method of the last transfer.
    bool directed() const override { return last_->directed(); }

    void begin(Step first_step) override {
        if (!settled_) measure();
        next_->begin(first_step);
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        next_->collocate(worker, outboxes);
    }
    void transfer(bool flush) override {
        last_ = next_;
        // Not earlier: arrived spikes may be in the buffers of another method.
        free_excluded();
        // The time until the next run is not an epoch.
        if (flush) begun_ = false;
        next_->transfer(flush);
    }
    void take(std::uint32_t worker, const Visit& visit) override { last_->take(worker, visit); }
    bool more() const override { return last_->more(); }
    void next_round() override { last_->next_round(); }
    void advance(std::uint32_t shard, std::span<const EmittedSpike> outbox) override { next_->advance(shard, outbox); }

    ExchangeCounts counts() const override {
        ExchangeCounts total = freed_;
        for (const Tried& tried : tried_) add(tried.exchange->counts(), total);
        return total;
    }
    void reset_counts() override {
        freed_ = {};
        for (const Tried& tried : tried_) tried.exchange->reset_counts();
    }

   private:
    using Clock = std::chrono::steady_clock;

    struct Tried {
        std::unique_ptr<SpikeExchange> exchange;
        std::vector<std::uint64_t> times{};  ///< per epoch, in ns
        bool is_excluded = false;
    };

    /// Candidates that need more than some MPI or some system has are left out, by agreement. @note Collective.
    void try_to_make(const ExchangeInfo& info, const ExchangeArguments& arguments) {
        std::unique_ptr<SpikeExchange> made;
        bool failed = false;
        try {
            made = info.make(arguments);
        } catch (const CommunicationError&) {
            failed = true;
        } catch (const StateError&) {
            failed = true;  // such as memory that processes cannot share
        }
        if (communicator_->greatest(failed ? 1 : 0) == 0) tried_.push_back({std::move(made)});
    }

    /// At the start of an epoch: records the time of the previous one and chooses the method for this one.
    void measure() {
        const Clock::time_point now = Clock::now();
        if (begun_) {
            const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_begin_).count();
            tried_[current_].times.push_back(static_cast<std::uint64_t>(time));
            if (tried_[current_].times.size() % epochs_per_turn == 0) end_turn();
        }
        last_begin_ = now;
        begun_ = true;
    }

    void end_turn() {
        current_ = (current_ + 1) % tried_.size();
        if (current_ == 0) {
            ++turns_done_;
            exclude_slow();
        }
        next_ = tried_[current_].exchange.get();
    }

    /// After the last turn, all but the fastest. All processes see the same sums, so they choose the same methods.
    void exclude_slow() {
        std::vector<std::uint64_t> medians;
        for (Tried& tried : tried_) {
            const auto middle = tried.times.begin() + static_cast<std::ptrdiff_t>(tried.times.size() / 2);
            std::nth_element(tried.times.begin(), middle, tried.times.end());
            medians.push_back(*middle);
        }
        communicator_->reduce(medians, Reduction::sum);
        current_ = static_cast<std::size_t>(std::min_element(medians.begin(), medians.end()) - medians.begin());
        const double most = turns_done_ < turns ? too_slow * static_cast<double>(medians[current_]) : 0.0;
        settled_ = true;
        for (std::size_t i = 0; i < tried_.size(); ++i) {
            tried_[i].is_excluded = i != current_ && static_cast<double>(medians[i]) > most;
            settled_ = settled_ && (i == current_ || tried_[i].is_excluded);
        }
        if (settled_) {
            name_ = "auto (" + std::string(tried_[current_].exchange->name()) + ")";
            decltype(tried_[current_].times)().swap(tried_[current_].times);
        } else {
            current_ = 0;
            while (tried_[current_].is_excluded) ++current_;
        }
    }

    void free_excluded() {
        if (std::ranges::none_of(tried_, &Tried::is_excluded)) return;
        for (const Tried& tried : tried_) {
            if (tried.is_excluded) add(tried.exchange->counts(), freed_);
        }
        freed_.buffer_bytes = freed_.sources_set_up = freed_.bytes_of_sources = 0;
        std::erase_if(tried_, [](const Tried& tried) { return tried.is_excluded; });
        current_ = 0;
    }

    static void add(const ExchangeCounts& counts, ExchangeCounts& total) {
        total.spikes_sent += counts.spikes_sent;
        total.spikes_received += counts.spikes_received;
        total.bytes_sent += counts.bytes_sent;
        total.messages += counts.messages;
        total.exchanges += counts.exchanges;
        total.rounds += counts.rounds;
        total.failed_checks += counts.failed_checks;
        total.buffer_bytes += counts.buffer_bytes;
        total.sources_set_up += counts.sources_set_up;
        total.bytes_of_sources += counts.bytes_of_sources;
    }

    std::shared_ptr<Communicator> communicator_;
    std::vector<Tried> tried_;
    std::size_t current_ = 0;
    SpikeExchange* next_ = nullptr;  ///< method of the current epoch
    SpikeExchange* last_ = nullptr;  ///< method of the last transfer
    bool settled_ = false;
    bool begun_ = false;  ///< whether the previous epoch is measured
    Clock::time_point last_begin_;
    std::uint32_t turns_done_ = 0;
    std::string name_{auto_exchange.name};
    ExchangeCounts freed_;  ///< of the methods already destroyed
};

}  // namespace

const ExchangeInfo auto_exchange{
    .name = "auto",
    .summary = "measures methods during the first epochs and keeps the fastest",
    .directed = true,
    .groups_by_host = true,
    .make = make_exchange<AutoExchange>,
    .candidates = candidates,
};

}  // namespace ranvier::comm
