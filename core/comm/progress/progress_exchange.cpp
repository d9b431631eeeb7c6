#include "comm/progress/progress_exchange.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// Not used by any other method.
constexpr int tag = 64;

/// Readers acknowledge after so many steps.
constexpr Step steps_between_reads = ProgressExchange::most_ahead / 2;

static_assert(ProgressExchange::most_ahead + 1 <= ProgressSpike::most_lag);

}  // namespace

ProgressExchange::ProgressExchange(std::shared_ptr<Communicator> communicator,
                                   std::shared_ptr<const Destinations> destinations, const ProgressRoutes& routes,
                                   Notifications notifications)
    : communicator_(std::move(communicator)),
      destinations_(std::move(destinations)),
      packs_(notifications == Notifications::packed),
      groups_(routes.groups),
      agreement_(communicator_->rank(), communicator_->size()),
      common_(communicator_->rank(), communicator_->size()),
      send_of_tree_([this](Rank to, const ProgressEntry& entry) {
          Partner& partner = partners_[partner_of(to)];
          append_entry(partner.message, entry);
          send(partner);
      }) {
    make_partners(routes);
}

ProgressExchange::~ProgressExchange() = default;

/// Includes the neighbours in the tree.
void ProgressExchange::make_partners(const ProgressRoutes& routes) {
    if (!std::ranges::is_sorted(routes.outlets, {}, &ProgressOutlet::to) || !std::ranges::is_sorted(routes.inlets)) {
        throw InternalError("routes of notifications are not sorted");
    }
    std::vector<Rank> ranks = agreement_.neighbors();
    for (const ProgressOutlet& outlet : routes.outlets) ranks.push_back(outlet.to);
    ranks.insert(ranks.end(), routes.inlets.begin(), routes.inlets.end());
    std::ranges::sort(ranks);
    ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
    for (const Rank rank : ranks) {
        const auto outlets = std::ranges::equal_range(routes.outlets, rank, {}, &ProgressOutlet::to);
        const auto inlets = std::ranges::equal_range(routes.inlets, rank);
        partners_.push_back({.rank = rank,
                             .first_outlet = static_cast<std::uint32_t>(outlets.begin() - routes.outlets.begin()),
                             .last_outlet = static_cast<std::uint32_t>(outlets.end() - routes.outlets.begin()),
                             .first_inlet = static_cast<std::uint32_t>(inlets.begin() - routes.inlets.begin()),
                             .last_inlet = static_cast<std::uint32_t>(inlets.end() - routes.inlets.begin())});
    }
    for (const ProgressOutlet& outlet : routes.outlets) {
        const Step period = std::min((outlet.delay + 1) / 2, steps_between_reads);
        Group& group = groups_[outlet.group];
        group.period = std::min(group.period, period);
        group.outlets.push_back(static_cast<std::uint32_t>(outlets_.size()));
        outlets_.push_back({.group = outlet.group, .partner = partner_of(outlet.to), .period = period});
    }
    for (const Rank from : routes.inlets) inlets_.push_back({.partner = partner_of(from)});
}

std::uint32_t ProgressExchange::partner_of(Rank rank) const {
    const auto found = std::ranges::lower_bound(partners_, rank, {}, &Partner::rank);
    if (found == partners_.end() || found->rank != rank) {
        throw InternalError("a message about progress from rank " + std::to_string(rank.value) +
                            ", which exchanges no progress with this one");
    }
    return static_cast<std::uint32_t>(found - partners_.begin());
}

void ProgressExchange::begin(Step before, ProgressReceiver& receiver) {
    agreement_.begin();
    common_.begin(before);
    for (std::uint32_t index = 0; index < groups_.size(); ++index) {
        groups_[index].clock = groups_[index].silent = before;
        const bool is_read = !groups_[index].outlets.empty();
        receiver.allow(index, is_read ? before + most_ahead : std::numeric_limits<Step>::max());
    }
    for (Outlet& outlet : outlets_) {
        outlet.is_due = false;
        outlet.notified = before;
        outlet.read = before;
        outlet.spikes.clear();
    }
    for (Inlet& inlet : inlets_) {
        inlet.clock = before;
        inlet.acknowledged = before;
        inlet.is_listed = false;
    }
    for (Partner& partner : partners_) {
        partner.due.clear();
        partner.waited = 0;
        partner.message.clear();
        partner.has_ended = false;
    }
    due_.clear();
    is_due_.store(false);
    listed_inlets_.clear();
    left_ = partners_.size();
    has_ended_ = false;
}

void ProgressExchange::emit(std::uint32_t index, std::span<const EmittedSpike> spikes, Step begin) {
    Group& group = groups_[index];
    if (spikes.empty() || group.outlets.empty()) return;
    const std::lock_guard lock(group.mutex);
    const Rank first = partners_[outlets_[group.outlets.front()].partner].rank;
    const Rank last{partners_[outlets_[group.outlets.back()].partner].rank.value + 1};
    for (const EmittedSpike& spike : spikes) {
        group.found.clear();
        destinations_->find(index, spike.local, first, last, group.found);
        // Both lists are ascending by rank, and both may contain a rank several times.
        auto next = group.found.begin();
        for (const std::uint32_t place : group.outlets) {
            Outlet& outlet = outlets_[place];
            const Rank to = partners_[outlet.partner].rank;
            while (next != group.found.end() && next->rank < to) ++next;
            if (next == group.found.end()) break;
            if (next->rank == to) outlet.spikes.push_back({begin + static_cast<Step>(spike.lag), spike.source});
        }
    }
}

void ProgressExchange::advance(std::uint32_t index, Step clock, Step silent, bool is_last) {
    Group& group = groups_[index];
    if (group.outlets.empty()) return;
    const std::lock_guard lock(group.mutex);
    group.clock = clock;
    group.silent = silent;
    bool any = false;
    for (const std::uint32_t place : group.outlets) {
        Outlet& outlet = outlets_[place];
        if (outlet.is_due || clock == outlet.notified || (!is_last && clock < outlet.notified + outlet.period))
            continue;
        outlet.is_due = true;
        any = true;
        const std::lock_guard due_lock(due_mutex_);
        due_.push_back(place);
    }
    if (any) is_due_.store(true, std::memory_order_relaxed);
}

bool ProgressExchange::poll(ProgressReceiver& receiver, bool is_idle) {
    const bool any = receive(receiver);
    // After the end, acknowledgements are not needed, and no message may follow the end mark.
    if (!has_ended_) acknowledge(receiver);
    collect_due();
    send_due(is_idle);
    return any;
}

void ProgressExchange::note_progress(Step least) {
    // After the verdict, no group goes beyond the last step, and no message may follow the end mark.
    if (!agreement_.verdict()) common_.note(least, send_of_tree_);
}

bool ProgressExchange::receive(ProgressReceiver& receiver) {
    bool any = false;
    std::vector<Message> early;
    // Messages received in the last run from processes that had already started this one.
    std::swap(early, of_next_run_);
    for (const Message& message : early) {
        take(message, receiver);
        any = true;
    }
    while (communicator_->try_receive(tag, message_)) {
        take(message_, receiver);
        any = true;
    }
    return any;
}

void ProgressExchange::take(const Message& message, ProgressReceiver& receiver) {
    const std::uint32_t partner = partner_of(message.from);
    if (partners_[partner].has_ended) {
        of_next_run_.push_back(message);
        return;
    }
    for_each_entry(message.data, spikes_, [&](const ProgressEntry& entry, std::span<const StampedSpike> spikes) {
        take_entry(partner, entry, spikes, receiver);
    });
}

void ProgressExchange::take_entry(std::uint32_t index, const ProgressEntry& entry, std::span<const StampedSpike> spikes,
                                  ProgressReceiver& receiver) {
    Partner& partner = partners_[index];
    switch (entry.kind) {
        case ProgressKind::clock: {
            const std::uint32_t place = partner.first_inlet + entry.channel;
            if (place >= partner.last_inlet) throw InternalError("a notification of a group that has no readers here");
            Inlet& inlet = inlets_[place];
            inlet.clock = entry.step;
            counts_.spikes_received += spikes.size();
            receiver.arrive(place, entry.step, entry.step + entry.silent, spikes);
            if (!inlet.is_listed && entry.step >= inlet.acknowledged + steps_between_reads) {
                inlet.is_listed = true;
                listed_inlets_.push_back(place);
            }
            break;
        }
        case ProgressKind::read: {
            const std::uint32_t place = partner.first_outlet + entry.channel;
            if (place >= partner.last_outlet)
                throw InternalError("an acknowledgement of a group that its sender does not read");
            take_read(place, entry.step, receiver);
            break;
        }
        case ProgressKind::end:
            partner.has_ended = true;
            --left_;
            break;
        case ProgressKind::branch_progress:
        case ProgressKind::all_progress:
            if (!agreement_.verdict()) common_.take(partner.rank, entry, send_of_tree_);
            break;
        case ProgressKind::stop_request:
        case ProgressKind::report:
        case ProgressKind::verdict:
            agreement_.take(partner.rank, entry, send_of_tree_);
            break;
    }
}

void ProgressExchange::take_read(std::uint32_t place, Step step, ProgressReceiver& receiver) {
    const std::uint32_t group = outlets_[place].group;
    outlets_[place].read = step;
    Step least = step;
    for (const std::uint32_t other : groups_[group].outlets) least = std::min(least, outlets_[other].read);
    receiver.allow(group, least + most_ahead);
}

/// Acknowledges inlets that have been read far enough.
void ProgressExchange::acknowledge(const ProgressReceiver& receiver) {
    std::erase_if(listed_inlets_, [&](std::uint32_t place) {
        Inlet& inlet = inlets_[place];
        const Step read = std::min(inlet.clock, receiver.read_until(place));
        if (read < inlet.acknowledged + steps_between_reads) return false;
        Partner& partner = partners_[inlet.partner];
        append_entry(partner.message,
                     {.kind = ProgressKind::read, .channel = place - partner.first_inlet, .step = read});
        send(partner);
        inlet.acknowledged = read;
        inlet.is_listed = inlet.clock >= read + steps_between_reads;
        return !inlet.is_listed;
    });
}

void ProgressExchange::collect_due() {
    if (!is_due_.load(std::memory_order_relaxed)) return;
    {
        const std::lock_guard lock(due_mutex_);
        is_due_.store(false, std::memory_order_relaxed);
        std::swap(due_, taken_due_);
    }
    for (const std::uint32_t place : taken_due_) partners_[outlets_[place].partner].due.push_back(place);
    taken_due_.clear();
}

void ProgressExchange::send_due(bool is_idle) {
    for (Partner& partner : partners_) {
        if (partner.due.empty()) continue;
        const std::uint32_t outlets = partner.last_outlet - partner.first_outlet;
        const bool waits = packs_ && !is_idle && 2 * partner.due.size() < outlets && ++partner.waited < groups_.size();
        if (waits) continue;
        partner.waited = 0;
        if (packs_) {
            for (std::uint32_t place = partner.first_outlet; place < partner.last_outlet; ++place) {
                notify(place, partner);
            }
            send(partner);
        } else {
            for (const std::uint32_t place : partner.due) {
                notify(place, partner);
                send(partner);
            }
        }
        partner.due.clear();
    }
}

void ProgressExchange::notify(std::uint32_t place, Partner& partner) {
    Outlet& outlet = outlets_[place];
    Group& group = groups_[outlet.group];
    const std::lock_guard lock(group.mutex);
    outlet.is_due = false;
    if (group.clock == outlet.notified) return;
    // There may be spikes of later steps: the group advances concurrently.
    const auto end = std::ranges::upper_bound(outlet.spikes, group.clock, {}, &StampedSpike::stamp);
    const auto spikes = static_cast<std::size_t>(end - outlet.spikes.begin());
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    if (spikes > most) throw InternalError("a notification of too many spikes");
    append_entry(partner.message,
                 {.kind = ProgressKind::clock,
                  .channel = place - partner.first_outlet,
                  .spikes = static_cast<std::uint32_t>(spikes),
                  .silent = static_cast<std::uint32_t>(std::clamp<Step>(group.silent - group.clock, 0, most)),
                  .step = group.clock},
                 std::span(outlet.spikes).first(spikes));
    outlet.spikes.erase(outlet.spikes.begin(), end);
    outlet.notified = group.clock;
    counts_.spikes_sent += spikes;
    ++counts_.notifications;
}

void ProgressExchange::send(Partner& partner) {
    if (partner.message.empty()) return;
    communicator_->send(partner.message, partner.rank, tag);
    ++counts_.messages;
    counts_.bytes_sent += partner.message.size();
    partner.message.clear();
}

void ProgressExchange::end() {
    if (has_ended_) return;
    has_ended_ = true;
    // Another worker may have left messages since the last poll of this one.
    collect_due();
    send_due(true);
    for (Partner& partner : partners_) {
        append_entry(partner.message, {.kind = ProgressKind::end});
        send(partner);
    }
}

double ProgressExchange::expected_bytes(const Expectation& expectation, Notifications notifications) {
    const double of_partner = expectation.partners > 0.0 ? expectation.outlets / expectation.partners : 0.0;
    // A notification and its spikes: all at once, or one at a time.
    const double entries = notifications == Notifications::packed ? of_partner : 1.0;
    const double message = entries * (sizeof(ProgressEntry) + expectation.waiting_spikes / 2.0 * sizeof(std::uint64_t));
    return expectation.groups * sizeof(Group) +
           expectation.outlets * (sizeof(Outlet) + sizeof(Inlet) + 2.0 * sizeof(std::uint32_t) +
                                  expectation.waiting_spikes * sizeof(StampedSpike)) +
           expectation.partners * (sizeof(Partner) + message);
}

ExchangeCounts ProgressExchange::counts() const {
    ExchangeCounts counts = counts_;
    counts.buffer_bytes = groups_.size() * sizeof(Group) + outlets_.capacity() * sizeof(Outlet) +
                          inlets_.capacity() * sizeof(Inlet) + partners_.capacity() * sizeof(Partner);
    for (const Group& group : groups_) {
        counts.buffer_bytes +=
            group.outlets.capacity() * sizeof(std::uint32_t) + group.found.capacity() * sizeof(Destination);
    }
    for (const Outlet& outlet : outlets_) counts.buffer_bytes += outlet.spikes.capacity() * sizeof(StampedSpike);
    for (const Partner& partner : partners_) {
        counts.buffer_bytes += partner.message.capacity() + partner.due.capacity() * sizeof(std::uint32_t);
    }
    return counts;
}

}  // namespace ranvier::comm
