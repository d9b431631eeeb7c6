#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/rules/rule.hpp"
#include "ranvier/connect/space/positions.hpp"
#include "ranvier/connect/space/rotations.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/models/stimulator.hpp"
#include "ranvier/network/site_spec.hpp"
#include "ranvier/network/spike_lists.hpp"
#include "ranvier/network/synapse_spec.hpp"
#include "ranvier/network/values.hpp"

/// The parts of a network description. Each has one list of its fields, `fields<Spec>`, from which all code that
/// visits fields is derived: comparison of ranks, comparison with saved states, the memory of arrays, and arguments
/// from Python.
namespace ranvier::network {

enum class FieldRole : std::uint8_t {
    value,       ///< part of the description: equal networks have equal values
    parameters,  ///< the same, by name: a missing parameter has the default of the model
    time,        ///< in ms: equal networks have equal numbers of steps
    derived,     ///< follows from other fields, or belongs to the state of a simulation
};

template <class Spec, class Value, FieldRole field_role>
struct Field {
    static constexpr FieldRole role = field_role;
    std::string_view name;  ///< in messages, saved states and Python
    Value Spec::* member;
};

template <FieldRole role = FieldRole::value, class Spec, class Value>
constexpr Field<Spec, Value, role> field(std::string_view name, Value Spec::* member) {
    return {name, member};
}

/// The fields of a spec, in the order of its members.
template <class Spec>
inline constexpr std::tuple<> fields = {};

/// Calls `visit(field, value)` for each field of a spec that is not derived.
template <class Spec, class Visit>
void for_each_field(Spec& spec, Visit visit) {
    const auto visit_one = [&]<class Listed>(const Listed& listed) {
        if constexpr (Listed::role != FieldRole::derived) visit(listed, spec.*listed.member);
    };
    std::apply([&](const auto&... listed) { (visit_one(listed), ...); }, fields<std::remove_const_t<Spec>>);
}

/// Converts to any type, in unevaluated operands.
struct AnyValue {
    template <class Value>
    operator Value() const;  // NOLINT(google-explicit-constructor): the conversion is the purpose
};

template <class Spec, class... Values>
concept HasMembers = requires { Spec{std::declval<Values>()...}; };

/// Whether `fields<Spec>` lists each member of a spec: the spec can be initialised with values of these types, and
/// not with one more.
template <class Spec>
constexpr bool lists_all_members() {
    return std::apply(
        []<class... Values, FieldRole... roles>(const Field<Spec, Values, roles>&...) {
            return HasMembers<Spec, Values...> && !HasMembers<Spec, Values..., AnyValue>;
        },
        fields<Spec>);
}

template <>
inline constexpr auto fields<SynapseSpec> = std::tuple{
    field("model", &SynapseSpec::model),
    field<FieldRole::parameters>("parameters", &SynapseSpec::parameters),
    field("modulators", &SynapseSpec::modulators),
    field<FieldRole::derived>("owner", &SynapseSpec::owner),
};
static_assert(lists_all_members<SynapseSpec>());

/// A neuron model by its name, or the sources of a stimulator that emits spikes by the name of the stimulator.
/// @throws UnknownNameError
std::shared_ptr<const models::NeuronModel> registered_model(std::string_view name);

struct PopulationSpec {
    std::string name = {};  ///< empty: the name of the model and a number
    std::shared_ptr<const models::NeuronModel> model = nullptr;
    std::uint64_t size = 0;
    std::optional<double> step = std::nullopt;  ///< ms, a multiple of the resolution; none: follows the resolution
    NamedValues values = {};                    ///< parameters, and initial values of variables
    /// One list per unit: ms, ascending, on the grid, > 0. A list may repeat a time. Only for models that play spikes.
    SpikeTimes spike_times = {};
    Sequences sequences = {};  ///< of sources that a stimulator draws
    /// One for each unit; null: they have none.
    std::shared_ptr<const connect::Positions> positions = nullptr;
    /// Of cells about their positions; null: they are not rotated.
    std::shared_ptr<const connect::Rotations> rotations = nullptr;
};

template <>
inline constexpr auto fields<PopulationSpec> = std::tuple{
    field("name", &PopulationSpec::name),
    field("model", &PopulationSpec::model),
    field("size", &PopulationSpec::size),
    field<FieldRole::time>("step", &PopulationSpec::step),
    field<FieldRole::parameters>("values", &PopulationSpec::values),
    field<FieldRole::time>("spike_times", &PopulationSpec::spike_times),
    field("sequences", &PopulationSpec::sequences),
    field("positions", &PopulationSpec::positions),
    field("rotation", &PopulationSpec::rotations),
};
static_assert(lists_all_members<PopulationSpec>());

/// A population of a network.
struct Population : PopulationSpec {
    PopulationId id;
    NeuronId first;
    Step stride = 1;  ///< steps of the resolution in one step of the neurons
    SpikeLists spike_steps = {};  ///< the spike times; `spike_times` is empty
    std::shared_ptr<const connect::Positions> located = nullptr;  ///< the positions, for this seed
};

struct ProjectionSpec {
    std::string name = {};  ///< empty: derived from the names of the populations
    IdSequence sources;  ///< of any populations
    IdSequence targets;  ///< of populations whose models give weights the same meaning
    connect::RuleSpec rule = connect::RuleSpec("all_to_all");
    Values weight = 1.0;
    /// ms; a common delay is a multiple of the resolution. All are rounded to the steps of the targets.
    Values delay = 1.0;
    /// Largest absolute weight that can be set later; 0: any.
    double weight_bound = 0.0;
    std::string receptor = {};  ///< of the targets; empty: the only one, or selected by the sign of a weight
    SiteSpec site = {};  ///< of the receptor
    SynapseSpec synapse = {};
};

template <>
inline constexpr auto fields<ProjectionSpec> = std::tuple{
    field("name", &ProjectionSpec::name),
    field("sources", &ProjectionSpec::sources),
    field("targets", &ProjectionSpec::targets),
    field("rule", &ProjectionSpec::rule),
    field("weight", &ProjectionSpec::weight),
    field("delay", &ProjectionSpec::delay),
    field("weight_bound", &ProjectionSpec::weight_bound),
    field("receptor", &ProjectionSpec::receptor),
    field("site", &ProjectionSpec::site),
    field("synapse", &ProjectionSpec::synapse),
};
static_assert(lists_all_members<ProjectionSpec>());

/// A projection of a network.
struct Projection : ProjectionSpec {
    ProjectionId id;
};

struct StimulusSpec {
    std::string name = {};  ///< empty: derived from the names of the stimulator and the populations
    const models::StimulatorModel* model = nullptr;
    IdSequence targets;  ///< of any populations
    NamedValues parameters = {};
    Sequences sequences = {};
    Values weight = 1.0;
    /// ms; rounded to the steps of the targets, at least one; none: a step of the resolution
    std::optional<double> delay = std::nullopt;
    std::string receptor = {};  ///< of spikes, as that of a projection
    std::string electrode = {};  ///< of currents; empty: the first one of the targets
    SiteSpec site = {};  ///< of the receptor, for each target
    /// The step after which each parameter, or "weight", was changed during a simulation: draws depend on it.
    std::map<std::string, Step, std::less<>> changed_at = {};
};

template <>
inline constexpr auto fields<StimulusSpec> = std::tuple{
    field("name", &StimulusSpec::name),
    field("stimulator", &StimulusSpec::model),
    field("targets", &StimulusSpec::targets),
    field<FieldRole::parameters>("parameters", &StimulusSpec::parameters),
    field("sequences", &StimulusSpec::sequences),
    field("weight", &StimulusSpec::weight),
    field("delay", &StimulusSpec::delay),
    field("receptor", &StimulusSpec::receptor),
    field("electrode", &StimulusSpec::electrode),
    field("site", &StimulusSpec::site),
    field<FieldRole::derived>("changed_at", &StimulusSpec::changed_at),
};
static_assert(lists_all_members<StimulusSpec>());

struct SpikeRecorderSpec {
    std::vector<IdSequence> neurons;
    /// If not 0, spikes are not listed but counted, for each of `neurons`, in bins of this many steps; see
    /// Simulation::take_counts(). A bin ends with a step that is a multiple of it.
    std::uint64_t bin = 0;
    /// Identifies what the counts are used for; the same on all processes.
    std::string purpose = {};
};

template <>
inline constexpr auto fields<SpikeRecorderSpec> = std::tuple{
    field("neurons", &SpikeRecorderSpec::neurons),
    field("bin", &SpikeRecorderSpec::bin),
    field("purpose", &SpikeRecorderSpec::purpose),
};
static_assert(lists_all_members<SpikeRecorderSpec>());

struct StateRecorderSpec {
    IdSequence neurons;  ///< of populations whose models all have the variables
    std::vector<std::string> variables;
    double interval = 0.0;  ///< ms, a multiple of the steps of the neurons
    /// Whether the variables are those of compartments, each of which is recorded.
    bool at_compartments = false;
    /// If not 0, that many sums over all compartments with given weights are recorded instead; see
    /// Simulation::set_readout().
    std::uint64_t outputs = 0;
    /// Whether the sums are those of each neuron, and not over all of them.
    bool by_neuron = false;
    /// What the weights follow from; the same on all processes.
    std::string readout = {};
    /// Memory of each process for the evaluation of what is recorded, outside of the recorder.
    std::uint64_t evaluation_bytes = 0;
    /// The same that the processes divide: each takes that of its part, and of what is near it.
    std::uint64_t divided_evaluation_bytes = 0;
};

template <>
inline constexpr auto fields<StateRecorderSpec> = std::tuple{
    field("neurons", &StateRecorderSpec::neurons),
    field("variables", &StateRecorderSpec::variables),
    field<FieldRole::time>("interval", &StateRecorderSpec::interval),
    field("at_compartments", &StateRecorderSpec::at_compartments),
    field("outputs", &StateRecorderSpec::outputs),
    field("by_neuron", &StateRecorderSpec::by_neuron),
    field("readout", &StateRecorderSpec::readout),
    field("evaluation_bytes", &StateRecorderSpec::evaluation_bytes),
    field("divided_evaluation_bytes", &StateRecorderSpec::divided_evaluation_bytes),
};
static_assert(lists_all_members<StateRecorderSpec>());

/// A recorder of a network.
struct StateRecorder : StateRecorderSpec {
    Step steps = 1;  ///< the interval: samples are taken after steps that are multiples of it
};

/// Potentials outside of cells that act on them.
struct FieldSpec {
    IdSequence cells;  ///< of populations of detailed cells
    double interval = 0.0;  ///< ms, a multiple of the steps of the cells: potentials are constant within it
    /// The courses of given potentials; see models::FieldCourses. Empty: the membrane currents of the cells cause them.
    Sequences courses = {};
    double sigma = 0.0;  ///< conductivity of the medium of coupled cells, S/m
    /// Of the fast multipole method, relative to the root mean square of the potentials of independent currents; 0:
    /// potentials are summed directly.
    double accuracy = 0.0;
    /// Identifies the given potentials; the same on all processes.
    std::string potentials = {};
};

template <>
inline constexpr auto fields<FieldSpec> = std::tuple{
    field("cells", &FieldSpec::cells),       field<FieldRole::time>("interval", &FieldSpec::interval),
    field("courses", &FieldSpec::courses),   field("sigma", &FieldSpec::sigma),
    field("accuracy", &FieldSpec::accuracy), field("potentials", &FieldSpec::potentials),
};
static_assert(lists_all_members<FieldSpec>());

/// A field of a network.
struct OutsideField : FieldSpec {
    Step steps = 1;  ///< the interval
    bool couples() const { return courses.empty(); }
};

}  // namespace ranvier::network
