#include "comm/exchange/rank_lists.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/tight_list.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

RankLists::RankLists(std::shared_ptr<const Destinations> destinations, std::vector<Rank> partners,
                     const ExchangeOptions& options)
    : destinations_(std::move(destinations)),
      packing_(destinations_->address_limit(), options.most_lags),
      ranks_(std::move(partners)),
      partner_count_(ranks_.size()),
      workers_(options.workers),
      counts_(partner_count_) {}

RankLists::RankLists(std::shared_ptr<const Destinations> destinations, std::int32_t ranks,
                     const ExchangeOptions& options)
    : destinations_(std::move(destinations)),
      packing_(destinations_->address_limit(), options.most_lags),
      partner_count_(static_cast<std::size_t>(ranks)),
      workers_(options.workers),
      counts_(partner_count_) {}

Share RankLists::share(std::uint32_t worker) const {
    return share_of(worker, static_cast<std::uint32_t>(workers_.size()), partner_count_);
}

Rank RankLists::rank_of(std::size_t partner) const {
    return ranks_.empty() ? Rank{static_cast<std::int32_t>(partner)} : ranks_[partner];
}

std::size_t RankLists::partner_of(Rank rank, std::size_t first, std::size_t last) const {
    if (ranks_.empty()) return static_cast<std::size_t>(rank.value);
    if (ranks_[last - 1].value - ranks_[first].value == static_cast<std::int64_t>(last - 1 - first)) {
        // The ranks in between are consecutive.
        const std::int32_t distance = rank.value - ranks_[first].value;
        if (distance >= 0 && first + static_cast<std::size_t>(distance) < last)
            return first + static_cast<std::size_t>(distance);
    }
    // Near the first one: partners come in ascending order.
    std::size_t reach = 1;
    while (first + reach < last && ranks_[first + reach] < rank) {
        first += reach;
        reach *= 2;
    }
    const auto end = ranks_.begin() + static_cast<std::ptrdiff_t>(std::min(last, first + reach + 1));
    const auto found = std::lower_bound(ranks_.begin() + static_cast<std::ptrdiff_t>(first), end, rank);
    if (found == end || *found != rank) {
        throw InternalError("exchange of spikes: a spike goes to rank " + std::to_string(rank.value) +
                            ", which is not among those that spikes may go to");
    }
    return static_cast<std::size_t>(found - ranks_.begin());
}

void RankLists::collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) {
    const auto [first, last] = share(worker);
    Worker& mine = workers_[worker];
    mine.count = 0;
    mine.taken = 0;
    if (first == last) return;
    mine.offsets.assign(last - first + 1, 0);
    std::size_t spikes = 0;
    for (const auto& outbox : outboxes) spikes += outbox.size();
    if (!mine.blocks.any_noted()) note_first(mine, {first, last}, outboxes);
    const std::size_t blocks = mine.blocks.count(last - first, spikes);
    for (std::size_t block = 0; block < blocks; ++block) {
        const Share part =
            share_of(static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(blocks), last - first);
        const Share partners{first + part.first, first + part.last};
        if (partners.last - partners.first == 1) {
            pack(mine, partners.first, part, outboxes);
        } else {
            gather(mine, partners, outboxes);
            sort(mine, part, first);
        }
    }
    mine.blocks.note(mine.count, spikes);
}

/// Cuts the first epoch into as many blocks as the others, since the memory of a block stays allocated.
void RankLists::note_first(Worker& worker, Share part, std::span<const std::span<const EmittedSpike>> outboxes) {
    constexpr std::size_t enough = 16;
    const Rank first{rank_of(part.first)};
    const Rank last{rank_of(part.last - 1).value + 1};
    std::size_t spikes = 0;
    worker.found.clear();
    for (std::uint32_t shard = 0; shard < outboxes.size(); ++shard) {
        for (const EmittedSpike& spike : outboxes[shard].first(std::min(enough, outboxes[shard].size()))) {
            destinations_->find(shard, spike.local, first, last, worker.found);
            ++spikes;
        }
    }
    worker.blocks.note(worker.found.size(), spikes);
    // Assigning {} would keep the memory.
    std::vector<Destination>().swap(worker.found);
}

/// Spikes for a single partner need no sorting.
void RankLists::pack(Worker& worker, std::size_t partner, Share block,
                     std::span<const std::span<const EmittedSpike>> outboxes) {
    const Rank rank = rank_of(partner);
    worker.offsets[block.first] = worker.count;
    packing_.with_bytes([&](auto bytes) {
        for (std::uint32_t shard = 0; shard < outboxes.size(); ++shard) {
            for (const EmittedSpike& spike : outboxes[shard]) {
                worker.found.clear();
                destinations_->find(shard, spike.local, rank, Rank{rank.value + 1}, worker.found);
                lengthen(worker.sorted, (worker.count + worker.found.size()) * packing_.bytes());
                for (const Destination& destination : worker.found) {
                    SpikePacking::store<bytes>(worker.sorted.data() + bytes * worker.count++,
                                               packing_.word(destination.address, spike.lag));
                }
            }
        }
    });
    worker.offsets[block.last] = worker.count;
}

void RankLists::gather(Worker& worker, Share block, std::span<const std::span<const EmittedSpike>> outboxes) {
    worker.items.clear();
    const Rank first{rank_of(block.first)};
    const Rank last{rank_of(block.last - 1).value + 1};
    for (std::uint32_t shard = 0; shard < outboxes.size(); ++shard) {
        for (const EmittedSpike& spike : outboxes[shard]) {
            worker.found.clear();
            destinations_->find(shard, spike.local, first, last, worker.found);
            std::size_t partner = block.first;
            make_room(worker.items, worker.items.size() + worker.found.size());
            for (const Destination& destination : worker.found) {
                // Partners come in ascending order.
                partner = partner_of(destination.rank, partner, block.last);
                worker.items.push_back({partner, packing_.word(destination.address, spike.lag)});
            }
        }
    }
}

/// Appends the items of a block of partners in their order.
/// @param block counted from `first`, the first partner of the worker
void RankLists::sort(Worker& worker, Share block, std::size_t first) const {
    const auto offsets = std::span(worker.offsets).subspan(block.first, block.last - block.first + 1);
    const std::size_t begin = first + block.first;
    for (const Item& item : worker.items) ++offsets[item.partner - begin + 1];
    offsets[0] = worker.count;
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    lengthen(worker.sorted, offsets.back() * packing_.bytes());
    packing_.with_bytes([&](auto bytes) {
        for (const Item& item : worker.items) {
            SpikePacking::store<bytes>(worker.sorted.data() + bytes * offsets[item.partner - begin]++, item.word);
        }
    });
    // Each offset has advanced to the start of the next.
    for (std::size_t i = offsets.size() - 1; i > 0; --i) offsets[i] = offsets[i - 1];
    offsets[0] = worker.count;
    worker.count += worker.items.size();
}

void RankLists::take(std::uint64_t most_per_worker) {
    data_.clear();
    std::fill(counts_.begin(), counts_.end(), std::size_t{0});
    std::uint64_t all = 0;
    for (const Worker& worker : workers_) all += std::min<std::uint64_t>(worker.count - worker.taken, most_per_worker);
    make_room(data_, all * packing_.bytes());
    for (std::uint32_t w = 0; w < workers_.size(); ++w) {
        Worker& worker = workers_[w];
        const std::uint64_t begin = worker.taken;
        const std::uint64_t end = begin + std::min<std::uint64_t>(worker.count - begin, most_per_worker);
        if (begin == end) continue;
        worker.taken = end;
        const auto words = std::span(worker.sorted).subspan(begin * packing_.bytes(), (end - begin) * packing_.bytes());
        data_.insert(data_.end(), words.begin(), words.end());
        const auto [first, last] = share(w);
        for (std::size_t partner = first; partner < last; ++partner) {
            const std::uint64_t from = std::max(begin, worker.offsets[partner - first]);
            const std::uint64_t to = std::min(end, worker.offsets[partner - first + 1]);
            if (from < to) counts_[partner] = to - from;
        }
    }
}

bool RankLists::anything_left() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const Worker& worker) { return worker.taken < worker.count; });
}

std::uint64_t RankLists::bytes() const {
    std::uint64_t bytes = bytes_of(ranks_) + bytes_of(data_) + bytes_of(counts_);
    for (const Worker& worker : workers_) {
        bytes += bytes_of(worker.found) + bytes_of(worker.items) + bytes_of(worker.sorted) + bytes_of(worker.offsets);
    }
    return bytes;
}

}  // namespace ranvier::comm
