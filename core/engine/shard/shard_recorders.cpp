#include "engine/shard/shard_recorders.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "ranvier/base/errors.hpp"
#include "ranvier/engine/times.hpp"

namespace ranvier::engine {

ShardRecorders::ShardRecorders(const network::Network& network, const connect::ShardLayout& layout, ShardGroups& groups,
                               std::pmr::memory_resource* memory) {
    for (const network::SpikeRecorderSpec& spec : network.spike_recorders()) {
        SpikeRecorder recorder{.ranges = {},
                               .sparse = {},
                               .spikes = std::pmr::vector<RecordedSpike>(memory),
                               .counts = SpikeCounts(memory)};
        if (spec.bin > 0) {
            recorder.counts.bin = static_cast<Step>(spec.bin);
            recorder.counts.neurons = spec.neurons;
            spike_recorders_.push_back(std::move(recorder));
            continue;
        }
        for (const IdSequence& ids : spec.neurons) {
            if (ids.empty()) continue;
            if (ids.is_contiguous()) {
                recorder.ranges.emplace_back(ids[0], NeuronId{ids.back().value + 1});
            } else {
                recorder.sparse.push_back(ids);
            }
        }
        std::sort(recorder.ranges.begin(), recorder.ranges.end());
        std::vector<std::pair<NeuronId, NeuronId>> joined;
        for (const auto& range : recorder.ranges) {
            if (!joined.empty() && range.first <= joined.back().second) {
                joined.back().second = std::max(joined.back().second, range.second);
            } else {
                joined.push_back(range);
            }
        }
        recorder.ranges = std::move(joined);
        spike_recorders_.push_back(std::move(recorder));
    }
    for (const network::StateRecorder& spec : network.state_recorders()) {
        StateRecorder recorder(memory);
        recorder.interval = spec.steps;
        recorder.variables = spec.by_neuron ? spec.outputs : spec.variables.size();
        recorder.at_compartments = spec.at_compartments;
        recorder.outputs = spec.outputs;
        recorder.by_neuron = spec.by_neuron;
        // The first column of each recorded neuron, on all processes.
        std::vector<std::size_t> first_columns;
        if (spec.at_compartments) first_columns = network.first_compartments(spec.neurons);
        for (const PopulationId id : network.populations_of(spec.neurons)) {
            const connect::ShardLayout::PopulationShare& share = layout.share(id);
            const IdSequence recorded_ids = share.ids.among(spec.neurons);
            if (recorded_ids.empty()) continue;
            StateRecorder::RecordedGroup recorded(memory);
            recorded.population = id;
            recorded.first_place = recorder.places.size();
            groups[id].recorders.push_back(state_recorders_.size());
            for (const std::string& name : spec.variables) {
                const models::NeuronModel& model = *network.population(id).model;
                const auto variables = spec.at_compartments ? model.compartment_variables : model.variables;
                const auto found = std::ranges::find(variables, name, &models::VariableInfo::name);
                if (found == variables.end()) throw InternalError("recorder of an unknown variable " + name);
                recorded.variables.push_back(static_cast<std::size_t>(found - variables.begin()));
            }
            std::size_t columns = 0;
            for (std::uint64_t i = 0; i < recorded_ids.size(); ++i) {
                recorded.local.push_back(static_cast<std::uint32_t>(share.ids.count_below(recorded_ids[i])));
                const std::size_t neuron = spec.neurons.count_below(recorded_ids[i]);
                if (!spec.at_compartments || spec.by_neuron) recorder.places.push_back(neuron);
                if (!spec.at_compartments) continue;
                recorded.columns.push_back(columns);
                columns += first_columns[neuron + 1] - first_columns[neuron];
                if (spec.by_neuron) continue;
                for (std::size_t column = first_columns[neuron]; column < first_columns[neuron + 1]; ++column) {
                    recorder.places.push_back(column);
                }
            }
            recorded.columns.push_back(columns);
            if (spec.outputs > 0) recorded.weights.resize(recorded.columns.back() * spec.outputs);
            recorder.parts.push_back(std::move(recorded));
        }
        state_recorders_.push_back(std::move(recorder));
    }
}

void ShardRecorders::remember(NeuronId neuron, Step step) {
    for (SpikeRecorder& recorder : spike_recorders_) {
        if (recorder.counts.bin > 0) {
            recorder.counts.add(neuron, step);
            continue;
        }
        const auto after = std::upper_bound(recorder.ranges.begin(), recorder.ranges.end(), neuron,
                                            [](NeuronId id, const auto& range) { return id < range.first; });
        const bool within = after != recorder.ranges.begin() && neuron < (after - 1)->second;
        const auto has = [neuron](const IdSequence& ids) { return ids.find(neuron).has_value(); };
        if (!within && std::ranges::none_of(recorder.sparse, has)) continue;
        recorder.spikes.push_back({step, neuron});
    }
}

void ShardRecorders::begin_samples(Step first, Step last) {
    seconds_ = 0.0;
    for (SpikeRecorder& recorder : spike_recorders_) {
        if (recorder.counts.bin > 0) recorder.counts.reach(first, last);
    }
    for (StateRecorder& recorder : state_recorders_) {
        recorder.stretch_samples = recorder.steps.size();
        const Step first_sample = (first + recorder.interval - 1) / recorder.interval * recorder.interval;
        for (Step step = first_sample; step <= last; step += recorder.interval) recorder.steps.push_back(step);
        if (recorder.sums_neurons()) {
            recorder.sums.resize(recorder.steps.size() * recorder.outputs);
            continue;
        }
        recorder.values.resize(recorder.steps.size() * recorder.variables * recorder.places.size());
    }
}

void ShardRecorders::skip_samples(Step first, Step last) {
    std::vector<std::size_t> before;
    for (const StateRecorder& recorder : state_recorders_) before.push_back(recorder.values.size());
    begin_samples(first, last);
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto begin = state_recorders_[i].values.begin() + static_cast<std::ptrdiff_t>(before[i]);
        std::fill(begin, state_recorders_[i].values.end(), std::numeric_limits<double>::quiet_NaN());
    }
}

std::span<const Step> ShardRecorders::observed_steps(const ShardGroup& group, Step first_group_step,
                                                     Step last_group_step) {
    observed_steps_.clear();
    for (Step step = first_group_step; !group.recorders.empty() && step <= last_group_step; ++step) {
        const auto samples = [&](network::RecorderIndex recorder) {
            return step * group.stride % state_recorders_[recorder].interval == 0;
        };
        if (std::ranges::any_of(group.recorders, samples)) observed_steps_.push_back(step);
    }
    return observed_steps_;
}

void ShardRecorders::sample(const ShardGroup& group, Step step, std::size_t begin, std::size_t end) {
    LapTimer timer;
    for (const network::RecorderIndex index : group.recorders) {
        StateRecorder& recorder = state_recorders_[index];
        if (step % recorder.interval != 0) continue;
        const Step first = recorder.steps[recorder.stretch_samples];
        const std::size_t sample =
            recorder.stretch_samples + static_cast<std::size_t>((step - first) / recorder.interval);
        for (const StateRecorder::RecordedGroup& part : recorder.parts) {
            if (part.population != group.population) continue;
            const auto from = std::ranges::lower_bound(part.local, begin);
            const auto to = std::lower_bound(from, part.local.end(), end);
            if (recorder.outputs > 0) {
                for (auto neuron = from; neuron != to; ++neuron) {
                    add_readout(recorder, part, sample, *group.neurons->compartments(),
                                static_cast<std::size_t>(neuron - part.local.begin()));
                }
                continue;
            }
            for (std::size_t variable = 0; variable < recorder.variables; ++variable) {
                const std::size_t row = (sample * recorder.variables + variable) * recorder.places.size();
                if (recorder.at_compartments) {
                    double* const values = recorder.values.data() + row + part.first_place;
                    for (auto neuron = from; neuron != to; ++neuron) {
                        const std::size_t column = part.columns[static_cast<std::size_t>(neuron - part.local.begin())];
                        group.neurons->compartments()->read_compartments(part.variables[variable], *neuron,
                                                                         values + column);
                    }
                    continue;
                }
                const std::size_t place = part.first_place + static_cast<std::size_t>(from - part.local.begin());
                group.neurons->read(part.variables[variable], std::span(from, to),
                                    recorder.values.data() + row + place);
            }
        }
    }
    seconds_ += timer.lap();
}

bool ShardRecorders::set_readout(network::RecorderIndex recorder, const ShardGroup& group, std::uint32_t local,
                                 std::span<const double> weights) {
    StateRecorder& readout = state_recorders_[recorder];
    for (StateRecorder::RecordedGroup& part : readout.parts) {
        if (part.population != group.population) continue;
        const auto found = std::ranges::lower_bound(part.local, local);
        if (found == part.local.end() || *found != local) return false;
        const auto neuron = static_cast<std::size_t>(found - part.local.begin());
        const std::size_t begin = part.columns[neuron] * readout.outputs;
        if (weights.size() != part.columns[neuron + 1] * readout.outputs - begin) {
            throw InternalError("a readout has another number of compartments than its neuron");
        }
        std::ranges::copy(weights, part.weights.begin() + static_cast<std::ptrdiff_t>(begin));
        return true;
    }
    return false;
}

/// The sum over the compartments of a neuron has their order, so only sums over neurons must be exact.
void ShardRecorders::add_readout(StateRecorder& recorder, const StateRecorder::RecordedGroup& part, std::size_t sample,
                                 const models::CompartmentReader& reader, std::size_t neuron) {
    const std::size_t begin = part.columns[neuron];
    const std::size_t count = part.columns[neuron + 1] - begin;
    const std::size_t outputs = recorder.outputs;
    recorder.currents.resize(count);
    recorder.contributions.assign(outputs, 0.0);
    reader.read_compartments(part.variables[0], part.local[neuron], recorder.currents.data());
    double* const contributions = recorder.contributions.data();
    for (std::size_t i = 0; i < count; ++i) {
        const double current = recorder.currents[i];
        const double* const weights = part.weights.data() + (begin + i) * outputs;
        for (std::size_t output = 0; output < outputs; ++output) contributions[output] += current * weights[output];
    }
    if (recorder.by_neuron) {
        const std::size_t places = recorder.places.size();
        double* const values = recorder.values.data() + sample * outputs * places + part.first_place + neuron;
        for (std::size_t output = 0; output < outputs; ++output) values[output * places] = contributions[output];
        return;
    }
    for (std::size_t output = 0; output < outputs; ++output) {
        recorder.sums[sample * outputs + output].add(contributions[output], recorder.exponent);
    }
}

std::uint64_t ShardRecorders::bytes() const {
    std::uint64_t bytes = 0;
    for (const SpikeRecorder& recorder : spike_recorders_) {
        bytes += recorder.spikes.size() * sizeof(RecordedSpike) + recorder.counts.counts.size() * sizeof(std::uint64_t);
    }
    for (const StateRecorder& recorder : state_recorders_) {
        bytes += recorder.values.size() * sizeof(double) + recorder.steps.size() * sizeof(Step) +
                 recorder.sums.size() * sizeof(ExactSum);
    }
    return bytes;
}

}  // namespace ranvier::engine
