#include "engine/queries/queries.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "base/counted.hpp"
#include "engine/agreement.hpp"
#include "engine/forecast/memory.hpp"
#include "engine/queries/shard_search.hpp"
#include "engine/queries/synapse_tables.hpp"
#include "engine/shard/weight_checks.hpp"
#include "network/network_checks.hpp"
#include "network/receptor_choice.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/engine/gather.hpp"

namespace ranvier::engine {

namespace {

struct Found {
    std::uint32_t projection;
    std::uint32_t delay;
    std::uint32_t site;
    std::uint64_t source;
    std::uint64_t target;
    std::uint64_t handle;
};

bool canonical_order(const Found& a, const Found& b) {
    if (a.projection != b.projection) return a.projection < b.projection;
    if (a.source != b.source) return a.source < b.source;
    if (a.target != b.target) return a.target < b.target;
    if (a.delay != b.delay) return a.delay < b.delay;
    // All synapses of one pair are on one shard, so that the position in the table is the order of drawing; weights
    // of different signs may be in different tables.
    return a.handle < b.handle;
}

void check_sites(const network::Network& network, const ConnectionQuery& query) {
    std::uint32_t most = 1;
    for (const network::Population& population : network.populations()) {
        for (std::uint32_t receptor = 0; receptor < population.model->sites.size(); ++receptor) {
            if (query.receptor && population.model->receptors[receptor] != *query.receptor) continue;
            most = std::max(most, population.model->sites[receptor].most);
        }
    }
    for (const std::uint64_t site : query.sites.value()) {
        if (site < most) continue;
        throw ValueOutOfBoundsError({.object = "site in a query of connections",
                                     .value = std::to_string(site),
                                     .bound = "sites go from 0 to " + std::to_string(most) + " - 1",
                                     .remedy = "use the sites of a receptor"});
    }
}

void check_query(const network::LoweredNetwork& network, const ConnectionQuery& query) {
    const std::uint64_t units = network.network().unit_count();
    for (const auto* ids : {&query.sources, &query.targets}) {
        if (!*ids) continue;
        for (const std::uint64_t id : **ids) {
            if (id < units) continue;
            throw ValueOutOfBoundsError({.object = "neuron id in a query of connections",
                                         .value = std::to_string(id),
                                         .bound = "ids go from 0 to " + std::to_string(units) + " - 1",
                                         .remedy = "use the ids of a population"});
        }
    }
    if (query.receptor) {
        std::vector<std::string_view> known;
        for (const network::Population& population : network.network().populations()) {
            for (const std::string_view name : population.model->receptors) {
                if (std::ranges::find(known, name) == known.end()) known.push_back(name);
            }
        }
        if (std::ranges::find(known, *query.receptor) == known.end())
            throw unknown_name("receptor in a query of connections", *query.receptor, known);
    }
    if (query.sites) check_sites(network.network(), query);
    if (query.projection && query.projection->value >= network.plans().size()) {
        throw ValueOutOfBoundsError({.object = "projection in a query of connections",
                                     .value = std::to_string(query.projection->value),
                                     .bound = "the network has " + std::to_string(network.plans().size()),
                                     .remedy = "use a projection of this network"});
    }
}

void check_sources(std::span<const std::unique_ptr<Shard>> shards) {
    for (const auto& shard : shards) {
        for (const auto& table : shard->synapses().tables()) {
            if (!table || table->has_sources()) continue;
            throw StateError({.object = "connections",
                              .value = "",
                              .bound = "the sources of synapses were discarded when the network was built",
                              .remedy = "build the simulation with keep_sources=True"});
        }
    }
}

}  // namespace

std::uint32_t ConnectionAccess::first_shard() const {
    // Processes may have different numbers of shards; the global numbering uses the maximum.
    const std::uint64_t most = communicator_.greatest(shards_.size());
    const std::uint64_t first = most * static_cast<std::uint64_t>(communicator_.rank().value);
    const std::uint64_t all = most * static_cast<std::uint64_t>(communicator_.size());
    if (all > std::uint64_t{1} << SynapseHandle::shard_bits) {
        throw ValueOutOfBoundsError({.object = "number of threads of all processes",
                                     .value = std::to_string(all),
                                     .bound = "connections can be queried with at most 262144",
                                     .remedy = "use fewer threads, or a smaller network"});
    }
    for (const auto& shard : shards_) {
        for (const auto& table : shard->synapses().tables()) {
            const connect::StoredSynapses* const synapses = table ? table->synapses() : nullptr;
            if (synapses == nullptr || synapses->size() >> SynapseHandle::position_bits == 0) continue;
            throw ValueOutOfBoundsError({.object = "number of synapses of one kind of one thread",
                                         .value = std::to_string(synapses->size()),
                                         .bound = "connections can be queried if there are fewer than 2^" +
                                                  std::to_string(SynapseHandle::position_bits),
                                         .remedy = "use more threads"});
        }
    }
    return static_cast<std::uint32_t>(first);
}

std::uint64_t ConnectionAccess::count(const ConnectionQuery& query, parallel::Team& team) const {
    const std::vector<std::uint64_t> counts = counts_here(query, team);
    return communicator_.sum(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
}

std::vector<std::uint64_t> ConnectionAccess::counts_here(const ConnectionQuery& query, parallel::Team& team) const {
    check_query(network_, query);
    std::vector<std::uint64_t> counts(shards_.size(), 0);
    if (!query.sources && !query.targets && !query.projection && !query.receptor && !query.sites) {
        std::ranges::transform(shards_, counts.begin(), [](const auto& shard) { return shard->synapses().size(); });
        return counts;
    }
    agree(communicator_, "connections", [&] {
        check_sources(shards_);
        visit_shards(team, [&](std::uint32_t shard) {
            std::uint64_t count = 0;
            ShardSearch(network_, *shards_[shard], query)
                .visit(team, [&](connect::KindIndex, ProjectionId, NeuronId, NeuronId, std::uint32_t,
                                 const connect::SynapseView&) { ++count; });
            counts[shard] = count;
        });
    });
    return counts;
}

namespace {

/// Merges the lists of all shards, each of which is in the canonical order, into columns in that order.
ConnectionData merge(const std::vector<std::vector<Found>>& found) {
    std::uint64_t total = 0;
    for (const std::vector<Found>& list : found) total += list.size();
    ConnectionData data;
    data.sources.reserve(total);
    data.targets.reserve(total);
    data.delays.reserve(total);
    data.projections.reserve(total);
    data.sites.reserve(total);
    data.handles.reserve(total);
    // The rest of each list; the one with the first of all synapses is at the front.
    std::vector<std::span<const Found>> left;
    for (const std::vector<Found>& list : found) {
        if (!list.empty()) left.emplace_back(list);
    }
    const auto comes_later = [](std::span<const Found> a, std::span<const Found> b) {
        return canonical_order(b.front(), a.front());
    };
    std::ranges::make_heap(left, comes_later);
    while (!left.empty()) {
        std::ranges::pop_heap(left, comes_later);
        const Found& synapse = left.back().front();
        left.back() = left.back().subspan(1);
        if (left.back().empty()) {
            left.pop_back();
        } else {
            std::ranges::push_heap(left, comes_later);
        }
        data.sources.push_back(synapse.source);
        data.targets.push_back(synapse.target);
        data.delays.push_back(synapse.delay);
        data.projections.push_back(synapse.projection);
        data.sites.push_back(synapse.site);
        data.handles.push_back(synapse.handle);
    }
    return data;
}

}  // namespace

ConnectionData ConnectionAccess::find(const ConnectionQuery& query, parallel::Team& team) const {
    const std::vector<std::uint64_t> counts = counts_here(query, team);
    const std::uint64_t here = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    const std::uint64_t expected = communicator_.is_dry_run() ? here : communicator_.sum(here);
    agree(communicator_, "connections", [&] {
        check_sources(shards_);
        // The lists of the shards, the concatenated lists, those of all processes, and the returned columns.
        const std::uint64_t gathered = communicator_.size() > 1 ? here + expected : 0;
        constexpr std::uint64_t columns = 7 * sizeof(std::uint64_t);  // delays in steps and in ms
        check_room("memory for the " + counted(expected, "connection") + " of a query",
                   (here + gathered) * sizeof(Found) + expected * columns, communicator_.host_size(),
                   "ask for fewer sources, targets or projections at a time");
    });
    const std::uint32_t first = first_shard();
    std::vector<std::vector<Found>> found(shards_.size());
    agree(communicator_, "connections", [&] {
        visit_shards(team, [&](std::uint32_t shard) {
            std::vector<Found>& list = found[shard];
            list.reserve(counts[shard]);
            ShardSearch(network_, *shards_[shard], query)
                .visit(team, [&](connect::KindIndex kind, ProjectionId projection, NeuronId source, NeuronId target,
                                 std::uint32_t site, const connect::SynapseView& view) {
                    list.push_back({projection.value, view.delay, site, source.value, target.value,
                                    SynapseHandle{first + shard, kind, view.position}.pack()});
                });
            std::sort(list.begin(), list.end(), canonical_order);
        });
    });
    if (communicator_.size() > 1) {
        std::vector<Found> joined;
        joined.reserve(here);
        for (std::vector<Found>& list : found) {
            joined.insert(joined.end(), list.begin(), list.end());
            list = {};
        }
        found.assign(1, gather_everywhere<Found>(communicator_, std::move(joined)));
        std::sort(found[0].begin(), found[0].end(), canonical_order);
    }
    return merge(found);
}

namespace {

/// The bound of a weight, or its single-precision value if that is closer to 0.
double toward_zero(double bound) {
    const double rounded = static_cast<float>(bound);
    return std::abs(rounded) < std::abs(bound) ? rounded : bound;
}

}  // namespace

std::vector<ConnectionAccess::LocalSynapse> ConnectionAccess::local_synapses(
    std::span<const std::uint64_t> handles) const {
    const std::uint32_t first = first_shard();
    std::vector<LocalSynapse> local;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        SynapseHandle handle = SynapseHandle::unpack(handles[i]);
        // Shards of lower ranks wrap around to large numbers.
        handle.shard -= first;
        if (handle.shard < shards_.size()) local.push_back({i, handle.shard, handle.kind, handle.position});
    }
    // In a dry run all synapses are local.
    const std::uint64_t known = communicator_.is_dry_run() ? local.size() : communicator_.sum(local.size());
    if (known != handles.size()) {
        throw ValueOutOfBoundsError({.object = "handles of synapses",
                                     .value = std::to_string(handles.size() - known) + " unknown ones",
                                     .bound = "this simulation has no such synapses",
                                     .remedy = "use the handles of a query of this simulation"});
    }
    return local;
}

std::vector<std::uint32_t> ConnectionAccess::receptors(std::span<const std::uint64_t> handles) const {
    std::vector<std::uint32_t> receptors;
    receptors.reserve(handles.size());
    for (const std::uint64_t packed : handles) {
        const connect::KindIndex kind = SynapseHandle::unpack(packed).kind;
        if (kind.value >= network_.plan().kinds.size()) throw unknown_handle(packed);
        receptors.push_back(network_.plan().receptor(kind));
    }
    return receptors;
}

std::vector<std::uint64_t> ConnectionAccess::stored_here(std::span<const std::uint64_t> handles) const {
    std::vector<std::uint64_t> indices;
    for (const LocalSynapse& synapse : local_synapses(handles)) indices.push_back(synapse.index);
    return indices;
}

void ConnectionAccess::read_weights(std::span<const LocalSynapse> synapses, std::span<std::uint64_t> bits) const {
    struct TableSynapses {
        std::vector<std::uint64_t> positions;
        std::vector<std::size_t> indices;
    };
    std::map<std::pair<std::uint32_t, connect::KindIndex>, TableSynapses> parts;
    for (const LocalSynapse& synapse : synapses) {
        TableSynapses& part = parts[{synapse.shard, synapse.kind}];
        part.positions.push_back(synapse.position);
        part.indices.push_back(synapse.index);
    }
    std::vector<double> weights;
    for (const auto& [table, part] : parts) {
        for (const std::uint64_t position : part.positions) {
            table_of(shards_, {table.first, table.second, position});
        }
        weights.resize(part.positions.size());
        shards_[table.first]->synapses().table(table.second)->synapses()->read_weights(part.positions, weights);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            bits[part.indices[i]] = std::bit_cast<std::uint64_t>(weights[i]);
        }
    }
}

std::vector<double> ConnectionAccess::weights(std::span<const std::uint64_t> handles) const {
    const std::vector<LocalSynapse> local = local_synapses(handles);
    // One process has each weight; the others have zero bits, which are the smallest.
    std::vector<std::uint64_t> bits(handles.size());
    agree(communicator_, "weights of synapses", [&] {
        // Batch size: large enough to amortise fixed costs, small enough to bound memory.
        constexpr std::size_t at_once = std::size_t{1} << 20;
        for (std::size_t begin = 0; begin < local.size(); begin += at_once) {
            read_weights(std::span(local).subspan(begin, std::min(at_once, local.size() - begin)), bits);
        }
    });
    communicator_.reduce(bits, comm::Reduction::greatest);
    std::vector<double> weights(handles.size());
    std::memcpy(weights.data(), bits.data(), bits.size() * sizeof(double));
    return weights;
}

void ConnectionAccess::set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights,
                                   bool double_weights, Step now) {
    if (handles.size() != weights.size()) {
        throw ShapeError({.object = "weights of " + counted(handles.size(), "synapse"),
                          .value = counted(weights.size(), "value"),
                          .bound = "one value is needed for each synapse",
                          .remedy = "give an array of that length"});
    }
    const std::vector<LocalSynapse> local = local_synapses(handles);
    std::vector<double> stored;
    WeightRanges ranges;
    agree(communicator_, "setting weights", [&] {
        check_weights(local, weights);
        std::tie(stored, ranges) = stored_weights(handles, weights, double_weights);
        for (const auto& shard : shards_) shard->inputs().fit_sums(ranges);
    });
    // By table, since each table handles spikes in transit.
    struct TableWeights {
        std::vector<std::uint64_t> positions;
        std::vector<double> weights;
    };
    std::map<std::pair<std::uint32_t, connect::KindIndex>, TableWeights> parts;
    for (std::size_t i = 0; i < local.size(); ++i) {
        TableWeights& part = parts[{local[i].shard, local[i].kind}];
        part.positions.push_back(local[i].position);
        part.weights.push_back(stored[local[i].index]);
    }
    for (const auto& [table, part] : parts) {
        shards_[table.first]->synapses().set_weights(table.second, part.positions, part.weights, now);
    }
}

bool ConnectionAccess::was_chosen_by_sign(const SynapseHandle& handle, const ProjectionFinder& projections) const {
    const connect::SynapseTable& table = table_of(shards_, handle);
    const connect::ShardLayout& layout = shards_[handle.shard]->layout();
    const connect::StoredSynapses& synapses = *table.synapses();
    const LocalIndex target =
        shards_[handle.shard]->synapses().inputs(handle.kind).neuron(synapses.target(handle.position));
    const NeuronId source = table.source(synapses.row_of(handle.position));
    const connect::ProjectionPlan& plan = projections.find(synapses, handle.kind, source, layout.population_of(target),
                                                           layout.id_of(target), synapses.tag(handle.position));
    return network_.network().projections()[plan.id.value].receptor.empty();
}

void ConnectionAccess::check_synapse_bound(const connect::StoredSynapses& synapses, const SynapseHandle& handle,
                                           double weight, std::size_t place) const {
    const connect::SynapseDynamics& dynamics = *network_.plan().dynamics_of(handle.kind);
    const auto per_synapse = dynamics.per_synapse_parameters();
    const auto bound = dynamics.bound_parameter();
    const auto column = bound ? std::ranges::find(per_synapse, *bound) : per_synapse.end();
    if (column == per_synapse.end()) return;
    const double value = synapses.parameter(static_cast<std::size_t>(column - per_synapse.begin()), handle.position);
    // A weight rounded to single precision may equal its bound, rounded likewise.
    const auto rounded = static_cast<double>(static_cast<float>(weight));
    const auto fits = [&](double one) { return one >= std::min(value, 0.0) && one <= std::max(value, 0.0); };
    if (fits(weight) || fits(rounded)) return;
    throw ValueOutOfBoundsError({.object = "weight " + std::to_string(place),
                                 .value = to_text(weight),
                                 .bound = "weights of this synapse are from " + to_text(std::min(value, 0.0)) + " to " +
                                          to_text(std::max(value, 0.0)),
                                 .remedy = "keep within the bound of this synapse"});
}

void ConnectionAccess::check_weights(std::span<const LocalSynapse> local, std::span<const double> weights) const {
    const auto fail = [&](std::size_t i, std::string bound, std::string remedy) {
        throw ValueOutOfBoundsError({.object = "weight " + std::to_string(i),
                                     .value = to_text(weights[i]),
                                     .bound = std::move(bound),
                                     .remedy = std::move(remedy)});
    };
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!std::isfinite(weights[i])) fail(i, "a weight must be finite", "give a number");
        if (std::abs(weights[i]) <= network::largest_weight) continue;
        fail(i, "its absolute value can be at most " + to_text(network::largest_weight), "check its unit");
    }
    const ProjectionFinder projections(network_);
    std::map<std::pair<PopulationId, std::uint32_t>, double> bounds;
    for (const LocalSynapse& synapse : local) {
        const std::size_t i = synapse.index;
        const SynapseHandle handle{synapse.shard, synapse.kind, synapse.position};
        const connect::StoredSynapses& synapses = synapses_of(shards_, handle);
        const connect::ShardLayout& layout = shards_[handle.shard]->layout();
        const PopulationId population = layout.population_of(
            shards_[handle.shard]->synapses().inputs(handle.kind).neuron(synapses.target(handle.position)));
        const std::uint32_t receptor = network_.plan().receptor(handle.kind);
        const auto [place, is_new] = bounds.try_emplace({population, receptor});
        double& bound = place->second;
        if (is_new) bound = network_.weight_bound(population, receptor);
        if (std::abs(weights[i]) > bound) {
            fail(i, "weights onto this population are at most " + to_text(bound),
                 "give connect() the weight_bound that is needed");
        }
        if (const connect::SynapseDynamics* dynamics = network_.plan().dynamics_of(handle.kind)) {
            const double greatest_of_kind = weight_bounds_[handle.kind.value];
            // The bound of the kind includes the rounding of the model's bound to single precision.
            const double least =
                dynamics->least_weight() < 0.0 ? -greatest_of_kind : toward_zero(dynamics->least_weight());
            const double greatest =
                dynamics->greatest_weight() > 0.0 ? greatest_of_kind : toward_zero(dynamics->greatest_weight());
            check_synapse_bound(synapses, handle, weights[i], i);
            if (weights[i] >= least && weights[i] <= greatest) continue;
            fail(i, "weights of this synapse are from " + to_text(least) + " to " + to_text(greatest),
                 std::isinf(dynamics->greatest_weight()) ? "give connect() the weight_bound that is needed"
                                                         : "keep within the bounds of the synapse model");
        }
        const models::NeuronModel& model = *network_.network().population(population).model;
        network::check_weight_bounds(model, model.receptors[receptor], weights[i], "weight " + std::to_string(i));
        // Of receptors selected by the sign, 0 is that of weights >= 0.
        const bool other_sign = receptor == 0 ? weights[i] < 0.0 : weights[i] > 0.0;
        if (!model.sign_chooses_receptor || !other_sign || !was_chosen_by_sign(handle, projections)) continue;
        fail(i, "its sign would move the synapse to another receptor", "keep the sign, or build the network again");
    }
}

std::pair<std::vector<double>, WeightRanges> ConnectionAccess::stored_weights(std::span<const std::uint64_t> handles,
                                                                              std::span<const double> weights,
                                                                              bool double_weights) const {
    std::vector<double> stored(weights.begin(), weights.end());
    // Ranges of all processes, known on each of them.
    WeightRanges ranges = shards_.front()->inputs().weights();
    const auto reaches = [&](std::uint64_t handle, std::uint32_t receptor) {
        const connect::KindIndex kind = SynapseHandle::unpack(handle).kind;
        return kind.value < network_.plan().kinds.size() && network_.plan().receptor(kind) == receptor;
    };
    const auto learns = [&](std::uint64_t handle) {
        return network_.plan().dynamics_of(SynapseHandle::unpack(handle).kind) != nullptr;
    };
    for (std::uint32_t receptor = 0; receptor < ranges.size(); ++receptor) {
        std::vector<double> rounded_weights;
        for (std::size_t i = 0; i < handles.size(); ++i) {
            // Weights of synapses that learn are rounded when they are added to inputs.
            if (reaches(handles[i], receptor) && !learns(handles[i])) rounded_weights.push_back(weights[i]);
        }
        const connect::WeightRange range =
            connect::round_as_stored(InstructionSet::baseline, rounded_weights, double_weights);
        check_least_weight(range.least, double_weights, "least weight");
        ranges[receptor].join(range);
        check_sums(ranges[receptor], "these weights and the present ones");
        std::size_t next = 0;
        for (std::size_t i = 0; i < handles.size(); ++i) {
            if (reaches(handles[i], receptor) && !learns(handles[i])) stored[i] = rounded_weights[next++];
        }
    }
    return {std::move(stored), ranges};
}

}  // namespace ranvier::engine
