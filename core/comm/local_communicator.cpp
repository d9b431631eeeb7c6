#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "comm/communicator.hpp"

namespace ranvier::comm {

namespace {

void require(bool holds, const char* what) {
    if (!holds) throw InternalError(std::string("communicator of one process: ") + what);
}

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    require(from.size() == to.size(), "what is sent is not as long as what is received");
    if (!from.empty() && from.data() != to.data()) std::memmove(to.data(), from.data(), from.size());
}

/// The counts of a collective with one process, which is its only partner, or with a neighborhood that may be empty.
void copy_counted(std::span<const std::byte> from, std::span<const std::size_t> from_counts, std::span<std::byte> to,
                  std::span<const std::size_t> to_counts) {
    require(from_counts.size() == to_counts.size() && from_counts.size() <= 1, "a count for each partner is needed");
    if (from_counts.empty()) return;
    require(from_counts[0] <= from.size() && to_counts[0] <= to.size(), "a count is larger than its buffer");
    copy(from.first(from_counts[0]), to.first(to_counts[0]));
}

void require_self(std::span<const Rank> ranks) {
    for (const Rank rank : ranks) require(rank == Rank{0}, "there is no other rank than 0");
}

/// An operation that was complete when it began.
class DoneRequest final : public Request {
   public:
    bool test() override { return true; }
    void wait() override {}
};

class LocalWindow final : public Window {
   public:
    explicit LocalWindow(std::size_t bytes) : memory_(bytes) {}

    std::span<std::byte> memory() override { return memory_; }
    void put(std::span<const std::byte> data, Rank target, std::size_t offset) override {
        require(target == Rank{0}, "there is no other rank than 0");
        require(offset <= memory_.size() && data.size() <= memory_.size() - offset, "a put beyond the window");
        copy(data, std::span(memory_).subspan(offset, data.size()));
    }
    void fence() override {}

   private:
    std::vector<std::byte> memory_;
};

class LocalNeighborhood final : public Neighborhood {
   public:
    LocalNeighborhood(std::span<const Rank> sources, std::span<const Rank> destinations)
        : sources_(sources.begin(), sources.end()), destinations_(destinations.begin(), destinations.end()) {
        require_self(sources);
        require_self(destinations);
        require(sources.size() == destinations.size() && sources.size() <= 1, "who sends must be received from");
    }

    std::span<const Rank> sources() const override { return sources_; }
    std::span<const Rank> destinations() const override { return destinations_; }
    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        if (!sources_.empty()) copy(send, receive);
    }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                   std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override {
        require(send_counts.size() == sources_.size(), "a count for each neighbor is needed");
        copy_counted(send, send_counts, receive, receive_counts);
    }

   private:
    std::vector<Rank> sources_;
    std::vector<Rank> destinations_;
};

/// Messages that were sent and not yet received, by tag.
using Mailboxes = std::map<int, std::deque<std::vector<std::byte>>>;

class LocalPersistentSend final : public PersistentSend {
   public:
    LocalPersistentSend(std::shared_ptr<Mailboxes> mailboxes, std::size_t bytes, std::span<const Rank> destinations,
                        int tag)
        : mailboxes_(std::move(mailboxes)), buffer_(bytes), copies_(destinations.size()), tag_(tag) {
        require_self(destinations);
    }

    std::span<std::byte> buffer() override { return buffer_; }
    void start() override {
        for (std::size_t i = 0; i < copies_; ++i) (*mailboxes_)[tag_].push_back(buffer_);
    }
    bool done() override { return true; }
    void wait() override {}

   private:
    std::shared_ptr<Mailboxes> mailboxes_;
    std::vector<std::byte> buffer_;
    std::size_t copies_;
    int tag_;
};

class LocalCommunicator final : public Communicator {
   public:
    Rank rank() const override { return Rank{0}; }
    std::int32_t size() const override { return 1; }
    std::string transport() const override { return "local"; }
    std::int32_t host_rank() const override { return 0; }
    std::int32_t host_size() const override { return 1; }

    void barrier() override {}
    void reduce(std::span<std::uint64_t> /*values*/, Reduction /*reduction*/) override {}
    void broadcast(std::span<std::byte> /*data*/, Rank root) override { require_self({&root, 1}); }
    void allgather(std::span<const std::byte> send, std::span<std::byte> receive) override { copy(send, receive); }
    void allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                    std::span<const std::size_t> counts) override {
        const std::size_t size = send.size();
        copy_counted(send, {&size, 1}, receive, counts);
    }
    void gatherv(std::span<const std::byte> send, std::span<std::byte> receive, std::span<const std::size_t> counts,
                 Rank root) override {
        require_self({&root, 1});
        allgatherv(send, receive, counts);
    }
    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override { copy(send, receive); }
    std::unique_ptr<Request> start_alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        copy(send, receive);
        return std::make_unique<DoneRequest>();
    }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                   std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override {
        require(send_counts.size() == 1, "a count for each process is needed");
        copy_counted(send, send_counts, receive, receive_counts);
    }
    std::unique_ptr<Request> start_sum(std::span<std::uint64_t> /*values*/) override {
        return std::make_unique<DoneRequest>();
    }

    void send(std::span<const std::byte> data, Rank to, int tag) override {
        require_self({&to, 1});
        (*mailboxes_)[tag].emplace_back(data.begin(), data.end());
    }
    bool try_receive(int tag, Message& message) override {
        const auto mailbox = mailboxes_->find(tag);
        if (mailbox == mailboxes_->end() || mailbox->second.empty()) return false;
        message.from = Rank{0};
        message.data = std::move(mailbox->second.front());
        mailbox->second.pop_front();
        return true;
    }
    void complete_sends() override {}
    std::unique_ptr<PersistentSend> make_persistent_send(std::size_t bytes, std::span<const Rank> destinations,
                                                         int tag) override {
        return std::make_unique<LocalPersistentSend>(mailboxes_, bytes, destinations, tag);
    }

    std::unique_ptr<Window> make_window(std::size_t bytes) override { return std::make_unique<LocalWindow>(bytes); }
    std::unique_ptr<Neighborhood> make_neighborhood(std::span<const Rank> sources,
                                                    std::span<const Rank> destinations) override {
        return std::make_unique<LocalNeighborhood>(sources, destinations);
    }

    [[noreturn]] void abort(int status) override { std::_Exit(status); }

   private:
    // Shared, so that a persistent send may outlive the communicator that made it.
    std::shared_ptr<Mailboxes> mailboxes_ = std::make_shared<Mailboxes>();
};

}  // namespace

std::shared_ptr<Communicator> make_local_communicator() { return std::make_shared<LocalCommunicator>(); }

}  // namespace ranvier::comm
