#include "comm/sections.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/errors.hpp"
#include "comm/exchange_base.hpp"

namespace ranvier::comm {

namespace {

/// The mark at the beginning of a section: the number of its spikes, and above that what its sender had left.
constexpr int left_shift = 32;
constexpr std::uint64_t most_left = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint64_t room_at_start = 3;
/// The room of first rounds follows what was needed in so many epochs: bursts come back.
constexpr std::uint32_t epochs_to_shrink = 16;

}  // namespace

Sections::Sections(std::shared_ptr<const Destinations> destinations, std::int32_t ranks, std::uint32_t workers,
                   std::uint64_t most_bytes)
    : destinations_(std::move(destinations)),
      ranks_(static_cast<std::size_t>(ranks)),
      most_room_(std::clamp<std::uint64_t>(most_bytes / sizeof(std::uint64_t) / ranks_, 2, most_left) - 1),
      first_room_(std::min(room_at_start, most_room_)),
      workers_(workers),
      filled_(ranks_) {
    set_room(first_room_);
}

void Sections::set_room(std::uint64_t room) {
    room_ = room;
    if (send_.size() < words()) send_ = std::vector<std::uint64_t>(words());
}

void Sections::begin(Step first_step) {
    first_step_ = first_step;
    first_round_ = true;
    // A new one, so that the memory of the longer one goes back. That to receive follows when what it holds has been read.
    if (shrinks_) send_ = {};
    shrinks_ = false;
    set_room(first_room_);
    for (Worker& worker : workers_) {
        worker.left = 0;
        worker.sent = 0;
    }
}

/// The first round, for a block of sections: what finds room goes into its section, the rest waits.
void Sections::fill(Worker& worker, Share share, Share block, std::span<const std::span<const EmittedSpike>> outboxes) {
    const Rank first{static_cast<std::int32_t>(block.first)};
    const Rank last{static_cast<std::int32_t>(block.last)};
    for (std::uint32_t shard = 0; shard < outboxes.size(); ++shard) {
        for (const EmittedSpike& spike : outboxes[shard]) {
            worker.found.clear();
            destinations_->find(shard, spike.local, first, last, worker.found);
            worker.gathered += worker.found.size();
            for (const Destination& destination : worker.found) {
                const auto section = static_cast<std::size_t>(destination.rank.value);
                const std::uint64_t word = ArrivedSpike(destination.address, spike.lag).word();
                if (filled_[section] < room_) {
                    send_[section * words_per_section() + ++filled_[section]] = word;
                } else {
                    worker.overflow.push_back({destination.rank, word});
                }
            }
        }
    }
    sort_overflow(worker, share, block);
}

/// Puts what waits in the order of the sections, so that the rounds that follow copy it and touch nothing else.
void Sections::sort_overflow(Worker& worker, Share share, Share block) {
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

void Sections::refill(Worker& worker, Share share) {
    worker.longest = 0;
    if (worker.left == 0) return;
    for (std::size_t section = share.first; section < share.last; ++section) {
        std::uint64_t& next = worker.next[section - share.first];
        const std::uint64_t left = worker.ends[section - share.first] - next;
        const std::uint64_t count = std::min(left, room_);
        std::copy_n(worker.waiting.data() + next, count, send_.data() + section * words_per_section() + 1);
        next += count;
        filled_[section] = static_cast<std::uint32_t>(count);
        worker.longest = std::max(worker.longest, left);
        worker.left -= count;
        worker.sent += count;
    }
}

void Sections::collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) {
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
            fill(mine, share, {share.first + first, share.first + last}, outboxes);
        }
        mine.blocks.note(mine.gathered, spikes);
        trim(mine.overflow, mine.most_overflow);
        trim(mine.waiting, mine.waiting.size());
        mine.left = mine.waiting.size();
        mine.sent += mine.gathered - mine.left;
        mine.longest = std::ranges::max(filled);
        for (std::size_t section = 0; section < mine.ends.size(); ++section) {
            mine.longest = std::max(mine.longest, filled[section] + mine.ends[section] - mine.next[section]);
        }
    }
}

void Sections::seal() {
    std::uint64_t left = 0;
    for (const Worker& worker : workers_) left = std::max(left, worker.longest);
    const std::uint64_t mark = std::min(left, most_left) << left_shift;
    for (std::size_t section = 0; section < ranks_; ++section) {
        send_[section * words_per_section()] = mark | filled_[section];
    }
    if (received_.size() != send_.size()) received_ = std::vector<ArrivedSpike>(send_.size());
}

bool Sections::open(std::vector<SpikeExchange::Arrivals>& arrivals) {
    std::uint64_t most = 0;
    found_ = 0;
    for (std::size_t section = 0; section < ranks_; ++section) {
        const std::span<const ArrivedSpike> words = std::span(received_).subspan(section * words_per_section());
        const std::uint64_t mark = words.front().word();
        const auto count = static_cast<std::uint32_t>(mark);
        if (count > room_) throw InternalError("exchange of spikes: a section holds more than there is room for");
        most = std::max(most, mark >> left_shift);
        found_ += count;
        if (count > 0) arrivals.push_back({first_step_, words.subspan(1, count)});
    }
    const bool more = most > room_;
    if (first_round_) learn(most);
    first_round_ = false;
    if (more) set_room(std::min(most - room_, most_room_));
    return more;
}

/// Chooses the room of first rounds. @param most spikes of the epoch in the longest section of all processes
void Sections::learn(std::uint64_t most) {
    recent_ = std::max(recent_, most);
    if (most > first_room_) {
        first_room_ = std::min(most, most_room_);
    } else if (++epochs_ < epochs_to_shrink) {
        return;
    } else if (recent_ <= first_room_ / 4 * 3) {
        first_room_ = std::max<std::uint64_t>(recent_, 1);
        shrinks_ = true;
    }
    recent_ = 0;
    epochs_ = 0;
}

std::uint64_t Sections::sent() const {
    std::uint64_t sent = 0;
    for (const Worker& worker : workers_) sent += worker.sent;
    return sent;
}

std::uint64_t Sections::bytes() const {
    std::uint64_t bytes = bytes_of(filled_) + bytes_of(send_) + bytes_of(received_);
    for (const Worker& worker : workers_) {
        bytes += bytes_of(worker.found) + bytes_of(worker.overflow) + bytes_of(worker.waiting) + bytes_of(worker.next) +
                 bytes_of(worker.ends);
    }
    return bytes;
}

}  // namespace ranvier::comm
