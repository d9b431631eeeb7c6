#include "connect/tables/kept_partners.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "connect/rules/placed_sampler.hpp"
#include "connect/tables/table_plan.hpp"

namespace ranvier::connect {

namespace {

constexpr std::size_t least_chunk = std::size_t{16} << 10;
constexpr std::size_t greatest_chunk = std::size_t{1} << 20;

// A number below the first limit takes one byte, below the second two, and otherwise five.
constexpr std::uint32_t least_of_two = 240;
constexpr std::uint8_t mark_of_five = 255;
constexpr std::uint32_t least_of_five = least_of_two + (mark_of_five - least_of_two) * 256;
constexpr std::size_t most_of_number = 5;

std::uint8_t* write(std::uint32_t number, std::uint8_t* to) {
    if (number < least_of_two) {
        *to++ = static_cast<std::uint8_t>(number);
    } else if (number < least_of_five) {
        const std::uint32_t beyond = number - least_of_two;
        *to++ = static_cast<std::uint8_t>(least_of_two + (beyond >> 8));
        *to++ = static_cast<std::uint8_t>(beyond);
    } else {
        *to++ = mark_of_five;
        std::memcpy(to, &number, sizeof number);
        to += sizeof number;
    }
    return to;
}

const std::uint8_t* read(const std::uint8_t* from, std::uint32_t& number) {
    number = *from++;
    if (number < least_of_two) return from;
    if (number < mark_of_five) {
        number = ((number - least_of_two) << 8) + least_of_two + *from;
        return from + 1;
    }
    std::memcpy(&number, from, sizeof number);
    return from + sizeof number;
}

/// Least bytes of a synapse in a table: a target and a weight.
constexpr double least_column_bytes = 6.0;
/// Expected bytes of a kept partner: mostly one.
constexpr double kept_bytes = 1.25;
/// Of the columns of all synapses: kept partners that may be beside them, when all pages of them are in use.
constexpr double share_beside_columns = 0.04;
/// Of the columns of the rows that are still empty, for kept partners of the rows that are being filled; the rest is for
/// those of the others.
constexpr double share_of_empty_rows = 0.7;

/// Projections with common sources, directly or through others.
struct SourceGroup {
    std::uint64_t end = 0;  ///< of their sources
    std::vector<std::uint32_t> projections = {};
    double size = 0.0;  ///< synapses on all processes
    double synapses = 0.0;  ///< on this one
    double placed = 0.0;  ///< of these, those that can be kept
};

bool is_placed(const ProjectionPlan& plan) {
    return dynamic_cast<const PlacedSampler*>(plan.sampler.get()) != nullptr &&
           plan.sampler->major() == RuleSampler::Major::target;
}

}  // namespace

void KeptPartners::add(std::span<const std::uint32_t> degrees, std::span<const std::uint32_t> places) {
    if (is_full_) return;
    code_.resize(most_of_number * (1 + degrees.size() + places.size()));
    std::uint8_t* to = write(static_cast<std::uint32_t>(degrees.size()), code_.data());
    const std::uint32_t* place = places.data();
    for (const std::uint32_t degree : degrees) {
        to = write(degree, to);
        std::uint32_t before = 0;
        for (std::uint32_t i = 0; i < degree; ++i) {
            to = write(*place - before, to);
            before = *place++;
        }
    }
    const auto size = static_cast<std::size_t>(to - code_.data());
    if (size > most_bytes_) {
        is_full_ = true;
        code_ = {};
        return;
    }
    most_bytes_ -= size;
    if (chunks_.empty() || chunks_.back().bytes.size() - chunks_.back().used < size) {
        const std::size_t wanted =
            chunks_.empty() ? least_chunk : std::min(2 * chunks_.back().bytes.size(), greatest_chunk);
        chunks_.push_back({.bytes = Buffer<std::uint8_t>(std::max(wanted, size))});
    }
    Chunk& chunk = chunks_.back();
    std::memcpy(chunk.bytes.data() + chunk.used, code_.data(), size);
    chunk.used += size;
    ++chunk.calls;
}

bool KeptPartners::take(std::vector<std::uint32_t>& degrees, std::vector<std::uint32_t>& places) {
    code_ = {};
    if (chunk_ == chunks_.size()) return false;
    Chunk& chunk = chunks_[chunk_];
    const std::uint8_t* from = chunk.bytes.data() + position_;
    std::uint32_t neurons = 0;
    from = read(from, neurons);
    degrees.resize(neurons);
    places.clear();
    for (std::uint32_t& degree : degrees) {
        from = read(from, degree);
        const std::size_t begin = places.size();
        places.resize(begin + degree);
        std::uint32_t* to = places.data() + begin;
        std::uint32_t place = 0;
        for (std::uint32_t i = 0; i < degree; ++i) {
            std::uint32_t difference = 0;
            from = read(from, difference);
            *to++ = place += difference;
        }
    }
    position_ = static_cast<std::size_t>(from - chunk.bytes.data());
    if (++call_ == chunk.calls) {
        chunk.bytes = {};
        ++chunk_;
        call_ = 0;
        position_ = 0;
    }
    return true;
}

PassPlan plan_passes(const NetworkPlan& network, const ProcessLayout& layout) {
    const std::span<const ProjectionPlan> plans = network.projections;
    std::vector<std::uint32_t> by_source(plans.size());
    std::iota(by_source.begin(), by_source.end(), 0);
    std::ranges::stable_sort(by_source, {}, [&](std::uint32_t i) { return plans[i].pairs.first_source; });
    std::vector<SourceGroup> groups;
    double all = 0.0;
    for (const std::uint32_t i : by_source) {
        const ProjectionPlan& plan = plans[i];
        const std::uint64_t first = plan.pairs.first_source.value;
        if (groups.empty() || groups.back().end <= first) groups.emplace_back();
        SourceGroup& group = groups.back();
        group.end = std::max(group.end, first + plan.pairs.sources);
        group.projections.push_back(i);
        if (plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        const double synapses = expected_synapses_here(plan, layout);
        group.size += plan.sampler->expected_synapses();
        group.synapses += synapses;
        if (is_placed(plan)) group.placed += synapses;
        all += synapses;
    }
    // Many rows are still empty while those of the first groups are filled. The order is the same on all processes, which
    // exchange the synapses that are drawn by source.
    std::ranges::stable_sort(groups, std::ranges::greater{}, &SourceGroup::size);
    PassPlan passes;
    passes.most_kept_bytes.assign(plans.size(), 0.0);
    double empty = all;
    for (SourceGroup& group : groups) {
        std::ranges::sort(group.projections);
        passes.order.insert(passes.order.end(), group.projections.begin(), group.projections.end());
        empty -= group.synapses;
        if (group.placed == 0.0) continue;
        const double of_empty = std::max(empty, 0.0) * least_column_bytes;
        const double most = share_of_empty_rows * of_empty + share_beside_columns * all * least_column_bytes;
        for (const std::uint32_t i : group.projections) {
            if (plans[i].pairs.sources == 0 || plans[i].pairs.targets == 0 || !is_placed(plans[i])) continue;
            passes.most_kept_bytes[i] = most * expected_synapses_here(plans[i], layout) / group.placed;
        }
        const double kept = std::min(kept_bytes * group.placed, most);
        passes.kept_beside_columns = std::max(passes.kept_beside_columns, kept - of_empty);
    }
    return passes;
}

}  // namespace ranvier::connect
