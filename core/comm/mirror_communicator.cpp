#include "comm/mirror_communicator.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/lone_communicator.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

/// In a dry run, the processes that need spikes of this one also send it spikes.
class MirrorNeighborhood final : public Neighborhood {
   public:
    MirrorNeighborhood(std::span<const Rank> sources, std::span<const Rank> destinations)
        : sources_(sources.begin(), sources.end()), destinations_(destinations.begin(), destinations.end()) {
        require(sources_ == destinations_, "neighbors are not mutual");
    }

    std::span<const Rank> sources() const override { return sources_; }
    std::span<const Rank> destinations() const override { return destinations_; }
    void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) override { copy(send, receive); }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> /*send_counts*/,
                   std::span<std::byte> receive, std::span<const std::size_t> /*receive_counts*/) override {
        copy(send, receive);
    }

   private:
    std::vector<Rank> sources_;
    std::vector<Rank> destinations_;
};

class MirrorCommunicator final : public LoneCommunicator {
   public:
    explicit MirrorCommunicator(std::int32_t size) : size_(size) {}

    std::int32_t size() const override { return size_; }
    std::string transport() const override { return "dry run"; }
    bool is_dry_run() const override { return true; }

    void reduce(std::span<std::uint64_t> values, Reduction reduction) override {
        if (reduction != Reduction::sum) return;
        for (std::uint64_t& value : values) value *= static_cast<std::uint64_t>(size_);
    }
    void broadcast(std::span<std::byte> /*data*/, Rank /*root*/) override {}
    void allgather(std::span<const std::byte> send, std::span<std::byte> receive) override {
        for (std::int32_t rank = 0; rank < size_; ++rank) {
            copy(send, part(receive, static_cast<std::size_t>(rank) * send.size(), send.size()));
        }
    }
    void allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                    std::span<const std::size_t> counts) override {
        std::size_t begin = 0;
        for (const std::size_t count : counts) {
            copy(send, part(receive, begin, count));
            begin += count;
        }
    }
    void gatherv(std::span<const std::byte> send, std::span<std::byte> receive, std::span<const std::size_t> counts,
                 Rank /*root*/) override {
        allgatherv(send, receive, counts);
    }
    void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> /*send_counts*/,
                   std::span<std::byte> receive, std::span<const std::size_t> /*receive_counts*/) override {
        copy(send, receive);
    }
    std::unique_ptr<Neighborhood> make_neighborhood(std::span<const Rank> sources,
                                                    std::span<const Rank> destinations) override {
        return std::make_unique<MirrorNeighborhood>(sources, destinations);
    }

    std::unique_ptr<Communicator> split(std::int32_t /*color*/) override {
        return std::make_unique<MirrorCommunicator>(size_);
    }
    HostGroups group_by_host(std::int32_t most) override {
        const std::int32_t members = std::clamp(most, 1, size_);
        return {.members = std::make_unique<MirrorCommunicator>(members),
                .leaders = std::make_unique<MirrorCommunicator>((size_ + members - 1) / members)};
    }

   private:
    std::int32_t size_;
};

}  // namespace

std::shared_ptr<Communicator> make_mirror_communicator(std::int32_t size) {
    if (size < 1) {
        throw ValueOutOfBoundsError({.object = "ranks of a dry run",
                                     .value = std::to_string(size),
                                     .bound = "there must be at least one",
                                     .remedy = "give the number of processes that the run would have"});
    }
    return std::make_shared<MirrorCommunicator>(size);
}

}  // namespace ranvier::comm
