#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fmm/group.hpp"
#include "fmm/part_lines.hpp"
#include "fmm/tree.hpp"
#include "ranvier/fmm/geometry.hpp"

/// How the members of a group divide a tree, and what they exchange.
///
/// Each leaf has an owner, which computes its moments and the potentials at its targets. For that it holds the line parts in its
/// leaves and in those near its targets, of all members; strengths go there in each evaluation. Strengths take fewer
/// bytes than moments of parts of a leaf would, and the owner needs them for near pairs anyway; and a leaf has one order of
/// summation. Moments of whole subtrees then go from their owners to the members whose boxes they act on.
namespace ranvier::fmm {

/// The owners of boxes: consecutive leaves, in depth-first order, with about equal shares of the cost.
class LeafShares {
   public:
    /// @param costs by box; those of leaves count
    LeafShares(const Tree& tree, std::span<const std::uint64_t> costs, const SolverGroup& group);

    /// The owner of a leaf; of another box, the owner of all leaves with sources in it, or `several`.
    std::uint32_t owner(std::uint32_t box) const { return owners_[box]; }
    /// Whether this member computes its moments.
    bool is_own(std::uint32_t box) const { return owners_[box] == member_; }
    /// By box: whether this member computes potentials at targets in it.
    std::span<const char> active() const { return active_; }
    /// Whether its moments follow from those of boxes of several members.
    bool is_shared(std::uint32_t box) const { return owners_[box] == several; }

   private:
    static constexpr std::uint32_t several = ~std::uint32_t{0};
    static constexpr std::uint32_t nobody = several - 1;

    std::uint32_t member_;
    std::vector<std::uint32_t> owners_;
    std::vector<char> active_;
};

/// What a member of a group was given, by its indices.
struct GivenParts {
    std::span<const PartLine> parts;               ///< in the order of the tree's parts; pieces by index
    std::span<const std::uint32_t> piece_numbers;  ///< among those of all members
    std::span<const Point> targets;
    std::span<const std::uint32_t> target_numbers;
};

/// The exchanges of a member. All functions are collective.
class Exchanges {
   public:
    /// Moves parts of line pieces and targets to the members that need them: then the tree has those that this one holds.
    Exchanges(SolverGroup& group, Tree& tree, const BoxLists& lists, const LeafShares& shares, const GivenParts& given);

    /// In the order of the leaves, those of a leaf in the order of all pieces. The piece of a part is its number here.
    std::vector<PartLine> take_parts() { return std::move(parts_); }
    /// The numbers of the pieces here among those of all members, ascending.
    std::span<const std::uint32_t> piece_numbers() const { return piece_numbers_; }
    /// The targets of the leaves of this member, in their order.
    std::span<const Point> targets() const { return targets_; }
    std::span<const std::uint32_t> target_numbers() const { return target_numbers_; }
    /// Place of these targets in the arrays of give_back().
    std::span<const std::uint32_t> return_places() const { return return_places_; }

    /// The strengths of the pieces that this member holds. Valid until the next call.
    std::span<const double> spread(std::span<const double> strengths, std::size_t samples);
    /// Returns values at the targets of the leaves of this member to the members that were given them.
    /// @param values `count` numbers for each target, at return_places()
    /// @param given receives those of the targets that this member was given; empty if it needs none
    void give_back(std::span<const double> values, std::size_t count, std::span<double> given);

    /// Boxes whose moments this member gets from others, in the order in which they come, and those that it sends.
    void request_boxes(const Tree& tree, const LeafShares& shares, std::span<const char> is_needed);
    const ByMember<std::uint32_t>& received_boxes() const { return received_boxes_; }
    const ByMember<std::uint32_t>& sent_boxes() const { return sent_boxes_; }

    std::size_t bytes() const;
    /// For each sample.
    std::size_t sample_bytes() const;

   private:
    void move_parts(Tree& tree, const BoxLists& lists, const LeafShares& shares, const GivenParts& given,
                    std::vector<std::uint64_t>& begin);
    void number_pieces();
    void move_targets(Tree& tree, const LeafShares& shares, const GivenParts& given, std::vector<std::uint64_t>& begin);

    SolverGroup* group_;
    std::vector<PartLine> parts_;
    std::vector<std::uint32_t> piece_numbers_;
    std::vector<Point> targets_;
    std::vector<std::uint32_t> target_numbers_;
    std::vector<std::uint32_t> return_places_;
    ByMember<std::uint32_t> sent_pieces_;  ///< by index among those given here
    std::vector<std::size_t> received_pieces_;
    std::vector<std::uint32_t> received_places_;  ///< of the pieces here as they come: their numbers
    ByMember<std::uint32_t> sent_targets_;  ///< the same
    std::vector<std::size_t> received_targets_;
    ByMember<std::uint32_t> received_boxes_;
    ByMember<std::uint32_t> sent_boxes_;
    std::vector<double> send_buffer_;
    std::vector<double> receive_buffer_;
    std::vector<double> strengths_;
};

}  // namespace ranvier::fmm
