#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/lone_communicator.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm {

namespace {

/// Copies the data of a collective with one process as the only partner, or with a possibly empty neighbourhood.
void copy_counted(std::span<const std::byte> from, std::span<const std::size_t> from_counts, std::span<std::byte> to,
                  std::span<const std::size_t> to_counts) {
    require(from_counts.size() == to_counts.size() && from_counts.size() <= 1, "a count for each partner is needed");
    if (from_counts.empty()) return;
    require(from_counts[0] <= from.size() && to_counts[0] <= to.size(), "a count is larger than its buffer");
    copy(from.first(from_counts[0]), to.first(to_counts[0]));
}

class LocalNeighborhood final : public Neighborhood {
   public:
    LocalNeighborhood(std::span<const Rank> sources, std::span<const Rank> destinations)
        : sources_(sources.begin(), sources.end()), destinations_(destinations.begin(), destinations.end()) {
        for (const Rank rank : sources) require(rank == Rank{0}, "there is no such rank");
        for (const Rank rank : destinations) require(rank == Rank{0}, "there is no such rank");
        require(sources.size() == destinations.size() && sources.size() <= 1, "neighbors are not mutual");
    }

    std::span<const Rank> sources() const override { return sources_; }
    std::span<const Rank> destinations() const override { return destinations_; }
    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override {
        if (!sources_.empty()) copy(send, receive);
    }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                   std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override {
        require(send_counts.size() == sources_.size(), "a count for each neighbor is needed");
        copy_counted(send, send_counts, receive, receive_counts);
    }

   private:
    std::vector<Rank> sources_;
    std::vector<Rank> destinations_;
};

class LocalCommunicator final : public LoneCommunicator {
   public:
    std::int32_t size() const override { return 1; }
    std::string transport() const override { return "local"; }

    void reduce(std::span<std::uint64_t> /*values*/, Reduction /*reduction*/) override {}
    void broadcast(std::span<std::byte> /*data*/, Rank root) override { require_rank(root); }
    void allgather(std::span<const std::byte> send, std::span<std::byte> receive) override { copy(send, receive); }
    void allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                    std::span<const std::size_t> counts) override {
        const std::size_t size = send.size();
        copy_counted(send, {&size, 1}, receive, counts);
    }
    void gatherv(std::span<const std::byte> send, std::span<std::byte> receive, std::span<const std::size_t> counts,
                 Rank root) override {
        require_rank(root);
        allgatherv(send, receive, counts);
    }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                   std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override {
        require(send_counts.size() == 1, "a count for each process is needed");
        copy_counted(send, send_counts, receive, receive_counts);
    }
    std::unique_ptr<Neighborhood> make_neighborhood(std::span<const Rank> sources,
                                                    std::span<const Rank> destinations) override {
        return std::make_unique<LocalNeighborhood>(sources, destinations);
    }
    std::unique_ptr<Communicator> split(std::int32_t /*color*/) override {
        return std::make_unique<LocalCommunicator>();
    }
    HostGroups group_by_host(std::int32_t /*most*/) override {
        return {.members = std::make_unique<LocalCommunicator>(), .leaders = std::make_unique<LocalCommunicator>()};
    }
};

}  // namespace

std::shared_ptr<Communicator> make_local_communicator() { return std::make_shared<LocalCommunicator>(); }

}  // namespace ranvier::comm
