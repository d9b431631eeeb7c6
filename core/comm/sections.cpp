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
        worker.overflow.clear();
        worker.sent = 0;
    }
}

void Sections::put(Worker& worker, Rank rank, std::uint64_t word) {
    const auto section = static_cast<std::size_t>(rank.value);
    if (filled_[section] == words_) {
        worker.overflow.push_back({rank, word});
        return;
    }
    send_[section * words_ + filled_[section]] = word;
    ++filled_[section];
    ++worker.sent;
    worker.fullest = std::max<std::uint64_t>(worker.fullest, filled_[section]);
}

void Sections::refill(Worker& worker) {
    // What does not fit this time either moves to the front, in its order.
    const std::vector<Waiting> waiting = std::exchange(worker.overflow, {});
    for (const Waiting& spike : waiting) put(worker, spike.rank, spike.word);
}

void Sections::collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) {
    const Share share = share_of(worker, static_cast<std::uint32_t>(workers_.size()), ranks_);
    if (share.first == share.last) return;
    std::fill(filled_.begin() + static_cast<std::ptrdiff_t>(share.first),
              filled_.begin() + static_cast<std::ptrdiff_t>(share.last), 0U);
    Worker& mine = workers_[worker];
    mine.fullest = 0;
    if (!first_round_) {
        refill(mine);
        return;
    }
    const Rank first{static_cast<std::int32_t>(share.first)};
    const Rank last{static_cast<std::int32_t>(share.last)};
    for (std::uint32_t shard = 0; shard < outboxes.size(); ++shard) {
        for (const EmittedSpike& spike : outboxes[shard]) {
            mine.found.clear();
            destinations_->find(shard, spike.local, first, last, mine.found);
            for (const Destination& destination : mine.found) {
                put(mine, destination.rank, ArrivedSpike(destination.address, spike.lag).word());
            }
        }
    }
}

void Sections::seal() {
    std::uint64_t fullest = 0;
    bool complete = true;
    for (const Worker& worker : workers_) {
        fullest = std::max(fullest, worker.fullest);
        complete = complete && worker.overflow.empty();
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
    for (const Worker& worker : workers_) bytes += bytes_of(worker.found) + bytes_of(worker.overflow);
    return bytes;
}

}  // namespace ranvier::comm
