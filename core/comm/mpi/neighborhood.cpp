#include "comm/mpi/neighborhood.hpp"

#include <algorithm>
#include <utility>

#include "ranvier/base/errors.hpp"

namespace ranvier::comm::mpi {

namespace {

std::vector<int> values(std::span<const Rank> ranks) {
    std::vector<int> result;
    result.reserve(ranks.size());
    for (const Rank rank : ranks) result.push_back(rank.value);
    return result;
}

class MpiNeighborhood final : public Neighborhood {
   public:
    MpiNeighborhood(std::shared_ptr<const Group> group, std::span<const Rank> sources,
                    std::span<const Rank> destinations)
        : group_(std::move(group)),
          sources_(sources.begin(), sources.end()),
          destinations_(destinations.begin(), destinations.end()) {
        const std::vector<int> from = values(sources);
        const std::vector<int> to = values(destinations);
        MPI_Comm graph = MPI_COMM_NULL;
        check_mpi(MPI_Dist_graph_create_adjacent(group_->collective.get(), static_cast<int>(from.size()), from.data(),
                                                 MPI_UNWEIGHTED, static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED,
                                                 MPI_INFO_NULL, 0, &graph),
                  "MPI_Dist_graph_create_adjacent");
        graph_ = CommunicatorHandle(graph);
    }

    std::span<const Rank> sources() const override { return sources_; }
    std::span<const Rank> destinations() const override { return destinations_; }

    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        const std::size_t bytes = !destinations_.empty() ? send.size() / destinations_.size()
                                  : !sources_.empty()    ? receive.size() / sources_.size()
                                                         : 0;
        MpiRequest pieces(group_);
        // The collective is called in any case: a process without partners does not know the length of the sections.
        const int count = bytes > group_->most_bytes ? 0 : static_cast<int>(bytes);
        if (bytes > group_->most_bytes) {
            for (std::size_t i = 0; i < sources_.size(); ++i) {
                pieces.receive(receive.subspan(i * bytes, bytes), sources_[i].value);
            }
            for (std::size_t i = 0; i < destinations_.size(); ++i) {
                pieces.send(send.subspan(i * bytes, bytes), destinations_[i].value);
            }
        }
        group_->run(
            "MPI_Neighbor_alltoall",
            [&] {
                return MPI_Neighbor_alltoall(place(send), count, MPI_BYTE, place(receive), count, MPI_BYTE,
                                             graph_.get());
            },
            [&](MPI_Request* request) {
                return MPI_Ineighbor_alltoall(place(send), count, MPI_BYTE, place(receive), count, MPI_BYTE,
                                              graph_.get(), request);
            });
        pieces.wait();
    }

    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                   std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override {
        // A process has at most as many neighbors as there are processes.
        const std::size_t longest_short = group_->most_bytes / static_cast<std::size_t>(group_->size);
        sections_.send.divide(send_counts, longest_short);
        sections_.receive.divide(receive_counts, longest_short);
        MpiRequest pieces(group_);
        for (const auto& section : sections_.receive.long_ones()) {
            pieces.receive(receive.subspan(section.offset, section.bytes), sources_[section.index].value);
        }
        for (const auto& section : sections_.send.long_ones()) {
            pieces.send(send.subspan(section.offset, section.bytes), destinations_[section.index].value);
        }
        const std::byte* const from = sections_.send.pack(send);
        std::byte* const to = sections_.receive.room(receive);
        const Sections& out = sections_.send;
        const Sections& in = sections_.receive;
        group_->run(
            "MPI_Neighbor_alltoallv",
            [&] {
                return MPI_Neighbor_alltoallv(from, out.counts(), out.offsets(), MPI_BYTE, to, in.counts(),
                                              in.offsets(), MPI_BYTE, graph_.get());
            },
            [&](MPI_Request* request) {
                return MPI_Ineighbor_alltoallv(from, out.counts(), out.offsets(), MPI_BYTE, to, in.counts(),
                                               in.offsets(), MPI_BYTE, graph_.get(), request);
            });
        pieces.wait();
        in.unpack(receive);
    }

   private:
    std::shared_ptr<const Group> group_;
    std::vector<Rank> sources_;
    std::vector<Rank> destinations_;
    CommunicatorHandle graph_;
    SectionPair sections_;
};

}  // namespace

std::unique_ptr<Neighborhood> make_mpi_neighborhood(std::shared_ptr<const Group> group, std::span<const Rank> sources,
                                                    std::span<const Rank> destinations) {
    for (std::vector<int> ranks : {values(sources), values(destinations)}) {
        std::ranges::sort(ranks);
        if (std::ranges::adjacent_find(ranks) != ranks.end()) {
            throw InternalError("a process is listed twice among the neighbors of rank " + std::to_string(group->rank));
        }
    }
    return std::make_unique<MpiNeighborhood>(std::move(group), sources, destinations);
}

}  // namespace ranvier::comm::mpi
