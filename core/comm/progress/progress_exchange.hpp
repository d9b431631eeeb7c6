#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "comm/progress/common_progress.hpp"
#include "comm/progress/progress_message.hpp"
#include "comm/progress/run_agreement.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/comm/progress/notifications.hpp"

namespace ranvier::comm {

/// That a group of this process is read by another process (packed), or by one of its groups (single).
struct ProgressOutlet {
    std::uint32_t group = 0;
    Rank to;
    Step delay = 1;  ///< the least one
};

/// Who reads whom. The n-th outlet of a process to another one is the n-th inlet there from this process.
struct ProgressRoutes {
    std::uint32_t groups = 0;  ///< of this process
    std::vector<ProgressOutlet> outlets = {};  ///< ascending by rank
    std::vector<Rank> inlets = {};             ///< from whom, ascending
};

/// What arrives, for the program whose groups they are. Called by the thread that calls ProgressExchange::talk().
class ProgressReceiver {
   public:
    virtual ~ProgressReceiver() = default;
    /// The group behind an inlet has come to a step; these are its spikes since it was told last.
    virtual void arrive(std::uint32_t inlet, Step clock, std::span<const StampedSpike> spikes) = 0;
    /// A group of this process may go to a step, and no further until those that read it have read more.
    virtual void allow(std::uint32_t group, Step furthest) = 0;
    /// The step that all readers of an inlet have come to.
    virtual Step read_until(std::uint32_t inlet) const = 0;
};

/// How processes tell each other the clocks and the spikes of groups of neurons that advance on their own.
///
/// A *notification* says that a group has come to a step, and carries its spikes since the one before. What reads the group
/// may then go as much further as the least delay between the two. A notification is due when the clock is by half of that
/// delay, rounded up, ahead of what was told last: so those that read can go on while it travels. A group that goes further
/// at a time should tell in between, after each period(): else those that read it wait for all of its steps. In packed messages, due
/// notifications wait until half of those to the same process are due, or a thread has nothing to do, or as many times as
/// there are groups; and then take with them what there is of other groups.
///
/// Readers tell now and then how far they are, and a group goes at most `most_ahead` steps further than that. So the spikes
/// under way, and those that lie at a reader, are bounded by the neurons and these steps; nothing waits in a call. It never
/// comes to a standstill: consider the group that is behind all others, at step c.
/// - A group that it reads is at c or later, and was told at more than c - d, if d is the delay, or will be told: that is
///   due. So the notification lets it go to at least c + 1.
/// - Those that read it are at c or later. They tell so when they have read `most_ahead` / 2 steps more than they told last,
///   and no notification is due later than after that many steps. So if they told less than c + 1 - `most_ahead`, they have
///   more to tell, or will be told more first.
/// And what is due is sent, and what has arrived is received, whenever a thread has advanced a group or has nothing to do.
///
/// Memory and time depend on the processes that are read or that read, and on the neighbours in the tree of RunAgreement, not
/// on the number of all.
///
/// A run, on each process:
///
///     begin()
///     emit(), then advance()               by whoever advances a group, by one thread at a time for each group
///     talk(), note_progress()              by one thread at a time, again and again
///     wish_to_stop(), enter(), end()       by this thread too
///     until is_over()
class ProgressExchange {
   public:
    /// @param destinations who needs the spikes of a source @throws InternalError when routes are in disorder
    ProgressExchange(std::shared_ptr<Communicator> communicator, std::shared_ptr<const Destinations> destinations,
                     ProgressRoutes routes, Notifications notifications);
    ~ProgressExchange();

    /// Steps that a group may be ahead of those that read it.
    static constexpr Step most_ahead = 1024;

    /// Tells how far each group may go at first. While no thread does anything here.
    void begin(Step before, ProgressReceiver& receiver);
    /// Takes the spikes that a group has emitted, in the order of their steps. @param begin the step that lags are counted from
    void emit(std::uint32_t group, std::span<const EmittedSpike> spikes, Step begin);
    /// The group has come to a step, and its spikes until then have been taken. @param is_last of the run, as far as is known
    void advance(std::uint32_t group, Step clock, bool is_last);

    /// The least number of steps between two notifications of a group; a large number if no other process reads it.
    Step period(std::uint32_t group) const { return groups_[group].period; }

    /// Receives what has arrived, and sends what is due. Returns whether anything arrived.
    /// @param is_idle the calling thread has nothing else to do
    bool talk(ProgressReceiver& receiver, bool is_idle);
    /// Whether advance() has left something that is due.
    bool has_more() const { return is_due_.load(std::memory_order_relaxed); }
    /// All groups of this process have come to a step; see CommonProgress.
    void note_progress(Step least);
    /// All groups of all processes have come to this step, and maybe further.
    Step reached_by_all() const { return common_.of_all(); }

    void wish_to_stop() { agreement_.wish(send_of_tree_); }
    /// This process will come to a step, and no further unless others do. Once in a run.
    void enter(Step latest) { agreement_.enter(latest, send_of_tree_); }
    const RunAgreement& agreement() const { return agreement_; }
    /// All groups have come to the end, and all of their spikes have been taken, and all that they read is here.
    /// @pre there is a verdict
    void end();
    /// Whether all processes that send to this one have ended, too: then nothing is under way.
    bool is_over() const { return has_ended_ && left_ == 0; }

    /// What an exchange is expected to have to do with.
    struct Expectation {
        double groups = 0.0;
        double outlets = 0.0;  ///< as many as inlets
        double partners = 0.0;
        double waiting_spikes = 0.0;  ///< that an outlet has room for
    };
    /// Bytes of its buffers: see ExchangeCounts::buffer_bytes.
    static double expected_bytes(const Expectation& expectation, Notifications notifications);

    std::string_view name() const { return packs_ ? "packed notifications" : "single notifications"; }
    /// While no thread does anything here.
    ExchangeCounts counts() const;
    void reset_counts() { counts_ = {}; }

   private:
    struct Outlet {
        std::uint32_t group = 0;
        std::uint32_t partner = 0;
        Step period = 1;  ///< from one notification to the next
        // With the lock of the group.
        bool is_due = false;
        Step told = 0;
        std::vector<StampedSpike> spikes = {};  ///< that were not sent yet
        // By who talks.
        Step read = 0;  ///< by those that are told
    };
    /// Apart from those of other groups, which others change.
    struct alignas(64) Group {
        std::mutex mutex;
        Step clock = 0;
        Step period = std::numeric_limits<Step>::max();  ///< the least one of its outlets
        std::vector<std::uint32_t> outlets;  ///< ascending by rank
        std::vector<Destination> found;
    };
    struct Inlet {
        std::uint32_t partner = 0;
        Step clock = 0;
        Step told_read = 0;
        bool is_listed = false;
    };
    struct Partner {
        Rank rank;
        std::uint32_t first_outlet = 0;
        std::uint32_t last_outlet = 0;
        std::uint32_t first_inlet = 0;
        std::uint32_t last_inlet = 0;
        std::vector<std::uint32_t> due = {};  ///< outlets
        std::uint32_t waited = 0;        ///< calls of talk() since the first one was due
        std::vector<std::byte> message = {};
        bool has_ended = false;
    };

    void make_partners(const ProgressRoutes& routes);
    std::uint32_t partner_of(Rank rank) const;
    bool receive(ProgressReceiver& receiver);
    void take(const Message& message, ProgressReceiver& receiver);
    void take_entry(std::uint32_t partner, const ProgressEntry& entry, std::span<const StampedSpike> spikes,
                    ProgressReceiver& receiver);
    void take_read(std::uint32_t outlet, Step step, ProgressReceiver& receiver);
    void collect_due();
    void send_due(bool is_idle);
    void notify(std::uint32_t outlet, Partner& partner);
    void tell_read(const ProgressReceiver& receiver);
    void send(Partner& partner);

    std::shared_ptr<Communicator> communicator_;
    std::shared_ptr<const Destinations> destinations_;
    bool packs_;
    std::vector<Outlet> outlets_;
    std::vector<Inlet> inlets_;
    std::vector<Partner> partners_;  ///< ascending by rank
    std::vector<Group> groups_;
    RunAgreement agreement_;
    CommonProgress common_;
    RunAgreement::Send send_of_tree_;
    std::mutex due_mutex_;
    std::vector<std::uint32_t> due_;  ///< outlets
    std::atomic<bool> is_due_{false};
    // By who talks.
    std::vector<std::uint32_t> taken_due_;
    std::vector<std::uint32_t> listed_inlets_;  ///< whose readers may have more to tell
    std::vector<Message> of_next_run_;
    Message message_;
    std::vector<StampedSpike> spikes_;
    std::size_t left_ = 0;  ///< partners that have not ended
    bool has_ended_ = false;
    ExchangeCounts counts_;
};

}  // namespace ranvier::comm
