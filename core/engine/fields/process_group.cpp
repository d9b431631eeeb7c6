#include "engine/fields/process_group.hpp"

#include <algorithm>
#include <numeric>

namespace ranvier::engine {

void ProcessGroup::sum(std::span<std::uint64_t> values) {
    if (!communicator_->is_dry_run()) communicator_->reduce(values, comm::Reduction::sum);
}

void ProcessGroup::find_greatest(std::span<std::uint64_t> values) {
    if (!communicator_->is_dry_run()) communicator_->reduce(values, comm::Reduction::greatest);
}

std::vector<std::size_t> ProcessGroup::exchange_counts(std::span<const std::size_t> counts) {
    std::vector<std::size_t> received(counts.size(), 0);
    if (communicator_->is_dry_run()) {
        received[member()] = counts[member()];
    } else {
        communicator_->alltoall(std::as_bytes(counts), std::as_writable_bytes(std::span(received)));
    }
    return received;
}

void ProcessGroup::exchange(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                            std::span<std::byte> receive, std::span<const std::size_t> receive_counts) {
    if (!communicator_->is_dry_run()) {
        communicator_->alltoallv(send, send_counts, receive, receive_counts);
        return;
    }
    const auto begin_of = [&](std::span<const std::size_t> counts) {
        return std::accumulate(counts.begin(), counts.begin() + member(), std::size_t{0});
    };
    std::ranges::fill(receive, std::byte{0});
    const std::size_t size = std::min(send_counts[member()], receive_counts[member()]);
    std::ranges::copy(send.subspan(begin_of(send_counts), size),
                      receive.begin() + static_cast<std::ptrdiff_t>(begin_of(receive_counts)));
}

}  // namespace ranvier::engine
