#pragma once

#include <cstddef>
#include <cstdint>
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
#include "ranvier/base/site_counts.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/models/model_info.hpp"
#include "ranvier/models/precision.hpp"
#include "ranvier/models/shared_parts.hpp"

namespace ranvier::models {

/// The values of one parameter or variable for the neurons of a group: one for all, or one each.
struct GroupValues {
    std::pmr::vector<double> values;  ///< length 1 or n

    bool uniform() const { return values.size() == 1; }
    double operator[](std::size_t neuron) const { return values[uniform() ? 0 : neuron]; }
    /// A copy in other memory, which must outlive it. Values that are assigned to it later lie there too.
    GroupValues copy(std::pmr::memory_resource* memory) const { return {std::pmr::vector<double>(values, memory)}; }
};

/// What one step of a group reads and writes.
struct UpdateArguments {
    Step step =
        0;  ///< of the group: step n leads from (n - 1) h to n h, with h the resolution that it was created with
    /// One array per receptor with n inputs of this step each: the sum of the weights of the spikes that arrived, or -0.0
    /// where none did and no stimulus acted. (Weights are never -0.0, so that adding one of 0 to -0.0 gives +0.0.) The group
    /// sets them to -0.0 when it has read them. Where neurons have several sites (NeuronModel::sites), each has as many
    /// inputs as the one that has most, by site.
    double* const* inputs = nullptr;
    /// n currents in pA that flow during this step, beside the parameter I_e, or null when there are none.
    const double* current = nullptr;
    /// The same for the electrodes of the model after the first, in their order, each of them or none.
    std::span<const double* const> more_currents = {};
    /// Room for largest_output() indices: those of the neurons that fire in this step, ascending. One that fires several
    /// times stands there as often.
    std::uint32_t* spikes = nullptr;
};

/// Rows of numbers, one for each of several steps, in a ring.
struct StepRows {
    double* data = nullptr;  ///< null: there are none
    std::size_t stride = 0;  ///< elements between rows
    std::uint64_t mask = 0;  ///< rows - 1; rows are a power of two
    Step step_rows = 1;  ///< rows from one step to the next

    double* row(Step step) const { return data + (static_cast<std::uint64_t>(step * step_rows) & mask) * stride; }
};

/// A neuron of a group has fired.
struct GroupSpike {
    Step step = 0;
    std::uint32_t neuron = 0;
};

/// Reads the state of neurons while a group advances.
class StateObserver {
   public:
    virtual ~StateObserver() = default;
    /// Called when the neurons [begin, end) of the group are in the state after this step: they can be read().
    virtual void observe(Step step, std::size_t begin, std::size_t end) = 0;
};

/// What several steps of a group, one after another, read and write.
struct AdvanceArguments {
    Step first = 0;
    Step last = 0;  ///< inclusive, not before the first
    std::size_t size = 0;  ///< neurons of the group
    /// Of each receptor the inputs of all of these steps: see UpdateArguments::inputs.
    std::span<const StepRows> inputs;
    /// See UpdateArguments::current.
    StepRows current;
    std::span<const StepRows> more_currents = {};  ///< see UpdateArguments::more_currents
    /// Spikes are appended, in any order: a group may take some of its neurons through all steps before the others begin.
    std::pmr::vector<GroupSpike>* spikes = nullptr;
    /// Room for largest_output() indices, which the group may use as it likes.
    std::uint32_t* room = nullptr;
    /// The steps, ascending, after which the observer is called for each neuron once.
    std::span<const Step> observed;
    StateObserver* observer = nullptr;
};

/// Why a group cannot go on, for the user.
struct GroupFailure {
    std::string what;
    std::string remedy = {};  ///< empty: that of a state that is not finite
    // Where it is known which value it was; else there is no step.
    std::string variable = {};  ///< what it is a value of
    std::string place = {};  ///< within the neuron, if it has places
    std::string value = {};  ///< with its unit
    std::uint32_t neuron = 0;  ///< of the group
    std::optional<Step> step = std::nullopt;  ///< of the group, after which it had failed
};

/// New parameters of a group and all that follows from them, which are not in force yet.
class ParameterChange {
   public:
    virtual ~ParameterChange() = default;
    /// As NeuronGroup::largest_output(), once the change is in force; 0: as before.
    virtual std::size_t largest_output() const { return 0; }
    /// As NeuronGroup::check(), once the new parameters are in force.
    virtual void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const = 0;
    /// Puts them in force. It cannot fail. @pre The group has not been changed since the change was prepared.
    virtual void apply() noexcept = 0;
};

/// The neurons of one population on one shard.
///
/// One virtual call a step; inside are plain loops over structures of arrays. A group is used by one thread at a time. All
/// that grows with its neurons comes from the memory that it is given, and is first touched by the thread that creates it.
class NeuronGroup {
   public:
    virtual ~NeuronGroup() = default;

    /// Advances all neurons by one step; returns how many indices were written to `spikes`. Steps come one after another.
    virtual std::size_t update(const UpdateArguments& arguments) = 0;

    /// Advances all neurons by several steps: the same bits as one step after another, in whichever order the group goes
    /// through its neurons and steps. By default it calls update() for each step.
    virtual void advance(const AdvanceArguments& arguments);

    /// The last step up to which no neuron of the group fires, whatever arrives: at least `now`, the last one that it has
    /// advanced by. Spikes later than `now` are ruled out by refractoriness, or because it is known what the group plays.
    virtual Step silent_until(Step now) const { return now; }

    /// The most indices that any one step can give: the number of neurons, or more where one may fire several times.
    virtual std::size_t largest_output() const = 0;

    /// Whether all variables of all neurons are finite. Parameters, weights and currents that pass their checks should
    /// keep them finite; this shows whether they do.
    virtual bool is_finite() const = 0;
    /// Why the group cannot go on, or nothing.
    virtual std::optional<GroupFailure> failure() const {
        if (is_finite()) return std::nullopt;
        return GroupFailure{.what = "a variable is not finite"};
    }
    /// Whether it has noticed a failure while it advanced. This is asked often, and failure() at the end of a run.
    virtual bool has_failed() const { return false; }
    /// Values of a variable (index into NeuronModel::variables) of some neurons, in the unit of its description.
    virtual void read(std::size_t variable, std::span<const std::uint32_t> neurons, double* out) const = 0;
    /// @pre check() has found nothing against these values.
    virtual void write(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) = 0;
    /// @throws ValueOutOfBoundsError for values of a variable, all finite, that the group cannot hold.
    virtual void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const = 0;

    /// Saves or loads the state of a neuron after step `now`: all that it goes on from, beside parameters, in numbers that
    /// mean the same in every group. Loaded into a group that has just been made, for all of its neurons.
    virtual void serialize_state(std::uint32_t neuron, Step now, StateColumns& columns) = 0;

    /// Prepares parameters (all of them, in the order of NeuronInfo::parameters), each within its bounds and without
    /// conflict. When they are in force, state is kept, the absolute potential among it; a refractory period that has
    /// begun ends as it would have. Whatever is thrown, the group stays as it is. The group must outlive the result.
    /// @throws ValueOutOfBoundsError for what only shows with the resolution or the precision
    virtual std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues> parameters) = 0;
    void set_parameters(std::span<const GroupValues> parameters) { prepare_parameters(parameters)->apply(); }

    /// For models with `plays_spikes`: prepares other lists of spikes, one for each unit, in the same way. Spikes of steps
    /// that were updated already are not played again.
    virtual std::unique_ptr<ParameterChange> prepare_spikes(std::span<const std::vector<Step>> spike_steps);
    /// For models with `sequences`: prepares others, in the order of these, in the same way. @param parameters as they are
    virtual std::unique_ptr<ParameterChange> prepare_sequences(std::span<const GroupValues> parameters,
                                                               std::span<const std::vector<double>> sequences);
};

/// What groups gain when they advance by several steps at once.
enum class StretchGain : std::uint8_t {
    none,
    /// State that stays in the first cache meanwhile: worth it where inputs of several steps are there anyway.
    some,
    /// Each neuron fills much of a cache: worth it to have inputs of many steps.
    much,
};

class NeuronModel;

struct GroupArguments {
    const NeuronModel* model = nullptr;
    IdSequence ids;  ///< global ids of the group's neurons
    /// The population that they belong to, all shards together.
    NeuronId population_first;
    std::uint64_t population_size = 0;
    RandomKey key;  ///< of the population, for what is drawn while it runs: per (neuron id, count)
    double resolution = 0.1;  ///< ms: the length of a step
    Precision precision = Precision::double_precision;
    InstructionSet instruction_set = InstructionSet::baseline;
    bool compiled_programs = false;  ///< call the code that was compiled for a ProgramModel, where there is such
    /// Code that is yet to be compiled counts as if it were there: the group only tells what it takes, and cannot advance.
    bool awaits_code = false;
    std::span<const GroupValues> parameters;  ///< in the order of NeuronInfo::parameters
    std::span<const GroupValues> variables;  ///< initial values, in the order of NeuronInfo::variables
    /// Spike times in steps, one ascending list per unit; only for models with `plays_spikes`.
    std::span<const std::vector<Step>> spike_steps;
    std::span<const std::vector<double>> sequences = {};  ///< in the order of NeuronInfo::sequences
    std::pmr::memory_resource* memory = page_memory();  ///< must outlive the group
    SharedParts* shared = nullptr;  ///< with the other groups of the simulation; null: the group is alone
};

struct StimulatorModel;

/// The description of a neuron model: what users see of it, and what the engine needs to know.
struct NeuronInfo {
    /// How many sites neurons have at a receptor.
    SiteCounts sites_at(std::uint32_t receptor) const {
        return receptor < sites.size() ? sites[receptor] : SiteCounts{};
    }
    std::size_t electrode_count() const { return electrodes.empty() ? 1 : electrodes.size(); }

    std::string_view name;
    std::string_view summary;  ///< one line
    std::string_view equations;  ///< several lines, plain text
    std::string_view reference;  ///< the paper
    std::span<const ParameterInfo> parameters;
    std::span<const VariableInfo> variables;
    /// Names of the receptors.
    std::span<const std::string_view> receptors;
    /// Of each receptor how many sites the neurons have; empty: one each. Of models that were made for one population.
    std::span<const SiteCounts> sites = {};
    /// Whether the sign of a weight chooses between two receptors where none is named: weights >= 0 go to the first and
    /// weights < 0 to the second, with their sign.
    bool sign_chooses_receptor = false;
    /// Of weights.
    Bounds weight_bounds = any_number;
    /// Unit of a weight; empty: none.
    std::string_view weight_unit = {};
    /// Gives spikes that do not depend on others: not counted as neurons, and no targets.
    bool is_source = false;
    /// A source of spikes that are given (spike_generator).
    bool plays_spikes = false;
    /// A source of trains that a stimulator draws: see source_group.hpp.
    const StimulatorModel* stimulator = nullptr;
    /// Lists of numbers that all neurons of a population share; of such sources.
    std::span<const SequenceInfo> sequences = {};
    /// The most spikes of one neuron in a step. Where there may be several, groups are advanced by advance() alone.
    std::uint32_t most_spikes = 1;
    /// Whether currents can be injected.
    bool takes_current = true;
    /// Names of the places at which they can be, of which the first is meant where none is named; empty: one, without a name.
    std::span<const std::string_view> electrodes = {};
    /// Whether its state cannot be kept in single precision.
    bool needs_double_precision = false;
    StretchGain stretch_gain = StretchGain::none;
    /// About what a step of such a neuron goes through, bytes; 0: variables and inputs, read and written.
    double step_bytes = 0.0;
};

/// A neuron model. A built-in model is a constant in a file of its own, listed in models/registry.hpp; a model of a user is
/// a UserModel.
class NeuronModel : public NeuronInfo {
   public:
    NeuronModel(const NeuronModel&) = delete;
    NeuronModel& operator=(const NeuronModel&) = delete;
    constexpr virtual ~NeuronModel() = default;

    virtual std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) const = 0;

    /// Why values of the parameters of a neuron that are each within their bounds do not fit together, or nothing.
    /// @param resolution ms: constants of a step may be too large or 0; nothing: only what does not depend on it
    virtual std::optional<std::string> conflict(std::span<const double> values, std::optional<double> resolution) const;
    /// Why parameters may not fit together that are each within their bounds and between these, of a neuron of a population,
    /// by its number, or of any, or nothing.
    virtual std::optional<std::string> range_conflict(std::optional<std::uint64_t> neuron,
                                                      std::span<const double> least,
                                                      std::span<const double> greatest) const;
    /// Whether conflict() and range_conflict() can return a reason: they are not called for each neuron where they cannot.
    virtual bool has_conflicts() const { return true; }
    virtual bool has_range_conflicts() const { return false; }
    /// Of the description of a user; 0: a built-in model.
    virtual std::uint64_t fingerprint() const { return 0; }

   protected:
    constexpr NeuronModel() = default;
    constexpr explicit NeuronModel(const NeuronInfo& info) : NeuronInfo(info) {}
};

/// A model of a group that is made of its arguments, and of parameters that always fit together.
template <class Group>
class PlainNeuronModel final : public NeuronModel {
   public:
    constexpr explicit PlainNeuronModel(const NeuronInfo& info) : NeuronModel(info) {}

    std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) const override {
        return std::make_unique<Group>(arguments);
    }
    bool has_conflicts() const override { return false; }
};

/// All neuron models, by name ascending.
std::span<const NeuronModel* const> neuron_models();
/// One of them, or the sources of a stimulator that emits spikes, by the name of this. @throws UnknownNameError
const NeuronModel& find_neuron_model(std::string_view name);

}  // namespace ranvier::models
