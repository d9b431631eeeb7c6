#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranvier/comm/communicator.hpp"
#include "ranvier/fmm/group.hpp"

namespace ranvier::engine {

/// The processes of a run as the solvers of one problem: the ranks are the members.
///
/// In a dry run, the only process is given all sources and targets. It computes the part of its rank, and gets zeros from the
/// others, so that it has the work and the memory of one of them.
class ProcessGroup final : public fmm::SolverGroup {
   public:
    /// @param communicator must outlive the group
    explicit ProcessGroup(comm::Communicator& communicator) : communicator_(&communicator) {}

    std::uint32_t size() const override { return static_cast<std::uint32_t>(communicator_->size()); }
    std::uint32_t member() const override { return static_cast<std::uint32_t>(communicator_->rank().value); }
    void sum(std::span<std::uint64_t> values) override;
    void find_greatest(std::span<std::uint64_t> values) override;
    std::vector<std::size_t> exchange_counts(std::span<const std::size_t> counts) override;
    void exchange(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                  std::span<std::byte> receive, std::span<const std::size_t> receive_counts) override;

   private:
    comm::Communicator* communicator_;
};

}  // namespace ranvier::engine
