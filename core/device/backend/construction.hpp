#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "device/kernel/construction.hpp"

namespace ranvier::device {

/// A projection, as the host has it; see ProjectionDraws.
struct ProjectionImage {
    ProjectionDraws draws;
    // Empty: null.
    std::vector<u32> degrees;
    std::vector<u32> numbers = {};
    std::vector<u32> partner_ids = {};
    std::vector<u32> own_partners = {};
};

/// The incoming synapses of the neurons of a block.
struct BlockRows {
    std::vector<u64> begin;  ///< by row, and the end of the last one
    std::vector<Synapse> synapses;
};

/// What a device needs to draw the rows of a network; see Construction.
struct ConstructionImage {
    std::vector<u32> numbers;
    std::vector<u64> ids;
    std::vector<u32> block_of;
    std::vector<u32> first_neurons;
    std::vector<Receptor> receptors;
    std::vector<ProjectionImage> projections;
    std::vector<DrawSegment> segments;  ///< and one after the last
    /// Copies rows of tables, which are joined with those that are drawn: given(block, whether synapses are needed beside
    /// the begins of rows, rows), for one block after another, from the first one on. Empty: no rows are given.
    std::function<void(u32, bool, BlockRows&)> given = {};
    /// Construction::input_counts before anything is drawn: those of tables. Empty: zeros.
    std::vector<u64> input_counts = {};

    /// Synapses that are given, by row of a block. @param rows to be used again
    std::vector<u64> given_lengths(u32 block, BlockRows& rows) const {
        given(block, false, rows);
        std::vector<u64> lengths(ids.size());
        for (std::size_t source = 0; source < lengths.size(); ++source) {
            lengths[source] = rows.begin[source + 1] - rows.begin[source];
        }
        return lengths;
    }
};

/// What was drawn.
struct ConstructedRows {
    std::vector<u64> synapses;  ///< by block
    std::vector<DrawnWeights> weights;  ///< by projection
    std::vector<u64> most_inputs;  ///< by receptor, of a neuron
};

/// The numbers of a construction, with the arrays of an image. @param place returns where the elements of an array are
template <class Place>
Construction construction_of(const ConstructionImage& image, const Place& place) {
    Construction made;
    made.blocks = static_cast<u32>(image.first_neurons.size());
    made.neurons = image.ids.size();
    made.numbers = place(image.numbers);
    made.ids = place(image.ids);
    made.block_of = place(image.block_of);
    made.first_neurons = place(image.first_neurons);
    made.receptors = place(image.receptors);
    made.receptor_count = static_cast<u32>(image.receptors.size()) / made.blocks;
    for (const Receptor& receptor : image.receptors) made.delay_room = std::max(made.delay_room, receptor.delays + 1);
    made.segments = place(image.segments);
    made.segment_count = static_cast<u32>(image.segments.size() - 1);
    made.rows = made.blocks * made.neurons;
    // As many stretches as rows of one: a thread adds these, and one thread those.
    made.stretch = static_cast<u64>(std::sqrt(static_cast<double>(made.rows))) + 1;
    made.stretches = (made.rows + made.stretch - 1) / made.stretch;
    for (const ProjectionImage& each : image.projections) {
        const ProjectionDraws& draws = each.draws;
        if (draws.way != DrawWay::without_repetition) continue;
        made.scratch_words =
            std::max(made.scratch_words, draws.set_slots != 0 ? draws.set_slots : (draws.partners + 31) / 32);
    }
    return made;
}

/// What was seen of the delays of a receptor; none if its synapses are so few that no row was looked at.
inline std::vector<u32> counts_of(const std::vector<u32>& delay_counts, std::size_t receptor, u32 delays,
                                  u32 delay_room) {
    const auto begin = delay_counts.begin() + static_cast<std::ptrdiff_t>(receptor * delay_room);
    std::vector<u32> counts(begin, begin + delays + 1);
    if (std::ranges::count(counts, 0U) == static_cast<std::ptrdiff_t>(counts.size())) counts.clear();
    return counts;
}

/// The draws of all projections, with the arrays of their images.
template <class Place>
std::vector<ProjectionDraws> draws_of(const ConstructionImage& image, const Place& place) {
    std::vector<ProjectionDraws> made;
    for (const ProjectionImage& each : image.projections) {
        made.push_back(each.draws);
        ProjectionDraws& draws = made.back();
        if (!each.degrees.empty()) draws.degrees = place(each.degrees);
        if (!each.numbers.empty()) draws.numbers = place(each.numbers);
        if (!each.partner_ids.empty()) draws.partner_ids = place(each.partner_ids);
        if (!each.own_partners.empty()) draws.own_partners = place(each.own_partners);
    }
    return made;
}

/// @param synapses by block @param input_counts see Construction
inline ConstructedRows constructed(const Construction& from, std::vector<u64> synapses,
                                   std::vector<DrawnWeights> weights, const std::vector<u64>& input_counts) {
    ConstructedRows made{.synapses = std::move(synapses), .weights = std::move(weights), .most_inputs = {}};
    for (u32 receptor = 0; receptor < from.receptor_count; ++receptor) {
        u64 most = 0;
        for (u64 neuron = 0; neuron < from.neurons; ++neuron) {
            most = std::max(most, input_counts[receptor * from.neurons + neuron]);
        }
        made.most_inputs.push_back(most);
    }
    return made;
}

}  // namespace ranvier::device
