#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/kernel/network.hpp"
#include "ranvier/program/program.hpp"

/// Synapses that change with spikes, as the host has them; see kernel/plastic.hpp.
namespace ranvier::device {

/// What a spike does to the weight of a synapse, in kernels and in the emulator.
struct LearningRule {
    /// For kernels, C++ types that a header declares, one for each side, and the bytes of their constants;
    std::string header;
    std::string presynaptic_type;
    std::string postsynaptic_type;
    std::vector<u32> constants;
    /// or programs: weight, trace, trace of the same side, parameters -> weight.
    std::shared_ptr<const program::Program> presynaptic;
    std::shared_ptr<const program::Program> postsynaptic;
    std::vector<double> parameters;           ///< of the programs, as the kernels read them
    std::vector<u32> per_synapse_parameters;  ///< those of `parameters` that come with each synapse
    u32 parameter_count = 0;                  ///< that come with each synapse, or in LearningTable::shared
    bool has_same_side_presynaptic = false;
    bool has_same_side_postsynaptic = false;
    bool has_timed_traces = false;   ///< of each synapse; see TimedTraces
    bool has_axonal_delays = false;  ///< see AxonalDelays
    bool has_modulation = false;     ///< instead of the functions
    /// For the emulator, the same: change(is_postsynaptic, weight, trace, trace of the same side, parameters).
    std::function<float(bool, float, float, float, const float*)> change;
};

/// Which part of the weights a spike adds.
struct ReleaseRule {
    /// For kernels, a C++ type that a header declares, and the bytes of its constants;
    std::string header = {};
    std::string type = {};
    std::vector<u32> constants = {};
    /// or a program: states, time since the last spike (ms, 0 for the first one), parameters -> states, factor.
    std::shared_ptr<const program::Program> release = nullptr;
    std::vector<double> parameters = {};  ///< of the program
    double resolution = 0.0;         ///< ms
    u32 states = 0;
    /// Whether a rule of synapses (connect/plasticity/random_release_table.hpp), or of rows.
    bool draws = false;
    bool has_parameters = false;  ///< that differ between synapses: there are no constants
    /// For the emulator: of_row(state values, step of the last spike, present step); null if rows have no states.
    std::function<double(double*, i64&, i64)> of_row = nullptr;
    /// of_synapse(state values, step of the last spike, present step, parameters, random numbers, whole number of the synapse);
    /// null if all synapses of a row have the same factor.
    std::function<double(double*, i64, i64, const double*, const SynapseDraws&, u32&)> of_synapse = nullptr;
};

template <class Real>
struct DecayFactors {
    std::vector<Real> within;
    std::vector<Real> stretches;
};

struct TableImage {
    u32 receptor = 0;
    u32 rule = 0;
    double quantum = 1.0;  ///< to which contributions are rounded
    std::vector<u32> row_of;
    std::vector<u64> begin;
    std::vector<u16> targets;
    std::vector<u16> delays;
    std::vector<float> weights;

    std::size_t rows() const { return begin.size() - 1; }
};

/// See Modulation.
struct ModulationImage {
    bool is_used = false;
    Modulation constants;  ///< numbers alone
    DecayFactors<double> eligibility_decay;
    DecayFactors<double> concentration_decay;
    std::vector<double> falling_gains;
    std::vector<double> constant_gains;
    std::vector<u32> sources;
};

struct LearningImage {
    TableImage of;
    SpikePairing pairing = SpikePairing::all;
    bool presynaptic_accumulates = true;
    bool postsynaptic_accumulates = true;
    bool has_same_side_presynaptic = false;
    bool has_same_side_postsynaptic = false;
    std::vector<std::vector<float>> parameters;  ///< empty: shared
    std::vector<float> shared;
    // Where time constants differ between synapses; see TimedTraces.
    bool is_timed = false;
    double resolution = 0.1;
    std::array<std::vector<float>, TimedTraces::kinds> time_constants;  ///< empty: shared
    std::array<bool, TimedTraces::kinds> has_timed_trace = {};
    ModulationImage modulation;
    std::vector<u16> axonal = {};  ///< by delay, ascending; empty: none
    u32 least_axonal = 0;          ///< of a synapse
    DecayFactors<double> row_decay;
    DecayFactors<double> row_same_side_decay;
    DecayFactors<float> presynaptic;
    DecayFactors<float> postsynaptic;
    DecayFactors<double> neuron_decay;
    DecayFactors<double> neuron_same_side_decay;
    u32 first_neuron = 0;
    u32 neurons = 0;
    u32 room = 0;
    u32 most_new = 0;
};

struct FactorImage {
    TableImage of;
    u32 states = 0;
    // Where synapses of a row have different factors; see SynapseReleases.
    bool has_synapse_releases = false;
    bool has_synapse_states = false;
    bool has_counts = false;
    std::vector<std::vector<float>> parameters = {};  ///< empty: shared
    std::vector<double> shared = {};
    u32 blocks = 0;
    u32 key_low = 0;
    u32 key_high = 0;
    std::vector<u64> sources = {};
    std::vector<u64> targets = {};
    std::vector<u32> numbers = {};
};

/// All of a block.
struct TablesImage {
    std::vector<LearningImage> learning;
    std::vector<FactorImage> factors;

    bool empty() const { return learning.empty() && factors.empty(); }
};

/// The state of a LearningTable between two runs.
struct LearningState {
    std::vector<float> weights;
    std::vector<float> synapse_traces;
    std::array<std::vector<float>, TimedTraces::kinds> timed_traces;
    std::vector<i64> last;
    std::vector<double> traces;
    std::vector<double> same_side;
    // See AxonalDelays.
    std::vector<i64> stamps;
    std::vector<i64> axonal_last;
    std::vector<float> axonal_traces;
    std::vector<float> axonal_same_side;
    // See Modulation.
    std::vector<float> eligibility;
    std::vector<float> remainders;
    std::vector<u32> transmitter_spikes;
    std::vector<u32> pulse_count;  ///< one number
    std::vector<i64> pulses;
    std::vector<double> concentrations;
    std::vector<u32> counts;
    std::vector<i64> steps;
    std::vector<float> after;
    std::vector<float> before;
    std::vector<double> last_traces;
    std::vector<double> last_same_side;
    u32 greatest = 0;
};

/// Calls visit(array of the state, pointer of the table) for each array that a table has.
template <class State, class Visit>
void visit_state(State& state, const LearningTable& table, Visit&& visit) {
    visit(state.weights, table.of.weights);
    if (table.synapse_traces != nullptr) visit(state.synapse_traces, table.synapse_traces);
    for (u32 kind = 0; kind < TimedTraces::kinds; ++kind) {
        if (table.timed.values[kind] != nullptr) visit(state.timed_traces[kind], table.timed.values[kind]);
    }
    visit(state.last, table.last);
    visit(state.traces, table.traces);
    if (table.same_side != nullptr) visit(state.same_side, table.same_side);
    if (table.axonal.steps != nullptr) {
        visit(state.stamps, table.axonal.stamps);
        visit(state.axonal_last, table.axonal.last);
        visit(state.axonal_traces, table.axonal.traces);
        visit(state.axonal_same_side, table.axonal.same_side);
    }
    if (table.modulation.is_used != 0) {
        visit(state.eligibility, table.modulation.eligibility);
        visit(state.remainders, table.modulation.remainders);
        visit(state.transmitter_spikes, table.modulation.spikes);
        visit(state.pulse_count, table.modulation.pulse_count);
        visit(state.pulses, table.modulation.steps);
        visit(state.concentrations, table.modulation.after);
    }
    visit(state.counts, table.counts);
    visit(state.steps, table.steps);
    visit(state.after, table.after);
    visit(state.last_traces, table.last_traces);
    if (table.before != nullptr) {
        visit(state.before, table.before);
        visit(state.last_same_side, table.last_same_side);
    }
}

/// The state of a FactorTable between two runs.
struct FactorState {
    std::vector<double> values;  ///< [state of the rule][row]
    std::vector<i64> last;
    std::vector<float> synapse_values = {};  ///< [state of the rule][synapse]
    std::vector<u32> counts = {};
};

/// Calls visit(array of the state, pointer of the table) for each array that a table has.
template <class State, class Visit>
void visit_state(State& state, const FactorTable& table, Visit&& visit) {
    visit(state.last, table.last);
    if (table.values != nullptr) visit(state.values, table.values);
    if (table.each.values != nullptr) visit(state.synapse_values, table.each.values);
    if (table.each.counts != nullptr) visit(state.counts, table.each.counts);
}

/// The tables of a block with all that they point to, to be copied to `address`.
struct PackedTables {
    std::vector<std::byte> bytes;
    std::vector<LearningTable> learning;  ///< also in the bytes
    std::vector<FactorTable> factors;
    // Addresses:
    const LearningTable* learning_tables = nullptr;
    const FactorTable* factor_tables = nullptr;
    i64* settled = nullptr;
};
PackedTables pack_tables(const TablesImage& image, u64 address);

}  // namespace ranvier::device
