#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/tight_list.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// A group of neurons each of which may fire several times in a step.
class RepeatingGroup : public NeuronGroup {
   public:
    void advance(const AdvanceArguments& arguments) final {
        std::vector<double*> inputs(arguments.inputs.size());
        const Step* observed = arguments.observed.data();
        const Step* const observed_end = observed + arguments.observed.size();
        for (Step step = arguments.first; step <= arguments.last; ++step) {
            for (std::size_t r = 0; r < inputs.size(); ++r) inputs[r] = arguments.inputs[r].row(step);
            fire(step, inputs.data(), *arguments.spikes);
            if (observed == observed_end || *observed != step) continue;
            arguments.observer->observe(step, 0, arguments.size);
            ++observed;
        }
    }

    std::size_t update(const UpdateArguments& arguments) final {
        std::pmr::vector<GroupSpike> fired;
        fire(arguments.step, arguments.inputs, fired);
        for (std::size_t i = 0; i < fired.size(); ++i) arguments.spikes[i] = fired[i].neuron;
        return fired.size();
    }

    std::size_t largest_output() const final { return size_ * most_; }

   protected:
    /// @param most spikes of a neuron in a step: NeuronModel::most_spikes
    RepeatingGroup(std::size_t size, std::uint32_t most) : size_(size), most_(most) {}

    /// Takes all neurons through a step, and appends the spikes, ascending by neuron.
    virtual void fire(Step step, double* const* inputs, std::pmr::vector<GroupSpike>& spikes) = 0;

    static void repeat(GroupSpike spike, std::uint32_t times, std::pmr::vector<GroupSpike>& spikes) {
        for (std::uint32_t i = 0; i < times; ++i) append(spikes, spike);
    }

    std::size_t size() const { return size_; }
    std::uint32_t most() const { return most_; }

   private:
    std::size_t size_;
    std::uint32_t most_;
};

/// An empty change.
struct NoChange final : ParameterChange {
    void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}
    void apply() noexcept override {}
};

}  // namespace ranvier::models
