#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/followed_potentials.hpp"
#include "connect/plasticity/target_neurons.hpp"
#include "connect/tables/learning_synapses.hpp"
#include "connect/tables/stored_table.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// Synapses that learn from the potentials of their targets: presynaptic spikes depress them, and potentials potentiate
/// them in each step, in proportion to the trace of the presynaptic spikes. All delays are dendritic.
///
/// A synapse is visited when its source fires. It then sums the changes of the steps since the last visit,
/// sequentially. If the potentials of too many steps are kept, all synapses sum the available changes (*settling*), and
/// continue from this sum: in double precision and in the same order, so that weights do not depend on the time of
/// settling.
template <class Target, class Weight>
class VoltageTable final : public StoredTable<Target, Weight>,
                           public LearningSynapses,
                           public VoltageDrivenSynapses,
                           public RowState {
   public:
    using Base = StoredTable<Target, Weight>;

    VoltageTable(TableColumns<Target, Weight> columns, const VoltageConstants& constants,
                 const PlasticTableArguments& arguments)
        : Base(std::move(columns)),
          constants_(constants),
          to_grid_(0x1.8p52 * arguments.quantum),
          neurons_(arguments.neurons_of_inputs()),
          targets_(std::span<const Target>(this->columns_.targets.span()), neurons_.span(), arguments.local_neurons,
                   arguments.spikes),
          potentials_(targets_.size(), constants, this->columns_.greatest_delay, arguments.spikes),
          decay_(constants.trace_steps, arguments.synapses),
          rows_(Base::rows(), arguments.synapses),
          sums_(this->size(), arguments.synapses) {
        std::fill_n(rows_.data(), rows_.size(), Row{});
        std::fill_n(sums_.data(), sums_.size(), 0.0);
    }

    /// Memory of such a table, on a shard. @param potentiations estimated number per spike of a target
    static PlasticTableMemory memory(const VoltageConstants& constants, double potentiations) {
        return {.synapse_bytes = sizeof(double),
                .input_bytes = sizeof(std::uint32_t),
                .row_bytes = sizeof(Row),
                .constant_bytes = Decay<double>::bytes(constants.trace_steps),
                .spike_bytes = [delay = constants.delay, potentiations](const ExpectedSpikes& spikes) {
                    return spike_bytes(delay, potentiations, spikes);
                }};
    }

    LearningSynapses* learning() override { return this; }
    VoltageDrivenSynapses* voltage_driven() override { return this; }
    RowState* row_state() override { return this; }
    double greatest_added() const override { return greatest_added_; }
    std::span<const std::string_view> followed_variables() const override { return FollowedPotentials::variables; }

    std::uint64_t accept(InstructionSet /*set*/, Step stamp, std::span<const RowIndex> rows, Step /*now*/,
                         Step /*window_end*/, const InputRing& inputs) override {
        std::uint64_t events = 0;
        for (const RowIndex row : rows) {
            const std::uint64_t end = this->row_end(row);
            for (std::uint64_t position = this->row_begin(row); position < end; ++position) {
                visit(rows_[row.value], position, stamp, inputs);
            }
            events += end - this->row_begin(row);
            Row& state = rows_[row.value];
            state.trace = (state.has_spikes() ? state.trace * decay_(stamp - state.last) : 0.0) + constants_.jump;
            state.last = stamp;
        }
        return events;
    }

    void arrive(InstructionSet /*set*/, Step step, const InputRing& /*inputs*/) override {
        if (potentials_.potentiations() <= kept_ + most_older_spikes(this->size())) return;
        // Later spikes have not reached any synapse yet.
        settle(step - static_cast<Step>(this->columns_.greatest_delay));
    }
    void begin_following(Step step, const PotentialReader& read) override {
        if (follows_) return;
        follows_ = true;
        now_ = step;
        read_all(read);
        potentials_.begin(step);
    }
    void follow(Step step, const PotentialReader& read) override {
        now_ = step;
        read_all(read);
        potentials_.add(step);
    }

    void read_weights(std::span<const std::uint64_t> positions, std::span<double> weights) const override {
        std::vector<std::uint32_t> room;
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const Row& row = rows_[this->row_of(positions[i]).value];
            const double sum = summed(row, positions[i], now_, room);
            weights[i] = static_cast<double>(static_cast<Weight>(potentiated(row, positions[i], sum)));
        }
    }
    void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step now,
                     Step window_end, const InputRing& inputs) override {
        settle(now);
        Base::set_weights(positions, weights, now, window_end, inputs);
        for (const std::uint64_t position : positions) sums_[position] = 0.0;
    }

    bool has_synapse_state() const override { return true; }
    void begin_saving(Step now) override { settle(now); }
    void begin_loading(Step now) override {
        follows_ = true;
        now_ = now;
        settled_ = now;
    }
    void serialize_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) override {
        Base::serialize_synapses(positions, columns);
        columns.serialize_list<double>("potentiation", positions.size(),
                                       [&](std::size_t i) -> double& { return sums_[positions[i]]; });
    }
    void serialize_row(RowIndex row, StateColumns& columns) override {
        columns.serialize("last_spike", rows_[row.value].last);
        columns.serialize("trace", rows_[row.value].trace);
    }
    void serialize_target(std::uint32_t neuron, StateColumns& columns) override {
        potentials_.serialize(neuron - targets_.first(), now_, columns);
    }
    void serialize_common(StateColumns& columns) override {
        double greatest = greatest_added_;
        columns.serialize("greatest_weight", greatest);
        greatest_added_ = std::max(greatest_added_, greatest);
    }
    void end_serialization() override {
        potentials_.end_loading();
        kept_ = potentials_.potentiations();
    }

   private:
    /// @param delay of the potentials
    static double spike_bytes(DelaySteps delay, double potentiations, const ExpectedSpikes& spikes) {
        const auto kept = static_cast<double>(FollowedPotentials::kept_steps(delay, spikes.longest_delay));
        const double neuron_bytes =
            static_cast<double>(TargetNeurons::neuron_bytes() + FollowedPotentials::neuron_bytes()) +
            static_cast<double>(FollowedPotentials::step_bytes()) * kept;
        const double all = spikes.of_neuron > 0.0 ? spikes.targets * spikes.of_neuron * spikes.steps : 0.0;
        const double of_step = spikes.targets * std::min(1.0, spikes.of_neuron * potentiations);
        // When all synapses settle, some have not received spikes of the longest delay yet, and each of these spikes
        // will need potentials of the same age.
        const double still_needed = of_step * (1.0 + 2.0 * static_cast<double>(spikes.longest_delay));
        const auto most = static_cast<double>(most_older_spikes(static_cast<std::uint64_t>(spikes.synapses)));
        return spikes.from_first_to_last * neuron_bytes +
               sizeof(FollowedPotentials::Potentiation) * std::min(all * potentiations, most + still_needed);
    }

    /// Of a source.
    struct Row {
        Step last = -1;  ///< step of its last spike
        double trace = 0.0;  ///< after that spike

        bool has_spikes() const { return last >= 0; }
    };

    /// The neuron that a synapse reaches, counted from the first.
    std::uint32_t neuron(std::uint64_t position) const {
        const std::uint32_t input = this->target(position);
        return (neurons_.empty() ? input : neurons_[input]) - targets_.first();
    }
    void read_all(const PotentialReader& read) {
        for (std::size_t variable = 0; variable < FollowedPotentials::variables.size(); ++variable) {
            read(variable, targets_.first(), potentials_.values(variable));
        }
    }

    /// The potentiation of a synapse by its target's potentials from its last presynaptic spike to a step, for a trace
    /// of 1 after this spike.
    double summed(const Row& row, std::uint64_t position, Step step, std::vector<std::uint32_t>& room) const {
        double sum = sums_[position];
        if (!row.has_spikes()) return sum;
        const Step delay = this->delay_at(RowIndex{}, position);
        potentials_.add_potentiation(neuron(position), std::max(row.last, settled_) - delay, step - delay,
                                     row.last - delay, decay_, room, sum);
        return sum;
    }
    double potentiated(const Row& row, std::uint64_t position, double sum) const {
        const auto weight = static_cast<double>(this->columns_.weights[position]);
        return row.has_spikes() ? std::min(weight + row.trace * sum, constants_.greatest) : weight;
    }
    void visit(const Row& row, std::uint64_t position, Step stamp, const InputRing& inputs) {
        const DelaySteps delay = this->delay_at(RowIndex{}, position);
        const double before = potentiated(row, position, summed(row, position, stamp, room_));
        const double after =
            std::max(before - potentials_.depression(neuron(position), stamp - delay), constants_.least);
        const auto weight = static_cast<Weight>(after);
        this->columns_.weights[position] = weight;
        sums_[position] = 0.0;
        const auto stored = static_cast<double>(weight);
        greatest_added_ = std::max(greatest_added_, std::abs(stored));
        const double added = (stored + to_grid_) - to_grid_;
        inputs.add(stamp + delay, this->target(position), added);
    }

    /// All synapses sum the changes up to a step. @pre the table has received all presynaptic spikes up to it
    void settle(Step step) {
        if (step <= settled_) return;
        for (std::uint32_t row = 0; row < rows_.size(); ++row) {
            if (!rows_[row].has_spikes()) continue;
            const std::uint64_t end = this->row_end(RowIndex{row});
            for (std::uint64_t position = this->row_begin(RowIndex{row}); position < end; ++position) {
                sums_[position] = summed(rows_[row], position, step, room_);
            }
        }
        settled_ = step;
        potentials_.drop_until(step - static_cast<Step>(this->columns_.greatest_delay));
        kept_ = potentials_.potentiations();
    }

    VoltageConstants constants_;
    double to_grid_;
    Buffer<std::uint32_t> neurons_;  ///< of each input, where neurons have several; otherwise empty
    TargetNeurons targets_;
    FollowedPotentials potentials_;
    Decay<double> decay_;
    Buffer<Row> rows_;
    Buffer<double> sums_;  ///< per synapse: potentiation since the last presynaptic spike
    std::vector<std::uint32_t> room_;  ///< buffer of summed()
    Step now_ = 0;
    Step settled_ = 0;
    std::size_t kept_ = 0;  ///< potentiations still needed when all synapses last settled
    double greatest_added_ = 0.0;
    bool follows_ = false;
};

}  // namespace ranvier::connect
