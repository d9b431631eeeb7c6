#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "engine/agreement.hpp"
#include "engine/queries/queries.hpp"
#include "engine/queries/synapse_tables.hpp"
#include "network/network_checks.hpp"
#include "network/value_checks.hpp"
#include "ranvier/base/errors.hpp"

// Per-synapse parameters.
namespace ranvier::engine {

namespace {

/// Whether a value is within its bounds as stored, or within bounds that are rounded likewise: a value that was read
/// can be set.
bool keeps_bounds(double value, const Bounds& bounds, bool double_precision) {
    if (double_precision) return bounds.contains(value);
    const auto rounded = [](double number) { return static_cast<double>(static_cast<float>(number)); };
    Bounds stored = bounds;
    stored.lower = std::min(bounds.lower, rounded(bounds.lower));
    stored.upper = std::max(bounds.upper, rounded(bounds.upper));
    return stored.contains(value) && stored.contains(rounded(value));
}

}  // namespace

ConnectionAccess::ParameterPlace ConnectionAccess::parameter_of(std::uint64_t handle, std::string_view name) const {
    const connect::KindIndex kind = SynapseHandle::unpack(handle).kind;
    if (kind.value >= network_.plan().kinds.size()) throw unknown_handle(handle);
    const network::SynapseSpec& synapse = network_.synapse(kind);
    if (synapse.is_static()) {
        throw UnknownNameError({.object = "parameter of static_synapse",
                                .value = network::quoted(name),
                                .bound = "some of these synapses are static, and have none",
                                .remedy = "query the synapses of one projection"});
    }
    const auto infos = synapse.model->parameters;
    const auto info = std::ranges::find(infos, name, &models::ParameterInfo::name);
    if (info == infos.end()) {
        std::vector<std::string_view> known;
        for (const models::ParameterInfo& one : infos) known.push_back(one.name);
        throw unknown_name("parameter of " + std::string(synapse.model->name), name, known);
    }
    const auto index = static_cast<std::uint32_t>(info - infos.begin());
    const std::vector<std::uint32_t> per_synapse = synapse.per_synapse_parameters();
    const auto column = std::ranges::find(per_synapse, index);
    if (column == per_synapse.end()) return {&*info, synapse.values()[index], std::nullopt};
    return {&*info, 0.0, static_cast<std::size_t>(column - per_synapse.begin())};
}

std::vector<double> ConnectionAccess::parameters(std::span<const std::uint64_t> handles, std::string_view name) const {
    ParameterPlaces places;
    for (const std::uint64_t handle : handles) {
        const std::uint32_t kind = SynapseHandle::unpack(handle).kind.value;
        if (!places.contains(kind)) places.emplace(kind, parameter_of(handle, name));
    }
    const std::vector<LocalSynapse> local = local_synapses(handles);
    // One process has each value; the others have zero bits, which are the smallest.
    std::vector<std::uint64_t> bits(handles.size());
    agree(communicator_, "parameters of synapses", [&] {
        for (const LocalSynapse& synapse : local) {
            const SynapseHandle handle{synapse.shard, synapse.kind, synapse.position};
            const ParameterPlace& place = places.at(synapse.kind.value);
            const connect::StoredSynapses& synapses = synapses_of(shards_, handle);
            bits[synapse.index] = std::bit_cast<std::uint64_t>(
                place.column ? synapses.parameter(*place.column, handle.position) : place.shared);
        }
    });
    communicator_.reduce(bits, comm::Reduction::greatest);
    std::vector<double> values(handles.size());
    std::memcpy(values.data(), bits.data(), bits.size() * sizeof(double));
    return values;
}

std::string ConnectionAccess::ids_text(std::uint64_t handle) const {
    std::uint64_t ids[2] = {0, 0};  // ids of source and target, plus one
    for (const LocalSynapse& synapse : local_synapses(std::span(&handle, 1))) {
        const connect::SynapseTable& table = table_of(shards_, {synapse.shard, synapse.kind, synapse.position});
        if (!table.has_sources()) break;
        const connect::StoredSynapses& synapses = *table.synapses();
        ids[0] = table.source(synapses.row_of(synapse.position)).value + 1;
        const Shard& shard = *shards_[synapse.shard];
        const LocalIndex target = shard.synapses().inputs(synapse.kind).neuron(synapses.target(synapse.position));
        ids[1] = shard.layout().id_of(target).value + 1;
    }
    communicator_.reduce(ids, comm::Reduction::greatest);
    if (ids[0] == 0) return "";
    return " (from neuron " + std::to_string(ids[0] - 1) + " to neuron " + std::to_string(ids[1] - 1) + ")";
}

ConnectionAccess::ParameterPlaces ConnectionAccess::checked_places(std::span<const std::uint64_t> handles,
                                                                   const std::string& name,
                                                                   std::span<const double> values,
                                                                   bool double_weights) const {
    if (handles.size() != values.size()) {
        throw ShapeError({.object = name + " of " + counted(handles.size(), "synapse"),
                          .value = counted(values.size(), "value"),
                          .bound = "one value is needed for each synapse",
                          .remedy = "give an array of that length"});
    }
    ParameterPlaces places;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        const auto [found, is_new] = places.try_emplace(SynapseHandle::unpack(handles[i]).kind.value);
        ParameterPlace& place = found->second;
        if (is_new) place = parameter_of(handles[i], name);
        const auto fail = [&](std::string bound, std::string remedy) {
            throw ValueOutOfBoundsError({.object = name + " of synapse " + std::to_string(i) + ids_text(handles[i]),
                                         .value = to_text(values[i]),
                                         .bound = std::move(bound),
                                         .remedy = std::move(remedy)});
        };
        if (!place.column) {
            fail("all synapses of its projection share this parameter",
                 "give connect() an array or a distribution of it, or build the network again with another value");
        }
        if (place.info->per_synapse != models::PerSynapse::yes) {
            fail("it cannot change after the network was built", "build the network again");
        }
        if (!std::isfinite(values[i])) fail("it must be finite", "give a number");
        if (keeps_bounds(values[i], place.info->bounds, double_weights)) continue;
        fail("it must be " + ranvier::describe(place.info->bounds), "give a value within the bounds");
    }
    return places;
}

void ConnectionAccess::set_parameters(std::span<const std::uint64_t> handles, const GivenParameters& given,
                                      bool double_weights) {
    std::vector<std::pair<ParameterPlaces, std::span<const double>>> checked;
    checked.reserve(given.size());
    for (const auto& [name, values] : given) {
        checked.emplace_back(checked_places(handles, name, values, double_weights), values);
    }
    const std::vector<LocalSynapse> local = local_synapses(handles);
    agree(communicator_, "setting parameters of synapses", [&] {
        for (const LocalSynapse& synapse : local) table_of(shards_, {synapse.shard, synapse.kind, synapse.position});
    });
    for (const auto& [places, values] : checked) {
        for (const LocalSynapse& synapse : local) {
            synapses_of(shards_, {synapse.shard, synapse.kind, synapse.position})
                .set_parameter(places.at(synapse.kind.value).column.value_or(0), std::span(&synapse.position, 1),
                               values.subspan(synapse.index, 1));
        }
    }
}

}  // namespace ranvier::engine
