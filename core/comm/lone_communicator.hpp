#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/comm/communicator.hpp"

/// Base of communicators without other processes: a single process, and a dry run of many.
namespace ranvier::comm {

/// @throws InternalError unless it holds
void require(bool holds, const char* what);
/// @throws InternalError unless both are equally long
void copy(std::span<const std::byte> from, std::span<std::byte> to);
/// @throws InternalError beyond the end
std::span<std::byte> part(std::span<std::byte> whole, std::size_t begin, std::size_t size);

/// An operation that is complete from the start.
class DoneRequest final : public Request {
   public:
    bool test() override { return true; }
    void wait() override {}
};

/// Sent messages that are not yet received, by tag.
class Mailboxes {
   public:
    void post(int tag, Message message) { waiting_[tag].push_back(std::move(message)); }
    bool take(int tag, Message& message) {
        const auto mailbox = waiting_.find(tag);
        if (mailbox == waiting_.end() || mailbox->second.empty()) return false;
        message = std::move(mailbox->second.front());
        mailbox->second.pop_front();
        return true;
    }

   private:
    std::map<int, std::deque<Message>> waiting_;
};

/// Communicates with itself: data sent to a rank return from that rank.
class LoneCommunicator : public Communicator {
   public:
    Rank rank() const override { return Rank{0}; }
    std::int32_t host_rank() const override { return 0; }
    std::int32_t host_size() const override { return 1; }

    void barrier() override {}
    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override { copy(send, receive); }
    std::unique_ptr<Request> start_alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        copy(send, receive);
        return std::make_unique<DoneRequest>();
    }
    std::unique_ptr<Request> start_allgather(std::span<const std::byte> send, std::span<std::byte> receive) override {
        allgather(send, receive);
        return std::make_unique<DoneRequest>();
    }
    std::unique_ptr<Request> start_allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                                              std::span<const std::size_t> counts) override {
        allgatherv(send, receive, counts);
        return std::make_unique<DoneRequest>();
    }
    /// What is sent to each of the processes returns from there.
    std::uint64_t reduce_scatter(std::span<const std::uint64_t> values) override {
        require(values.size() == static_cast<std::size_t>(size()), "a number for each process is needed");
        return std::reduce(values.begin(), values.end());
    }
    std::unique_ptr<Request> start_sum(std::span<std::uint64_t> values) override {
        reduce(values, Reduction::sum);
        return std::make_unique<DoneRequest>();
    }

    void send(std::span<const std::byte> data, Rank to, int tag) override {
        require_rank(to);
        mailboxes_->post(tag, {to, {data.begin(), data.end()}});
    }
    bool try_receive(int tag, Message& message) override { return mailboxes_->take(tag, message); }
    void complete_sends() override {}
    std::unique_ptr<PersistentSend> make_persistent_send(std::size_t bytes, std::span<const Rank> destinations,
                                                         int tag) override {
        for (const Rank rank : destinations) require_rank(rank);
        return std::make_unique<MailboxSend>(mailboxes_, bytes, destinations, tag);
    }
    std::unique_ptr<SharedMemory> share_memory(std::size_t /*bytes*/) override { return nullptr; }
    std::unique_ptr<Window> make_window(std::span<const std::size_t> slots, WindowSync /*sync*/) override {
        return std::make_unique<LoneWindow>(slots, size());
    }

    [[noreturn]] void abort(int status) override { std::_Exit(status); }

   protected:
    static void require_below(Rank rank, std::int32_t ranks) {
        require(rank.value >= 0 && rank.value < ranks, "there is no such rank");
    }
    void require_rank(Rank rank) const { require_below(rank, size()); }

   private:
    class MailboxSend final : public PersistentSend {
       public:
        MailboxSend(std::shared_ptr<Mailboxes> mailboxes, std::size_t bytes, std::span<const Rank> destinations,
                    int tag)
            : mailboxes_(std::move(mailboxes)),
              buffer_(bytes),
              destinations_(destinations.begin(), destinations.end()),
              tag_(tag) {}

        std::span<std::byte> buffer() override { return buffer_; }
        void start() override {
            for (const Rank rank : destinations_) mailboxes_->post(tag_, {rank, buffer_});
        }
        bool done() override { return true; }
        void wait() override {}

       private:
        std::shared_ptr<Mailboxes> mailboxes_;
        std::vector<std::byte> buffer_;
        std::vector<Rank> destinations_;
        int tag_;
    };

    class LoneWindow final : public Window {
       public:
        LoneWindow(std::span<const std::size_t> slots, std::int32_t ranks) : ranks_(ranks) {
            for (const std::size_t bytes : slots) slots_.emplace_back(bytes);
        }

        std::span<std::byte> slot(std::size_t index) override { return slots_.at(index); }
        void step(const std::optional<Write>& write, const std::optional<Expected>& expected) override {
            if (expected) require_below(expected->origin, ranks_);
            if (!write) return;
            require_below(write->target, ranks_);
            copy(write->data, part(slots_.at(write->slot), 0, write->data.size()));
        }

       private:
        std::vector<std::vector<std::byte>> slots_;
        std::int32_t ranks_;
    };

    // Shared, so that a persistent send may outlive its communicator.
    std::shared_ptr<Mailboxes> mailboxes_ = std::make_shared<Mailboxes>();
};

}  // namespace ranvier::comm
