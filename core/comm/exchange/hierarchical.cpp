#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/tight_list.hpp"
#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "comm/exchange/host_tables.hpp"
#include "comm/exchange/rank_lists.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// Memory of a process without others on its host.
class PrivateMemory final : public SharedMemory {
   public:
    explicit PrivateMemory(std::size_t bytes) : memory_(bytes) {}
    std::span<std::byte> bytes() override { return memory_.span(); }

   private:
    Buffer<std::byte> memory_;
};

/// What the leader of a group tells its members in each round. The counts of the received spikes by host follow it.
struct GroupHead {
    std::uint64_t inbox_bytes;  ///< of the received spikes, with slack
    std::uint64_t has_more;     ///< whether any process has spikes for another round
};

constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The memory that the processes of a group share: a head, and for each process a section with the number of its spikes
/// for each host, and the spikes, by host.
class GroupMemory {
   public:
    /// @param most_bytes of the spikes of a process @note Collective.
    GroupMemory(Communicator& communicator, const HostDivision& division, std::uint64_t most_bytes)
        : hosts_(static_cast<std::size_t>(division.hosts)),
          members_(static_cast<std::size_t>(division.members().size())),
          is_one_(members_ == 1 || communicator.is_dry_run()),
          head_bytes_(whole_lines(sizeof(GroupHead) + hosts_ * sizeof(std::uint64_t))),
          counts_bytes_(whole_lines(sizeof(std::uint64_t) + hosts_ * sizeof(std::uint32_t))),
          section_bytes_(whole_lines(counts_bytes_ + most_bytes + ArrivedSpikes::slack)) {
        const std::size_t bytes = head_bytes_ + (is_one_ ? 1 : members_) * section_bytes_;
        memory_ = is_one_ ? std::make_unique<PrivateMemory>(bytes) : division.members().share_memory(bytes);
        if (communicator.least(memory_ ? 1 : 0) == 0) throw no_memory();
    }

    static StateError no_memory() {
        return StateError({.object = "exchange",
                           .value = std::string(hierarchical_exchange.name),
                           .bound = "the system does not let the processes of a host share memory",
                           .remedy = "choose another method, such as alltoall"});
    }

    /// Whether there is only one section, which stands for those of all members.
    bool is_one() const { return is_one_; }
    std::size_t members() const { return members_; }
    GroupHead& head() const { return *reinterpret_cast<GroupHead*>(memory_->bytes().data()); }
    /// Of received spikes, by host.
    std::span<std::uint64_t> received() const {
        return {reinterpret_cast<std::uint64_t*>(memory_->bytes().data() + sizeof(GroupHead)), hosts_};
    }

    /// Whether a member has more spikes than those in its section.
    std::uint64_t& has_more(std::size_t member) const { return *reinterpret_cast<std::uint64_t*>(section(member)); }
    /// Numbers of spikes for each host.
    std::span<std::uint32_t> counts(std::size_t member) const {
        return {reinterpret_cast<std::uint32_t*>(section(member) + sizeof(std::uint64_t)), hosts_};
    }
    std::byte* data(std::size_t member) const { return section(member) + counts_bytes_; }

    /// Bytes that this process writes, except for spikes.
    std::uint64_t written_bytes() const { return counts_bytes_ + head_bytes_; }

   private:
    std::byte* section(std::size_t member) const {
        return memory_->bytes().data() + head_bytes_ + (is_one_ ? 0 : member) * section_bytes_;
    }

    std::size_t hosts_;
    std::size_t members_;
    bool is_one_;
    std::size_t head_bytes_;
    std::size_t counts_bytes_;
    std::size_t section_bytes_;
    std::unique_ptr<SharedMemory> memory_;
};

/// In two levels: the processes of a host share memory, and one of them, its leader, exchanges spikes with the leaders of
/// the other hosts. A spike crosses between two hosts at most once, as the number of its source among those of the host
/// that the other host needs. All processes of the other host read it from shared memory, and look up their addresses of
/// the source (host_tables.hpp).
///
/// A round: each process writes its spikes, sorted by host, to shared memory; barrier of the host; the leader collects
/// them, and exchanges first their numbers, then the spikes, with the other leaders; barrier of the host; all read.
class HierarchicalExchange final : public ExchangeBase {
   public:
    explicit HierarchicalExchange(const ExchangeArguments& arguments)
        : HierarchicalExchange(arguments, checked_destinations(arguments)) {}

    std::string_view name() const override { return hierarchical_exchange.name; }

    void begin(Step first_step) override {
        first_step_ = first_step;
        first_round_ = true;
        ++counts_.exchanges;
    }

    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        if (!first_round_) return;
        lists_.collocate(worker, outboxes);
        for (const EmittedSpike& spike : outboxes[worker]) {
            workers_[worker].sent += tables_.destinations->addresses(worker, spike.local);
        }
    }

    void transfer(bool /*flush*/) override {
        first_round_ = false;
        publish();
        division_.members().barrier();
        if (division_.leads()) collect();
        division_.members().barrier();
        ++counts_.rounds;
        if (memory_.head().inbox_bytes > inbox_bytes()) {
            lengthen_inbox();
            if (division_.leads()) receive();
            division_.members().barrier();
        }
        more_ = memory_.head().has_more != 0;
    }

    void take(std::uint32_t worker, const Visit& visit) override {
        Worker& mine = workers_[worker];
        mine.arrived.clear();
        const std::span<const std::uint64_t> received = memory_.received();
        const Share share =
            share_of(worker, options().workers, std::reduce(received.begin(), received.end(), std::uint64_t{0}));
        std::size_t first = 0;
        const auto take_section = [&](std::size_t host) {
            const std::size_t last = first + received[host];
            const std::size_t begin = std::max(first, share.first);
            const std::size_t end = std::min(last, share.last);
            if (begin < end) {
                const std::byte* const section = inbox_->bytes().data() + first * packing().bytes();
                look_up(host, packing().arrived(section, last - first).subspan(begin - first, end - begin), mine);
            }
            first = last;
        };
        for_each_section(take_section);
        mine.received += mine.arrived.size();
        if (!mine.arrived.empty()) visit({first_step_, mine.arrived});
    }

    ExchangeCounts counts() const override {
        ExchangeCounts counts = ExchangeBase::counts();
        for (const Worker& worker : workers_) {
            counts.spikes_sent += worker.sent;
            counts.spikes_received += worker.received;
        }
        return counts;
    }
    void reset_counts() override {
        ExchangeBase::reset_counts();
        for (Worker& worker : workers_) worker.sent = worker.received = 0;
    }

   protected:
    std::uint64_t buffer_bytes() const override {
        std::uint64_t bytes = lists_.bytes() + tables_.destinations->bytes() + tables_.rows.bytes() +
                              bytes_of(tables_.first_rows) + memory_.written_bytes() + most_published_ +
                              bytes_of(heads_) + bytes_of(received_heads_) + bytes_of(send_bytes_) +
                              bytes_of(received_bytes_) + bytes_of(send_) + bytes_of(cursors_) + bytes_of(own_);
        if (division_.leads()) bytes += inbox_bytes();
        for (const Worker& worker : workers_) bytes += bytes_of(worker.arrived);
        return bytes;
    }

   private:
    /// Aligned to avoid false sharing: workers write concurrently.
    struct alignas(64) Worker {
        std::vector<ArrivedSpike> arrived;
        std::uint64_t sent = 0;  ///< addresses, since the last reset
        std::uint64_t received = 0;
    };
    /// A part of the section of a member.
    struct Piece {
        std::size_t offset;
        std::size_t count;
    };

    /// Flags beside a count: some process of the sender's host has more than it sends now; the host sends to others.
    static constexpr std::uint64_t more_flag = std::uint64_t{1} << 63;
    static constexpr std::uint64_t sends_flag = std::uint64_t{1} << 62;
    static constexpr std::uint64_t count_mask = sends_flag - 1;

    HierarchicalExchange(const ExchangeArguments& arguments, const std::shared_ptr<const Destinations>& destinations)
        : ExchangeBase(arguments),
          division_(communicator(), checked_host_ranks(communicator(), options().host_ranks)),
          tables_(build_host_tables(communicator(), division_, *destinations, options())),
          lists_(tables_.destinations, division_.hosts, options()),
          most_per_worker_(most_spikes()),
          // Processes may have different numbers of workers, but sections of equal size.
          memory_(communicator(), division_,
                  most_per_worker_ * division_.members().greatest(options().workers) * packing().bytes()),
          workers_(options().workers) {
        if (!division_.leads()) return;
        const auto hosts = static_cast<std::size_t>(division_.hosts);
        heads_.resize(hosts);
        received_heads_.resize(hosts);
        send_bytes_.resize(hosts);
        received_bytes_.resize(hosts);
        cursors_.resize(memory_.members());
        own_.resize(memory_.members());
    }

    const SpikePacking& packing() const { return lists_.packing(); }
    std::size_t here() const { return static_cast<std::size_t>(division_.here); }
    std::size_t inbox_bytes() const { return inbox_ ? inbox_->bytes().size() : 0; }

    /// Limit of the spikes that a worker's part of the hosts gets in a round; the same on all processes of the host. Not
    /// more than an epoch can have if each source fires once a step.
    std::uint64_t most_spikes() const {
        const auto members = static_cast<std::uint64_t>(division_.members().size());
        const std::uint64_t fitting = options().buffer_bytes / (members * options().workers * packing().bytes());
        const std::uint64_t possible = tables_.destinations->size() * options().most_lags;
        constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
        return division_.members().greatest(
            std::clamp<std::uint64_t>(std::min(fitting, possible), 1, most / options().workers));
    }

    /// Calls visit(host) in the order in which the spikes of hosts lie in the inbox: those of this one last.
    template <class Visit>
    void for_each_section(const Visit& visit) const {
        for (std::size_t host = 0; host < static_cast<std::size_t>(division_.hosts); ++host) {
            if (host != here()) visit(host);
        }
        visit(here());
    }

    void look_up(std::size_t host, const ArrivedSpikes& spikes, Worker& worker) const {
        const std::uint64_t first_row = tables_.first_rows[host];
        for (const ArrivedSpike spike : spikes) {
            tables_.rows.for_each(first_row + spike.address(), [&](std::uint64_t address) {
                append(worker.arrived, ArrivedSpike(address, spike.lag()));
            });
        }
    }

    /// Writes the next spikes of this process to its section.
    void publish() {
        lists_.take(most_per_worker_);
        const auto member = static_cast<std::size_t>(division_.members().rank().value);
        memory_.has_more(member) = lists_.anything_left() ? 1 : 0;
        const std::span<std::uint32_t> counts = memory_.counts(member);
        for (std::size_t host = 0; host < counts.size(); ++host) {
            counts[host] = static_cast<std::uint32_t>(lists_.counts()[host]);
        }
        const std::span<const std::byte> data = lists_.data();
        std::copy(data.begin(), data.end(), memory_.data(member));
        most_published_ = std::max<std::uint64_t>(most_published_, data.size());
    }

    /// The leader's part: collects the spikes of all members, and exchanges them with the other leaders unless the inbox
    /// is too short.
    void collect() {
        const std::uint64_t flags = exchange_heads();
        const std::span<std::uint64_t> received = memory_.received();
        std::uint64_t total = 0;
        for (std::size_t host = 0; host < received.size(); ++host) {
            received[host] = received_heads_[host] & count_mask;
            total += received[host];
            const bool travels = host != here();
            send_bytes_[host] = travels ? (heads_[host] & count_mask) * packing().bytes() : 0;
            received_bytes_[host] = travels ? received[host] * packing().bytes() : 0;
        }
        any_sends_ = (flags & sends_flag) != 0;
        memory_.head() = {.inbox_bytes = total * packing().bytes() + ArrivedSpikes::slack,
                          .has_more = (flags & more_flag) != 0 ? std::uint64_t{1} : 0};
        gather();
        if (memory_.head().inbox_bytes <= inbox_bytes()) receive();
    }

    /// Returns the combined flags of all hosts.
    std::uint64_t exchange_heads() {
        std::fill(heads_.begin(), heads_.end(), std::uint64_t{0});
        std::uint64_t flags = 0;
        for (std::size_t member = 0; member < memory_.members(); ++member) {
            if (memory_.has_more(member) != 0) flags |= more_flag;
            const std::span<const std::uint32_t> counts = memory_.counts(member);
            for (std::size_t host = 0; host < counts.size(); ++host) heads_[host] += counts[host];
        }
        for (std::size_t host = 0; host < heads_.size(); ++host) {
            if (host != here() && heads_[host] > 0) flags |= sends_flag;
        }
        for (std::uint64_t& head : heads_) head |= flags;
        if (division_.hosts == 1) {
            received_heads_ = heads_;
        } else {
            const auto send = std::as_bytes(std::span<const std::uint64_t>(heads_));
            division_.leaders().alltoall(send, std::as_writable_bytes(std::span(received_heads_)));
            count_collective(send.size(), heads_.size() - 1);
        }
        std::uint64_t all_flags = 0;
        for (const std::uint64_t head : received_heads_) all_flags |= head;
        return all_flags;
    }

    /// Collects the spikes for other hosts, by host and member, and notes where those for this host are.
    void gather() {
        send_.clear();
        make_room(send_, std::accumulate(send_bytes_.begin(), send_bytes_.end(), std::size_t{0}));
        std::fill(cursors_.begin(), cursors_.end(), std::size_t{0});
        for (std::size_t host = 0; host < heads_.size(); ++host) {
            for (std::size_t member = 0; member < memory_.members(); ++member) {
                const Piece piece{cursors_[member], memory_.counts(member)[host]};
                cursors_[member] += piece.count * packing().bytes();
                if (host == here()) {
                    own_[member] = piece;
                } else {
                    add(host, member, piece, send_);
                }
            }
        }
    }

    /// Appends the spikes of a member. In a dry run, other members send those of other sources.
    void add(std::size_t host, std::size_t member, const Piece& piece, std::vector<std::byte>& spikes) const {
        const std::byte* const data = memory_.data(member) + piece.offset;
        if (tables_.sources_for.empty() || member == 0) {
            spikes.insert(spikes.end(), data, data + piece.count * packing().bytes());
            return;
        }
        for (const ArrivedSpike spike : packing().arrived(data, piece.count)) {
            packing().append(spike.address() + member * tables_.sources_for[host], spike.lag(), spikes);
        }
    }

    /// Exchanges the collected spikes with the other leaders, and adds those for this host. @pre the inbox is long enough
    void receive() {
        std::span<std::byte> inbox = inbox_->bytes();
        const auto bytes = std::accumulate(received_bytes_.begin(), received_bytes_.end(), std::size_t{0});
        if (any_sends_) {
            division_.leaders().alltoallv(send_, send_bytes_, inbox.first(bytes), received_bytes_);
            count_collective(send_.size(), heads_.size() - 1);
        }
        // The sent spikes are not needed any more.
        send_.clear();
        for (std::size_t member = 0; member < own_.size(); ++member) add(here(), member, own_[member], send_);
        std::copy(send_.begin(), send_.end(), inbox.begin() + static_cast<std::ptrdiff_t>(bytes));
    }

    /// @note Collective in the group.
    void lengthen_inbox() {
        const std::size_t needed = memory_.head().inbox_bytes;
        const std::size_t bytes = whole_lines(needed + needed / 16);
        inbox_.reset();
        if (memory_.is_one()) {
            inbox_ = std::make_unique<PrivateMemory>(bytes);
        } else {
            inbox_ = division_.members().share_memory(bytes);
        }
        if (!inbox_) throw GroupMemory::no_memory();
    }

    HostDivision division_;
    HostTables tables_;
    RankLists lists_;
    std::uint64_t most_per_worker_;
    GroupMemory memory_;
    std::unique_ptr<SharedMemory> inbox_;  ///< the received spikes; never shrinks
    std::vector<Worker> workers_;
    Step first_step_ = 0;
    bool first_round_ = true;
    bool any_sends_ = false;  ///< whether any host sends to another in this round
    std::uint64_t most_published_ = 0;  ///< bytes
    // Of a leader: by host, then by member.
    std::vector<std::uint64_t> heads_;
    std::vector<std::uint64_t> received_heads_;
    std::vector<std::size_t> send_bytes_;
    std::vector<std::size_t> received_bytes_;
    std::vector<std::size_t> cursors_;
    std::vector<Piece> own_;
    std::vector<std::byte> send_;
};

/// Whether there are several groups, and a group has several shards: otherwise a spike goes to as many places as by a method
/// without groups. @note Collective.
bool groups_save_messages(const ExchangeArguments& arguments) {
    Communicator& communicator = *arguments.communicator;
    const auto most = static_cast<std::uint32_t>(checked_host_ranks(communicator, arguments.options.host_ranks));
    const auto of_host = static_cast<std::uint32_t>(communicator.is_dry_run() ? 1 : communicator.host_size());
    const std::uint64_t members = communicator.greatest(most == 0 ? of_host : most);
    const std::uint64_t workers = communicator.greatest(arguments.options.workers);
    return members < static_cast<std::uint64_t>(communicator.size()) && members * workers > 1;
}

}  // namespace

const ExchangeInfo hierarchical_exchange{
    .name = "hierarchical",
    .summary = "for many hosts: spikes go once to each host that needs them, whose processes share memory",
    .directed = true,
    .keeps_destinations = false,
    .groups_by_host = true,
    .make = make_exchange<HierarchicalExchange>,
    .can_win = groups_save_messages,
};

}  // namespace ranvier::comm
