#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/instruction_set.hpp"
#include "models/model_info.hpp"
#include "program/program.hpp"

namespace ranvier::cable {

/// What the rates of a gate depend on.
enum class Follows : std::uint8_t {
    potential,
    calcium,  ///< the natural logarithm of its concentration in mM, which a pool gives
    both,     ///< the potential, then this logarithm: of gates that users describe. No table has two arguments.
};

/// In the order in which currents of a compartment are added.
inline constexpr Follows all_followed[]{Follows::potential, Follows::calcium, Follows::both};

/// What the rates of a gate are calculated from, and where they go.
struct RateArguments {
    std::size_t size = 0;
    const double* argument = nullptr;  ///< potential, mV, or what else the gate follows
    double celsius = 6.3;
    const double* parameters = nullptr;  ///< of the mechanism
    double* steady = nullptr;            ///< the value that the gate tends to
    double* tau = nullptr;               ///< its time constant, ms
};

/// A variable between 0 and 1 that follows dx/dt = (steady(V) - x) / tau(V), or with a concentration for V.
struct GateInfo {
    std::string_view name;
    std::string_view meaning;
    void (*rates)(InstructionSet set, const RateArguments& arguments) = nullptr;
    Follows follows = Follows::potential;  ///< the same for all gates of a mechanism
    /// Of a gate that a user describes, in place of `rates`: from what it follows, the temperature and the parameters of the
    /// mechanism to the steady state and the time constant, ms.
    const program::Program* program = nullptr;
    /// From the same to the value that it begins at; null: the steady state.
    const program::Program* initial = nullptr;
};

struct GatePower {
    std::uint32_t gate = 0;
    std::uint32_t power = 1;
};

/// A current through the membrane: density g (V - E) with g the greatest conductance times powers of gates.
struct CurrentInfo {
    std::string_view name;
    std::size_t conductance = 0;  ///< a parameter, S/cm^2
    std::size_t reversal = 0;  ///< a parameter, mV
    std::span<const GatePower> gates = {};  ///< none: a leak
    /// Whether it fills the pool of calcium that is at its place, which then gives its reversal potential. The parameter
    /// `reversal` has no default (NaN) and is given where there is no pool. Such a current has gates.
    bool carries_calcium = false;
};

/// The sum of some currents, as probes name it.
struct CurrentSum {
    std::string_view name;
    std::span<const std::uint32_t> currents;  ///< indices of MechanismModel::currents
};

/// Calcium in a shell below the membrane: which parameters say what.
struct PoolInfo {
    std::size_t share = 0;  ///< of the calcium that comes in: what stays free
    std::size_t depth = 0;  ///< of the shell, um
    std::size_t decay = 0;  ///< time constant, ms
    std::size_t rest = 0;  ///< concentration, mM
    std::size_t outside = 0;  ///< concentration, mM
};

/// A mechanism that is spread over membrane. Each one's file defines one and registers it in `mechanisms()`.
struct MechanismModel {
    std::string_view name;
    std::string_view summary;  ///< one line
    std::string_view equations;  ///< several lines, plain text
    std::string_view reference;
    std::span<const models::ParameterInfo> parameters;
    std::span<const GateInfo> gates;
    std::span<const CurrentInfo> currents;
    const PoolInfo* pool = nullptr;  ///< null: it is no pool
    std::span<const CurrentSum> sums = {};  ///< what probes read; empty: each current by itself
    std::uint64_t fingerprint = 0;  ///< of what a user describes; 0: the name tells all

    std::size_t recorded_currents() const { return sums.empty() ? currents.size() : sums.size(); }
    bool follows_calcium() const { return !gates.empty() && gates.front().follows != Follows::potential; }
};

/// All mechanisms that come with Ranvier, by name ascending.
std::span<const MechanismModel* const> mechanisms();
/// @throws UnknownNameError
const MechanismModel& find_mechanism(std::string_view name);

/// A gate's rates from a class with `static Constants constants(double celsius, const double* parameters)` and
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
