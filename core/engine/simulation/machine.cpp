#include "engine/simulation/machine.hpp"

#include <algorithm>
#include <utility>

#include "parallel/processor_quota.hpp"
#include "ranvier/base/hash.hpp"

namespace ranvier::engine {

namespace {

/// Whether all processes may use the same processors because they are not bound. @note Collective.
bool share_processors(comm::Communicator& communicator, const parallel::Topology& topology) {
    SequenceHash hash;
    for (const int processor : topology.processors()) hash.add(static_cast<std::uint64_t>(processor));
    return communicator.least(hash.value()) == communicator.greatest(hash.value());
}

}  // namespace

MachineShare::MachineShare(comm::Communicator& communicator)
    : topology_(parallel::Topology::detect()),
      host_rank_(communicator.host_rank()),
      host_size_(communicator.host_size()) {
    is_shared_ = share_processors(communicator, topology_);
    shares_ = is_shared_ && static_cast<std::size_t>(host_size_) > topology_.units().size();
    if (is_shared_) topology_ = topology_.shared_out(host_rank_, host_size_);
    default_threads_ =
        parallel::default_threads(topology_.units().size(), parallel::processor_quota(), is_shared_ ? host_size_ : 1);
}

std::vector<parallel::Place> MachineShare::place(const std::string& text, std::uint32_t threads) const {
    parallel::Pinning pinning = parallel::parse_pinning(text);
    // A process that shares processors with others must not bind its threads to single ones.
    if (pinning.policy == parallel::PinningPolicy::automatic && shares_) pinning.policy = parallel::PinningPolicy::none;
    if (pinning.policy != parallel::PinningPolicy::list) return parallel::place_threads(topology_, threads, pinning);
    // A list may contain the processors of all processes of the host, one process after the other.
    const std::size_t here = threads;
    if (host_size_ > 1 && pinning.processors.size() == here * static_cast<std::size_t>(host_size_)) {
        const auto begin =
            pinning.processors.begin() + static_cast<std::ptrdiff_t>(here * static_cast<std::size_t>(host_rank_));
        pinning.processors = {begin, begin + static_cast<std::ptrdiff_t>(here)};
    }
    // The list is not restricted to the share of this process.
    return parallel::place_threads(parallel::Topology::detect(), threads, pinning);
}

bool MachineShare::is_crowded(const std::vector<parallel::Place>& places) const {
    const bool pinned = std::ranges::all_of(places, [](const parallel::Place& place) { return place.processor >= 0; });
    // Pinned threads may be outside the share of this process.
    return shares_ || parallel::occupancy(pinned ? parallel::Topology::detect() : topology_, places).shares_units();
}

bool MachineShare::may_gather(comm::Communicator& communicator, const std::string& pinning,
                              std::span<const parallel::Place> places) const {
    if (communicator.size() != 2 || communicator.is_dry_run()) return false;
    const bool chosen = parallel::parse_pinning(pinning).policy == parallel::PinningPolicy::list;
    const bool may = host_size_ == 2 && is_shared_ && !chosen && places.size() == 1 && places.front().processor >= 0;
    return communicator.least(may ? 1 : 0) != 0;
}

parallel::TeamOptions MachineShare::team_options(const std::string& pinning, const std::vector<parallel::Place>& places,
                                                 parallel::StealingPolicy stealing) const {
    const bool is_list = parallel::parse_pinning(pinning).policy == parallel::PinningPolicy::list;
    parallel::TeamOptions options{
        .spinning = is_crowded(places) ? parallel::Spinning::never : parallel::Spinning::automatic,
        .stealing = stealing,
        // Nodes are numbered as in the topology of the places.
        .distances = (is_list ? parallel::Topology::detect() : topology_).distances(),
        .processors = topology_.units().size()};
    // A user's list of processors is kept, also while other programs run.
    if (is_list) {
        for (const parallel::Place& place : places) options.crowding.processors.push_back(place.processor);
    }
    return options;
}

}  // namespace ranvier::engine
