#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "connect/plasticity/learning_rule.hpp"
#include "models/equations/compiled_events.hpp"
#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/models/synapse.hpp"
#include "ranvier/program/program.hpp"

/// Synapses that learn by programs: the lowered form of user-defined synapses.
namespace ranvier::models {

/// A trace grows with the spikes of one side and decays exponentially. In programs each spike adds 1 to it, or sets
/// it to 1.
struct SynapseProgramTrace {
    bool is_read = false;
    std::uint32_t time_constant = 0;  ///< index of the time constant (ms) in the results of `prepare`
};

struct SynapseProgramDescription {
    std::string name;
    std::string summary;
    std::string equations;
    std::string reference;
    std::string weight_unit;  ///< empty: any unit
    /// The last one is the axonal fraction of the delay.
    std::vector<ProgramParameter> parameters;
    std::array<SynapseProgramTrace, connect::trace_kinds> traces;  ///< by connect::TraceKind
    bool presynaptic_traces_accumulate = true;
    bool postsynaptic_traces_accumulate = true;
    /// From parameters to time constants, and conditions that must hold.
    program::Program prepare;
    std::vector<Condition> conditions;
    /// A spike of one side: from the weight, the trace of the other side, the trace of the same side before this
    /// spike, and the parameters, to the weight after it.
    program::Program presynaptic;
    program::Program postsynaptic;

    const SynapseProgramTrace& trace(connect::TraceKind kind) const { return traces[static_cast<std::size_t>(kind)]; }
};

/// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError if the parts do not fit together
void check(const SynapseProgramDescription& description);

/// Hash of the whole description: behaviour and names.
std::uint64_t fingerprint_of(const SynapseProgramDescription& description);

/// The range of weights that synapses never leave, whatever spikes arrive, if each parameter lies between two values.
/// Nothing if no range without a change of sign can be proven.
std::optional<std::pair<double, double>> weight_range(const SynapseProgramDescription& description,
                                                      std::span<const double> least, std::span<const double> greatest);

/// The subset of some parameters, ascending, that events read.
std::vector<std::uint32_t> read_by_events(const SynapseProgramDescription& description,
                                          std::span<const std::uint32_t> parameters);

/// The synapse model of a SynapseProgramDescription.
class ProgramSynapse final : public UserSynapse {
   public:
    /// @throws as check(description)
    explicit ProgramSynapse(SynapseProgramDescription description);

    const SynapseModel& synapse_model() const override { return model_; }
    const SynapseProgramDescription& description() const { return *description_; }
    /// Simulations with BuildOptions::compiled_rules that are built after this call use this code if their synapses
    /// have this form. It must give the same bits as the interpreter.
    void use_compiled(EventForm form, CompiledEvents events) { compiled_->put(std::move(form), std::move(events)); }
    std::optional<CompiledEvents> compiled(const EventForm& form) const { return compiled_->find(form); }
    std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values, double resolution) const override;
    std::optional<std::string> conflict(std::span<const double> least, std::span<const double> greatest,
                                        std::span<const std::uint32_t> per_synapse) const override;
    /// The part of conflict() that is about events, not about values: weights cannot be proven to keep their sign.
    std::optional<std::string> conflict_of_events(std::span<const double> least,
                                                  std::span<const double> greatest) const;
    std::array<double, 2> changes(std::span<const double> values, double weight) const override;
    std::vector<double> time_constants(std::span<const double> values) const override;

   private:
    /// Shared with the dynamics made from it.
    std::shared_ptr<const SynapseProgramDescription> description_;
    std::shared_ptr<CompiledEventsLibrary> compiled_ = std::make_shared<CompiledEventsLibrary>();
    std::vector<ParameterInfo> parameters_;
    SynapseModel model_;
};

}  // namespace ranvier::models
