#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/space/positions.hpp"

namespace ranvier::connect {

/// A box of space, by axis.
struct SpaceBox {
    Point low{};
    Point high{};
};

/// A box that contains the positions of all populations that have some of these neurons. Without neurons, its ends
/// are infinite.
SpaceBox bounds_of(const Space& space, const IdSequence& neurons);

/// Calls visit(index among the neurons, position).
template <class Visit>
void for_each_position(const Space& space, const IdSequence& neurons, Visit visit) {
    std::uint64_t index = 0;
    for (const Space::Part& part : space.parts()) {
        const IdSequence of_part = neurons.within(part.first, part.size);
        for (std::uint64_t i = 0; i < of_part.size(); ++i) {
            visit(index++, part.positions->at(of_part[i].value - part.first.value, part.key));
        }
    }
}

/// The neurons of one side of a rule, sorted into cells of space: a tree of nested boxes; the smallest have a few
/// tens of neurons. Immutable and thread-safe.
///
/// The cells divide the box that contains all positions of the populations by halves, the longest side first. They are a
/// function of the description alone, so that a rule whose draws follow the cells draws the same in each process, also
/// if that holds a part of the neurons only.
class PartnerIndex {
   public:
    /// A box of space and the neurons in it. The neurons of a node follow each other.
    struct Node {
        std::array<std::uint32_t, most_dimensions> cell{};  ///< from 0, of its level
        std::uint32_t begin = 0;        ///< place of its first neuron: see held_place()
        std::uint32_t count = 0;        ///< number of its neurons, also if they are not held
        std::uint32_t first_child = 0;  ///< its children follow each other
        std::uint8_t children = 0;
        std::uint8_t level = 0;

        bool is_leaf() const { return children == 0; }
    };

    /// Whether a cell of space is needed: others are not divided, and their neurons are counted, but not held. A cell that
    /// contains a needed one is needed.
    using Needed = std::function<bool(const SpaceBox&)>;

    /// An index of neurons by their positions.
    /// @param neurons all with positions, fewer than 2^32; where a part is held, fewer than 2^31
    PartnerIndex(const Space& space, const IdSequence& neurons, unsigned dimensions, const Needed& needed = nullptr);
    /// An index by the number of the neuron, x = 0, 1, 2, ..., for rules without positions.
    explicit PartnerIndex(std::uint64_t count);

    unsigned dimensions() const { return dimensions_; }
    std::uint64_t size() const { return size_; }
    /// The first is the root; none without neurons.
    std::span<const Node> nodes() const { return nodes_; }
    /// Contains the positions of the neurons of a node.
    SpaceBox box(const Node& node) const {
        SpaceBox box;
        const Level& level = levels_[node.level];
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            // The padding is more than the rounding of positions to cells.
            box.low[axis] = lower_[axis] + level.size[axis] * static_cast<double>(node.cell[axis]) - padding_[axis];
            box.high[axis] = box.low[axis] + level.size[axis] + 2.0 * padding_[axis];
        }
        return box;
    }

    /// The boxes of the nodes of a level, by axis.
    struct Cells {
        Point first{};  ///< the middle of cell 0
        Point size{};   ///< from one to the next
        Point half{};   ///< half the length of a box, with its padding
    };
    const Cells& cells(std::size_t level) const { return cells_[level]; }

    /// Number of neurons that are held, at the places from 0 on.
    std::uint32_t held() const { return held_; }
    static constexpr std::uint32_t not_held = std::numeric_limits<std::uint32_t>::max();
    /// The place of a neuron that is held, or `not_held`. Where a node is not held as a whole, its neurons are numbered
    /// with all others, beyond the places of those that are held: this finds these among them.
    std::uint32_t held_place(std::uint32_t place) const;

    /// The index of the neuron at a place among the neurons of the side. @pre it is held, here and below
    std::uint32_t neuron(std::size_t place) const { return neurons_[place]; }
    std::span<const std::uint32_t> neurons() const { return neurons_; }
    /// Coordinates by place.
    std::span<const double> coordinates(std::size_t axis) const { return coordinates_[axis]; }
    Point position(std::size_t place) const {
        Point point{};
        for (std::size_t axis = 0; axis < dimensions_; ++axis) point[axis] = coordinates_[axis][place];
        return point;
    }

    std::uint64_t bytes() const;
    /// The same before it is made, about: from some of the neurons.
    static std::uint64_t expected_bytes(const Space& space, const IdSequence& neurons, unsigned dimensions,
                                        const Needed& needed);
    /// Of an index of so many neurons, all held.
    static std::uint64_t expected_bytes(std::uint64_t neurons, unsigned dimensions);

   private:
    struct Level {
        unsigned bits = 0;  ///< of a code, down to this level
        Point size{};       ///< of a cell
    };
    struct Split {
        std::size_t axis;
        unsigned bit;  ///< of the coordinate of a cell at the greatest depth
    };
    struct Builder;
    /// Neurons that are held and follow each other, also among all.
    struct Run {
        std::uint32_t first;  ///< among all
        std::uint32_t place;  ///< among those that are held
        std::uint32_t count;
    };
    /// The grid of cells alone.
    PartnerIndex(const SpaceBox& box, std::uint64_t count, unsigned dimensions);

    void divide(const SpaceBox& box);
    std::uint64_t code(const Point& position, unsigned bits) const;

    unsigned dimensions_;
    std::uint64_t size_;
    Point lower_{};
    Point padding_{};
    Point scale_{};  ///< cells of the greatest depth per length
    std::array<std::uint64_t, most_dimensions> last_{};  ///< cell of the greatest depth
    std::vector<Split> splits_;  ///< by bit of a code, from the highest
    std::vector<Level> levels_;
    std::vector<Cells> cells_;  ///< by level
    unsigned base_bits_ = 0;  ///< of the cells into which neurons are counted
    std::vector<Node> nodes_;
    std::uint32_t held_ = 0;
    std::vector<Run> runs_;
    std::vector<std::uint32_t> neurons_;
    std::array<std::vector<double>, most_dimensions> coordinates_;
};

/// An index of neurons that is made when it is first needed. Thread-safe, but for need().
class SharedIndex {
   public:
    /// Makes a function that says which cells a rule needs. It is called when the index is made.
    using MakeNeeded = std::function<PartnerIndex::Needed()>;

    /// @param all whether all neurons are held; otherwise those that are needed
    SharedIndex(IdSequence neurons, unsigned dimensions, bool all = true)
        : neurons_(std::move(neurons)), dimensions_(dimensions), all_(all) {}

    /// @param space that of the neurons; null for an index by their numbers, here and below
    const PartnerIndex& get(const Space* space) const;
    const IdSequence& neurons() const { return neurons_; }
    /// Adds what another rule needs. @param needed null for all @pre get() was not called
    void need(MakeNeeded needed);
    /// Of the index, or those that are expected before it is made.
    std::uint64_t bytes(const Space* space) const;

   private:
    PartnerIndex::Needed needed() const;

    IdSequence neurons_;
    unsigned dimensions_;
    bool all_;
    std::vector<MakeNeeded> needs_;
    mutable std::once_flag made_;
    mutable std::unique_ptr<const PartnerIndex> index_;
};

/// The index of all of some neurons of a space: one for all rules that hold it at a time.
std::shared_ptr<const SharedIndex> shared_index(const Space& space, const IdSequence& neurons, unsigned dimensions);

/// The indexes of the rules of a network on one process, which draw for the neurons of that.
class ProcessIndexes {
   public:
    /// @param space null without positions
    /// @param neurons those of the process; nothing if all are
    explicit ProcessIndexes(std::shared_ptr<const Space> space, std::optional<IdSequence> neurons = std::nullopt)
        : space_(std::move(space)), neurons_(std::move(neurons)) {}

    /// The index of some neurons with positions.
    /// @param needed what a rule needs of it; null for all
    std::shared_ptr<const SharedIndex> get(const IdSequence& neurons, unsigned dimensions,
                                           SharedIndex::MakeNeeded needed);
    /// Those of the process; nothing if all are.
    const std::optional<IdSequence>& neurons() const { return neurons_; }
    /// Of all indexes.
    std::uint64_t bytes() const;

   private:
    std::shared_ptr<const Space> space_;
    std::optional<IdSequence> neurons_;
    std::vector<std::shared_ptr<SharedIndex>> parts_;
    std::vector<std::shared_ptr<const SharedIndex>> wholes_;
};

}  // namespace ranvier::connect
