#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "cable/groups/general_program.hpp"
#include "cable/groups/out_of_bounds.hpp"
#include "cable/plans/general_plan.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// The location of one place of a general mechanism in the arrays of a block of cells.
struct GeneralPlace {
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

    const GeneralPlan* plan = nullptr;  ///< not needed later
    std::uint32_t place = 0;          ///< index in the plan
    std::uint32_t cell = nowhere;     ///< index in the block; nowhere: a lane that never has a cell
    std::uint32_t node = 0;           ///< position of the node: 8 slot + lane
    std::uint32_t gather_slot = 0;           ///< position at which its mechanisms are calculated
    std::uint32_t calcium = nowhere;  ///< position among the concentrations of the block
    double least_diagonal = 0.0;      ///< nS: see GeneralStates::add_currents
};

/// A general mechanism in a block of cells.
struct GeneralPlaces {
    std::uint32_t painted = 0;
    const MechanismModel* model = nullptr;
    std::vector<GeneralPlace> places;  ///< at least one
};

/// The state of a block of cells during a step, between the halves of the kernel; see KernelArguments.
struct GeneralBlock {
    std::size_t number = 0;
    double begin = 0.0;  ///< start of the step, ms
    double* potential = nullptr;
    double* diagonal = nullptr;
    double* current =
        nullptr;  ///< after the second half, in the staggered scheme, potentials in the middle of the step
    double* calcium = nullptr;  ///< mM
    const double* calcium_conductance = nullptr;  ///< by position, output of the kernel
    const double* calcium_reversal = nullptr;     ///< by position among concentrations
};

/// A value of a general mechanism that is not finite, or a loop that has not ended.
struct GeneralOutOfBounds {
    OutOfBounds::Of of = OutOfBounds::Of::state;
    std::uint32_t cell = 0;  ///< index in the block
    std::uint32_t slot = 0;
    std::uint32_t painted = 0;
    std::uint32_t variable = 0;  ///< a state or a current
    double value = 0.0;
};

/// The general mechanisms of cells that are stored together: their states, and the code that advances them.
///
/// Currents are calculated from the states and the potential at the start of a step, and are linear in the potential
/// that is solved for. States then advance by the whole step, with this potential. In the staggered scheme, currents
/// are calculated from the states in the middle of the step, which are predicted with the potential at its start;
/// then states advance from its start, with the potential in its middle. So errors are of second order in the step if
/// those of the program are. Concentrations are those at the start of the step in both schemes.
class GeneralStates {
   public:
    struct Settings {
        std::size_t blocks = 1;
        Scheme scheme = Scheme::backward_euler;
        double celsius = 0.0;
        double step = 0.0;  ///< ms
        double nernst = 0.0;  ///< see KernelPools
        InstructionSet set = InstructionSet::baseline;
        std::vector<double> gains = {};  ///< of pools, by position among the concentrations of a block; see KernelPools
    };

    /// @param mechanisms in the order in which they act
    GeneralStates(std::span<const GeneralPlaces> mechanisms, Settings settings, std::pmr::memory_resource* memory);

    /// A state. @param mechanism an index of `mechanisms` @param place of the mechanism
    double& state(std::size_t mechanism, std::size_t block, std::size_t place, std::size_t state);

    /// Before the first half of the kernel.
    void predict(const GeneralBlock& block);
    /// Between the halves. A negative derivative takes at most half of the capacitance from the diagonal, so that the
    /// solution stays bounded.
    void add_currents(const GeneralBlock& block);
    /// After the second half. Adds the calcium currents of general mechanisms to the pools, and copies the concentrations of
    /// pools that are general mechanisms from their states.
    void advance(const GeneralBlock& block);

    /// Adds the weights that arrive at receptors at the end of the step to their states, and clears them.
    /// @param inputs, sites see BlockStep
    /// @param cells indices in the group of the cells of the block
    void receive(std::size_t block, double* const* inputs, const std::uint32_t* sites,
                 std::span<const std::uint32_t> cells);

    bool has_pools() const { return !settings_.gains.empty(); }
    /// Returns the out-of-bounds values since the last call, and clears them.
    std::vector<GeneralOutOfBounds> take_out_of_bounds() { return std::exchange(out_of_bounds_, {}); }

   private:
    struct Mechanism {
        Mechanism(const GeneralPlaces& given, const Settings& settings, std::pmr::memory_resource* memory);

        std::uint32_t painted;
        const GeneralInfo* general;
        AlignedVector<GeneralPlace> places;
        AlignedVector<std::uint32_t> slots;  ///< of the places in their cells
        std::optional<std::uint32_t> receptor;
        AlignedVector<double> jumps;  ///< of a receptor [place][state]
        std::size_t padded;  ///< number of places with padding
        AlignedVector<double> covered;
        AlignedVector<double> surface;
        AlignedVector<double> outside_logarithm;
        GeneralProgram current;
        GeneralProgram step;
        std::optional<GeneralProgram> half;
        AlignedVector<double> state;  ///< [block][state][place]
        AlignedVector<double> predicted;  ///< [state][place]
        AlignedVector<double> results;  ///< [current and derivative][place]
        AlignedVector<double> before;  ///< mV, if currents carry calcium

        double* states_of(std::size_t block) { return state.data() + block * general->states.size() * padded; }
    };

    /// @param part fraction of the step that has passed
    void gather(const Mechanism& mechanism, const double* potential, bool at_gather_slots, const GeneralBlock& block,
                double part);
    void add(Mechanism& mechanism, const GeneralBlock& block);
    void add_calcium_flow(const Mechanism& mechanism, const double* solved);
    void read_calcium_current(const Mechanism& mechanism, const double* solved, const GeneralBlock& block);
    void set_calcium(Mechanism& mechanism, const GeneralBlock& block);
    void check_states(Mechanism& mechanism, const double* states);
    void note(const Mechanism& mechanism, OutOfBounds::Of of, std::size_t variable, const double* values);

    Settings settings_;
    std::vector<Mechanism> mechanisms_;
    bool moves_calcium_ = false;
    GeneralInputs inputs_;
    AlignedVector<double> flow_;  ///< pA of calcium through general mechanisms, by position among concentrations
    std::vector<std::uint8_t> failures_;
    std::vector<GeneralOutOfBounds> out_of_bounds_;
};

}  // namespace ranvier::cable
