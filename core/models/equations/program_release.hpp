#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/models/synapse.hpp"
#include "ranvier/program/program.hpp"

/// Synapses whose spikes add a fraction of the weight that a program calculates: user-defined synapses that depend on
/// the spikes of the source alone.
namespace ranvier::models {

struct ReleaseProgramDescription {
    /// Rows of tables have room for this number of values, whatever the model needs.
    static constexpr std::size_t most_states = 4;

    std::string name;
    std::string summary;
    std::string equations;
    std::string reference;
    std::string weight_unit;  ///< empty: any unit
    std::vector<ProgramParameter> parameters;
    std::vector<std::string> states;  ///< their names
    /// From parameters to the states before the first spike, and conditions that must hold.
    program::Program prepare;
    std::vector<Condition> conditions;
    /// From the states after the last spike, the time since then (ms) and the parameters to the states after this
    /// spike and the fraction of the weight that it adds. For the first spike the time is 0.
    program::Program release;
};

/// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError if the parts do not fit together
void check(const ReleaseProgramDescription& description);

/// Hash of the whole description: behaviour and names.
std::uint64_t fingerprint_of(const ReleaseProgramDescription& description);

/// An upper bound of the fraction of the weight that a spike adds; nothing if the fraction cannot be proven to be
/// bounded and not negative.
std::optional<double> greatest_release(const ReleaseProgramDescription& description,
                                       std::span<const double> parameters);

/// The synapse model of a ReleaseProgramDescription.
class ProgramRelease final : public UserSynapse {
   public:
    /// @throws as check(description)
    explicit ProgramRelease(ReleaseProgramDescription description);

    const SynapseModel& synapse_model() const override { return model_; }
    const ReleaseProgramDescription& description() const { return *description_; }
    std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values, double resolution) const override;
    std::optional<std::string> conflict(std::span<const double> least, std::span<const double> greatest,
                                        std::span<const std::uint32_t> per_synapse) const override;
    /// The part of conflict() that is about the released part, not about values: it cannot be proven to be bounded.
    std::optional<std::string> conflict_of_events(std::span<const double> values) const;
    std::array<double, 2> changes(std::span<const double>, double) const override { return {0.0, 0.0}; }
    std::vector<double> time_constants(std::span<const double>) const override { return {}; }

   private:
    /// Shared with the dynamics made from it.
    std::shared_ptr<const ReleaseProgramDescription> description_;
    std::vector<ParameterInfo> parameters_;
    SynapseModel model_;
};

}  // namespace ranvier::models
