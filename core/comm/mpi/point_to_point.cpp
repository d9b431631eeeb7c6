#include "comm/mpi/point_to_point.hpp"

#include <algorithm>
#include <utility>

namespace ranvier::comm::mpi {

namespace {

/// Requests whose messages may still be in transit keep their buffer until the process ends: waiting for a receiver
/// that never comes would hang.
void leave_to_mpi(std::vector<std::byte>&& buffer) { static_cast<void>(new std::vector<std::byte>(std::move(buffer))); }

class MpiPersistentSend final : public PersistentSend {
   public:
    MpiPersistentSend(std::shared_ptr<const Group> group, std::size_t bytes, std::span<const Rank> destinations,
                      int tag)
        : group_(std::move(group)), buffer_(bytes) {
        for (const Rank to : destinations) add_pieces(to.value, tag);
    }
    MpiPersistentSend(const MpiPersistentSend&) = delete;
    MpiPersistentSend& operator=(const MpiPersistentSend&) = delete;

    ~MpiPersistentSend() override {
        if (!mpi_is_running()) return;
        int all_done = 0;
        if (MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all_done, MPI_STATUSES_IGNORE) !=
                MPI_SUCCESS ||
            all_done == 0) {
            leave_to_mpi(std::move(buffer_));
        }
        for (MPI_Request& request : requests_) MPI_Request_free(&request);
    }

    std::span<std::byte> buffer() override { return buffer_; }

    void start() override {
        if (requests_.empty()) return;
        check_mpi(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
    }

    bool done() override { return Group::test(requests_); }
    void wait() override { group_->wait(requests_); }

   private:
    void add_pieces(int to, int tag) {
        const auto add = [&](std::span<const std::byte> piece) {
            MPI_Request request = MPI_REQUEST_NULL;
            check_mpi(MPI_Send_init(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, tag,
                                    group_->point_to_point.get(), &request),
                      "MPI_Send_init");
            requests_.push_back(request);
        };
        group_->for_each_piece(std::span<const std::byte>(buffer_), add);
        if (buffer_.size() % group_->most_bytes == 0) add({});
    }

    std::shared_ptr<const Group> group_;
    std::vector<std::byte> buffer_;
    std::vector<MPI_Request> requests_;
};

}  // namespace

PointToPointMessages::~PointToPointMessages() {
    if (requests_.empty() || !mpi_is_running()) return;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        int done = 0;
        if (MPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0) continue;
        MPI_Request_free(&requests_[i]);
        leave_to_mpi(std::move(copies_[i]));
    }
}

void PointToPointMessages::send(std::span<const std::byte> data, int to, int tag) {
    group_->for_each_piece(data, [&](std::span<const std::byte> piece) { send_piece(piece, to, tag); });
    if (data.size() % group_->most_bytes == 0) send_piece({}, to, tag);
    collect_sent();
}

void PointToPointMessages::send_piece(std::span<const std::byte> data, int to, int tag) {
    std::vector<std::byte> copy;
    if (!spare_.empty()) {
        copy = std::move(spare_.back());
        spare_.pop_back();
    }
    copy.assign(data.begin(), data.end());
    // Reserve first: nothing may throw between the start of the send and storing its buffer.
    requests_.reserve(requests_.size() + 1);
    copies_.push_back(std::move(copy));
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Isend(copies_.back().data(), static_cast<int>(data.size()), MPI_BYTE, to, tag,
                               group_->point_to_point.get(), &request);
    if (code != MPI_SUCCESS) copies_.pop_back();
    check_mpi(code, "MPI_Isend");
    requests_.push_back(request);
}

void PointToPointMessages::drop(std::size_t index) {
    // Large buffers are not kept, and only a few small ones.
    constexpr std::size_t most_spare = 64;
    constexpr std::size_t largest_spare = 16384;
    if (spare_.size() < most_spare && copies_[index].capacity() <= largest_spare) {
        spare_.push_back(std::move(copies_[index]));
    }
    std::swap(copies_[index], copies_.back());
    copies_.pop_back();
    requests_[index] = requests_.back();
    requests_.pop_back();
}

void PointToPointMessages::collect_sent() {
    constexpr std::size_t most_tests = 16;
    for (std::size_t tests = std::min(most_tests, requests_.size()); tests > 0; --tests) {
        if (next_to_test_ >= requests_.size()) next_to_test_ = 0;
        int done = 0;
        check_mpi(MPI_Test(&requests_[next_to_test_], &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) {
            drop(next_to_test_);
        } else {
            ++next_to_test_;
        }
    }
}

bool PointToPointMessages::receive_piece(int from, int tag, Message& message, std::size_t& received) {
    int arrived = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    check_mpi(MPI_Improbe(from, tag, group_->point_to_point.get(), &arrived, &handle, &status), "MPI_Improbe");
    if (arrived == 0) return false;
    int bytes = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    message.from = Rank{status.MPI_SOURCE};
    const std::size_t before = message.data.size();
    message.data.resize(before + static_cast<std::size_t>(bytes));
    check_mpi(MPI_Mrecv(message.data.data() + before, bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE), "MPI_Mrecv");
    received = static_cast<std::size_t>(bytes);
    return true;
}

void PointToPointMessages::pass_if_waiting() {
    // Longer than a poll of the other tags, shorter than work between two polls.
    constexpr std::chrono::microseconds at_once{5};
    if (std::chrono::steady_clock::now() - last_empty_poll_ > at_once) idle_ = Idle();
    idle_.pass();
    last_empty_poll_ = std::chrono::steady_clock::now();
}

bool PointToPointMessages::try_receive(int tag, Message& message) {
    if (poll(tag, message)) {
        idle_ = Idle();
        return true;
    }
    if (group_->yields_processors()) pass_if_waiting();
    return false;
}

bool PointToPointMessages::poll(int tag, Message& message) {
    if (!requests_.empty()) collect_sent();
    message.data.clear();
    std::size_t received = 0;
    if (!receive_piece(MPI_ANY_SOURCE, tag, message, received)) return false;
    while (received == group_->most_bytes) {
        Idle idle;
        while (!receive_piece(message.from.value, tag, message, received)) idle.pass();
    }
    return true;
}

void PointToPointMessages::complete_sends() {
    group_->wait(requests_);
    requests_.clear();
    copies_.clear();
    next_to_test_ = 0;
}

std::unique_ptr<PersistentSend> make_mpi_persistent_send(std::shared_ptr<const Group> group, std::size_t bytes,
                                                         std::span<const Rank> destinations, int tag) {
    return std::make_unique<MpiPersistentSend>(std::move(group), bytes, destinations, tag);
}

}  // namespace ranvier::comm::mpi
