#include "comm/sections.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/errors.hpp"
#include "comm/exchange_base.hpp"

namespace ranvier::comm {

namespace {

constexpr int first_flag = ArrivedSpike::lag_bits + ArrivedSpike::address_bits;
/// The last valid word of a section.
constexpr std::uint64_t end_flag = std::uint64_t{1} << first_flag;
/// Instead of a spike, in a section that has none.
constexpr std::uint64_t empty_flag = end_flag << 1;
/// The sender has nothing more for anybody.
constexpr std::uint64_t complete_flag = end_flag << 2;
/// A quarter of the length would have done for the sender.
constexpr std::uint64_t shrink_flag = end_flag << 3;

constexpr std::uint64_t first_words = 4;
/// How much shorter sections should do before they halve, and for how many epochs: bursts come back.
constexpr std::uint64_t shrink_below = 4;
constexpr std::uint32_t shrink_after = 16;

}  // namespace

Sections::Sections(std::shared_ptr<const Destinations> destinations, std::int32_t ranks, std::uint32_t workers,
                   std::uint64_t most_bytes)
    : destinations_(std::move(destinations)),
      ranks_(static_cast<std::size_t>(ranks)),
      most_words_(std::clamp<std::uint64_t>(most_bytes / sizeof(std::uint64_t) / ranks_, 1,
                                            std::numeric_limits<std::uint32_t>::max())),
      workers_(workers),
      filled_(ranks_) {
    resize(std::min(first_words, most_words_));
}

void Sections::resize(std::uint64_t words) {
    words_ = words;
    // A new one, so that the memory of the longer one goes back. That to receive follows when what it holds has been read.
    send_ = std::vector<std::uint64_t>(ranks_ * words_);
}

void Sections::begin(Step first_step) {
    first_step_ = first_step;
    first_round_ = true;
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
                if (filled_[section] < words_) {
                    send_[section * words_ + filled_[section]++] = word;
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
    if (worker.left == 0) return;
    for (std::size_t section = share.first; section < share.last; ++section) {
        std::uint64_t& next = worker.next[section - share.first];
        const std::uint64_t count = std::min(worker.ends[section - share.first] - next, words_);
        std::copy_n(worker.waiting.data() + next, count, send_.data() + section * words_);
        next += count;
        filled_[section] = static_cast<std::uint32_t>(count);
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
        const std::size_t blocks = mine.blocks.count(filled.size(), spikes);
        for (std::size_t block = 0; block < blocks; ++block) {
            const auto [first, last] =
                share_of(static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(blocks), filled.size());
            fill(mine, share, {share.first + first, share.first + last}, outboxes);
        }
        mine.blocks.note(mine.gathered, spikes);
        mine.left = mine.waiting.size();
        mine.sent += mine.gathered - mine.left;
    }
    mine.fullest = std::ranges::max(filled);
}

void Sections::seal() {
    std::uint64_t fullest = 0;
    bool complete = true;
    for (const Worker& worker : workers_) {
        fullest = std::max(fullest, worker.fullest);
        complete = complete && worker.left == 0;
    }
    std::uint64_t flags = end_flag;
    if (complete) flags |= complete_flag;
    if (complete && first_round_ && fullest <= words_ / shrink_below) flags |= shrink_flag;
    for (std::size_t section = 0; section < ranks_; ++section) {
        std::uint64_t* const words = send_.data() + section * words_;
        if (filled_[section] == 0) {
            words[0] = flags | empty_flag;
        } else {
            words[filled_[section] - 1] |= flags;
        }
    }
    arrived_ = 0;
    if (received_.size() != send_.size()) received_ = std::vector<ArrivedSpike>(send_.size());
}

bool Sections::open() {
    bool all_complete = true;
    bool all_shrink = true;
    arrived_ = 0;
    for (std::size_t section = 0; section < ranks_; ++section) {
        std::size_t read = section * words_;
        const std::size_t stop = read + words_;
        while (read < stop && (received_[read].word() & end_flag) == 0) received_[arrived_++] = received_[read++];
        if (read == stop) throw InternalError("exchange of spikes: a section has no end");
        const std::uint64_t mark = received_[read].word();
        if ((mark & empty_flag) == 0) received_[arrived_++] = ArrivedSpike(mark & ArrivedSpike::mask);
        all_complete = all_complete && (mark & complete_flag) != 0;
        all_shrink = all_shrink && (mark & shrink_flag) != 0;
    }
    if (!all_complete) {
        quiet_ = 0;
        if (words_ < most_words_) resize(std::min(2 * words_, most_words_));
    } else if (first_round_) {
        quiet_ = all_shrink && words_ > 1 ? quiet_ + 1 : 0;
        if (quiet_ == shrink_after) {
            quiet_ = 0;
            resize(words_ / 2);
        }
    }
    first_round_ = false;
    return !all_complete;
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
