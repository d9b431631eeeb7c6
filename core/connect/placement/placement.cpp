#include "ranvier/connect/placement/placement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "connect/placement/space_placement.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::connect {

namespace {

/// Four rounds make a Feistel network with good round functions indistinguishable from a random permutation (Luby and
/// Rackoff 1988); two more have a negligible cost.
constexpr unsigned rounds = 6;

std::uint64_t count_of(std::uint64_t neurons, std::int64_t ranks, std::int64_t rank) {
    const auto all = static_cast<std::uint64_t>(ranks);
    return neurons / all + (static_cast<std::uint64_t>(rank) < neurons % all ? 1 : 0);
}

}  // namespace

Placement::Placement(std::uint64_t neurons, std::int32_t ranks, PlacementKind kind, std::uint64_t seed,
                     const std::shared_ptr<const Space>& space)
    : neurons_(neurons), ranks_(ranks), kind_(kind), seed_(seed) {
    if (kind == PlacementKind::space && space == nullptr) {
        throw StateError({.object = "placement",
                          .value = "space",
                          .bound = "no population has positions",
                          .remedy = "give positions= to net.create, or use another placement"});
    }
    // On one rank, the ranks are equal and only the places would differ, without visible effect.
    if (ranks == 1) kind_ = PlacementKind::round_robin;
    if (kind_ == PlacementKind::space) space_ = std::make_shared<const SpacePlacement>(space, ranks);
    half_bits_ = std::max(1U, (static_cast<unsigned>(std::bit_width(neurons > 0 ? neurons - 1 : 0)) + 1) / 2);
}

Placement::Placement(std::uint64_t neurons, std::int32_t ranks, std::shared_ptr<const std::vector<std::int32_t>> given)
    : neurons_(neurons), ranks_(ranks), kind_(PlacementKind::given), given_(std::move(given)) {
    if (given_->size() != neurons) {
        throw ShapeError({.object = "placement",
                          .value = "an array of " + counted(given_->size(), "rank"),
                          .bound = "the network has " + counted(neurons, "neuron") + " and sources",
                          .remedy = "give a rank for each, in the order of the ids"});
    }
    const auto wrong =
        std::find_if(given_->begin(), given_->end(), [&](std::int32_t rank) { return rank < 0 || rank >= ranks; });
    if (wrong != given_->end()) {
        throw ValueOutOfBoundsError({.object = "placement of neuron " + std::to_string(wrong - given_->begin()),
                                     .value = std::to_string(*wrong),
                                     .bound = "ranks go from 0 to " + std::to_string(ranks - 1),
                                     .remedy = "use ranks that exist, or more processes"});
    }
}

std::uint64_t Placement::first_of(std::int64_t rank) const {
    const auto r = static_cast<std::uint64_t>(rank);
    const auto all = static_cast<std::uint64_t>(ranks_);
    return r * (neurons_ / all) + std::min(r, neurons_ % all);
}

Rank Placement::rank_of(NeuronId id) const {
    const auto all = static_cast<std::uint64_t>(ranks_);
    if (all == 1) return Rank{0};
    switch (kind_) {
        case PlacementKind::round_robin:
            return Rank{static_cast<std::int32_t>(id.value % all)};
        case PlacementKind::consecutive: {
            // The first ranks have one neuron more than the others.
            const std::uint64_t least = neurons_ / all;
            const std::uint64_t in_longer = (neurons_ % all) * (least + 1);
            const std::uint64_t rank =
                id.value < in_longer ? id.value / (least + 1) : neurons_ % all + (id.value - in_longer) / least;
            return Rank{static_cast<std::int32_t>(rank)};
        }
        case PlacementKind::shuffle:
            return Rank{static_cast<std::int32_t>(shuffled(id.value) % all)};
        case PlacementKind::space:
            return space_->rank_of(id);
        case PlacementKind::given:
            break;
    }
    return Rank{(*given_)[id.value]};
}

std::uint64_t Placement::place_of(NeuronId id) const {
    const auto all = static_cast<std::uint64_t>(ranks_);
    switch (kind_) {
        case PlacementKind::round_robin:
            return id.value / all;
        case PlacementKind::consecutive:
            return id.value - first_of(rank_of(id).value);
        case PlacementKind::shuffle:
            return shuffled(id.value) / all;
        case PlacementKind::space:
        case PlacementKind::given:
            break;
    }
    // A denser numbering would need a table over all neurons.
    return id.value;
}

Placement::Location Placement::locate(NeuronId id) const {
    if (kind_ != PlacementKind::shuffle) return {rank_of(id), place_of(id)};
    const auto all = static_cast<std::uint64_t>(ranks_);
    const std::uint64_t index = shuffled(id.value);
    return {Rank{static_cast<std::int32_t>(index % all)}, index / all};
}

NeuronId Placement::id_at(Rank rank, std::uint64_t place) const {
    const auto all = static_cast<std::uint64_t>(ranks_);
    switch (kind_) {
        case PlacementKind::round_robin:
            return NeuronId{place * all + static_cast<std::uint64_t>(rank.value)};
        case PlacementKind::consecutive:
            return NeuronId{first_of(rank.value) + place};
        case PlacementKind::shuffle:
            return NeuronId{unshuffled(place * all + static_cast<std::uint64_t>(rank.value))};
        case PlacementKind::space:
        case PlacementKind::given:
            break;
    }
    return NeuronId{place};
}

std::uint64_t Placement::places() const {
    if (kind_ == PlacementKind::given || kind_ == PlacementKind::space) return neurons_;
    return count_of(neurons_, ranks_, 0);
}

IdSequence Placement::ids(Rank rank) const {
    const std::uint64_t count = count_of(neurons_, ranks_, rank.value);
    switch (kind_) {
        case PlacementKind::round_robin:
            return {NeuronId{static_cast<std::uint64_t>(rank.value)}, static_cast<std::uint64_t>(ranks_), count};
        case PlacementKind::consecutive:
            return {NeuronId{first_of(rank.value)}, 1, count};
        case PlacementKind::shuffle:
        case PlacementKind::space:
        case PlacementKind::given:
            break;
    }
    std::vector<std::uint64_t> ids;
    if (kind_ == PlacementKind::space) {
        ids = space_->ids(rank);
    } else if (kind_ == PlacementKind::shuffle) {
        ids.resize(count);
        for (std::uint64_t place = 0; place < count; ++place) ids[place] = id_at(rank, place).value;
        std::sort(ids.begin(), ids.end());
    } else {
        for (std::uint64_t id = 0; id < neurons_; ++id) {
            if ((*given_)[id] == rank.value) ids.push_back(id);
        }
    }
    const std::uint64_t size = ids.size();
    return {std::make_shared<const std::vector<std::uint64_t>>(std::move(ids)), 0, size};
}

std::uint64_t Placement::bytes() const { return space_ ? space_->bytes() : 0; }

std::uint64_t Placement::round_function(std::uint64_t half, unsigned round) const {
    const RandomStream stream{make_key(seed_, Purpose::placement, round), half, 0};
    return stream.word64(0) & ((std::uint64_t{1} << half_bits_) - 1);
}

std::uint64_t Placement::encrypt(std::uint64_t value) const {
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & ((std::uint64_t{1} << half_bits_) - 1);
    for (unsigned round = 0; round < rounds; ++round) {
        left ^= round_function(right, round);
        std::swap(left, right);
    }
    return left << half_bits_ | right;
}

std::uint64_t Placement::decrypt(std::uint64_t value) const {
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & ((std::uint64_t{1} << half_bits_) - 1);
    for (unsigned round = rounds; round-- > 0;) {
        std::swap(left, right);
        left ^= round_function(right, round);
    }
    return left << half_bits_ | right;
}

// The network permutes the numbers below a power of four. Results outside the range are permuted again until they
// return to it, which takes less than four rounds on average.
std::uint64_t Placement::shuffled(std::uint64_t index) const {
    do {
        index = encrypt(index);
    } while (index >= neurons_);
    return index;
}

std::uint64_t Placement::unshuffled(std::uint64_t index) const {
    do {
        index = decrypt(index);
    } while (index >= neurons_);
    return index;
}

}  // namespace ranvier::connect
