#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/forecast/memory_samples.hpp"
#include "engine/shard/group_creation.hpp"
#include "engine/shard/shard_memory.hpp"

namespace ranvier::engine {

namespace {

/// Neurons in the two samples from which the rest is extrapolated: whole blocks of neurons, so that what a group pads is
/// there in both. The second is an odd multiple of the first, so that it has all neurons of the first, too.
constexpr std::uint64_t small_sample = 128;
constexpr std::uint64_t large_sample = 9 * small_sample;
/// Values that are drawn to find the least and the greatest of a distribution.
constexpr std::uint64_t most_drawn = 1 << 14;

using Positions = std::vector<std::uint64_t>;

/// The middles of `most` equal parts of [0, size), so that values that grow or fall along a population are sampled
/// evenly.
Positions spread(std::uint64_t size, std::uint64_t most) {
    Positions positions(std::min(size, most));
    for (std::uint64_t i = 0; i < positions.size(); ++i) {
        positions[i] = size <= most ? i : (2 * i + 1) * size / (2 * most);
    }
    return positions;
}

IdSequence select(const IdSequence& ids, Positions positions) {
    std::ranges::sort(positions);
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    for (std::uint64_t& position : positions) position = ids[position].value;
    const std::uint64_t count = positions.size();
    return {std::make_shared<const std::vector<std::uint64_t>>(std::move(positions)), 0, count};
}

/// Bytes that something takes, from two samples of it.
struct Line {
    double small = 0.0;
    double small_bytes = 0.0;
    double large = 0.0;
    double large_bytes = 0.0;

    double bytes(double count) const {
        if (count <= large || large <= small) return large_bytes;
        return large_bytes + (count - large) * (large_bytes - small_bytes) / (large - small);
    }
};

/// Bytes that making something allocates.
template <class Make>
double bytes_of(Make make) {
    parallel::MemoryAccount account = make_memory_account();
    parallel::NodeMemory memory(account, purpose_of(Component::neurons), {.node = parallel::any_node});
    const auto made = make(&memory);
    return static_cast<double>(memory.bytes());
}

/// Whether the user gave each target a separate value of some parameter.
bool has_arrays(const network::StimulusSpec& spec) {
    const auto is_array = [](const auto& given) { return std::holds_alternative<SharedArray>(given.second); };
    return std::ranges::any_of(spec.parameters, is_array);
}

/// Where the least and the greatest value of each parameter of a stimulus lie among its targets: what its tables take may
/// follow the greatest of all.
Positions extreme_targets(const network::LoweredNetwork& network, std::size_t stimulus, const IdSequence& targets) {
    const network::StimulusSpec& spec = network.network().stimuli()[stimulus];
    const bool all = has_arrays(spec);
    using Found = std::pair<double, std::uint64_t>;  // a value and where it is
    std::vector<std::optional<std::pair<Found, Found>>> extremes(spec.model->parameters.size());
    const Positions places = all ? Positions{} : spread(targets.size(), most_drawn);
    const auto look = [&](const IdSequence& part, auto place_of) {
        const std::vector<models::GroupValues> values = network.parameters(stimulus, part);
        for (std::size_t p = 0; p < values.size(); ++p) {
            for (std::uint64_t i = 0; !values[p].uniform() && i < part.size(); ++i) {
                const Found found{values[p][i], place_of(i)};
                if (!extremes[p]) extremes[p] = {found, found};
                extremes[p] = {std::min(extremes[p]->first, found), std::max(extremes[p]->second, found)};
            }
        }
    };
    if (!all) look(select(targets, places), [&](std::uint64_t i) { return places[i]; });
    for (std::uint64_t begin = 0; all && begin < targets.size(); begin += most_drawn) {
        look(targets.subsequence(begin, std::min(most_drawn, targets.size() - begin)),
             [&](std::uint64_t i) { return begin + i; });
    }
    Positions found;
    for (const auto& extreme : extremes) {
        if (extreme) found.insert(found.end(), {extreme->first.second, extreme->second.second});
    }
    return found;
}

/// What the memory of a population grows with: its neurons, or the spikes that are played.
double extent(const network::Population& population, const IdSequence& ids) {
    if (!population.model->plays_spikes) return static_cast<double>(ids.size());
    double spikes = 0.0;
    for (std::uint64_t i = 0; i < ids.size(); ++i) {
        spikes += static_cast<double>(population.spike_steps[ids[i].value - population.first.value].size());
    }
    return spikes;
}

/// What the groups of a population have in common, and its bytes.
struct Common {
    parallel::MemoryAccount account = make_memory_account();
    parallel::NodeMemory memory{account, purpose_of(Component::neurons), {.node = parallel::any_node}};
    models::SharedParts parts{&memory};
};

Line sample_group(const network::LoweredNetwork& network, const network::Population& population, const IdSequence& ids,
                  const SimulationOptions& options, InstructionSet set, Common& common) {
    const auto bytes = [&](const IdSequence& chosen) {
        return bytes_of([&](parallel::NodeMemory* memory) {
            return create_group(network, population, chosen, options, set, memory, &common.parts);
        });
    };
    const IdSequence small = select(ids, spread(ids.size(), small_sample));
    const IdSequence large = select(ids, spread(ids.size(), large_sample));
    return {extent(population, small), bytes(small), extent(population, large), bytes(large)};
}

Line sample_stimulus(const network::LoweredNetwork& network, std::size_t stimulus, const IdSequence& targets,
                     InstructionSet set) {
    const auto bytes = [&](const IdSequence& chosen) {
        return bytes_of(
            // The step of the first target stands for all.
            [&](parallel::NodeMemory* memory) {
                const network::Network& description = network.network();
                const network::Population& population =
                    description.population(description.populations_of(chosen).front());
                return create_stimulus(network, stimulus, population, chosen, set, memory);
            });
    };
    const Positions extremes = extreme_targets(network, stimulus, targets);
    const auto sample = [&](std::uint64_t most) {
        Positions positions = spread(targets.size(), most);
        positions.insert(positions.end(), extremes.begin(), extremes.end());
        return select(targets, std::move(positions));
    };
    const IdSequence small = sample(small_sample);
    const IdSequence large = sample(large_sample);
    return {static_cast<double>(small.size()), bytes(small), static_cast<double>(large.size()), bytes(large)};
}

/// Bytes on all shards of what is made on each of them for some ids.
/// @param alike whether one shard tells of all @param ids_on of a shard @param sample those of one shard
/// @param extent_of ids
template <class IdsOn, class Sample, class Extent>
double bytes_on_shards(const connect::ProcessLayout& layout, bool alike, IdsOn ids_on, Sample sample,
                       Extent extent_of) {
    const auto size = [&](const connect::ShardLayout& shard) { return ids_on(shard).size(); };
    Line line;
    if (alike) {
        const IdSequence most = ids_on(*std::ranges::max_element(layout.shards(), {}, size));
        if (most.empty()) return 0.0;
        line = sample(most);
    }
    double bytes = 0.0;
    for (const connect::ShardLayout& shard : layout.shards()) {
        const IdSequence ids = ids_on(shard);
        if (ids.empty()) continue;
        if (!alike) line = sample(ids);
        bytes += line.bytes(extent_of(ids));
    }
    return bytes;
}

}  // namespace

GroupSample sample_groups(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                          const SimulationOptions& options) {
    const network::Network& description = network.network();
    GroupSample sample{.shards = static_cast<double>(layout.shards().size())};
    const InstructionSet set = available_instruction_set(options.instruction_set);
    // Where neurons are dealt to the shards in turn, each has the same mixture of them, but for single ones that stand out.
    const bool mixed = !layout.divided_by_cost();
    for (const network::Population& population : description.populations()) {
        Common common;
        sample.neuron_bytes += bytes_on_shards(
            layout, mixed, [&](const connect::ShardLayout& shard) { return shard.share(population.id).ids; },
            [&](const IdSequence& ids) { return sample_group(network, population, ids, options, set, common); },
            [&](const IdSequence& ids) { return extent(population, ids); });
        sample.neuron_bytes += static_cast<double>(common.memory.bytes());
    }
    for (std::size_t i = 0; i < description.stimuli().size(); ++i) {
        const network::StimulusSpec& spec = description.stimuli()[i];
        const double bytes = bytes_on_shards(
            layout, mixed && !has_arrays(spec),
            [&](const connect::ShardLayout& shard) { return shard.ids().among(spec.targets); },
            [&](const IdSequence& ids) { return sample_stimulus(network, i, ids, set); },
            [](const IdSequence& ids) { return static_cast<double>(ids.size()); });
        sample.stimulus_bytes += bytes;
    }
    for (const connect::ShardLayout& shard : layout.shards()) {
        std::uint64_t largest = 0;
        for (const network::Population& population : description.populations()) {
            const std::uint64_t count = shard.share(population.id).ids.size();
            if (population.model->most_spikes == 1) largest = std::max(largest, count);
            if (!population.model->is_source) sample.neurons += static_cast<double>(count);
        }
        sample.output_bytes += static_cast<double>(largest * sizeof(std::uint32_t));
    }
    return sample;
}

}  // namespace ranvier::engine
