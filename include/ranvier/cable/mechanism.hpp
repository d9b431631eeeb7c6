#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/model_info.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::cable {

/// The input of the rates of a gate.
enum class Follows : std::uint8_t {
    potential,
    calcium,  ///< the natural logarithm of its concentration in mM, which a pool gives
    both,     ///< the potential, then this logarithm, for user-defined gates. No table has two arguments.
};

/// In the order in which currents of a compartment are added.
inline constexpr Follows all_followed[]{Follows::potential, Follows::calcium, Follows::both};

/// Inputs and outputs of the rates of a gate.
struct RateArguments {
    std::size_t size = 0;
    const double* argument = nullptr;  ///< potential, mV, or another input of the gate
    double celsius = 6.3;
    const double* parameters = nullptr;  ///< of the mechanism
    double* steady = nullptr;            ///< steady state
    double* tau = nullptr;               ///< its time constant, ms
};

/// A variable between 0 and 1 with dx/dt = (steady(V) - x) / tau(V), or with a concentration in place of V.
struct GateInfo {
    std::string_view name;
    std::string_view meaning;
    void (*rates)(InstructionSet set, const RateArguments& arguments) = nullptr;
    Follows follows = Follows::potential;  ///< the same for all gates of a mechanism
    /// For a user-defined gate, in place of `rates`: from its inputs, the temperature and the parameters of the
    /// mechanism to the steady state and the time constant, ms.
    const program::Program* program = nullptr;
    /// From the same inputs to the initial value; null: the steady state.
    const program::Program* initial = nullptr;
};

struct GatePower {
    std::uint32_t gate = 0;
    std::uint32_t power = 1;
};

/// A current through the membrane: density g (V - E), where g is the maximum conductance times powers of gates.
struct CurrentInfo {
    std::string_view name;
    std::size_t conductance = 0;  ///< a parameter, S/cm^2
    std::size_t reversal = 0;  ///< a parameter, mV
    std::span<const GatePower> gates = {};  ///< empty: a leak
    /// Whether it fills the calcium pool at its place, which then sets its reversal potential. The parameter
    /// `reversal` has no default (NaN) and is given only where there is no pool. Such a current has gates.
    bool carries_calcium = false;
};

/// The sum of some currents under one name for probes.
struct CurrentSum {
    std::string_view name;
    std::span<const std::uint32_t> currents;  ///< indices of MechanismModel::currents
};

/// Calcium in a shell below the membrane: indices of its parameters.
struct PoolInfo {
    std::size_t share = 0;  ///< fraction of the inflowing calcium that stays free
    std::size_t depth = 0;  ///< of the shell, um
    std::size_t decay = 0;  ///< time constant, ms
    std::size_t rest = 0;  ///< concentration, mM
    std::size_t outside = 0;  ///< concentration, mM
};

/// A state of a general mechanism: any number.
struct StateInfo {
    std::string_view name;
    std::string_view unit;
    std::string_view meaning;
};

/// A current of a general mechanism.
struct GeneralCurrentInfo {
    std::string_view name;
    bool carries_calcium = false;  ///< fills the calcium pool at its place
    bool flows = true;  ///< false: it is only recorded, such as a sum of others
};

/// Inputs of the programs of general mechanisms after the states and before parameters, in their order.
enum class External : std::uint8_t {
    potential,  ///< mV
    celsius,  ///< degrees Celsius
    step,  ///< ms: the step by which states advance
    calcium,  ///< in the cell, mM
    outside,  ///< calcium outside of it, mM
    calcium_reversal,  ///< mV
    calcium_current,  ///< of all mechanisms at the place, mA/cm^2; available when states advance
    diameter,  ///< um
    area,  ///< um^2
    time,  ///< ms: the middle of the step for currents, its end for states
};
inline constexpr std::size_t external_count = static_cast<std::size_t>(External::time) + 1;

/// States that advance by programs, and currents of any form. Inputs of programs are the states, then External, then
/// the parameters of the mechanism.
struct GeneralInfo {
    std::span<const StateInfo> states;
    std::span<const GeneralCurrentInfo> currents;
    const program::Program* initial = nullptr;  ///< results: the states
    const program::Program* step = nullptr;  ///< results: the states, then whether each loop has ended in time
    /// results: the density of each current, mA/cm^2, and its derivative, S/cm^2
    const program::Program* current = nullptr;
    /// Of a point process, whose currents are in nA: increments of states by a spike of weight 1 nS. They depend on
    /// parameters, temperature and geometry alone. Null for a mechanism of the membrane.
    const program::Program* jumps = nullptr;
    std::int32_t calcium = -1;  ///< a pool's state that is the concentration in the cell (mM); -1: not a pool
    std::int32_t outside = -1;  ///< a pool's parameter that is the external concentration (mM); -1: default_outside
    bool follows_calcium = false;  ///< reads the concentration of another mechanism, the pool
    bool reads_calcium_current = false;

    static constexpr double default_outside = 2.0;  ///< mM
    bool is_pool() const { return calcium >= 0; }
};

/// A mechanism distributed over membrane. The file of each one defines it and registers it in `mechanisms()`.
struct MechanismModel {
    std::string_view name;
    std::string_view summary;  ///< one line
    std::string_view equations;  ///< several lines, plain text
    std::string_view reference;
    std::span<const models::ParameterInfo> parameters;
    std::span<const GateInfo> gates;
    std::span<const CurrentInfo> currents;
    const PoolInfo* pool = nullptr;  ///< null: not a pool
    std::span<const CurrentSum> sums = {};  ///< for probes; empty: each current separately
    std::uint64_t fingerprint = 0;  ///< hash of a user-defined description; 0: identified by its name
    const GeneralInfo* general = nullptr;  ///< if set, it has neither gates nor `currents`
    /// Temperature at which the rates of its gates were measured, degrees Celsius; NaN if they do not depend on the
    /// temperature, or for a user-defined mechanism.
    double measured_celsius = std::numeric_limits<double>::quiet_NaN();

    std::size_t recorded_currents() const {
        if (general != nullptr) return general->currents.size();
        return sums.empty() ? currents.size() : sums.size();
    }
    /// Number of gates, or of states of a general mechanism.
    std::size_t variables() const { return general != nullptr ? general->states.size() : gates.size(); }
    bool is_pool() const { return pool != nullptr || (general != nullptr && general->is_pool()); }
    bool follows_calcium() const {
        if (general != nullptr) return general->follows_calcium;
        return !gates.empty() && gates.front().follows != Follows::potential;
    }
};

/// All built-in mechanisms, by name ascending.
std::span<const MechanismModel* const> mechanisms();
/// @throws UnknownNameError
const MechanismModel& find_mechanism(std::string_view name);

/// The rates of a gate from a class with `static Constants constants(double celsius, const double* parameters)` and
/// `static Rates at(double argument, const Constants&)`, RANVIER_ALWAYS_INLINE and free of branches.
struct Rates {
    double steady;
    double tau;
};

template <class Gate>
struct RateKernel {
    RANVIER_ALWAYS_INLINE static void run(const RateArguments* arguments) {
        const auto constants = Gate::constants(arguments->celsius, arguments->parameters);
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < arguments->size; ++i) {
            const Rates rates = Gate::at(arguments->argument[i], constants);
            arguments->steady[i] = rates.steady;
            arguments->tau[i] = rates.tau;
        }
    }
};

template <class Gate>
void rates_of(InstructionSet set, const RateArguments& arguments) {
    Dispatched<RateKernel<Gate>>::call(set, &arguments);
}

}  // namespace ranvier::cable
