#include "connect/tables/table_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "connect/tables/delay_blocks.hpp"
#include "connect/tables/kept_partners.hpp"
#include "connect/tables/layout_choice.hpp"
#include "connect/tables/source_containers.hpp"
#include "connect/tables/synapse_stage.hpp"
#include "connect/tables/table_plan.hpp"

namespace ranvier::connect {

namespace {

/// Sources with the same expected number of synapses on this process.
struct SourceStretch {
    double sources = 0.0;
    double synapses = 0.0;  ///< of each source
};

/// Closer than expected_synapses_here(), which also decides what all processes do in the same way.
double synapses_here(const ProjectionPlan& plan, const ProcessLayout& layout) {
    return plan.sampler->expected_synapses_here().value_or(expected_synapses_here(plan, layout));
}

template <class Select>
std::vector<SourceStretch> stretches(std::span<const ProjectionPlan> plans, const ProcessLayout& layout,
                                     Select select) {
    std::set<std::uint64_t> bounds;
    for (const ProjectionPlan& plan : plans) {
        if (!select(plan)) continue;
        bounds.insert(plan.pairs.first_source.value);
        bounds.insert(plan.pairs.first_source.value + plan.pairs.sources);
    }
    std::vector<SourceStretch> found;
    for (auto begin = bounds.begin(); begin != bounds.end() && std::next(begin) != bounds.end(); ++begin) {
        SourceStretch stretch{.sources = static_cast<double>(*std::next(begin) - *begin)};
        double present = 0.0;
        for (const ProjectionPlan& plan : plans) {
            const std::uint64_t first = plan.pairs.first_source.value;
            if (!select(plan) || *begin < first || *begin >= first + plan.pairs.sources) continue;
            stretch.synapses += synapses_here(plan, layout) / static_cast<double>(plan.pairs.sources);
            present += static_cast<double>(plan.sources) / static_cast<double>(plan.pairs.sources);
        }
        // Ids between those of the sources have no synapses. Sources of two projections are assumed to be different.
        if (present > 0.0 && present < 1.0) {
            stretch.sources *= present;
            stretch.synapses /= present;
        }
        if (stretch.synapses > 0.0) found.push_back(stretch);
    }
    return found;
}

/// Number of sources with a synapse at one place, for synapses distributed randomly over `places` places.
double expected_rows(std::span<const SourceStretch> sources, double places) {
    double rows = 0.0;
    for (const SourceStretch& stretch : sources) rows -= stretch.sources * std::expm1(-stretch.synapses / places);
    return rows;
}

/// The expected range of drawn delays: tables depend on it, not on the range of the distributions.
std::pair<DelaySteps, DelaySteps> expected_delays(std::span<const ProjectionPlan> plans, const ProcessLayout& layout,
                                                  KindIndex kind) {
    DelaySteps least = UINT32_MAX;
    DelaySteps greatest = 1;
    const double shards = static_cast<double>(layout.shards().size());
    for (const ProjectionPlan& plan : plans) {
        if (!counts_for(plan, kind) || plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        const auto [low, high] = plan.delays.expected_range(expected_synapses_here(plan, layout) / shards);
        least = std::min(least, round_delay(low, plan.delay_grid));
        greatest = std::max(greatest, round_delay(high, plan.delay_grid));
    }
    return {std::min(least, greatest), greatest};
}

/// The neurons of a shard reached by synapses of a kind, and those from the first of them to the last.
void describe_targets(TableEstimate::Table& expected, std::span<const ProjectionPlan> plans,
                      const ProcessLayout& layout, KindIndex kind) {
    std::map<std::uint64_t, std::uint64_t> stretches;  // of ids: begin, end
    for (const ProjectionPlan& plan : plans) {
        if (!counts_for(plan, kind) || plan.pairs.targets == 0) continue;
        const std::uint64_t first = plan.pairs.first_target.value;
        std::uint64_t& end = stretches[first];
        end = std::max(end, first + plan.pairs.targets);
    }
    const auto shards = static_cast<double>(layout.shards().size());
    const auto count = [&](std::uint64_t begin, std::uint64_t end) {
        return static_cast<double>(layout.ids().within(NeuronId{begin}, end - begin).size()) / shards;
    };
    std::uint64_t passed = 0;
    for (const auto& [begin, end] : stretches) {
        if (end > std::max(begin, passed)) expected.targets += count(std::max(begin, passed), end);
        passed = std::max(passed, end);
    }
    if (passed > 0) expected.from_first_to_last = count(stretches.begin()->first, passed);
}

/// Bytes per synapse for numbering the synapses of a pair, if any pair on the shard has several.
double numbering_bytes(std::span<const ProjectionPlan> plans, const ProcessLayout& layout, KindIndex kind) {
    double repeats = 0.0;
    double most = 0.0;  // synapses of a pair
    for (const ProjectionPlan& plan : plans) {
        const double synapses = plan.sampler->expected_synapses();
        if (!counts_for(plan, kind) || synapses == 0.0) continue;
        repeats += plan.sampler->expected_repeats() * expected_synapses_here(plan, layout) / synapses;
        most = std::max(most,
                        synapses / static_cast<double>(plan.pairs.sources) / static_cast<double>(plan.pairs.targets));
    }
    const double any = -std::expm1(-repeats / static_cast<double>(layout.shards().size()));
    const double greatest = std::max(1.0, std::min(most + 3.0 * std::sqrt(most) - 1.0, double{UINT32_MAX}));
    return any * static_cast<double>(narrow_bytes(static_cast<std::uint32_t>(greatest)));
}

/// Expected activity at the table of one kind on a shard. @param rows for which there are spikes
void describe_table(TableEstimate::Table& expected, const TablePlan& table, double synapses, double rows,
                    std::pair<DelaySteps, DelaySteps> delays, bool double_weights) {
    const auto [least, greatest] = delays;
    expected.used = true;
    expected.longest_delay = greatest;
    expected.rows = rows;
    expected.dynamics = table.dynamics;
    expected.double_weights = double_weights;
    expected.synapses = synapses;
    // Delays of a row are assumed to be evenly distributed.
    expected.delays = static_cast<double>(greatest - least) + 1.0;
    expected.runs = rows > 0.0 ? -expected.delays * std::expm1(-synapses / rows / expected.delays) : 0.0;
    if (greatest == least) expected.runs = 1.0;
}

/// @param of_synapses bytes
double bytes_beside_columns(const PlasticTableMemory& memory, double of_synapses, double rows,
                            const BuildOptions& options) {
    const std::size_t rule = options.compiled_rules ? memory.compiled_rule_bytes : memory.interpreted_rule_bytes;
    return of_synapses + static_cast<double>(memory.row_bytes) * rows +
           static_cast<double>(memory.constant_bytes + rule);
}

/// Bytes of the containers of sources on a shard, over the distribution of synapses, as the heap allocates them.
template <class Weight>
double expected_containers(std::span<const SourceStretch> sources, double shards, double possible,
                           std::size_t parameters) {
    // Of a block of the heap: its size, and the multiple to which it is rounded.
    constexpr double heap_head = 8.0;
    constexpr double heap_step = 16.0;
    constexpr double pointer = sizeof(void*);
    double bytes = static_cast<double>(SourceContainers<Weight>::table_bytes(static_cast<std::uint64_t>(possible)));
    for (const SourceStretch& stretch : sources) {
        const double mean = stretch.synapses / shards;
        const double most = mean + 6.0 * std::sqrt(mean) + 3.0;
        double probability = std::exp(-mean);
        // Rows this long are all but equal in length.
        if (probability == 0.0) {
            const auto synapses = static_cast<std::uint64_t>(mean);
            const auto whole = static_cast<double>(SourceContainers<Weight>::bytes(synapses, parameters));
            bytes += stretch.sources * (whole + heap_head + pointer);
            continue;
        }
        for (double synapses = 1.0; synapses <= most; synapses += 1.0) {
            probability *= mean / synapses;
            const auto whole =
                static_cast<double>(SourceContainers<Weight>::bytes(static_cast<std::uint64_t>(synapses), parameters));
            const double of_heap = std::ceil((whole + heap_head) / heap_step) * heap_step;
            bytes += stretch.sources * probability * (of_heap + pointer);
        }
    }
    return bytes;
}

/// Adds the memory of the tables of one kind on all shards to the estimate.
/// @param sources of its synapses
void add_table(TableEstimate& estimate, const NetworkPlan& network, KindIndex kind, const TablePlan& table,
               std::span<const SourceStretch> sources, std::pair<DelaySteps, DelaySteps> delays,
               const ProcessLayout& layout, const BuildOptions& options) {
    TableEstimate::Table& expected = estimate.tables[kind.value];
    const auto shards = static_cast<double>(layout.shards().size());
    double synapses = 0.0;
    for (const SourceStretch& stretch : sources) synapses += stretch.sources * stretch.synapses;
    const double share = synapses / shards;
    const auto [least, greatest] = delays;
    const DelaySteps range = greatest - least;
    const double planned_range = table.greatest_delay - table.least_delay;
    const double delay_bytes = planned_range == 0.0 ? 0.0 : (planned_range > UINT8_MAX ? 2.0 : 1.0);
    const double possible = table.row_map.rows();
    const bool dense = table.numbering == RowNumbering::dense;
    const bool unsorted = table.numbering == RowNumbering::unsorted;
    const double present = expected_rows(sources, shards);
    const double rows = dense ? possible : (unsorted ? share : present);
    const double start_bytes = share <= UINT32_MAX ? 4.0 : 8.0;
    const double starts = unsorted ? 0.0 : start_bytes * (rows + 1.0);
    const double index_bytes =
        table.numbering == RowNumbering::sparse ? static_cast<double>(SourceIndex::bytes(table.row_map.rows())) : 0.0;
    const double source_bytes = dense ? 0.0 : 4.0 * rows;
    // Three standard deviations above the mean row.
    double longest = 0.0;
    for (const SourceStretch& stretch : sources) {
        longest = std::max(longest, stretch.synapses / shards + 3.0 * std::sqrt(stretch.synapses / shards));
    }
    const double offset_bytes = longest <= UINT16_MAX ? 2.0 : 4.0;
    const double buckets = std::ldexp(possible, -static_cast<int>(table.bucket_bits)) + 1.0;
    const bool dynamic = table.dynamics != nullptr;
    const PlasticTableMemory more = dynamic ? table.dynamics->memory(options.double_weights) : PlasticTableMemory{};
    const double numbering = more.numbers_pairs ? numbering_bytes(network.projections, layout, kind) : 0.0;
    expected.number_bytes = numbering;
    const double more_bytes =
        bytes_beside_columns(more, (static_cast<double>(more.synapse_bytes) + numbering) * share, rows, options);
    const double freed = options.keep_sources || more.needs_sources ? 0.0 : source_bytes;
    const double weight_bytes = options.double_weights ? sizeof(double) : sizeof(float);
    for (const ShardLayout& shard : layout.shards()) {
        const InputLayout inputs = network.inputs_at(table.receptor, shard);
        const double target_bytes = has_narrow_targets(inputs.size()) ? 2.0 : 4.0;
        const double columns =
            share * (target_bytes + weight_bytes * (1.0 + static_cast<double>(table.per_synapse_parameters())) +
                     (table.tagged ? 2.0 : 0.0));
        DelayBlocks blocks = has_narrow_targets(inputs.size()) ? divide_delays<std::uint16_t>(range + 1, inputs.size())
                                                               : divide_delays<std::uint32_t>(range + 1, inputs.size());
        TableLayout chosen = dynamic || unsorted ? TableLayout::ring : options.layout;
        if (chosen == TableLayout::automatic) {
            chosen = choose_layout({.synapses = static_cast<std::uint64_t>(share),
                                    .rows = static_cast<std::uint64_t>(rows),
                                    .delays = range + 1,
                                    .longest_delay = greatest,
                                    .inputs = inputs.size(),
                                    .blocks = blocks});
        }
        if (options.divides_rows) {
            blocks = divide_further(blocks, range + 1, static_cast<std::uint64_t>(share / std::max(present, 1.0)));
        }
        if (chosen != TableLayout::runs) expected.reach = std::max(expected.reach, greatest);
        // Of the parts of a row.
        double offsets = 0.0;
        if (chosen == TableLayout::runs) offsets = rows * (range + 2.0) * offset_bytes;
        if (chosen == TableLayout::blocks && blocks.count > 1) offsets = rows * (blocks.count + 1.0) * offset_bytes;
        // While the rows with synapses are determined: the start of each bucket, and the source of each synapse.
        const double building = dense || unsorted ? 0.0 : start_bytes * buckets + 4.0 * share;
        const double of_targets = inputs.has_sites() ? static_cast<double>(more.input_bytes) * inputs.size()
                                                     : static_cast<double>(more.target_bytes) * shard.size();
        const double kept = columns + starts + source_bytes + more_bytes + of_targets;
        estimate.final_bytes +=
            kept - freed + index_bytes + (chosen == TableLayout::ring ? share * delay_bytes : offsets);
        expected.columns_bytes += kept + share * delay_bytes;
        expected.finish_bytes += std::max({offsets, building, index_bytes});
    }
    if (table.numbering == RowNumbering::sparse) {
        const std::size_t parameters = table.per_synapse_parameters();
        expected.container_bytes =
            shards * (options.double_weights ? expected_containers<double>(sources, shards, possible, parameters)
                                             : expected_containers<float>(sources, shards, possible, parameters));
    }
    describe_targets(expected, network.projections, layout, kind);
    // Dense tables also have rows for absent sources, for which no spike comes.
    describe_table(expected, table, share, unsorted ? share : present, delays, options.double_weights);
}

/// @param drawing_bytes until all synapses are in the tables, or in the containers from which these are made
double peak_of_construction(const TableEstimate& estimate, double drawing_bytes) {
    double columns = 0.0;
    double finish = 0.0;
    double containers = 0.0;
    for (const TableEstimate::Table& table : estimate.tables) {
        columns += table.columns_bytes;
        finish += table.finish_bytes;
        containers += table.container_bytes;
    }
    if (containers == 0.0) return columns + std::max(finish, drawing_bytes);
    // Tables are made one after another, each from containers that are then freed.
    double peak = containers + drawing_bytes;
    double made = 0.0;
    for (const TableEstimate::Table& table : estimate.tables) {
        made += table.columns_bytes;
        peak = std::max(peak, made + containers + table.finish_bytes);
        containers -= table.container_bytes;
    }
    return peak;
}

/// Transmitters of the used tables.
std::vector<const Transmitter*> used_transmitters(const NetworkPlan& network, const TableEstimate& estimate) {
    std::vector<const Transmitter*> found;
    for (std::uint32_t i = 0; i < network.kinds.size(); ++i) {
        const SynapseDynamics* const dynamics = network.dynamics_of(KindIndex{i});
        if (!estimate.tables[i].used || dynamics == nullptr || dynamics->transmitter() == nullptr) continue;
        if (std::ranges::find(found, dynamics->transmitter()) == found.end()) found.push_back(dynamics->transmitter());
    }
    return found;
}

/// Neurons of a transmitter whose ids are outside the ranges of all projections' sources: the others also have
/// synapses, if tables are dense.
double neurons_without_synapses(const Transmitter& transmitter, std::span<const ProjectionPlan> plans) {
    std::uint64_t without = 0;
    for (std::uint64_t i = 0; i < transmitter.sources.size(); ++i) {
        const std::uint64_t id = transmitter.sources[i].value;
        without += std::ranges::none_of(plans, [&](const ProjectionPlan& plan) {
            const std::uint64_t first = plan.pairs.first_source.value;
            return first <= id && id < first + plan.pairs.sources;
        });
    }
    return static_cast<double>(without);
}

}  // namespace

TableEstimate estimate_tables(const NetworkPlan& network, const ProcessLayout& layout, const BuildOptions& options,
                              double index_bytes) {
    const std::span<const ProjectionPlan> plans = network.projections;
    TableEstimate estimate;
    const ProcessTables planned = plan_tables(network, layout, options);
    estimate.tables.resize(network.kinds.size());
    double all_rows = 0.0;
    for (std::uint32_t i = 0; i < network.kinds.size(); ++i) {
        const KindIndex kind{i};
        if (!planned.tables[i].used) continue;
        const auto sources =
            stretches(plans, layout, [&](const ProjectionPlan& plan) { return counts_for(plan, kind); });
        if (sources.empty()) continue;
        const auto delays = expected_delays(plans, layout, kind);
        add_table(estimate, network, kind, planned.tables[i], sources, delays, layout, options);
        all_rows += estimate.tables[i].rows * static_cast<double>(layout.shards().size());
    }
    const std::vector<const Transmitter*> transmitters = used_transmitters(network, estimate);
    for (const Transmitter* const transmitter : transmitters) {
        estimate.transmitters.push_back(static_cast<double>(transmitter->sources.size()));
        all_rows += estimate.transmitters.back() * static_cast<double>(layout.shards().size());
    }
    const auto is_staged = [&](const ProjectionPlan& plan) { return stages_synapses(plan, layout, options); };
    // Each worker has a stage, and there are as many workers as shards.
    const std::size_t stages = std::ranges::any_of(plans, is_staged) ? layout.shards().size() : 0;
    const double kept =
        planned.numbering == RowNumbering::sparse ? 0.0 : plan_passes(network, layout).kept_beside_columns;
    const double drawing_bytes = static_cast<double>(SynapseStage::bytes() * stages) + kept + index_bytes;
    estimate.peak_bytes = peak_of_construction(estimate, drawing_bytes);
    const auto any = stretches(plans, layout, [](const ProjectionPlan&) { return true; });
    const double sources_here = expected_rows(any, 1.0);
    estimate.dense = planned.numbering == RowNumbering::dense;
    if (estimate.dense) {
        estimate.addresses = sources_here;
        for (const ProjectionPlan& plan : plans) {
            estimate.address_limit = std::max(estimate.address_limit,
                                              static_cast<double>(plan.pairs.first_source.value + plan.pairs.sources));
        }
        for (const Transmitter* const transmitter : transmitters) {
            estimate.addresses += neurons_without_synapses(*transmitter, plans);
            estimate.address_limit =
                std::max(estimate.address_limit, static_cast<double>(transmitter->sources.back().value + 1));
        }
    } else {
        estimate.addresses = all_rows;
        estimate.address_limit = std::max(1.0, all_rows);
    }
    return estimate;
}

}  // namespace ranvier::connect
