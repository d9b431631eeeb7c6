#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/backend/cells_image.hpp"

/// What a device needs of detailed cells, from whoever has them.
namespace ranvier::device {

/// The gates of a RateClass, with their currents.
struct RateForm {
    std::vector<std::uint64_t> key;  ///< the same for classes that are the same
    RateClass numbers;  ///< without places in arrays
    std::span<const double> table;  ///< empty: rates are calculated
    std::vector<RateProgram> gates;              ///< without a table
    std::vector<std::vector<double>> parameters;  ///< of them: see ExactGate
    std::vector<CellCurrent> currents;  ///< those into the pool last
};

struct MechanismForm {
    CellMechanism numbers;  ///< without the number of its programs
    MechanismProgram programs;
};

/// A node of cells, with what acts there in this order.
struct NodeForm {
    struct Receptor {
        CellReceptor numbers;
        std::vector<u32> sites;
    };
    struct Electrode {
        CellElectrode numbers;
        std::vector<double> course;  ///< of a clamp
    };
    struct Place {
        CellPlace numbers;
        u32 mechanism = 0;            ///< index in the form
        std::vector<double> inputs;  ///< see CellPlace::first_number
        std::vector<double> jumps;
    };

    NodeKind kind;  ///< without places in arrays
    std::vector<u32> classes;  ///< indices in the form
    std::vector<double> conductances;
    std::optional<CellPool> pool;
    std::vector<Receptor> receptors;
    std::vector<Electrode> electrodes;
    std::vector<Place> places;
    u32 columns = 0;  ///< numbers of its state
};

/// Cells that differ in their state, threshold and clamps only.
struct CellForm {
    /// Where a number of the state is: in a column of a node.
    struct StatePlace {
        u32 node = 0;
        u32 column = 0;
    };

    std::vector<u32> parents;  ///< of nodes, smaller; the first one has none
    std::vector<NodeForm> nodes;
    std::vector<RateForm> classes;
    std::vector<MechanismForm> mechanisms;
    std::vector<StatePlace> state;  ///< of CellSource::read_state(), after the potentials
};

/// The cells of a group, whose steps a device calculates. Between runs, the group has their state.
class CellSource {
   public:
    virtual ~CellSource() = default;

    struct Forms {
        std::vector<std::shared_ptr<const CellForm>> forms;
        std::vector<u32> of_cells;  ///< by cell
    };
    /// The forms of the cells, with the present values of parameters. What they point to lives as long as the cells.
    virtual Forms forms() const = 0;
    /// Changes with forms, thresholds and clamps.
    virtual u64 version() const = 0;
    virtual double threshold(std::size_t cell) const = 0;  ///< mV
    /// Numbers of the clamps of a cell that differ between cells; see CellElectrode.
    virtual std::span<const double> clamp_numbers(std::size_t cell) const = 0;
    virtual double constant_current(std::size_t cell) const = 0;  ///< pA
    /// Steps from a spike to the first one that may have the next spike.
    virtual i64 refractory_steps() const = 0;
    /// Inputs of each cell at a receptor.
    virtual u32 sites_at(u32 receptor) const = 0;

    /// The state of a cell: first the potentials of its nodes.
    virtual void read_state(std::size_t cell, std::vector<double>& numbers) const = 0;
    /// @param now the step after which it is
    virtual void write_state(std::size_t cell, i64 now, std::span<const double> numbers) = 0;
    /// Steps after `now` in which a cell cannot fire.
    virtual i32 refractory(std::size_t cell, i64 now) const = 0;
    virtual void set_refractory(std::size_t cell, i64 now, i32 steps) = 0;
};

}  // namespace ranvier::device
