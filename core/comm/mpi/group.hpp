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
#include "comm/mpi/host_memory.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// One wait: spins first, then yields the processor, then sleeps briefly.
class Idle {
   public:
    void pass();

   private:
    int turns_ = 0;
};

/// State shared by all objects of one communicator; destroyed with the last of them.
struct Group {
    /// @param whole the group of which this is a part, if any
    Group(MPI_Comm original, std::size_t most_bytes, std::shared_ptr<const Group> whole = nullptr);

    /// Null, or the group that was divided: its processes wait alike in all parts.
    std::shared_ptr<const Group> whole;
    /// The parts into which this group was divided.
    mutable std::vector<std::weak_ptr<const Group>> parts;
    /// Collectives, and pieces of collectives that exceed one call.
    CommunicatorHandle collective;
    CommunicatorHandle point_to_point;
    CommunicatorHandle host;
    int rank = 0;
    int size = 1;
    /// Limit of one MPI call in bytes: MPI counts in 32 bits.
    std::size_t most_bytes;
    /// Some host has more busy threads than processors. The same on all processes.
    bool oversubscribed = false;
    /// Other programs compete with some process for processors. The same on all processes.
    bool crowded = false;
    /// Null if the host has no other processes of the group, or if they cannot share memory.
    std::unique_ptr<HostMemory> barrier_memory;
    /// The barrier in which processes of a host sleep while they wait in a collective. Mutable, since waiting does not
    /// change the group otherwise.
    std::unique_ptr<HostBarrier> host_barrier = std::make_unique<HostBarrier>();

    /// Time that this process has slept in collectives of this group and its parts.
    double seconds_asleep() const;
    /// Sets `oversubscribed`. @note Collective.
    void expect_threads(std::int32_t threads);
    /// Whether a waiting process must yield its processor. MPI's blocking calls do not (MPICH's never, Open MPI's only
    /// if configured before start-up), so all collectives are non-blocking then. These do not match blocking ones.
    bool yields_processors() const { return whole ? whole->yields_processors() : oversubscribed || crowded; }

    /// Memory shared by the processes of the host; nothing if the system does not let them. @note Collective on the host.
    std::unique_ptr<HostMemory> share_on_host(std::size_t bytes) const;

    void wait(std::span<MPI_Request> requests) const;
    static bool test(std::span<MPI_Request> requests);
    /// Counts this process as arrived at a collective. The result is for wait_for_all(); empty if processes do not
    /// sleep. Called by all processes, once for each collective.
    std::optional<std::uint64_t> arrive() const;
    /// As wait(), for a collective that has been started.
    void wait_for_all(std::span<MPI_Request> requests, std::optional<std::uint64_t> arrivals) const;

    /// Calls one of two forms of a collective: `blocking()` or `start(MPI_Request*)`.
    template <class Blocking, class Start>
    void run(const char* call, const Blocking& blocking, const Start& start) const {
        if (!yields_processors()) {
            check_mpi(blocking(), call);
        } else {
            MPI_Request request = MPI_REQUEST_NULL;
            check_mpi(start(&request), call);
            wait_for_all(std::span(&request, 1), arrive());
        }
    }

    void barrier() const;

    /// Calls `do_piece(span)` with pieces of `data` that fit one MPI call.
    template <class Byte, class DoPiece>
    void for_each_piece(std::span<Byte> data, const DoPiece& do_piece) const {
        for (std::size_t begin = 0; begin < data.size(); begin += most_bytes) {
            do_piece(data.subspan(begin, std::min(most_bytes, data.size() - begin)));
        }
    }

   private:
    void open_host_barrier();
};

/// The address of a buffer for MPI: MPICH rejects the null pointer of an empty buffer when a partner's is not empty.
template <class Byte>
Byte* place(std::span<Byte> data) {
    static std::byte nowhere{};  // NOLINT(misc-const-correctness): some buffers are not const
    return data.empty() ? &nowhere : data.data();
}

/// The sections of a buffer, one for each partner, in a collective with 32-bit counts and offsets: long ones are sent
/// as separate messages, on which both ends agree since both know the length; the short ones fit after packing.
class Sections {
   public:
    struct Long {
        std::size_t index;
        std::size_t offset;
        std::size_t bytes;
    };

    /// @param longest_short length that `size()` partners can have without exceeding the limit of one call
    void divide(std::span<const std::size_t> counts, std::size_t longest_short);

    const int* counts() const { return counts_.data(); }
    const int* offsets() const { return offsets_.data(); }
    std::span<const Long> long_ones() const { return long_; }

    /// The send buffer of the collective: `data` itself if all sections are short.
    const std::byte* pack(std::span<const std::byte> data);
    /// The receive buffer of the collective; unpack() copies it into place.
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

/// Operations in progress on buffers of the caller.
class MpiRequest final : public Request {
   public:
    explicit MpiRequest(std::shared_ptr<const Group> group) : group_(std::move(group)) {}
    MpiRequest(const MpiRequest&) = delete;
    MpiRequest& operator=(const MpiRequest&) = delete;
    ~MpiRequest() override;

    bool test() override { return Group::test(requests_); }
    void wait() override { group_->wait_for_all(requests_, arrivals_); }

    /// For the counts and offsets of a collective, which MPI may read until it is complete.
    Sections& sections() { return sections_; }
    /// Another request, to be set by MPI.
    MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
    /// Call after all operations of a collective have been started. Called by all processes.
    void arrive() { arrivals_ = group_->arrive(); }
    /// Both on the communicator for collectives, split into pieces.
    void send(std::span<const std::byte> data, int to);
    void receive(std::span<std::byte> data, int from);

   private:
    std::shared_ptr<const Group> group_;
    Sections sections_;
    std::vector<MPI_Request> requests_;
    std::optional<std::uint64_t> arrivals_;
};

/// Both sides of an exchange of sections; kept to reuse their memory.
struct SectionPair {
    Sections send;
    Sections receive;
};

}  // namespace ranvier::comm::mpi
