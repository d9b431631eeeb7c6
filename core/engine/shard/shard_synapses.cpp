#include "engine/shard/shard_synapses.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

namespace ranvier::engine {

ShardSynapses::ShardSynapses(const network::LoweredNetwork& network, const ShardGroups& groups, ShardInputs& inputs,
                             InstructionSet instruction_set, std::pmr::memory_resource* memory)
    : groups_(groups), inputs_(inputs), instruction_set_(instruction_set), kinds_(network.plan().kinds), rows_(memory) {
    for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
        static_kinds_.push_back(network.plan().dynamics_of(connect::KindIndex{kind}) == nullptr);
    }
}

void ShardSynapses::set_tables(connect::ShardTables tables, std::uint32_t window) {
    tables_ = std::move(tables);
    window_ = window;
    // Transmitters, which have no inputs.
    kinds_.resize(tables_.size());
    static_kinds_.resize(tables_.size(), false);
    part_ends_.resize(tables_.size());
    deferred_.clear();
    for (std::uint32_t i = 0; i < tables_.size(); ++i) {
        const connect::KindIndex kind{i};
        if (tables_[i] && tables_[i]->deferred() != nullptr) deferred_.push_back(kind);
        if (stored(kind) == nullptr || stored(kind)->size() == 0 || learning(kind) == nullptr) continue;
        connect::LearningSynapses& synapses = *learning(kind);
        learning_.push_back(kind);
        if (synapses.spike_driven() != nullptr) spike_driven_.push_back(synapses.spike_driven());
        if (synapses.voltage_driven() != nullptr) add_voltage_driven(*synapses.voltage_driven());
    }
}

void ShardSynapses::add_static(connect::ShardTables tables) {
    for (std::uint32_t i = 0; i < tables_.size(); ++i) {
        if (!static_kinds_[i]) continue;
        tables_[i] = std::move(tables[i]);
        if (tables_[i] && tables_[i]->deferred() != nullptr) deferred_.push_back(connect::KindIndex{i});
    }
}

std::vector<std::optional<DelaySteps>> ShardSynapses::reach() const {
    std::vector<std::optional<DelaySteps>> reach(inputs_.receptors());
    for (std::uint32_t i = 0; i < tables_.size(); ++i) {
        const connect::KindIndex kind{i};
        if (stored(kind) == nullptr || stored(kind)->size() == 0) continue;
        std::optional<DelaySteps>& greatest = reach[receptor(kind)];
        greatest = std::max(greatest.value_or(0), tables_[i]->reach());
    }
    return reach;
}

void ShardSynapses::free_sources() {
    for (const auto& table : tables_) {
        if (!table || table->synapses() == nullptr) continue;
        if (auto* const sources = table->synapses()->freeable_sources()) sources->free_sources();
    }
}

std::uint64_t ShardSynapses::size() const {
    std::uint64_t total = 0;
    for (const auto& table : tables_) {
        if (table && table->synapses() != nullptr) total += table->synapses()->size();
    }
    return total;
}

void ShardSynapses::arrive(Step step) {
    for (const VoltageDriven& driven : voltage_driven_) {
        driven.synapses->begin_following(step - 1, reader_of(driven));
    }
    for (const connect::KindIndex kind : learning_) learning(kind)->arrive(instruction_set_, step, ring(kind));
}

void ShardSynapses::deliver(Step step) {
    if (step % window_ != 0) return;
    for (const connect::KindIndex kind : deferred_) {
        table(kind)->deferred()->deliver(instruction_set_, step, step + window_, ring(kind));
    }
}

void ShardSynapses::accept(Step stamp, std::span<const NeuronId> sources, Step now) {
    for (std::uint32_t kind = 0; kind < tables_.size(); ++kind) {
        if (!tables_[kind]) continue;
        rows_.clear();
        tables_[kind]->find_rows(sources, rows_);
        if (!rows_.empty()) accept(stamp, connect::KindIndex{kind}, rows_, now);
    }
}

std::uint32_t ShardSynapses::accept_first_parts(Step now, std::span<const NeuronId> sources) {
    std::uint32_t parts = 0;
    for (std::uint32_t i = 0; i < tables_.size(); ++i) {
        const connect::KindIndex kind{i};
        if (tables_[i]) {
            rows_.clear();
            tables_[i]->find_rows(sources, rows_);
            connect::DividedDelivery* const divided = tables_[i]->divided();
            if (!rows_.empty() && divided != nullptr && !static_only_) {
                events_ += divided->accept_first_part(now, rows_, ring(kind));
                parts += divided->parts_left();
            } else if (!rows_.empty()) {
                accept(now, kind, rows_, now);
            }
        }
        part_ends_[i] = parts;
    }
    return parts;
}

void ShardSynapses::add_parts(std::uint32_t begin, std::uint32_t end) const {
    std::uint32_t first = 0;  // of the kind
    for (std::uint32_t i = 0; i < tables_.size() && first < end; ++i) {
        const std::uint32_t last = part_ends_[i];
        if (begin < last && first < last) {
            tables_[i]->divided()->add_parts(std::max(begin, first) - first, std::min(end, last) - first,
                                             ring(connect::KindIndex{i}));
        }
        first = last;
    }
}

void ShardSynapses::accept(Step stamp, connect::KindIndex kind, std::span<const RowIndex> rows, Step now) {
    if (static_only_ && !is_static(kind)) return;
    events_ += table(kind)->accept(instruction_set_, stamp, rows, now, window_end(now), ring(kind));
}

void ShardSynapses::follow(Step step, std::span<const std::uint32_t> fired) {
    for (connect::SpikeDrivenSynapses* const synapses : spike_driven_) synapses->postsynaptic_spikes(step, fired);
    for (const VoltageDriven& driven : voltage_driven_) driven.synapses->follow(step, reader_of(driven));
}

void ShardSynapses::add_voltage_driven(connect::VoltageDrivenSynapses& synapses) {
    VoltageDriven driven{.synapses = &synapses, .variables = {}};
    for (const ShardGroup& group : groups_) {
        std::vector<std::size_t>& variables = driven.variables.emplace_back();
        for (const std::string_view name : synapses.followed_variables()) {
            const auto found = std::ranges::find(group.model->variables, name, &models::VariableInfo::name);
            if (found != group.model->variables.end())
                variables.push_back(static_cast<std::size_t>(found - group.model->variables.begin()));
        }
        // A group without such synapses may have some of the variables.
        if (variables.size() < synapses.followed_variables().size()) variables.clear();
    }
    voltage_driven_.push_back(std::move(driven));
}

void ShardSynapses::read_variable(const VoltageDriven& driven, std::size_t variable, std::uint32_t first,
                                  std::span<double> values) const {
    constexpr std::uint32_t most = 256;
    std::array<std::uint32_t, most> neurons;
    const std::uint32_t end = first + static_cast<std::uint32_t>(values.size());
    for (const ShardGroup& group : groups_) {
        const std::vector<std::size_t>& variables = driven.variables[group.population.value];
        if (!group.neurons || variables.empty()) continue;
        std::uint32_t local = std::max(first, group.offset);
        for (const std::uint32_t last = std::min(end, group.offset + group.size); local < last;) {
            const std::uint32_t count = std::min(most, last - local);
            std::iota(neurons.begin(), neurons.begin() + count, local - group.offset);
            group.neurons->read(variables[variable], std::span(neurons).first(count), values.data() + (local - first));
            local += count;
        }
    }
}

connect::PotentialReader ShardSynapses::reader_of(const VoltageDriven& driven) const {
    return [this, &driven](std::size_t variable, std::uint32_t first, std::span<double> values) {
        read_variable(driven, variable, first, values);
    };
}

}  // namespace ranvier::engine
