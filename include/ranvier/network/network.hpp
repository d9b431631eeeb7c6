#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/network/specs.hpp"
#include "ranvier/network/spike_lists.hpp"
#include "ranvier/network/values.hpp"

namespace ranvier::network {

/// New values for some neurons of a population while a simulation runs.
struct NeuronChange {
    PopulationId population;
    std::vector<std::uint64_t> indices;  ///< of the neurons within the population
    /// Parameters and variables by name; arrays have one value for each of the indices.
    NamedValues values;
};

/// Index of a recorder in the list of its kind.
using RecorderIndex = std::size_t;

/// The description of a network: populations, projections, stimuli and recorders. Nothing is built; every call
/// validates its arguments as far as possible.
class Network {
   public:
    /// @param resolution ms, > 0
    explicit Network(double resolution = 0.1, std::uint64_t seed = 1);

    double resolution() const { return resolution_; }
    std::uint64_t seed() const { return seed_; }
    /// @throws StateError if delays, spike times or recording intervals have been rounded to the previous resolution
    void set_resolution(double resolution);
    /// @throws ValueOutOfBoundsError if random positions with a least distance cannot be drawn from this seed
    void set_seed(std::uint64_t seed, const std::function<void()>& poll = {});

    /// The length of a step of a population, ms.
    double step_of(const Population& population) const;
    /// The greatest number of steps of the resolution in a step, over all populations with neurons.
    Step longest_stride() const;

    /// @throws UnknownNameError for a parameter, ValueOutOfBoundsError, ShapeError, GridError for a step or spike time
    /// @param poll called now and then while positions with a least distance are drawn; what it throws ends the call
    PopulationId create(PopulationSpec population, const std::function<void()>& poll = {});
    /// The same, of a model by its name. @throws as the other one, and UnknownNameError for the model
    PopulationId create(std::string_view model, std::uint64_t size, std::string name, NamedValues values);

    /// @throws RuleError, GridError, DelayError, ShapeError, ValueOutOfBoundsError, UnknownNameError
    ProjectionId connect(ProjectionSpec projection);

    /// @throws UnknownNameError, ValueOutOfBoundsError, ShapeError, GridError, DelayError
    void stimulate(StimulusSpec stimulus);

    /// Replaces a population, a projection or a stimulus. Validated as at creation; if it throws, nothing has changed.
    /// The name, the model, the size, the step, the positions and the rotations of a population stay.
    /// @throws as create(), connect() and stimulate()
    void set(PopulationId population, PopulationSpec changed);
    void set(ProjectionId projection, ProjectionSpec changed);
    void set(std::size_t stimulus, StimulusSpec changed);

    /// A stimulus with some values changed after step `now`, validated as at creation.
    /// @throws as stimulate()
    StimulusSpec changed_stimulus(std::size_t stimulus, NamedValues values, Sequences sequences,
                                  std::optional<Values> weight, Step now) const;
    void swap_stimulus(std::size_t stimulus, StimulusSpec& other) noexcept { std::swap(stimuli_[stimulus], other); }
    /// The sequences of a population of sources with some of them changed. The caller checks that they fit the
    /// parameters, which can be set while a simulation runs.
    /// @throws UnknownNameError, ValueOutOfBoundsError
    Sequences changed_sequences(PopulationId population, Sequences sequences) const;
    void swap_sequences(PopulationId population, Sequences& other) noexcept {
        populations_[population.value].sequences.swap(other);
    }
    /// Validated lists of spikes that some units of a population play after step `now`.
    /// @throws as create()
    SpikeLists later_spikes(PopulationId population, std::span<const std::uint64_t> units,
                            std::span<const std::vector<double>> spike_times, Step now) const;
    void swap_spikes(PopulationId population, SpikeLists& other) noexcept {
        std::swap(populations_[population.value].spike_steps, other);
    }

    RecorderIndex record_spikes(SpikeRecorderSpec recorder);
    /// @throws UnknownNameError if the model of a neuron has no such variable, GridError for an interval
    RecorderIndex record_state(StateRecorderSpec recorder);

    /// Lets potentials outside act on cells.
    /// @throws ValueOutOfBoundsError for neurons without compartments, and for cells that are coupled twice; GridError
    ///         for an interval
    std::size_t add_field(FieldSpec field);

    std::span<const Population> populations() const { return populations_; }
    std::span<const Projection> projections() const { return projections_; }
    std::span<const StimulusSpec> stimuli() const { return stimuli_; }
    std::span<const SpikeRecorderSpec> spike_recorders() const { return spike_recorders_; }
    std::span<const StateRecorder> state_recorders() const { return state_recorders_; }
    std::span<const OutsideField> outside_fields() const { return outside_fields_; }

    const Population& population(PopulationId id) const;
    /// The first compartment of each of some neurons among those of all of them, and their number at the end.
    std::vector<std::size_t> first_compartments(const IdSequence& neurons) const;
    /// The populations of some neurons, ascending; for an empty progression the population at its start.
    std::vector<PopulationId> populations_of(const IdSequence& neurons) const;
    /// The subset of some neurons that belongs to a population.
    IdSequence part_of(PopulationId population, const IdSequence& neurons) const;
    /// Number of units of all populations, including sources.
    std::uint64_t unit_count() const;
    /// Number of neurons, without sources.
    std::uint64_t neuron_count() const;
    /// Expected number of synapses, exact where the rules fix it.
    double expected_synapses() const;
    /// The same of one projection.
    double expected_synapses(ProjectionId id) const;
    /// The positions of all neurons; null if no population has any.
    std::shared_ptr<const connect::Space> space() const;
    /// The rotation of a cell; none for other neurons. @pre it exists
    connect::Matrix rotation(NeuronId neuron) const;
    /// Bytes of all numbers and indices given as arrays. Each array counts once; arrays that copies of the
    /// description share count in each.
    std::uint64_t array_bytes() const;
    /// A time in ms in steps.
    /// @throws GridError (named `object`) if it is not on the grid
    Step to_steps(double milliseconds, std::string_view object) const;

   private:
    /// @throws ValueOutOfBoundsError, named `object`, unless the ids ascend and exist
    void check_ids(const IdSequence& ids, std::string_view object) const;
    /// Steps of the resolution in a step of a population. @throws GridError, ValueOutOfBoundsError
    Step stride_of(double step, const std::string& population) const;
    /// The same for all targets of a projection.
    /// @throws ValueOutOfBoundsError if they differ
    Step stride_of_targets(const ProjectionSpec& projection) const;
    /// Returns the steps of an interval at whose multiples some neurons are recorded or acted on.
    /// @throws GridError, ValueOutOfBoundsError unless it is a positive multiple of all of their steps
    Step interval_steps(double interval, const IdSequence& neurons, const std::string& object,
                        const std::string& verb) const;
    /// @throws ValueOutOfBoundsError if units are sources, which take no input
    void check_takes_input(const IdSequence& targets) const;
    std::string name_of(const IdSequence& neurons) const;
    /// Validates a population, rounds its times to steps, and completes its sequences.
    /// @throws as create()
    void check(Population& population) const;
    /// Rounds the spike times of a population to steps, which replace them.
    /// @throws ShapeError, GridError, ValueOutOfBoundsError
    void round_spike_times(Population& population) const;
    /// Finds the bounds of a value of a population, or of all values of a projection, that are expressions.
    /// @throws ValueOutOfBoundsError
    void bound_expression(const Population& population, Values& value, const std::string& object) const;
    void bound_expressions(ProjectionSpec& projection) const;
    /// The positions as they were described: random ones are not drawn.
    std::shared_ptr<const connect::Space> described_space() const;
    /// Validates a projection, sets a default name, and returns its expected number of synapses.
    /// @throws as connect()
    std::optional<double> checked_synapses(ProjectionSpec& projection, ProjectionId id) const;
    /// Validates a stimulus, sets a default name and delay, and completes its sequences.
    /// @throws as stimulate()
    void check(StimulusSpec& stimulus) const;
    /// The positions of a population, for a seed. @throws as set_seed()
    static std::shared_ptr<const connect::Positions> located(const Population& population, std::uint64_t seed,
                                                             const std::function<void()>& poll);
    std::string name_population(std::string name, std::string_view model) const;

    double resolution_;
    std::uint64_t seed_;
    std::vector<Population> populations_;
    std::vector<Projection> projections_;
    /// Expected, by projection; nothing until an estimate is needed.
    mutable std::vector<std::optional<double>> synapses_;
    std::vector<StimulusSpec> stimuli_;
    std::vector<SpikeRecorderSpec> spike_recorders_;
    std::vector<StateRecorder> state_recorders_;
    std::vector<OutsideField> outside_fields_;
    /// What space() returned, unless populations or the seed have changed.
    mutable std::shared_ptr<const connect::Space> space_;
};

}  // namespace ranvier::network
