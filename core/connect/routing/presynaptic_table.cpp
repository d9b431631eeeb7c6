#include "connect/routing/presynaptic_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {

/// Bytes of the entries of a block, given those of all. A block's entries are stored twice while it is encoded, so
/// blocks should be small; but a block should fill whole pages, and huge ones for large tables.
std::uint64_t block_bytes_of(std::uint64_t all) {
    return std::clamp<std::uint64_t>(all / 64, std::uint64_t{256} << 10, std::uint64_t{8} << 20);
}

}  // namespace

void PresynapticTable::find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
                            std::vector<comm::Destination>& found) const {
    const std::uint8_t* const code = parts_[shard].codes[local];
    if (code != nullptr) code_.find(code, first, last, found);
}

std::vector<Rank> PresynapticTable::ranks() const {
    std::vector<bool> talks(static_cast<std::size_t>(ranks_), false);
    std::vector<comm::Destination> found;
    for (std::uint32_t shard = 0; shard < parts_.size(); ++shard) {
        for (std::uint32_t source = 0; source < parts_[shard].sources; ++source) {
            found.clear();
            find(shard, source, Rank{0}, Rank{ranks_}, found);
            for (const comm::Destination& destination : found) {
                talks[static_cast<std::size_t>(destination.rank.value)] = true;
            }
        }
    }
    std::vector<Rank> ranks;
    for (std::int32_t rank = 0; rank < ranks_; ++rank) {
        if (talks[static_cast<std::size_t>(rank)]) ranks.push_back(Rank{rank});
    }
    return ranks;
}

std::uint64_t PresynapticTable::ShardDestinations::block_bytes() const {
    std::uint64_t bytes = 0;
    for (const Buffer<std::uint8_t>& block : blocks) bytes += block.bytes();
    return bytes;
}

std::uint64_t PresynapticTable::size() const {
    std::uint64_t entries = 0;
    for (const ShardDestinations& part : parts_) entries += part.entries;
    return entries;
}

std::uint64_t PresynapticTable::bytes() const {
    std::uint64_t bytes = 0;
    for (const ShardDestinations& part : parts_) bytes += part.codes.bytes() + part.block_bytes();
    return bytes;
}

double PresynapticTable::bits_per_entry() const {
    std::uint64_t bytes = 0;
    for (const ShardDestinations& part : parts_) bytes += part.block_bytes();
    return 8.0 * static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(1, size()));
}

PresynapticTableBuilder::PresynapticTableBuilder(const ProcessLayout& layout, const RowAddresses& addresses,
                                                 std::shared_ptr<comm::Communicator> communicator,
                                                 std::uint64_t buffer_bytes, parallel::Team& team)
    : layout_(layout),
      addresses_(addresses),
      communicator_(std::move(communicator)),
      team_(team),
      table_(std::make_shared<PresynapticTable>()),
      // Four buffers: listed, packed, sent and received entries.
      chunk_(std::clamp<std::uint64_t>(buffer_bytes / 4 / sizeof(Entry), 1, std::uint64_t{1} << 31)),
      exchange_(*communicator_, buffer_bytes / 4),
      counts_(static_cast<std::size_t>(communicator_->size())) {
    std::uint64_t largest[2] = {addresses.limit(), (addresses.candidates() + chunk_ - 1) / chunk_};
    communicator_->reduce(largest, comm::Reduction::greatest);
    chunks_ = largest[1];
    table_->ranks_ = communicator_->size();
    const auto address_bits =
        std::max(1U, static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(largest[0], 1) - 1)));
    table_->code_ = comm::DestinationCode(communicator_->size(), address_bits);
    if (address_bits > comm::ArrivedSpike::address_bits || table_->code_.plain_bits() > most_packed_bits) {
        throw ValueOutOfBoundsError({.object = "number of rows of one process",
                                     .value = std::to_string(largest[0]),
                                     .bound = "at most 2^48, and with the number of ranks at most 2^57",
                                     .remedy = "use more processes"});
    }
    if (communicator_->is_dry_run()) dry_run_sources_.emplace(layout);
    for (const ShardLayout& shard : layout.shards()) {
        PresynapticTable::ShardDestinations part;
        part.sources = shard.size();
        table_->parts_.push_back(std::move(part));
        cursors_.emplace_back();
        blocks_.emplace_back();
    }
    listed_.resize(team.size());
    listed_counts_.resize(team.size());
}

void PresynapticTableBuilder::build(std::uint32_t worker, const MemoryOfShard& memory_of) {
    for_assigned_shards(worker,
                        [&](std::uint32_t shard) { cursors_[shard].assign(table_->parts_[shard].sources, {}); });
    pass(worker, false);
    for_assigned_shards(worker, [&](std::uint32_t shard) { make_blocks(shard, memory_of(shard)); });
    pass(worker, true);
    for_assigned_shards(worker, [&](std::uint32_t shard) {
        encode(shard, memory_of(shard));
        std::vector<Cursor>{}.swap(cursors_[shard]);
    });
    std::vector<Listed>{}.swap(listed_[worker]);
    std::vector<std::uint32_t>{}.swap(listed_counts_[worker]);
}

/// Allocates memory for the counted entries.
void PresynapticTableBuilder::make_blocks(std::uint32_t shard, std::pmr::memory_resource* memory) {
    const std::uint64_t bits = table_->code_.plain_bits();
    std::vector<Cursor>& cursors = cursors_[shard];
    const auto sources = static_cast<std::uint32_t>(cursors.size());
    std::uint64_t all = 0;
    for (const Cursor& cursor : cursors) all += cursor.next;
    table_->parts_[shard].entries = all;
    const std::uint64_t most = block_bytes_of(all * bits / 8) * 8 / bits;
    for (std::uint32_t first = 0; first < sources;) {
        Block block{.first = first, .last = first, .entries = {}};
        std::uint64_t entries = 0;
        while (block.last < sources && entries + cursors[block.last].next <= most) {
            entries += std::exchange(cursors[block.last++].next, entries);
        }
        // One source may be larger than a block.
        if (block.last == first) entries = std::exchange(cursors[block.last++].next, entries);
        block.entries = Buffer<std::uint8_t>((entries * bits + 7) / 8 + comm::DestinationCode::padding, memory);
        std::memset(block.entries.data(), 0, block.entries.bytes());
        for (std::uint32_t source = first; source < block.last; ++source) {
            cursors[source].entries = block.entries.data();
        }
        first = block.last;
        blocks_[shard].push_back(std::move(block));
    }
}

/// Sorts and encodes block after block, and frees each afterwards.
void PresynapticTableBuilder::encode(std::uint32_t shard, std::pmr::memory_resource* memory) {
    PresynapticTable::ShardDestinations& part = table_->parts_[shard];
    const comm::DestinationCode& code = table_->code_;
    const std::vector<Cursor>& cursors = cursors_[shard];
    part.codes = Buffer<const std::uint8_t*>(part.sources, memory);
    part.blocks.reserve(blocks_[shard].size());
    std::vector<std::uint64_t> entries;
    for (Block& block : blocks_[shard]) {
        // The entries of a source end where those of the next one begin.
        const auto begin_of = [&](std::uint32_t source) {
            return source == block.first ? 0 : cursors[source - 1].next;
        };
        std::uint64_t bytes = 0;
        for (std::uint32_t source = block.first; source < block.last; ++source) {
            bytes += code.bytes(cursors[source].next - begin_of(source));
        }
        Buffer<std::uint8_t> coded(bytes + comm::DestinationCode::padding, memory);
        std::memset(coded.data(), 0, coded.bytes());
        std::uint8_t* next = coded.data();
        for (std::uint32_t source = block.first; source < block.last; ++source) {
            entries.clear();
            for (std::uint64_t i = begin_of(source); i < cursors[source].next; ++i) {
                entries.push_back(read_packed(block.entries.data(), i, code.plain_bits()));
            }
            part.codes[source] = entries.empty() ? nullptr : next;
            if (entries.empty()) continue;
            if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
            code.encode(entries, next);
            next += code.bytes(entries.size());
        }
        block.entries = {};
        part.blocks.push_back(std::move(coded));
    }
    std::vector<Block>{}.swap(blocks_[shard]);
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

/// Lists a part of the candidates and puts each into the section of the process of its source.
void PresynapticTableBuilder::collocate(std::uint32_t worker, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t workers = team_.size();
    const std::uint64_t size = end - begin;
    std::vector<Listed>& entries = listed_[worker];
    std::vector<std::uint32_t>& counts = listed_counts_[worker];
    entries.clear();
    addresses_.list(begin + size * worker / workers, begin + size * (worker + 1) / workers, entries);
    counts.assign(counts_.size(), 0);
    for (const Listed& entry : entries) {
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
    for (const Listed& entry : entries) {
        const Placement::Location source = layout_.placement().locate(entry.source);
        packed_[counts[static_cast<std::size_t>(source.rank.value)]++] = {source.place, entry.address};
    }
    team_.wait();
    if (worker == 0) exchange_.start(packed_, counts_);
}

/// Counts or stores the received entries whose source is on a shard of this worker.
void PresynapticTableBuilder::take(std::uint32_t worker, bool store) {
    const comm::DestinationCode& code = table_->code_;
    for (const auto& piece : exchange_.received()) {
        for (const Entry& entry : piece.records) {
            const std::uint64_t place =
                dry_run_sources_ ? dry_run_sources_->here(piece.from, entry.place) : entry.place;
            const NeuronId source = layout_.placement().id_at(layout_.rank(), place);
            const std::uint32_t shard = layout_.shard_of(source).value;
            if (shard % team_.size() != worker) continue;
            const std::uint32_t local = layout_.shard(shard).local_index(layout_.population_of(source), source).value;
            Cursor& cursor = cursors_[shard][local];
            if (store) {
                write_packed(cursor.entries, cursor.next, code.plain_bits(), code.pack({piece.from, entry.address}));
            }
            ++cursor.next;
        }
    }
}

}  // namespace ranvier::connect
