#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/buffer.hpp"
#include "base/random.hpp"
#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/stored_table.hpp"
#include "connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// Synapses each of which transmits a spike with the same probability, or does not. Weights stay as they are.
///
/// Whether a synapse transmits is a function of the key, the ids of source and target, which of several synapses of this
/// pair it is, the step in which the source fired, and which of its spikes of this step it is: never of its place.
template <class Target, class Weight>
class RandomReleaseTable final : public StoredTable<Target, Weight> {
   public:
    using Base = StoredTable<Target, Weight>;

    /// @param columns of one projection, whose rows are sorted by delay
    RandomReleaseTable(TableColumns<Target, Weight> columns, double probability, RandomKey key,
                       const PlasticTableArguments& arguments)
        : Base(std::move(columns)),
          probability_(probability),
          // Synapses of both signs of a projection may reach different receptors.
          key_(make_key(key.low | std::uint64_t{key.high} << 32, Purpose::release, arguments.receptor)),
          to_grid_(0x1.8p52 * arguments.quantum),
          ids_(arguments.local_neurons, arguments.synapses),
          spikes_(Base::rows(), arguments.synapses) {
        for (std::uint32_t local = 0; local < ids_.size(); ++local) ids_[local] = 0;
        for (const Target target : this->columns_.targets.span()) {
            if (ids_[target] == 0) ids_[target] = arguments.layout->id_of(LocalIndex{target}).value;
        }
        std::fill_n(spikes_.data(), spikes_.size(), LastSpike{});
        number_synapses(arguments.synapses);
    }

    std::string_view layout() const override { return "ring"; }
    DelaySteps reach() const override { return this->columns_.greatest_delay; }
    /// They are needed as long as the table lives.
    void forget_sources() override {}

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step /*now*/,
                         Step /*window_end*/, const InputRing& inputs) override {
        std::uint64_t events = 0;
        constexpr std::size_t ahead = 4;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i + ahead < rows.size()) prefetch(rows[i + ahead]);
            const RowIndex row = rows[i];
            LastSpike& last = spikes_[row.value];
            last.repeated = last.step == stamp ? last.repeated + 1 : 0;
            last.step = stamp;
            const std::uint64_t end = this->row_end(row);
            for (std::uint64_t begin = this->row_begin(row); begin < end; begin += block) {
                const std::size_t count = std::min<std::uint64_t>(block, end - begin);
                release(set, row_key(row, stamp), last.repeated, begin, count, stamp, inputs);
                events += count;
            }
        }
        return events;
    }
    void deliver(InstructionSet, Step, Step, const InputRing&) override {}

    /// What spikes that have been sent will add stays as it is.
    void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step /*now*/,
                     Step /*window_end*/, const InputRing& /*inputs*/) override {
        for (std::size_t i = 0; i < positions.size(); ++i) {
            this->columns_.weights[positions[i]] = static_cast<Weight>(weights[i]);
        }
    }

    void read(RowIndex, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const override {
        for (std::uint64_t position = begin; position < end; ++position) {
            out.push_back(
                {position, this->target(position), delay_of(position), this->weight(position), this->tag(position)});
        }
    }

   private:
    static constexpr std::size_t block = 256;

    struct LastSpike {
        Step step = -1;
        std::uint32_t repeated = 0;  ///< how many of this step came before it
    };

    DelaySteps delay_of(std::uint64_t position) const {
        if (this->columns_.least_delay == this->columns_.greatest_delay) return this->columns_.least_delay;
        return this->columns_.least_delay +
               std::visit([&](const auto& delays) { return DelaySteps{delays[position]}; }, this->columns_.delays);
    }

    void prefetch(RowIndex row) const {
        const std::uint64_t begin = this->row_begin(row);
        const std::size_t count = std::min<std::size_t>(this->row_end(row) - begin, block);
        detail::prefetch_span(this->columns_.targets.data() + begin, count * sizeof(Target));
        detail::prefetch_span(this->columns_.weights.data() + begin, count * sizeof(Weight));
    }

    /// Of all that a spike of a source can do in this step.
    RandomKey row_key(RowIndex row, Step stamp) const {
        const std::uint64_t source = this->source(row).value;
        const auto step = static_cast<std::uint64_t>(stamp);
        const auto words = philox({static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(source >> 32),
                                   static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)},
                                  key_);
        return {words[0], words[1]};
    }

    void release(InstructionSet set, RandomKey key, std::uint32_t repeated, std::uint64_t begin, std::size_t count,
                 Step stamp, const InputRing& inputs) const {
        std::array<std::uint64_t, block> streams;
        std::array<std::uint32_t, block> numbers;
        std::array<std::uint32_t, 4 * block> words;
        const Target* const targets = this->columns_.targets.data() + begin;
        for (std::size_t i = 0; i < count; ++i) streams[i] = ids_[targets[i]];
        for (std::size_t i = 0; i < count; ++i) {
            numbers[i] = few_.empty() ? (many_.empty() ? 0 : many_[begin + i]) : few_[begin + i];
        }
        fill_blocks(set, key, repeated, std::span(streams).first(count), std::span(numbers).first(count), words.data());
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t word = words[4 * i] | std::uint64_t{words[4 * i + 1]} << 32;
            if (!(to_open_unit(word) < probability_)) continue;
            const Step arrival = stamp + delay_of(begin + i);
            const double weight = (static_cast<double>(this->columns_.weights[begin + i]) + to_grid_) - to_grid_;
            if (inputs.wide == nullptr) {
                inputs.slot(arrival)[targets[i]] += weight;
            } else {
                add_wide(inputs.wide_slot(arrival)[targets[i]], weight, inputs.exponent);
            }
        }
    }

    /// Numbers the synapses of each pair by delay, and those of the same delay as the rule has drawn them, whatever the rows
    /// are. Where no pair has several, nothing is stored.
    void number_synapses(std::pmr::memory_resource* memory) {
        std::uint32_t greatest = 0;
        visit_numbers([&](std::uint64_t, std::uint32_t number) { greatest = std::max(greatest, number); });
        if (greatest == 0) return;
        if (greatest <= UINT8_MAX) {
            few_ = Buffer<std::uint8_t>(this->size(), memory);
            visit_numbers([&](std::uint64_t position, std::uint32_t number) {
                few_[position] = static_cast<std::uint8_t>(number);
            });
        } else {
            many_ = Buffer<std::uint32_t>(this->size(), memory);
            visit_numbers([&](std::uint64_t position, std::uint32_t number) { many_[position] = number; });
        }
    }

    template <class Visit>
    void visit_numbers(Visit visit) const {
        if (this->columns_.numbering == RowNumbering::unsorted) {
            visit_unsorted(visit);
            return;
        }
        std::vector<std::uint32_t> found(ids_.size(), 0);
        for (std::uint32_t row = 0; row < this->rows(); ++row) {
            const std::uint64_t begin = this->row_begin(RowIndex{row});
            const std::uint64_t end = this->row_end(RowIndex{row});
            for (std::uint64_t i = begin; i < end; ++i) visit(i, found[this->target(i)]++);
            for (std::uint64_t i = begin; i < end; ++i) found[this->target(i)] = 0;
        }
    }

    template <class Visit>
    void visit_unsorted(Visit visit) const {
        const auto place = [&](std::uint32_t position) {
            return std::tuple(this->columns_.sources[position], this->target(position), delay_of(position), position);
        };
        std::vector<std::uint32_t> order(this->size());
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
        std::uint32_t number = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const bool same_pair = i > 0 && this->columns_.sources[order[i]] == this->columns_.sources[order[i - 1]] &&
                                   this->target(order[i]) == this->target(order[i - 1]);
            number = same_pair ? number + 1 : 0;
            visit(order[i], number);
        }
    }

    double probability_;
    RandomKey key_;
    double to_grid_;
    Buffer<std::uint64_t> ids_;  ///< of the neurons that are targets
    Buffer<LastSpike> spikes_;   ///< of rows
    Buffer<std::uint8_t> few_;    ///< which of several synapses of a pair; empty where there is only one
    Buffer<std::uint32_t> many_;  ///< the same where there are more than 256
};

}  // namespace ranvier::connect
