#pragma once

#include "device/kernel/network.hpp"

namespace ranvier::device {

/// Results of the program of a step, as bits.
inline constexpr u32 step_fires = 1;
inline constexpr u32 step_fails = 2;

/// A neuron in a step: what its program reads and writes.
template <class Block>
struct NeuronView {
    Block& block;
    const Group& group;
    u32 neuron;  ///< of the group
    bool is_refractory;
    bool is_last_refractory;  ///< in this step for the last time

    RANVIER_DEVICE double& state(u32 variable) const { return block.state(variable, group.first + neuron); }
    RANVIER_DEVICE double constant(u32 index) const { return block.constant(group, index, neuron); }
    /// Clears the sum of the weights: to be called once for each receptor.
    RANVIER_DEVICE double input(u32 receptor) const { return block.take_input(group, receptor, neuron); }
    /// pA
    RANVIER_DEVICE double current() const { return block.current(group, neuron); }
    /// The random bits of a draw.
    /// @param is_single whether only one of the pair of indices is drawn
    RANVIER_DEVICE u64 draw(u32 index, bool is_single) const { return block.draw(group, neuron, index, is_single); }
};

/// Parts of a step. All threads of a block finish a part before the next one begins, unless has_barrier() says otherwise.
enum class Part : u32 {
    begin,    ///< shared memory is prepared
    fill,     ///< sums of the next steps are read from the memory of the device
    receive_rows,  ///< as `rows`, for the spikes of other processes in a step
    receive,  ///< synapses of spikes of other processes are added to the inputs
    pulse,    ///< spikes of transmitters arrive
    arrive,   ///< presynaptic spikes reach synapses with axonal delays
    update,   ///< neurons read their inputs, and advance
    nodes,       ///< detailed cells: the equations of their nodes
    eliminate,   ///< the nodes of a depth, from the deepest one
    substitute,  ///< and back
    finish,      ///< what follows from the solution
    publish,  ///< the record of the step is written; meanwhile, synapses that have time are added to the inputs
    gather,   ///< the records of all blocks are read
    list,     ///< more spikes of these records than fitted
    rows,     ///< what the synapses of a source share, where it changes with spikes
    deliver,  ///< synapses of the gathered spikes are added to the inputs
    settle,   ///< all synapses learn from the spikes that have arrived
    rest,     ///< those that had time, after the last step
    spill,    ///< sums and state are written to the memory of the device
    done,
};
inline constexpr u32 part_count = static_cast<u32>(Part::done);

/// Where spikes of a step reach a receptor: a cell is a place in shared memory, if its step is near, or in the ring.
struct Reach {
    u32 first_cell = 0;
    u32 limit = 0;  ///< cells before it, counted from first_cell, are near
    u32 near = 0;
    u32 near_end = 0;
    u32 near_size = 0;
    u32 far = 0;  ///< within the part of the receptor
    u32 far_size = 0;
    u32 inputs = 0;
};

/// Memory that the threads of a block share. Arrays follow (SharedPlaces).
struct Shared {
    u32 fired[2];  ///< in even and odd steps
    u32 totals[2];
    u32 stops;
    u32 asks_to_stop;
    u64 rounds;  ///< the last round of a list, in its lower 16 bits
    i64 requested;  ///< the last step in which a neuron had too many spikes to learn from
    i64 settles;    ///< the same, when the spikes of a step are delivered
    u32 spike_count;
    u16 first[Record::room + 1];
    u32 near_now[2][most_receptors];  ///< in even and odd steps: place of the sums that are read
    Reach reaches[2][most_receptors];  ///< of the spikes that are exchanged, and of those whose synapses have time
    BlockData data;

    template <class Element>
    RANVIER_DEVICE Element* at(u32 place) {
        return reinterpret_cast<Element*>(reinterpret_cast<unsigned char*>(this) + place);
    }
};

/// A thread of a block that advances its neurons. Each thread calls run() for a part, all of them wait for each other if
/// has_barrier(), and each calls next(). The parts of a step are those of an epoch of the engine: spikes are exchanged each
/// `epoch_steps` steps.
///
/// @tparam Models has `u32 step(u32 program, View& view) const` for a NeuronView, and `registers`: variables of a neuron
/// that the thread keeps, which then has only one, or 0; `signals`: bits of the kinds of signals; `has_rules`:
/// whether there may be synapses that change, `has_synapse_releases`: that add a part of their own, `has_timed_traces`: that have
/// traces of their own, `has_axonal_delays`, and `has_modulation` by transmitters; `has_cells`: whether there may be detailed
/// cells, for which it has what a CellThread needs; and for rules of synapses
///     float presynaptic(u32 rule, float weight, float trace, float same_side_trace, const float* parameters) const
///     float postsynaptic(the same) const
///     double release(u32 rule, double* values, u32 stride, i64& last, i64 step) const
///     double release_synapse(u32 rule, double* values, i64 last, i64 step, const double* parameters,
///                            const SynapseDraws& draws, u32& count) const
template <class Models>
class Block {
   public:
    /// @param threads a multiple of warp_size, and at least the number of blocks
    RANVIER_DEVICE Block(const Parameters& parameters, const Models& models, u32 number, u32 thread, u32 threads,
                         Shared* shared)
        : p_(parameters),
          models_(models),
          number_(number),
          thread_(thread),
          threads_(threads),
          shared_(shared),
          step_(parameters.first),
          epoch_begin_(parameters.first),
          exchanged_(parameters.first),
          slot_(static_cast<u32>(parameters.first % static_cast<i64>(parameters.data[number].slots))),
          received_(parameters.remote != nullptr ? parameters.remote_begin[number] : 0) {}

    RANVIER_DEVICE Part first_part() const { return p_.first <= p_.last ? Part::begin : Part::done; }

    /// Returns false if the record of another block is not there yet: it must be called again.
    RANVIER_DEVICE bool run(Part part) {
        Delivery delivery;
        switch (part) {
            case Part::begin:
                begin();
                return true;
            case Part::fill:
                fill();
                return true;
            case Part::receive_rows:
                for (u64 i = received_ + thread_; has_tables() && i < end_of_received(); i += threads_) {
                    change_row(p_.remote[i].row, p_.remote[i].step);
                }
                return true;
            case Part::receive:
                receive();
                return true;
            case Part::pulse:
                if constexpr (Models::has_modulation) add_pulses();
                return true;
            case Part::arrive:
                if constexpr (Models::has_axonal_delays) arrive();
                return true;
            case Part::update:
                update();
                return true;
            case Part::nodes:
                for_nodes(0, cells().node_count, [](auto& thread, u32 n) { thread.begin(n); });
                return true;
            case Part::eliminate:
                for_depth([](auto& thread, u32 n) { thread.eliminate(n); });
                return true;
            case Part::substitute:
                for_depth([](auto& thread, u32 n) { thread.substitute(n); });
                return true;
            case Part::finish:
                for_nodes(0, cells().node_count, [](auto& thread, u32 n) { thread.finish(n); });
                return true;
            case Part::publish:
                if (thread_ == 0) publish_record();
                find_near_sums();
                take_far_sums();
                if (is_pending_) delivery = rest_of_delivery(shared_->reaches[has_time]);
                break;
            case Part::rest:
                // No step has been updated since they were gathered.
                delivery = rest_of_delivery(shared_->reaches[0]);
                break;
            case Part::gather:
                return gather();
            case Part::list:
                if (thread_ < p_.blocks) list(read(record(exchanged_, thread_)));
                return true;
            case Part::rows:
                if (has_tables()) change_rows();
                return true;
            case Part::deliver:
                delivery = begin_delivery();
                break;
            case Part::settle:
                if (has_tables()) settle();
                return true;
            case Part::spill:
                spill();
                return true;
            default:
                return true;
        }
        // One place, so that there is one copy of its code.
        deliver(delivery);
        return true;
    }

    /// Whether all threads must have finished a part before any of them calls next().
    RANVIER_DEVICE bool has_barrier(Part part) const { return part != Part::publish || !ends_epoch(); }

    /// The part after one that is finished: the same for all threads.
    RANVIER_DEVICE Part next(Part part) {
        switch (part) {
            case Part::begin:
                return Part::fill;
            case Part::fill:
                settled_ = has_tables() ? *shared_->data.settled : 0;
                return after_received();
            case Part::receive_rows:
                return Part::receive;
            case Part::receive:
                received_ = end_of_received();
                return after_received();
            case Part::pulse:
                return Models::has_axonal_delays ? Part::arrive : Part::update;
            case Part::arrive:
                return Part::update;
            case Part::update:
                if (!has_cells()) return Part::publish;
                depth_ = cells().level_count - 1;
                return Part::nodes;
            case Part::nodes:
                return Part::eliminate;
            case Part::eliminate:
                if (depth_ > 0) {
                    --depth_;
                    return Part::eliminate;
                }
                // At the roots, the solution is there.
                depth_ = 1;
                return depth_ < cells().level_count ? Part::substitute : Part::finish;
            case Part::substitute:
                ++depth_;
                return depth_ < cells().level_count ? Part::substitute : Part::finish;
            case Part::finish:
                return Part::publish;
            case Part::publish:
                is_pending_ = false;
                if (!ends_epoch()) {
                    advance();
                    return before_update();
                }
                exchanged_ = epoch_begin_;
                return Part::gather;
            case Part::gather:
                // Few spikes: their synapses can wait in the list until the next record has been written.
                is_split_ = shared_->data.is_split != 0 && shared_->totals[parity_] <= p_.arrival_room;
                return has_tables() ? Part::rows : Part::deliver;
            case Part::list:
                return has_tables() ? Part::rows : Part::deliver;
            case Part::rows:
                return Part::deliver;
            case Part::deliver:
                if (p_.has_repeats != 0 && has_tables()) {
                    if (shared_->rounds > (list_ << 16 | round_)) {
                        ++round_;
                        return Part::rows;
                    }
                    round_ = 0;
                    ++list_;
                }
                window_ += p_.arrival_room;
                if (window_ < shared_->totals[parity_]) return Part::list;
                window_ = 0;
                parity_ ^= 1U;
                is_pending_ = is_split_;
                if (exchanged_ < step_) {
                    ++exchanged_;
                    return Part::gather;
                }
                return has_tables() && shared_->settles > settled_ && p_.has_remote == 0 ? Part::settle : next_epoch();
            case Part::settle:
                settled_ = settling();
                return p_.settles != 0 ? Part::spill : next_epoch();
            case Part::rest:
                is_pending_ = false;
                return Part::spill;
            default:
                return Part::done;
        }
    }

    // What a NeuronView has.

    RANVIER_DEVICE double& state(u32 variable, u32 neuron) {
        if constexpr (Models::registers != 0) return own_[variable];
        return state_in_memory()[static_cast<u64>(variable) * shared_->data.neurons + neuron];
    }

    RANVIER_DEVICE double constant(const Group& group, u32 index, u32 neuron) const {
        const Constant& constant =
            shared_->template at<Constant>(shared_->data.shared.constants)[group.first_constant + index];
        return constant.values != nullptr ? constant.values[neuron] : constant.value;
    }

    RANVIER_DEVICE double take_input(const Group& group, u32 receptor, u32 neuron) {
        const i64 sum = take_sum(receptor, group.first_inputs[receptor] + neuron);
        // One rounding, as everywhere.
        double input = static_cast<double>(sum) * p_.quantum;
        if (sum == 0 && group.reads_negative_zero != 0) input = -0.0;
        return add_signals(group, receptor, neuron, input);
    }

    RANVIER_DEVICE double current(const Group& group, u32 neuron) const {
        return add_signals(group, current_input, neuron, 0.0);
    }

    RANVIER_DEVICE u64 draw(const Group& group, u32 neuron, u32 index, bool is_single) const {
        return draw_word(group.key_low, group.key_high, group.ids[neuron], step_, index, is_single);
    }

    // What a CellThread has.

    RANVIER_DEVICE double take_cell_input(const CellOfBlock& cell, u32 receptor, u32 input) {
        return take_input(groups()[cell.group], receptor, input);
    }
    /// What an electrode injects into a cell, pA.
    RANVIER_DEVICE double inject(const CellOfBlock& cell, u32 electrode) const {
        const Group& group = groups()[cell.group];
        const double constant_part = electrode == 0 ? constant(group, 0, cell.number) : 0.0;
        return constant_part + add_signals(group, current_input - electrode, cell.number, 0.0);
    }
    RANVIER_DEVICE void finish_cell(const CellOfBlock& cell, bool crosses) {
        const Group& group = groups()[cell.group];
        const u32 neuron = group.first + cell.number;
        i32& left = refractory_in_memory()[neuron];
        const bool is_refractory = left > 0;
        if (is_refractory) --left;
        if (!crosses || is_refractory) return;
        left = group.refractory_steps[0] > 0 ? group.refractory_steps[0] - 1 : 0;
        fire(neuron);
        let_learn_from(neuron);
    }
    RANVIER_DEVICE void fail_cell(const CellOfBlock& cell) { fail(groups()[cell.group].first + cell.number); }
    RANVIER_DEVICE i64 present_step() const { return step_; }

   private:
    /// @param neuron of the block, or no_neuron
    RANVIER_DEVICE void fail(u32 neuron) const {
        p_.control->failed = 1;
        lower(&p_.control->first_failure, static_cast<u64>(step_ - p_.first) << 32 | u64{number_} << 16 | neuron);
        shared_->asks_to_stop = 1;
    }

    static constexpr u32 no_group = ~0U;
    static constexpr u32 has_time = 1;  ///< index of Shared::reaches
    static constexpr u32 warp_bits = 5;
    /// Synapses of a line of the second cache.
    static constexpr u32 line_synapses = 128 / sizeof(Synapse);
    /// Synapses that a thread has read before it adds the first one.
    static constexpr u32 together = 4;

    /// Which synapses of rows are added: all, those of a delay of one step, or the others.
    enum class Pass : u32 { all, urgent, rest };

    struct Delivery {
        Pass pass = Pass::all;
        u32 count = 0;
        const Row* rows = nullptr;
        const Reach* reaches = nullptr;
    };

    RANVIER_DEVICE u32 lane() const { return thread_ % warp_size; }
    /// Code of synapses that change would take registers from networks without them.
    RANVIER_DEVICE bool has_tables() const {
        if constexpr (!Models::has_rules) return false;
        return shared_->data.learning_count + shared_->data.factor_count != 0;
    }
    RANVIER_DEVICE bool has_cells() const {
        if constexpr (!Models::has_cells) return false;
        return cells().node_count != 0;
    }
    RANVIER_DEVICE const Cells& cells() const { return shared_->data.cells; }
    template <class Act>
    RANVIER_DEVICE void for_nodes(u32 begin, u32 end, const Act& act) {
        if constexpr (Models::has_cells) {
            CellThread<Block, Models> thread(*this, models_, cells());
            for (u32 n = begin + thread_; n < end; n += threads_) act(thread, n);
        }
    }
    template <class Act>
    RANVIER_DEVICE void for_depth(const Act& act) {
        for_nodes(cells().level_begins[depth_], cells().level_begins[depth_ + 1], act);
    }
    RANVIER_DEVICE u32* sources() const { return shared_->template at<u32>(shared_->data.shared.sources); }
    RANVIER_DEVICE const Group* groups() const { return shared_->template at<Group>(shared_->data.shared.groups); }
    RANVIER_DEVICE u32* low() const { return shared_->template at<u32>(shared_->data.shared.low); }
    RANVIER_DEVICE u32* high() const { return shared_->template at<u32>(shared_->data.shared.high); }
    RANVIER_DEVICE u32* flags() const { return shared_->template at<u32>(shared_->data.shared.flags); }
    RANVIER_DEVICE u32* places() const { return shared_->template at<u32>(shared_->data.shared.places); }
    RANVIER_DEVICE Row* arrivals(u32 parity) const {
        return shared_->template at<Row>(shared_->data.shared.arrivals) + parity * p_.arrival_room;
    }
    RANVIER_DEVICE double* state_in_memory() const {
        const u32 place = shared_->data.shared.state;
        return place != 0 ? shared_->template at<double>(place) : shared_->data.state;
    }
    RANVIER_DEVICE i32* refractory_in_memory() const {
        const u32 place = shared_->data.shared.refractory;
        return place != 0 ? shared_->template at<i32>(place) : shared_->data.refractory;
    }
    /// Of neurons whose state the thread does not keep.
    RANVIER_DEVICE i32& refractory(u32 neuron) {
        if constexpr (Models::registers != 0) return own_refractory_;
        return refractory_in_memory()[neuron];
    }
    RANVIER_DEVICE i64* ring(const Receptor& receptor) const {
        return shared_->data.ring + static_cast<u64>(shared_->data.slots) * receptor.first_input;
    }

    /// Adds what stimuli give an input of a neuron of a group.
    RANVIER_DEVICE double add_signals(const Group& group, u32 input, u32 neuron, double sum) const {
        if constexpr (Models::signals != 0) {
            if (group.signal_count == 0) return sum;
            for (u32 s = 0; s < group.signal_count; ++s) {
                const Signal& signal = group.signals[s];
                u32 target = 0;
                if (signal.input != input || !signal.targets.find(neuron, target)) continue;
                sum += signal_number<Models::signals>(signal, shared_->data.courses, target, step_);
            }
            return normal_or_zero(sum);
        } else {
            return sum;
        }
    }

    RANVIER_DEVICE Part next_epoch() {
        if (step_ == p_.last || shared_->stops != 0) return is_pending_ ? Part::rest : Part::spill;
        advance();
        epoch_begin_ = step_;
        return before_update();
    }
    RANVIER_DEVICE Part before_update() const {
        if constexpr (Models::has_modulation) return Part::pulse;
        return Models::has_axonal_delays ? Part::arrive : Part::update;
    }
    RANVIER_DEVICE bool ends_epoch() const { return step_ == p_.last || step_ + 1 == epoch_begin_ + p_.epoch_steps; }
    RANVIER_DEVICE void advance() {
        ++step_;
        slot_ = slot_ + 1 == shared_->data.slots ? 0 : slot_ + 1;
    }
    /// The slot of a later step of the ring.
    RANVIER_DEVICE u32 slot_after(u32 steps) const {
        const u32 slot = slot_ + steps;
        return slot < shared_->data.slots ? slot : slot - shared_->data.slots;
    }
    RANVIER_DEVICE u32 exchange_slot(i64 step) const {
        return static_cast<u32>(step % (2 * static_cast<i64>(p_.epoch_steps)));
    }
    RANVIER_DEVICE Record* record(i64 step, u32 block) const {
        return p_.records + exchange_slot(step) * p_.blocks + block;
    }
    RANVIER_DEVICE u16* spike_list(const BlockData& data, i64 step) const {
        return data.lists + static_cast<u64>(exchange_slot(step)) * data.list_room;
    }

    RANVIER_DEVICE void begin() {
        const BlockData& data = p_.data[number_];
        for (u32 i = thread_; i < data.group_count; i += threads_) {
            shared_->template at<Group>(data.shared.groups)[i] = data.groups[i];
        }
        for (u32 i = thread_; i < data.constant_count; i += threads_) {
            shared_->template at<Constant>(data.shared.constants)[i] = data.constants[i];
        }
        for (u32 i = thread_; i < data.shared.flag_words; i += threads_) {
            shared_->template at<u32>(data.shared.flags)[i] = 0;
        }
        if (thread_ < p_.blocks) first_source_ = p_.data[thread_].first_source;
        if (thread_ < data.receptor_count) {
            const Receptor& receptor = data.receptors[thread_];
            const u32 slot = receptor.near == 0 ? 0 : static_cast<u32>(step_ % static_cast<i64>(receptor.near));
            shared_->near_now[step_ & 1][thread_] = receptor.first_near + slot * receptor.inputs;
        }
        if (thread_ != 0) return;
        shared_->data = data;
        shared_->fired[0] = shared_->fired[1] = 0;
        shared_->totals[0] = shared_->totals[1] = 0;
        shared_->stops = 0;
        shared_->asks_to_stop = 0;
        shared_->requested = shared_->settles = never;
        shared_->rounds = 0;
        shared_->spike_count = *data.spike_count;
    }

    /// Calls act(place in shared memory, sum of the ring) for the sums of the steps that are near, before a step is updated.
    template <class Act>
    RANVIER_DEVICE void for_near_sums(const Receptor& receptor, i64 step, const Act& act) const {
        u32 near = receptor.near == 0 ? 0 : static_cast<u32>(step % static_cast<i64>(receptor.near));
        u32 slot = static_cast<u32>(step % static_cast<i64>(shared_->data.slots));
        for (u32 k = 0; k < receptor.near; ++k) {
            for (u32 i = thread_; i < receptor.inputs; i += threads_) {
                act(receptor.first_near + near * receptor.inputs + i, ring(receptor) + slot * receptor.inputs + i);
            }
            near = near + 1 == receptor.near ? 0 : near + 1;
            slot = slot + 1 == shared_->data.slots ? 0 : slot + 1;
        }
    }

    RANVIER_DEVICE void fill() {
        const BlockData& data = shared_->data;
        for (u32 r = 0; r < data.receptor_count; ++r) {
            const Receptor& receptor = data.receptors[r];
            for_near_sums(receptor, step_, [&](u32 place, i64* of_ring) {
                const i64 sum = read_sum(of_ring);
                low()[place] = static_cast<u32>(sum);
                high()[place] = static_cast<u32>(static_cast<u64>(sum) >> 32);
                write_sum(of_ring, 0);
            });
            if (!receptor.has_flags()) continue;
            for (u32 k = receptor.near; k < receptor.delays; ++k) {
                const u32 begin = slot_after(k) * receptor.inputs;
                for (u32 i = thread_; i < receptor.inputs; i += threads_) {
                    if (read_sum(ring(receptor) + begin + i) != 0) flag(receptor, begin + i);
                }
            }
        }
        if constexpr (Models::registers != 0) {
            own_group_ = no_group;
            for (u32 g = 0; g < data.group_count; ++g) {
                const Group& group = groups()[g];
                if (group.is_cells == 0 && thread_ - group.first < group.count) own_group_ = g;
            }
            if (own_group_ == no_group) return;
            // All variables, with indices that the compiler knows.
            RANVIER_UNROLL
            for (u32 v = 0; v < Models::registers; ++v) {
                if (v < groups()[own_group_].variables) own_[v] = data.state[u64{v} * data.neurons + thread_];
            }
            own_refractory_ = data.refractory[thread_];
        } else {
            for_groups([&](const Group& group, u32 neuron) {
                if (data.shared.state != 0) {
                    for (u32 v = 0; v < group.variables; ++v) {
                        const u64 place = u64{v} * data.neurons + neuron;
                        state_in_memory()[place] = data.state[place];
                    }
                    refractory_in_memory()[neuron] = data.refractory[neuron];
                }
            });
        }
    }

    RANVIER_DEVICE void spill() {
        const BlockData& data = shared_->data;
        for (u32 r = 0; r < data.receptor_count; ++r) {
            for_near_sums(data.receptors[r], (p_.settles | p_.replays) != 0 ? step_ : step_ + 1,
                          [&](u32 place, i64* of_ring) {
                              write_sum(of_ring, static_cast<i64>(u64{low()[place]} | u64{high()[place]} << 32));
                          });
        }
        if constexpr (Models::registers != 0) {
            if (own_group_ != no_group) {
                RANVIER_UNROLL
                for (u32 v = 0; v < Models::registers; ++v) {
                    if (v < groups()[own_group_].variables) data.state[u64{v} * data.neurons + thread_] = own_[v];
                }
                data.refractory[thread_] = own_refractory_;
            }
        } else {
            for_groups([&](const Group& group, u32 neuron) {
                if (data.shared.state != 0) {
                    for (u32 v = 0; v < group.variables; ++v) {
                        const u64 place = u64{v} * data.neurons + neuron;
                        data.state[place] = state_in_memory()[place];
                    }
                    data.refractory[neuron] = refractory_in_memory()[neuron];
                }
            });
        }
        if (events_ != 0) add(data.events, events_);
        if (thread_ != 0) return;
        *data.spike_count = shared_->spike_count;
        if (has_tables()) {
            *data.settled = settled_;
            if (shared_->requested > settled_) p_.control->should_settle = 1;
        }
        if (number_ == 0) p_.control->reached = step_;
    }

    /// Calls act(group, neuron of the block) for the neurons of this thread, if it does not keep one.
    template <class Act>
    RANVIER_DEVICE void for_groups(const Act& act) const {
        for (u32 g = 0; g < shared_->data.group_count; ++g) {
            const Group& group = groups()[g];
            for (u32 i = thread_; i < group.count; i += threads_) act(group, group.first + i);
        }
    }

    RANVIER_DEVICE void flag(const Receptor& receptor, u32 place) {
        set_bits(flags() + receptor.first_flag + place / 32, 1U << place % 32);
    }

    /// The sum of an input in this step, which is cleared.
    RANVIER_DEVICE i64 take_sum(u32 r, u32 input) {
        const Receptor& receptor = shared_->data.receptors[r];
        if (receptor.near != 0) {
            const u32 place = shared_->near_now[step_ & 1][r] + input;
            const u32 low_half = low()[place];
            const u32 high_half = high()[place];
            if ((low_half | high_half) != 0) low()[place] = high()[place] = 0;
            return static_cast<i64>(u64{low_half} | u64{high_half} << 32);
        }
        if (receptor.delays == 0) return 0;
        i64* const of_ring = ring(receptor) + slot_ * receptor.inputs + input;
        const i64 sum = read_sum(of_ring);
        if (sum != 0) write_sum(of_ring, 0);
        return sum;
    }

    /// The part after the spikes of other processes before `received_`.
    RANVIER_DEVICE Part after_received() const {
        if (p_.remote != nullptr && received_ < p_.remote_begin[number_ + 1]) {
            return has_tables() && p_.replays == 0 ? Part::receive_rows : Part::receive;
        }
        if (p_.replays != 0) return Part::spill;
        return p_.settles != 0 ? Part::settle : before_update();
    }
    /// The end of the spikes that are received at once: those of a step where synapses change with them.
    RANVIER_DEVICE u64 end_of_received() const {
        u64 end = p_.remote_begin[number_ + 1];
        if (!has_tables() || p_.replays != 0) return end;
        for (u64 begin = received_ + 1; begin < end;) {
            const u64 middle = begin + (end - begin) / 2;
            if (p_.remote[middle].step == p_.remote[received_].step &&
                p_.remote[middle].number == p_.remote[received_].number) {
                begin = middle + 1;
            } else {
                end = middle;
            }
        }
        return end;
    }
    /// Few threads share a step, so that each finds its own reach.
    RANVIER_DEVICE void receive() {
        const BlockData& data = shared_->data;
        const u64 end = end_of_received();
        for (u64 i = received_ + thread_ / warp_size; i < end; i += threads_ / warp_size) {
            const RemoteSpike spike = p_.remote[i];
            const u32 passed = static_cast<u32>(step_ - spike.step);
            const auto own_reach = [&](u32 r) { return reach_of(r, passed, false); };
            if (p_.replays == 0) add_tables(spike.row, spike.step, step_ - 1, own_reach);
            const Row row = data.rows.find(spike.row);
            for (u32 s = lane(); s < row.count; s += warp_size) {
                const Synapse synapse = read_synapse(data.synapses + row.begin + s);
                u32 r = 0;
                while (r + 1 < data.receptor_count && synapse.cell >= data.receptors[r + 1].first_cell) ++r;
                const Reach reach = own_reach(r);
                const u32 cell = synapse.cell - reach.first_cell;
                // Of a replay, some have arrived before.
                if (cell >= (passed - 1) * reach.inputs) add_input(r, reach, cell, quanta_of(synapse));
            }
        }
    }

    RANVIER_DEVICE void update() {
        clear_flags();
        if (is_pending_) find_reaches(has_time, step_ - 1);
        if constexpr (Models::registers != 0) {
            if (own_group_ != no_group) update(groups()[own_group_], thread_);
        } else {
            for_groups([&](const Group& group, u32 neuron) { update(group, neuron); });
        }
        const Courses& courses = shared_->data.courses;
        if (courses.played_begin == nullptr) return;
        const u32* const begin = courses.played_begin + (step_ - courses.first);
        for (u32 k = begin[0] + thread_; k < begin[1]; k += threads_) {
            fire(courses.played[k]);
            // A source may fire several times in a step, but no synapse that learns leads to it.
            let_learn_from(courses.played[k]);
        }
    }

    /// Fires a neuron for each spike that has arrived.
    RANVIER_DEVICE void relay(const Group& group, u32 i) {
        const double number = take_input(group, 0, i);
        if (number == 0.0) return;
        const bool is_in_range = number > 0.0 && number <= static_cast<double>(group.most_relayed);
        const u32 count = is_in_range ? static_cast<u32>(number) : 0;
        if (static_cast<double>(count) != number) fail(group.first + i);
        for (u32 k = 0; k < count; ++k) fire(group.first + i);
    }

    /// Adds a spike of this step.
    RANVIER_DEVICE void fire(u32 neuron) {
        const BlockData& data = shared_->data;
        const u32 place = fetch_add(&shared_->fired[step_ & 1], 1);
        if (place >= data.list_room) {
            fail(neuron);
        } else if (place < Record::room) {
            shared_->first[place] = static_cast<u16>(neuron);
        } else {
            spike_list(data, step_)[place] = static_cast<u16>(neuron);
        }
        if (place < data.list_room) data.spikes[shared_->spike_count + place] = {step_, neuron, 0};
    }

    /// Synapses onto a neuron learn from its spike, which is its only one in this step.
    RANVIER_DEVICE void let_learn_from(u32 neuron) {
        const BlockData& data = shared_->data;
        for (u32 t = 0; has_tables() && t < data.learning_count; ++t) {
            if (data.learning[t].add_postsynaptic(neuron, step_)) shared_->requested = step_;
        }
    }

    RANVIER_DEVICE void update(const Group& group, u32 neuron) {
        const u32 i = neuron - group.first;
        if (group.is_cells != 0) return;
        if (group.most_relayed != 0) {
            relay(group, i);
            return;
        }
        const i32 left = refractory(neuron);
        NeuronView<Block> view{*this, group, i, left > 0, left == 1};
        const u32 result = models_.step(group.program, view);
        if ((result & step_fails) != 0) fail(neuron);
        if ((result & step_fires) != 0) {
            refractory(neuron) = group.refractory_steps[group.refractory_varies != 0 ? i : 0];
            fire(neuron);
            let_learn_from(neuron);
        } else if (left > 0) {
            refractory(neuron) = left - 1;
        }
    }

    /// By one thread.
    RANVIER_DEVICE void publish_record() {
        const BlockData& data = shared_->data;
        const u32 all_fired = shared_->fired[step_ & 1];
        const u32 fired = all_fired < data.list_room ? all_fired : data.list_room;
        shared_->fired[(step_ + 1) & 1] = 0;
        const u32 spikes = shared_->spike_count + fired;
        shared_->spike_count = spikes;
        Record own;
        own.step = static_cast<u32>(step_);
        own.count = static_cast<u16>(fired);
        for (u32 i = 0; i < Record::room; ++i) own.neurons[i] = i < fired ? shared_->first[i] : u16{0};
        if (fired > Record::room) {
            u16* const all = spike_list(data, step_);
            for (u32 i = 0; i < Record::room; ++i) all[i] = shared_->first[i];
            // What this block has written is seen by whoever has seen the record.
            release();
        }
        // Until all have read this record, and one epoch more, there must be room for the spikes of all neurons.
        const u64 most = u64{data.list_room} * 2 * p_.epoch_steps;
        if (spikes + most > data.spike_room || shared_->asks_to_stop != 0) own.count |= Record::stop;
        publish(record(step_, number_), own);
    }

    /// The slots of the next step.
    RANVIER_DEVICE void find_near_sums() {
        if (thread_ >= shared_->data.receptor_count) return;
        const Receptor& receptor = shared_->data.receptors[thread_];
        const u32 next = shared_->near_now[step_ & 1][thread_] + receptor.inputs;
        const u32 end = receptor.first_near + receptor.near * receptor.inputs;
        shared_->near_now[(step_ + 1) & 1][thread_] = next < end ? next : receptor.first_near;
    }

    /// The slot that has been read becomes that of a later step, whose sums are in the ring. Nobody adds there any more.
    RANVIER_DEVICE void take_far_sums() {
        const BlockData& data = shared_->data;
        for (u32 r = 0; r < data.receptor_count; ++r) {
            const Receptor& receptor = data.receptors[r];
            if (!receptor.has_flags()) continue;
            const u32 begin = slot_after(receptor.near) * receptor.inputs;
            const u32 near = shared_->near_now[step_ & 1][r];
            for (u32 i = thread_; i < receptor.inputs; i += threads_) {
                const u32 place = begin + i;
                if ((flags()[receptor.first_flag + place / 32] >> place % 32 & 1) == 0) continue;
                const i64 sum = read_sum(ring(receptor) + place);
                write_sum(ring(receptor) + place, 0);
                add_halves(low() + near + i, high() + near + i, sum);
            }
        }
    }

    /// Those of the sums that the last step has taken from the ring.
    RANVIER_DEVICE void clear_flags() {
        const BlockData& data = shared_->data;
        for (u32 r = 0; r < data.receptor_count; ++r) {
            const Receptor& receptor = data.receptors[r];
            if (!receptor.has_flags()) continue;
            const u32 begin = slot_after(receptor.near - 1) * receptor.inputs;
            const u32 end = begin + receptor.inputs;
            for (u32 word = begin / 32 + thread_; word <= (end - 1) / 32; word += threads_) {
                u32 bits = ~0U;
                if (word == begin / 32) bits &= ~0U << begin % 32;
                if (word == (end - 1) / 32) bits &= ~0U >> (31 - (end - 1) % 32);
                clear_bits(flags() + receptor.first_flag + word, bits);
            }
        }
    }

    /// Where the spikes of a step go, now that step_ has been updated.
    RANVIER_DEVICE void find_reaches(u32 index, i64 step) {
        if (thread_ >= shared_->data.receptor_count) return;
        shared_->reaches[index][thread_] = reach_of(thread_, static_cast<u32>(step_ - step), true);
    }

    /// @param passed steps before step_ in which the spikes were fired
    /// @param is_updated whether the sums of step_ have been read
    RANVIER_DEVICE Reach reach_of(u32 r, u32 passed, bool is_updated) const {
        const Receptor& receptor = shared_->data.receptors[r];
        const u32 slots = shared_->data.slots;
        // A delay of one step after step_ is the slot that follows the one that has been read.
        const u32 slot = slot_ >= passed ? slot_ - passed : slot_ + slots - passed;
        Reach reach;
        reach.first_cell = receptor.first_cell;
        reach.limit = receptor.near == 0 ? 0 : (receptor.near + passed - (is_updated ? 0 : 1)) * receptor.inputs;
        reach.near = shared_->near_now[step_ & 1][r] + receptor.inputs - passed * receptor.inputs;
        reach.near_size = receptor.near * receptor.inputs;
        reach.near_end = receptor.first_near + reach.near_size;
        reach.far = (slot + 1) * receptor.inputs;
        reach.far_size = slots * receptor.inputs;
        reach.inputs = receptor.inputs;
        return reach;
    }

    RANVIER_DEVICE bool gather() {
        if (thread_ < p_.blocks) {
            const Record of_block = read(record(exchanged_, thread_));
            if (of_block.step != static_cast<u32>(exchanged_)) return false;
            if ((of_block.count & Record::stop) != 0) shared_->stops = 1;
            const u32 count = of_block.count & (Record::stop - 1U);
            if (count != 0) {
                places()[thread_] = fetch_add(&shared_->totals[parity_], count);
                list(of_block);
            }
        }
        find_reaches(0, exchanged_);
        return true;
    }

    /// The rows of the sources among those of the window: sums are exact, so that any order will do.
    RANVIER_DEVICE void list(const Record& of_block) {
        const u32 count = of_block.count & (Record::stop - 1U);
        if (count == 0) return;
        const u32 place = places()[thread_];
        if (count <= Record::room) {
            RANVIER_UNROLL
            for (u32 i = 0; i < Record::room; ++i) {
                if (i < count) list(place + i, of_block.neurons[i]);
            }
            return;
        }
        acquire();
        const u16* const all = spike_list(p_.data[thread_], exchanged_);
        for (u32 i = 0; i < count; ++i) list(place + i, read_list(all + i));
    }

    /// @param place of the spike among those of the step
    RANVIER_DEVICE void list(u32 place, u32 neuron) {
        if (place < window_ || place >= window_ + p_.arrival_room) return;
        arrivals(parity_)[place - window_] = shared_->data.rows.find(first_source_ + neuron);
        if (has_tables()) sources()[place - window_] = first_source_ + neuron;
    }

    /// Spikes of the step that are in the list.
    RANVIER_DEVICE u32 count_in_window() const {
        const u32 left = shared_->totals[parity_] - window_;
        return left < p_.arrival_room ? left : p_.arrival_room;
    }

    /// What arrives in this window.
    RANVIER_DEVICE Delivery begin_delivery() {
        if (thread_ == 0) {
            // The next step of the epoch counts from 0.
            shared_->totals[parity_ ^ 1U] = 0;
            // A thread that is ahead may make another request before all have seen this one.
            shared_->settles = shared_->requested;
        }
        if (thread_ + 1 == threads_ && read_flag(&p_.control->stop) != 0) shared_->asks_to_stop = 1;
        u32 count = count_in_window();
        if (has_tables()) {
            const auto shared_reach = [&](u32 r) { return shared_->reaches[0][r]; };
            for (u32 a = thread_ / warp_size; a < count; a += threads_ / warp_size) {
                if (is_in_round(a)) events_ += add_tables(sources()[a], exchanged_, step_, shared_reach);
            }
            // Repeated spikes reach static synapses with the first ones.
            if (round_ != 0) count = 0;
        }
        return {is_split_ ? Pass::urgent : Pass::all, count, arrivals(parity_), shared_->reaches[0]};
    }

    /// The synapses of the last list that the first delivery has left.
    RANVIER_DEVICE Delivery rest_of_delivery(const Reach* reaches) {
        return {Pass::rest, shared_->totals[parity_ ^ 1U], arrivals(parity_ ^ 1U), reaches};
    }

    /// Adds rows to the inputs: each by a warp, or by as many threads as a row has urgent synapses.
    RANVIER_DEVICE void deliver(const Delivery& delivery) {
        const Synapse* const synapses = shared_->data.synapses;
        const u32 bits = delivery.pass == Pass::urgent ? shared_->data.urgent_bits : warp_bits;
        const u32 of_row = thread_ & ((1U << bits) - 1U);
        const u32 teams = threads_ >> bits;
        for (u32 first = thread_ >> bits; first < delivery.count; first += together * teams) {
            Synapse read[together];
            u32 valid = 0;
            bool has_more = false;
            RANVIER_UNROLL
            for (u32 k = 0; k < together; ++k) {
                const u32 at = first + k * teams;
                const Row row = at < delivery.count ? delivery.rows[at] : Row{};
                if (of_row < row.count) {
                    read[k] = read_synapse(synapses + row.begin + of_row);
                    valid |= 1U << k;
                }
                // The rest of the row is read soon.
                const u32 ahead = (of_row + 1) * line_synapses;
                if (delivery.pass == Pass::urgent && ahead < row.count) prefetch(synapses + row.begin + ahead);
                has_more = has_more || row.count > warp_size;
            }
            RANVIER_UNROLL
            for (u32 k = 0; k < together; ++k) {
                if ((valid >> k & 1) != 0) add_synapse(read[k], delivery);
            }
            if (delivery.pass == Pass::urgent || !has_more) continue;
            for (u32 at = first; at < delivery.count && at < first + together * teams; at += teams) {
                add_end_of_row(delivery.rows[at], delivery);
            }
        }
    }

    /// The synapses of a long row beyond the first one of each thread of a warp.
    RANVIER_DEVICE void add_end_of_row(const Row& row, const Delivery& delivery) {
        const Synapse* const synapses = shared_->data.synapses + row.begin;
        for (u32 first = lane() + warp_size; first < row.count; first += together * warp_size) {
            Synapse read[together];
            RANVIER_UNROLL
            for (u32 j = 0; j < together; ++j) {
                if (first + j * warp_size < row.count) read[j] = read_synapse(synapses + first + j * warp_size);
            }
            RANVIER_UNROLL
            for (u32 j = 0; j < together; ++j) {
                if (first + j * warp_size < row.count) add_synapse(read[j], delivery);
            }
        }
    }

    // Synapses that change with spikes.

    /// Spikes of a source in one step follow each other, in rounds.
    RANVIER_DEVICE u32 round_of(u32 arrival) const {
        u32 before = 0;
        for (u32 a = 0; a < arrival; ++a) before += sources()[a] == sources()[arrival] ? 1 : 0;
        return before;
    }
    RANVIER_DEVICE bool is_in_round(u32 arrival) const { return p_.has_repeats == 0 || round_of(arrival) == round_; }

    RANVIER_DEVICE void change_rows() {
        for (u32 a = thread_; a < count_in_window(); a += threads_) {
            if (p_.has_repeats != 0) {
                const u32 round = round_of(a);
                if (round_ == 0 && round != 0) raise(&shared_->rounds, list_ << 16 | round);
                if (round != round_) continue;
            }
            change_row(sources()[a], exchanged_);
        }
    }

    RANVIER_DEVICE void change_row(u32 source, i64 step) {
        const BlockData& data = shared_->data;
        for (u32 t = 0; t < data.learning_count; ++t) {
            const LearningTable& table = data.learning[t];
            const u32 row = table.of.row_of[source];
            if (row != no_row) table.add_presynaptic(row, step);
            if constexpr (Models::has_modulation) count_transmitter(table, source, step);
        }
        for (u32 t = 0; t < data.factor_count; ++t) {
            const FactorTable& table = data.factors[t];
            const u32 row = table.of.row_of[source];
            if (row != no_row && !release_row(table, models_, row, step)) fail(no_neuron);
        }
    }

    /// Adds the synapses of a source that has fired in a step, and returns how many this thread has added. Called by all
    /// threads of a warp. @param now the last step that was done @param reach of a receptor: reach(number)
    template <class ReachOf>
    RANVIER_DEVICE u64 add_tables(u32 source, i64 step, i64 now, const ReachOf& reach) {
        const BlockData& data = shared_->data;
        u64 added = 0;
        for (u32 t = 0; t < data.learning_count; ++t) {
            const LearningTable& table = data.learning[t];
            if constexpr (Models::has_axonal_delays) {
                if (table.axonal.steps != nullptr) {
                    const u32 row = table.of.row_of[source];
                    if (row == no_row) continue;
                    added += add_axonal(table, row, step, 0, now - step, reach(table.of.receptor));
                    continue;
                }
            }
            added += add_table(table.of, source, reach, [&](u32 row, u64 synapse) {
                return visit_synapse(table, models_, row, synapse, step, settled_);
            });
        }
        for (u32 t = 0; t < data.factor_count; ++t) {
            const FactorTable& table = data.factors[t];
            added += add_table(table.of, source, reach,
                               [&](u32 row, u64 synapse) { return released_by(table, models_, row, synapse, step); });
        }
        return added;
    }

    /// A spike reaches those synapses of a row that have axonal delays from `least` to `greatest`. Returns how many synapses of
    /// the row there are for this thread.
    RANVIER_DEVICE u64 add_axonal(const LearningTable& table, u32 row, i64 step, i64 least, i64 greatest,
                                  const Reach& reach) {
        const u64 end = table.of.begin[row + 1];
        u64 all = 0;
        for (u64 s = table.of.begin[row] + lane(); s < end; s += warp_size, ++all) {
            const i64 axonal = table.axonal.of(table.of.delays[s]);
            if (axonal < least || axonal > greatest) continue;
            const double number = visit_synapse(table, models_, row, s, step, settled_);
            add_input(table.of.receptor, reach, (table.of.delays[s] - 1U) * reach.inputs + table.of.targets[s],
                      quanta_within_range(number * p_.inverse_quantum));
        }
        return all;
    }

    RANVIER_DEVICE void count_transmitter(const LearningTable& table, u32 source, i64 step) {
        const Modulation& m = table.modulation;
        if (m.is_used == 0 || !m.has_source(source)) return;
        fetch_add(m.spikes + static_cast<u32>(static_cast<u64>(step + m.delay) % m.slots), 1);
    }

    /// Spikes of transmitters arrive in this step.
    RANVIER_DEVICE void add_pulses() {
        const BlockData& data = shared_->data;
        for (u32 t = thread_; t < data.learning_count; t += threads_) {
            const Modulation& m = data.learning[t].modulation;
            if (m.is_used == 0) continue;
            add_pulse(m, step_);
            // Before pulses take the place of others from which synapses still learn.
            if (step_ - settled_ > static_cast<i64>(m.room / 2)) shared_->requested = step_;
        }
    }

    /// Presynaptic spikes reach synapses in this step, in time for its update.
    RANVIER_DEVICE void arrive() {
        const BlockData& data = shared_->data;
        for (u32 t = 0; t < data.learning_count; ++t) {
            const LearningTable& table = data.learning[t];
            if (table.axonal.steps == nullptr) continue;
            // Others have reached them when they were delivered.
            const u32 least = table.axonal.least > 1 ? table.axonal.least : 1;
            for (u32 row = thread_ / warp_size; row < table.of.rows; row += threads_ / warp_size) {
                for (u32 axonal = least; axonal <= table.axonal.greatest; ++axonal) {
                    if (!table.has_spike(row, step_ - axonal)) continue;
                    add_axonal(table, row, step_ - axonal, axonal, axonal, reach_of(table.of.receptor, axonal, false));
                }
            }
        }
    }

    /// @param contribution of a synapse: contribution(row, synapse)
    template <class ReachOf, class Contribution>
    RANVIER_DEVICE u64 add_table(const TableRows& table, u32 source, const ReachOf& reach_of_receptor,
                                 const Contribution& contribution) {
        const u32 row = table.row_of[source];
        if (row == no_row) return 0;
        const u64 end = table.begin[row + 1];
        const Reach reach = reach_of_receptor(table.receptor);
        u64 added = 0;
        for (u64 s = table.begin[row] + lane(); s < end; s += warp_size, ++added) {
            const double number = contribution(row, s);
            add_input(table.receptor, reach, (table.delays[s] - 1U) * reach.inputs + table.targets[s],
                      quanta_within_range(number * p_.inverse_quantum));
        }
        return added;
    }

    /// All synapses learn from what has arrived up to this step.
    RANVIER_DEVICE i64 settling() const { return p_.settles != 0 ? step_ - 1 : step_; }

    RANVIER_DEVICE void settle() const {
        const BlockData& data = shared_->data;
        for (u32 t = 0; t < data.learning_count; ++t) {
            const LearningTable& table = data.learning[t];
            for (u32 n = thread_; n < table.neurons; n += threads_) table.new_counts[n] = 0;
            for (u32 row = thread_ / warp_size; row < table.of.rows; row += threads_ / warp_size) {
                if (table.last[row] == never) continue;
                for (u64 s = table.of.begin[row] + lane(); s < table.of.begin[row + 1]; s += warp_size) {
                    settle_synapse(table, models_, row, s, settling(), settled_);
                }
            }
        }
    }

    RANVIER_DEVICE void add_synapse(const Synapse& synapse, const Delivery& delivery) {
        u32 r = 0;
        while (r + 1 < shared_->data.receptor_count && synapse.cell >= delivery.reaches[r + 1].first_cell) ++r;
        const Reach& reach = delivery.reaches[r];
        const u32 cell = synapse.cell - reach.first_cell;
        const bool is_urgent = cell < reach.inputs;
        // Those of a row are counted once.
        if (delivery.pass != Pass::urgent) ++events_;
        if (delivery.pass == (is_urgent ? Pass::rest : Pass::urgent)) return;
        add_input(r, reach, cell, quanta_of(synapse));
    }

    /// A weight that has grown beyond all bounds adds nothing: the host ends the run with an error.
    RANVIER_DEVICE static i64 quanta_within_range(double quanta) {
        return quanta > -0x1p62 && quanta < 0x1p62 ? static_cast<i64>(quanta) : 0;
    }
    RANVIER_DEVICE i64 quanta_of(const Synapse& synapse) const {
        return static_cast<i64>(static_cast<double>(synapse.weight) * p_.inverse_quantum);
    }

    RANVIER_DEVICE void add_input(u32 r, const Reach& reach, u32 cell, i64 quanta) {
        if (cell < reach.limit) {
            u32 place = reach.near + cell;
            if (place >= reach.near_end) place -= reach.near_size;
            add_halves(low() + place, high() + place, quanta);
            return;
        }
        const Receptor& receptor = shared_->data.receptors[r];
        u32 place = reach.far + cell;
        if (place >= reach.far_size) place -= reach.far_size;
        add(ring(receptor) + place, quanta);
        if (receptor.near != 0) flag(receptor, place);
    }

    const Parameters& p_;
    const Models& models_;
    const u32 number_;
    const u32 thread_;
    const u32 threads_;
    Shared* const shared_;
    i64 step_;
    i64 epoch_begin_;
    i64 exchanged_;  ///< the step whose spikes are being exchanged
    u32 slot_;       ///< of step_ in the ring
    u64 list_ = 1;     ///< of arrivals, counted
    u64 round_ = 0;    ///< of the repeated spikes of this list
    u32 depth_ = 0;    ///< of the nodes that are eliminated or substituted
    u64 received_;     ///< the first spike of other processes that is not delivered yet
    i64 settled_ = 0;  ///< all synapses have learnt from the spikes that had arrived in this step
    u32 parity_ = 0;
    u32 window_ = 0;  ///< of the spikes of this step
    bool is_split_ = false;    ///< synapses of a delay of one step are added first
    bool is_pending_ = false;  ///< and the others of the last list still have to be
    u32 first_source_ = 0;     ///< of the block whose records this thread reads
    u64 events_ = 0;
    // Of the neuron that the thread keeps.
    u32 own_group_ = no_group;
    i32 own_refractory_ = 0;
    double own_[Models::registers != 0 ? Models::registers : 1] = {};
};

}  // namespace ranvier::device
