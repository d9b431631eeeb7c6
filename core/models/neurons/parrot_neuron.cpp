#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/repeating_group.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace parrot_neuron_parts {

constexpr std::array<std::string_view, 1> receptors{"relay"};
constexpr std::uint32_t most_relayed = 1023;

class Parrots final : public RepeatingGroup {
   public:
    explicit Parrots(const GroupArguments& arguments)
        : RepeatingGroup(arguments.ids.size(), most_relayed), ids_(arguments.ids) {}

    // The model has no variables, parameters or state.
    bool is_finite() const override { return true; }
    void read(std::size_t, std::span<const std::uint32_t>, double*) const override {}
    void write(std::size_t, std::span<const std::uint32_t>, const double*) override {}
    void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}
    void serialize_state(std::uint32_t, Step, StateColumns&) override {}
    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues>) override {
        return std::make_unique<NoChange>();
    }

    std::optional<GroupFailure> failure() const override {
        if (!is_odd_) return std::nullopt;
        return GroupFailure{.what = "neuron " + std::to_string(odd_neuron_) + " was to relay " + to_text(odd_number_) +
                                    " spikes, the sum of the weights that arrived, in a step; it can relay whole "
                                    "numbers up to " +
                                    std::to_string(most_relayed),
                            .remedy = "use weights of 1 for synapses on parrot neurons"};
    }

   protected:
    void fire(Step step, double* const* inputs, std::pmr::vector<GroupSpike>& spikes) override {
        double* const numbers = inputs[0];
        for (std::size_t i = 0; i < size(); ++i) {
            const double number = numbers[i];
            numbers[i] = -0.0;
            if (number == 0.0) continue;
            double relayed = number;
            if (!(number > 0.0 && number <= most_relayed) || number != std::floor(number)) {
                note(i, number);
                relayed = std::clamp(std::floor(number), 0.0, static_cast<double>(most_relayed));
            }
            repeat({step, static_cast<std::uint32_t>(i)}, static_cast<std::uint32_t>(relayed), spikes);
        }
    }

   private:
    void note(std::size_t neuron, double number) {
        if (is_odd_) return;
        is_odd_ = true;
        odd_neuron_ = ids_[neuron].value;
        odd_number_ = number;
    }

    IdSequence ids_;
    bool is_odd_ = false;
    std::uint64_t odd_neuron_ = 0;  ///< the first one that failed, and the number it should have relayed
    double odd_number_ = 0.0;
};

constinit const PlainNeuronModel<Parrots> model({
    .name = "parrot_neuron",
    .summary = "Relay that fires whenever a spike arrives",
    .equations =
        R"(A spike that arrives in a step is fired again at the end of this step; k spikes that arrive in the same step are
fired as k spikes. So a spike that was fired at t reaches the targets of a parrot at t + d1 + d2, where d1 is the
delay of the synapse or the stimulus from which the parrot gets it, and d2 that of the synapse to the target.
The weights of what arrives are 1. A parrot can relay 1023 spikes in a step; more are an error.)",
    .reference = "the device of this name in NEST: J. Hahne et al., NEST simulator, https://nest-simulator.org",
    .parameters = {},
    .variables = {},
    .receptors = receptors,
    .weight_bounds = {.lower = 1.0, .upper = 1.0},
    .weight_unit = "",
    .relays_input = true,
    .most_spikes = most_relayed,
    .takes_current = false,
});

}  // namespace parrot_neuron_parts
}  // namespace

constinit const NeuronModel& parrot_neuron = parrot_neuron_parts::model;

}  // namespace ranvier::models
