#include "comm/exchange/marked_sections.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "comm/exchange/exchange_base.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// The mark at the start of a section: its number of spikes, and above that the spikes its sender had left.
constexpr int left_shift = 32;
constexpr std::uint64_t most_left = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint64_t room_at_start = 3;
/// The capacity of first rounds follows the maximum of this many epochs, since bursts recur. Measured bursts account
/// for this (python/ranvier/simulation/measurements.py).
constexpr std::uint32_t epochs_to_shrink = 16;

/// The old contents are discarded: free their memory before allocating.
void renew(Buffer<std::byte>& buffer, std::size_t bytes) {
    buffer = {};
    buffer = Buffer<std::byte>(bytes);
    std::memset(buffer.data(), 0, bytes);
}

template <class List>
void free_unused(List& values, std::size_t used) {
    if (used == 0) {
        List(values.get_allocator()).swap(values);
    } else {
        trim(values, used);
    }
}

}  // namespace

MarkedSections::MarkedSections(std::shared_ptr<const Destinations> destinations, std::int32_t ranks,
                               const ExchangeOptions& options, std::uint64_t most_bytes)
    : destinations_(std::move(destinations)),
      packing_(destinations_->address_limit(), options.most_lags),
      ranks_(static_cast<std::size_t>(ranks)),
      most_room_(std::clamp<std::uint64_t>(most_bytes / ranks_, mark_bytes, std::uint64_t{1} << left_shift)),
      workers_(options.workers),
      filled_(ranks_) {
    most_room_ = std::max<std::uint64_t>(1, (most_room_ - mark_bytes) / packing_.bytes());
    first_room_ = std::min(room_at_start, most_room_);
    set_room(first_room_);
}

void MarkedSections::set_room(std::uint64_t room) {
    room_ = room;
    const std::size_t bytes = sections_bytes() + ArrivedSpikes::slack;
    if (send_.size() < bytes) renew(send_, bytes);
}

void MarkedSections::begin(Step first_step) {
    if (sealed_room_ > 0) learn();
    first_step_ = first_step;
    first_round_ = true;
    // Reallocate, so that the longer buffer is freed. The receive buffer follows after its content has been read.
    if (shrinks_) send_ = {};
    shrinks_ = false;
    set_room(first_room_);
    for (Worker& worker : workers_) worker.left = 0;
}

/// The first round for a block of sections: spikes go into their section while there is room, the others wait.
template <std::size_t bytes>
void MarkedSections::fill(Worker& worker, Share block, std::span<const std::span<const EmittedSpike>> outboxes) {
    const Rank first{static_cast<std::int32_t>(block.first)};
    const Rank last{static_cast<std::int32_t>(block.last)};
    const auto place_of = [&](Rank rank) {
        const auto section = static_cast<std::size_t>(rank.value);
        return send_.data() + section * section_bytes() + mark_bytes + bytes * filled_[section];
    };
    // With many sections, none is in the nearest cache at its turn.
    constexpr std::size_t ahead = 16;
    for (std::uint32_t shard = 0; shard < outboxes.size(); ++shard) {
        for (const EmittedSpike& spike : outboxes[shard]) {
            worker.found.clear();
            destinations_->find(shard, spike.local, first, last, worker.found);
            worker.gathered += worker.found.size();
            const std::span<const Destination> found = worker.found;
            for (std::size_t i = 0; i < found.size(); ++i) {
                if (i + ahead < found.size()) __builtin_prefetch(place_of(found[i + ahead].rank), 1);
                const auto section = static_cast<std::size_t>(found[i].rank.value);
                const std::uint64_t word = packing_.word(found[i].address, spike.lag);
                if (filled_[section] < room_) {
                    SpikePacking::store<bytes>(place_of(found[i].rank), word);
                    ++filled_[section];
                } else {
                    worker.overflow.push_back({found[i].rank, word});
                }
            }
        }
    }
}

/// Sorts the waiting spikes by section, so that later rounds only copy.
void MarkedSections::sort_overflow(Worker& worker, Share share, Share block) {
    if (worker.overflow.empty() && worker.waiting.empty()) return;
    worker.next.resize(share.last - share.first, 0);
    worker.ends.resize(share.last - share.first, 0);
    for (std::size_t section = block.first; section < block.last; ++section) worker.ends[section - share.first] = 0;
    const auto end_of = [&](const Item& item) -> std::uint64_t& {
        return worker.ends[static_cast<std::size_t>(item.rank.value) - share.first];
    };
    for (const Item& item : worker.overflow) ++end_of(item);
    worker.most_overflow = std::max(worker.most_overflow, worker.overflow.size());
    std::uint64_t sum = worker.waiting.size();
    for (std::size_t section = block.first - share.first; section < block.last - share.first; ++section) {
        worker.next[section] = sum;
        sum += worker.ends[section];
        worker.ends[section] = worker.next[section];
    }
    lengthen(worker.waiting, sum);
    for (const Item& item : worker.overflow) worker.waiting[end_of(item)++] = item.word;
    worker.overflow.clear();
}

void MarkedSections::refill(Worker& worker, Share share) {
    worker.longest = 0;
    if (worker.left == 0) {
        for (std::size_t section = share.first; section < share.last; ++section) write_mark(section, 0);
        return;
    }
    for (std::size_t section = share.first; section < share.last; ++section) {
        std::uint64_t& next = worker.next[section - share.first];
        const std::uint64_t left = worker.ends[section - share.first] - next;
        const std::uint64_t count = std::min(left, room_);
        const auto words = std::span(worker.waiting).subspan(next, count);
        packing_.with_bytes([&](auto bytes) {
            std::byte* place = send_.data() + section * section_bytes() + mark_bytes;
            for (const std::uint64_t word : words) {
                SpikePacking::store<bytes>(place, word);
                place += bytes;
            }
        });
        next += count;
        filled_[section] = static_cast<std::uint32_t>(count);
        worker.longest = std::max(worker.longest, left);
        worker.left -= count;
        worker.sent += count;
        write_mark(section, 0);
    }
}

void MarkedSections::collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) {
    const Share share = share_of(worker, static_cast<std::uint32_t>(workers_.size()), ranks_);
    if (share.first == share.last) return;
    const auto filled = std::span(filled_).subspan(share.first, share.last - share.first);
    std::ranges::fill(filled, 0U);
    Worker& mine = workers_[worker];
    if (!first_round_) {
        refill(mine, share);
    } else {
        std::size_t spikes = 0;
        for (const auto& outbox : outboxes) spikes += outbox.size();
        mine.waiting.clear();
        mine.next.clear();
        mine.ends.clear();
        mine.gathered = 0;
        mine.most_overflow = 0;
        const std::size_t blocks = mine.blocks.count(filled.size(), spikes);
        for (std::size_t block = 0; block < blocks; ++block) {
            const auto [first, last] =
                share_of(static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(blocks), filled.size());
            const Share part{share.first + first, share.first + last};
            packing_.with_bytes([&](auto bytes) { fill<bytes>(mine, part, outboxes); });
            for (std::size_t section = part.first; section < part.last; ++section) write_mark(section, 0);
            sort_overflow(mine, share, part);
        }
        mine.blocks.note(mine.gathered, spikes);
        // Both are empty except in bursts.
        free_unused(mine.overflow, mine.most_overflow);
        free_unused(mine.waiting, mine.waiting.size());
        mine.left = mine.waiting.size();
        mine.sent += mine.gathered - mine.left;
        mine.longest = std::ranges::max(filled);
        for (std::size_t section = 0; section < mine.ends.size(); ++section) {
            mine.longest = std::max(mine.longest, filled[section] + mine.ends[section] - mine.next[section]);
        }
    }
}

void MarkedSections::write_mark(std::size_t section, std::uint64_t reported) {
    const std::uint64_t mark = std::min(reported, most_left) << left_shift | filled_[section];
    std::memcpy(send_.data() + section * section_bytes(), &mark, mark_bytes);
}

/// Almost never any work, so one worker is enough.
void MarkedSections::seal() {
    std::uint64_t longest = 0;
    for (const Worker& worker : workers_) longest = std::max(longest, worker.longest);
    if (first_round_) recent_ = std::max(recent_, longest);
    const bool may_shrink = first_round_ && epochs_ + 1 == epochs_to_shrink;
    const std::uint64_t reported = longest > room_ ? longest : may_shrink ? recent_ : 0;
    if (reported > 0) {
        for (std::size_t section = 0; section < ranks_; ++section) write_mark(section, reported);
    }
    sealed_room_ = room_;
    if (received_.size() != send_.size()) renew(received_, send_.size());
}

void MarkedSections::take(std::uint32_t worker, const SpikeExchange::Visit& visit) {
    const auto workers = static_cast<std::uint32_t>(workers_.size());
    // Few sections are long, and may differ much in length.
    constexpr std::size_t many_for_a_worker = 64;
    const bool divided = ranks_ < many_for_a_worker * workers;
    const Share share = divided ? Share{0, ranks_} : share_of(worker, workers, ranks_);
    // Many sections are further apart than they are long.
    constexpr std::size_t ahead = 12;
    constexpr std::size_t cache_line = 64;
    Worker& mine = workers_[worker];
    mine.most = 0;
    for (std::size_t section = share.first; section < share.last; ++section) {
        const std::byte* const place = received_.data() + section * section_bytes();
        if (section + ahead < share.last) {
            const std::byte* const next = place + ahead * section_bytes();
            __builtin_prefetch(next);
            __builtin_prefetch(next + cache_line);
        }
        std::uint64_t mark = 0;
        std::memcpy(&mark, place, mark_bytes);
        const auto count = static_cast<std::uint32_t>(mark);
        if (count > sealed_room_) {
            throw InternalError("exchange of spikes: a section exceeds its capacity");
        }
        mine.most = std::max(mine.most, mark >> left_shift);
        const Share part = divided ? share_of(worker, workers, count) : Share{0, count};
        if (part.first == part.last) continue;
        mine.received += part.last - part.first;
        visit({first_step_, packing_.arrived(place + mark_bytes, count).subspan(part.first, part.last - part.first)});
    }
}

std::uint64_t MarkedSections::most_reported() const {
    std::uint64_t most = 0;
    for (const Worker& worker : workers_) most = std::max(most, worker.most);
    return most;
}

// Valid until all have collocated again, when more() is no longer called.
bool MarkedSections::more() const { return most_reported() > sealed_room_; }

void MarkedSections::next_round() {
    const std::uint64_t most = most_reported();
    if (first_round_) reported_first_ = most;
    first_round_ = false;
    set_room(std::min(most - room_, most_room_));
}

/// Chooses the capacity of first rounds at the end of an epoch.
void MarkedSections::learn() {
    if (first_round_) reported_first_ = most_reported();
    if (reported_first_ > first_room_) {
        first_room_ = std::min(reported_first_, most_room_);
    } else if (++epochs_ < epochs_to_shrink) {
        return;
    } else if (reported_first_ <= first_room_ / 4 * 3) {
        first_room_ = std::max<std::uint64_t>(reported_first_, 1);
        shrinks_ = true;
    }
    recent_ = 0;
    epochs_ = 0;
}

void MarkedSections::add_to(ExchangeCounts& counts) const {
    for (const Worker& worker : workers_) {
        counts.spikes_sent += worker.sent;
        counts.spikes_received += worker.received;
    }
}

void MarkedSections::reset_counts() {
    for (Worker& worker : workers_) worker.sent = worker.received = 0;
}

std::uint64_t MarkedSections::bytes() const {
    std::uint64_t bytes = bytes_of(filled_) + send_.bytes() + received_.bytes();
    for (const Worker& worker : workers_) {
        bytes += bytes_of(worker.found) + bytes_of(worker.overflow) + bytes_of(worker.waiting) + bytes_of(worker.next) +
                 bytes_of(worker.ends);
    }
    return bytes;
}

}  // namespace ranvier::comm
