#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "base/tight_list.hpp"
#include "connect/plasticity/decay.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// Dependence of synapses on the potentials of their targets: see models/synapses/clopath.cpp.
struct VoltageConstants {
    double depression = 0.0;    ///< of the weight, for 1 mV
    double potentiation = 0.0;  ///< of the weight, for 1 mV^2 and one step, while the presynaptic trace is 1
    double theta_minus = 0.0;   ///< mV
    double theta_plus = 0.0;
    bool is_homeostatic = false;  ///< depression is multiplied by (u_bar_bar - rest)^2 / reference
    double rest = 0.0;            ///< mV
    double reference = 1.0;       ///< mV^2
    DelaySteps delay = 0;         ///< of u_bar_plus and u_bar_minus
    double trace_steps = 1.0;     ///< time constant of the presynaptic trace
    double jump = 1.0;            ///< of the trace
    double least = 0.0;           ///< bounds of weights
    double greatest = 0.0;
};

/// The effect of the neurons' potentials on synapses, as far back as some synapse may need it: the depression of
/// weights by a presynaptic spike in each step, and the potentiation by the steps in between.
///
/// Most steps potentiate nothing. Those that do are in one list for all neurons, each linked to the previous one of its
/// neuron.
class FollowedPotentials {
   public:
    /// Variables of a neuron, in the order of values().
    static constexpr std::array<std::string_view, 4> variables{"V_m", "u_bar_plus", "u_bar_minus", "u_bar_bar"};
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct Potentiation {
        Step step = 0;
        double size = 0.0;
        std::uint32_t before = none;  ///< of the same neuron
    };

    /// Number of steps to keep. A spike may be processed up to a delay after its emission, and needs the potentials of
    /// a delay before.
    static constexpr std::size_t kept_steps(DelaySteps delay, DelaySteps greatest_delay) {
        return std::bit_ceil(std::max<std::size_t>(std::size_t{delay} + 1, 2 * std::size_t{greatest_delay}));
    }
    /// Bytes per neuron: for each kept step, and in addition.
    static constexpr std::size_t step_bytes() { return 3 * sizeof(double); }
    static constexpr std::size_t neuron_bytes() { return variables.size() * sizeof(double) + sizeof(std::uint32_t); }

    /// @param greatest_delay of the synapses
    FollowedPotentials(std::uint32_t neurons, const VoltageConstants& constants, DelaySteps greatest_delay,
                       std::pmr::memory_resource* memory)
        : neurons_(neurons),
          constants_(constants),
          saved_steps_(std::max(constants.delay, greatest_delay)),
          mask_(kept_steps(constants.delay, greatest_delay) - 1),
          now_values_(std::size_t{neurons} * variables.size(), memory),
          plus_(std::size_t{neurons} * (mask_ + 1), memory),
          minus_(std::size_t{neurons} * (mask_ + 1), memory),
          depression_(std::size_t{neurons} * (mask_ + 1), memory),
          newest_(neurons, memory),
          list_(memory) {
        for (Buffer<double>* const ring : {&plus_, &minus_, &depression_}) {
            std::fill_n(ring->data(), ring->size(), 0.0);
        }
        std::fill_n(now_values_.data(), now_values_.size(), 0.0);
        std::fill_n(newest_.data(), newest_.size(), none);
    }

    /// Buffer for the values of a variable of all neurons, read by add() and begin().
    std::span<double> values(std::size_t variable) { return now_values_.span().subspan(variable * neurons_, neurons_); }

    /// Sets the first values, at the end of a step; they also apply to all earlier steps.
    void begin(Step step) {
        for (std::size_t back = 0; back <= mask_; ++back) {
            put(step - static_cast<Step>(back));
        }
        for (std::size_t back = 0; back <= mask_; ++back) {
            depress(step - static_cast<Step>(back));
        }
        for (std::size_t back = saved_steps_; back-- > 0;) potentiate(step - static_cast<Step>(back));
    }
    /// Adds the values at the end of the next step.
    void add(Step step) {
        put(step);
        depress(step);
        potentiate(step);
    }

    /// Depression of a weight by a spike. @param step of the potentials; must still be kept
    double depression(std::uint32_t neuron, Step step) const { return depression_[place(step) + neuron]; }

    /// Adds the potentiation of the steps (after, end], each multiplied by the remaining fraction of a trace that is 1
    /// in step `origin`. Summation is sequential from the first step on, so the call may be split into pieces.
    void add_potentiation(std::uint32_t neuron, Step after, Step end, Step origin, const Decay<double>& decay,
                          std::vector<std::uint32_t>& room, double& sum) const {
        room.clear();
        for (std::uint32_t i = newest_[neuron]; i != none && list_[i].step > after; i = list_[i].before) {
            if (list_[i].step <= end) room.push_back(i);
        }
        for (std::size_t k = room.size(); k-- > 0;) {
            const Potentiation& one = list_[room[k]];
            sum += one.size * decay(one.step - origin);
        }
    }

    std::size_t potentiations() const { return list_.size(); }
    /// Drops steps up to `step`.
    void drop_until(Step step) {
        const auto first = std::ranges::upper_bound(list_, step, {}, &Potentiation::step);
        const auto dropped = static_cast<std::uint32_t>(first - list_.begin());
        if (dropped == 0) return;
        const auto moved = [dropped](std::uint32_t i) { return i == none || i < dropped ? none : i - dropped; };
        list_.erase(list_.begin(), first);
        for (Potentiation& one : list_) one.before = moved(one.before);
        for (std::uint32_t& newest : newest_.span()) newest = moved(newest);
    }

    /// Saves or loads the state of a neuron after step `now`. Loaded neurons have no earlier potentiation.
    void serialize(std::uint32_t neuron, Step now, StateColumns& columns) {
        const std::size_t size = columns.serialize_size(saved_steps_);
        for (std::size_t i = 0; i < size; ++i) {
            const Step step = now - static_cast<Step>(size - 1 - i);
            double potentiation = columns.loads() ? 0.0 : potentiation_in(neuron, step);
            // Synapses of a table with shorter delays do not need older steps.
            double unused[3] = {};
            const bool is_kept = size - 1 - i <= mask_;
            columns.serialize_element("u_bar_plus", is_kept ? plus_[place(step) + neuron] : unused[0]);
            columns.serialize_element("u_bar_minus", is_kept ? minus_[place(step) + neuron] : unused[1]);
            columns.serialize_element("depression", is_kept ? depression_[place(step) + neuron] : unused[2]);
            columns.serialize_element("potentiation", potentiation);
            if (columns.loads() && potentiation > 0.0) loaded_.push_back({step, potentiation, neuron});
        }
    }
    void end_loading() {
        std::ranges::stable_sort(loaded_, {}, &Potentiation::step);
        for (const Potentiation& one : loaded_) note(one.before, one.step, one.size);
        loaded_ = {};
    }

   private:
    std::size_t place(Step step) const { return (static_cast<std::uint64_t>(step) & mask_) * neurons_; }

    void put(Step step) {
        std::copy_n(now_values_.data() + neurons_, neurons_, plus_.data() + place(step));
        std::copy_n(now_values_.data() + 2 * std::size_t{neurons_}, neurons_, minus_.data() + place(step));
    }
    void depress(Step step) {
        const double* const slow = now_values_.data() + 3 * std::size_t{neurons_};
        const double* const delayed = minus_.data() + place(step - constants_.delay);
        double* const out = depression_.data() + place(step);
        for (std::uint32_t i = 0; i < neurons_; ++i) {
            const double raised = slow[i] - constants_.rest;
            const double factor = constants_.is_homeostatic ? raised * raised / constants_.reference : 1.0;
            out[i] = constants_.depression * factor * std::max(delayed[i] - constants_.theta_minus, 0.0);
        }
    }
    void potentiate(Step step) {
        const double* const delayed = plus_.data() + place(step - constants_.delay);
        const double* const potential = now_values_.data();
        for (std::uint32_t i = 0; i < neurons_; ++i) {
            const double above = potential[i] - constants_.theta_plus;
            const double filtered = delayed[i] - constants_.theta_minus;
            if (above > 0.0 && filtered > 0.0) note(i, step, constants_.potentiation * above * filtered);
        }
    }
    void note(std::uint32_t neuron, Step step, double size) {
        append(list_, {step, size, newest_[neuron]});
        newest_[neuron] = static_cast<std::uint32_t>(list_.size() - 1);
    }
    double potentiation_in(std::uint32_t neuron, Step step) const {
        std::uint32_t i = newest_[neuron];
        while (i != none && list_[i].step > step) i = list_[i].before;
        return i != none && list_[i].step == step ? list_[i].size : 0.0;
    }

    std::uint32_t neurons_;
    VoltageConstants constants_;
    std::size_t saved_steps_;
    std::size_t mask_;           ///< of ring buffers by step, then neuron
    Buffer<double> now_values_;  ///< by variable, then neuron
    Buffer<double> plus_;
    Buffer<double> minus_;
    Buffer<double> depression_;
    Buffer<std::uint32_t> newest_;  ///< of each neuron, in the list
    std::pmr::vector<Potentiation> list_;  ///< by step
    std::vector<Potentiation> loaded_;  ///< with the neuron instead of the link
};

}  // namespace ranvier::connect
