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
#include "ranvier/models/outside_field.hpp"
#include "ranvier/models/precision.hpp"
#include "ranvier/models/shared_parts.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::models {

/// The values of one parameter or variable for the neurons of a group: one for all, or one each.
struct GroupValues {
    std::pmr::vector<double> values;  ///< length 1 or n

    bool uniform() const { return values.size() == 1; }
    double operator[](std::size_t neuron) const { return values[uniform() ? 0 : neuron]; }
    /// A copy in other memory, which must outlive it. Later assignments to the copy stay in that memory.
    GroupValues copy(std::pmr::memory_resource* memory) const { return {std::pmr::vector<double>(values, memory)}; }
};

/// The arrays that one step of a group reads and writes.
struct UpdateArguments {
    Step step =
        0;  ///< of the group: step n leads from (n - 1) h to n h, with h the resolution that it was created with
    /// One array per receptor with the n inputs of this step: the sum of the weights of the spikes that arrived, or
    /// -0.0 if none did and no stimulus acted. (Weights are never -0.0, so that adding one of 0 to -0.0 gives +0.0.)
    /// The group resets them to -0.0 after reading. Where neurons have several sites (NeuronModel::sites), each has
    /// as many inputs as the neuron with the most sites, by site.
    double* const* inputs = nullptr;
    /// n currents in pA that flow during this step in addition to the parameter I_e; null: none.
    const double* current = nullptr;
    /// The same for the second and later electrodes of the model, in order, each possibly null.
    std::span<const double* const> more_currents = {};
    /// Room for largest_output() indices: those of the neurons that fire in this step, ascending. A neuron that fires
    /// several times is repeated.
    std::uint32_t* spikes = nullptr;
};

/// Rows of numbers in a ring buffer, one for each of several steps.
struct StepRows {
    double* data = nullptr;  ///< null: no rows
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
    /// Called when the neurons [begin, end) of the group are in the state after this step and can be read().
    virtual void observe(Step step, std::size_t begin, std::size_t end) = 0;
};

/// The arrays that several consecutive steps of a group read and write.
struct AdvanceArguments {
    Step first = 0;
    Step last = 0;  ///< inclusive, not before the first
    std::size_t size = 0;  ///< neurons of the group
    /// The inputs of all of these steps, by receptor: see UpdateArguments::inputs.
    std::span<const StepRows> inputs;
    /// See UpdateArguments::current.
    StepRows current;
    std::span<const StepRows> more_currents = {};  ///< see UpdateArguments::more_currents
    /// Spikes are appended in any order: a group may take some of its neurons through all steps before the others.
    std::pmr::vector<GroupSpike>* spikes = nullptr;
    /// Scratch memory for largest_output() indices.
    std::uint32_t* room = nullptr;
    /// The steps, ascending, after which the observer is called once for each neuron.
    std::span<const Step> observed;
    StateObserver* observer = nullptr;
};

/// Why a group cannot continue, for the user.
struct GroupFailure {
    std::string what;
    std::string remedy = {};  ///< empty: the remedy for a state that is not finite
    // The failed value, if it is known; otherwise `step` is empty.
    std::string variable = {};  ///< name of the value
    std::string place = {};  ///< within the neuron, if it has places
    std::string value = {};  ///< with its unit
    std::uint32_t neuron = 0;  ///< of the group
    std::optional<Step> step = std::nullopt;  ///< step of the group after which the failure was found
};

/// New parameters of a group and all derived values, which are not applied yet.
class ParameterChange {
   public:
    virtual ~ParameterChange() = default;
    /// As NeuronGroup::largest_output() after the change; 0: unchanged.
    virtual std::size_t largest_output() const { return 0; }
    /// As NeuronGroup::check() after the change.
    virtual void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const = 0;
    /// Applies the change. It cannot fail.
    /// @pre The group has not been changed since the change was prepared.
    virtual void apply() noexcept = 0;
};

/// Values at each compartment of neurons that have several.
class CompartmentReader {
   public:
    /// Values of a variable (index into NeuronInfo::compartment_variables) of all compartments of a neuron.
    virtual void read_compartments(std::size_t variable, std::uint32_t neuron, double* out) const = 0;

   protected:
    ~CompartmentReader() = default;
};

/// The step of a group as a program with its constants, for other machines than processors.
///
/// A neuron has a number of refractory steps that are left. In a step, it is refractory if there are any. If it fires, they are
/// `refractory_steps`, otherwise one less. The program gives the bits that the group gives, where subnormal results count as
/// zero. No variable and no constant is subnormal, and an input that is counts as zero. Random bits of draws are those of
/// models::program_draw().
struct StepProgram {
    /// Inputs: the variables, the constants, the sums of weights by receptor, the injected current (pA) if `takes_current`,
    /// whether the neuron is refractory, and, if `needs_last`, whether it is so for the last time. Results: the variables
    /// after the step, whether the neuron fires, and conditions that must hold.
    std::shared_ptr<const program::Program> step;
    /// Sums, differences, products, quotients and constants of the program are rounded to single precision, as are sums
    /// of weights and currents. Numbers that are subnormal there count as zero. Variables are columns of floats.
    bool is_single = false;
    bool takes_current = false;
    bool needs_last = false;
    /// What the program gets where nothing arrived: -0.0 or 0.0.
    double no_input = 0.0;
    /// Names of the variables in serialize_state(), whose last column is "refractory_steps".
    std::vector<std::string> variables;
    /// By constant: one value for all neurons, or one for each.
    std::vector<std::vector<double>> constants;
    std::vector<std::int32_t> refractory_steps;  ///< one for all neurons, or one for each
    RandomKey key;  ///< of draws
};

/// The neurons of one population on one shard.
///
/// One virtual call per step; inside are plain loops over structures of arrays. A group is used by one thread at a
/// time. All memory that grows with its neurons comes from the given resource, and is first touched by the thread
/// that creates it.
class NeuronGroup {
   public:
    virtual ~NeuronGroup() = default;

    /// Advances all neurons by one step; returns the number of indices written to `spikes`. Steps are consecutive.
    virtual std::size_t update(const UpdateArguments& arguments) = 0;

    /// Advances all neurons by several steps, with the same bits as single steps, in any order of neurons and steps.
    /// By default it calls update() for each step.
    virtual void advance(const AdvanceArguments& arguments);

    /// The last step up to which no neuron of the group fires, whatever arrives: at least `now`, the last step it was
    /// advanced to. Later spikes are ruled out by refractoriness, or by the list of spikes to play.
    virtual Step silent_until(Step now) const { return now; }

    /// Maximum number of indices in a step: the number of neurons, or more if one may fire several times.
    virtual std::size_t largest_output() const = 0;

    /// Whether all variables of all neurons are finite. Valid parameters, weights and currents should keep them
    /// finite; this verifies it.
    virtual bool is_finite() const = 0;
    /// Why the group cannot continue, or nothing.
    virtual std::optional<GroupFailure> failure() const {
        if (is_finite()) return std::nullopt;
        return GroupFailure{.what = "a variable is not finite"};
    }
    /// Whether a failure was found while advancing. It is called often; failure() is called at the end of a run.
    virtual bool has_failed() const { return false; }
    /// Values of a variable (index into NeuronModel::variables) of some neurons, in the unit of its description.
    virtual void read(std::size_t variable, std::span<const std::uint32_t> neurons, double* out) const = 0;
    /// Nothing: the step is not a program. Constants are those of the present parameters.
    /// @param has_current whether currents are injected; a program may take one even if none are
    virtual std::optional<StepProgram> step_program(bool /*has_current*/) const { return std::nullopt; }
    /// Null: the neurons have no compartments.
    virtual const CompartmentReader* compartments() const { return nullptr; }
    /// Null: no potentials outside act on them.
    virtual OutsideReceiver* outside() { return nullptr; }
    /// @pre check() accepts these values
    virtual void write(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) = 0;
    /// @throws ValueOutOfBoundsError for finite values of a variable that the group cannot store
    virtual void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const = 0;

    /// Saves or loads the state of a neuron after step `now`: all it needs to continue, except parameters, in numbers
    /// that have the same meaning in every group. State is loaded into a new group, for all of its neurons.
    virtual void serialize_state(std::uint32_t neuron, Step now, StateColumns& columns) = 0;

    /// Prepares parameters (all of them, in the order of NeuronInfo::parameters), each within its bounds and without
    /// conflict. Applying them keeps the state, including the absolute potential; a refractory period that has
    /// started ends as before. If it throws, the group is unchanged. The group must outlive the result.
    /// @throws ValueOutOfBoundsError for errors that depend on the resolution or the precision
    virtual std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues> parameters) = 0;
    void set_parameters(std::span<const GroupValues> parameters) { prepare_parameters(parameters)->apply(); }

    /// For models with `plays_spikes`: prepares other lists of spikes, one per unit, in the same way. Spikes of past
    /// steps are not played again.
    virtual std::unique_ptr<ParameterChange> prepare_spikes(std::span<const std::vector<Step>> spike_steps);
    /// For models with `sequences`: prepares other sequences, in this order, in the same way.
    /// @param parameters the present ones
    virtual std::unique_ptr<ParameterChange> prepare_sequences(std::span<const GroupValues> parameters,
                                                               std::span<const std::vector<double>> sequences);
};

/// The gain of advancing groups by several steps at once.
enum class StretchGain : std::uint8_t {
    none,
    /// State stays in the first cache: a gain if inputs of several steps are available.
    some,
    /// Each neuron fills much of a cache: waiting for the inputs of many steps pays off.
    much,
};

class NeuronModel;

/// Largest weight at a receptor that counts spikes.
inline constexpr double most_counted_spikes = 65535.0;

struct GroupArguments {
    const NeuronModel* model = nullptr;
    IdSequence ids;  ///< global ids of the group's neurons
    /// First neuron of the population, over all shards.
    NeuronId population_first;
    std::uint64_t population_size = 0;
    RandomKey key;  ///< of the population, for draws during a run: per (neuron id, count)
    double resolution = 0.1;  ///< ms: the length of a step
    Precision precision = Precision::double_precision;
    InstructionSet instruction_set = InstructionSet::baseline;
    bool compiled_programs = false;  ///< call the compiled code of a ProgramModel, if available
    /// Whether compartments() will be read.
    bool reads_compartments = false;
    /// Potentials outside that act on neurons, for models with compartments.
    std::span<const GroupField> fields = {};
    /// The group only reports its memory, as if its code were compiled already, and cannot advance.
    bool awaits_code = false;
    std::span<const GroupValues> parameters;  ///< in the order of NeuronInfo::parameters
    std::span<const GroupValues> variables;  ///< initial values, in the order of NeuronInfo::variables
    /// Spike times in steps, one ascending list per unit; only for models with `plays_spikes`.
    std::span<const std::vector<Step>> spike_steps;
    std::span<const std::vector<double>> sequences = {};  ///< in the order of NeuronInfo::sequences
    std::pmr::memory_resource* memory = page_memory();  ///< must outlive the group
    SharedParts* shared = nullptr;  ///< shared with the other groups of the simulation; null: not shared
};

struct StimulatorModel;

/// The description of a neuron model for users and for the engine.
struct NeuronInfo {
    /// The number of sites at a receptor of each neuron.
    SiteCounts sites_at(std::uint32_t receptor) const {
        return receptor < sites.size() ? sites[receptor] : SiteCounts{};
    }
    std::size_t electrode_count() const { return electrodes.empty() ? 1 : electrodes.size(); }

    std::string_view name;
    std::string_view summary;  ///< one line
    std::string_view equations;  ///< several lines, plain text
    std::string_view reference;  ///< the publication
    std::span<const ParameterInfo> parameters;
    std::span<const VariableInfo> variables;
    /// Variables with a value at each compartment, which can only be recorded; empty: the model has no compartments.
    std::span<const VariableInfo> compartment_variables = {};
    /// Names of the receptors.
    std::span<const std::string_view> receptors;
    /// Size of the only population that the model describes; 0: any size.
    std::uint64_t population_size = 0;
    /// The number of sites by receptor; empty: one each. For models that are made for one population.
    std::span<const SiteCounts> sites = {};
    /// Whether the sign of a weight selects between two receptors if none is named: weights >= 0 go to the first and
    /// weights < 0 to the second, with their sign.
    bool sign_chooses_receptor = false;
    /// Bounds of weights.
    Bounds weight_bounds = any_number;
    /// The receptor at which weights are numbers of spikes, whole and at most most_counted_spikes; empty: none. Only
    /// static synapses and stimuli reach it, and only by its name.
    std::string_view counting_receptor = {};
    /// Unit of a weight; empty: none.
    std::string_view weight_unit = {};
    /// Spikes do not depend on input: its units are not counted as neurons and cannot be targets.
    bool is_source = false;
    /// Whether its spikes do not depend on what arrives, although its neurons are neurons.
    bool ignores_input = false;
    /// Whether it has no state, and fires as many spikes as the sum of the weights that arrive in a step, at most most_spikes.
    bool relays_input = false;
    /// A source that plays given spikes (spike_generator).
    bool plays_spikes = false;
    /// A source of trains drawn by a stimulator: see source_group.hpp.
    const StimulatorModel* stimulator = nullptr;
    /// Sequences that all neurons of a population share; for sources of stimulators.
    std::span<const SequenceInfo> sequences = {};
    /// Maximum number of spikes of one neuron in a step. If it exceeds 1, only advance() is called.
    std::uint32_t most_spikes = 1;
    /// Whether currents can be injected.
    bool takes_current = true;
    /// Names of the electrodes, of which the first is the default; empty: one without a name.
    std::span<const std::string_view> electrodes = {};
    /// Whether single precision is too coarse for its state.
    bool needs_double_precision = false;
    StretchGain stretch_gain = StretchGain::none;
    /// Approximate number of bytes that a step of a neuron accesses; 0: variables and inputs, read and written.
    double step_bytes = 0.0;
};

/// A neuron model. A built-in model is a constant in its file, listed in models/registry.hpp; a user-defined model is
/// a UserModel.
class NeuronModel : public NeuronInfo {
   public:
    NeuronModel(const NeuronModel&) = delete;
    NeuronModel& operator=(const NeuronModel&) = delete;
    constexpr virtual ~NeuronModel() = default;

    virtual std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) const = 0;

    /// Why the parameters of a neuron, each within its bounds, do not fit together; nothing if they do.
    /// @param resolution ms: constants of a step may be too large or 0; nothing: check only what does not depend on
    ///         it
    virtual std::optional<std::string> conflict(std::span<const double> values, std::optional<double> resolution) const;
    /// Why parameters within their bounds and between these values may not fit together, for one neuron of a
    /// population, by its index, or for any; nothing if they always do.
    virtual std::optional<std::string> range_conflict(std::optional<std::uint64_t> neuron,
                                                      std::span<const double> least,
                                                      std::span<const double> greatest) const;
    /// Whether conflict() and range_conflict() can return a reason; otherwise they are not called for each neuron.
    virtual bool has_conflicts() const { return true; }
    virtual bool has_range_conflicts() const { return false; }
    /// Whether the groups of the model with state in this precision have a NeuronGroup::step_program().
    virtual bool has_step_program(Precision /*precision*/) const { return false; }
    /// What neurons with compartments have that devices do not, in words; nothing if they can run there.
    virtual std::optional<std::string> missing_on_devices() const { return std::nullopt; }
    /// Hash of a user-defined description; 0: a built-in model.
    virtual std::uint64_t fingerprint() const { return 0; }
    /// The number of compartments of a neuron of a population, by its index.
    virtual std::size_t compartments(std::uint64_t /*neuron*/) const { return 0; }

   protected:
    constexpr NeuronModel() = default;
    constexpr explicit NeuronModel(const NeuronInfo& info) : NeuronInfo(info) {}
};

/// A model whose groups are constructed from their arguments, and whose parameters always fit together.
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
/// A neuron model by its name, or the sources of a stimulator that emits spikes by the name of the stimulator.
/// @throws UnknownNameError
const NeuronModel& find_neuron_model(std::string_view name);

}  // namespace ranvier::models
