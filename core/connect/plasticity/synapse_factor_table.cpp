#include "connect/plasticity/synapse_factor_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "connect/plasticity/factors_on_device.hpp"
#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/stored_table.hpp"
#include "ranvier/base/buffer.hpp"

namespace ranvier::connect {

namespace {

constexpr std::size_t block_size = 256;

template <class Target, class Weight>
class SynapseFactorTable final : public StoredTable<Target, Weight>, public RowState, public FactorsOnDevice {
   public:
    using Base = StoredTable<Target, Weight>;

    SynapseFactorTable(TableColumns<Target, Weight> columns, const SynapseFactorRule& rule,
                       std::span<const double> shared, std::span<const std::uint32_t> per_synapse,
                       const PlasticTableArguments& arguments)
        : Base(std::move(columns)),
          rule_(rule),
          per_synapse_(per_synapse.begin(), per_synapse.end()),
          shared_(shared.begin(), shared.end()),
          resolution_(arguments.resolution),
          to_grid_(0x1.8p52 * arguments.quantum),
          last_(Base::rows(), arguments.synapses),
          parameters_(rule.parameters * block_size, arguments.synapses),
          numbers_((rule.state_names.size() + 1) * block_size, arguments.synapses) {
        std::fill_n(last_.data(), last_.size(), rule.never);
        for (std::size_t k = 0; k < rule.parameters; ++k) {
            parameter_blocks_.push_back(parameters_.data() + k * block_size);
            std::fill_n(parameters_.data() + k * block_size, block_size, shared[k]);
        }
        for (std::size_t k = 0; k < rule.state_names.size(); ++k) {
            states_.emplace_back(this->size(), arguments.synapses);
            state_blocks_.push_back(numbers_.data() + (k + 1) * block_size);
        }
        for (std::uint64_t begin = 0; begin < this->size(); begin += block_size) {
            const std::size_t count = std::min<std::uint64_t>(block_size, this->size() - begin);
            load_parameters(begin, count);
            rule_.begin(block(count, 0, 0));
            store_states(begin, count);
        }
    }

    RowState* row_state() override { return this; }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step /*now*/,
                         Step /*window_end*/, const InputRing& inputs) override {
        std::uint64_t events = 0;
        constexpr std::size_t ahead = 4;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i + ahead < rows.size()) prefetch(rows[i + ahead]);
            const Step last = std::exchange(last_[rows[i].value], stamp);
            const std::uint64_t end = this->row_end(rows[i]);
            for (std::uint64_t begin = this->row_begin(rows[i]); begin < end; begin += block_size) {
                const std::size_t count = std::min<std::uint64_t>(block_size, end - begin);
                load_parameters(begin, count);
                load_states(begin, count);
                rule_.release(set, block(count, stamp, last));
                store_states(begin, count);
                add(begin, count, stamp, inputs);
                events += count;
            }
        }
        return events;
    }

    bool has_synapse_state() const override { return true; }
    void serialize_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) override {
        Base::serialize_synapses(positions, columns);
        for (std::size_t k = 0; k < states_.size(); ++k) {
            Base::serialize_column(columns, rule_.state_names[k], positions, states_[k]);
        }
    }
    void serialize_row(RowIndex row, StateColumns& columns) override {
        columns.serialize("last_spike", last_[row.value]);
    }

    FactorsOnDevice* factors_on_device() override {
        if constexpr (!std::is_same_v<Weight, float>) return nullptr;
        return this->columns_.numbering == RowNumbering::unsorted ? nullptr : this;
    }
    FactorRule factor_rule() const override {
        FactorRule made{.type = rule_.type,
                        .states = rule_.state_names.size(),
                        .quantum = to_grid_ / 0x1.8p52,
                        .resolution = resolution_,
                        .of_synapse = [&rule = rule_, resolution = resolution_](const SynapseSpike& given) {
                            std::vector<const double*> parameters;
                            for (std::size_t k = 0; k < rule.parameters; ++k) {
                                parameters.push_back(given.parameters + k);
                            }
                            std::vector<double*> states;
                            for (std::size_t k = 0; k < rule.state_names.size(); ++k) {
                                states.push_back(given.values + k);
                            }
                            double factor = 0.0;
                            rule.release(InstructionSet::baseline, {.parameters = parameters.data(),
                                                                    .states = states.data(),
                                                                    .factors = &factor,
                                                                    .count = 1,
                                                                    .now = given.step,
                                                                    .last = given.last,
                                                                    .resolution = resolution});
                            return factor;
                        }};
        if constexpr (std::is_same_v<Weight, float>) {
            add_parameters(made, shared_, per_synapse_, this->columns_.parameters);
        }
        return made;
    }
    void get_state(FactorState& state) const override {
        state = {};
        state.last.assign(last_.data(), last_.data() + last_.size());
        for (const Buffer<Weight>& values : states_) {
            for (const Weight value : values.span()) state.synapse_values.push_back(static_cast<float>(value));
        }
    }
    void set_state(const FactorState& state) override {
        std::ranges::copy(state.last, last_.data());
        for (std::size_t k = 0; k < states_.size(); ++k) {
            std::copy_n(state.synapse_values.data() + k * this->size(), this->size(), states_[k].data());
        }
    }

   private:
    SynapseFactorBlock block(std::size_t count, Step now, Step last) {
        return {.parameters = parameter_blocks_.data(),
                .states = state_blocks_.data(),
                .factors = numbers_.data(),
                .count = count,
                .now = now,
                .last = last,
                .resolution = resolution_};
    }
    void load_parameters(std::uint64_t begin, std::size_t count) {
        for (std::size_t k = 0; k < per_synapse_.size(); ++k) {
            copy(this->columns_.parameters[k].data() + begin, count, parameters_.data() + per_synapse_[k] * block_size);
        }
    }
    void load_states(std::uint64_t begin, std::size_t count) {
        for (std::size_t k = 0; k < states_.size(); ++k) copy(states_[k].data() + begin, count, state_blocks_[k]);
    }
    void store_states(std::uint64_t begin, std::size_t count) {
        for (std::size_t k = 0; k < states_.size(); ++k) copy(state_blocks_[k], count, states_[k].data() + begin);
    }
    template <class From, class To>
    static void copy(const From* from, std::size_t count, To* to) {
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
    }

    void add(std::uint64_t begin, std::size_t count, Step stamp, const InputRing& inputs) {
        double* const added = numbers_.data();
        const Weight* const weights = this->columns_.weights.data() + begin;
        const Target* const targets = this->columns_.targets.data() + begin;
        for (std::size_t i = 0; i < count; ++i) {
            added[i] = (static_cast<double>(weights[i]) * added[i] + to_grid_) - to_grid_;
        }
        for (std::size_t i = 0; i < count; ++i) {
            inputs.add(stamp + Base::delay_at(RowIndex{}, begin + i), targets[i], added[i]);
        }
    }

    void prefetch(RowIndex row) const {
        const std::uint64_t begin = this->row_begin(row);
        const std::size_t count = std::min<std::size_t>(this->row_end(row) - begin, block_size);
        detail::prefetch_span(this->columns_.targets.data() + begin, count * sizeof(Target));
        detail::prefetch_span(this->columns_.weights.data() + begin, count * sizeof(Weight));
        for (const auto& values : this->columns_.parameters) {
            detail::prefetch_span(values.data() + begin, count * sizeof(Weight));
        }
        for (const auto& values : states_) detail::prefetch_span(values.data() + begin, count * sizeof(Weight));
    }

    const SynapseFactorRule& rule_;
    std::vector<std::uint32_t> per_synapse_;  ///< parameters of the model, by column
    std::vector<double> shared_;  ///< by parameter of the model
    double resolution_;
    double to_grid_;
    Buffer<Step> last_;  ///< last spike of each row
    std::vector<Buffer<Weight>> states_;
    /// Of a block: parameters of the model, where shared ones are constant; then factors and states.
    Buffer<double> parameters_;
    Buffer<double> numbers_;
    std::vector<const double*> parameter_blocks_;
    std::vector<double*> state_blocks_;
};

}  // namespace

template <class Target, class Weight>
std::unique_ptr<SynapseTable> make_synapse_factor_table(TableColumns<Target, Weight> columns,
                                                        const SynapseFactorRule& rule, std::span<const double> shared,
                                                        std::span<const std::uint32_t> per_synapse,
                                                        const PlasticTableArguments& arguments) {
    return std::make_unique<SynapseFactorTable<Target, Weight>>(std::move(columns), rule, shared, per_synapse,
                                                                arguments);
}

template std::unique_ptr<SynapseTable> make_synapse_factor_table(TableColumns<std::uint16_t, float>,
                                                                 const SynapseFactorRule&, std::span<const double>,
                                                                 std::span<const std::uint32_t>,
                                                                 const PlasticTableArguments&);
template std::unique_ptr<SynapseTable> make_synapse_factor_table(TableColumns<std::uint32_t, float>,
                                                                 const SynapseFactorRule&, std::span<const double>,
                                                                 std::span<const std::uint32_t>,
                                                                 const PlasticTableArguments&);
template std::unique_ptr<SynapseTable> make_synapse_factor_table(TableColumns<std::uint16_t, double>,
                                                                 const SynapseFactorRule&, std::span<const double>,
                                                                 std::span<const std::uint32_t>,
                                                                 const PlasticTableArguments&);
template std::unique_ptr<SynapseTable> make_synapse_factor_table(TableColumns<std::uint32_t, double>,
                                                                 const SynapseFactorRule&, std::span<const double>,
                                                                 std::span<const std::uint32_t>,
                                                                 const PlasticTableArguments&);

PlasticTableMemory synapse_factor_memory(const SynapseFactorRule& rule, std::size_t weight_bytes) {
    return {.synapse_bytes = rule.state_names.size() * weight_bytes,
            .row_bytes = sizeof(Step),
            .constant_bytes = (rule.parameters + rule.state_names.size() + 1) * block_size * sizeof(double)};
}

}  // namespace ranvier::connect
