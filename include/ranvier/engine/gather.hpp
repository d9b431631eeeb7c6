#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ranvier/comm/communicator.hpp"

namespace ranvier::engine {

/// The processes that get the gathered data.
enum class Gather : std::uint8_t {
    everywhere,  ///< every process gets the data of all
    root,        ///< rank 0 gets them, the others get nothing
    local        ///< every process keeps its data
};

/// The items of all processes, by rank; in a dry run, those of the only process. @note Collective, unless they stay
/// local.
template <class Item>
std::vector<Item> gather(comm::Communicator& communicator, std::vector<Item> local, Gather how) {
    static_assert(std::is_trivially_copyable_v<Item>);
    if (communicator.size() == 1 || communicator.is_dry_run() || how == Gather::local) return local;
    std::vector<std::size_t> counts(static_cast<std::size_t>(communicator.size()));
    const std::size_t bytes = local.size() * sizeof(Item);
    communicator.allgather(std::as_bytes(std::span(&bytes, 1)), std::as_writable_bytes(std::span(counts)));
    const bool gets = how == Gather::everywhere || communicator.rank() == Rank{0};
    std::vector<Item> all;
    if (gets) all.resize(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) / sizeof(Item));
    const auto send = std::as_bytes(std::span<const Item>(local));
    const auto receive = std::as_writable_bytes(std::span(all));
    if (how == Gather::everywhere) {
        communicator.allgatherv(send, receive, counts);
    } else {
        communicator.gatherv(send, receive, counts, Rank{0});
    }
    return all;
}

template <class Item>
std::vector<Item> gather_everywhere(comm::Communicator& communicator, std::vector<Item> local) {
    return gather(communicator, std::move(local), Gather::everywhere);
}

}  // namespace ranvier::engine
