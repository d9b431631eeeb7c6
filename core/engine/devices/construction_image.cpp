#include "engine/devices/construction_image.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "ranvier/base/step_rounding.hpp"

namespace ranvier::engine {

namespace {

using connect::PartnerDraws;
using connect::ProjectionPlan;
using device::u32;
using device::u64;

bool is_empty(const ProjectionPlan& plan) { return plan.pairs.sources == 0 || plan.pairs.targets == 0; }

bool can_draw(const connect::SynapseValues& values) {
    return std::holds_alternative<double>(values.given()) || std::holds_alternative<Distribution>(values.given());
}

bool can_draw(const connect::NetworkPlan& network, const ProjectionPlan& plan) {
    return !network.has_sites() && !plan.sites && plan.sampler->partner_draws() && can_draw(plan.weights) &&
           can_draw(plan.delays);
}

device::ValueDraws value_draws(const connect::SynapseValues& values) {
    if (const double* const number = std::get_if<double>(&values.given())) return {.first = *number};
    const auto& given = std::get<Distribution>(values.given());
    device::ValueDraws made{.first = given.first,
                            .second = given.second,
                            .lower = given.lower,
                            .upper = given.upper,
                            .key_low = values.key().low,
                            .key_high = values.key().high};
    switch (given.kind) {
        case Distribution::Kind::constant:
            // As all values of the distribution.
            made.first = given.least();
            break;
        case Distribution::Kind::normal:
            made.kind = device::ValueKind::normal;
            break;
        case Distribution::Kind::lognormal:
            made.kind = device::ValueKind::lognormal;
            break;
        case Distribution::Kind::uniform:
            made.kind = device::ValueKind::uniform;
            break;
        case Distribution::Kind::exponential:
            made.kind = device::ValueKind::exponential;
            break;
    }
    if (given.restriction == Distribution::Restriction::clip) made.bounds = device::ValueBounds::clip;
    if (given.restriction == Distribution::Restriction::redraw) made.bounds = device::ValueBounds::redraw;
    return made;
}

device::DrawWay way_of(PartnerDraws::Way way) {
    switch (way) {
        case PartnerDraws::Way::with_repetition:
            return device::DrawWay::with_repetition;
        case PartnerDraws::Way::without_repetition:
            return device::DrawWay::without_repetition;
        case PartnerDraws::Way::by_skips:
            return device::DrawWay::by_skips;
        case PartnerDraws::Way::all:
            return device::DrawWay::all;
        case PartnerDraws::Way::same:
            break;
    }
    return device::DrawWay::same;
}

/// Divides the partners of a neuron among threads, or chooses the set of those that were drawn.
void divide(device::ProjectionImage& image, const PartnerDraws& draws) {
    constexpr u32 partners_of_item = 1024;
    u64 most = draws.way == PartnerDraws::Way::all ? draws.partners : draws.degree;
    if (!image.degrees.empty()) most = std::ranges::max(image.degrees);
    if (draws.way == PartnerDraws::Way::with_repetition || draws.way == PartnerDraws::Way::all) {
        image.draws.partners_of_item = partners_of_item;
        image.draws.parts = std::max<u32>(1, static_cast<u32>((most + partners_of_item - 1) / partners_of_item));
    }
    if (draws.way != PartnerDraws::Way::without_repetition) return;
    // The partners that were not drawn follow from bits only. Allowed ones are one fewer, at least.
    if (most > (draws.partners - std::min<u64>(draws.partners, 1)) / 2) return;
    const u64 slots = std::bit_ceil(4 * most + 2);
    if (slots >= (draws.partners + 31) / 32) return;
    image.draws.set_slots = static_cast<u32>(slots);
    image.draws.set_shift = 32 - static_cast<u32>(std::countr_zero(slots));
}

device::ProjectionDraws numbers_of(const connect::NetworkPlan& network, const ProjectionPlan& plan,
                                   const PartnerDraws& draws) {
    device::ProjectionDraws made;
    made.way = way_of(draws.way);
    made.by_source = plan.sampler->major() == connect::RuleSampler::Major::source ? 1 : 0;
    made.partners = draws.partners;
    made.first_major = draws.first_major;
    made.first_partner = draws.first_partner;
    made.allows_autapses = draws.allows_autapses ? 1 : 0;
    made.degree = draws.degree;
    made.inverse_log_of_failure = draws.inverse_log_of_failure;
    made.key_low = draws.key.low;
    made.key_high = draws.key.high;
    made.weights = value_draws(plan.weights);
    made.delays = value_draws(plan.delays);
    made.steps_per_millisecond = plan.delay_grid.steps_per_millisecond * decimal_half_guard;
    made.delay_stride = plan.delay_grid.stride;
    made.receptors[0] = network.receptor(plan.positive_kind);
    made.receptors[1] = network.receptor(plan.negative_kind);
    made.most_spikes = plan.most_spikes;
    return made;
}

/// Draws the degrees of all projections where they differ.
void draw_degrees(std::vector<device::ProjectionImage>& images, const std::vector<PartnerDraws>& draws,
                  parallel::Team& team) {
    constexpr u64 majors_of_task = 4096;
    struct Task {
        std::size_t projection;
        u64 begin;
    };
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < draws.size(); ++i) {
        if (!draws[i].degrees) continue;
        images[i].degrees.resize(draws[i].majors);
        for (u64 begin = 0; begin < draws[i].majors; begin += majors_of_task) tasks.push_back({i, begin});
    }
    if (tasks.empty()) return;
    std::atomic<std::size_t> next = 0;
    team.run([&](std::uint32_t) {
        for (std::size_t t = next++; t < tasks.size(); t = next++) {
            team.check_cancelled();
            std::vector<u32>& degrees = images[tasks[t].projection].degrees;
            const u64 count = std::min<u64>(majors_of_task, degrees.size() - tasks[t].begin);
            draws[tasks[t].projection].degrees(tasks[t].begin, std::span(degrees).subspan(tasks[t].begin, count));
        }
    });
}

}  // namespace

std::vector<bool> drawn_projections(const connect::NetworkPlan& network) {
    bool any = false;
    std::vector<bool> drawn;
    for (const ProjectionPlan& plan : network.projections) {
        const bool is_static =
            network.dynamics_of(plan.positive_kind) == nullptr && network.dynamics_of(plan.negative_kind) == nullptr;
        drawn.push_back(is_static && (is_empty(plan) || can_draw(network, plan)));
        any = any || (drawn.back() && !is_empty(plan));
    }
    if (!any) drawn.clear();
    return drawn;
}

std::vector<bool> drawn_on_device(const SimulationOptions& options, const connect::NetworkPlan& network,
                                  std::int32_t ranks, bool sorted) {
    if (options.device == "cpu" || ranks > 1 || !sorted) return {};
    if (options.weight_precision != models::Precision::single_precision) return {};
    return drawn_projections(network);
}

std::vector<std::vector<device::ReceptorImage>> drawn_receptors(const connect::NetworkPlan& network,
                                                                const connect::ProcessLayout& layout,
                                                                std::uint32_t receptors) {
    std::vector<device::ReceptorImage> all(receptors);
    for (const ProjectionPlan& plan : network.projections) {
        if (is_empty(plan)) continue;
        for (const connect::KindIndex kind : {plan.positive_kind, plan.negative_kind}) {
            device::ReceptorImage& image = all[network.receptor(kind)];
            image.delays = std::max(image.delays, connect::round_delay(plan.delays.greatest(), plan.delay_grid));
        }
    }
    std::vector<std::vector<device::ReceptorImage>> by_block;
    for (const connect::ShardLayout& shard : layout.shards()) {
        for (u32 receptor = 0; receptor < receptors; ++receptor) {
            all[receptor].inputs = network.inputs_at(receptor, shard).size();
        }
        by_block.push_back(all);
    }
    return by_block;
}

device::ConstructionImage construction_image(const connect::NetworkPlan& network, const connect::ProcessLayout& layout,
                                             std::span<const std::vector<device::ReceptorImage>> receptors,
                                             const std::vector<bool>& drawn, parallel::Team& team) {
    device::ConstructionImage image;
    u64 units = 0;
    for (const connect::PopulationRange& range : layout.populations())
        units = std::max<u64>(units, range.first.value + range.size);
    image.numbers.assign(units, 0);
    for (u32 b = 0; b < layout.shards().size(); ++b) {
        const connect::ShardLayout& shard = layout.shard(b);
        const auto first = static_cast<u32>(image.ids.size());
        image.first_neurons.push_back(first);
        image.ids.resize(first + std::size_t{shard.size()}, 0);
        image.block_of.resize(image.ids.size(), b);
        const std::vector<device::Receptor> of_block = device::numbered(receptors[b]);
        image.receptors.insert(image.receptors.end(), of_block.begin(), of_block.end());
        for (const connect::ShardLayout::PopulationShare& share : shard.shares()) {
            for (u64 i = 0; i < share.ids.size(); ++i) {
                const u32 number = first + share.offset + static_cast<u32>(i);
                image.numbers[share.ids[i].value] = number;
                image.ids[number] = share.ids[i].value;
            }
        }
    }
    std::vector<PartnerDraws> draws;
    for (std::size_t i = 0; i < network.projections.size(); ++i) {
        const ProjectionPlan& plan = network.projections[i];
        device::ProjectionImage& made = image.projections.emplace_back();
        // Without major neurons, nothing is drawn.
        draws.emplace_back();
        if (!drawn[i] || is_empty(plan)) continue;
        draws.back() = plan.sampler->partner_draws().value();
        made.draws = numbers_of(network, plan, draws.back());
        made.numbers = std::move(draws.back().numbers);
        made.partner_ids = std::move(draws.back().partner_ids);
        made.own_partners = std::move(draws.back().own_partners);
    }
    draw_degrees(image.projections, draws, team);
    for (std::size_t i = 0; i < draws.size(); ++i) divide(image.projections[i], draws[i]);
    // Threads with neighbouring items draw synapses of one block, so that they write to few rows at a time.
    u64 items = 0;
    for (u32 b = 0; b < layout.shards().size(); ++b) {
        for (u32 p = 0; p < draws.size(); ++p) {
            for (const connect::ShardLayout::PopulationShare& share : layout.shard(b).shares()) {
                const NeuronId first_major{draws[p].first_major};
                // Those between major neurons draw nothing.
                const u64 extent = std::max<u64>(draws[p].majors, image.projections[p].numbers.size());
                const IdSequence majors = share.ids.within(first_major, extent);
                if (majors.empty()) continue;
                const auto place = static_cast<u32>(share.ids.count_below(first_major));
                image.segments.push_back({.first_item = items,
                                          .projection = p,
                                          .first_neuron = image.first_neurons[b] + share.offset + place});
                items += majors.size() * image.projections[p].draws.parts;
            }
        }
    }
    image.segments.push_back({.first_item = items});
    return image;
}

std::vector<device::u64> input_counts(const connect::TableBuilder& builder, const device::ConstructionImage& image,
                                      std::uint32_t receptors) {
    const std::size_t neurons = image.ids.size();
    std::vector<u64> counts(receptors * neurons, 0);
    for (u32 b = 0; b < image.first_neurons.size(); ++b) {
        for (u32 receptor = 0; receptor < receptors; ++receptor) {
            const auto first = static_cast<std::ptrdiff_t>(receptor * neurons + image.first_neurons[b]);
            std::ranges::copy(builder.inputs(b, receptor), counts.begin() + first);
        }
    }
    return counts;
}

bool DrawnRowWeights::are_lost() const {
    return std::ranges::any_of(rows_.weights, [](const device::DrawnWeights& each) { return each.is_lost != 0; });
}

connect::WeightRange DrawnRowWeights::weights(std::size_t plan, std::uint32_t receptor) const {
    const ProjectionPlan& projection = network_->projections[plan];
    connect::WeightRange range;
    if (of_tables_ != nullptr) range = of_tables_->weights(plan, receptor);
    const auto join = [&](connect::KindIndex kind, std::size_t sign) {
        const device::DrawnWeights& drawn = rows_.weights[plan];
        if (network_->receptor(kind) != receptor || drawn.least_less_one[sign] == UINT32_MAX) return;
        connect::WeightRange of_sign;
        of_sign.least = static_cast<double>(std::bit_cast<float>(drawn.least_less_one[sign] + 1));
        of_sign.greatest = static_cast<double>(std::bit_cast<float>(drawn.greatest[sign]));
        of_sign.quantum = connect::quantum_of_single(of_sign.least);
        range.join(of_sign);
    };
    join(projection.positive_kind, 0);
    join(projection.negative_kind, 1);
    return range;
}

}  // namespace ranvier::engine
