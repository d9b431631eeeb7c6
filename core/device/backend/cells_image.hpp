#pragma once

#include <cstddef>
#include <vector>

#include "device/backend/packer.hpp"
#include "device/kernel/network.hpp"
#include "ranvier/program/program.hpp"

/// Detailed cells, as the host has them; see kernel/cells.hpp.
namespace ranvier::device {

/// Rates of a gate: its input, the logarithm of calcium if it follows both, the temperature and the parameters of its
/// mechanism -> steady state and time constant, ms.
struct RateProgram {
    const program::Program* program = nullptr;
    u32 inputs = 1;  ///< 2: the potential and calcium
};

/// A mechanism whose states advance by programs: see GeneralInfo of core/cable. Programs must outlive the image.
struct MechanismProgram {
    const program::Program* step = nullptr;
    const program::Program* current = nullptr;
    u32 states = 0;
    u32 currents = 0;
    bool has_half = false;
};

/// What all blocks share.
struct CellPrograms {
    std::vector<RateProgram> rates;
    std::vector<MechanismProgram> mechanisms;
    bool has_cells = false;
};

/// The cells of a block. Arrays are those of Cells.
struct CellsImage {
    std::vector<u32> level_begins;
    std::vector<CellNode> nodes;
    std::vector<u32> children;
    std::vector<NodeKind> kinds;
    std::vector<u32> classes_of_kinds;
    std::vector<RateClass> classes;
    std::vector<CellCurrent> currents;
    std::vector<ExactGate> exact_gates;
    std::vector<CellPool> pools;
    std::vector<CellReceptor> receptors;
    std::vector<u32> sites;
    std::vector<CellElectrode> electrodes;
    std::vector<CellMechanism> mechanisms;
    std::vector<CellPlace> places;
    std::vector<CellOfBlock> cells;
    std::vector<u32> sites_of_groups;
    std::vector<double> numbers;
    std::size_t states = 0;

    bool empty() const { return nodes.empty(); }
};

/// The state of the cells of a block between two runs.
struct CellsState {
    std::vector<double> potential;  ///< mV, by node
    std::vector<double> states;
};

/// The cells of a block with all that they point to, as bytes to be copied to an address.
struct PlacedCells {
    std::vector<std::byte> bytes;
    Cells cells;
};

/// @param rates where the device has the tables of all blocks
PlacedCells place_cells(const CellsImage& image, u64 address, const double* rates);

}  // namespace ranvier::device
