#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ranvier/base/choice.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/group.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::parallel {
struct TaskCounts;
}

namespace ranvier::fmm {

/// How multipole expansions become local ones.
enum class Translation : std::uint8_t {
    dense,     ///< by precomputed matrices, order^4 operations
    rotation,  ///< along the z-axis after a rotation, order^3 operations
};

/// Numbers in expansions and in sums over near sources.
enum class Precision : std::uint8_t { float32, float64 };

}  // namespace ranvier::fmm

namespace ranvier {

template <>
struct ChoiceNames<fmm::Translation> {
    static constexpr std::string_view kind = "translation";
    static constexpr std::array<std::string_view, 2> names{"dense", "rotation"};
};
template <>
struct ChoiceNames<fmm::Precision> {
    static constexpr std::string_view kind = "precision";
    static constexpr std::array<std::string_view, 2> names{"float32", "float64"};
};

}  // namespace ranvier

namespace ranvier::fmm {

constexpr std::string_view to_string(Translation translation) { return name_of(translation); }
constexpr std::string_view to_string(Precision precision) { return name_of(precision); }

struct SolverOptions {
    /// Highest degree of the expansions, 0 to 20.
    std::uint32_t order = 6;
    /// Boxes with more sources and targets are divided.
    std::uint32_t capacity = 64;
    /// Divides all boxes that are not empty down to this level instead, 0 to 20.
    std::optional<std::uint32_t> depth = std::nullopt;
    Translation translation = Translation::dense;
    Precision precision = Precision::float64;
    bool has_gradient = false;
    std::optional<Plane> plane = std::nullopt;
    /// Keeps the potentials of near pairs of a line piece and a target, and the moments of each part of a piece, in the
    /// precision of the solver, for many evaluations of the same problem. Not with gradients.
    bool keeps_near = false;
    /// The widest of this processor if not given.
    std::optional<InstructionSet> instruction_set = std::nullopt;
};

/// What a solver has, and the operations of one evaluation with one sample.
struct SolverCounts {
    std::uint64_t boxes = 0;  ///< of all members of a group, as the next two
    std::uint64_t leaves = 0;
    std::uint64_t depth = 0;
    std::uint64_t pieces = 0;  ///< line pieces whose places it has: in a group, those in its leaves and near them
    std::uint64_t source_parts = 0;  ///< these line pieces, cut at the faces of leaves
    std::uint64_t near_pairs = 0;  ///< of a source part and a target
    std::uint64_t translations = 0;  ///< from multipole to local expansions
    std::uint64_t multipole_targets = 0;  ///< of a multipole expansion and a target
    std::uint64_t source_locals = 0;  ///< of a source part and a local expansion
    std::uint64_t tasks = 0;
    /// Floating-point operations: additions, subtractions, multiplications, divisions and square roots
    /// (core/fmm/operation_counts.hpp has those of each operator).
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;  ///< of memory, for evaluations with one sample
    std::uint64_t sample_bytes = 0;  ///< that each further sample takes; their number is rounded up to a multiple of 8
};

/// The sources and targets that a member of a group is given.
struct Portion {
    std::span<const LinePiece> pieces = {};
    /// Their numbers among those of all members, ascending. A solver without others needs none.
    std::span<const std::uint32_t> piece_numbers = {};
    std::span<const Point> targets = {};
    std::span<const std::uint32_t> target_numbers = {};
};

/// Potentials of points and line pieces at targets by the fast multipole method of Greengard and Rokhlin (1987), with the
/// adaptive lists of Carrier, Greengard and Rokhlin (1988), as tasks of a team: one for each box and operator, made once.
///
/// A box is written by one task, which takes its sources in a fixed order, and multipole moments are sums of multiples
/// of a grid: all numbers are the same, bit for bit, for any number of workers, policy and instruction set.
///
/// The members of a group each give a portion of the sources and targets, and get the potentials at the targets that they
/// gave, with the bits that a solver of all would have. Each computes those in some leaves of the common tree, with about
/// equal shares of the work, and has the places of the pieces in these leaves and near them only.
class Solver {
   public:
    /// @param team must outlive the solver
    /// @throws ValueOutOfBoundsError for an order, depth or capacity out of bounds, or coordinates that are not finite
    Solver(std::span<const LinePiece> pieces, std::span<const Point> targets, const SolverOptions& options,
           parallel::Team& team);
    /// @param group must outlive the solver
    /// @throws the same; RemoteError when another member does; ShapeError without a number for each piece and target
    /// @note Collective.
    Solver(const Portion& given, const SolverOptions& options, parallel::Team& team, SolverGroup& group);
    ~Solver();
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;

    /// Potentials for some samples at once.
    /// @param strengths of piece i in sample t: strengths[i * samples + t]
    /// @param samples the same for all members of a group
    /// @param potentials of target i in sample t: potentials[i * samples + t]
    /// @param gradients [target][sample][x, y, z], or empty
    /// @throws ShapeError when an array has another size
    /// @note Collective.
    void evaluate(std::span<const double> strengths, std::size_t samples, std::span<double> potentials,
                  std::span<double> gradients = {});

    /// The first target of all members that is nearer to the axis of a line piece than its radius, and the first such piece:
    /// their numbers. Takes some time of an evaluation with one sample.
    /// @param targets those that this solver was given
    /// @note Collective.
    std::optional<std::pair<std::size_t, std::size_t>> find_inside(std::span<const Point> targets) const;

    const SolverCounts& counts() const;
    /// Tasks of a worker of the team since they were last cleared.
    const parallel::TaskCounts& task_counts(std::uint32_t worker) const;
    void clear_task_counts();

   private:
    class Implementation;
    template <class Real>
    class Typed;
    std::unique_ptr<Implementation> implementation_;
};

/// The same sum, pair by pair in double precision: the oracle of the solver.
/// @param strengths, potentials, gradients as in Solver::evaluate()
void sum_directly(std::span<const LinePiece> pieces, std::span<const Point> targets, std::span<const double> strengths,
                  std::size_t samples, std::span<double> potentials, std::span<double> gradients = {},
                  const std::optional<Plane>& plane = std::nullopt);

/// The same sum over the pieces of all members of a group, on a grid, so that its bits do not depend on who has a piece:
/// with an error of some 1e-11 of the largest strength over the extent of pieces and targets.
/// @param pieces, strengths those of this member
/// @param targets the same for all members
/// @note Collective.
void sum_in_group(std::span<const LinePiece> pieces, std::span<const Point> targets, std::span<const double> strengths,
                  std::size_t samples, std::span<double> potentials, const std::optional<Plane>& plane,
                  SolverGroup& group);

}  // namespace ranvier::fmm
