#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/cable/cell/clamp.hpp"
#include "ranvier/cable/cell/compartments.hpp"
#include "ranvier/cable/cell/own_parameters.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/channel.hpp"
#include "ranvier/cable/methods.hpp"
#include "ranvier/cable/receptor.hpp"

namespace ranvier::cable {

/// A mechanism on a part of the membrane.
struct PaintedMechanism {
    const MechanismModel* mechanism = nullptr;
    std::vector<double> covered;  ///< of each compartment: the part of its membrane that has it, 0 to 1
    /// In the order of MechanismModel::parameters: one value, or one for each compartment.
    std::vector<std::vector<double>> parameters;
    /// Of each parameter: the own parameter of cells (an index of CellSpec::own) that its values are multiplied by, or -1.
    /// Empty: none has one.
    std::vector<std::int32_t> own = {};
    std::shared_ptr<const UserMechanism> described = nullptr;  ///< owns the mechanism, if a user describes it
};

/// A receptor at one or more places, its sites.
struct PlacedReceptor {
    std::string name;
    const ReceptorModel* model = nullptr;
    std::vector<double> parameters;
    std::vector<Place> places;
    std::shared_ptr<const UserMechanism> described = nullptr;  ///< owns the model, if a user describes it
};

/// A place at which stimulators inject currents.
struct PlacedElectrode {
    std::string name;
    Place place;
};

/// A variable of the cell that can be recorded.
struct Probe {
    enum class Kind : std::uint8_t {
        potential,
        gate,
        conductance,       ///< of a receptor
        current,           ///< of a mechanism: its density
        receptor_current,
        calcium,           ///< concentration in a pool
        calcium_reversal,  ///< of a pool
        axial_current,     ///< into a compartment from its neighbours
        clamp_current,
        electrode_current,  ///< of stimulators, and the constant one
    };

    std::string name;
    Kind kind = Kind::potential;
    Place place;              ///< of what is neither of a receptor, of a clamp nor of an electrode
    std::uint32_t of = 0;     ///< a painted mechanism, a receptor, a clamp, or an electrode
    std::uint32_t gate = 0;   ///< of the mechanism: a gate, or a current; of a receptor: a site, or every_site

    /// All together.
    static constexpr std::uint32_t every_site = UINT32_MAX;
};

/// All that cells of one kind share.
struct CellSpec {
    /// Of a parameter of a mechanism, in a cell with these values of its own parameters.
    double value(const PaintedMechanism& painted, std::size_t parameter, std::uint32_t compartment,
                 std::span<const double> own_values) const {
        const std::vector<double>& values = painted.parameters[parameter];
        const double value = values[values.size() == 1 ? 0 : compartment];
        const std::int32_t index = painted.own.empty() ? -1 : painted.own[parameter];
        return index < 0 ? value : own_values[static_cast<std::size_t>(index)] * value;
    }

    Compartments compartments;
    /// uF/cm^2: one value, or one for each compartment; of own parameters more may be added.
    std::vector<double> capacitance;
    double axial_resistivity = 100.0;  ///< ohm cm
    double celsius = 6.3;
    double initial_potential = -65.0;  ///< mV
    RateMethod rates = RateMethod::table;
    Scheme scheme = Scheme::backward_euler;
    std::vector<OwnParameter> own = {};
    std::vector<OwnUse> uses = {};
    std::vector<PaintedMechanism> mechanisms;
    std::vector<PlacedReceptor> receptors;
    std::vector<PlacedClamp> clamps;
    std::vector<Probe> probes;
    Place detector;           ///< where the cell fires: its potential goes from below the threshold to it or above
    double threshold = -10.0;  ///< mV
    /// The first one takes the constant current, and those of stimulators that name none. Its name may be empty if there are no
    /// others.
    std::vector<PlacedElectrode> electrodes = {{.name = "", .place = {.section = 0, .position = 0.5}}};
};

/// Whether a parameter is a conductance or a reversal potential. Rates do not depend on these.
bool is_of_current(const MechanismModel& mechanism, std::size_t parameter);
/// The values of all other parameters.
std::vector<double> rate_parameters(const PaintedMechanism& painted);

}  // namespace ranvier::cable
