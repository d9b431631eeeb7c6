#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/forecast/memory.hpp"
#include "engine/gather.hpp"
#include "engine/simulation/simulation_implementation.hpp"

namespace ranvier::engine {

namespace {

/// Empties a list and its memory.
template <class T>
void give_back(std::pmr::vector<T>& list) {
    list = std::pmr::vector<T>(list.get_allocator());
}

/// Before recordings are taken, so that nothing of them is lost: makes sure that all processes have room for what is taken
/// out of the shards, what is gathered, and the arrays that are handed out. @note Collective, unless they stay local.
void check_room_for(comm::Communicator& communicator, const std::string& what, std::uint64_t own_bytes, Gather how) {
    // Asking the system takes longer than moving so little.
    constexpr std::uint64_t least = 16 << 20;
    const auto check = [&](std::uint64_t bytes) {
        if (bytes < least) return;
        check_room("memory for " + what, bytes, communicator.host_size(),
                   "read the data more often, record less, or record to a file");
    };
    if (communicator.size() == 1 || communicator.is_dry_run() || how == Gather::local) {
        check(own_bytes);
        return;
    }
    const std::uint64_t all_bytes = communicator.sum(own_bytes);
    const bool gets = how == Gather::everywhere || communicator.rank() == Rank{0};
    agree(communicator, what, [&] { check(own_bytes + (gets ? 2 * all_bytes : 0)); });
}

}  // namespace

SpikeData Simulation::take_spikes(network::RecorderIndex recorder, Gather how) {
    std::uint64_t recorded = 0;
    for (const auto& shard : implementation_->shards) recorded += shard->recorders().spikes(recorder).size();
    check_room_for(*implementation_->communicator, "spikes that were recorded", recorded * sizeof(RecordedSpike), how);
    std::vector<RecordedSpike> all;
    all.reserve(recorded);
    for (const auto& shard : implementation_->shards) {
        std::pmr::vector<RecordedSpike>& own = shard->recorders().spikes(recorder);
        all.insert(all.end(), own.begin(), own.end());
        give_back(own);
        shard->recorders().publish_bytes();
    }
    all = gather(*implementation_->communicator, std::move(all), how);
    std::sort(all.begin(), all.end());
    SpikeData data;
    data.steps.reserve(all.size());
    data.neurons.reserve(all.size());
    for (const RecordedSpike& spike : all) {
        data.steps.push_back(spike.step);
        data.neurons.push_back(spike.neuron.value);
    }
    return data;
}

StateData Simulation::take_state(network::RecorderIndex recorder, Gather how) {
    const std::size_t variables = implementation_->network.state_recorders()[recorder].variables.size();
    std::uint64_t recorded = 0;
    for (const auto& shard : implementation_->shards) recorded += shard->recorders().state(recorder).values.size();
    check_room_for(*implementation_->communicator, "state variables that were recorded", recorded * sizeof(double),
                   how);
    StateData data;
    std::vector<std::uint64_t> places;
    for (const auto& shard : implementation_->shards) {
        StateRecorder& own = shard->recorders().state(recorder);
        data.steps.assign(own.steps.begin(), own.steps.end());
        give_back(own.steps);
        places.insert(places.end(), own.places.begin(), own.places.end());
    }
    // One column for each neuron, in the order of the shards, then of the processes.
    const std::size_t rows = data.steps.size() * variables;
    std::vector<double> columns;
    columns.reserve(rows * places.size());
    for (const auto& shard : implementation_->shards) {
        StateRecorder& own = shard->recorders().state(recorder);
        const std::size_t neurons = own.places.size();
        for (std::size_t i = 0; i < neurons; ++i) {
            for (std::size_t row = 0; row < rows; ++row) columns.push_back(own.values[row * neurons + i]);
        }
        give_back(own.values);
        shard->recorders().publish_bytes();
    }
    places = gather(*implementation_->communicator, std::move(places), how);
    columns = gather(*implementation_->communicator, std::move(columns), how);
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
    data.values.resize(columns.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        data.places.push_back(places[order[i]]);
        for (std::size_t row = 0; row < rows; ++row) {
            data.values[row * order.size() + i] = columns[order[i] * rows + row];
        }
    }
    return data;
}

std::uint64_t Simulation::recorded_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& shard : implementation_->shards) bytes += shard->recorders().published_bytes();
    return bytes;
}

std::uint64_t Simulation::count_connections(const ConnectionQuery& query) const {
    return implementation_->connections().count(query, *implementation_->team);
}

ConnectionData Simulation::connections(const ConnectionQuery& query) const {
    return implementation_->connections().find(query, *implementation_->team);
}

std::vector<std::uint32_t> Simulation::receptors(std::span<const std::uint64_t> handles) const {
    return implementation_->connections().receptors(handles);
}

std::vector<double> Simulation::weights(std::span<const std::uint64_t> handles) const {
    return implementation_->connections().weights(handles);
}

std::vector<std::uint64_t> Simulation::stored_here(std::span<const std::uint64_t> handles) const {
    return implementation_->connections().stored_here(handles);
}

void Simulation::set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights) {
    implementation_->connections().set_weights(handles, weights, implementation_->build_options.double_weights, step());
    for (const std::uint64_t handle : handles) {
        implementation_->weights_set[SynapseHandle::unpack(handle).kind.value] = true;
    }
}

std::vector<double> Simulation::synapse_parameters(std::span<const std::uint64_t> handles,
                                                   std::string_view name) const {
    return implementation_->connections().parameters(handles, name);
}

void Simulation::set_synapse_parameters(std::span<const std::uint64_t> handles, const GivenParameters& given) {
    implementation_->connections().set_parameters(handles, given, implementation_->build_options.double_weights);
    for (const std::uint64_t handle : handles) {
        // They are saved beside weights.
        implementation_->weights_set[SynapseHandle::unpack(handle).kind.value] = true;
    }
}

std::vector<double> Simulation::get(PopulationId population, std::string_view name,
                                    std::span<const std::uint64_t> indices) const {
    return implementation_->neurons().get(population, name, indices);
}

}  // namespace ranvier::engine
