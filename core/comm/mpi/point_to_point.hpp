#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/mpi/group.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// Messages between two processes. One that is longer than what an MPI call carries goes in pieces: a piece of exactly
/// that length says that another one follows.
class Post {
   public:
    explicit Post(std::shared_ptr<const Group> group) : group_(std::move(group)) {}
    Post(const Post&) = delete;
    Post& operator=(const Post&) = delete;
    ~Post();

    void send(std::span<const std::byte> data, int to, int tag);
    bool try_receive(int tag, Message& message);
    void complete_sends();

   private:
    void send_piece(std::span<const std::byte> data, int to, int tag);
    /// Looks at some of those under way, in turn, so that this takes no longer when there are many.
    void collect_sent();
    void drop(std::size_t index);
    /// Nothing has arrived. A caller that asks again at once is waiting, and takes the processor from others.
    void pass_if_waiting();
    bool receive_piece(int from, int tag, Message& message, std::size_t& received);

    std::shared_ptr<const Group> group_;
    // Two lists of one length: MPI takes requests as an array.
    std::vector<MPI_Request> requests_;
    std::vector<std::vector<std::byte>> copies_;
    std::vector<std::vector<std::byte>> spare_;
    std::size_t next_to_look_at_ = 0;
    Idle idle_;
    std::chrono::steady_clock::time_point last_in_vain_;
};

std::unique_ptr<PersistentSend> make_mpi_persistent_send(std::shared_ptr<const Group> group, std::size_t bytes,
                                                         std::span<const Rank> destinations, int tag);

}  // namespace ranvier::comm::mpi
