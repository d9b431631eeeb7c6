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

/// A group of this process that is read by another process (packed), or by one of its groups (single).
struct ProgressOutlet {
    std::uint32_t group = 0;
    Rank to;
    Step delay = 1;  ///< shortest delay
};

/// Readers of groups. The n-th outlet of a process to another one is the n-th inlet there from this process.
struct ProgressRoutes {
    std::uint32_t groups = 0;  ///< of this process
    std::vector<ProgressOutlet> outlets = {};  ///< ascending by rank
    std::vector<Rank> inlets = {};  ///< ranks of origin, ascending
};

/// Receives the messages on behalf of the groups. Called by the thread that calls ProgressExchange::poll().
class ProgressReceiver {
   public:
    virtual ~ProgressReceiver() = default;
    /// The group of an inlet has reached a step; `spikes` are its spikes since the last call, and none follow up to the
    /// step `silent`, which is `clock` or a later one.
    virtual void arrive(std::uint32_t inlet, Step clock, Step silent, std::span<const StampedSpike> spikes) = 0;
    /// A group of this process may advance up to a step, until its readers have read more.
    virtual void allow(std::uint32_t group, Step furthest) = 0;
    /// The step that all readers of an inlet have reached.
    virtual Step read_until(std::uint32_t inlet) const = 0;
};

/// Exchange of clocks and spikes between processes whose groups of neurons advance asynchronously.
///
/// A *notification* reports the step that a group has reached, carries its spikes since the previous one, and says up to
/// which step no others follow, such as while its neurons are refractory. Readers of the group may then advance beyond
/// that step by the shortest delay between the two. A notification is due when the clock is
/// ahead of the last notified step by half of that delay, rounded up, so that readers can advance while it is in
/// transit. A group that advances further at a time should notify in between, after each period(); otherwise its
/// readers wait for all of its steps. In packed messages, due notifications wait until half of those to the same
/// process are due, or a thread is idle, or for as many calls as there are groups; the message then includes the
/// pending notifications of other groups.
///
/// Readers acknowledge from time to time the step that they have read, and a group runs at most `most_ahead` steps
/// ahead of that. So the spikes in transit and in the queues of readers are bounded by the neurons and these steps; no
/// process waits in a call. Progress is guaranteed: consider the slowest group, at step c.
/// - A group that it reads is at c or later, and has notified more than c - d, if d is the delay, or will, since a
///   notification is due. So the slowest group may advance to at least c + 1.
/// - Its readers are at c or later. They acknowledge when they have read `most_ahead` / 2 steps more than last
///   acknowledged, and every notification is due after at most that many steps. So if they acknowledged less than
///   c + 1 - `most_ahead`, they have more to acknowledge, or will be notified of more first.
/// Due messages are sent, and arrived ones received, whenever a thread has advanced a group or is idle.
///
/// Memory and time depend on the processes read or reading, and on the neighbours in the tree of RunAgreement, not on
/// the number of all processes.
///
/// A run, on each process:
///
///     begin()
///     emit(), then advance()               by the thread that advances a group, one at a time for each group
///     poll(), note_progress()              by one thread at a time, repeatedly
///     request_stop(), enter(), end()       by this thread too
///     until is_over()
class ProgressExchange {
   public:
    /// @param destinations of the spikes of each source @throws InternalError when routes are not sorted
    ProgressExchange(std::shared_ptr<Communicator> communicator, std::shared_ptr<const Destinations> destinations,
                     const ProgressRoutes& routes, Notifications notifications);
    ~ProgressExchange();

    /// Steps that a group may be ahead of its readers.
    static constexpr Step most_ahead = 1024;

    /// Announces the initial limit of each group. Not thread-safe.
    void begin(Step before, ProgressReceiver& receiver);
    /// Takes the spikes emitted by a group, ordered by step. @param begin the step from which lags are counted
    void emit(std::uint32_t group, std::span<const EmittedSpike> spikes, Step begin);
    /// Reports that the group has reached a step, after its spikes until then were emitted.
    /// @param silent it emits no others up to this step, `clock` or a later one, whatever arrives
    /// @param is_last last step of the run, as far as known
    void advance(std::uint32_t group, Step clock, Step silent, bool is_last);

    /// The least number of steps between two notifications of a group; a large number if no other process reads it.
    Step period(std::uint32_t group) const { return groups_[group].period; }

    /// Receives arrived messages and sends due ones. Returns whether any message arrived.
    /// @param is_idle the calling thread has no other work
    bool poll(ProgressReceiver& receiver, bool is_idle);
    /// Whether advance() has left due messages.
    bool has_more() const { return is_due_.load(std::memory_order_relaxed); }
    /// All groups of this process have reached a step; see CommonProgress.
    void note_progress(Step least);
    /// A step that all groups of all processes have reached or passed.
    Step reached_by_all() const { return common_.of_all(); }

    void request_stop() { agreement_.request_stop(send_of_tree_); }
    /// Announces the last step that this process plans to reach, unless others go further. Once in a run.
    void enter(Step latest) { agreement_.enter(latest, send_of_tree_); }
    const RunAgreement& agreement() const { return agreement_; }
    /// Ends the run: all groups have reached the end, all of their spikes have been emitted, and all spikes that they
    /// read have arrived.
    /// @pre there is a verdict
    void end();
    /// Whether all processes that send to this one have ended, too: then no message is in transit.
    bool is_over() const { return has_ended_ && left_ == 0; }

    /// Expected workload of an exchange.
    struct Expectation {
        double groups = 0.0;
        double outlets = 0.0;  ///< equal to the number of inlets
        double partners = 0.0;
        double waiting_spikes = 0.0;  ///< capacity of an outlet
    };
    /// Expected bytes of its buffers: see ExchangeCounts::buffer_bytes.
    static double expected_bytes(const Expectation& expectation, Notifications notifications);

    std::string_view name() const { return packs_ ? "packed notifications" : "single notifications"; }
    /// Not thread-safe.
    ExchangeCounts counts() const;
    void reset_counts() { counts_ = {}; }

   private:
    struct Outlet {
        std::uint32_t group = 0;
        std::uint32_t partner = 0;
        Step period = 1;  ///< steps between two notifications
        // Guarded by the mutex of the group.
        bool is_due = false;
        Step notified = 0;
        std::vector<StampedSpike> spikes = {};  ///< not sent yet
        // Used by the polling thread only.
        Step read = 0;  ///< by the readers
    };
    /// Aligned to avoid false sharing: other threads change other groups.
    struct alignas(64) Group {
        std::mutex mutex;
        Step clock = 0;
        Step silent = 0;  ///< it emits no spikes after its clock until this step
        Step period = std::numeric_limits<Step>::max();  ///< minimum over its outlets
        std::vector<std::uint32_t> outlets;  ///< ascending by rank
        std::vector<Destination> found;
    };
    struct Inlet {
        std::uint32_t partner = 0;
        Step clock = 0;
        Step acknowledged = 0;
        bool is_listed = false;
    };
    struct Partner {
        Rank rank;
        std::uint32_t first_outlet = 0;
        std::uint32_t last_outlet = 0;
        std::uint32_t first_inlet = 0;
        std::uint32_t last_inlet = 0;
        std::vector<std::uint32_t> due = {};  ///< outlets
        std::uint32_t waited = 0;  ///< calls of poll() since the first one was due
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
    void acknowledge(const ProgressReceiver& receiver);
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
    // Used by the polling thread only.
    std::vector<std::uint32_t> taken_due_;
    std::vector<std::uint32_t> listed_inlets_;  ///< whose readers may have more to acknowledge
    std::vector<Message> of_next_run_;
    Message message_;
    std::vector<StampedSpike> spikes_;
    std::size_t left_ = 0;  ///< partners that have not ended
    bool has_ended_ = false;
    ExchangeCounts counts_;
};

}  // namespace ranvier::comm
