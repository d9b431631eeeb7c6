#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/spike_packing.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// The processes as a grid: rows of consecutive ranks, as many as the square root of their number, whose lengths differ
/// by at most one. The column of a process is its position in its row; a shorter row has no last column. The first row is
/// one of the longest: in a dry run, rank 0 receives the spikes that it sends to any row.
class RankGrid {
   public:
    explicit RankGrid(std::int32_t ranks) : ranks_(static_cast<std::uint64_t>(ranks)) {
        const auto rows = static_cast<std::uint64_t>(std::max(1.0, std::floor(std::sqrt(static_cast<double>(ranks)))));
        for (std::uint64_t row = 0; row <= rows; ++row) {
            begins_.push_back(static_cast<std::int32_t>((ranks_ * row + rows - 1) / rows));
        }
    }

    std::size_t rows() const { return begins_.size() - 1; }
    /// The first rank of a row; that of row rows() is the number of ranks.
    std::int32_t begin(std::size_t row) const { return begins_[row]; }
    std::size_t length(std::size_t row) const { return static_cast<std::size_t>(begin(row + 1) - begin(row)); }
    std::size_t longest() const { return length(0); }
    std::size_t row_of(Rank rank) const { return static_cast<std::uint64_t>(rank.value) * rows() / ranks_; }
    /// The same, given a row before it: usually the next one, so that a division is rarely needed.
    std::size_t row_after(std::size_t row, Rank rank) const {
        constexpr std::size_t few = 4;
        for (std::size_t next = row + 1; next <= row + few && next < rows(); ++next) {
            if (rank.value < begins_[next + 1]) return next;
        }
        return row_of(rank);
    }
    std::size_t column_of(Rank rank) const { return static_cast<std::size_t>(rank.value - begin(row_of(rank))); }

    std::vector<Rank> row(std::size_t row) const {
        std::vector<Rank> ranks;
        for (std::int32_t rank = begin(row); rank < begin(row + 1); ++rank) ranks.emplace_back(rank);
        return ranks;
    }
    /// The process of a row that forwards spikes of a sender in a column: in the same column, or in the last one.
    Rank forwarder(std::size_t row, std::size_t column) const {
        return Rank{begin(row) + static_cast<std::int32_t>(std::min(column, length(row) - 1))};
    }
    std::uint64_t bytes() const { return bytes_of(begins_); }
    /// The senders for which a process forwards spikes, ascending.
    std::vector<Rank> senders(Rank at) const {
        const std::size_t column = column_of(at);
        const bool is_last = column + 1 == length(row_of(at));
        std::vector<Rank> ranks;
        for (std::size_t row = 0; row < rows(); ++row) {
            const std::size_t end = is_last ? length(row) : std::min(column + 1, length(row));
            for (std::size_t of_row = column; of_row < end; ++of_row) {
                ranks.emplace_back(begin(row) + static_cast<std::int32_t>(of_row));
            }
        }
        return ranks;
    }

   private:
    std::uint64_t ranks_;
    std::vector<std::int32_t> begins_;  ///< of the rows, and the end
};

/// Sends spikes only to the processes that need them, in two hops over a grid of processes: down the sender's column to
/// the row of the receiver, then along that row. Each process exchanges data with twice the square root of the number
/// of processes, and needs memory only for these and for its spikes; a spike is sent twice. (All-to-all on a virtual
/// mesh: Kalé, Kumar and Varadarajan, 2003, "A framework for collective personalized communication".)
///
/// Each hop is a round: all workers sort the spikes by receiver, two collectives of the neighbours transfer their
/// numbers and then the spikes. Each count carries a flag: whether a sender has more than its buffer holds. The flags of
/// all processes of a column reach its forwarder in each row, and with the second hop all processes of that row, so all
/// agree on more rounds.
class GridExchange final : public ExchangeBase {
   public:
    explicit GridExchange(const ExchangeArguments& arguments)
        : ExchangeBase(arguments),
          destinations_(checked_destinations(arguments)),
          grid_(ranks()),
          word_(destinations_->address_limit(), options().most_lags),
          address_bits_(bits_of(destinations_->address_limit())),
          lag_bits_(bits_of(options().most_lags)),
          word_to_forward_(most_names(address_bits_, grid_.longest()), options().most_lags),
          most_per_worker_(std::max<std::uint64_t>(
              1, std::max<std::uint64_t>(options().buffer_bytes / word_to_forward_.bytes(), grid_.rows()) /
                     options().workers)),
          workers_(options().workers) {
        const Rank self = communicator().rank();
        const std::size_t column = grid_.column_of(self);
        std::vector<Rank> forwarders;
        for (std::size_t row = 0; row < grid_.rows(); ++row) forwarders.push_back(grid_.forwarder(row, column));
        column_ = communicator().make_neighborhood(grid_.senders(self), forwarders);
        const std::vector<Rank> row = grid_.row(grid_.row_of(self));
        row_ = communicator().make_neighborhood(row, row);
    }

    std::string_view name() const override { return grid_exchange.name; }

    void begin(Step first_step) override {
        first_step_ = first_step;
        forwards_ = false;
        gathers_ = true;
        ++counts_.exchanges;
    }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        if (forwards_) {
            sort_by_column(worker);
        } else if (gathers_) {
            sort_by_row(workers_[worker], share_of(worker, options().workers, grid_.rows()), outboxes);
        }
    }
    void transfer(bool /*flush*/) override {
        if (forwards_) {
            send(*row_, {send_.data(), arrived_ * word_.bytes()}, word_);
            counts_.spikes_received += arrived_;
            arrivals_.assign(1, {first_step_, word_.arrived(received_.data(), arrived_)});
            more_ = anyone_has_more_;
        } else {
            gathers_ = false;
            const std::span<const std::byte> spikes = next_spikes();
            counts_.spikes_sent += spikes.size() / word_to_forward_.bytes();
            send(*column_, spikes, word_to_forward_);
            arrivals_.clear();
            more_ = true;
        }
    }
    void take(std::uint32_t worker, const Visit& visit) override {
        if (forwards_) {
            ExchangeBase::take(worker, visit);
        } else {
            count_by_column(worker);
        }
    }
    void next_round() override {
        forwards_ = !forwards_;
        if (!forwards_) return;
        // Each worker's part of each column, in the order of columns and, within one, of workers.
        counts_of_partners_.assign(row_->destinations().size(), 0);
        std::size_t begin = 0;
        for (std::size_t column = 0; column < counts_of_partners_.size(); ++column) {
            for (Worker& worker : workers_) {
                const std::size_t count = worker.columns[column];
                worker.columns[column] = begin;
                begin += count;
                counts_of_partners_[column] += count;
            }
        }
        make_room(send_, arrived_ * word_.bytes());
    }

   protected:
    std::uint64_t buffer_bytes() const override {
        std::uint64_t bytes = grid_.bytes() + bytes_of(heads_) + bytes_of(received_heads_) +
                              bytes_of(counts_of_partners_) + bytes_of(sent_bytes_) + bytes_of(received_bytes_) +
                              send_.bytes() + received_.bytes() +
                              2 * (column_->sources().size() + column_->destinations().size()) * sizeof(Rank) +
                              2 * row_->sources().size() * sizeof(Rank);
        for (const Worker& worker : workers_) {
            bytes += bytes_of(worker.found) + bytes_of(worker.runs) + worker.gathered.bytes() + worker.sorted.bytes() +
                     bytes_of(worker.rows) + bytes_of(worker.columns);
        }
        return bytes;
    }

   private:
    /// Beside a count: the sender, or one whose spikes it forwards, has more than it sends now.
    static constexpr std::uint64_t more_flag = std::uint64_t{1} << 63;

    /// Consecutive words of one spike for one row.
    struct Run {
        std::uint32_t row;
        std::uint32_t count;
    };
    /// Aligned to avoid false sharing: workers write concurrently.
    struct alignas(64) Worker {
        std::vector<Destination> found;
        std::vector<Run> runs;
        Buffer<std::byte> gathered;  ///< words of the runs
        Buffer<std::byte> sorted;    ///< the same by row
        std::vector<std::uint64_t> rows;  ///< words before those of each of its rows, and the total
        std::uint64_t count = 0;
        std::uint64_t taken = 0;
        std::vector<std::size_t> columns;  ///< of its part of the words to forward: their number, then their position
    };

    static unsigned bits_of(std::uint64_t values) {
        return values > 1 ? static_cast<unsigned>(std::bit_width(values - 1)) : 0;
    }
    static std::uint64_t most_names(unsigned address_bits, std::uint64_t columns) {
        // More than SpikePacking accepts.
        if (address_bits + bits_of(columns) >= 64) return std::numeric_limits<std::uint64_t>::max();
        return columns << address_bits;
    }
    /// Bits of a word without the column.
    unsigned word_bits() const { return address_bits_ + lag_bits_; }

    /// The old contents are discarded.
    static void make_room(Buffer<std::byte>& buffer, std::size_t bytes) {
        bytes += ArrivedSpikes::slack;
        if (buffer.size() >= bytes) return;
        // Free the memory before allocating, and a little more than needed: epochs are alike.
        buffer = {};
        buffer = Buffer<std::byte>(bytes + bytes / 16);
    }
    static void lengthen_buffer(Buffer<std::byte>& buffer, std::size_t used, std::size_t bytes) {
        if (buffer.size() >= bytes) return;
        Buffer<std::byte> longer(bytes + bytes / 4);
        if (used > 0) std::memcpy(longer.data(), buffer.data(), used);
        buffer = std::move(longer);
    }

    /// The first hop: gathers a word for each destination in the worker's rows, then sorts the words by row.
    void sort_by_row(Worker& worker, Share rows, std::span<const std::span<const EmittedSpike>> outboxes) {
        worker.count = worker.taken = 0;
        worker.runs.clear();
        worker.rows.assign(rows.last - rows.first + 1, 0);
        if (rows.first == rows.last) return;
        word_to_forward_.with_bytes([&](auto bytes) {
            gather<bytes>(worker, rows, outboxes);
            for (const Run& run : worker.runs) worker.rows[run.row - rows.first + 1] += run.count;
            for (std::size_t i = 1; i < worker.rows.size(); ++i) worker.rows[i] += worker.rows[i - 1];
            make_room(worker.sorted, worker.count * bytes);
            const std::byte* from = worker.gathered.data();
            for (const Run& run : worker.runs) {
                std::byte* to = worker.sorted.data() + worker.rows[run.row - rows.first] * bytes;
                for (std::uint32_t i = 0; i < run.count; ++i) {
                    std::memcpy(to, from, bytes);
                    to += bytes;
                    from += bytes;
                }
                worker.rows[run.row - rows.first] += run.count;
            }
        });
        // Each offset has advanced to the start of the next.
        for (std::size_t i = worker.rows.size() - 1; i > 0; --i) worker.rows[i] = worker.rows[i - 1];
        worker.rows[0] = 0;
    }

    template <std::size_t bytes>
    void gather(Worker& worker, Share rows, std::span<const std::span<const EmittedSpike>> outboxes) const {
        const Rank first{grid_.begin(rows.first)};
        const Rank last{grid_.begin(rows.last)};
        for (std::uint32_t shard = 0; shard < outboxes.size(); ++shard) {
            for (const EmittedSpike& spike : outboxes[shard]) {
                worker.found.clear();
                destinations_->find(shard, spike.local, first, last, worker.found);
                lengthen_buffer(worker.gathered, worker.count * bytes,
                                (worker.count + worker.found.size()) * bytes + sizeof(std::uint64_t));
                std::byte* to = worker.gathered.data() + worker.count * bytes;
                worker.count += worker.found.size();
                std::size_t row = 0;
                std::int32_t begin = 0;
                std::int32_t end = 0;
                for (const Destination& destination : worker.found) {
                    if (destination.rank.value >= end) {
                        row = end == 0 ? grid_.row_of(destination.rank) : grid_.row_after(row, destination.rank);
                        begin = grid_.begin(row);
                        end = grid_.begin(row + 1);
                        worker.runs.push_back({static_cast<std::uint32_t>(row), 0});
                    }
                    ++worker.runs.back().count;
                    const auto column = static_cast<std::uint64_t>(destination.rank.value - begin);
                    const std::uint64_t word =
                        word_to_forward_.word(column << address_bits_ | destination.address, spike.lag);
                    // The next word overwrites the bytes above, or they lie in the slack.
                    std::memcpy(to, &word, sizeof word);
                    to += bytes;
                }
            }
        }
    }

    /// The next spikes of all workers for the first hop, as many as the buffer may hold, with their numbers for each
    /// row.
    std::span<const std::byte> next_spikes() {
        const std::size_t bytes = word_to_forward_.bytes();
        counts_of_partners_.assign(grid_.rows(), 0);
        anyone_has_more_ = false;
        std::uint64_t all = 0;
        for (const Worker& worker : workers_) all += std::min(worker.count - worker.taken, most_per_worker_);
        const bool several = workers_.size() > 1;
        if (several) make_room(send_, all * bytes);
        std::uint64_t done = 0;
        for (std::uint32_t w = 0; w < workers_.size(); ++w) {
            Worker& worker = workers_[w];
            const std::uint64_t begin = worker.taken;
            const std::uint64_t end = begin + std::min(worker.count - begin, most_per_worker_);
            worker.taken = end;
            if (end < worker.count) anyone_has_more_ = true;
            if (begin == end) continue;
            if (several) {
                std::memcpy(send_.data() + done * bytes, worker.sorted.data() + begin * bytes, (end - begin) * bytes);
            }
            done += end - begin;
            const auto [first, last] = share_of(w, options().workers, grid_.rows());
            for (std::size_t row = first; row < last; ++row) {
                const std::uint64_t from = std::max(begin, worker.rows[row - first]);
                const std::uint64_t to = std::min(end, worker.rows[row - first + 1]);
                if (from < to) counts_of_partners_[row] = to - from;
            }
        }
        if (several || all == 0) return {send_.data(), all * bytes};
        return {workers_[0].sorted.data() + (workers_[0].taken - all) * bytes, all * bytes};
    }

    /// Sends so many words to each neighbour, and receives into `received_`; combines the flags.
    void send(Neighborhood& neighborhood, std::span<const std::byte> words, const SpikePacking& packing) {
        const std::size_t partners = neighborhood.destinations().size();
        heads_.resize(partners);
        sent_bytes_.resize(partners);
        for (std::size_t i = 0; i < partners; ++i) {
            heads_[i] = counts_of_partners_[i] | (anyone_has_more_ ? more_flag : 0);
            sent_bytes_[i] = counts_of_partners_[i] * packing.bytes();
        }
        received_heads_.resize(neighborhood.sources().size());
        received_bytes_.resize(neighborhood.sources().size());
        const auto heads = std::as_bytes(std::span<const std::uint64_t>(heads_));
        neighborhood.alltoall(heads, std::as_writable_bytes(std::span(received_heads_)));
        count_collective(heads.size(), partners - 1);
        arrived_ = 0;
        for (std::size_t i = 0; i < received_heads_.size(); ++i) {
            if ((received_heads_[i] & more_flag) != 0) anyone_has_more_ = true;
            const std::uint64_t count = received_heads_[i] & ~more_flag;
            received_bytes_[i] = count * packing.bytes();
            arrived_ += count;
        }
        make_room(received_, arrived_ * packing.bytes());
        neighborhood.alltoallv(words, sent_bytes_, {received_.data(), arrived_ * packing.bytes()}, received_bytes_);
        count_collective(words.size(), partners - 1);
    }

    /// Calls visit(word) for the worker's part of the words to forward.
    template <std::size_t bytes, class Visit>
    void for_each_arrived(std::uint32_t worker, Visit visit) const {
        const auto [first, last] = share_of(worker, options().workers, arrived_);
        const std::byte* place = received_.data() + first * bytes;
        for (std::size_t i = first; i < last; ++i) {
            // The slack after the last word makes this possible; the bytes of a word alone take several reads.
            std::uint64_t word = 0;
            std::memcpy(&word, place, sizeof word);
            visit(word & (~std::uint64_t{0} >> (64 - 8 * bytes)));
            place += bytes;
        }
    }
    void count_by_column(std::uint32_t worker) {
        std::vector<std::size_t>& columns = workers_[worker].columns;
        columns.assign(row_->destinations().size(), 0);
        const unsigned shift = word_bits();
        word_to_forward_.with_bytes([&](auto bytes) {
            for_each_arrived<bytes>(worker, [&](std::uint64_t word) {
                const std::uint64_t column = word >> shift;
                if (column >= columns.size()) {
                    throw InternalError("exchange of spikes: a spike goes to column " + std::to_string(column) +
                                        " of a row of " + std::to_string(columns.size()) + " processes");
                }
                ++columns[column];
            });
        });
    }
    /// The second hop.
    void sort_by_column(std::uint32_t worker) {
        const std::span<std::size_t> columns = workers_[worker].columns;
        const unsigned shift = word_bits();
        const std::uint64_t mask = (std::uint64_t{1} << shift) - 1;
        std::byte* const to = send_.data();
        word_to_forward_.with_bytes([&](auto bytes) {
            word_.with_bytes([&](auto final_bytes) {
                for_each_arrived<bytes>(worker, [&](std::uint64_t word) {
                    SpikePacking::store<final_bytes>(to + columns[word >> shift]++ * final_bytes, word & mask);
                });
            });
        });
    }

    std::shared_ptr<const Destinations> destinations_;
    RankGrid grid_;
    SpikePacking word_;  ///< of the second hop
    unsigned address_bits_;
    unsigned lag_bits_;
    SpikePacking word_to_forward_;  ///< of the first hop: the same word with the column of the receiver above it
    std::uint64_t most_per_worker_;  ///< limit of the spikes sent to a worker's rows in one round
    std::unique_ptr<Neighborhood> column_;
    std::unique_ptr<Neighborhood> row_;
    Step first_step_ = 0;
    bool forwards_ = false;  ///< whether the present round is a second hop
    bool gathers_ = true;  ///< whether no spikes of this epoch have been gathered yet
    bool anyone_has_more_ = false;
    std::vector<Worker> workers_;
    std::vector<std::size_t> counts_of_partners_;
    std::vector<std::uint64_t> heads_;
    std::vector<std::uint64_t> received_heads_;
    std::vector<std::size_t> sent_bytes_;
    std::vector<std::size_t> received_bytes_;
    Buffer<std::byte> send_;  ///< of the second hop, and of the first one with several workers
    Buffer<std::byte> received_;  ///< of both
    std::size_t arrived_ = 0;  ///< words in it
};

}  // namespace

const ExchangeInfo grid_exchange{
    .name = "grid",
    .summary = "sends spikes only where they are needed, over a grid: down a column of processes, then along a row",
    .directed = true,
    .make = make_exchange<GridExchange>,
    // With two or three processes, the grid is one row.
    .can_win = [](const ExchangeArguments& arguments) { return RankGrid(arguments.communicator->size()).rows() > 1; },
};

}  // namespace ranvier::comm
