#include "comm/mpi/mpi_communicator.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <utility>

#include "comm/mpi/group.hpp"
#include "comm/mpi/neighborhood.hpp"
#include "comm/mpi/point_to_point.hpp"
#include "comm/mpi/window.hpp"

namespace ranvier::comm::mpi {

namespace {

MPI_Op operation(Reduction reduction) {
    switch (reduction) {
        case Reduction::sum:
            return MPI_SUM;
        case Reduction::least:
            return MPI_MIN;
        case Reduction::greatest:
            return MPI_MAX;
    }
    return MPI_OP_NULL;
}

class MpiCommunicator final : public Communicator {
   public:
    explicit MpiCommunicator(const std::shared_ptr<Group>& group)
        : group_(group),
          messages_(group),
          processes_(static_cast<std::size_t>(group->size)),
          longest_short_(group->most_bytes / processes_) {
        check_mpi(MPI_Comm_rank(group->host.get(), &host_rank_), "MPI_Comm_rank");
        check_mpi(MPI_Comm_size(group->host.get(), &host_size_), "MPI_Comm_size");
    }

    Rank rank() const override { return Rank{group_->rank}; }
    std::int32_t size() const override { return group_->size; }
    std::string transport() const override { return mpi_library_name(); }
    std::int32_t host_rank() const override { return host_rank_; }
    std::int32_t host_size() const override { return host_size_; }

    void expect_threads(std::int32_t threads) override { group_->expect_threads(threads); }
    void yield_processors(bool leave) override { group_->crowded = leave; }
    double seconds_asleep() const override { return group_->seconds_asleep(); }

    void barrier() override { group_->barrier(); }

    void reduce(std::span<std::uint64_t> values, Reduction reduction) override {
        // MPICH 4.0 compares unsigned numbers as signed ones. Flipping the upper bit gives the right order.
        constexpr std::uint64_t upper_bit = std::uint64_t{1} << 63;
        const bool compares = reduction != Reduction::sum;
        const MPI_Datatype type = compares ? MPI_INT64_T : MPI_UINT64_T;
        const auto turn = [&] {
            if (!compares) return;
            for (std::uint64_t& value : values) value ^= upper_bit;
        };
        turn();
        for_each_part(values, [&](std::uint64_t* part, int count) {
            group_->run(
                "MPI_Allreduce",
                [&] { return MPI_Allreduce(MPI_IN_PLACE, part, count, type, operation(reduction), all()); },
                [&](MPI_Request* request) {
                    return MPI_Iallreduce(MPI_IN_PLACE, part, count, type, operation(reduction), all(), request);
                });
        });
        turn();
    }

    std::uint64_t reduce_scatter(std::span<const std::uint64_t> values) override {
        std::uint64_t sum = 0;
        group_->run(
            "MPI_Reduce_scatter_block",
            [&] { return MPI_Reduce_scatter_block(values.data(), &sum, 1, MPI_UINT64_T, MPI_SUM, all()); },
            [&](MPI_Request* request) {
                return MPI_Ireduce_scatter_block(values.data(), &sum, 1, MPI_UINT64_T, MPI_SUM, all(), request);
            });
        return sum;
    }

    std::unique_ptr<Request> start_sum(std::span<std::uint64_t> values) override {
        auto requests = std::make_unique<MpiRequest>(group_);
        for_each_part(values, [&](std::uint64_t* part, int count) {
            check_mpi(MPI_Iallreduce(MPI_IN_PLACE, part, count, MPI_UINT64_T, MPI_SUM, all(), requests->add()),
                      "MPI_Iallreduce");
        });
        requests->arrive();
        return requests;
    }

    void broadcast(std::span<std::byte> data, Rank root) override {
        group_->for_each_piece(data, [&](std::span<std::byte> piece) {
            const int count = static_cast<int>(piece.size());
            group_->run(
                "MPI_Bcast", [&] { return MPI_Bcast(piece.data(), count, MPI_BYTE, root.value, all()); },
                [&](MPI_Request* request) {
                    return MPI_Ibcast(piece.data(), count, MPI_BYTE, root.value, all(), request);
                });
        });
    }

    void allgather(std::span<const std::byte> send, std::span<std::byte> receive) override {
        if (send.size() > group_->most_bytes) {
            broadcast_sections(send, receive, [&](std::size_t) { return send.size(); });
            return;
        }
        const int count = static_cast<int>(send.size());
        group_->run(
            "MPI_Allgather",
            [&] { return MPI_Allgather(place(send), count, MPI_BYTE, place(receive), count, MPI_BYTE, all()); },
            [&](MPI_Request* request) {
                return MPI_Iallgather(place(send), count, MPI_BYTE, place(receive), count, MPI_BYTE, all(), request);
            });
    }

    void allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                    std::span<const std::size_t> counts) override {
        // All processes know all counts, and decide alike.
        if (std::reduce(counts.begin(), counts.end()) > group_->most_bytes) {
            broadcast_sections(send, receive, [&](std::size_t r) { return counts[r]; });
            return;
        }
        Sections& in = sections_.receive;
        in.divide(counts, group_->most_bytes);
        const int count = static_cast<int>(send.size());
        group_->run(
            "MPI_Allgatherv",
            [&] {
                return MPI_Allgatherv(place(send), count, MPI_BYTE, place(receive), in.counts(), in.offsets(), MPI_BYTE,
                                      all());
            },
            [&](MPI_Request* request) {
                return MPI_Iallgatherv(place(send), count, MPI_BYTE, place(receive), in.counts(), in.offsets(),
                                       MPI_BYTE, all(), request);
            });
    }

    std::unique_ptr<Request> start_allgather(std::span<const std::byte> send, std::span<std::byte> receive) override {
        if (send.size() > group_->most_bytes) {
            return start_broadcasts(send, receive, [&](std::size_t) { return send.size(); });
        }
        auto request = std::make_unique<MpiRequest>(group_);
        const int count = static_cast<int>(send.size());
        check_mpi(MPI_Iallgather(place(send), count, MPI_BYTE, place(receive), count, MPI_BYTE, all(), request->add()),
                  "MPI_Iallgather");
        request->arrive();
        return request;
    }

    std::unique_ptr<Request> start_allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                                              std::span<const std::size_t> counts) override {
        if (std::reduce(counts.begin(), counts.end()) > group_->most_bytes) {
            return start_broadcasts(send, receive, [&](std::size_t r) { return counts[r]; });
        }
        auto request = std::make_unique<MpiRequest>(group_);
        Sections& in = request->sections();
        in.divide(counts, group_->most_bytes);
        check_mpi(MPI_Iallgatherv(place(send), static_cast<int>(send.size()), MPI_BYTE, place(receive), in.counts(),
                                  in.offsets(), MPI_BYTE, all(), request->add()),
                  "MPI_Iallgatherv");
        request->arrive();
        return request;
    }

    void gatherv(std::span<const std::byte> send, std::span<std::byte> receive, std::span<const std::size_t> counts,
                 Rank root) override {
        MpiRequest pieces(group_);
        Sections& in = sections_.receive;
        const bool is_root = root == rank();
        if (is_root) {
            in.divide(counts, longest_short_);
            for (const auto& section : in.long_ones()) {
                pieces.receive(receive.subspan(section.offset, section.bytes), static_cast<int>(section.index));
            }
        }
        const bool is_long = send.size() > longest_short_;
        if (is_long) pieces.send(send, root.value);
        const int count = is_long ? 0 : static_cast<int>(send.size());
        std::byte* const to = is_root ? in.room(receive) : nullptr;
        group_->run(
            "MPI_Gatherv",
            [&] {
                return MPI_Gatherv(place(send), count, MPI_BYTE, to, in.counts(), in.offsets(), MPI_BYTE, root.value,
                                   all());
            },
            [&](MPI_Request* request) {
                return MPI_Igatherv(place(send), count, MPI_BYTE, to, in.counts(), in.offsets(), MPI_BYTE, root.value,
                                    all(), request);
            });
        pieces.wait();
        if (is_root) in.unpack(receive);
    }

    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        const std::size_t bytes = send.size() / processes_;
        if (bytes > group_->most_bytes) {
            exchange_sections(send, receive, bytes)->wait();
            return;
        }
        const int count = static_cast<int>(bytes);
        group_->run(
            "MPI_Alltoall",
            [&] { return MPI_Alltoall(place(send), count, MPI_BYTE, place(receive), count, MPI_BYTE, all()); },
            [&](MPI_Request* request) {
                return MPI_Ialltoall(place(send), count, MPI_BYTE, place(receive), count, MPI_BYTE, all(), request);
            });
    }

    std::unique_ptr<Request> start_alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        const std::size_t bytes = send.size() / processes_;
        if (bytes > group_->most_bytes) return exchange_sections(send, receive, bytes);
        auto request = std::make_unique<MpiRequest>(group_);
        const int count = static_cast<int>(bytes);
        check_mpi(MPI_Ialltoall(place(send), count, MPI_BYTE, place(receive), count, MPI_BYTE, all(), request->add()),
                  "MPI_Ialltoall");
        request->arrive();
        return request;
    }

    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                   std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override {
        Sections& out = sections_.send;
        Sections& in = sections_.receive;
        out.divide(send_counts, longest_short_);
        in.divide(receive_counts, longest_short_);
        MpiRequest pieces(group_);
        for (const auto& section : in.long_ones()) {
            pieces.receive(receive.subspan(section.offset, section.bytes), static_cast<int>(section.index));
        }
        for (const auto& section : out.long_ones()) {
            pieces.send(send.subspan(section.offset, section.bytes), static_cast<int>(section.index));
        }
        const std::byte* const from = out.pack(send);
        std::byte* const to = in.room(receive);
        group_->run(
            "MPI_Alltoallv",
            [&] {
                return MPI_Alltoallv(from, out.counts(), out.offsets(), MPI_BYTE, to, in.counts(), in.offsets(),
                                     MPI_BYTE, all());
            },
            [&](MPI_Request* request) {
                return MPI_Ialltoallv(from, out.counts(), out.offsets(), MPI_BYTE, to, in.counts(), in.offsets(),
                                      MPI_BYTE, all(), request);
            });
        pieces.wait();
        in.unpack(receive);
    }

    void send(std::span<const std::byte> data, Rank to, int tag) override { messages_.send(data, to.value, tag); }
    bool try_receive(int tag, Message& message) override { return messages_.try_receive(tag, message); }
    bool poll(int tag, Message& message) override { return messages_.poll(tag, message); }
    void complete_sends() override { messages_.complete_sends(); }

    std::unique_ptr<PersistentSend> make_persistent_send(std::size_t bytes, std::span<const Rank> destinations,
                                                         int tag) override {
        return make_mpi_persistent_send(group_, bytes, destinations, tag);
    }

    std::unique_ptr<Window> make_window(std::span<const std::size_t> slots, WindowSync sync) override {
        return make_mpi_window(group_, slots, sync);
    }

    std::unique_ptr<Neighborhood> make_neighborhood(std::span<const Rank> sources,
                                                    std::span<const Rank> destinations) override {
        return make_mpi_neighborhood(group_, sources, destinations);
    }

    std::unique_ptr<SharedMemory> share_memory(std::size_t bytes) override {
        return host_size_ == size() ? group_->share_on_host(bytes) : nullptr;
    }

    std::unique_ptr<Communicator> split(std::int32_t color) override { return part_of(all(), color); }

    HostGroups group_by_host(std::int32_t most) override {
        HostGroups groups{.members = part_of(group_->host.get(), most > 0 ? host_rank_ / most : 0), .leaders = nullptr};
        groups.leaders = part_of(all(), groups.members->rank() == Rank{0} ? 0 : MPI_UNDEFINED);
        return groups;
    }

    [[noreturn]] void abort(int status) override {
        std::cout.flush();
        abort_run(status);
        std::_Exit(status);
    }

   private:
    MPI_Comm all() const { return group_->collective.get(); }

    /// The processes of `original` with the same color; null for MPI_UNDEFINED. @note Collective.
    std::unique_ptr<MpiCommunicator> part_of(MPI_Comm original, int color) const {
        const CommunicatorHandle part = CommunicatorHandle::split(original, color);
        if (part.get() == MPI_COMM_NULL) return nullptr;
        auto group = std::make_shared<Group>(part.get(), group_->most_bytes, group_);
        std::erase_if(group_->parts, [](const auto& other) { return other.expired(); });
        group_->parts.push_back(group);
        return std::make_unique<MpiCommunicator>(group);
    }

    template <class DoPart>
    void for_each_part(std::span<std::uint64_t> values, const DoPart& do_part) {
        const std::size_t most = std::max<std::size_t>(group_->most_bytes / sizeof(std::uint64_t), 1);
        for (std::size_t begin = 0; begin < values.size(); begin += most) {
            do_part(values.data() + begin, static_cast<int>(std::min(most, values.size() - begin)));
        }
    }

    /// An allgather that exceeds the limit: each process broadcasts its section in turn.
    template <class BytesOf>
    void broadcast_sections(std::span<const std::byte> send, std::span<std::byte> receive, const BytesOf& bytes_of) {
        std::size_t begin = 0;
        for (std::size_t r = 0; r < processes_; ++r) {
            const std::span<std::byte> section = receive.subspan(begin, bytes_of(r));
            if (static_cast<int>(r) == group_->rank) std::copy(send.begin(), send.end(), section.begin());
            broadcast(section, Rank{static_cast<std::int32_t>(r)});
            begin += section.size();
        }
    }

    /// The same in the background.
    template <class BytesOf>
    std::unique_ptr<Request> start_broadcasts(std::span<const std::byte> send, std::span<std::byte> receive,
                                              const BytesOf& bytes_of) {
        auto requests = std::make_unique<MpiRequest>(group_);
        std::size_t begin = 0;
        for (std::size_t r = 0; r < processes_; ++r) {
            const std::span<std::byte> section = receive.subspan(begin, bytes_of(r));
            const int root = static_cast<int>(r);
            if (root == group_->rank) std::copy(send.begin(), send.end(), section.begin());
            group_->for_each_piece(section, [&](std::span<std::byte> piece) {
                check_mpi(
                    MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, all(), requests->add()),
                    "MPI_Ibcast");
            });
            begin += section.size();
        }
        requests->arrive();
        return requests;
    }

    /// An alltoall that exceeds the limit.
    std::unique_ptr<Request> exchange_sections(std::span<const std::byte> send, std::span<std::byte> receive,
                                               std::size_t bytes) {
        auto requests = std::make_unique<MpiRequest>(group_);
        for (std::size_t r = 0; r < processes_; ++r) {
            requests->receive(receive.subspan(r * bytes, bytes), static_cast<int>(r));
        }
        for (std::size_t r = 0; r < processes_; ++r) {
            requests->send(send.subspan(r * bytes, bytes), static_cast<int>(r));
        }
        requests->arrive();
        return requests;
    }

    std::shared_ptr<Group> group_;
    PointToPointMessages messages_;
    std::size_t processes_;
    std::size_t longest_short_;
    int host_rank_ = 0;
    int host_size_ = 1;
    SectionPair sections_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm original, std::size_t most_bytes) {
    return std::make_unique<MpiCommunicator>(std::make_shared<Group>(original, most_bytes));
}

}  // namespace ranvier::comm::mpi
