#include "comm/mirror_communicator.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"

namespace ranvier::comm {

namespace {

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.size() != to.size()) throw InternalError("dry run: what is sent is not as long as what is expected");
    std::copy(from.begin(), from.end(), to.begin());
}

std::span<std::byte> part(std::span<std::byte> whole, std::size_t begin, std::size_t size) {
    if (begin > whole.size() || size > whole.size() - begin) throw InternalError("dry run: beyond the end of a buffer");
    return {whole.data() + begin, size};
}

class DoneRequest final : public Request {
   public:
    bool test() override { return true; }
    void wait() override {}
};

class MirrorWindow final : public Window {
   public:
    explicit MirrorWindow(std::size_t bytes) : memory_(bytes) {}

    std::span<std::byte> memory() override { return memory_; }
    void put(std::span<const std::byte> data, Rank /*target*/, std::size_t offset) override {
        copy(data, part(memory_, offset, data.size()));
    }
    void fence() override {}

   private:
    std::vector<std::byte> memory_;
};

/// The processes that need spikes of this one are taken to be those that send it spikes.
class MirrorNeighborhood final : public Neighborhood {
   public:
    MirrorNeighborhood(std::span<const Rank> sources, std::span<const Rank> destinations)
        : sources_(sources.begin(), sources.end()), destinations_(destinations.begin(), destinations.end()) {
        if (sources_ != destinations_) throw InternalError("dry run: neighbors are not mutual");
    }

    std::span<const Rank> sources() const override { return sources_; }
    std::span<const Rank> destinations() const override { return destinations_; }
    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override { copy(send, receive); }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> /*send_counts*/,
                   std::span<std::byte> receive, std::span<const std::size_t> /*receive_counts*/) override {
        copy(send, receive);
    }

   private:
    std::vector<Rank> sources_;
    std::vector<Rank> destinations_;
};

/// Messages that were sent, and so arrive, by tag.
using Mailboxes = std::map<int, std::deque<Message>>;

class MirrorPersistentSend final : public PersistentSend {
   public:
    MirrorPersistentSend(std::shared_ptr<Mailboxes> mailboxes, std::size_t bytes, std::span<const Rank> destinations,
                         int tag)
        : mailboxes_(std::move(mailboxes)),
          buffer_(bytes),
          destinations_(destinations.begin(), destinations.end()),
          tag_(tag) {}

    std::span<std::byte> buffer() override { return buffer_; }
    void start() override {
        for (const Rank rank : destinations_) (*mailboxes_)[tag_].push_back({rank, buffer_});
    }
    bool done() override { return true; }
    void wait() override {}

   private:
    std::shared_ptr<Mailboxes> mailboxes_;
    std::vector<std::byte> buffer_;
    std::vector<Rank> destinations_;
    int tag_;
};

class MirrorCommunicator final : public Communicator {
   public:
    explicit MirrorCommunicator(std::int32_t size) : size_(size) {}

    Rank rank() const override { return Rank{0}; }
    std::int32_t size() const override { return size_; }
    std::string transport() const override { return "dry run"; }
    bool is_dry_run() const override { return true; }
    std::int32_t host_rank() const override { return 0; }
    std::int32_t host_size() const override { return 1; }

    void barrier() override {}
    void reduce(std::span<std::uint64_t> values, Reduction reduction) override {
        if (reduction != Reduction::sum) return;
        for (std::uint64_t& value : values) value *= static_cast<std::uint64_t>(size_);
    }
    void broadcast(std::span<std::byte> /*data*/, Rank /*root*/) override {}
    void allgather(std::span<const std::byte> send, std::span<std::byte> receive) override {
        for (std::int32_t rank = 0; rank < size_; ++rank) {
            copy(send, part(receive, static_cast<std::size_t>(rank) * send.size(), send.size()));
        }
    }
    void allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                    std::span<const std::size_t> counts) override {
        std::size_t begin = 0;
        for (const std::size_t count : counts) {
            copy(send, part(receive, begin, count));
            begin += count;
        }
    }
    void gatherv(std::span<const std::byte> send, std::span<std::byte> receive, std::span<const std::size_t> counts,
                 Rank /*root*/) override {
        allgatherv(send, receive, counts);
    }
    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override { copy(send, receive); }
    std::unique_ptr<Request> start_alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        copy(send, receive);
        return std::make_unique<DoneRequest>();
    }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> /*send_counts*/,
                   std::span<std::byte> receive, std::span<const std::size_t> /*receive_counts*/) override {
        copy(send, receive);
    }
    std::unique_ptr<Request> start_sum(std::span<std::uint64_t> values) override {
        reduce(values, Reduction::sum);
        return std::make_unique<DoneRequest>();
    }

    void send(std::span<const std::byte> data, Rank to, int tag) override {
        (*mailboxes_)[tag].push_back({to, {data.begin(), data.end()}});
    }
    bool try_receive(int tag, Message& message) override {
        const auto mailbox = mailboxes_->find(tag);
        if (mailbox == mailboxes_->end() || mailbox->second.empty()) return false;
        message = std::move(mailbox->second.front());
        mailbox->second.pop_front();
        return true;
    }
    void complete_sends() override {}
    std::unique_ptr<PersistentSend> make_persistent_send(std::size_t bytes, std::span<const Rank> destinations,
                                                         int tag) override {
        return std::make_unique<MirrorPersistentSend>(mailboxes_, bytes, destinations, tag);
    }

    std::unique_ptr<Window> make_window(std::size_t bytes) override { return std::make_unique<MirrorWindow>(bytes); }
    std::unique_ptr<Neighborhood> make_neighborhood(std::span<const Rank> sources,
                                                    std::span<const Rank> destinations) override {
        return std::make_unique<MirrorNeighborhood>(sources, destinations);
    }

    [[noreturn]] void abort(int status) override { std::_Exit(status); }

   private:
    std::int32_t size_;
    std::shared_ptr<Mailboxes> mailboxes_ = std::make_shared<Mailboxes>();
};

}  // namespace

std::shared_ptr<Communicator> make_mirror_communicator(std::int32_t size) {
    if (size < 1) {
        throw ValueOutOfBoundsError({.object = "ranks of a dry run",
                                     .value = std::to_string(size),
                                     .bound = "there must be at least one",
                                     .remedy = "give the number of processes that the run would have"});
    }
    return std::make_shared<MirrorCommunicator>(size);
}

}  // namespace ranvier::comm
