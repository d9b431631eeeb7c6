#include "ranvier/fmm/solver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "fmm/checks.hpp"
#include "fmm/exchanges.hpp"
#include "fmm/group.hpp"
#include "fmm/operation_counts.hpp"
#include "fmm/operators.hpp"
#include "fmm/part_lines.hpp"
#include "fmm/tree.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/tasks/division.hpp"
#include "ranvier/parallel/tasks/tasks.hpp"

namespace ranvier::fmm {

namespace {

using parallel::Event;
using parallel::EventKind;
using parallel::Home;
using parallel::TaskContext;
using parallel::Tasks;
using parallel::TaskType;

/// Sources whose coordinates are converted at once.
constexpr std::size_t sources_at_once = 64;

bool are_all_points(std::span<const LinePiece> pieces, SolverGroup& group) {
    std::array<std::uint64_t, 1> has_lines{std::ranges::all_of(pieces, is_point) ? 0U : 1U};
    group.find_greatest(has_lines);
    return has_lines[0] == 0;
}

}  // namespace

class Solver::Implementation {
   public:
    virtual ~Implementation() = default;
    virtual void evaluate(std::span<const double> strengths, std::size_t samples, std::span<double> potentials,
                          std::span<double> gradients) = 0;
    virtual Tasks& tasks() = 0;
    void check_sizes(std::size_t strengths, std::size_t samples, std::size_t potentials, std::size_t gradients) const {
        check_size("strengths", strengths, expected_pieces * samples);
        check_size("potentials", potentials, expected_targets * samples);
        if (gradients == 0) return;
        if (!offers_gradients) {
            throw StateError({.object = "gradients of the fast multipole method",
                              .value = std::to_string(gradients) + " numbers",
                              .bound = "the solver was made without them",
                              .remedy = "set has_gradient in its options"});
        }
        check_size("gradients", gradients, 3 * expected_targets * samples);
    }

    virtual std::optional<std::pair<std::size_t, std::size_t>> find_inside(std::span<const Point> targets) const = 0;

    std::size_t expected_pieces = 0;
    std::size_t expected_targets = 0;
    bool offers_gradients = false;
    SolverCounts counts;

   private:
    static void check_size(std::string_view name, std::size_t size, std::size_t expected) {
        if (size == expected) return;
        throw ShapeError({.object = std::string(name) + " of the fast multipole method",
                          .value = std::to_string(size) + " numbers",
                          .bound = "there must be " + std::to_string(expected),
                          .remedy = "pass one number for each source or target and each sample"});
    }
};

template <class Real>
class Solver::Typed final : public Solver::Implementation {
   public:
    Typed(const Portion& given, const SolverOptions& options, parallel::Team& team, SolverGroup& group)
        : group_(&group),
          all_pieces_(with_images(given.pieces, options.plane)),
          piece_count_(given.pieces.size()),
          has_gradient_(options.has_gradient),
          are_points_(are_all_points(given.pieces, group)),
          operators_(options.order, options.translation, options.instruction_set.value_or(detect_instruction_set())),
          tree_(all_pieces_, given.targets, {.capacity = options.capacity, .depth = options.depth}, group),
          lists_(tree_, operators_.min_sources(are_points_, options.keeps_near),
                 operators_.min_targets(are_points_, options.keeps_near)),
          team_(&team),
          tasks_(team) {
        const std::span<const Box> boxes = tree_.boxes();
        for (const Box& box : boxes) {
            if (box.is_leaf()) most_parts_ = std::max(most_parts_, box.sources);
        }
        const double image = options.plane ? options.plane->image : 0.0;
        parts_.reserve(tree_.parts().size());
        for (const SourcePart& part : tree_.parts()) {
            const bool is_image = part.piece >= piece_count_;
            const auto number = static_cast<std::uint32_t>(is_image ? part.piece - piece_count_ : part.piece);
            parts_.push_back(part_of(all_pieces_[part.piece], part, number, is_image ? image : 1.0));
            parts_.back().is_image = is_image;
        }
        all_pieces_ = {};
        tree_.release_parts();
        std::vector<std::uint64_t> costs(boxes.size());
        for (std::uint32_t box = 0; box < boxes.size(); ++box) costs[box] = cost(box);
        shares_ = std::make_unique<LeafShares>(tree_, costs, group);
        std::span<const Point> targets = given.targets;
        if (group.size() > 1) {
            exchanges_ = std::make_unique<Exchanges>(
                group, tree_, lists_, *shares_,
                GivenParts{parts_, given.piece_numbers, given.targets, given.target_numbers});
            parts_ = exchanges_->take_parts();
            targets = exchanges_->targets();
            lists_.keep(shares_->active());
        }
        near_sources_.resize(parts_.size());
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
            const double inverse_side = 1.0 / tree_.side(boxes[box].level);
            for (std::size_t part = tree_.parts_begin(box); part < tree_.parts_end(box); ++part) {
                near_sources_[part] = near_source<Real>(parts_[part], boxes[box].centre, inverse_side);
            }
        }
        arrange_targets(targets);
        place_expansions();
        make_tasks(homes(costs));
        if (options.keeps_near) {
            keep_near();
            keep_moments();
        }
        count();
    }

    void evaluate(std::span<const double> strengths, std::size_t samples, std::span<double> potentials,
                  std::span<double> gradients) override {
        const std::size_t rounded = samples == 1 ? 1 : (samples + sample_lanes - 1) / sample_lanes * sample_lanes;
        prepare(samples, rounded);
        find_grids(strengths);
        strengths_ = exchanges_ ? exchanges_->spread(strengths, samples).data() : strengths.data();
        if (kept_.empty()) {
            divide_work(parts_.size(), [&](std::size_t begin, std::size_t end) {
                copy_strengths(begin, end, near_strengths_.data() + begin * rounded_);
            });
        } else {
            for (std::size_t t = 0; t < samples; ++t) {
                for (std::size_t i = 0; i < held_pieces(); ++i) {
                    piece_strengths_[t * held_pieces() + i] = static_cast<Real>(strengths_[i * samples + t]);
                }
            }
        }
        tasks_.signal(*start_);
        tasks_.run();
        if (!exchanges_) return collect(potentials, gradients);
        exchange_moments();
        tasks_.signal(*moments_known_);
        tasks_.run();
        held_potentials_.resize(tree_.targets().size() * samples);
        held_gradients_.resize(has_gradient_ ? 3 * held_potentials_.size() : 0);
        collect(held_potentials_, held_gradients_);
        exchanges_->give_back(held_potentials_, samples, potentials);
        // Also where this member needs none, or has no targets.
        if (has_gradient_) exchanges_->give_back(held_gradients_, 3 * samples, gradients);
    }

    std::optional<std::pair<std::size_t, std::size_t>> find_inside(std::span<const Point> targets) const override {
        const std::span<const Point> places = exchanges_ ? exchanges_->targets() : targets;
        std::optional<std::pair<std::size_t, std::size_t>> first;
        for (std::uint32_t box = 0; box < tree_.boxes().size(); ++box) {
            for (std::size_t i = tree_.targets_begin(box); i < tree_.targets_end(box); ++i) {
                const std::size_t index = tree_.targets()[i];
                const std::size_t target = exchanges_ ? exchanges_->target_numbers()[index] : index;
                if (first && target >= first->first) continue;
                // Boxes are wider than pieces, so a target within one is in a leaf next to that of a part of it.
                for (const std::uint32_t near : lists_.near().row(box)) {
                    for (std::size_t part = tree_.parts_begin(near); part < tree_.parts_end(near); ++part) {
                        if (parts_[part].is_image || !is_inside(places[index], parts_[part])) continue;
                        const std::size_t piece = piece_number(parts_[part].piece);
                        if (!first || target < first->first || piece < first->second) first.emplace(target, piece);
                    }
                }
            }
        }
        return least_of_all(first);
    }

    Tasks& tasks() override { return tasks_; }

   private:
    struct BoxTask {
        std::uint32_t box;
    };
    using BoxType = TaskType<BoxTask>;

    // ---- arrangement ----

    /// Line pieces whose strengths this member has: those that it was given, if it is alone.
    std::size_t held_pieces() const { return exchanges_ ? exchanges_->piece_numbers().size() : piece_count_; }
    std::size_t piece_number(std::size_t piece) const {
        return exchanges_ ? exchanges_->piece_numbers()[piece] : piece;
    }

    /// Of pairs that members have found.
    std::optional<std::pair<std::size_t, std::size_t>> least_of_all(
        std::optional<std::pair<std::size_t, std::size_t>> pair) const {
        if (!exchanges_) return pair;
        constexpr std::uint64_t low = ~std::uint32_t{0};
        std::array<std::uint64_t, 1> least{pair ? ~(pair->first << 32U | pair->second) : 0};
        group_->find_greatest(least);
        if (least[0] == 0) return std::nullopt;
        return std::pair<std::size_t, std::size_t>(~least[0] >> 32U, ~least[0] & low);
    }

    bool is_active(std::uint32_t box) const { return shares_->active()[box] != 0; }
    /// Targets of a leaf that are to be computed.
    std::size_t own_count(std::uint32_t box) const { return tree_.targets_end(box) - tree_.targets_begin(box); }
    std::size_t own_begin(std::uint32_t box) const { return tree_.targets_begin(box); }

    void arrange_targets(std::span<const Point> targets) {
        const std::span<const Box> boxes = tree_.boxes();
        block_begin_.resize(boxes.size());
        std::size_t blocks = 0;
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
            block_begin_[box] = blocks;
            blocks += (own_count(box) + point_lanes - 1) / point_lanes;
        }
        blocks_.resize(blocks * 3 * point_lanes);
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
            const std::size_t begin = tree_.targets_begin(box);
            const std::size_t size = own_count(box);
            const double inverse_side = 1.0 / tree_.side(boxes[box].level);
            for (std::size_t i = 0; i < (size + point_lanes - 1) / point_lanes * point_lanes; ++i) {
                // Lanes without a target have the last one.
                const Point& target = targets[tree_.targets()[begin + std::min(i, size - 1)]];
                const Point place = inverse_side * (target - boxes[box].centre);
                Real* const block = blocks_.data() + (block_begin_[box] + i / point_lanes) * 3 * point_lanes;
                block[i % point_lanes] = static_cast<Real>(place.x);
                block[point_lanes + i % point_lanes] = static_cast<Real>(place.y);
                block[2 * point_lanes + i % point_lanes] = static_cast<Real>(place.z);
            }
        }
    }

    bool moves_down(std::uint32_t box) const { return has_local_[box] != 0; }
    /// Whether its moments are used, and computed here.
    bool computes_moments(std::uint32_t box) const {
        return tree_.boxes()[box].level >= 2 && tree_.boxes()[box].sources > 0 && shares_->is_own(box);
    }

    void place_expansions() {
        const std::span<const Box> boxes = tree_.boxes();
        local_places_.assign(boxes.size(), nowhere);
        multipole_places_.assign(boxes.size(), nowhere);
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
            if (is_active(box)) local_places_[box] = local_count_++;
            if (computes_moments(box)) multipole_places_[box] = multipole_count_++;
        }
        if (!exchanges_) return;
        std::vector<char> is_needed(boxes.size(), 0);
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
            for (const std::uint32_t source : lists_.same_level().row(box)) is_needed[source] = 1;
            for (const std::uint32_t source : lists_.smaller().row(box)) is_needed[source] = 1;
        }
        // Children come after their parents.
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
            if (is_needed[box] == 0 || !shares_->is_shared(box)) continue;
            shared_.push_back(box);
            for (std::uint32_t child = 0; child < boxes[box].children; ++child) {
                if (boxes[boxes[box].first_child + child].sources > 0) is_needed[boxes[box].first_child + child] = 1;
            }
        }
        exchanges_->request_boxes(tree_, *shares_, is_needed);
        for (const std::uint32_t box : exchanges_->received_boxes().items) multipole_places_[box] = multipole_count_++;
        for (const std::uint32_t box : shared_) multipole_places_[box] = multipole_count_++;
        std::ranges::reverse(shared_);
    }

    struct TaskTypes {
        BoxType p2m;
        BoxType m2m;
        BoxType m2l;
        BoxType l2l;
        BoxType l2p;
        BoxType p2p;
    };

    TaskTypes add_types() {
        const auto p2m = tasks_.add_type<BoxTask>(
            "P2M",
            [this](TaskContext& context, const BoxTask& task) {
                sources_to_multipole(task.box);
                signal_parent(context, task.box);
            },
            2);
        const auto m2m = tasks_.add_type<BoxTask>(
            "M2M",
            [this](TaskContext& context, const BoxTask& task) {
                for (const std::uint32_t event : waiting_.row(task.box)) context.signal(*events_[event]);
                multipoles_to_multipole(task.box);
                signal_parent(context, task.box);
            },
            2);
        const auto m2l = tasks_.add_type<BoxTask>(
            "M2L",
            [this](TaskContext& context, const BoxTask& task) {
                multipoles_to_local(task.box);
                context.signal(*local_ready_[task.box]);
            },
            1);
        const auto l2l = tasks_.add_type<BoxTask>(
            "L2L",
            [this](TaskContext& context, const BoxTask& task) {
                local_to_local(task.box);
                const Box& box = tree_.boxes()[task.box];
                for (std::uint32_t child = 0; child < box.children; ++child) {
                    if (local_ready_[box.first_child + child] != nullptr)
                        context.signal(*local_ready_[box.first_child + child]);
                }
                if (box.is_leaf()) context.signal(*targets_ready_[task.box]);
            },
            1);
        const auto l2p = tasks_.add_type<BoxTask>(
            "L2P", [this](TaskContext&, const BoxTask& task) { expansions_to_targets(task.box); }, 1);
        const auto p2p = tasks_.add_type<BoxTask>(
            "P2P", [this](TaskContext&, const BoxTask& task) { sources_to_targets(task.box); }, 0);
        return {p2m, m2m, m2l, l2l, l2p, p2p};
    }

    Event& make_event(std::uint64_t signals) {
        ++event_count_;
        return tasks_.make_event(signals, EventKind::repeating);
    }
    void repeat(Event& event, BoxType type, std::uint32_t box, Home home) {
        ++task_count_;
        tasks_.repeat_after(event, type, {box}, home);
    }

    /// Events that wait for the children of boxes.
    struct Waiting {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  ///< the box, and the number of the event
        /// The last task that was found to wait for a box.
        std::vector<std::uint64_t> last;
        std::uint64_t tasks = 0;
    };

    void make_tasks(std::span<const Home> home) {
        const std::size_t count = tree_.boxes().size();
        const TaskTypes types = add_types();
        start_ = &make_event(1);
        // With other members, their moments have to be there before anything else begins.
        moments_known_ = exchanges_ ? &make_event(1) : start_;
        children_done_.assign(count, nullptr);
        local_ready_.assign(count, nullptr);
        targets_ready_.assign(count, nullptr);
        has_local_.assign(count, 0);
        for (std::uint32_t box = 0; box < count; ++box) make_upward_tasks(types, box, home[box]);
        Waiting waiting;
        waiting.last.assign(count, 0);
        for (std::uint32_t box = 0; box < count; ++box) {
            if (is_active(box)) make_downward_tasks(types, box, home[box], waiting);
        }
        waiting_.begin.assign(count + 1, 0);
        for (const auto& [parent, event] : waiting.pairs) ++waiting_.begin[parent + 1];
        for (std::size_t box = 0; box < count; ++box) waiting_.begin[box + 1] += waiting_.begin[box];
        waiting_.boxes.resize(waiting.pairs.size());
        std::vector<std::uint64_t> next(waiting_.begin.begin(), waiting_.begin.end() - 1);
        for (const auto& [parent, event] : waiting.pairs) waiting_.boxes[next[parent]++] = event;
    }

    void make_upward_tasks(const TaskTypes& types, std::uint32_t number, Home home) {
        const Box& box = tree_.boxes()[number];
        if (box.sources == 0 || !shares_->is_own(number)) return;
        if (box.is_leaf()) return repeat(*start_, types.p2m, number, home);
        std::uint64_t children = 0;
        for (std::uint32_t child = 0; child < box.children; ++child) {
            if (tree_.boxes()[box.first_child + child].sources > 0) ++children;
        }
        children_done_[number] = &make_event(children);
        repeat(*children_done_[number], types.m2m, number, home);
    }

    void make_downward_tasks(const TaskTypes& types, std::uint32_t number, Home home, Waiting& waiting) {
        const Box& box = tree_.boxes()[number];
        const bool parent_has_local = box.parent != no_box && moves_down(box.parent);
        const bool has_sources = !lists_.same_level().row(number).empty() || !lists_.larger().row(number).empty();
        has_local_[number] = parent_has_local || has_sources ? 1 : 0;
        if (has_local_[number] != 0) {
            local_ready_[number] = &make_event((parent_has_local ? 1U : 0U) + (has_sources ? 1U : 0U));
            repeat(*local_ready_[number], types.l2l, number, home);
        }
        if (has_sources) {
            repeat(after_parents(lists_.same_level().row(number), 0, waiting), types.m2l, number, home);
        }
        if (!box.is_leaf()) return;
        repeat(*moments_known_, types.p2p, number, home);
        const std::span<const std::uint32_t> smaller = lists_.smaller().row(number);
        if (has_local_[number] == 0 && smaller.empty()) return;
        targets_ready_[number] = &after_parents(smaller, has_local_[number] != 0 ? 1 : 0, waiting);
        repeat(*targets_ready_[number], types.l2p, number, home);
    }

    /// The event after which the parents of boxes have the moments of their children, and some more signals have come.
    Event& after_parents(std::span<const std::uint32_t> sources, std::uint64_t signals, Waiting& waiting) {
        if (!exchanges_) {
            ++waiting.tasks;
            for (const std::uint32_t source : sources) {
                const std::uint32_t parent = tree_.boxes()[source].parent;
                if (waiting.last[parent] == waiting.tasks) continue;
                waiting.last[parent] = waiting.tasks;
                waiting.pairs.emplace_back(parent, static_cast<std::uint32_t>(events_.size()));
                ++signals;
            }
        }
        if (signals == 0) return *moments_known_;
        events_.push_back(&make_event(signals));
        return *events_.back();
    }

    /// Boxes are divided among the NUMA nodes of the team by their cost, in whole subtrees.
    std::vector<Home> homes(const std::vector<std::uint64_t>& costs) const {
        std::vector<std::uint32_t> nodes;
        std::vector<std::uint64_t> shares;
        for (std::uint32_t worker = 0; worker < team_->size(); ++worker) {
            const auto found = std::find(nodes.begin(), nodes.end(), team_->node_of(worker));
            if (found == nodes.end()) {
                nodes.push_back(team_->node_of(worker));
                shares.push_back(1);
            } else {
                ++shares[static_cast<std::size_t>(found - nodes.begin())];
            }
        }
        const std::span<const Box> boxes = tree_.boxes();
        std::vector<Home> home(boxes.size(), Home::node(nodes[0]));
        if (nodes.size() == 1) return std::vector<Home>(boxes.size());
        std::vector<std::uint32_t> parents(boxes.size());
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
            parents[box] = boxes[box].parent == no_box ? parallel::no_parent : boxes[box].parent;
        }
        const auto parts = parallel::divide_tree_by_cost(parents, costs, shares);
        for (std::uint32_t box = 0; box < boxes.size(); ++box) home[box] = Home::node(nodes[parts[box]]);
        return home;
    }

    /// In units of some nanoseconds: of all members.
    std::uint64_t cost(std::uint32_t box) const {
        const std::span<const Box> boxes = tree_.boxes();
        const bool is_leaf = boxes[box].is_leaf();
        const std::uint64_t targets = is_leaf ? boxes[box].targets : 0;
        std::uint64_t sources = 0;
        for (const std::uint32_t near : lists_.near().row(box)) sources += boxes[near].sources;
        const std::uint64_t expansion = operators_.count() * operators_.count() / 8 + 1;
        return targets * sources + lists_.same_level().row(box).size() * expansion +
               ((is_leaf ? boxes[box].sources : 0) + targets) * operators_.count();
    }

    void count() {
        const std::span<const Box> boxes = tree_.boxes();
        counts.boxes = boxes.size();
        counts.depth = tree_.depth();
        counts.pieces = held_pieces();
        counts.source_parts = parts_.size();
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
            counts.leaves += boxes[box].is_leaf() ? 1 : 0;
            if (!is_active(box)) continue;
            const std::uint64_t targets = tree_.targets_end(box) - tree_.targets_begin(box);
            for (const std::uint32_t near : lists_.near().row(box)) {
                counts.near_pairs += targets * (tree_.parts_end(near) - tree_.parts_begin(near));
            }
            for (const std::uint32_t larger : lists_.larger().row(box)) {
                counts.source_locals += tree_.parts_end(larger) - tree_.parts_begin(larger);
            }
            counts.translations += lists_.same_level().row(box).size();
            counts.multipole_targets += targets * lists_.smaller().row(box).size();
        }
        counts.tasks = task_count_;
        count_operations();
        count_bytes();
    }

    void count_operations() {
        const OperationCounts one({.order = operators_.order(),
                                   .translation = operators_.translation(),
                                   .precision = std::is_same_v<Real, float> ? Precision::float32 : Precision::float64,
                                   .are_points = are_points_,
                                   .has_gradient = has_gradient_,
                                   .nodes = are_points_ ? 1 : operators_.nodes()});
        const std::uint64_t local_terms = has_gradient_ ? 2 * operators_.local_gradient_terms() : 0;
        const std::uint64_t multipole_terms = has_gradient_ ? 2 * operators_.multipole_gradient_terms() : 0;
        std::uint64_t& sum = counts.operations;
        sum = counts.near_pairs * one.pair() + counts.translations * one.translation() +
              counts.multipole_targets * one.multipole_to_target() + counts.source_locals * one.source_to_local() +
              parts_.size() + tree_.targets().size() * one.sum();
        const std::span<const Box> boxes = tree_.boxes();
        for (std::uint32_t number = 0; number < boxes.size(); ++number) {
            const Box& box = boxes[number];
            const std::uint64_t targets = tree_.targets_end(number) - tree_.targets_begin(number);
            const std::uint64_t parts = tree_.parts_end(number) - tree_.parts_begin(number);
            if (computes_moments(number)) {
                sum += parts * one.source_to_multipole();
                if (box.level > 2) sum += one.shift();
            }
            if (!is_active(number)) continue;
            if (box.parent != no_box && moves_down(box.parent) && box.targets > 0) sum += one.shift();
            if (box.is_leaf() && moves_down(number)) sum += targets * one.local_to_target() + local_terms;
            sum += lists_.smaller().row(number).size() * multipole_terms;
            std::uint32_t octants = 0;
            for (const std::uint32_t source : lists_.same_level().row(number)) {
                octants |= 1U << octant_between(box, boxes[source]);
            }
            sum += static_cast<std::uint64_t>(std::popcount(octants)) * one.octant();
            for (const std::uint32_t near : lists_.near().row(number)) {
                const std::uint64_t sources = tree_.parts_end(near) - tree_.parts_begin(near);
                if (boxes[near].level == box.level) {
                    sum += targets * one.near_sum();
                } else {
                    sum += sources * one.near_source();
                    sum += (sources + sources_at_once - 1) / sources_at_once * targets * one.near_sum();
                }
            }
            for (const std::uint32_t source : lists_.larger().row(number)) {
                for (std::size_t part = tree_.parts_begin(source); part < tree_.parts_end(source); ++part) {
                    SourceGeometry geometry;
                    copy_geometry(part, part + 1, box.centre, tree_.side(box.level), &geometry);
                    sum += local_steps(geometry) * one.local_step();
                }
            }
        }
    }

    void count_bytes() {
        const std::size_t numbers_of_target = has_gradient_ ? 8 : 2;
        const std::size_t expansions = (multipole_count_ + local_count_) * operators_.stride() + parts_.size();
        counts.sample_bytes = expansions * sizeof(Real) + numbers_of_target * tree_.targets().size() * sizeof(double);
        if (exchanges_) counts.sample_bytes += exchanges_->sample_bytes() + moments_buffer_size() * sizeof(Real);
        counts.bytes = counts.sample_bytes + tree_.bytes() + lists_.bytes() + operators_.bytes() + waiting_.bytes() +
                       parts_.capacity() * sizeof(PartLine) + near_sources_.size() * sizeof(NearSource<Real>) +
                       blocks_.size() * sizeof(Real) + block_begin_.size() * sizeof(std::size_t) +
                       task_count_ * (sizeof(parallel::TaskRecord) + sizeof(parallel::Waiter)) +
                       event_count_ * sizeof(Event) +
                       (children_done_.size() + local_ready_.size() + targets_ready_.size() + events_.capacity()) *
                           sizeof(Event*) +
                       has_local_.size() + (multipole_places_.size() + local_places_.size()) * sizeof(std::uint32_t) +
                       (exchanges_ ? exchanges_->bytes() : 0);
        for (const KeptNear& kept : kept_) {
            counts.bytes += kept.pieces.size() * sizeof(std::uint32_t) + kept.potentials.size() * sizeof(Real);
        }
        counts.bytes += kept_moments_.size() * sizeof(Real) + kept_moments_begin_.size() * sizeof(std::size_t);
    }

    // ---- an evaluation ----

    void prepare(std::size_t samples, std::size_t rounded) {
        samples_ = samples;
        if (rounded == rounded_) return;
        rounded_ = rounded;
        multipoles_.assign(multipole_count_ * operators_.stride() * rounded, Real{0});
        locals_.assign(local_count_ * operators_.stride() * rounded, Real{0});
        if (kept_.empty()) {
            near_strengths_.assign(parts_.size() * rounded, Real{0});
        } else {
            piece_strengths_.assign(held_pieces() * rounded, Real{0});
        }
        near_.assign(tree_.targets().size() * rounded, 0.0);
        far_.assign(tree_.targets().size() * rounded, 0.0);
        if (!has_gradient_) return;
        near_gradient_.assign(tree_.targets().size() * rounded * 3, 0.0);
        far_gradient_.assign(tree_.targets().size() * rounded * 3, 0.0);
    }

    /// Grids depend on the largest strength, not on the order of a sum.
    void find_grids(std::span<const double> strengths) {
        largest_.assign(rounded_, 0.0);
        for (std::size_t i = 0; i < piece_count_; ++i) {
            for (std::size_t t = 0; t < samples_; ++t) {
                largest_[t] = std::max(largest_[t], std::abs(strengths[i * samples_ + t]));
            }
        }
        fmm::find_greatest(*group_, largest_);
        grids_.resize(rounded_);
        for (std::size_t t = 0; t < rounded_; ++t) grids_[t] = grid_for(largest_[t], most_parts_);
    }

    Real* multipole(std::uint32_t box) {
        return multipoles_.data() + std::size_t{multipole_places_[box]} * operators_.stride() * rounded_;
    }
    Real* local(std::uint32_t box) {
        return locals_.data() + std::size_t{local_places_[box]} * operators_.stride() * rounded_;
    }

    /// Numbers of one sample that go to other members.
    std::size_t moments_buffer_size() const { return exchanges_->sent_boxes().items.size() * operators_.stride(); }

    /// Gets the moments of other members that boxes of this one need. Those of boxes that are shared follow from them on
    /// each member: there are few.
    void exchange_moments() {
        const std::size_t size = operators_.stride() * rounded_;
        moments_buffer_.resize(moments_buffer_size() * rounded_);
        Real* next = moments_buffer_.data();
        for (const std::uint32_t box : exchanges_->sent_boxes().items) {
            next = std::copy_n(multipole(box), size, next);
        }
        const ByMember<std::uint32_t>& received = exchanges_->received_boxes();
        const std::size_t first = multipole_count_ - shared_.size() - received.items.size();
        group_->exchange(
            std::as_bytes(std::span(moments_buffer_)), exchanges_->sent_boxes().bytes(size * sizeof(Real)),
            std::as_writable_bytes(std::span(multipoles_).subspan(first * size, received.items.size() * size)),
            received.bytes(size * sizeof(Real)));
        for (const std::uint32_t box : shared_) multipoles_to_multipole(box);
    }

    /// Strengths of some parts, padded with zeros in samples.
    template <class Number>
    void copy_strengths(std::size_t begin, std::size_t end, Number* to) const {
        for (std::size_t part = begin; part < end; ++part) {
            const double* const from = strengths_ + parts_[part].piece * samples_;
            const double share = parts_[part].share;
            Number* const row = to + (part - begin) * rounded_;
            for (std::size_t t = 0; t < samples_; ++t) row[t] = static_cast<Number>(share * from[t]);
            for (std::size_t t = samples_; t < rounded_; ++t) row[t] = Number{0};
        }
    }
    /// Parts about a centre in units of a side.
    void copy_geometry(std::size_t begin, std::size_t end, const Point& centre, double side, SourceGeometry* to) const {
        const double inverse = 1.0 / side;
        for (std::size_t part = begin; part < end; ++part) {
            const PartLine& line = parts_[part];
            const Point place = inverse * (line.begin - centre);
            to[part - begin] = {place, place + (inverse * line.length) * line.along};
        }
    }

    void signal_parent(TaskContext& context, std::uint32_t box) {
        const std::uint32_t parent = tree_.boxes()[box].parent;
        if (parent != no_box && children_done_[parent] != nullptr) context.signal(*children_done_[parent]);
    }

    void sources_to_multipole(std::uint32_t number) {
        const Box& box = tree_.boxes()[number];
        if (box.level < 2) return;
        thread_local std::vector<double> sums;
        thread_local std::vector<double> strengths;
        if (!kept_moments_.empty()) return kept_to_multipole(number);
        sums.assign(operators_.count() * rounded_, 0.0);
        strengths.resize(sources_at_once * rounded_);
        std::array<SourceGeometry, sources_at_once> geometry;
        const std::size_t end = tree_.parts_end(number);
        for (std::size_t begin = tree_.parts_begin(number); begin < end; begin += sources_at_once) {
            const std::size_t stop = std::min(end, begin + sources_at_once);
            copy_geometry(begin, stop, box.centre, tree_.side(box.level), geometry.data());
            copy_strengths(begin, stop, strengths.data());
            operators_.sources_to_multipole(std::span(geometry).first(stop - begin), are_points_, strengths.data(),
                                            rounded_, grids_.data(), sums.data());
        }
        Real* const to = multipole(number);
        for (std::size_t k = 0; k < sums.size(); ++k) to[k] = static_cast<Real>(sums[k]);
    }

    void kept_to_multipole(std::uint32_t number) {
        const std::size_t stride = operators_.stride();
        const std::size_t begin = tree_.parts_begin(number);
        const std::size_t size = tree_.parts_end(number) - begin;
        thread_local std::vector<double> sums;
        thread_local std::vector<double> strengths;
        strengths.resize(size);
        Real* const to = multipole(number);
        for (std::size_t t = 0; t < samples_; ++t) {
            for (std::size_t i = 0; i < size; ++i) {
                const PartLine& part = parts_[begin + i];
                strengths[i] = part.share * strengths_[part.piece * samples_ + t];
            }
            sums.assign(stride, 0.0);
            operators_.kept_to_multipole(kept_moments_.data() + kept_moments_begin_[number], strengths, grids_[t],
                                         sums.data());
            for (std::size_t k = 0; k < operators_.count(); ++k) to[k * rounded_ + t] = static_cast<Real>(sums[k]);
        }
    }

    void multipoles_to_multipole(std::uint32_t number) {
        const std::span<const Box> boxes = tree_.boxes();
        const Box& box = boxes[number];
        if (box.level < 2) return;
        Real* const to = multipole(number);
        std::fill_n(to, operators_.stride() * rounded_, Real{0});
        for (std::uint32_t child = box.first_child; child < box.first_child + box.children; ++child) {
            if (boxes[child].sources == 0) continue;
            operators_.multipole_to_multipole(octant(boxes[child]), multipole(child), rounded_, to);
        }
    }

    /// From a source to a target of the same level.
    struct Offset {
        std::int64_t x;
        std::int64_t y;
        std::int64_t z;
    };
    static Offset offset_between(const Box& target, const Box& source) {
        return {static_cast<std::int64_t>(target.x) - source.x, static_cast<std::int64_t>(target.y) - source.y,
                static_cast<std::int64_t>(target.z) - source.z};
    }

    static std::uint32_t octant(const Box& box) { return (box.x & 1U) | (box.y & 1U) << 1U | (box.z & 1U) << 2U; }

    void multipoles_to_local(std::uint32_t number) {
        const std::span<const Box> boxes = tree_.boxes();
        const Box& box = boxes[number];
        Real* const to = local(number);
        std::fill_n(to, operators_.stride() * rounded_, Real{0});
        if (operators_.order() == 0 && rounded_ == 1) {
            // The scalar form: no arrays of coefficients.
            Real sum{0};
            for (const std::uint32_t source : lists_.same_level().row(number)) {
                const Offset offset = offset_between(box, boxes[source]);
                sum += operators_.factor(offset.x, offset.y, offset.z) * *multipole(source);
            }
            *to = sum;
        } else {
            thread_local std::vector<typename Operators<Real>::Neighbor> neighbors;
            neighbors.clear();
            for (const std::uint32_t source : lists_.same_level().row(number)) {
                const Offset offset = offset_between(box, boxes[source]);
                neighbors.push_back({multipole(source), static_cast<std::int8_t>(offset.x),
                                     static_cast<std::int8_t>(offset.y), static_cast<std::int8_t>(offset.z)});
            }
            operators_.multipole_to_local(neighbors, rounded_, to);
        }
        const double side = tree_.side(box.level);
        for (const std::uint32_t source : lists_.larger().row(number)) {
            std::array<SourceGeometry, sources_at_once> geometry;
            thread_local std::vector<double> strengths;
            strengths.resize(sources_at_once * rounded_);
            const std::size_t end = tree_.parts_end(source);
            for (std::size_t begin = tree_.parts_begin(source); begin < end; begin += sources_at_once) {
                const std::size_t stop = std::min(end, begin + sources_at_once);
                copy_geometry(begin, stop, box.centre, side, geometry.data());
                copy_strengths(begin, stop, strengths.data());
                operators_.sources_to_local(std::span(geometry).first(stop - begin), are_points_, strengths.data(),
                                            rounded_, to);
            }
        }
    }

    void local_to_local(std::uint32_t number) {
        const Box& box = tree_.boxes()[number];
        if (lists_.same_level().row(number).empty() && lists_.larger().row(number).empty()) {
            std::fill_n(local(number), operators_.stride() * rounded_, Real{0});
        }
        if (box.parent != no_box && moves_down(box.parent)) {
            operators_.local_to_local(octant(box), local(box.parent), rounded_, local(number));
        }
    }

    void expansions_to_targets(std::uint32_t number) {
        const std::span<const Box> boxes = tree_.boxes();
        const Box& box = boxes[number];
        const std::size_t count = own_count(number);
        const double scale = 1.0 / tree_.side(box.level);
        const Real* const targets = blocks_.data() + block_begin_[number] * 3 * point_lanes;
        double* const to = far_.data() + own_begin(number) * rounded_;
        double* const gradient = has_gradient_ ? far_gradient_.data() + own_begin(number) * rounded_ * 3 : nullptr;
        std::fill_n(to, count * rounded_, 0.0);
        if (gradient != nullptr) std::fill_n(gradient, count * rounded_ * 3, 0.0);
        if (moves_down(number))
            operators_.local_to_targets(local(number), targets, count, rounded_, scale, to, gradient);
        for (const std::uint32_t source : lists_.smaller().row(number)) {
            const Point centre = scale * (boxes[source].centre - box.centre);
            const double side = std::ldexp(1.0, static_cast<int>(box.level) - static_cast<int>(boxes[source].level));
            operators_.multipole_to_targets(multipole(source), centre, side, targets, count, rounded_, scale, to,
                                            gradient);
        }
    }

    /// The potentials of near pairs of a leaf, for strengths of 1. Parts of a piece are added.
    struct KeptNear {
        std::vector<std::uint32_t> pieces;
        AlignedVector<Real> potentials;  ///< [block of targets][piece][target], as they are read
    };

    void keep_near() {
        kept_.resize(tree_.boxes().size());
        for_boxes([&](std::uint32_t box) {
            if (tree_.boxes()[box].is_leaf() && own_count(box) > 0) keep_near(box);
        });
    }

    void keep_moments() {
        kept_moments_begin_.resize(tree_.boxes().size());
        std::size_t parts = 0;
        for (std::uint32_t box = 0; box < kept_moments_begin_.size(); ++box) {
            kept_moments_begin_[box] = parts * operators_.stride();
            if (computes_moments(box)) parts += tree_.parts_end(box) - tree_.parts_begin(box);
        }
        kept_moments_.resize(parts * operators_.stride());
        for_boxes([&](std::uint32_t number) {
            const Box& box = tree_.boxes()[number];
            if (!box.is_leaf() || !computes_moments(number)) return;
            const std::size_t begin = tree_.parts_begin(number);
            std::vector<SourceGeometry> sources(tree_.parts_end(number) - begin);
            copy_geometry(begin, begin + sources.size(), box.centre, tree_.side(box.level), sources.data());
            operators_.keep_moments(sources, are_points_, kept_moments_.data() + kept_moments_begin_[number]);
        });
    }

    /// Calls a job for each box on the workers.
    template <class Job>
    void for_boxes(const Job& job) {
        const auto boxes = static_cast<std::uint32_t>(tree_.boxes().size());
        std::atomic<std::uint32_t> next{0};
        team_->run([&](std::uint32_t) {
            for (std::uint32_t box = next++; box < boxes; box = next++) job(box);
        });
    }

    void keep_near(std::uint32_t number) {
        const Box& box = tree_.boxes()[number];
        const std::size_t count = own_count(number);
        const double scale = 1.0 / tree_.side(box.level);
        KeptNear& kept = kept_[number];
        std::vector<std::pair<std::uint32_t, std::size_t>> parts;  // by piece
        for (const std::uint32_t near : lists_.near().row(number)) {
            for (std::size_t part = tree_.parts_begin(near); part < tree_.parts_end(near); ++part) {
                parts.emplace_back(parts_[part].piece, part);
            }
        }
        std::ranges::stable_sort(parts, {}, &std::pair<std::uint32_t, std::size_t>::first);
        for (const auto& [piece, part] : parts) {
            if (kept.pieces.empty() || kept.pieces.back() != piece) kept.pieces.push_back(piece);
        }
        const std::size_t blocks = (count + kept_lanes - 1) / kept_lanes;
        kept.potentials.assign(blocks * kept.pieces.size() * kept_lanes, Real{0});
        std::vector<double> sums(count);
        std::vector<double> of_part(count);
        std::size_t next = 0;
        for (std::size_t column = 0; column < kept.pieces.size(); ++column) {
            std::ranges::fill(sums, 0.0);
            for (; next < parts.size() && parts[next].first == kept.pieces[column]; ++next) {
                const PartLine& part = parts_[parts[next].second];
                const NearSource<Real> source = near_source<Real>(part, box.centre, scale);
                constexpr Real unit{1};
                std::ranges::fill(of_part, 0.0);
                operators_.sources_to_targets({&source, 1}, &unit, are_points_,
                                              blocks_.data() + block_begin_[number] * 3 * point_lanes, {}, count, 1,
                                              scale, of_part.data(), nullptr);
                for (std::size_t i = 0; i < count; ++i) sums[i] += part.share * of_part[i];
            }
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t row = i / kept_lanes * kept.pieces.size() + column;
                kept.potentials[row * kept_lanes + i % kept_lanes] = static_cast<Real>(sums[i]);
            }
        }
    }

    void sum_kept(std::uint32_t number, double* to) const {
        const KeptNear& kept = kept_[number];
        thread_local std::vector<Real> strengths;
        strengths.resize(kept.pieces.size());
        for (std::size_t t = 0; t < samples_; ++t) {
            const Real* const from = piece_strengths_.data() + t * held_pieces();
            for (std::size_t i = 0; i < strengths.size(); ++i) strengths[i] = from[kept.pieces[i]];
            operators_.kept_to_targets(kept.potentials.data(), strengths, own_count(number), rounded_, to + t);
        }
    }

    void sources_to_targets(std::uint32_t number) {
        const Box& box = tree_.boxes()[number];
        const std::size_t count = own_count(number);
        const double scale = 1.0 / tree_.side(box.level);
        double* const to = near_.data() + own_begin(number) * rounded_;
        double* const gradient = has_gradient_ ? near_gradient_.data() + own_begin(number) * rounded_ * 3 : nullptr;
        std::fill_n(to, count * rounded_, 0.0);
        if (!kept_.empty()) return sum_kept(number, to);
        if (gradient != nullptr) std::fill_n(gradient, count * rounded_ * 3, 0.0);
        for (const std::uint32_t near : lists_.near().row(number)) {
            const Box& other = tree_.boxes()[near];
            const std::size_t end = tree_.parts_end(near);
            const std::size_t first = tree_.parts_begin(near);
            if (other.level == box.level) {
                const Offset offset = offset_between(box, other);
                const Point shift{static_cast<double>(offset.x), static_cast<double>(offset.y),
                                  static_cast<double>(offset.z)};
                add_near(std::span<const NearSource<Real>>(near_sources_).subspan(first, end - first), first, number,
                         shift, to, gradient);
                continue;
            }
            // Of another size: in the coordinates of this box, about which small distances keep their digits.
            std::array<NearSource<Real>, sources_at_once> sources;
            for (std::size_t next = first; next < end; next += sources_at_once) {
                const std::size_t stop = std::min(end, next + sources_at_once);
                for (std::size_t part = next; part < stop; ++part) {
                    sources[part - next] = near_source<Real>(parts_[part], box.centre, scale);
                }
                add_near(std::span<const NearSource<Real>>(sources).first(stop - next), next, number, {}, to, gradient);
            }
        }
    }

    void add_near(std::span<const NearSource<Real>> sources, std::size_t first_part, std::uint32_t number,
                  const Point& shift, double* to, double* gradient) const {
        operators_.sources_to_targets(sources, near_strengths_.data() + first_part * rounded_, are_points_,
                                      blocks_.data() + block_begin_[number] * 3 * point_lanes, shift,
                                      tree_.targets_end(number) - tree_.targets_begin(number), rounded_,
                                      1.0 / tree_.side(tree_.boxes()[number].level), to, gradient);
    }

    /// Calls work(begin, end) for parts of a range on the workers; on this thread if there is little work.
    template <class Work>
    void divide_work(std::size_t size, const Work& work) {
        constexpr std::size_t too_little = 4096;
        if (size * rounded_ <= too_little) {
            work(0, size);
            return;
        }
        const std::uint64_t workers = team_->size();
        team_->run([&](std::uint32_t worker) { work(size * worker / workers, size * (worker + 1) / workers); });
    }

    void collect(std::span<double> potentials, std::span<double> gradients) {
        divide_work(tree_.targets().size(),
                    [&](std::size_t begin, std::size_t end) { collect(begin, end, potentials, gradients); });
    }

    void collect(std::size_t begin, std::size_t end, std::span<double> potentials, std::span<double> gradients) const {
        const std::span<const std::uint32_t> places = exchanges_ ? exchanges_->return_places() : tree_.targets();
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t target = places[i];
            for (std::size_t t = 0; t < samples_; ++t) {
                potentials[target * samples_ + t] = near_[i * rounded_ + t] + far_[i * rounded_ + t];
                if (gradients.empty()) continue;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    gradients[(target * samples_ + t) * 3 + axis] =
                        near_gradient_[(i * rounded_ + t) * 3 + axis] + far_gradient_[(i * rounded_ + t) * 3 + axis];
                }
            }
        }
    }

    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

    SolverGroup* group_;
    std::vector<LinePiece> all_pieces_;  ///< with images; needed while the tree is made
    std::size_t piece_count_;
    bool has_gradient_;
    bool are_points_;
    Operators<Real> operators_;
    Tree tree_;
    BoxLists lists_;
    std::unique_ptr<LeafShares> shares_;
    std::unique_ptr<Exchanges> exchanges_;  ///< in a group of several members
    parallel::Team* team_;
    Tasks tasks_;
    std::uint64_t most_parts_ = 0;
    std::vector<PartLine> parts_;
    /// Parts about the centre of their box, in units of its side.
    std::vector<NearSource<Real>> near_sources_;
    std::vector<std::size_t> block_begin_;
    AlignedVector<Real> blocks_;
    std::vector<KeptNear> kept_;  ///< by leaf; empty: pairs are calculated in each evaluation
    AlignedVector<Real>
        kept_moments_;  ///< of the parts in leaves of this member for strengths of 1; empty: as the pairs
    std::vector<std::size_t> kept_moments_begin_;  ///< by box

    Event* start_ = nullptr;
    Event* moments_known_ = nullptr;
    std::vector<Event*> children_done_;
    std::vector<Event*> local_ready_;
    std::vector<Event*> targets_ready_;
    std::vector<Event*> events_;
    BoxLists::Rows waiting_;  ///< events that wait for the children of a box
    std::vector<char> has_local_;
    std::uint64_t task_count_ = 0;
    std::uint64_t event_count_ = 0;
    /// Of the expansions of boxes, or nowhere. Multipole expansions are those of this member, then those that it receives, then
    /// those of shared boxes.
    std::vector<std::uint32_t> multipole_places_;
    std::vector<std::uint32_t> local_places_;
    std::uint32_t multipole_count_ = 0;
    std::uint32_t local_count_ = 0;
    std::vector<std::uint32_t> shared_;  ///< boxes with sources of several members that are needed here, children first

    std::size_t samples_ = 0;
    std::size_t rounded_ = 0;
    const double* strengths_ = nullptr;
    AlignedVector<Real> near_strengths_;  ///< of the parts
    AlignedVector<Real> piece_strengths_;  ///< [sample][piece] for kept pairs
    std::vector<double> largest_;
    std::vector<GridNumber> grids_;
    AlignedVector<Real> multipoles_;
    AlignedVector<Real> locals_;
    std::vector<double> near_;
    std::vector<double> far_;
    std::vector<double> near_gradient_;
    std::vector<double> far_gradient_;
    AlignedVector<Real> moments_buffer_;
    std::vector<double> held_potentials_;
    std::vector<double> held_gradients_;
};

Solver::Solver(std::span<const LinePiece> pieces, std::span<const Point> targets, const SolverOptions& options,
               parallel::Team& team)
    : Solver(Portion{.pieces = pieces, .targets = targets}, options, team, lone_group()) {}

Solver::Solver(const Portion& given, const SolverOptions& options, parallel::Team& team, SolverGroup& group) {
    std::array<std::uint64_t, 2> totals{given.pieces.size(), given.targets.size()};
    group.sum(totals);
    agree(group, [&] {
        check_totals(totals[0], totals[1]);
        check(given, options, group.size() == 1);
    });
    if (options.precision == Precision::float32) {
        implementation_ = std::make_unique<Typed<float>>(given, options, team, group);
    } else {
        implementation_ = std::make_unique<Typed<double>>(given, options, team, group);
    }
    implementation_->expected_pieces = given.pieces.size();
    implementation_->expected_targets = given.targets.size();
    implementation_->offers_gradients = options.has_gradient;
}

Solver::~Solver() = default;

void Solver::evaluate(std::span<const double> strengths, std::size_t samples, std::span<double> potentials,
                      std::span<double> gradients) {
    implementation_->check_sizes(strengths.size(), samples, potentials.size(), gradients.size());
    if (samples > 0) implementation_->evaluate(strengths, samples, potentials, gradients);
}

std::optional<std::pair<std::size_t, std::size_t>> Solver::find_inside(std::span<const Point> targets) const {
    return implementation_->find_inside(targets);
}

const SolverCounts& Solver::counts() const { return implementation_->counts; }

const parallel::TaskCounts& Solver::task_counts(std::uint32_t worker) const {
    return implementation_->tasks().counts(worker);
}

void Solver::clear_task_counts() { implementation_->tasks().clear_counts(); }

}  // namespace ranvier::fmm
