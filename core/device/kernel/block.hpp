#pragma once

#include "device/kernel/network.hpp"

namespace ranvier::device {

/// Results of the program of a step, as bits.
inline constexpr u32 step_fires = 1;
inline constexpr u32 step_fails = 2;

/// A neuron in a step: what its program reads and writes.
struct StepView {
    const Group* group;
    u32 neuron;       ///< of the group
    double* state;    ///< that of variable v is state[v * stride]
    u32 stride;
    double inputs[8];  ///< by receptor
    bool is_refractory;
    bool is_last_refractory;  ///< in this step for the last time

    RANVIER_DEVICE double constant(u32 index) const {
        const Constant& constant = group->constants[index];
        return constant.values[constant.varies != 0 ? neuron : 0];
    }
};
inline constexpr u32 most_receptors = 8;

/// Parts of a step. All threads of a block finish a part before the next one begins.
enum class Part : u32 {
    receive,  ///< synapses of spikes of other processes are added to the inputs
    update,   ///< neurons read their inputs, and advance
    publish,  ///< the record of the step is written
    gather,   ///< the records of all blocks are read
    list,     ///< more spikes of these records than fitted
    deliver,  ///< synapses of the gathered spikes are added to the inputs
    done,
};

/// Memory that the threads of a block share.
struct Shared {
    u32 fired[2];  ///< in even and odd steps
    u32 totals[2];
    u32 stops;
    u16 first[Record::room + 1];

    // Arrays follow: places[blocks], arrivals[arrival_room].
    RANVIER_DEVICE u32* places() { return reinterpret_cast<u32*>(this + 1); }
    RANVIER_DEVICE u32* arrivals(u32 blocks) { return places() + blocks; }
    static constexpr u64 bytes(u32 blocks, u32 arrival_room) {
        return sizeof(Shared) + (u64{blocks} + arrival_room) * sizeof(u32);
    }
};

/// A block of threads that advances its neurons. Each thread calls run() for a part, all of them wait for each other, and
/// each calls next(). The parts of a step are those of an epoch of the engine: spikes are exchanged each `epoch_steps` steps.
///
/// @tparam Models has `u32 step(u32 program, StepView& view) const`
template <class Models>
class Block {
   public:
    /// @param threads a multiple of warp_size, and at least the number of blocks
    RANVIER_DEVICE Block(const Parameters& parameters, const Models& models, u32 number, u32 threads, Shared* shared)
        : p_(parameters),
          models_(models),
          data_(parameters.data[number]),
          number_(number),
          threads_(threads),
          shared_(shared),
          step_(parameters.first),
          epoch_begin_(parameters.first),
          exchanged_(parameters.first) {}

    /// Prepares shared memory.
    RANVIER_DEVICE void begin(u32 thread) {
        if (thread != 0) return;
        shared_->fired[0] = shared_->fired[1] = 0;
        shared_->totals[0] = shared_->totals[1] = 0;
        shared_->stops = 0;
    }
    RANVIER_DEVICE Part first_part() const {
        if (p_.first > p_.last) return Part::done;
        return p_.remote != nullptr ? Part::receive : Part::update;
    }

    /// Returns false if the record of another block is not there yet: the thread must call it again.
    RANVIER_DEVICE bool run(Part part, u32 thread) {
        switch (part) {
            case Part::receive:
                receive(thread);
                return true;
            case Part::update:
                update(thread);
                return true;
            case Part::publish:
                publish_record(thread);
                return true;
            case Part::gather:
                return gather(thread);
            case Part::list:
                if (thread < p_.blocks) list(thread, read(record(exchanged_, thread)));
                return true;
            case Part::deliver:
                deliver(thread);
                return true;
            default:
                return true;
        }
    }

    /// The part after one that all threads have finished: the same for all of them.
    RANVIER_DEVICE Part next(Part part) {
        switch (part) {
            case Part::receive:
                return Part::update;
            case Part::update:
                return Part::publish;
            case Part::publish: {
                const bool ends = step_ == p_.last || step_ + 1 == epoch_begin_ + p_.epoch_steps;
                if (!ends) {
                    ++step_;
                    return Part::update;
                }
                exchanged_ = epoch_begin_;
                return Part::gather;
            }
            case Part::gather:
            case Part::list:
                return Part::deliver;
            case Part::deliver:
                window_ += p_.arrival_room;
                if (window_ < shared_->totals[parity_]) return Part::list;
                window_ = 0;
                parity_ ^= 1U;
                if (exchanged_ < step_) {
                    ++exchanged_;
                    return Part::gather;
                }
                if (step_ == p_.last || shared_->stops != 0) return Part::done;
                ++step_;
                epoch_begin_ = step_;
                return Part::update;
            default:
                return Part::done;
        }
    }

    /// After the last part.
    RANVIER_DEVICE void end(u32 thread) {
        if (thread == 0 && number_ == 0) p_.control->reached = p_.first <= p_.last ? step_ : p_.last;
    }

   private:
    RANVIER_DEVICE u32 ring_place(i64 step) const {
        return static_cast<u32>(step % static_cast<i64>(data_.slots)) * data_.inputs;
    }
    RANVIER_DEVICE u32 slot(i64 step) const { return static_cast<u32>(step % (2 * static_cast<i64>(p_.epoch_steps))); }
    RANVIER_DEVICE Record* record(i64 step, u32 block) const { return p_.records + slot(step) * p_.blocks + block; }
    RANVIER_DEVICE u16* spike_list(const BlockData& data, i64 step) const {
        return data.lists + static_cast<u64>(slot(step)) * data.neurons;
    }

    RANVIER_DEVICE void receive(u32 thread) {
        const u64 end = p_.remote_begin[number_ + 1];
        for (u64 i = p_.remote_begin[number_] + thread / warp_size; i < end; i += threads_ / warp_size) {
            const RemoteSpike spike = p_.remote[i];
            deliver_row(spike.row, spike.step, thread % warp_size);
        }
    }

    RANVIER_DEVICE void update(u32 thread) {
        i64* const sums = data_.ring + ring_place(step_);
        for (u32 g = 0; g < data_.group_count; ++g) {
            const Group& group = data_.groups[g];
            for (u32 i = thread; i < group.count; i += threads_) update(group, i, sums);
        }
    }

    RANVIER_DEVICE void update(const Group& group, u32 i, i64* sums) {
        const u32 neuron = group.first + i;
        StepView view;
        view.group = &group;
        view.neuron = i;
        view.state = data_.state + neuron;
        view.stride = data_.neurons;
        for (u32 receptor = 0; receptor < group.receptors; ++receptor) {
            i64& sum = sums[group.first_inputs[receptor] + i];
            // One rounding, as everywhere.
            view.inputs[receptor] = static_cast<double>(sum) * p_.quantum;
            if (sum == 0) {
                if (group.reads_negative_zero != 0) view.inputs[receptor] = -0.0;
            } else {
                sum = 0;
            }
        }
        for (u32 s = 0; s < group.poisson_count; ++s) add_poisson(group.poisson[s], i, step_, view.inputs);
        const i32 left = data_.refractory[neuron];
        view.is_refractory = left > 0;
        view.is_last_refractory = left == 1;
        const u32 result = models_.step(group.program, view);
        if ((result & step_fails) != 0) p_.control->failed = 1;
        if ((result & step_fires) != 0) {
            data_.refractory[neuron] = group.refractory_steps[group.refractory_varies != 0 ? i : 0];
            const u32 place = fetch_add(&shared_->fired[step_ & 1], 1);
            if (place < Record::room) {
                shared_->first[place] = static_cast<u16>(neuron);
            } else {
                spike_list(data_, step_)[place] = static_cast<u16>(neuron);
            }
            data_.spikes[*data_.spike_count + place] = {step_, neuron, 0};
        } else if (left > 0) {
            data_.refractory[neuron] = left - 1;
        }
    }

    RANVIER_DEVICE void publish_record(u32 thread) {
        if (thread != 0) return;
        const u32 fired = shared_->fired[step_ & 1];
        shared_->fired[(step_ + 1) & 1] = 0;
        const u32 spikes = *data_.spike_count + fired;
        *data_.spike_count = spikes;
        Record own;
        own.step = static_cast<u32>(step_);
        own.count = static_cast<u16>(fired);
        for (u32 i = 0; i < Record::room && i < fired; ++i) own.neurons[i] = shared_->first[i];
        if (fired > Record::room) {
            u16* const all = spike_list(data_, step_);
            for (u32 i = 0; i < Record::room; ++i) all[i] = shared_->first[i];
        }
        // Until all have read this record, and one epoch more, there must be room for the spikes of all neurons.
        const u64 most = u64{data_.neurons} * 2 * p_.epoch_steps;
        const bool is_full = spikes + most > data_.spike_room;
        if (is_full || read_flag(&p_.control->stop) != 0 || read_flag(&p_.control->failed) != 0) {
            own.count |= Record::stop;
        }
        publish(record(step_, number_), own);
    }

    RANVIER_DEVICE bool gather(u32 thread) {
        if (thread >= p_.blocks) return true;
        const Record of_block = read(record(exchanged_, thread));
        if (of_block.step != static_cast<u32>(exchanged_)) return false;
        if ((of_block.count & Record::stop) != 0) shared_->stops = 1;
        const u32 count = of_block.count & (Record::stop - 1U);
        shared_->places()[thread] = fetch_add(&shared_->totals[parity_], count);
        list(thread, of_block);
        return true;
    }

    /// The sources among those of the window: sums are exact, so that any order will do.
    RANVIER_DEVICE void list(u32 block, const Record& of_block) {
        const u32 count = of_block.count & (Record::stop - 1U);
        const u32 place = shared_->places()[block];
        const BlockData& from = p_.data[block];
        if (count > Record::room) acquire();
        const u16* const all = spike_list(from, exchanged_);
        for (u32 i = 0; i < count; ++i) {
            const u32 at = place + i;
            if (at < window_ || at >= window_ + p_.arrival_room) continue;
            const u32 neuron = count > Record::room ? read_list(all + i) : of_block.neurons[i];
            shared_->arrivals(p_.blocks)[at - window_] = from.first_source + neuron;
        }
    }

    RANVIER_DEVICE void deliver(u32 thread) {
        // The next step of the epoch counts from 0.
        if (thread == 0) shared_->totals[parity_ ^ 1U] = 0;
        const u32 total = shared_->totals[parity_];
        const u32 left = total - window_;
        const u32 count = left < p_.arrival_room ? left : p_.arrival_room;
        const u32* const arrivals = shared_->arrivals(p_.blocks);
        for (u32 a = thread / warp_size; a < count; a += threads_ / warp_size) {
            const u32 row = arrivals[a];
            if (thread % warp_size == 0) add(data_.events, data_.row_begin[row + 1] - data_.row_begin[row]);
            deliver_row(row, exchanged_, thread % warp_size);
        }
    }

    /// Adds the synapses of a row, whose source has fired in a step, to the inputs. Called by all lanes of a warp.
    RANVIER_DEVICE void deliver_row(u32 row, i64 step, u32 lane) {
        const u32 end_of_ring = data_.slots * data_.inputs;
        const u32 base = ring_place(step);
        const u64 begin = data_.row_begin[row];
        const u64 end = data_.row_begin[row + 1];
        for (u64 s = begin + lane; s < end; s += warp_size) {
            const Synapse synapse = data_.synapses[s];
            u32 cell = base + synapse.cell;
            if (cell >= end_of_ring) cell -= end_of_ring;
            add(data_.ring + cell, static_cast<i64>(static_cast<double>(synapse.weight) * p_.inverse_quantum));
        }
    }

    const Parameters& p_;
    const Models& models_;
    const BlockData data_;
    const u32 number_;
    const u32 threads_;
    Shared* const shared_;
    i64 step_;
    i64 epoch_begin_;
    i64 exchanged_;  ///< the step whose spikes are being exchanged
    u32 parity_ = 0;
    u32 window_ = 0;  ///< of the spikes of this step
};

}  // namespace ranvier::device
