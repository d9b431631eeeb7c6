#include "program/lane_compaction.hpp"

#include <algorithm>
#include <numeric>

#include "program/kernels.hpp"
#include "program/operations.hpp"

namespace ranvier::program {

namespace {

std::size_t padded(std::size_t lanes) { return (lanes + lanes_of_kernel - 1) / lanes_of_kernel * lanes_of_kernel; }

}  // namespace

LaneCompaction::LaneCompaction(std::span<const LoopPlaces> loops, std::size_t most_lanes,
                               std::pmr::memory_resource* memory)
    : most_lanes_(most_lanes), buffer_(most_places(loops) * most_lanes, 0.0, memory), lane_(most_lanes) {}

std::size_t LaneCompaction::most_places(std::span<const LoopPlaces> loops) {
    std::size_t most = 0;
    for (const LoopPlaces& loop : loops) most = std::max(most, loop.carried.size() + loop.read.size());
    return most;
}

std::size_t LaneCompaction::compact(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes) {
    // A loop within another one.
    if (loop.carried.empty()) return lanes;
    const double* const continues = places[loop.carried[0]];
    continuing_.clear();
    const std::size_t present = loop_ != nullptr ? compacted_ : lanes;
    for (std::size_t k = 0; k < present; ++k) {
        if (lane::is_true(continues[k])) continuing_.push_back(static_cast<std::uint32_t>(k));
    }
    const std::size_t then = padded(continuing_.size());
    if (then == 0 || 4 * then > 3 * lanes) return lanes;
    if (loop_ == nullptr) {
        begin(loop, places, lanes);
    } else {
        scatter();
    }
    const std::size_t carried = loop.carried.size();
    for (std::size_t p = 0; p < compacted_places_.size(); ++p) {
        const std::uint32_t place = p < carried ? loop.carried[p] : loop.read[p - carried];
        const double* const from = places[place];
        double* const to = compacted_places_[p];
        // From front to back: no lane is overwritten before it is read.
        for (std::size_t k = 0; k < continuing_.size(); ++k) to[k] = from[continuing_[k]];
        std::fill(to + continuing_.size(), to + then, p == 0 ? 0.0 : to[0]);
        places[place] = to;
    }
    for (std::size_t k = 0; k < continuing_.size(); ++k) lane_[k] = lane_[continuing_[k]];
    compacted_ = continuing_.size();
    return then;
}

std::size_t LaneCompaction::leave(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes) {
    if (loop_ != &loop) return lanes;
    scatter();
    const std::size_t carried = loop.carried.size();
    for (std::size_t p = 0; p < places_before_.size(); ++p) {
        places[p < carried ? loop.carried[p] : loop.read[p - carried]] = places_before_[p];
    }
    loop_ = nullptr;
    return lanes_before_;
}

void LaneCompaction::begin(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes) {
    loop_ = &loop;
    lanes_before_ = lanes;
    places_before_.clear();
    compacted_places_.clear();
    for (const std::uint32_t place : loop.carried) places_before_.push_back(places[place]);
    for (const std::uint32_t place : loop.read) places_before_.push_back(places[place]);
    for (std::size_t p = 0; p < places_before_.size(); ++p) compacted_places_.push_back(&buffer_[p * most_lanes_]);
    std::iota(lane_.begin(), lane_.end(), 0u);
}

void LaneCompaction::scatter() {
    for (std::size_t p = 0; p < loop_->carried.size(); ++p) {
        for (std::size_t k = 0; k < compacted_; ++k) places_before_[p][lane_[k]] = compacted_places_[p][k];
    }
}

}  // namespace ranvier::program
