#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "comm/mpi/handles.hpp"
#include "comm/mpi/host_barrier.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// Passes the time of one wait: spins at first, then leaves the processor to others, then sleeps for moments.
class Idle {
   public:
    void pass();

   private:
    int turns_ = 0;
};

/// What all that belongs to one communicator shares. It lives as long as the last of them.
struct Group {
    Group(MPI_Comm original, std::size_t most_bytes);

    /// Collectives, and pieces of collectives that are too large for one.
    CommunicatorHandle collective;
    CommunicatorHandle point_to_point;
    CommunicatorHandle host;
    int rank = 0;
    int size = 1;
    /// The most that one MPI call carries: MPI counts in 32 bits.
    std::size_t most_bytes;
    /// There are more busy threads than processors on some host. The same on all processes.
    bool oversubscribed = false;
    /// Other programs take processors from some process. The same on all processes.
    bool crowded = false;
    /// Where the processes of a host sleep while they wait in a collective. Mutable, since waiting changes nothing
    /// else.
    std::unique_ptr<HostBarrier> host_barrier = std::make_unique<HostBarrier>();

    /// Sets `oversubscribed`. @note Collective.
    void expect_threads(std::int32_t threads);
    /// Whether a process that waits must leave its processor to others. MPI's blocking calls do not (MPICH's never,
    /// Open MPI's when told before it starts), so that all collectives are non-blocking ones then. These do not match
    /// blocking ones.
    bool leaves_processors() const { return oversubscribed || crowded; }

    void wait(std::span<MPI_Request> requests) const;
    static bool test(std::span<MPI_Request> requests);
    /// Counts this process as one that has come to a collective. What is returned is for wait_for_all(): nothing if
    /// processes are not to sleep. By all, once for each collective.
    std::optional<std::uint64_t> arrive() const;
    /// As wait(), for a collective that has been started.
    void wait_for_all(std::span<MPI_Request> requests, std::optional<std::uint64_t> arrivals) const;

    /// Calls one of two forms of a collective: `blocking()` or `start(MPI_Request*)`.
    template <class Blocking, class Start>
    void run(const char* call, const Blocking& blocking, const Start& start) const {
        if (!leaves_processors()) {
            check_mpi(blocking(), call);
        } else {
            MPI_Request request = MPI_REQUEST_NULL;
            check_mpi(start(&request), call);
            wait_for_all(std::span(&request, 1), arrive());
        }
    }

    void barrier() const;

    /// Calls `do_piece(span)` with pieces of `data` that one MPI call can carry.
    template <class Byte, class DoPiece>
    void for_each_piece(std::span<Byte> data, const DoPiece& do_piece) const {
        for (std::size_t begin = 0; begin < data.size(); begin += most_bytes) {
            do_piece(data.subspan(begin, std::min(most_bytes, data.size() - begin)));
        }
    }

   private:
    void open_host_barrier();
};

/// Operations under way on buffers of the caller's.
class MpiRequest final : public Request {
   public:
    explicit MpiRequest(std::shared_ptr<const Group> group) : group_(std::move(group)) {}
    MpiRequest(const MpiRequest&) = delete;
    MpiRequest& operator=(const MpiRequest&) = delete;
    ~MpiRequest() override;

    bool test() override { return Group::test(requests_); }
    void wait() override { group_->wait_for_all(requests_, arrivals_); }

    /// One more, for MPI to fill in.
    MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
    /// All that belongs to a collective has been started. By all processes.
    void arrive() { arrivals_ = group_->arrive(); }
    /// Both on the communicator for collectives, cut into pieces.
    void send(std::span<const std::byte> data, int to);
    void receive(std::span<std::byte> data, int from);

   private:
    std::shared_ptr<const Group> group_;
    std::vector<MPI_Request> requests_;
    std::optional<std::uint64_t> arrivals_;
};

/// The place of a buffer, for MPI: MPICH refuses the null pointer that an empty one has where a partner's is not empty.
template <class Byte>
Byte* place(std::span<Byte> data) {
    static std::byte nowhere{};  // NOLINT(misc-const-correctness): some buffers are not const
    return data.empty() ? &nowhere : data.data();
}

/// How the sections of a buffer, one for each partner, travel in a collective with 32-bit counts and offsets: long ones go
/// as messages of their own, on which both ends agree since both know the length; then the short ones fit, if they are
/// packed.
class Sections {
   public:
    struct Long {
        std::size_t index;
        std::size_t offset;
        std::size_t bytes;
    };

    /// @param longest_short what `size()` partners can have without exceeding what one call carries
    void divide(std::span<const std::size_t> counts, std::size_t longest_short);

    const int* counts() const { return counts_.data(); }
    const int* offsets() const { return offsets_.data(); }
    std::span<const Long> long_ones() const { return long_; }

    /// What to send in the collective: `data` itself when all sections are short.
    const std::byte* pack(std::span<const std::byte> data);
    /// Where to receive in the collective, and what puts it into its places afterwards.
    std::byte* room(std::span<std::byte> data);
    void unpack(std::span<std::byte> data) const;

   private:
    std::vector<int> counts_;
    std::vector<int> offsets_;
    std::vector<std::size_t> places_;  ///< of the sections in the whole buffer
    std::vector<Long> long_;
    std::vector<std::byte> packed_;
    std::size_t short_bytes_ = 0;
};

/// Both sides of an exchange of sections; kept for their memory.
struct SectionPair {
    Sections send;
    Sections receive;
};

}  // namespace ranvier::comm::mpi
