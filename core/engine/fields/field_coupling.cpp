#include "engine/fields/field_coupling.hpp"

#include <algorithm>
#include <array>
#include <numbers>
#include <optional>
#include <string>

#include "engine/agreement.hpp"
#include "engine/shard/group_creation.hpp"
#include "fmm/near_field.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/engine/gather.hpp"
#include "ranvier/fmm/accuracy.hpp"

namespace ranvier::engine {

namespace {

/// Index of a variable of compartments: see NeuronInfo::compartment_variables.
std::size_t current_variable(const models::NeuronModel& model) {
    const auto found = std::ranges::find(model.compartment_variables, "I_m", &models::VariableInfo::name);
    if (found == model.compartment_variables.end()) throw InternalError("coupled cells without membrane currents");
    return static_cast<std::size_t>(found - model.compartment_variables.begin());
}

fmm::Point middle_of(const fmm::LinePiece& line) { return 0.5 * (line.begin + line.end); }

/// Bytes of the solver for each compartment: near pairs, which processes divide. Their numbers were measured with cells of 13
/// and 71 compartments, packed and apart.
double pair_bytes(double accuracy) {
    constexpr double near_targets = 9.0;  // at most, relative to the capacity of leaves
    const fmm::SolverOptions options = fmm::choose_options(accuracy, 1, 1, false);
    const double number = options.precision == fmm::Precision::float32 ? sizeof(float) : sizeof(double);
    return near_targets * options.capacity * number;
}

/// Bytes of a line, which processes have near their parts, too, and of the boxes of the tree, which all processes have.
constexpr double line_bytes = 600.0;
constexpr double box_bytes = 10.0;

}  // namespace

double nearby_share(double ranks) { return std::min(1.0, 2.0 / ranks); }

double coupling_bytes(const network::OutsideField& field, double compartments, double local, double ranks) {
    if (field.accuracy > 0.0) {
        const double of_one = pair_bytes(field.accuracy) / ranks + nearby_share(ranks) * line_bytes + box_bytes;
        return compartments * of_one + 2.0 * local * sizeof(double);
    }
    return (compartments + 2.0 * local + compartments * local) * sizeof(double);
}

FieldCoupling::FieldCoupling(const Arguments& arguments, std::span<const fmm::LinePiece> lines)
    : team_(arguments.team),
      communicator_(arguments.communicator),
      interval_(arguments.network.outside_fields()[arguments.field].steps),
      cells_(arguments.shards.size()),
      local_currents_(arguments.memory),
      potentials_(arguments.memory),
      currents_(arguments.memory),
      matrix_(arguments.memory),
      group_(arguments.communicator) {
    const network::OutsideField& field = arguments.network.outside_fields()[arguments.field];
    find_cells(arguments);
    const bool is_expanded = field.accuracy > 0.0;
    agree(communicator_, "lines of coupled cells", [&] {
        const std::size_t expected = is_expanded ? locals_ : compartments_;
        if (lines.size() == expected) return;
        throw ShapeError({.object = "lines of coupled cells",
                          .value = std::to_string(lines.size()),
                          .bound = "there must be " + std::to_string(expected),
                          .remedy = is_expanded ? "give one for each compartment of the cells of this process"
                                                : "give one for each compartment of all cells"});
    });
    // pA / (S/m um) is 1e-6 V.
    factor_ = 1e-3 / (4.0 * std::numbers::pi * field.sigma);
    local_currents_.resize(locals_);
    potentials_.resize((locals_ + block - 1) / block * block);
    if (is_expanded) {
        make_solver(field.accuracy, lines, arguments.poll);
        return;
    }
    places_ = gather_everywhere(communicator_, numbers_);
    currents_.resize(compartments_);
    fill_matrix(lines, factor_, arguments.poll);
}

void FieldCoupling::make_solver(double accuracy, std::span<const fmm::LinePiece> lines, const Poll& poll) {
    std::vector<fmm::Point> targets;
    targets.reserve(lines.size());
    for (const fmm::LinePiece& line : lines) targets.push_back(middle_of(line));
    const fmm::Portion given{
        .pieces = lines, .piece_numbers = numbers_, .targets = targets, .target_numbers = numbers_};
    fmm::SolverOptions options = fmm::fit_options(accuracy, given, team_, 64, group_);
    options.keeps_near = true;
    const auto check_interrupts = [&] {
        if (poll) poll();
    };
    check_interrupts();
    solver_ = std::make_unique<fmm::Solver>(given, options, team_, group_);
    check_interrupts();
    fmm::check_accuracy(accuracy, *solver_, given, std::nullopt, 64, group_);
}

void FieldCoupling::find_cells(const Arguments& arguments) {
    const network::Network& network = arguments.network;
    const IdSequence& all = network.outside_fields()[arguments.field].cells;
    const std::vector<std::size_t> first = network.first_compartments(all);
    for (std::size_t shard = 0; shard < arguments.shards.size(); ++shard) {
        for (const PopulationId id : network.populations_of(all)) {
            const network::Population& population = network.population(id);
            const std::vector<std::size_t> fields = fields_of(network, population);
            const auto field = std::ranges::find(fields, arguments.field);
            const IdSequence& ids = arguments.shards[shard]->layout().share(id).ids;
            const IdSequence cells = ids.among(all);
            for (std::uint64_t i = 0; i < cells.size(); ++i) {
                const std::size_t cell = all.count_below(cells[i]);
                cells_[shard].push_back({.group = &arguments.shards[shard]->groups()[id],
                                         .field = static_cast<std::size_t>(field - fields.begin()),
                                         .variable = current_variable(*population.model),
                                         .neuron = static_cast<std::uint32_t>(ids.count_below(cells[i])),
                                         .first = first[cell],
                                         .count = first[cell + 1] - first[cell]});
            }
        }
    }
    compartments_ = first.back();
    std::vector<Cell*> ordered;
    for (std::vector<Cell>& of_shard : cells_) {
        for (Cell& cell : of_shard) ordered.push_back(&cell);
    }
    std::ranges::sort(ordered, {}, &Cell::first);
    for (Cell* const cell : ordered) {
        cell->local = numbers_.size();
        for (std::size_t i = 0; i < cell->count; ++i) numbers_.push_back(static_cast<std::uint32_t>(cell->first + i));
    }
    locals_ = numbers_.size();
}

void FieldCoupling::fill_matrix(std::span<const fmm::LinePiece> lines, double factor, const Poll& poll) {
    std::vector<fmm::Point> targets;
    targets.reserve(locals_);
    for (const std::uint32_t number : numbers_) targets.push_back(middle_of(lines[number]));
    std::vector<fmm::NearSource<double>> sources;
    sources.reserve(lines.size());
    for (const fmm::LinePiece& line : lines) sources.push_back(fmm::near_source(line));
    const std::size_t blocks = (locals_ + block - 1) / block;
    matrix_.assign(blocks * block * lines.size(), 0.0);
    const auto fill = [&](std::uint32_t number) {
        if (team_.stop_requested()) return;
        double* weights = matrix_.data() + number * lines.size() * block;
        const auto some = std::span(targets).subspan(number * block, std::min(block, locals_ - number * block));
        for (const fmm::NearSource<double>& near : sources) {
            for (std::size_t i = 0; i < some.size(); ++i) {
                weights[i] = factor * fmm::line_potential<false>(near, some[i].x, some[i].y, some[i].z).potential;
            }
            weights += block;
        }
    };
    run(blocks, fill, poll);
}

void FieldCoupling::run(std::size_t count, const std::function<void(std::uint32_t)>& job, const Poll& poll) const {
    team_.run([&](std::uint32_t worker) { team_.for_assigned_items(worker, static_cast<std::uint32_t>(count), job); },
              poll);
}

bool FieldCoupling::is_due(Step now) {
    if (set_after_ == unknown) {
        // After a state was loaded, its cells have the step; they may all be on other processes.
        Step last = -1;
        for (const std::vector<Cell>& of_shard : cells_) {
            for (const Cell& cell : of_shard) {
                last = std::max(last, cell.group->neurons->outside()->potentials_set(cell.field, cell.neuron));
            }
        }
        set_after_ = static_cast<Step>(communicator_.greatest(static_cast<std::uint64_t>(last + 1))) - 1;
    }
    return now % interval_ == 0 && now != set_after_;
}

void FieldCoupling::read_currents() {
    run(cells_.size(), [&](std::uint32_t shard) {
        for (const Cell& cell : cells_[shard]) {
            cell.group->neurons->compartments()->read_compartments(cell.variable, cell.neuron,
                                                                   local_currents_.data() + cell.local);
        }
    });
}

void FieldCoupling::gather_currents() {
    const std::vector<double> all =
        gather_everywhere(communicator_, std::vector<double>(local_currents_.begin(), local_currents_.end()));
    for (std::size_t i = 0; i < places_.size(); ++i) currents_[places_[i]] = all[i];
}

/// The sources of each target are added in their order, so that potentials have the same bits on any processes.
void FieldCoupling::sum_directly() {
    const std::size_t sources = currents_.size();
    const auto sum = [&](std::uint32_t number) {
        std::array<double, block> sums{};
        const double* weights = matrix_.data() + number * sources * block;
        for (std::size_t source = 0; source < sources; ++source, weights += block) {
            for (std::size_t i = 0; i < block; ++i) sums[i] += currents_[source] * weights[i];
        }
        std::ranges::copy(sums, potentials_.begin() + static_cast<std::ptrdiff_t>(number * block));
    };
    run(potentials_.size() / block, sum);
}

void FieldCoupling::act(Step now) {
    set_after_ = now;
    read_currents();
    if (solver_) {
        const std::span<double> potentials = std::span(potentials_).first(locals_);
        solver_->evaluate(local_currents_, 1, potentials);
        for (double& potential : potentials) potential *= factor_;
    } else {
        gather_currents();
        sum_directly();
    }
    run(cells_.size(), [&](std::uint32_t shard) {
        for (const Cell& cell : cells_[shard]) {
            cell.group->neurons->outside()->set_potentials(cell.field, cell.neuron,
                                                           std::span(potentials_).subspan(cell.local, cell.count), now);
        }
    });
}

}  // namespace ranvier::engine
