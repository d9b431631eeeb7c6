#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cable/channel.hpp"
#include "cable/clamp.hpp"
#include "cable/compartments.hpp"
#include "cable/mechanism.hpp"
#include "cable/own_parameters.hpp"
#include "cable/receptor.hpp"
#include "models/own_model.hpp"

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

/// A cell as a neuron model: its parameters are a current and the own parameters of cells, its receptors those that were
/// placed, its variables the potential at the detector and the probes.
class CellModel final : public models::OwnModel {
   public:
    /// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError naming the mechanism, receptor or probe
    explicit CellModel(CellSpec spec);
    /// A population of cells of several kinds, which are made of one spec each.
    /// @param kind_of of each cell of the population
    /// @throws ValueOutOfBoundsError where kinds differ in what a population has once, or have too many tables of rates
    CellModel(std::vector<std::shared_ptr<const CellModel>> kinds, std::vector<std::uint32_t> kind_of);

    std::size_t kinds() const { return kinds_.empty() ? 1 : kinds_.size(); }
    const CellSpec& spec(std::size_t kind = 0) const { return kinds_.empty() ? *spec_ : kinds_[kind]->spec(); }
    /// Of a cell of the population.
    std::size_t kind_of(std::uint64_t cell) const { return kind_of_.empty() ? 0 : kind_of_[cell]; }
    /// Of the population; 0: any number.
    std::uint64_t size() const override { return kind_of_.size(); }
    const models::NeuronModel& neuron_model() const override { return model_; }
    /// The cell whose neuron model this is. @pre it is one
    static const CellModel& of(const models::NeuronModel& model) { return *static_cast<const CellModel*>(model.own); }

   private:
    void describe(std::uint64_t fingerprint);
    void count_sites();
    /// Of a cell.
    double mean_compartments() const;
    models::ParameterInfo info_of(std::uint32_t own) const;
    std::vector<std::uint32_t> kinds_that_may_conflict() const;
    /// See models::NeuronModel::range_conflict.
    static std::optional<std::string> conflict(const models::NeuronModel& model, std::optional<std::uint64_t> cell,
                                               std::span<const double> least, std::span<const double> greatest);

    std::optional<CellSpec> spec_;
    std::vector<std::shared_ptr<const CellModel>> kinds_;
    std::vector<std::uint32_t> kind_of_;
    std::vector<std::uint32_t> conflicting_kinds_;
    std::vector<models::ParameterInfo> parameters_;
    std::vector<models::VariableInfo> variables_;
    std::vector<std::string_view> receptors_;
    std::vector<std::vector<std::uint32_t>> sites_of_kinds_;  ///< by receptor
    std::vector<SiteCounts> sites_;
    std::vector<std::string_view> electrodes_;
    models::NeuronModel model_;
};

}  // namespace ranvier::cable
