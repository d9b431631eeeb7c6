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
#include "ranvier/cable/cell/per_cell_parameters.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/channel.hpp"
#include "ranvier/cable/methods.hpp"
#include "ranvier/cable/receptor.hpp"

namespace ranvier::cable {

/// A mechanism on a part of the membrane.
struct PaintedMechanism {
    const MechanismModel* mechanism = nullptr;
    std::vector<double> covered;  ///< by compartment: fraction of its membrane with the mechanism, 0 to 1
    /// In the order of MechanismModel::parameters: one value, or one for each compartment.
    std::vector<std::vector<double>> parameters;
    /// By parameter: the per-cell parameter (an index of CellSpec::per_cell) that its values are multiplied by, or
    /// -1. Empty: none.
    std::vector<std::int32_t> per_cell = {};
    std::shared_ptr<const UserMechanism> described = nullptr;  ///< owns a user-defined mechanism
};

/// A receptor at one or more places, its sites.
struct PlacedReceptor {
    std::string name;
    const ReceptorModel* model = nullptr;
    std::vector<double> parameters;
    std::vector<Place> places;
    std::shared_ptr<const UserMechanism> described = nullptr;  ///< owns a user-defined model
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
        current,           ///< density of a current of a mechanism
        receptor_current,
        calcium,           ///< concentration in a pool
        calcium_reversal,  ///< of a pool
        axial_current,     ///< into a compartment from its neighbours
        clamp_current,
        electrode_current,  ///< of stimulators, and the constant current
    };

    std::string name;
    Kind kind = Kind::potential;
    Place place;              ///< unless it is of a receptor, a clamp or an electrode
    std::uint32_t of = 0;     ///< a painted mechanism, a receptor, a clamp, or an electrode
    std::uint32_t gate = 0;   ///< of the mechanism: a gate, or a current; of a receptor: a site, or every_site

    /// The sum over all sites.
    static constexpr std::uint32_t every_site = UINT32_MAX;
};

/// The common description of cells of one kind.
struct CellSpec {
    /// The value of a parameter of a mechanism in a cell with these values of per-cell parameters.
    double value(const PaintedMechanism& painted, std::size_t parameter, std::uint32_t compartment,
                 std::span<const double> per_cell_values) const {
        const std::vector<double>& values = painted.parameters[parameter];
        const double value = values[values.size() == 1 ? 0 : compartment];
        const std::int32_t index = painted.per_cell.empty() ? -1 : painted.per_cell[parameter];
        return index < 0 ? value : per_cell_values[static_cast<std::size_t>(index)] * value;
    }

    Compartments compartments;
    /// uF/cm^2: one value, or one for each compartment; per-cell parameters may add to it.
    std::vector<double> capacitance;
    double axial_resistivity = 100.0;  ///< ohm cm
    double celsius = 6.3;
    double initial_potential = -65.0;  ///< mV
    RateMethod rates = RateMethod::table;
    Scheme scheme = Scheme::backward_euler;
    std::vector<PerCellParameter> per_cell = {};
    std::vector<PerCellUse> uses = {};
    std::vector<PaintedMechanism> mechanisms;
    std::vector<PlacedReceptor> receptors;
    /// Whether each site of a receptor has a separate state, as a point process in NEURON; otherwise those in one
    /// compartment share a state. Sites of receptors that are general mechanisms are always separate.
    bool separate_sites = false;
    std::vector<PlacedClamp> clamps;
    std::vector<Probe> probes;
    Place detector;           ///< place of the spike detector: a spike is a crossing of the threshold from below
    double threshold = -10.0;  ///< mV
    double refractory_time = 0.0;  ///< ms after a spike in which the detector finds no other
    /// The first one is the default of stimulators and receives the constant current. Its name may be empty if there
    /// are no others.
    std::vector<PlacedElectrode> electrodes = {{.name = "", .place = {.section = 0, .position = 0.5}}};
};

/// Whether a parameter is a conductance or a reversal potential. Rates do not depend on these.
bool is_of_current(const MechanismModel& mechanism, std::size_t parameter);
/// The values of all other parameters.
std::vector<double> rate_parameters(const PaintedMechanism& painted);

}  // namespace ranvier::cable
