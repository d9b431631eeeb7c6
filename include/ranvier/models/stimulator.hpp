#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/page_memory.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/models/model_info.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// The destination of a stimulator: the synaptic input of its targets or their current.
enum class StimulatorOutput : std::uint8_t { spikes, current };

struct StimulusArguments {
    double resolution = 0.1;  ///< ms
    InstructionSet instruction_set = InstructionSet::baseline;
    RandomKey key;       ///< of this stimulus; numbers are drawn per (target id, step)
    IdSequence targets;  ///< global ids of the targets on this shard
    std::span<const GroupValues> parameters;  ///< in the order of StimulatorModel::parameters, per target or for all
    std::span<const std::vector<double>> sequences;  ///< in the order of StimulatorModel::sequences
    GroupValues weights;  ///< factor of each target (mV, pA or none for currents)
    DelaySteps delay = 1;                        ///< see Stimulus::add
    /// For spikes: the maximum mean number per step and target that the receiver supports.
    double greatest_mean = std::numeric_limits<double>::infinity();
    /// for memory that grows with targets; must outlive the stimulus
    std::pmr::memory_resource* memory = page_memory();
};

/// Poisson spike trains for other machines than processors: see models/stimulators/poisson_sampler.hpp. Arrays have one value
/// for all targets, or one for each.
struct PoissonTrains {
    RandomKey key;
    DelaySteps delay = 1;
    GroupValues weights;
    std::vector<Step> starts;  ///< spikes are emitted in steps after this one,
    std::vector<Step> stops;   ///< up to this one
    /// A word of 32 bits below threshold k means more than k spikes.
    std::vector<std::vector<std::uint32_t>> thresholds;
    /// Probabilities of more than k spikes, which decide where a word is below all thresholds.
    std::vector<std::vector<double>> survival;
};

/// Noise currents for other machines than processors: see models/stimulators/noise_generator.cpp. Arrays have one value for
/// all targets, or one for each.
struct NoiseCurrents {
    RandomKey key;
    DelaySteps delay = 1;
    GroupValues weights;
    GroupValues means;
    GroupValues deviations;
    GroupValues modulations;
    GroupValues cycles_per_step;
    GroupValues phases;        ///< cycles
    std::vector<Step> starts;  ///< a current is emitted from this step on,
    std::vector<Step> stops;   ///< before this one
    std::vector<Step> intervals;
};

/// One stimulus for its targets on one shard, which belong to one group.
class Stimulus {
   public:
    virtual ~Stimulus() = default;

    /// Adds the input of the targets in this step, from (step - 1) h to step h, to out[0, size). Without state, it is a
    /// pure function of the step; otherwise calls must be for consecutive steps.
    ///
    /// For `spikes`: the number of spikes that arrive times the weight. Spikes of the generator's step k, that is, of the
    /// interval ((k - 1) h, k h], arrive in step k + delay. Generators with a start and a stop are active for
    /// start < k h <= stop.
    ///
    /// For `current`: pA. A current that is emitted at the time k h >= 0 flows during (k h + delay, k h + delay + h], that
    /// is, in step k + delay + 1. Generators with a start and a stop are active for start <= k h < stop. With the same
    /// start, stop and delay the current flows in the same steps as in NEST (measured in 3.10), except that with start = 0
    /// it flows in one step more: NEST emits nothing at time 0.
    ///
    /// It adds once to a target that gets anything: so rounding does not depend on where else these numbers are added.
    virtual void add(Step step, double* out) = 0;

    /// Nothing: these are no Poisson trains of constant rates, or a mean is too large for thresholds.
    virtual std::optional<PoissonTrains> poisson_trains() const { return std::nullopt; }
    /// Nothing: this is no noise.
    virtual std::optional<NoiseCurrents> noise_currents() const { return std::nullopt; }
    /// The number that add() adds for each target in this step, -0.0 if it adds none. Nothing: it may differ between targets.
    virtual std::optional<double> common_number(Step /*step*/) const { return std::nullopt; }
    /// A step up to which add() adds what it adds in this step.
    virtual Step steady_until(Step step) const { return step; }
    /// Whether the output depends on previous steps.
    virtual bool has_state() const { return false; }
    /// Saves or loads all that a target needs to continue, except parameters, in numbers that have the same meaning
    /// in every stimulus.
    virtual void serialize_state(std::uint32_t /*target*/, StateColumns& /*columns*/) {}
    /// Takes over the state of a stimulus of the same model for the same targets, which is not used afterwards.
    virtual void take_state(Stimulus& /*before*/) noexcept {}
};

/// A stimulator model. Each model's file defines one and registers it (models/registry.cpp).
struct StimulatorModel {
    std::string_view name;
    std::string_view summary;
    std::string_view equations;
    std::string_view reference;
    StimulatorOutput output = StimulatorOutput::current;
    std::span<const ParameterInfo> parameters;
    std::span<const SequenceInfo> sequences;
    /// @throws GridError for a time that is not on the grid, ValueOutOfBoundsError for a value that is out of bounds
    ///         at this resolution. With no targets and parameters for all targets it only validates.
    std::unique_ptr<Stimulus> (*create)(const StimulusArguments& arguments) = nullptr;
    /// Why parameters and sequences do not fit together (lengths, order); nothing if they do.
    std::optional<std::string> (*conflict)(std::span<const double> parameters,
                                           std::span<const std::vector<double>> sequences) = nullptr;

    /// Maximum number of spikes of one source in a step in populations that draw its trains; 0: derived from the
    /// mean.
    std::uint32_t most_spikes = 0;

    constexpr bool emits_spikes() const { return output == StimulatorOutput::spikes; }
};

std::span<const StimulatorModel* const> stimulator_models();
/// @throws UnknownNameError
const StimulatorModel& find_stimulator_model(std::string_view name);

}  // namespace ranvier::models
