#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ranvier/models/stimulator.hpp"

namespace ranvier::models {

/// Makes one stimulus as the engine does and asks it for steps.
class StimulusDriver {
   public:
    struct Options {
        std::size_t size = 1;
        double resolution = 0.1;
        InstructionSet instruction_set = InstructionSet::baseline;
        RandomKey key = make_key(1, Purpose::test, 1);
        std::uint64_t first_target = 0;
        std::uint64_t target_stride = 1;
        /// If any, the ids of the targets are this list instead.
        std::vector<std::uint64_t> ids = {};
        /// Parameters other than the defaults: for all targets or one each.
        std::map<std::string_view, std::vector<double>> values = {};
        std::vector<std::vector<double>> sequences = {};
        std::vector<double> weights = {1.0};
        DelaySteps delay = 1;
    };

    StimulusDriver(std::string_view model, const Options& options) : size_(options.size) {
        const StimulatorModel& found = find_stimulator_model(model);
        for (const ParameterInfo& info : found.parameters) {
            const auto value = options.values.find(info.name);
            const std::vector<double> values =
                value == options.values.end() ? std::vector{info.default_value} : value->second;
            parameters_.push_back({{values.begin(), values.end()}});
        }
        for (const auto& [name, unused] : options.values) {
            bool known = false;
            for (const ParameterInfo& info : found.parameters) known = known || info.name == name;
            if (!known) throw std::logic_error("no parameter " + std::string(name));
        }
        StimulusArguments arguments;
        arguments.resolution = options.resolution;
        arguments.instruction_set = options.instruction_set;
        arguments.key = options.key;
        arguments.targets = {NeuronId(options.first_target), options.target_stride, options.size};
        if (!options.ids.empty()) {
            // A part of a list: the stimulus must not reach the other ids.
            auto list = std::make_shared<std::vector<std::uint64_t>>(options.ids);
            list->insert(list->begin(), 0);
            list->push_back(~std::uint64_t{0});
            arguments.targets = {std::move(list), 1, options.size};
        }
        arguments.parameters = parameters_;
        arguments.sequences = options.sequences;
        arguments.weights = {{options.weights.begin(), options.weights.end()}};
        arguments.delay = options.delay;
        stimulus_ = found.create(arguments);
    }

    /// What the stimulus adds in a step, one value for each target.
    std::vector<double> at(Step step) {
        // It must add, and only to its own targets.
        std::vector<double> out(size_ + 1, before);
        stimulus_->add(step, out.data());
        if (out[size_] != before) throw std::logic_error("it wrote past the end");
        out.pop_back();
        for (double& value : out) value -= before;
        return out;
    }

    /// The first target's values in steps 1 to `last`.
    std::vector<double> first_target_until(Step last) {
        std::vector<double> values;
        for (Step step = 1; step <= last; ++step) values.push_back(at(step)[0]);
        return values;
    }

    Stimulus& stimulus() { return *stimulus_; }

   private:
    // A power of two, so that small multiples of powers of two are added and taken away without rounding.
    static constexpr double before = 256.0;

    std::size_t size_;
    std::vector<GroupValues> parameters_;
    std::unique_ptr<Stimulus> stimulus_;
};

}  // namespace ranvier::models
