#include "comm/mpi/group.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>

namespace ranvier::comm::mpi {

namespace {

/// The processors allowed for this process, as bits.
using ProcessorMask = std::array<std::uint64_t, CPU_SETSIZE / 64>;

ProcessorMask allowed_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    ProcessorMask mask{};
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        // More processors than the set can hold: only the count matters.
        mask.fill(~std::uint64_t{0});
        return mask;
    }
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(i, &set)) mask[i / 64] |= std::uint64_t{1} << i % 64;
    }
    return mask;
}

constexpr int piece_tag = 0;

}  // namespace

void Idle::pass() {
    constexpr int turns = 20;
    constexpr int yields = 20;
    // A sleep takes at least the resolution of the system's timers, about 50 us.
    constexpr std::chrono::nanoseconds moment{1};
    if (turns_ < turns + yields) ++turns_;
    if (turns_ <= turns) return;
    if (turns_ < turns + yields) {
        // Not sufficient where each process is in a separate session, as under MPICH's mpiexec: then Linux schedules
        // each session as a group, and a process yields only within its group.
        sched_yield();
    } else {
        std::this_thread::sleep_for(moment);
    }
}

Group::Group(MPI_Comm original, std::size_t most, std::shared_ptr<const Group> of)
    : whole(std::move(of)),
      collective(CommunicatorHandle::duplicate(original)),
      point_to_point(CommunicatorHandle::duplicate(original)),
      host(CommunicatorHandle::of_host(original)),
      most_bytes(most) {
    check_mpi(MPI_Comm_rank(collective.get(), &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(collective.get(), &size), "MPI_Comm_size");
    if (!whole) expect_threads(1);
    open_host_barrier();
}

double Group::seconds_asleep() const {
    double seconds = host_barrier->seconds_asleep();
    for (const auto& part : parts) {
        if (const auto group = part.lock()) seconds += group->seconds_asleep();
    }
    return seconds;
}

void Group::open_host_barrier() {
    int processes = 1;
    check_mpi(MPI_Comm_size(host.get(), &processes), "MPI_Comm_size");
    if (processes == 1) return;
    // Where the system does not let them share memory, as between users, they poll with short sleeps.
    barrier_memory = share_on_host(HostBarrier::memory_bytes());
    if (barrier_memory) host_barrier->begin(barrier_memory->bytes(), static_cast<std::uint32_t>(processes));
}

std::unique_ptr<HostMemory> Group::share_on_host(std::size_t bytes) const {
    int here = 0;
    check_mpi(MPI_Comm_rank(host.get(), &here), "MPI_Comm_rank");
    auto memory = std::make_unique<HostMemory>();
    HostMemory::Address address{};
    if (here == 0) address = memory->make(bytes);
    check_mpi(MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, host.get()), "MPI_Bcast");
    int found = (here == 0 ? address.process != 0 : memory->join(address, bytes)) ? 1 : 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MIN, host.get()), "MPI_Allreduce");
    memory->close();
    return found != 0 ? std::move(memory) : nullptr;
}

void Group::expect_threads(std::int32_t threads) {
    // Processes of a host may be bound to separate processors or all to the same ones.
    ProcessorMask processors = allowed_processors();
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, processors.data(), static_cast<int>(processors.size()), MPI_UINT64_T, MPI_BOR,
                            host.get()),
              "MPI_Allreduce");
    std::int64_t busy = threads;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &busy, 1, MPI_INT64_T, MPI_SUM, host.get()), "MPI_Allreduce");
    std::int64_t available = 0;
    for (const std::uint64_t bits : processors) available += std::popcount(bits);
    int exceeds = busy > available ? 1 : 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &exceeds, 1, MPI_INT, MPI_MAX, collective.get()), "MPI_Allreduce");
    oversubscribed = exceeds != 0;
}

bool Group::test(std::span<MPI_Request> requests) {
    int done = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    return done != 0;
}

void Group::wait(std::span<MPI_Request> requests) const {
    if (!yields_processors()) {
        check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        return;
    }
    // One test may move only a few messages, and others may wait for many.
    constexpr int tests_per_turn = 32;
    Idle idle;
    for (;;) {
        for (int i = 0; i < tests_per_turn; ++i) {
            if (test(requests)) return;
        }
        idle.pass();
    }
}

std::optional<std::uint64_t> Group::arrive() const {
    if (!yields_processors() || !host_barrier->is_open()) return std::nullopt;
    return host_barrier->arrive();
}

void Group::wait_for_all(std::span<MPI_Request> requests, std::optional<std::uint64_t> arrivals) const {
    // MPI forwards messages through this process to other hosts only while it is called.
    constexpr std::chrono::milliseconds longest{1};
    while (arrivals && !host_barrier->all_arrived(*arrivals)) {
        if (test(requests)) return;
        host_barrier->sleep(*arrivals, longest);
    }
    wait(requests);
}

void Group::barrier() const {
    run(
        "MPI_Barrier", [&] { return MPI_Barrier(collective.get()); },
        [&](MPI_Request* request) { return MPI_Ibarrier(collective.get(), request); });
}

MpiRequest::~MpiRequest() {
    // The caller's buffers are destroyed soon.
    try {
        if (mpi_is_running()) wait();
        // NOLINTNEXTLINE(bugprone-empty-catch): a failure here is a failure of the other processes too
    } catch (const std::exception&) {
    }
}

void MpiRequest::send(std::span<const std::byte> data, int to) {
    group_->for_each_piece(data, [&](std::span<const std::byte> piece) {
        check_mpi(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, piece_tag,
                            group_->collective.get(), add()),
                  "MPI_Isend");
    });
}

void MpiRequest::receive(std::span<std::byte> data, int from) {
    group_->for_each_piece(data, [&](std::span<std::byte> piece) {
        check_mpi(MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from, piece_tag,
                            group_->collective.get(), add()),
                  "MPI_Irecv");
    });
}

void Sections::divide(std::span<const std::size_t> counts, std::size_t longest_short) {
    counts_.resize(counts.size());
    offsets_.resize(counts.size());
    places_.resize(counts.size());
    long_.clear();
    short_bytes_ = 0;
    std::size_t place = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        places_[i] = place;
        offsets_[i] = static_cast<int>(short_bytes_);
        if (counts[i] > longest_short) {
            counts_[i] = 0;
            long_.push_back({i, place, counts[i]});
        } else {
            counts_[i] = static_cast<int>(counts[i]);
            short_bytes_ += counts[i];
        }
        place += counts[i];
    }
}

const std::byte* Sections::pack(std::span<const std::byte> data) {
    if (long_.empty()) return place(data);
    packed_.resize(short_bytes_);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        const auto section = data.subspan(places_[i], static_cast<std::size_t>(counts_[i]));
        std::copy(section.begin(), section.end(), packed_.begin() + offsets_[i]);
    }
    return place(std::span<const std::byte>(packed_));
}

std::byte* Sections::room(std::span<std::byte> data) {
    if (long_.empty()) return place(data);
    packed_.resize(short_bytes_);
    return place(std::span(packed_));
}

void Sections::unpack(std::span<std::byte> data) const {
    if (long_.empty()) return;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        std::copy_n(packed_.begin() + offsets_[i], counts_[i], data.subspan(places_[i]).begin());
    }
}

}  // namespace ranvier::comm::mpi
