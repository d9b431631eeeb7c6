#include "models/source_group.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/counted.hpp"
#include "models/repeating_group.hpp"

namespace ranvier::models {

namespace {

class Sources final : public RepeatingGroup {
   public:
    explicit Sources(const GroupArguments& arguments)
        : RepeatingGroup(arguments.ids.size(), arguments.model->most_spikes),
          model_(*arguments.model->stimulator),
          ids_(arguments.ids),
          key_(arguments.key),
          resolution_(arguments.resolution),
          instruction_set_(arguments.instruction_set),
          sequences_(arguments.sequences.begin(), arguments.sequences.end()),
          memory_(arguments.memory),
          stimulus_(make_stimulus(arguments.parameters, sequences_)),
          numbers_(ids_.size(), 0.0, arguments.memory) {}

    // There are no variables.
    bool is_finite() const override { return true; }
    void read(std::size_t, std::span<const std::uint32_t>, double*) const override {}
    void write(std::size_t, std::span<const std::uint32_t>, const double*) override {}
    void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}

    std::optional<GroupFailure> failure() const override {
        if (!has_failed_) return std::nullopt;
        return GroupFailure{.what = "a source had more than " + counted(most(), "spike") + " in a step",
                            .remedy = "check the unit of its rate, or take shorter steps"};
    }

    void serialize_state(std::uint32_t neuron, Step, StateColumns& columns) override {
        stimulus_->serialize_state(neuron, columns);
    }

    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues> parameters) override {
        return std::make_unique<Change>(*this, make_stimulus(parameters, sequences_), sequences_);
    }
    std::unique_ptr<ParameterChange> prepare_sequences(std::span<const GroupValues> parameters,
                                                       std::span<const std::vector<double>> sequences) override {
        return std::make_unique<Change>(*this, make_stimulus(parameters, sequences),
                                        std::vector(sequences.begin(), sequences.end()));
    }

   protected:
    void fire(Step step, double* const*, std::pmr::vector<GroupSpike>& spikes) override {
        stimulus_->add(step, numbers_.data());
        constexpr std::size_t block = 16;
        for (std::size_t begin = 0; begin < size(); begin += block) {
            const std::size_t end = std::min(begin + block, size());
            double sum = 0.0;
            for (std::size_t i = begin; i < end; ++i) sum += numbers_[i];
            if (sum == 0.0) continue;
            for (std::size_t i = begin; i < end; ++i) {
                const double number = std::exchange(numbers_[i], 0.0);
                has_failed_ = has_failed_ || number > most();
                repeat({step, static_cast<std::uint32_t>(i)},
                       number > most() ? most() : static_cast<std::uint32_t>(number), spikes);
            }
        }
    }

   private:
    class Change final : public ParameterChange {
       public:
        Change(Sources& group, std::unique_ptr<Stimulus> stimulus, std::vector<std::vector<double>> sequences)
            : group_(group), stimulus_(std::move(stimulus)), sequences_(std::move(sequences)) {}

        void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}
        void apply() noexcept override {
            stimulus_->take_state(*group_.stimulus_);
            group_.stimulus_.swap(stimulus_);
            group_.sequences_.swap(sequences_);
        }

       private:
        Sources& group_;
        std::unique_ptr<Stimulus> stimulus_;
        std::vector<std::vector<double>> sequences_;
    };

    std::unique_ptr<Stimulus> make_stimulus(std::span<const GroupValues> parameters,
                                            std::span<const std::vector<double>> sequences) const {
        return model_.create({.resolution = resolution_,
                              .instruction_set = instruction_set_,
                              .key = key_,
                              .targets = ids_,
                              .parameters = parameters,
                              .sequences = sequences,
                              .weights = {{1.0}},
                              .delay = 0,
                              .greatest_mean = greatest_mean_of_sources,
                              .memory = memory_});
    }

    const StimulatorModel& model_;
    IdSequence ids_;
    RandomKey key_;
    double resolution_;
    InstructionSet instruction_set_;
    std::vector<std::vector<double>> sequences_;
    std::pmr::memory_resource* memory_;
    std::unique_ptr<Stimulus> stimulus_;
    AlignedVector<double> numbers_;  ///< spikes of each source in a step; 0 between steps
    bool has_failed_ = false;
};

}  // namespace

SourceModel::SourceModel(const StimulatorModel& described)
    : NeuronModel({.name = described.name,
                   .summary = described.summary,
                   .equations = described.equations,
                   .reference = described.reference,
                   .parameters = described.parameters,
                   .variables = {},
                   .receptors = {},
                   .is_source = true,
                   .stimulator = &described,
                   .sequences = described.sequences,
                   .most_spikes = described.most_spikes > 0 ? described.most_spikes : most_spikes_of_sources,
                   .takes_current = false}) {}

std::unique_ptr<NeuronGroup> SourceModel::create(const GroupArguments& arguments) const {
    return std::make_unique<Sources>(arguments);
}

}  // namespace ranvier::models
