#include "comm/exchange/host_tables.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "comm/exchange/exchange_base.hpp"
#include "comm/redistribution.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

unsigned bits_below(std::uint64_t limit) {
    return std::max(1U, static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(limit, 1) - 1)));
}

}  // namespace

std::int32_t checked_host_ranks(const Communicator& communicator, std::uint32_t host_ranks) {
    const bool is_dry_run = communicator.is_dry_run();
    const std::int32_t most = is_dry_run ? communicator.size() : communicator.host_size();
    if (host_ranks <= static_cast<std::uint32_t>(most)) return static_cast<std::int32_t>(host_ranks);
    throw ValueOutOfBoundsError({.object = "host_ranks",
                                 .value = std::to_string(host_ranks),
                                 .bound = "it must be at most " + std::to_string(most) +
                                          ", the number of processes of " +
                                          (is_dry_run ? "the dry run" : "this host, which can share memory"),
                                 .remedy = is_dry_run ? "choose fewer" : "choose fewer, or 0 for all of a host"});
}

HostDivision::HostDivision(Communicator& communicator, std::int32_t most) : groups(communicator.group_by_host(most)) {
    std::array<std::int32_t, 2> numbers{};
    if (leads()) numbers = {leaders().size(), leaders().rank().value};
    members().broadcast(std::as_writable_bytes(std::span(numbers)), Rank{0});
    hosts = numbers[0];
    here = numbers[1];
}

void HostDestinations::find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
                            std::vector<Destination>& found) const {
    const Shard& of_shard = shards_[shard];
    if (of_shard.codes[local] != none) code_.find(of_shard.code.data() + of_shard.codes[local], first, last, found);
}

std::vector<Rank> HostDestinations::ranks() const {
    std::vector<Rank> hosts;
    for (std::int32_t host = 0; host < hosts_; ++host) hosts.emplace_back(host);
    return hosts;
}

std::uint64_t HostDestinations::bytes() const {
    std::uint64_t bytes = 0;
    for (const Shard& shard : shards_) bytes += bytes_of(shard.codes) + bytes_of(shard.addresses) + shard.code.bytes();
    return bytes;
}

HostRows::HostRows(std::uint64_t rows, unsigned address_bits, std::vector<std::uint64_t>& entries)
    : marked_(rows / 64 + 1), before_(marked_.size() / words_per_count + 1), address_bits_(address_bits) {
    std::sort(entries.begin(), entries.end());
    const std::uint64_t mask = (std::uint64_t{1} << address_bits) - 1;
    addresses_ = Buffer<std::uint8_t>(packed_bytes(entries.size(), address_bits));
    std::memset(addresses_.data(), 0, addresses_.bytes());
    std::uint64_t marked = 0;
    for (std::uint64_t i = 0; i < entries.size(); ++i) {
        write_packed(addresses_.data(), i, address_bits, entries[i] & mask);
        const std::uint64_t row = entries[i] >> address_bits;
        if (i > 0 && row == entries[i - 1] >> address_bits) continue;
        marked_[row / 64] |= std::uint64_t{1} << row % 64;
        ++marked;
    }
    std::uint64_t before = 0;
    for (std::size_t word = 0; word < marked_.size(); ++word) {
        if (word % words_per_count == 0) before_[word / words_per_count] = before;
        before += popcount(marked_[word]);
    }
    if (marked == entries.size()) return;
    first_bits_ = bits_below(entries.size() + 1);
    firsts_ = Buffer<std::uint8_t>(packed_bytes(marked + 1, first_bits_));
    std::memset(firsts_.data(), 0, firsts_.bytes());
    std::uint64_t index = 0;
    for (std::uint64_t i = 0; i < entries.size(); ++i) {
        if (i > 0 && entries[i] >> address_bits == entries[i - 1] >> address_bits) continue;
        write_packed(firsts_.data(), index++, first_bits_, i);
    }
    write_packed(firsts_.data(), index, first_bits_, entries.size());
}

std::uint64_t HostRows::bytes() const {
    return bytes_of(marked_) + bytes_of(before_) + firsts_.bytes() + addresses_.bytes();
}

/// One process's part in building the tables. All sources are visited twice: first to number them for each host, then to
/// tell their numbers to the processes that need them.
class HostTablesBuilder {
   public:
    HostTablesBuilder(Communicator& communicator, const HostDivision& division, const Destinations& destinations,
                      const ExchangeOptions& options)
        : communicator_(communicator),
          division_(division),
          destinations_(destinations),
          options_(options),
          numbers_(static_cast<std::size_t>(division.hosts)) {}

    HostTables build() {
        find_hosts();
        count();
        number();
        tell();
        return std::move(tables_);
    }

   private:
    /// A source that a process needs: its number among those of the host of the sender that the host of the receiver
    /// needs.
    struct Record {
        std::uint64_t number;
        std::uint64_t address;
    };
    struct Outgoing {
        Rank to;
        Record record;
    };

    std::int32_t host_of(Rank rank) const { return hosts_of_ranks_[static_cast<std::size_t>(rank.value)]; }

    void find_hosts() {
        hosts_of_ranks_.resize(static_cast<std::size_t>(communicator_.size()));
        if (communicator_.is_dry_run()) {
            for (std::size_t rank = 0; rank < hosts_of_ranks_.size(); ++rank) {
                hosts_of_ranks_[rank] = static_cast<std::int32_t>(rank) / division_.members().size();
            }
            return;
        }
        communicator_.allgather(std::as_bytes(std::span(&division_.here, 1)),
                                std::as_writable_bytes(std::span(hosts_of_ranks_)));
    }

    /// Finds the destinations of a source in found_, and its hosts, ascending, in hosts_.
    void find(std::uint32_t shard, std::uint32_t local) {
        found_.clear();
        destinations_.find(shard, local, Rank{0}, Rank{communicator_.size()}, found_);
        hosts_.clear();
        for (const Destination& destination : found_) {
            const std::int32_t host = host_of(destination.rank);
            if (hosts_.empty() || hosts_.back() != host) hosts_.push_back(host);
        }
        // The ranks of a host are consecutive, or not.
        if (std::is_sorted(hosts_.begin(), hosts_.end())) return;
        std::sort(hosts_.begin(), hosts_.end());
        hosts_.erase(std::unique(hosts_.begin(), hosts_.end()), hosts_.end());
    }

    /// Counts the sources that each host needs.
    void count() {
        auto table = std::make_shared<HostDestinations>();
        table->hosts_ = division_.hosts;
        table->shards_.resize(options_.workers);
        for (std::uint32_t shard = 0; shard < options_.workers; ++shard) {
            HostDestinations::Shard& mine = table->shards_[shard];
            const std::uint32_t sources = destinations_.sources(shard);
            mine.codes.resize(sources);
            mine.addresses.resize(sources);
            for (std::uint32_t local = 0; local < sources; ++local) {
                find(shard, local);
                mine.addresses[local] = static_cast<std::uint32_t>(found_.size());
                mine.codes[local] = hosts_.size();
                table->size_ += hosts_.size();
                for (const std::int32_t host : hosts_) ++numbers_[static_cast<std::size_t>(host)];
            }
        }
        table_ = std::move(table);
    }

    /// Numbers the sources of a host for each other one: those of one process follow those of another.
    void number() {
        const std::size_t hosts = numbers_.size();
        const auto members = static_cast<std::size_t>(division_.members().size());
        if (communicator_.is_dry_run()) tables_.sources_for = numbers_;
        std::vector<std::uint64_t> of_members(hosts * members);
        division_.members().allgather(std::as_bytes(std::span<const std::uint64_t>(numbers_)),
                                      std::as_writable_bytes(std::span(of_members)));
        std::vector<std::uint64_t> all(hosts);
        std::fill(numbers_.begin(), numbers_.end(), std::uint64_t{0});
        const auto here = static_cast<std::size_t>(division_.members().rank().value);
        for (std::size_t member = 0; member < members; ++member) {
            for (std::size_t host = 0; host < hosts; ++host) {
                const std::uint64_t count = of_members[member * hosts + host];
                if (member < here) numbers_[host] += count;
                all[host] += count;
            }
        }
        const std::uint64_t most = communicator_.greatest(*std::max_element(all.begin(), all.end()));
        std::vector<std::uint64_t>& first_rows = tables_.first_rows;
        first_rows.resize(hosts);
        if (division_.leads()) {
            division_.leaders().alltoall(std::as_bytes(std::span<const std::uint64_t>(all)),
                                         std::as_writable_bytes(std::span(first_rows)));
        }
        division_.members().broadcast(std::as_writable_bytes(std::span(first_rows)), Rank{0});
        rows_ = std::reduce(first_rows.begin(), first_rows.end());
        std::exclusive_scan(first_rows.begin(), first_rows.end(), first_rows.begin(), std::uint64_t{0});
        address_bits_ = bits_below(destinations_.address_limit());
        const std::uint64_t most_rows = communicator_.greatest(rows_);
        const DestinationCode code(division_.hosts, bits_below(most));
        if (bits_below(most_rows) + address_bits_ > 64 || code.plain_bits() > most_packed_bits ||
            address_bits_ > most_packed_bits) {
            throw ValueOutOfBoundsError({.object = "number of sources that one host needs",
                                         .value = std::to_string(most_rows),
                                         .bound = "with the addresses of a process, it must fit in 64 bits",
                                         .remedy = "choose another method of exchange, such as alltoall"});
        }
        table_->code_ = code;
    }

    void allocate_codes() {
        for (HostDestinations::Shard& shard : table_->shards_) {
            std::uint64_t bytes = 0;
            for (std::uint64_t& code : shard.codes) {
                const std::uint64_t count = code;
                code = count > 0 ? bytes : HostDestinations::none;
                bytes += table_->code_.bytes(count);
            }
            shard.code = Buffer<std::uint8_t>(bytes + DestinationCode::padding);
            std::memset(shard.code.data(), 0, shard.code.bytes());
        }
    }

    /// Encodes the hosts of a source, and lists what its targets are told.
    void encode(std::uint32_t shard, std::uint32_t local) {
        find(shard, local);
        if (found_.empty()) return;
        packed_.clear();
        for (const std::int32_t host : hosts_) {
            packed_.push_back(table_->code_.pack({Rank{host}, numbers_[static_cast<std::size_t>(host)]}));
        }
        HostDestinations::Shard& mine = table_->shards_[shard];
        table_->code_.encode(packed_, mine.code.data() + mine.codes[local]);
        for (const Destination& destination : found_) {
            const auto host = static_cast<std::size_t>(host_of(destination.rank));
            outgoing_.push_back({destination.rank, {numbers_[host], destination.address}});
        }
        for (const std::int32_t host : hosts_) ++numbers_[static_cast<std::size_t>(host)];
    }

    void tell() {
        allocate_codes();
        Redistribution<Record> exchange(communicator_, options_.buffer_bytes);
        const std::uint64_t most = std::max<std::uint64_t>(1, options_.buffer_bytes / sizeof(Outgoing));
        std::uint32_t shard = 0;
        std::uint32_t local = 0;
        const auto skip_finished_shards = [&] {
            while (shard < options_.workers && local == destinations_.sources(shard)) {
                ++shard;
                local = 0;
            }
        };
        for (skip_finished_shards(); communicator_.greatest(shard < options_.workers ? 1 : 0) == 1;) {
            while (shard < options_.workers && outgoing_.size() < most) {
                encode(shard, local);
                ++local;
                skip_finished_shards();
            }
            send(exchange);
        }
        tables_.rows = HostRows(rows_, address_bits_, entries_);
        tables_.destinations = std::move(table_);
    }

    void send(Redistribution<Record>& exchange) {
        std::vector<std::uint64_t> counts(hosts_of_ranks_.size());
        for (const Outgoing& item : outgoing_) ++counts[static_cast<std::size_t>(item.to.value)];
        std::vector<std::uint64_t> places(counts.size());
        std::exclusive_scan(counts.begin(), counts.end(), places.begin(), std::uint64_t{0});
        std::vector<Record> records(outgoing_.size());
        for (const Outgoing& item : outgoing_) records[places[static_cast<std::size_t>(item.to.value)]++] = item.record;
        outgoing_.clear();
        exchange.run(records, counts, [&](const Redistribution<Record>::Piece& piece) {
            const std::uint64_t first = tables_.first_rows[static_cast<std::size_t>(host_of(piece.from))];
            for (const Record& record : piece.records) {
                entries_.push_back((first + record.number) << address_bits_ | record.address);
            }
        });
    }

    Communicator& communicator_;
    const HostDivision& division_;
    const Destinations& destinations_;
    const ExchangeOptions& options_;
    HostTables tables_;
    std::shared_ptr<HostDestinations> table_;
    std::vector<std::int32_t> hosts_of_ranks_;
    /// By host: the number of sources that it needs, and later the number of the next one.
    std::vector<std::uint64_t> numbers_;
    std::uint64_t rows_ = 0;
    unsigned address_bits_ = 1;
    std::vector<std::uint64_t> entries_;  ///< as HostRows takes them
    std::vector<Outgoing> outgoing_;
    std::vector<Destination> found_;
    std::vector<std::int32_t> hosts_;
    std::vector<std::uint64_t> packed_;
};

HostTables build_host_tables(Communicator& communicator, const HostDivision& division, const Destinations& destinations,
                             const ExchangeOptions& options) {
    return HostTablesBuilder(communicator, division, destinations, options).build();
}

}  // namespace ranvier::comm
