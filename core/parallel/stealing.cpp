#include "ranvier/parallel/stealing.hpp"

#include <set>

namespace ranvier::parallel {

namespace {

constexpr std::uint32_t no_group = UINT32_MAX;

}  // namespace

Victims list_victims(std::span<const Place> places, std::uint32_t thief, StealingPolicy policy,
                     const NodeDistances& distances) {
    Victims victims;
    // From the next worker on, so that the thieves spread.
    const auto add_group = [&](auto belongs) {
        const std::size_t before = victims.workers.size();
        for (std::size_t i = 1; i < places.size(); ++i) {
            const auto worker = static_cast<std::uint32_t>((thief + i) % places.size());
            if (belongs(places[worker].node)) victims.workers.push_back(worker);
        }
        if (victims.workers.size() > before) victims.ends.push_back(victims.workers.size());
    };
    const std::uint32_t here = places[thief].node;
    const auto is_local = [&](std::uint32_t node) { return node == here; };
    switch (policy) {
        case StealingPolicy::local_and_remote:
            add_group([](std::uint32_t) { return true; });
            break;
        case StealingPolicy::prefer_local: {
            add_group(is_local);
            std::set<std::uint32_t> remote;
            for (const Place& place : places) {
                if (!is_local(place.node)) remote.insert(distances(here, place.node));
            }
            for (const std::uint32_t distance : remote) {
                add_group([&](std::uint32_t node) { return !is_local(node) && distances(here, node) == distance; });
            }
            break;
        }
        case StealingPolicy::local_only:
            add_group(is_local);
            break;
        case StealingPolicy::none:
            break;
    }
    return victims;
}

std::vector<std::uint32_t> stealing_groups(std::span<const Place> places, StealingPolicy policy) {
    std::vector<std::uint32_t> group(places.size(), no_group);
    std::uint32_t found = 0;
    for (std::uint32_t worker = 0; worker < places.size(); ++worker) {
        if (group[worker] != no_group) continue;
        group[worker] = found;
        for (const std::uint32_t victim : list_victims(places, worker, policy).workers) group[victim] = found;
        ++found;
    }
    return group;
}

}  // namespace ranvier::parallel
