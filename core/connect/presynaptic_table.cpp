#include "connect/presynaptic_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/errors.hpp"

namespace ranvier::connect {

void PresynapticTable::find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
                            std::vector<comm::Destination>& found) const {
    const Part& part = parts_[shard];
    std::uint64_t begin = part.begins[local];
    const std::uint64_t end = part.begins[local + std::size_t{1}];
    if (first.value > 0) {
        const std::uint64_t least = pack(first, 0);
        std::uint64_t high = end;
        while (begin < high) {
            const std::uint64_t middle = (begin + high) / 2;
            if (part.entries[middle] < least) {
                begin = middle + 1;
            } else {
                high = middle;
            }
        }
    }
    const std::uint64_t mask = (std::uint64_t{1} << address_bits_) - 1;
    for (; begin < end; ++begin) {
        const std::uint64_t entry = part.entries[begin];
        const Rank rank{static_cast<std::int32_t>(entry >> address_bits_)};
        if (rank >= last) break;
        found.push_back({rank, entry & mask});
    }
}

std::vector<Rank> PresynapticTable::ranks() const {
    std::vector<bool> talks(static_cast<std::size_t>(ranks_), false);
    for (const Part& part : parts_) {
        const std::uint64_t entries = part.sources == 0 ? 0 : part.begins[part.sources];
        for (std::uint64_t i = 0; i < entries; ++i) talks[part.entries[i] >> address_bits_] = true;
    }
    std::vector<Rank> ranks;
    for (std::int32_t rank = 0; rank < ranks_; ++rank) {
        if (talks[static_cast<std::size_t>(rank)]) ranks.push_back(Rank{rank});
    }
    return ranks;
}

std::uint64_t PresynapticTable::size() const {
    std::uint64_t entries = 0;
    for (const Part& part : parts_) entries += part.sources == 0 ? 0 : part.begins[part.sources];
    return entries;
}

std::uint64_t PresynapticTable::bytes() const {
    std::uint64_t bytes = 0;
    for (const Part& part : parts_) bytes += part.begins.bytes() + part.entries.bytes();
    return bytes;
}

PresynapticTableBuilder::PresynapticTableBuilder(const ProcessLayout& layout, const RowAddresses& addresses,
                                                 std::shared_ptr<comm::Communicator> communicator,
                                                 std::uint64_t buffer_bytes, parallel::Team& team)
    : layout_(layout),
      addresses_(addresses),
      communicator_(std::move(communicator)),
      team_(team),
      table_(std::make_shared<PresynapticTable>()),
      // Four buffers: what is listed, packed, sent and received.
      chunk_(std::clamp<std::uint64_t>(buffer_bytes / 4 / sizeof(Entry), 1, std::uint64_t{1} << 31)),
      exchange_(*communicator_, buffer_bytes / 4),
      counts_(static_cast<std::size_t>(communicator_->size())) {
    std::uint64_t largest[2] = {addresses.limit(), (addresses.candidates() + chunk_ - 1) / chunk_};
    communicator_->reduce(largest, comm::Reduction::greatest);
    chunks_ = largest[1];
    table_->ranks_ = communicator_->size();
    table_->address_bits_ =
        std::max(1U, static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(largest[0], 1) - 1)));
    const auto rank_bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(communicator_->size() - 1)));
    table_->entry_bits_ = table_->address_bits_ + rank_bits;
    if (table_->address_bits_ > comm::ArrivedSpike::address_bits ||
        table_->entry_bits_ > PackedDestinations::most_bits) {
        throw ValueOutOfBoundsError({.object = "number of rows of one process",
                                     .value = std::to_string(largest[0]),
                                     .bound = "at most 2^48, and with the number of ranks at most 2^57",
                                     .remedy = "use more processes"});
    }
    for (const ShardLayout& shard : layout.shards()) {
        PresynapticTable::Part part;
        part.sources = shard.size();
        table_->parts_.push_back(std::move(part));
        cursors_.emplace_back();
        listed_.emplace_back();
        listed_counts_.emplace_back();
    }
}

void PresynapticTableBuilder::build(std::uint32_t worker, std::pmr::memory_resource* memory) {
    PresynapticTable::Part& part = table_->parts_[worker];
    cursors_[worker].assign(part.sources, 0);
    pass(worker, false);
    part.begins = Buffer<std::uint64_t>(std::size_t{part.sources} + 1, memory);
    std::uint64_t total = 0;
    for (std::uint32_t source = 0; source < part.sources; ++source) {
        part.begins[source] = total;
        total += std::exchange(cursors_[worker][source], total);
    }
    part.begins[part.sources] = total;
    part.entries = PackedDestinations(total, table_->entry_bits_, memory);
    pass(worker, true);
    std::vector<std::uint64_t> entries;
    for (std::uint32_t source = 0; source < part.sources; ++source) {
        const std::uint64_t begin = part.begins[source];
        const std::uint64_t end = part.begins[source + std::size_t{1}];
        entries.clear();
        for (std::uint64_t i = begin; i < end; ++i) entries.push_back(part.entries[i]);
        if (std::is_sorted(entries.begin(), entries.end())) continue;
        std::sort(entries.begin(), entries.end());
        for (std::uint64_t i = begin; i < end; ++i) part.entries.set(i, entries[i - begin]);
    }
    std::vector<std::uint64_t>{}.swap(cursors_[worker]);
    std::vector<Listed>{}.swap(listed_[worker]);
    std::vector<std::uint32_t>{}.swap(listed_counts_[worker]);
}

void PresynapticTableBuilder::pass(std::uint32_t worker, bool store) {
    if (worker == 0) rounds_ = 0;
    for (std::uint64_t chunk = 0; chunk < chunks_; ++chunk) {
        const std::uint64_t begin = std::min(chunk * chunk_, addresses_.candidates());
        const std::uint64_t end = std::min(begin + chunk_, addresses_.candidates());
        collocate(worker, begin, end);
        for (;;) {
            if (worker == 0) {
                more_ = exchange_.round();
                rounds_ += more_ ? 1 : 0;
            }
            team_.wait();
            if (!more_) break;
            take(worker, store);
            team_.wait();
        }
        team_.wait();
    }
}

/// Lists a part of the candidates and puts each into the section of the process where its source lives.
void PresynapticTableBuilder::collocate(std::uint32_t worker, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t workers = team_.size();
    const std::uint64_t size = end - begin;
    std::vector<Listed>& own = listed_[worker];
    std::vector<std::uint32_t>& counts = listed_counts_[worker];
    own.clear();
    addresses_.list(begin + size * worker / workers, begin + size * (worker + 1) / workers, own);
    counts.assign(counts_.size(), 0);
    for (const Listed& entry : own) {
        ++counts[static_cast<std::size_t>(layout_.placement().rank_of(entry.source).value)];
    }
    team_.wait();
    if (worker == 0) {
        std::uint64_t total = 0;
        for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
            const std::uint64_t before = total;
            for (auto& listed : listed_counts_) {
                total += std::exchange(listed[rank], static_cast<std::uint32_t>(total));
            }
            counts_[rank] = total - before;
        }
        packed_.resize(total);
    }
    team_.wait();
    for (const Listed& entry : own) {
        const Placement::Location source = layout_.placement().locate(entry.source);
        packed_[counts[static_cast<std::size_t>(source.rank.value)]++] = {source.place, entry.address};
    }
    team_.wait();
    if (worker == 0) exchange_.start(packed_, counts_);
}

/// Counts or stores those of the received entries whose source this worker owns.
void PresynapticTableBuilder::take(std::uint32_t worker, bool store) {
    PresynapticTable::Part& part = table_->parts_[worker];
    std::vector<std::uint64_t>& cursors = cursors_[worker];
    for (const auto& piece : exchange_.received()) {
        for (const Entry& entry : piece.records) {
            const NeuronId source = layout_.placement().id_at(layout_.rank(), entry.place);
            if (layout_.shard_of(source).value != worker) continue;
            const PopulationId population = layout_.population_of(source);
            const std::uint32_t local = layout_.shard(worker).local_index(population, source).value;
            const std::uint64_t place = cursors[local]++;
            if (store) part.entries.set(place, table_->pack(piece.from, entry.address));
        }
    }
}

}  // namespace ranvier::connect
