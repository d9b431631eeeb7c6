#pragma once

#include "base/math.hpp"
#include "device/kernel/draws.hpp"
#include "device/kernel/machine.hpp"

/// Synapses on devices that learn from spikes, or that add a part of their weight: the calculations of
/// connect/plasticity/plastic_table.hpp, row_factor_table.hpp, synapse_factor_table.hpp and random_release_table.hpp, in the same
/// order for each synapse.
namespace ranvier::device {

inline constexpr u32 no_row = 0xFFFFFFFF;
/// The step of the last spike of what has never fired.
inline constexpr i64 never = -0x7FFFFFFFFFFFFFFF - 1;
inline constexpr u32 most_rule_parameters = 5;
inline constexpr u32 most_release_states = 4;
inline constexpr u32 most_release_parameters = 8;

/// Decay factors by number of steps: the tables of connect/plasticity/decay.hpp.
template <class Real>
struct DecayTable {
    static constexpr u32 stretch_bits = 10;

    const Real* within = nullptr;     ///< of a stretch
    const Real* stretches = nullptr;  ///< the last one is 0
    u32 last = 0;

    RANVIER_DEVICE Real operator()(i64 steps) const {
        const u32 some = static_cast<u32>(steps < (1LL << 30) ? steps : 1LL << 30);
        const u32 stretch = some >> stretch_bits;
        return stretches[stretch < last ? stretch : last] * within[some & ((1U << stretch_bits) - 1)];
    }
};

/// The factor with a time constant in steps: as connect::decay_of().
RANVIER_DEVICE float decay_over(double time_constant, i64 steps) {
    constexpr u32 bits = DecayTable<float>::stretch_bits;
    const u32 some = static_cast<u32>(steps < (1LL << 30) ? steps : 1LL << 30);
    const u32 stretch = some >> bits;
    const u32 rest = some & ((1U << bits) - 1);
    const float of_rest = static_cast<float>(math::exp(-static_cast<double>(rest) / time_constant));
    if (stretch == 0) return of_rest;
    // Beyond so many lifetimes, the trace is 0.
    if (stretch >= static_cast<u32>(87.0 * time_constant / (1U << bits)) + 1) return 0.0F;
    return static_cast<float>(math::exp(-static_cast<double>(stretch << bits) / time_constant)) * of_rest;
}

/// The synapses of a table in a block. Rows of different tables are numbered separately.
struct TableRows {
    u32 rows = 0;
    u32 receptor = 0;
    u32 rule = 0;         ///< of Models
    const u32* row_of = nullptr;  ///< by source, or no_row
    const u64* begin = nullptr;   ///< by row, and the end of the last one
    // By synapse:
    const u16* targets = nullptr;  ///< neuron of the block
    const u16* delays = nullptr;
    float* weights = nullptr;
    double to_grid = 0.0;  ///< adding and subtracting it rounds to the grid of the sums

    RANVIER_DEVICE double rounded(double weight) const { return (weight + to_grid) - to_grid; }
};

/// The pairs of spikes that a synapse evaluates; see connect::Pairing.
enum class SpikePairing : u32 { all, restricted, presynaptic_centred };

/// Traces of each synapse, where time constants differ between synapses; see connect/plasticity/timed_visit.hpp. Arrays are by
/// connect::TraceKind.
struct TimedTraces {
    static constexpr u32 kinds = 4;
    static constexpr u32 presynaptic = 0;
    static constexpr u32 postsynaptic = 1;
    static constexpr u32 same_side_presynaptic = 2;
    static constexpr u32 same_side_postsynaptic = 3;

    u32 is_used = 0;
    double resolution = 0.1;                  ///< ms
    const float* time_constants[kinds] = {};  ///< ms, by synapse; null: all share one
    float* values[kinds] = {};                ///< by synapse; null: it has none
};

/// A transmitter that modulates learning, and what it does to the synapses of a table; see connect/plasticity/modulation.hpp.
struct Modulation {
    static constexpr u32 table_steps = 1024;

    u32 is_used = 0;
    double up = 0.0;
    double down = 0.0;
    double baseline = 0.0;  ///< 1/ms
    double least = 0.0;     ///< bounds of weights
    double greatest = 0.0;
    double to_grid = 0.0;  ///< adding and subtracting it rounds a weight to what is stored
    double resolution = 0.1;       ///< ms
    double tau_eligibility = 1.0;  ///< ms
    double tau_both = 1.0;
    double tau_transmitter = 1.0;
    DecayTable<double> eligibility_decay;
    DecayTable<double> concentration_decay;
    // By steps below table_steps: the change of a weight with eligibility 1, for a concentration that decays from 1, and for 1.
    const double* falling_gains = nullptr;
    const double* constant_gains = nullptr;
    // By synapse, after the last spike from which it has learnt:
    float* eligibility = nullptr;
    float* remainders = nullptr;  ///< of weights beyond single precision

    // The transmitter.
    const u32* sources = nullptr;  ///< a bit for each source of the block
    u32 delay = 1;                 ///< steps to all synapses
    u32 slots = 0;
    u32* spikes = nullptr;  ///< [step of arrival % slots]
    u32 room = 0;           ///< of pulses, a power of two
    u32* pulse_count = nullptr;
    i64* steps = nullptr;     ///< [number % room]
    double* after = nullptr;  ///< concentration

    RANVIER_DEVICE i64 step_of(u32 pulse) const { return steps[pulse & (room - 1)]; }
    RANVIER_DEVICE double after_of(u32 pulse) const { return after[pulse & (room - 1)]; }
    RANVIER_DEVICE bool has_source(u32 source) const { return (sources[source / 32] >> source % 32 & 1) != 0; }
    RANVIER_DEVICE double falling(i64 gone) const {
        return gone < table_steps ? falling_gains[gone] : gain(gone, tau_both);
    }
    RANVIER_DEVICE double constant(i64 gone) const {
        return gone < table_steps ? constant_gains[gone] : gain(gone, tau_eligibility);
    }

   private:
    RANVIER_DEVICE double gain(i64 gone, double tau) const {
        return -tau * math::expm1(-(static_cast<double>(gone) * resolution) / tau);
    }
};

/// A presynaptic spike, for the synapses of a row.
struct RowSpike {
    i64 last = never;       ///< the previous one
    float trace = 0.0F;     ///< after it
    float same_side = 0.0F;  ///< trace of the same side, before this one
};

/// The parts of delays before the synapse. Spikes on their way are those of the newest `slots` steps: a source of such a table
/// fires once in a step.
struct AxonalDelays {
    const u16* steps = nullptr;  ///< by delay; null: all delays are dendritic
    u32 least = 0;
    u32 greatest = 0;
    u32 slots = 0;
    // [step % slots][row]
    i64* stamps = nullptr;  ///< of the spikes; others are older
    i64* last = nullptr;
    float* traces = nullptr;
    float* same_side = nullptr;

    RANVIER_DEVICE u32 of(u32 delay) const { return steps != nullptr ? steps[delay] : 0; }
    RANVIER_DEVICE u64 place(u32 rows, u32 row, i64 step) const {
        return u64{static_cast<u32>(static_cast<u64>(step) % slots)} * rows + row;
    }
};

/// Synapses that learn from pairs of spikes.
struct LearningTable {
    TableRows of;
    SpikePairing pairing = SpikePairing::all;
    u32 presynaptic_accumulates = 1;
    u32 postsynaptic_accumulates = 1;
    u32 parameter_count = 0;
    /// Of the rule, by synapse; null: all share the one in `shared`.
    const float* parameters[most_rule_parameters] = {};
    float shared[most_rule_parameters] = {};
    float* synapse_traces = nullptr;  ///< null unless pairing is presynaptic_centred and all share the time constants
    TimedTraces timed;
    Modulation modulation;

    // By row: after the last spike of its source,
    i64* last = nullptr;
    double* traces = nullptr;
    double* same_side = nullptr;  ///< null without such traces
    // and of the spike that arrives, what was there before.
    i64* last_before = nullptr;
    float* trace_before = nullptr;
    float* same_side_before = nullptr;
    AxonalDelays axonal;
    DecayTable<double> row_decay;
    DecayTable<double> row_same_side_decay;
    DecayTable<float> presynaptic;
    DecayTable<float> postsynaptic;

    // Postsynaptic spikes of neurons from `first_neuron` on: the newest `room` of each, a power of two.
    u32 first_neuron = 0;
    u32 neurons = 0;
    u32 room = 0;
    u32 most_new = 0;  ///< spikes of a neuron after which all synapses learn
    u32* counts = nullptr;  ///< of all spikes, by neuron
    u32* new_counts = nullptr;  ///< since all synapses learnt
    i64* steps = nullptr;  ///< [count % room][neuron]
    float* after = nullptr;  ///< traces
    float* before = nullptr;  ///< traces that postsynaptic spikes read, or null
    double* last_traces = nullptr;
    double* last_same_side = nullptr;
    DecayTable<double> neuron_decay;
    DecayTable<double> neuron_same_side_decay;

    u32* greatest = nullptr;  ///< absolute value of a weight that was added, as bits

    RANVIER_DEVICE u64 place(u32 neuron, u32 number) const { return u64{number & (room - 1)} * neurons + neuron; }

    /// Adds a spike. Returns whether all synapses should learn soon.
    /// @param neuron of the block
    RANVIER_DEVICE bool add_postsynaptic(u32 neuron, i64 step) const {
        const u32 n = neuron - first_neuron;
        if (n >= neurons) return false;
        const u32 count = counts[n];
        const bool has_fired = count > 0;
        const i64 since = has_fired ? step - steps[place(n, count - 1)] : 0;
        double trace = 1.0;
        if (postsynaptic_accumulates != 0 && has_fired) trace += last_traces[n] * neuron_decay(since);
        last_traces[n] = trace;
        const u64 at = place(n, count);
        if (before != nullptr) {
            const double left = has_fired ? last_same_side[n] * neuron_same_side_decay(since) : 0.0;
            last_same_side[n] = postsynaptic_accumulates != 0 ? left + 1.0 : 1.0;
            before[at] = static_cast<float>(left);
        }
        steps[at] = step;
        after[at] = static_cast<float>(trace);
        counts[n] = count + 1;
        const u32 some = new_counts[n] + 1;
        new_counts[n] = some;
        return some > most_new;
    }

    /// Updates the traces of a row whose source has fired.
    RANVIER_DEVICE void add_presynaptic(u32 row, i64 step) const {
        const i64 last_step = last[row];
        const bool has_fired = last_step != never;
        last_before[row] = last_step;
        const double trace = traces[row];
        trace_before[row] = static_cast<float>(trace);
        const auto next = [&](double left) { return presynaptic_accumulates != 0 ? left + 1.0 : 1.0; };
        traces[row] = next(has_fired ? trace * row_decay(step - last_step) : 0.0);
        if (same_side != nullptr) {
            const double left = has_fired ? same_side[row] * row_same_side_decay(step - last_step) : 0.0;
            same_side_before[row] = static_cast<float>(left);
            same_side[row] = next(left);
        }
        last[row] = step;
        if (axonal.steps == nullptr) return;
        const u64 at = axonal.place(of.rows, row, step);
        axonal.stamps[at] = step;
        axonal.last[at] = last_step;
        axonal.traces[at] = trace_before[row];
        axonal.same_side[at] = same_side != nullptr ? same_side_before[row] : 0.0F;
    }
    RANVIER_DEVICE bool has_spike(u32 row, i64 step) const {
        return step > 0 && axonal.stamps[axonal.place(of.rows, row, step)] == step;
    }
    /// A spike of this step, after add_presynaptic().
    RANVIER_DEVICE RowSpike spike_of(u32 row, i64 step) const {
        if (axonal.steps != nullptr) return axonal_spike(row, step);
        return {last_before[row], trace_before[row], same_side != nullptr ? same_side_before[row] : 0.0F};
    }
    /// The next spike that reaches synapses with an axonal delay, after the end of a step: it may come yet.
    RANVIER_DEVICE RowSpike next_spike(u32 row, u32 axonal_delay, i64 step) const {
        for (i64 stamp = step - axonal_delay + 1; stamp <= step; ++stamp) {
            if (has_spike(row, stamp)) return axonal_spike(row, stamp);
        }
        return {last[row], static_cast<float>(traces[row]), 0.0F};
    }

   private:
    RANVIER_DEVICE RowSpike axonal_spike(u32 row, i64 step) const {
        const u64 at = axonal.place(of.rows, row, step);
        return {axonal.last[at], axonal.traces[at], axonal.same_side[at]};
    }
};

/// The parts of the delay of a synapse. A postsynaptic spike of step p meets the presynaptic one of step s at the synapse when
/// p + dendritic = s + axonal.
struct DelayParts {
    i64 axonal;
    i64 dendritic;

    RANVIER_DEVICE DelayParts(const LearningTable& table, u64 synapse)
        : axonal(table.axonal.of(table.of.delays[synapse])), dendritic(table.of.delays[synapse] - axonal) {}
    RANVIER_DEVICE i64 met(i64 presynaptic) const { return presynaptic + axonal - dendritic; }
    /// Without a dendritic delay, a neuron that fires when a spike arrives counts as later.
    RANVIER_DEVICE i64 tie() const { return dendritic == 0 ? 1 : 0; }
};

/// What a synapse learns from at a visit.
struct LearningVisit {
    RowSpike spike;
    i64 settled = 0;  ///< all synapses have learnt from what had arrived in this step
    i64 end = 0;  ///< postsynaptic spikes up to this step have arrived
};

/// The weight of a synapse after it has learnt from postsynaptic spikes.
template <class Models>
struct Learner {
    const LearningTable& table;
    const Models& models;
    u64 synapse;
    u32 neuron;  ///< of the table
    DelayParts delay;
    float parameters[most_rule_parameters];
    float row_trace = 0;  ///< presynaptic, after the previous spike
    bool came = false;  ///< a postsynaptic spike, since then

    RANVIER_DEVICE Learner(const LearningTable& given, const Models& functions, u64 number)
        : table(given),
          models(functions),
          synapse(number),
          neuron(given.of.targets[number] - given.first_neuron),
          delay(given, number) {
        for (u32 k = 0; k < table.parameter_count; ++k) {
            parameters[k] = table.parameters[k] != nullptr ? table.parameters[k][synapse] : table.shared[k];
        }
    }

    RANVIER_DEVICE i64 step_of(u32 number) const { return table.steps[table.place(neuron, number)]; }

    /// @param visit for this delay
    RANVIER_DEVICE float learn(float weight, const LearningVisit& visit) {
        row_trace = table.synapse_traces != nullptr ? table.synapse_traces[synapse] : visit.spike.trace;
        const u32 count = table.counts[neuron];
        const u32 kept = count < table.room ? count : table.room;
        // Spikes are numbered; `newest` is the first that has not arrived.
        u32 newest = count;
        while (newest + kept > count && step_of(newest - 1) > visit.end) --newest;
        const bool has_fired = visit.spike.last != never;
        const i64 met = has_fired ? delay.met(visit.spike.last) : never;
        const i64 since = has_fired ? met - delay.tie() : never;
        const i64 settled = visit.settled - delay.dendritic;
        if (table.pairing != SpikePairing::all) {
            u32 first = newest;
            while (first + kept > count && step_of(first - 1) > since) --first;
            came = first < newest;
            if (!came || !has_fired || step_of(first) <= settled) return weight;
            return potentiated(weight, first, met);
        }
        // Learning starts with the first presynaptic spike.
        if (!has_fired) return weight;
        const i64 learnt = settled > since ? settled : since;
        u32 next = newest;
        while (next + kept > count && step_of(next - 1) > learnt) --next;
        for (; next < newest; ++next) weight = potentiated(weight, next, met);
        return weight;
    }

    /// The rest of the postsynaptic trace when a presynaptic spike arrives.
    RANVIER_DEVICE float trace_at(i64 meets) const {
        if (table.pairing == SpikePairing::restricted && !came) return 0.0F;
        const u32 count = table.counts[neuron];
        const u32 kept = count < table.room ? count : table.room;
        u32 newest = count;
        while (newest + kept > count && step_of(newest - 1) >= meets) --newest;
        if (newest + kept == count) return 0.0F;
        return table.after[table.place(neuron, newest - 1)] * table.postsynaptic(meets - step_of(newest - 1));
    }

   private:
    RANVIER_DEVICE float potentiated(float weight, u32 number, i64 met) const {
        const u64 at = table.place(neuron, number);
        const float trace = row_trace * table.presynaptic(table.steps[at] - met);
        return models.postsynaptic(table.of.rule, weight, trace, table.before != nullptr ? table.before[at] : 0.0F,
                                   parameters);
    }
};

/// What synapses that add a part of their weight do not share with the others of their row.
struct SynapseReleases {
    u32 is_used = 0;  ///< otherwise, a row has one factor
    u32 parameter_count = 0;  ///< of the model, if they differ between synapses
    const float* parameters[most_release_parameters] = {};  ///< by synapse; null: all share the one in `shared`
    double shared[most_release_parameters] = {};
    u64 synapses = 0;
    float* values = nullptr;  ///< [state of the rule][synapse]; null: synapses of a row share the states
    u32* counts = nullptr;  ///< state that is a whole number, by synapse

    // A synapse draws at most so many blocks of random numbers for one spike; 0: it draws none.
    u32 blocks = 0;
    u32 key_low = 0;
    u32 key_high = 0;
    const u64* sources = nullptr;  ///< ids, by row
    const u64* targets = nullptr;  ///< ids, by neuron of the block
    const u32* numbers = nullptr;  ///< of synapses among those of their pair; null: all are the first ones
    u64* keys = nullptr;  ///< of the spike that arrives, by row
    u32* repeated = nullptr;  ///< earlier spikes of the source in this step, by row

    // By row: before the spike that arrives.
    i64* last_before = nullptr;
    double* values_before = nullptr;
};

/// Synapses that add a part of their weight, which depends on the earlier spikes of the source.
struct FactorTable {
    TableRows of;
    u32 states = 0;  ///< of the rule
    // By row:
    double* values = nullptr;  ///< [state of the rule][row]; null if each synapse has states
    i64* last = nullptr;  ///< as the rule has it
    double* factors = nullptr;  ///< of the spike that arrives
    SynapseReleases each;
};

/// The source of a row fires. Returns false if a state is infinite then, or not a number.
template <class Models>
RANVIER_DEVICE bool release_row(const FactorTable& table, const Models& models, u32 row, i64 step) {
    const u32 rows = table.of.rows;
    const u32 states = table.values != nullptr ? table.states : 0;
    if constexpr (Models::has_synapse_releases) {
        const SynapseReleases& each = table.each;
        if (each.is_used != 0) {
            const i64 last = table.last[row];
            each.last_before[row] = last;
            for (u32 k = 0; k < states; ++k) {
                each.values_before[k * u64{rows} + row] = table.values[k * u64{rows} + row];
            }
            if (each.blocks != 0) {
                each.repeated[row] = last == step ? each.repeated[row] + 1 : 0;
                const u64 source = each.sources[row];
                const Words words =
                    philox(static_cast<u32>(source), static_cast<u32>(source >> 32), static_cast<u32>(step),
                           static_cast<u32>(static_cast<u64>(step) >> 32), each.key_low, each.key_high);
                each.keys[row] = word64(words, false);
            }
            if (states == 0) {
                table.last[row] = step;
                return true;
            }
        }
    }
    table.factors[row] = models.release(table.of.rule, table.values + row, rows, table.last[row], step);
    bool is_finite = true;
    for (u32 k = 0; k < states; ++k) {
        const double value = table.values[k * u64{rows} + row];
        is_finite = is_finite && value - value == 0.0;
    }
    return is_finite;
}

/// What a spike adds to the input of the target of a synapse, after release_row().
template <class Models>
RANVIER_DEVICE double released_by(const FactorTable& table, const Models& models, u32 row, u64 synapse, i64 step) {
    double factor = 0.0;
    bool is_found = false;
    if constexpr (Models::has_synapse_releases) {
        const SynapseReleases& each = table.each;
        if (each.is_used != 0) {
            double values[most_release_states];
            for (u32 k = 0; k < table.states; ++k) {
                values[k] = each.values != nullptr ? static_cast<double>(each.values[k * each.synapses + synapse])
                                                   : each.values_before[k * u64{table.of.rows} + row];
            }
            double parameters[most_release_parameters];
            for (u32 k = 0; k < each.parameter_count; ++k) {
                parameters[k] =
                    each.parameters[k] != nullptr ? static_cast<double>(each.parameters[k][synapse]) : each.shared[k];
            }
            SynapseDraws draws;
            if (each.blocks != 0) {
                const u32 number = each.numbers != nullptr ? each.numbers[synapse] : 0;
                draws = SynapseDraws::begin(each.keys[row], each.targets[table.of.targets[synapse]], each.repeated[row],
                                            each.blocks * number);
            }
            u32 count = each.counts != nullptr ? each.counts[synapse] : 0;
            factor =
                models.release_synapse(table.of.rule, values, each.last_before[row], step, parameters, draws, count);
            if (each.counts != nullptr) each.counts[synapse] = count;
            for (u32 k = 0; each.values != nullptr && k < table.states; ++k) {
                each.values[k * each.synapses + synapse] = static_cast<float>(values[k]);
            }
            is_found = true;
        }
    }
    if (!is_found) factor = table.factors[row];
    return table.of.rounded(static_cast<double>(table.of.weights[synapse]) * factor);
}

/// A visit of a synapse with separate traces.
template <class Models>
class TimedLearner {
   public:
    /// @param row_trace presynaptic, after the previous spike
    RANVIER_DEVICE TimedLearner(const LearningTable& table, const Models& models, u64 synapse, float row_trace)
        : table_(table), models_(models), synapse_(synapse), neuron_(table.of.targets[synapse] - table.first_neuron) {
        for (u32 k = 0; k < table.parameter_count; ++k) {
            parameters_[k] = table.parameters[k] != nullptr ? table.parameters[k][synapse] : table.shared[k];
        }
        for (u32 kind = 0; kind < Timed::kinds; ++kind) {
            const bool is_of_row = kind == Timed::presynaptic && !has_time_constants(kind);
            // Those that are not kept are 1 after each spike.
            traces_[kind] = has_trace(kind) ? table.timed.values[kind][synapse] : (is_of_row ? row_trace : 1.0F);
        }
    }

    /// Learns from the postsynaptic spikes up to step `end`.
    /// @param met the step of postsynaptic spikes that the previous presynaptic one met @param meets the same for this one
    /// @param settled it has learnt from those up to this step
    RANVIER_DEVICE float learn(float weight, bool has_fired, i64 met, i64 meets, i64 end, i64 settled, i64 tie) {
        const bool has_all = table_.pairing == SpikePairing::all;
        const i64 since = has_fired ? met - tie : never;
        const i64 learnt = settled > since ? settled : since;
        // Postsynaptic traces include the spikes up to this step.
        const i64 known = has_fired && met - 1 > settled ? met - 1 : settled;
        i64 lower = known;
        if (!has_all && since < lower) lower = since;
        const u32 count = table_.counts[neuron_];
        const u32 kept = count < table_.room ? count : table_.room;
        u32 newest = count;
        while (newest + kept > count && step_of(newest - 1) > end) --newest;
        u32 first = newest;
        while (first + kept > count && step_of(first - 1) > lower) --first;
        i64 before = never;
        if (first + kept > count) count_in(first - 1, before = step_of(first - 1));
        for (u32 number = first; number < newest; ++number) {
            const i64 step = step_of(number);
            const bool may_learn = has_all || number == first || before <= since;
            if (has_fired && step > learnt && may_learn) weight = potentiated(weight, number, step, step - met);
            came_ = came_ || step > since;
            before = step;
            // One that meets the present spike does not see it.
            if (step >= meets) continue;
            for (u32 kind = Timed::postsynaptic; kind < Timed::kinds; kind += 2) {
                if (step > known && has_trace(kind)) traces_[kind] = 1.0F + trace_in(kind, step);
            }
            count_in(number, step);
        }
        return weight;
    }

    /// A presynaptic spike arrives. @param row_same_side the trace of the same side that all synapses of the row share
    RANVIER_DEVICE float arrive(float weight, bool has_fired, i64 met, i64 meets, float row_same_side) {
        const i64 passed = has_fired ? meets - met : 0;
        float same_side = row_same_side;
        if (table_.same_side != nullptr && has_time_constants(Timed::same_side_presynaptic)) {
            same_side = has_fired ? decayed(Timed::same_side_presynaptic, passed) : 0.0F;
            traces_[Timed::same_side_presynaptic] = same_side + 1.0F;
        }
        float trace = 0.0F;
        if (has_time_constants(Timed::postsynaptic)) {
            trace = trace_in(Timed::postsynaptic, meets);
        } else if (last_counted_ != never) {
            trace = table_.after[table_.place(neuron_, last_number_)] * table_.postsynaptic(meets - last_counted_);
        }
        if (table_.pairing == SpikePairing::restricted && !came_) trace = 0.0F;
        weight = models_.presynaptic(table_.of.rule, weight, trace, same_side, parameters_);
        if (has_trace(Timed::presynaptic)) {
            const bool is_new = !has_fired || (table_.pairing == SpikePairing::presynaptic_centred && came_);
            traces_[Timed::presynaptic] = (is_new ? 0.0F : decayed(Timed::presynaptic, passed)) + 1.0F;
        }
        return weight;
    }

    RANVIER_DEVICE void store(bool arrives) const {
        for (u32 kind = 0; kind < Timed::kinds; ++kind) {
            const bool changes = arrives || kind == Timed::postsynaptic || kind == Timed::same_side_postsynaptic;
            if (changes && has_trace(kind)) table_.timed.values[kind][synapse_] = traces_[kind];
        }
    }

   private:
    using Timed = TimedTraces;

    RANVIER_DEVICE bool has_time_constants(u32 kind) const { return table_.timed.time_constants[kind] != nullptr; }
    RANVIER_DEVICE bool has_trace(u32 kind) const { return table_.timed.values[kind] != nullptr; }
    RANVIER_DEVICE i64 step_of(u32 number) const { return table_.steps[table_.place(neuron_, number)]; }
    RANVIER_DEVICE void count_in(u32 number, i64 step) {
        last_number_ = number;
        last_counted_ = step;
    }
    /// What is left of a trace after some steps.
    RANVIER_DEVICE float decayed(u32 kind, i64 steps) const {
        if (!has_time_constants(kind)) return traces_[kind] * table_.presynaptic(steps);
        const double time_constant =
            static_cast<double>(table_.timed.time_constants[kind][synapse_]) / table_.timed.resolution;
        return traces_[kind] * decay_over(time_constant, steps);
    }
    /// A postsynaptic trace in a step; 0 before the first spike.
    RANVIER_DEVICE float trace_in(u32 kind, i64 step) const {
        return last_counted_ == never ? 0.0F : decayed(kind, step - last_counted_);
    }
    RANVIER_DEVICE float potentiated(float weight, u32 number, i64 step, i64 since_met) const {
        float same_side = 0.0F;
        if (table_.before != nullptr) {
            same_side = has_time_constants(Timed::same_side_postsynaptic)
                            ? trace_in(Timed::same_side_postsynaptic, step)
                            : table_.before[table_.place(neuron_, number)];
        }
        return models_.postsynaptic(table_.of.rule, weight, decayed(Timed::presynaptic, since_met), same_side,
                                    parameters_);
    }

    const LearningTable& table_;
    const Models& models_;
    u64 synapse_;
    u32 neuron_;  ///< of the table
    float parameters_[most_rule_parameters];
    float traces_[Timed::kinds];
    i64 last_counted_ = never;  ///< spike that the postsynaptic traces include
    u32 last_number_ = 0;
    bool came_ = false;  ///< a postsynaptic spike, since the previous presynaptic one
};

/// A presynaptic spike, fired in this step, reaches a synapse with separate traces, or, if not `arrives`, it learns from the
/// postsynaptic spikes that have arrived up to this step. Returns the weight.
template <class Models>
RANVIER_DEVICE_CALL float visit_timed(const LearningTable& table, const Models& models, u32 row, u64 synapse, i64 step,
                                      i64 settled, bool arrives) {
    const DelayParts delay(table, synapse);
    const RowSpike spike =
        arrives ? table.spike_of(row, step) : table.next_spike(row, static_cast<u32>(delay.axonal), step);
    const bool has_fired = spike.last != never;
    const i64 met = has_fired ? delay.met(spike.last) : never;
    const i64 end = arrives ? delay.met(step) - delay.tie() : step - delay.dendritic;
    const i64 meets = arrives ? delay.met(step) : end + 1;
    TimedLearner<Models> learner(table, models, synapse, spike.trace);
    float weight =
        learner.learn(table.of.weights[synapse], has_fired, met, meets, end, settled - delay.dendritic, delay.tie());
    if (arrives) weight = learner.arrive(weight, has_fired, met, meets, spike.same_side);
    learner.store(arrives);
    table.of.weights[synapse] = weight;
    return weight;
}

RANVIER_DEVICE_CALL float visit_modulated(const LearningTable& table, u32 row, u64 synapse, i64 step, i64 settled,
                                          bool arrives);

/// A presynaptic spike, fired in this step, reaches a synapse. Returns what it adds to the input of the target.
template <class Models>
RANVIER_DEVICE double visit_synapse(const LearningTable& table, const Models& models, u32 row, u64 synapse, i64 step,
                                    i64 settled) {
    if constexpr (Models::has_modulation) {
        if (table.modulation.is_used != 0) {
            const float learnt = visit_modulated(table, row, synapse, step, settled, true);
            raise(table.greatest, absolute_bits(learnt));
            return table.of.rounded(static_cast<double>(learnt));
        }
    }
    if constexpr (Models::has_timed_traces) {
        if (table.timed.is_used != 0) {
            const float learnt = visit_timed(table, models, row, synapse, step, settled, true);
            raise(table.greatest, absolute_bits(learnt));
            return table.of.rounded(static_cast<double>(learnt));
        }
    }
    Learner<Models> learner(table, models, synapse);
    const i64 meets = learner.delay.met(step);
    const LearningVisit visit{
        .spike = table.spike_of(row, step), .settled = settled, .end = meets - learner.delay.tie()};
    float weight = learner.learn(table.of.weights[synapse], visit);
    weight =
        models.presynaptic(table.of.rule, weight, learner.trace_at(meets), visit.spike.same_side, learner.parameters);
    table.of.weights[synapse] = weight;
    raise(table.greatest, absolute_bits(weight));
    if (table.synapse_traces != nullptr) {
        const float left = learner.came || visit.spike.last == never
                               ? 0.0F
                               : learner.row_trace * table.presynaptic(step - visit.spike.last);
        table.synapse_traces[synapse] = left + 1.0F;
    }
    return table.of.rounded(static_cast<double>(weight));
}

/// A synapse learns from the postsynaptic spikes that have arrived up to a step.
template <class Models>
RANVIER_DEVICE void settle_synapse(const LearningTable& table, const Models& models, u32 row, u64 synapse, i64 step,
                                   i64 settled) {
    if constexpr (Models::has_modulation) {
        if (table.modulation.is_used != 0) {
            visit_modulated(table, row, synapse, step, settled, false);
            return;
        }
    }
    if constexpr (Models::has_timed_traces) {
        if (table.timed.is_used != 0) {
            visit_timed(table, models, row, synapse, step, settled, false);
            return;
        }
    }
    Learner<Models> learner(table, models, synapse);
    const u32 axonal = static_cast<u32>(learner.delay.axonal);
    table.of.weights[synapse] = learner.learn(
        table.of.weights[synapse],
        {.spike = table.next_spike(row, axonal, step), .settled = settled, .end = step - learner.delay.dendritic});
}

}  // namespace ranvier::device
