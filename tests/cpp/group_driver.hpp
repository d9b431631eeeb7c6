#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// Drives one group of neurons as the engine does: one call a step, with inputs that the group must clear.
class GroupDriver {
   public:
    struct Options {
        std::size_t size = 1;
        double resolution = 0.1;
        Precision precision = Precision::double_precision;
        InstructionSet instruction_set = InstructionSet::baseline;
        std::pmr::memory_resource* memory = page_memory();
        /// Give every parameter once per neuron, though all are equal.
        bool per_neuron = false;
        /// Parameters and initial values other than the defaults: for all neurons or one each.
        std::map<std::string_view, std::vector<double>> values = {};
        /// Ids of the neurons, in a population that begins at id `population_first`; by default 0, 1, ..., all of it.
        IdSequence ids = {};
        std::uint64_t population_first = 0;
        std::uint64_t population_size = 0;
    };

    GroupDriver(std::string_view model, const Options& options) : GroupDriver(find_neuron_model(model), options) {}

    /// @param model must outlive the driver
    GroupDriver(const NeuronModel& model, const Options& options)
        : model_(model), size_(options.size), inputs_(model_.receptors.size()) {
        for (const ParameterInfo& info : model_.parameters) {
            const auto found = options.values.find(info.name);
            const std::vector<double> values =
                found == options.values.end() ? std::vector{info.default_value} : found->second;
            parameters_.push_back({{values.begin(), values.end()}});
            if (options.per_neuron && parameters_.back().uniform()) {
                parameters_.back().values.assign(size_, parameters_.back()[0]);
            }
        }
        std::vector<GroupValues> variables;
        for (const VariableInfo& info : model_.variables) {
            const auto found = options.values.find(info.name);
            if (found != options.values.end()) {
                variables.push_back({{found->second.begin(), found->second.end()}});
            } else if (info.initial_parameter.empty()) {
                variables.push_back({{info.initial_value}});
            } else {
                variables.push_back(parameters_[parameter(info.initial_parameter)]);
            }
        }
        group_ = model_.create({.model = &model_,
                                .ids = options.ids.empty() ? IdSequence{NeuronId{0}, 1, size_} : options.ids,
                                .population_first = NeuronId{options.population_first},
                                .population_size = options.ids.empty() ? size_ : options.population_size,
                                .key = key(),
                                .resolution = options.resolution,
                                .precision = options.precision,
                                .instruction_set = options.instruction_set,
                                .compiled_programs = true,
                                .parameters = parameters_,
                                .variables = variables,
                                .spike_steps = {},
                                .memory = options.memory});
        // One more than needed, to see that nothing behind the end is touched.
        for (std::uint32_t r = 0; r < inputs_.size(); ++r) {
            sites_.push_back(model_.sites_at(r).most);
            inputs_[r].assign(size_ * sites_.back() + 1, -0.0);
        }
        spikes_.assign(group_->largest_output() + 1, 0);
    }

    /// Input of the next step.
    void give(std::size_t receptor, std::size_t neuron, double weight, std::size_t site = 0) {
        inputs_[receptor][neuron * sites_[receptor] + site] += weight;
    }
    /// Input of the next step, to the receptor that the sign of the weight asks for.
    void give(std::size_t neuron, double weight) { give(inputs_.size() > 1 && weight < 0.0 ? 1 : 0, neuron, weight); }
    void give_current(std::vector<double> current) { current_ = std::move(current); }

    /// One step; returns the indices that fired.
    std::vector<std::uint32_t> step() {
        std::vector<double*> pointers;
        for (auto& array : inputs_) {
            array.back() = guard;
            pointers.push_back(array.data());
        }
        spikes_[group_->largest_output()] = guard_index;
        const std::size_t count = group_->update({.step = ++step_,
                                                  .inputs = pointers.data(),
                                                  .current = current_.empty() ? nullptr : current_.data(),
                                                  .spikes = spikes_.data()});
        for (const auto& array : inputs_) {
            sound_ = sound_ && array.back() == guard;
            for (std::size_t i = 0; i + 1 < array.size(); ++i) {
                sound_ = sound_ && array[i] == 0.0 && std::signbit(array[i]);
            }
        }
        sound_ = sound_ && spikes_[group_->largest_output()] == guard_index;
        return {spikes_.begin(), spikes_.begin() + static_cast<std::ptrdiff_t>(count)};
    }

    /// Whether every step so far has cleared its inputs and changed nothing else.
    bool sound() const { return sound_; }

    std::vector<double> read(std::string_view variable_name) const {
        std::vector<std::uint32_t> all(size_);
        std::iota(all.begin(), all.end(), 0u);
        std::vector<double> values(size_);
        group_->read(variable(variable_name), all, values.data());
        return values;
    }
    double potential() const { return read("V_m")[0]; }
    void write(std::string_view variable_name, std::uint32_t neuron, double value) {
        group_->write(variable(variable_name), std::span(&neuron, 1), &value);
    }
    void set(std::string_view parameter_name, const std::vector<double>& values) {
        parameters_[parameter(parameter_name)].values.assign(values.begin(), values.end());
        group_->set_parameters(parameters_);
    }

    const NeuronModel& model() const { return model_; }
    NeuronGroup& group() { return *group_; }
    static RandomKey key() { return make_key(1, Purpose::test, 1); }

   private:
    static constexpr double guard = 1234.5;
    static constexpr std::uint32_t guard_index = 0xABCDABCD;

    std::size_t parameter(std::string_view name) const {
        for (std::size_t i = 0; i < model_.parameters.size(); ++i) {
            if (model_.parameters[i].name == name) return i;
        }
        throw std::logic_error("no parameter " + std::string(name));
    }
    std::size_t variable(std::string_view name) const {
        for (std::size_t i = 0; i < model_.variables.size(); ++i) {
            if (model_.variables[i].name == name) return i;
        }
        throw std::logic_error("no variable " + std::string(name));
    }

    const NeuronModel& model_;
    std::size_t size_;
    std::vector<GroupValues> parameters_;
    std::vector<std::vector<double>> inputs_;
    std::vector<std::size_t> sites_;  ///< by receptor
    std::vector<double> current_;
    std::vector<std::uint32_t> spikes_;
    std::unique_ptr<NeuronGroup> group_;
    Step step_ = 0;
    bool sound_ = true;
};

}  // namespace ranvier::models
