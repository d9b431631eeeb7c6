#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ranvier/comm/communicator.hpp"

/// A group of processes as threads of one program, for tests.
///
/// It is stricter than most transports: a process that calls another collective than the others fails; what is put into a
/// window is there at once, unsynchronised, so that the thread sanitizer sees who reads too early; a persistent send
/// is done only when all have received it; and messages are sometimes held back for a while, and come from the senders in
/// no particular order.
namespace ranvier::comm {

/// Another process of the group has failed.
class GroupBroken : public std::runtime_error {
   public:
    GroupBroken() : std::runtime_error("another process of the group has failed") {}
};

class ThreadGroup {
   public:
    using Bytes = std::vector<std::byte>;

    /// What one process brings into a collective.
    struct Deposit {
        Bytes data = {};
        std::vector<std::size_t> counts = {};
        std::vector<Rank> ranks = {};
        std::byte* memory = nullptr;
    };
    /// A collective under way: what each process brought, until all have fetched what they need.
    struct Operation {
        std::string kind;
        std::vector<Deposit> deposits;
        std::int32_t arrived = 0;
        std::int32_t left = 0;
    };
    struct Posted {
        Bytes data;
        std::shared_ptr<std::int32_t> outstanding;  ///< of a persistent send: copies that nobody has received
    };

    explicit ThreadGroup(std::int32_t size) : size_(size), mailboxes_(static_cast<std::size_t>(size)) {}

    struct alignas(64) Line {
        std::array<std::byte, 64> bytes{};
    };

    std::int32_t size() const { return size_; }
    /// Deals the processes to so many hosts, in turn.
    void deal_to_hosts(std::int32_t hosts) { hosts_ = hosts; }
    std::int32_t hosts() const { return hosts_; }
    /// Lets messages arrive late, and so mixes those of different senders: on average so many looks for one find one.
    void hold_back(std::uint64_t looks) { looks_ = looks; }

    void deposit(std::uint64_t sequence, Rank from, const std::string& kind, Deposit deposit) {
        const std::lock_guard lock(mutex_);
        Operation& operation = operations_[sequence];
        if (operation.deposits.empty()) {
            operation.kind = kind;
            operation.deposits.resize(static_cast<std::size_t>(size_));
        }
        if (operation.kind != kind) {
            throw std::logic_error("rank " + std::to_string(from.value) + " calls " + kind + " where others call " +
                                   operation.kind);
        }
        operation.deposits[static_cast<std::size_t>(from.value)] = std::move(deposit);
        if (++operation.arrived == size_) changed_.notify_all();
    }
    /// Waits until all have come (or only looks), then lets `fetch` read the deposits. Returns whether it did.
    bool fetch(std::uint64_t sequence, bool wait, const std::function<void(std::span<const Deposit>)>& fetch) {
        std::unique_lock lock(mutex_);
        const auto complete = [&] { return broken_ || operations_[sequence].arrived == size_; };
        if (wait) changed_.wait(lock, complete);
        if (broken_) throw GroupBroken();
        if (!complete()) return false;
        Operation& operation = operations_[sequence];
        fetch(operation.deposits);
        if (++operation.left == size_) operations_.erase(sequence);
        return true;
    }

    void post(Rank from, Rank to, int tag, Posted posted) {
        const std::lock_guard lock(mutex_);
        mailboxes_.at(static_cast<std::size_t>(to.value))[tag][from.value].push_back(std::move(posted));
    }
    /// @param number something that varies: which sender comes first, and whether the message is held back
    bool take(Rank to, int tag, std::uint64_t number, Message& message) {
        const std::lock_guard lock(mutex_);
        if (broken_) throw GroupBroken();
        auto& senders = mailboxes_[static_cast<std::size_t>(to.value)][tag];
        if (senders.empty() || number % 4 == 0 || (number / 64) % looks_ != 0) return false;
        auto sender = senders.begin();
        std::advance(sender, static_cast<std::ptrdiff_t>(number / 4 % senders.size()));
        Posted& posted = sender->second.front();
        message = {Rank{sender->first}, std::move(posted.data)};
        if (posted.outstanding) --*posted.outstanding;
        sender->second.pop_front();
        if (sender->second.empty()) senders.erase(sender);
        return true;
    }
    std::int32_t outstanding(const std::shared_ptr<std::int32_t>& count) {
        const std::lock_guard lock(mutex_);
        if (broken_) throw GroupBroken();
        return *count;
    }
    void check_whole() {
        const std::lock_guard lock(mutex_);
        if (broken_) throw GroupBroken();
    }
    /// Whether nothing is left over.
    bool all_received() {
        const std::lock_guard lock(mutex_);
        if (broken_) return false;
        for (const auto& mailbox : mailboxes_) {
            for (const auto& [tag, senders] : mailbox) {
                if (!senders.empty()) return false;
            }
        }
        return operations_.empty() &&
               std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part.second->all_received(); });
    }

    /// The memory of the n-th request of each process.
    std::shared_ptr<std::vector<Line>> share(std::size_t number, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        if (number >= shared_.size()) shared_.resize(number + 1);
        if (!shared_[number]) shared_[number] = std::make_shared<std::vector<Line>>(bytes / sizeof(Line) + 1);
        return shared_[number];
    }

    /// The part of this group that the n-th split of each process makes of those with this color.
    std::shared_ptr<ThreadGroup> part(std::uint64_t split, std::int32_t color, std::int32_t size) {
        const std::lock_guard lock(mutex_);
        auto& part = parts_[{split, color}];
        if (!part) {
            part = std::make_shared<ThreadGroup>(size);
            part->looks_ = looks_;
            part->broken_ = broken_;
        }
        return part;
    }

    void break_up() {
        const std::lock_guard lock(mutex_);
        broken_ = true;
        changed_.notify_all();
        for (auto& [key, part] : parts_) part->break_up();
    }

   private:
    std::int32_t size_;
    std::int32_t hosts_ = 1;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint64_t, Operation> operations_;
    std::vector<std::map<int, std::map<std::int32_t, std::deque<Posted>>>> mailboxes_;
    std::vector<std::shared_ptr<std::vector<Line>>> shared_;
    std::map<std::pair<std::uint64_t, std::int32_t>, std::shared_ptr<ThreadGroup>> parts_;
    std::uint64_t looks_ = 1;
    bool broken_ = false;
};

/// One process of a ThreadGroup.
class ThreadCommunicator : public Communicator {
    using Bytes = ThreadGroup::Bytes;
    using Deposit = ThreadGroup::Deposit;
    using Deposits = std::span<const Deposit>;

   public:
    ThreadCommunicator(std::shared_ptr<ThreadGroup> group, Rank rank) : group_(std::move(group)), rank_(rank) {}

    Rank rank() const override { return rank_; }
    std::int32_t size() const override { return group_->size(); }
    std::string transport() const override { return "threads"; }
    std::int32_t host_rank() const override { return rank_.value / group_->hosts(); }
    std::int32_t host_size() const override { return (size() - host() + group_->hosts() - 1) / group_->hosts(); }

    void barrier() override {
        collective("barrier", {}, [](Deposits) {});
    }

    void reduce(std::span<std::uint64_t> values, Reduction reduction) override {
        collective("reduce", {to_bytes(std::as_bytes(values))}, [&](Deposits all) { fold(all, values, reduction); });
    }
    std::uint64_t reduce_scatter(std::span<const std::uint64_t> values) override {
        std::vector<std::uint64_t> sums(values.begin(), values.end());
        if (sums.size() != static_cast<std::size_t>(size())) throw std::logic_error("not a number for each process");
        collective("reduce_scatter", {to_bytes(std::as_bytes(values))},
                   [&](Deposits all) { fold(all, std::span(sums), Reduction::sum); });
        return sums[index(rank_)];
    }
    void broadcast(std::span<std::byte> data, Rank root) override {
        collective("broadcast", {to_bytes(data)}, [&](Deposits all) { copy(all[index(root)].data, data); });
    }
    void allgather(std::span<const std::byte> send, std::span<std::byte> receive) override {
        start_allgather(send, receive)->wait();
    }
    std::unique_ptr<Request> start_allgather(std::span<const std::byte> send, std::span<std::byte> receive) override {
        return start("allgather", {to_bytes(send)}, [receive, bytes = send.size()](Deposits all) {
            for (std::size_t r = 0; r < all.size(); ++r) copy(all[r].data, receive.subspan(r * bytes, bytes));
        });
    }
    void allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                    std::span<const std::size_t> counts) override {
        start_allgatherv(send, receive, counts)->wait();
    }
    std::unique_ptr<Request> start_allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                                              std::span<const std::size_t> counts) override {
        return start("allgatherv", {to_bytes(send)},
                     [receive, known = std::vector<std::size_t>(counts.begin(), counts.end())](Deposits all) {
                         gather(all, receive, known);
                     });
    }
    void gatherv(std::span<const std::byte> send, std::span<std::byte> receive, std::span<const std::size_t> counts,
                 Rank root) override {
        collective("gatherv", {to_bytes(send)}, [&](Deposits all) {
            if (root == rank_) gather(all, receive, counts);
        });
    }
    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        start_alltoall(send, receive)->wait();
    }
    std::unique_ptr<Request> start_alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        return start("alltoall", {to_bytes(send)}, [this, receive](Deposits all) {
            const std::size_t section = receive.size() / all.size();
            for (std::size_t r = 0; r < all.size(); ++r) {
                const std::span data = all[r].data;
                if (data.size() != receive.size()) throw std::logic_error("sections are not equally long");
                copy(data.subspan(index(rank_) * section, section), receive.subspan(r * section, section));
            }
        });
    }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                   std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override {
        Deposit mine{to_bytes(send), {send_counts.begin(), send_counts.end()}};
        collective("alltoallv", std::move(mine), [&](Deposits all) {
            std::size_t begin = 0;
            for (std::size_t r = 0; r < all.size(); ++r) {
                const std::span part = part_of(all[r], index(rank_));
                copy(part, receive.subspan(begin, receive_counts[r]));
                begin += receive_counts[r];
            }
        });
    }
    std::unique_ptr<Request> start_sum(std::span<std::uint64_t> values) override {
        return start("sum", {to_bytes(std::as_bytes(values))},
                     [values](Deposits all) { fold(all, values, Reduction::sum); });
    }

    void send(std::span<const std::byte> data, Rank to, int tag) override {
        group_->post(rank_, to, tag, {to_bytes(data), nullptr});
    }
    bool try_receive(int tag, Message& message) override {
        // A linear congruential generator is good enough to vary what comes first.
        number_ = number_ * 6364136223846793005 + 1442695040888963407 + static_cast<std::uint64_t>(rank_.value);
        return group_->take(rank_, tag, number_ >> 40, message);
    }
    void complete_sends() override {}
    std::unique_ptr<PersistentSend> make_persistent_send(std::size_t bytes, std::span<const Rank> destinations,
                                                         int tag) override {
        return std::make_unique<ThreadPersistentSend>(group_, rank_, bytes, destinations, tag);
    }

    std::unique_ptr<Window> make_window(std::span<const std::size_t> slots, WindowSync sync) override {
        return std::make_unique<ThreadWindow>(*this, slots, sync);
    }
    std::unique_ptr<Neighborhood> make_neighborhood(std::span<const Rank> sources,
                                                    std::span<const Rank> destinations) override {
        return std::make_unique<ThreadNeighborhood>(*this, sources, destinations);
    }

    std::unique_ptr<SharedMemory> share_memory(std::size_t bytes) override {
        barrier();
        if (group_->hosts() > 1) return nullptr;
        return std::make_unique<ThreadSharedMemory>(group_->share(shares_++, bytes), bytes);
    }

    std::unique_ptr<Communicator> split(std::int32_t color) override {
        const std::uint64_t number = next_;
        std::int32_t size = 0;
        std::int32_t rank = 0;
        collective("split", {.counts = {static_cast<std::size_t>(color)}}, [&](Deposits all) {
            for (std::size_t r = 0; r < all.size(); ++r) {
                if (all[r].counts.at(0) != static_cast<std::size_t>(color)) continue;
                if (r < index(rank_)) ++rank;
                ++size;
            }
        });
        return std::make_unique<ThreadCommunicator>(group_->part(number, color, size), Rank{rank});
    }
    HostGroups group_by_host(std::int32_t most) override {
        const std::int32_t part = most > 0 ? host_rank() / most : 0;
        HostGroups groups{.members = split(part * group_->hosts() + host()), .leaders = nullptr};
        const bool leads = groups.members->rank() == Rank{0};
        auto leaders = split(leads ? 0 : 1);
        if (leads) groups.leaders = std::move(leaders);
        return groups;
    }

    [[noreturn]] void abort(int /*status*/) override {
        group_->break_up();
        throw GroupBroken();
    }

   private:
    using Fetch = std::function<void(Deposits)>;

    std::int32_t host() const { return rank_.value % group_->hosts(); }

    class ThreadSharedMemory final : public SharedMemory {
       public:
        ThreadSharedMemory(std::shared_ptr<std::vector<ThreadGroup::Line>> lines, std::size_t bytes)
            : lines_(std::move(lines)), bytes_(bytes) {}
        std::span<std::byte> bytes() override { return std::as_writable_bytes(std::span(*lines_)).first(bytes_); }

       private:
        std::shared_ptr<std::vector<ThreadGroup::Line>> lines_;
        std::size_t bytes_;
    };

    class ThreadRequest final : public Request {
       public:
        ThreadRequest(std::shared_ptr<ThreadGroup> group, std::uint64_t sequence, Fetch fetch)
            : group_(std::move(group)), sequence_(sequence), fetch_(std::move(fetch)) {}
        ThreadRequest(const ThreadRequest&) = delete;
        ThreadRequest& operator=(const ThreadRequest&) = delete;
        ~ThreadRequest() override {
            try {
                wait();
            } catch (...) {
                group_->break_up();
            }
        }
        bool test() override { return done_ || (done_ = group_->fetch(sequence_, false, fetch_)); }
        void wait() override { done_ = done_ || group_->fetch(sequence_, true, fetch_); }

       private:
        std::shared_ptr<ThreadGroup> group_;
        std::uint64_t sequence_;
        Fetch fetch_;
        bool done_ = false;
    };

    class ThreadPersistentSend final : public PersistentSend {
       public:
        ThreadPersistentSend(std::shared_ptr<ThreadGroup> group, Rank from, std::size_t bytes,
                             std::span<const Rank> destinations, int tag)
            : group_(std::move(group)),
              from_(from),
              buffer_(bytes),
              destinations_(destinations.begin(), destinations.end()),
              tag_(tag) {}
        std::span<std::byte> buffer() override { return buffer_; }
        void start() override {
            if (!done()) throw std::logic_error("a persistent send is started before it is done");
            outstanding_ = std::make_shared<std::int32_t>(static_cast<std::int32_t>(destinations_.size()));
            for (const Rank to : destinations_) group_->post(from_, to, tag_, {buffer_, outstanding_});
        }
        bool done() override { return outstanding_ == nullptr || group_->outstanding(outstanding_) == 0; }
        void wait() override {
            while (!done()) std::this_thread::yield();
        }

       private:
        std::shared_ptr<ThreadGroup> group_;
        Rank from_;
        Bytes buffer_;
        std::vector<Rank> destinations_;
        int tag_;
        std::shared_ptr<std::int32_t> outstanding_;
    };

    class ThreadWindow final : public Window {
       public:
        ThreadWindow(ThreadCommunicator& communicator, std::span<const std::size_t> slots, WindowSync sync)
            : communicator_(communicator), sync_(sync) {
            for (const std::size_t bytes : slots) slots_.emplace_back().memory.resize(bytes);
            Deposit mine{.counts = {slots.begin(), slots.end()}, .memory = reinterpret_cast<std::byte*>(this)};
            communicator_.collective("make_window", std::move(mine), [&](Deposits all) {
                for (const Deposit& deposit : all) {
                    if (deposit.counts != all[0].counts) throw std::logic_error("processes have other slots");
                    others_.push_back(reinterpret_cast<ThreadWindow*>(deposit.memory));
                }
            });
        }
        ThreadWindow(const ThreadWindow&) = delete;
        ThreadWindow& operator=(const ThreadWindow&) = delete;
        ~ThreadWindow() override { communicator_.collective_at_end("free_window"); }
        std::span<std::byte> slot(std::size_t index) override { return slots_.at(index).memory; }
        void step(const std::optional<Write>& write, const std::optional<Expected>& expected) override {
            if (sync_ == WindowSync::partners) {
                if (expected) notify(opened_tag, expected->origin);
                if (write) wait_for(opened_tag, write->target);
            }
            if (write) put(*write);
            switch (sync_) {
                case WindowSync::fence:
                    communicator_.collective("fence", {}, [](Deposits) {});
                    break;
                case WindowSync::partners:
                case WindowSync::flush:
                    if (write) notify(written_tag, write->target);
                    if (expected) wait_for(written_tag, expected->origin);
                    break;
                case WindowSync::counter:
                    if (write) {
                        const std::uint64_t number = ++slots_.at(write->slot).written;
                        slot_of(*write).mark.store(number, std::memory_order_release);
                    }
                    if (expected) wait_for_mark(slots_.at(expected->slot));
                    break;
            }
        }

       private:
        // Above those of the tested programs. Each sender has others, so that no message is taken for that of another.
        static constexpr int opened_tag = 10'000;
        static constexpr int written_tag = 20'000;

        struct Slot {
            Bytes memory{};
            std::atomic<std::uint64_t> mark{0};
            std::uint64_t written = 0;  ///< by this process, to the slot of its target
            std::uint64_t read = 0;
            std::optional<Rank> target{};
            std::optional<Rank> origin{};
        };

        Slot& slot_of(const Write& write) { return others_.at(index(write.target))->slots_.at(write.slot); }
        static void require_same(std::optional<Rank>& known, Rank rank) {
            if (known.value_or(rank) != rank) throw std::logic_error("a slot with several writers or targets");
            known = rank;
        }
        void put(const Write& write) {
            Slot& slot = slot_of(write);
            if (write.data.size() > slot.memory.size()) throw std::logic_error("a put beyond the slot");
            if (write.target == communicator_.rank_) throw std::logic_error("a process writes to itself");
            require_same(slots_.at(write.slot).target, write.target);
            require_same(slot.origin, communicator_.rank_);
            if (!write.data.empty()) std::memcpy(slot.memory.data(), write.data.data(), write.data.size());
        }
        void notify(int tag, Rank to) {
            communicator_.group_->post(communicator_.rank_, to, tag + communicator_.rank_.value, {});
        }
        void wait_for(int tag, Rank from) {
            Message message{};
            while (!communicator_.try_receive(tag + from.value, message)) std::this_thread::yield();
        }
        void wait_for_mark(Slot& slot) {
            const std::uint64_t number = ++slot.read;
            while (slot.mark.load(std::memory_order_acquire) != number) {
                communicator_.group_->check_whole();
                std::this_thread::yield();
            }
        }

        ThreadCommunicator& communicator_;
        WindowSync sync_;
        std::deque<Slot> slots_;
        std::vector<ThreadWindow*> others_;
    };

    class ThreadNeighborhood final : public Neighborhood {
       public:
        ThreadNeighborhood(ThreadCommunicator& communicator, std::span<const Rank> sources,
                           std::span<const Rank> destinations)
            : communicator_(communicator),
              sources_(sources.begin(), sources.end()),
              destinations_(destinations.begin(), destinations.end()) {
            Deposit mine;
            mine.ranks = destinations_;
            communicator_.collective("make_neighborhood", std::move(mine), [&](Deposits all) {
                for (std::size_t r = 0; r < all.size(); ++r) {
                    const bool sends = place_in(all[r].ranks, communicator_.rank_) < all[r].ranks.size();
                    const bool known = place_in(sources_, Rank{static_cast<std::int32_t>(r)}) < sources_.size();
                    if (sends != known) throw std::logic_error("who sends is not who is received from");
                }
            });
        }
        ThreadNeighborhood(const ThreadNeighborhood&) = delete;
        ThreadNeighborhood& operator=(const ThreadNeighborhood&) = delete;
        ~ThreadNeighborhood() override { communicator_.collective_at_end("free_neighborhood"); }
        std::span<const Rank> sources() const override { return sources_; }
        std::span<const Rank> destinations() const override { return destinations_; }
        void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
            const std::vector<std::size_t> send_counts(destinations_.size(),
                                                       destinations_.empty() ? 0 : send.size() / destinations_.size());
            const std::vector<std::size_t> receive_counts(sources_.size(),
                                                          sources_.empty() ? 0 : receive.size() / sources_.size());
            alltoallv(send, send_counts, receive, receive_counts);
        }
        void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                       std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override {
            Deposit mine{to_bytes(send), {send_counts.begin(), send_counts.end()}, destinations_};
            communicator_.collective("neighbor_alltoallv", std::move(mine), [&](Deposits all) {
                std::size_t begin = 0;
                for (std::size_t i = 0; i < sources_.size(); ++i) {
                    const Deposit& from = all[index(sources_[i])];
                    copy(part_of(from, place_in(from.ranks, communicator_.rank_)),
                         receive.subspan(begin, receive_counts[i]));
                    begin += receive_counts[i];
                }
            });
        }

       private:
        static std::size_t place_in(std::span<const Rank> ranks, Rank rank) {
            std::size_t place = 0;
            while (place < ranks.size() && ranks[place] != rank) ++place;
            return place;
        }

        ThreadCommunicator& communicator_;
        std::vector<Rank> sources_;
        std::vector<Rank> destinations_;
    };

    static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank.value); }
    static Bytes to_bytes(std::span<const std::byte> data) { return {data.begin(), data.end()}; }
    static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
        if (from.size() != to.size()) throw std::logic_error("what is sent is not as long as what is received");
        if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
    }
    static void fold(Deposits all, std::span<std::uint64_t> values, Reduction reduction) {
        for (std::size_t r = 0; r < all.size(); ++r) {
            std::vector<std::uint64_t> other(values.size());
            copy(all[r].data, std::as_writable_bytes(std::span(other)));
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (r == 0) {
                    values[i] = other[i];
                } else if (reduction == Reduction::sum) {
                    values[i] += other[i];
                } else {
                    values[i] =
                        reduction == Reduction::least ? std::min(values[i], other[i]) : std::max(values[i], other[i]);
                }
            }
        }
    }
    static void gather(Deposits all, std::span<std::byte> receive, std::span<const std::size_t> counts) {
        std::size_t begin = 0;
        for (std::size_t r = 0; r < all.size(); ++r) {
            copy(all[r].data, receive.subspan(begin, counts[r]));
            begin += counts[r];
        }
    }
    /// The part of a deposit with counts for its i-th partner.
    static std::span<const std::byte> part_of(const Deposit& deposit, std::size_t i) {
        std::size_t begin = 0;
        for (std::size_t j = 0; j < i; ++j) begin += deposit.counts[j];
        return std::span(deposit.data).subspan(begin, deposit.counts.at(i));
    }

    std::unique_ptr<Request> start(const std::string& kind, Deposit mine, Fetch fetch) {
        const std::uint64_t sequence = next_++;
        group_->deposit(sequence, rank_, kind, std::move(mine));
        return std::make_unique<ThreadRequest>(group_, sequence, std::move(fetch));
    }
    void collective(const std::string& kind, Deposit mine, const Fetch& fetch) {
        start(kind, std::move(mine), fetch)->wait();
    }

    /// In a destructor, which must not throw: an error makes the others fail.
    void collective_at_end(const std::string& kind) {
        try {
            collective(kind, {}, [](Deposits) {});
        } catch (...) {
            group_->break_up();
        }
    }

    std::shared_ptr<ThreadGroup> group_;
    Rank rank_;
    std::uint64_t next_ = 0;
    std::uint64_t number_ = 0;
    std::size_t shares_ = 0;  ///< number of calls of share_memory()
};

/// Runs `process` as each of `size` processes and throws what the first that failed has thrown.
/// @param looks see ThreadGroup::hold_back()
/// @param hosts see ThreadGroup::deal_to_hosts()
template <class Process = ThreadCommunicator>
void run_processes(std::int32_t size, const std::function<void(std::shared_ptr<Communicator>)>& process,
                   std::uint64_t looks = 1, std::int32_t hosts = 1) {
    const auto group = std::make_shared<ThreadGroup>(size);
    group->deal_to_hosts(hosts);
    group->hold_back(looks);
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (std::int32_t rank = 0; rank < size; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                process(std::make_shared<Process>(group, Rank{rank}));
            } catch (...) {
                failures[static_cast<std::size_t>(rank)] = std::current_exception();
                group->break_up();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::exception_ptr consequence;
    for (const std::exception_ptr& failure : failures) {
        if (!failure) continue;
        try {
            std::rethrow_exception(failure);
        } catch (const GroupBroken&) {
            consequence = failure;
        }
    }
    if (consequence) std::rethrow_exception(consequence);
    if (!group->all_received())
        throw std::logic_error("messages were sent that nobody received, or collectives ended in disorder");
}

}  // namespace ranvier::comm
