#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/mpi/group.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// Messages between two processes. A message that exceeds the limit of an MPI call is sent in pieces: a piece of
/// exactly that length is followed by another one.
class PointToPointMessages {
   public:
    explicit PointToPointMessages(std::shared_ptr<const Group> group) : group_(std::move(group)) {}
    PointToPointMessages(const PointToPointMessages&) = delete;
    PointToPointMessages& operator=(const PointToPointMessages&) = delete;
    ~PointToPointMessages();

    void send(std::span<const std::byte> data, int to, int tag);
    bool try_receive(int tag, Message& message);
    bool poll(int tag, Message& message);
    void complete_sends();

   private:
    void send_piece(std::span<const std::byte> data, int to, int tag);
    /// Tests some of the requests in turn, so that the cost does not grow with their number.
    void collect_sent();
    void drop(std::size_t index);
    /// No message has arrived. A caller that retries at once is waiting, and should yield its processor.
    void pass_if_waiting();
    bool receive_piece(int from, int tag, Message& message, std::size_t& received);

    std::shared_ptr<const Group> group_;
    // Two lists of the same length: MPI takes requests as an array.
    std::vector<MPI_Request> requests_;
    std::vector<std::vector<std::byte>> copies_;
    std::vector<std::vector<std::byte>> spare_;
    std::size_t next_to_test_ = 0;
    Idle idle_;
    std::chrono::steady_clock::time_point last_empty_poll_;
};

std::unique_ptr<PersistentSend> make_mpi_persistent_send(std::shared_ptr<const Group> group, std::size_t bytes,
                                                         std::span<const Rank> destinations, int tag);

}  // namespace ranvier::comm::mpi
