#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cable/clamp.hpp"
#include "cable/compartments.hpp"
#include "cable/mechanism.hpp"
#include "cable/receptor.hpp"
#include "models/neuron.hpp"

namespace ranvier::cable {

/// Where steady states and time constants of gates come from: cubic tables with a bounded error, or their formulas.
enum class RateMethod : std::uint8_t { table, exact };

/// How potentials advance: backward Euler, of first order in the step, or, with gates and conductances in the middle of
/// steps, the trapezoidal rule, of second order.
enum class Scheme : std::uint8_t { backward_euler, staggered };

/// A mechanism on a part of the membrane.
struct PaintedMechanism {
    const MechanismModel* mechanism = nullptr;
    std::vector<double> covered;  ///< of each compartment: the part of its membrane that has it, 0 to 1
    /// In the order of MechanismModel::parameters: one value, or one for each compartment.
    std::vector<std::vector<double>> parameters;
};

/// A receptor at one place.
struct PlacedReceptor {
    std::string name;
    const ReceptorModel* model = nullptr;
    std::vector<double> parameters;
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
    };

    std::string name;
    Kind kind = Kind::potential;
    Place place;              ///< of what is neither of a receptor nor of a clamp
    std::uint32_t of = 0;     ///< a painted mechanism, a receptor, or a clamp
    std::uint32_t gate = 0;   ///< of the mechanism: a gate, or a current
};

/// All that the cells of a population share.
struct CellSpec {
    Compartments compartments;
    std::vector<double> capacitance;  ///< uF/cm^2: one value, or one for each compartment
    double axial_resistivity = 100.0;  ///< ohm cm
    double celsius = 6.3;
    double initial_potential = -65.0;  ///< mV
    RateMethod rates = RateMethod::table;
    Scheme scheme = Scheme::backward_euler;
    std::vector<PaintedMechanism> mechanisms;
    std::vector<PlacedReceptor> receptors;
    std::vector<PlacedClamp> clamps;
    std::vector<Probe> probes;
    Place detector;           ///< where the cell fires: its potential goes from below the threshold to it or above
    double threshold = -10.0;  ///< mV
    Place electrode;          ///< where currents are injected
};

/// A cell as a neuron model: its receptors are those that were placed, its variables the potential at the detector and the
/// probes.
class CellModel {
   public:
    /// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError naming the mechanism, receptor or probe
    explicit CellModel(CellSpec spec);
    CellModel(const CellModel&) = delete;
    CellModel& operator=(const CellModel&) = delete;

    const CellSpec& spec() const { return spec_; }
    const models::NeuronModel& neuron_model() const { return model_; }
    /// The cell whose neuron model this is. @pre it is one
    static const CellModel& of(const models::NeuronModel& model) { return *static_cast<const CellModel*>(model.own); }

   private:
    CellSpec spec_;
    std::vector<models::VariableInfo> variables_;
    std::vector<std::string_view> receptors_;
    models::NeuronModel model_;
};

}  // namespace ranvier::cable
