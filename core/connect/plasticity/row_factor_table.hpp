#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/type_name.hpp"
#include "connect/plasticity/factors_on_device.hpp"
#include "connect/plasticity/scaled_delivery.hpp"
#include "connect/tables/stored_table.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// Synapses at which each spike adds the weight times a factor. The factor depends on the spikes of the source alone,
/// and is the same for all synapses of a row, which has a state for it. Weights do not change.
///
/// `Rule` has a `State` of a row with `values` and the step of the `last` spike, `state_names` of these values,
/// `Constants`, `initial(constants)`, and `release(state, step, constants)`, which returns the factor of a spike of
/// this step and updates the state. Where these are known only at run time, it has `names(constants)` and
/// `release_rows(set, states, rows, step, constants, factors)` instead, which does the same for many rows, `of_row(constants)`,
/// as FactorRule::of_row, and `failure(constants)`, the first variable that has become infinite.
template <class Rule, class Target, class Weight>
class RowFactorTable final : public StoredTable<Target, Weight>, public RowState, public FactorsOnDevice {
   public:
    using Base = StoredTable<Target, Weight>;

    RowFactorTable(TableColumns<Target, Weight> columns, const typename Rule::Constants& constants,
                   const PlasticTableArguments& arguments)
        : Base(std::move(columns)),
          constants_(constants),
          quantum_(arguments.quantum),
          resolution_(arguments.resolution),
          states_(Base::rows(), arguments.synapses),
          begins_(arguments.spikes),
          ends_(arguments.spikes),
          factors_(arguments.spikes) {
        std::fill_n(states_.data(), states_.size(), Rule::initial(constants));
    }

    /// Memory of such a table, on a shard.
    static PlasticTableMemory memory() {
        return {.row_bytes = sizeof(typename Rule::State), .spike_bytes = [](const ExpectedSpikes& spikes) {
                    const double listed =
                        std::min(double{rows_at_once},
                                 largest_list(spikes.of_neuron * spikes.rows, spikes.of_process, spikes.most_in_step));
                    return static_cast<double>((2 * sizeof(std::uint64_t) + sizeof(double)) *
                                               std::bit_ceil(static_cast<std::uint64_t>(listed)));
                }};
    }

    RowState* row_state() override { return this; }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step /*now*/,
                         Step /*window_end*/, const InputRing& inputs) override {
        std::uint64_t events = 0;
        for (std::span<const RowIndex> left = rows; !left.empty();) {
            const std::span<const RowIndex> some = left.first(std::min(left.size(), rows_at_once));
            left = left.subspan(some.size());
            events += release(set, stamp, some);
            add_rows(set, stamp, inputs);
        }
        return events;
    }

    FactorsOnDevice* factors_on_device() override {
        if constexpr (!std::is_same_v<Weight, float>) return nullptr;
        return this->columns_.numbering == RowNumbering::unsorted ? nullptr : this;
    }
    FactorRule factor_rule() const override {
        FactorRule made{.states = state_names().size(), .quantum = quantum_, .resolution = resolution_};
        if constexpr (releases_rows) {
            made.of_row = Rule::of_row(constants_);
        } else {
            // The rule itself, without what tables alone need, is one that kernels know.
            made.type = type_name<typename Rule::OnDevice>();
            made.constants = std::as_bytes(std::span(&constants_, 1));
            made.of_row = [constants = constants_](double* values, Step& last, Step step) {
                typename Rule::State state;
                std::copy_n(values, Rule::states, state.values);
                state.last = last;
                const double factor = Rule::release(state, step, constants);
                std::copy_n(state.values, Rule::states, values);
                last = state.last;
                return factor;
            };
        }
        return made;
    }
    void get_state(FactorState& state) const override {
        state = {};
        for (std::size_t k = 0; k < state_names().size(); ++k) {
            for (const typename Rule::State& each : states_.span()) state.values.push_back(each.values[k]);
        }
        for (const typename Rule::State& each : states_.span()) state.last.push_back(each.last);
    }
    void set_state(const FactorState& state) override {
        for (std::size_t row = 0; row < states_.size(); ++row) {
            for (std::size_t k = 0; k < state_names().size(); ++k) {
                states_[row].values[k] = state.values[k * states_.size() + row];
            }
            states_[row].last = state.last[row];
        }
    }

    std::optional<RowFailure> failure() const override {
        if constexpr (releases_rows) return Rule::failure(constants_);
        return std::nullopt;
    }

    void serialize_row(RowIndex row, StateColumns& columns) override {
        typename Rule::State& state = states_[row.value];
        const std::span<const std::string_view> names = state_names();
        for (std::size_t k = 0; k < names.size(); ++k) columns.serialize(names[k], state.values[k]);
        columns.serialize("last_spike", state.last);
    }

   private:
    static constexpr bool releases_rows = requires { &Rule::release_rows; };

    bool same_delay() const { return this->columns_.least_delay == this->columns_.greatest_delay; }

    std::span<const std::string_view> state_names() const {
        if constexpr (releases_rows) {
            return Rule::names(constants_);
        } else {
            return Rule::state_names;
        }
    }

    /// Computes the factors of a spike of each of some rows, and the positions of their synapses.
    std::uint64_t release([[maybe_unused]] InstructionSet set, Step stamp, std::span<const RowIndex> rows) {
        constexpr std::size_t ahead = 16;
        begins_.clear();
        ends_.clear();
        factors_.clear();
        std::uint64_t events = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i + ahead < rows.size()) {
                __builtin_prefetch(states_.data() + rows[i + ahead].value, 1, 3);
                this->columns_.row_start.prefetch(rows[i + ahead].value);
            }
            begins_.push_back(this->row_begin(rows[i]));
            ends_.push_back(this->row_end(rows[i]));
            if constexpr (!releases_rows) {
                factors_.push_back(Rule::release(states_[rows[i].value], stamp, constants_));
            }
            events += ends_.back() - begins_.back();
        }
        if constexpr (releases_rows) {
            factors_.resize(rows.size());
            Rule::release_rows(set, states_.data(), rows, stamp, constants_, factors_.data());
        }
        return events;
    }

    void add_rows(InstructionSet set, Step stamp, const InputRing& inputs) const {
        const auto* const narrow = std::get_if<Buffer<std::uint8_t>>(&this->columns_.delays);
        const auto* const wide = std::get_if<Buffer<std::uint16_t>>(&this->columns_.delays);
        detail::deliver_scaled<Target, Weight>(
            set, {
                     .begins = begins_.data(),
                     .ends = ends_.data(),
                     .factors = factors_.data(),
                     .count = begins_.size(),
                     .targets = this->columns_.targets.data(),
                     .weights = this->columns_.weights.data(),
                     .narrow_delays = same_delay() || narrow == nullptr ? nullptr : narrow->data(),
                     .wide_delays = same_delay() || wide == nullptr ? nullptr : wide->data(),
                     .base = stamp + this->columns_.least_delay,
                     .inputs = inputs,
                     .to_grid = 0x1.8p52 * quantum_,
                     // Short rows need more prefetches in flight to hide the latency of memory.
                     .ahead = this->size() < std::uint64_t{16} * this->rows() ? std::size_t{24} : std::size_t{4},
                 });
    }

    /// Lists of this many rows stay in the nearest cache.
    static constexpr std::size_t rows_at_once = 1024;

    typename Rule::Constants constants_;
    double quantum_;
    double resolution_;  ///< ms
    Buffer<typename Rule::State> states_;  ///< of rows
    std::pmr::vector<std::uint64_t> begins_;
    std::pmr::vector<std::uint64_t> ends_;
    std::pmr::vector<double> factors_;
};

}  // namespace ranvier::connect
