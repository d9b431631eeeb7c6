#include "ranvier/models/neuron.hpp"

#include <vector>

#include "base/tight_list.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

void NeuronGroup::advance(const AdvanceArguments& arguments) {
    std::vector<double*> inputs(arguments.inputs.size());
    const Step* observed = arguments.observed.data();
    const Step* const observed_end = observed + arguments.observed.size();
    for (Step step = arguments.first; step <= arguments.last; ++step) {
        for (std::size_t r = 0; r < inputs.size(); ++r) inputs[r] = arguments.inputs[r].row(step);
        const bool has_current = arguments.current.data != nullptr;
        const std::size_t fired = update({.step = step,
                                          .inputs = inputs.data(),
                                          .current = has_current ? arguments.current.row(step) : nullptr,
                                          .spikes = arguments.room});
        for (std::size_t i = 0; i < fired; ++i) append(*arguments.spikes, GroupSpike{step, arguments.room[i]});
        if (observed == observed_end || *observed != step) continue;
        arguments.observer->observe(step, 0, arguments.size);
        ++observed;
    }
}

std::optional<std::string> NeuronModel::conflict(std::span<const double>, std::optional<double>) const {
    return std::nullopt;
}

std::optional<std::string> NeuronModel::range_conflict(std::optional<std::uint64_t>, std::span<const double>,
                                                       std::span<const double>) const {
    return std::nullopt;
}

std::unique_ptr<ParameterChange> NeuronGroup::prepare_spikes(std::span<const std::vector<Step>>) {
    throw InternalError("these neurons do not play spikes");
}

std::unique_ptr<ParameterChange> NeuronGroup::prepare_sequences(std::span<const GroupValues>,
                                                                std::span<const std::vector<double>>) {
    throw InternalError("these neurons have no lists of numbers");
}

}  // namespace ranvier::models
