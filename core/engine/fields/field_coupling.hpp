#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "engine/fields/process_group.hpp"
#include "engine/shard/shard.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/solver.hpp"
#include "ranvier/network/network.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// The action of cells on each other through the medium outside of them.
///
/// At each multiple of the interval, the potentials at the middles of all compartments are calculated from the membrane
/// currents of all of them at that time. They act during the next interval, and are set before its first step, so that
/// a run can end, and a state can be saved, at any time.
class FieldCoupling {
   public:
    struct Arguments {
        const network::Network& network;
        std::size_t field = 0;  ///< index among those of the network
        std::span<const std::unique_ptr<Shard>> shards;
        parallel::Team& team;
        comm::Communicator& communicator;
        std::pmr::memory_resource* memory;
        const Poll& poll;  ///< called while the coupling is prepared; what it throws ends that
    };
    /// @param lines of the compartments of coupled cells, in the order of their ids, um: of all of them on all processes,
    /// or, with the fast multipole method, of those of this process
    /// @throws ShapeError unless there is one for each; ValueOutOfBoundsError when the accuracy cannot be reached
    /// @note Collective.
    FieldCoupling(const Arguments& arguments, std::span<const fmm::LinePiece> lines);

    Step interval() const { return interval_; }
    /// Bytes of the solver.
    std::uint64_t bytes() const { return solver_ ? solver_->counts().bytes : 0; }
    /// Whether potentials have to be set before the step after `now`. The first call is collective.
    bool is_due(Step now);
    /// Sets them. @note Collective.
    void act(Step now);

   private:
    /// A cell of this process.
    struct Cell {
        ShardGroup* group = nullptr;
        std::size_t field = 0;     ///< of the group
        std::size_t variable = 0;  ///< of compartments: the membrane current
        std::uint32_t neuron = 0;
        std::size_t first = 0;  ///< its first compartment among those of all cells
        std::size_t count = 0;
        std::size_t local = 0;  ///< and among those of this process, in the same order
    };

    /// Targets whose sums are calculated together.
    static constexpr std::size_t block = 8;

    void find_cells(const Arguments& arguments);
    void make_solver(double accuracy, std::span<const fmm::LinePiece> lines, const Poll& poll);
    void fill_matrix(std::span<const fmm::LinePiece> lines, double factor, const Poll& poll);
    void read_currents();
    void gather_currents();
    void sum_directly();

    /// Calls a job for each of `count` items on the workers.
    void run(std::size_t count, const std::function<void(std::uint32_t)>& job, const Poll& poll = {}) const;

    parallel::Team& team_;
    comm::Communicator& communicator_;
    Step interval_;
    Step set_after_ = unknown;  ///< the step after which potentials were set last
    static constexpr Step unknown = -2;
    std::vector<std::vector<Cell>> cells_;   ///< by shard
    std::size_t locals_ = 0;                 ///< compartments of this process
    std::size_t compartments_ = 0;           ///< of all processes
    std::vector<std::uint32_t> numbers_;     ///< of the compartments of this process among all, ascending
    std::pmr::vector<double> local_currents_;  ///< pA
    std::pmr::vector<double> potentials_;      ///< mV: of the compartments of this process
    double factor_ = 1.0;                      ///< mV of a unit of the solver
    // Sums over all pairs.
    std::vector<std::uint32_t> places_;   ///< of the compartments of each process in turn, among all
    std::pmr::vector<double> currents_;   ///< of all compartments
    AlignedVector<double> matrix_;        ///< mV/pA [block of targets][source][target]
    // The fast multipole method.
    ProcessGroup group_;
    std::unique_ptr<fmm::Solver> solver_;  ///< null: potentials are summed directly
};

/// The share of a process of what lies in space: its part, and about as much near it.
double nearby_share(double ranks);

/// The memory that a process needs for a coupling, bytes.
/// @param compartments of all coupled cells @param local those on the process @param ranks number of processes
double coupling_bytes(const network::OutsideField& field, double compartments, double local, double ranks);

}  // namespace ranvier::engine
