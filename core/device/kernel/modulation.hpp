#pragma once

#include "device/kernel/plastic.hpp"

/// Synapses whose learning a transmitter modulates: the calculations of connect/plasticity/modulated_run.cpp for one synapse.
namespace ranvier::device {

/// Rounds the spikes of a transmitter that arrive in a step into a pulse of its concentration. By one thread; steps ascend.
RANVIER_DEVICE void add_pulse(const Modulation& m, i64 step) {
    u32& spikes = m.spikes[static_cast<u32>(static_cast<u64>(step) % m.slots)];
    if (spikes == 0) return;
    const u32 count = *m.pulse_count;
    const double before = count == 0 ? 0.0 : m.after_of(count - 1) * m.concentration_decay(step - m.step_of(count - 1));
    m.steps[count & (m.room - 1)] = step;
    m.after[count & (m.room - 1)] = before + static_cast<double>(spikes) / m.tau_transmitter;
    *m.pulse_count = count + 1;
    spikes = 0;
}

/// An interval without a pulse.
struct Stretch {
    i64 begin = 0;
    i64 pulse = 0;             ///< the last one before it
    double after_pulse = 0.0;  ///< concentration

    /// The change of a weight with eligibility 1 between two steps of it.
    RANVIER_DEVICE double gain(const Modulation& m, i64 from, i64 to) const {
        const double eligible = m.constant(to - from);
        if (after_pulse == 0.0) return -m.baseline * eligible;
        const double present = after_pulse * m.concentration_decay(from - pulse);
        return present * m.falling(to - from) - m.baseline * eligible;
    }
};

/// A visit of a synapse.
class ModulatedSynapse {
   public:
    RANVIER_DEVICE ModulatedSynapse(const LearningTable& table, u64 synapse)
        : table_(table),
          m_(table.modulation),
          synapse_(synapse),
          neuron_(table.of.targets[synapse] - table.first_neuron),
          delay_(table, synapse),
          weight_(static_cast<double>(table.of.weights[synapse]) + static_cast<double>(m_.remainders[synapse])),
          eligibility_(static_cast<double>(m_.eligibility[synapse])) {}

    /// Follows the weight from the previous presynaptic spike, or what it has learnt since, up to a step.
    /// @param met the step of postsynaptic spikes that the previous presynaptic one met
    /// @param end of postsynaptic spikes @param reached of pulses; the last stretch ends there if it is closed
    RANVIER_DEVICE void follow(const RowSpike& spike, i64 met, i64 end, i64 reached, i64 settled, bool is_closed) {
        const i64 since = met - delay_.tie();
        const i64 learnt = settled > since ? settled : since;
        const i64 seen = settled > met ? settled : met;
        find_spikes(end, learnt);
        base_ = met;
        if (has_before_ && before_ > since && before_ > met) base_ = before_;
        const u32 pulses = *m_.pulse_count;
        const u32 kept = pulses < m_.room ? pulses : m_.room;
        u32 next = pulses;
        while (next + kept > pulses && m_.step_of(next - 1) > seen + delay_.dendritic) --next;
        Stretch stretch{.begin = met};
        const auto pass = [&](u32 pulse) {
            stretch.pulse = m_.step_of(pulse) - delay_.dendritic;
            stretch.after_pulse = m_.after_of(pulse);
            if (stretch.pulse > stretch.begin) stretch.begin = stretch.pulse;
        };
        if (next + kept > pulses) pass(next - 1);
        now_ = stretch.begin > base_ ? stretch.begin : base_;
        for (; next < pulses && m_.step_of(next) - delay_.dendritic <= reached; ++next) {
            follow_stretch(spike, met, stretch, m_.step_of(next) - delay_.dendritic);
            pass(next);
        }
        const i64 last = reached > stretch.begin ? reached : stretch.begin;
        if (is_closed) follow_stretch(spike, met, stretch, last);
        if (now_ < stretch.begin) now_ = stretch.begin;
        if (is_closed && now_ < last) now_ = last;
        pass_spikes(spike, met, stretch, newest_);
    }

    /// A presynaptic spike arrives, which meets postsynaptic spikes of this step.
    RANVIER_DEVICE void arrive(i64 meets, bool has_fired) {
        const u32 count = table_.counts[neuron_];
        const u32 kept = count < table_.room ? count : table_.room;
        u32 newest = count;
        while (newest + kept > count && step_of(newest - 1) >= meets) --newest;
        float trace = 0.0F;
        if (newest + kept > count) {
            trace = table_.after[table_.place(neuron_, newest - 1)] * table_.postsynaptic(meets - step_of(newest - 1));
        }
        const i64 passed = has_fired ? meets - base_ : 0;
        eligibility_ = as_stored(eligibility_ * m_.eligibility_decay(passed) - m_.down * static_cast<double>(trace));
    }

    /// Returns the weight.
    RANVIER_DEVICE float store() const {
        const float weight = static_cast<float>(weight_);
        table_.of.weights[synapse_] = weight;
        m_.remainders[synapse_] = static_cast<float>(weight_ - static_cast<double>(weight));
        m_.eligibility[synapse_] = static_cast<float>(eligibility_);
        return weight;
    }

   private:
    RANVIER_DEVICE static double as_stored(double value) { return static_cast<double>(static_cast<float>(value)); }
    RANVIER_DEVICE i64 step_of(u32 number) const { return table_.steps[table_.place(neuron_, number)]; }
    /// Rounds a weight to what is stored, within its bounds.
    RANVIER_DEVICE double stop(double weight) const {
        weight = (weight + m_.to_grid) - m_.to_grid;
        weight = weight < m_.greatest ? weight : m_.greatest;
        return weight > m_.least ? weight : m_.least;
    }

    /// The postsynaptic spikes from which it has not learnt, up to a step.
    RANVIER_DEVICE void find_spikes(i64 end, i64 learnt) {
        const u32 count = table_.counts[neuron_];
        const u32 kept = count < table_.room ? count : table_.room;
        newest_ = count;
        while (newest_ + kept > count && step_of(newest_ - 1) > end) --newest_;
        next_ = newest_;
        while (next_ + kept > count && step_of(next_ - 1) > learnt) --next_;
        has_before_ = next_ + kept > count;
        if (has_before_) before_ = step_of(next_ - 1);
    }

    /// To the end of a stretch.
    RANVIER_DEVICE void follow_stretch(const RowSpike& spike, i64 met, const Stretch& stretch, i64 end) {
        u32 before_end = next_;
        while (before_end < newest_ && step_of(before_end) < end) ++before_end;
        pass_spikes(spike, met, stretch, before_end);
        const i64 now = now_ > stretch.begin ? now_ : stretch.begin;
        // Also at its end: the weight may be stopped there for the first time.
        if (now > stretch.begin && now >= end) return;
        const double factor = m_.eligibility_decay(now - base_) * stretch.gain(m_, now, end);
        weight_ = stop(weight_ + eligibility_ * factor);
    }

    /// Learns from postsynaptic spikes before a number.
    RANVIER_DEVICE void pass_spikes(const RowSpike& spike, i64 met, const Stretch& stretch, u32 end) {
        for (; next_ < end; ++next_) {
            const i64 step = step_of(next_);
            const i64 now = now_ > stretch.begin ? now_ : stretch.begin;
            if (step > now) {
                const double gain = stretch.gain(m_, now, step);
                weight_ = stop(weight_ + eligibility_ * (m_.eligibility_decay(now - base_) * gain));
                now_ = step;
            }
            const float trace = spike.trace * table_.presynaptic(step - met);
            eligibility_ =
                as_stored(eligibility_ * m_.eligibility_decay(step - base_) + m_.up * static_cast<double>(trace));
            base_ = step;
        }
    }

    const LearningTable& table_;
    const Modulation& m_;
    u64 synapse_;
    u32 neuron_;  ///< of the table
    DelayParts delay_;
    double weight_;
    double eligibility_;
    i64 base_ = 0;  ///< step of this value
    i64 now_ = 0;   ///< step of the weight
    // Postsynaptic spikes:
    u32 next_ = 0;
    u32 newest_ = 0;  ///< the first that has not arrived
    bool has_before_ = false;
    i64 before_ = 0;  ///< the last one from which it has learnt
};

/// A presynaptic spike, fired in this step, reaches a synapse, or, if not `arrives`, it learns from what has arrived up to this
/// step. Returns the weight.
RANVIER_DEVICE_CALL float visit_modulated(const LearningTable& table, u32 row, u64 synapse, i64 step, i64 settled,
                                          bool arrives) {
    const DelayParts delay(table, synapse);
    const RowSpike spike =
        arrives ? table.spike_of(row, step) : table.next_spike(row, static_cast<u32>(delay.axonal), step);
    const bool has_fired = spike.last != never;
    const i64 meets = delay.met(step);
    const i64 end = arrives ? meets - delay.tie() : step - delay.dendritic;
    ModulatedSynapse visited(table, synapse);
    if (has_fired) {
        visited.follow(spike, delay.met(spike.last), end, arrives ? meets : end, settled - delay.dendritic, arrives);
    }
    if (arrives) visited.arrive(meets, has_fired);
    return visited.store();
}

}  // namespace ranvier::device
