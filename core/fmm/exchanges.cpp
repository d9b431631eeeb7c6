#include "fmm/exchanges.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace ranvier::fmm {

namespace {

/// A part of a line piece on its way to a member that needs it.
struct MovedPart {
    std::uint32_t box = 0;
    PartLine line;  ///< with the number of its piece among those of all members
};

struct MovedTarget {
    std::uint32_t box = 0;
    std::uint32_t number = 0;
    Point place;
};

/// Leaves in depth-first order: those that follow each other are near each other.
std::vector<std::uint32_t> leaves_in_depth_first_order(const Tree& tree) {
    std::vector<std::uint32_t> leaves;
    std::vector<std::uint32_t> waiting{0};
    while (!waiting.empty()) {
        const std::uint32_t number = waiting.back();
        waiting.pop_back();
        const Box& box = tree.boxes()[number];
        if (box.is_leaf()) leaves.push_back(number);
        for (std::uint32_t child = box.children; child > 0; --child) waiting.push_back(box.first_child + child - 1);
    }
    return leaves;
}

/// The leaves whose line parts this member needs, ascending.
std::vector<std::uint32_t> needed_leaves(const Tree& tree, const BoxLists& lists, const LeafShares& shares) {
    const std::span<const Box> boxes = tree.boxes();
    std::vector<char> is_needed(boxes.size(), 0);
    for (std::uint32_t box = 0; box < boxes.size(); ++box) {
        if (boxes[box].is_leaf() && boxes[box].sources > 0 && shares.is_own(box)) is_needed[box] = 1;
        if (shares.active()[box] == 0) continue;
        for (const std::uint32_t leaf : lists.near().row(box)) is_needed[leaf] = 1;
        for (const std::uint32_t leaf : lists.larger().row(box)) is_needed[leaf] = 1;
    }
    std::vector<std::uint32_t> leaves;
    for (std::uint32_t box = 0; box < boxes.size(); ++box) {
        if (is_needed[box] != 0) leaves.push_back(box);
    }
    return leaves;
}

/// The same items for each member.
template <class Item>
ByMember<Item> for_all(std::span<const Item> items, std::uint32_t members) {
    ByMember<Item> all;
    for (std::uint32_t member = 0; member < members; ++member) {
        all.items.insert(all.items.end(), items.begin(), items.end());
        all.counts.push_back(items.size());
    }
    return all;
}

/// Where the items of each box begin, of items in the order of boxes; and their end.
template <class Item>
std::vector<std::uint64_t> begins_of_boxes(std::span<const Item> items, std::size_t boxes) {
    std::vector<std::uint64_t> begin(boxes + 1, 0);
    for (const Item& item : items) ++begin[item.box + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    return begin;
}

/// Indices that sort items by a key, and keep the order of those with the same key.
template <class Item, class Key>
std::vector<std::uint32_t> stable_order(std::span<const Item> items, Key key) {
    std::vector<std::uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return key(items[i]); });
    return order;
}

}  // namespace

LeafShares::LeafShares(const Tree& tree, std::span<const std::uint64_t> costs, const SolverGroup& group)
    : member_(group.member()), owners_(tree.boxes().size(), nobody), active_(tree.boxes().size(), 0) {
    const std::span<const Box> boxes = tree.boxes();
    const std::vector<std::uint32_t> leaves = leaves_in_depth_first_order(tree);
    double total = 0.0;
    for (const std::uint32_t leaf : leaves) total += static_cast<double>(costs[leaf]);
    double before = 0.0;
    for (const std::uint32_t leaf : leaves) {
        const double middle = before + 0.5 * static_cast<double>(costs[leaf]);
        before += static_cast<double>(costs[leaf]);
        const double place = total > 0.0 ? std::floor(middle * group.size() / total) : 0.0;
        owners_[leaf] = static_cast<std::uint32_t>(std::min(place, group.size() - 1.0));
        if (owners_[leaf] != member_ || boxes[leaf].targets == 0) continue;
        for (std::uint32_t above = leaf; above != no_box && active_[above] == 0; above = boxes[above].parent) {
            active_[above] = 1;
        }
    }
    // Children come after their parents.
    for (std::size_t box = boxes.size() - 1; box > 0; --box) {
        if (boxes[box].sources == 0) continue;
        std::uint32_t& above = owners_[boxes[box].parent];
        above = above == nobody || above == owners_[box] ? owners_[box] : several;
    }
}

Exchanges::Exchanges(SolverGroup& group, Tree& tree, const BoxLists& lists, const LeafShares& shares,
                     const GivenParts& given)
    : group_(&group) {
    std::vector<std::uint64_t> parts_begin;
    std::vector<std::uint64_t> targets_begin;
    move_parts(tree, lists, shares, given, parts_begin);
    move_targets(tree, shares, given, targets_begin);
    std::vector<std::uint32_t> indices(targets_.size());
    std::iota(indices.begin(), indices.end(), 0U);
    tree.set_contents(std::move(parts_begin), std::move(indices), std::move(targets_begin));
}

void Exchanges::move_parts(Tree& tree, const BoxLists& lists, const LeafShares& shares, const GivenParts& given,
                           std::vector<std::uint64_t>& begin) {
    const std::vector<std::uint32_t> needed = needed_leaves(tree, lists, shares);
    const ByMember<std::uint32_t> wanted = exchange(*group_, for_all<std::uint32_t>(needed, group_->size()));
    ByMember<MovedPart> send;
    std::size_t next = 0;
    for (const std::size_t count : wanted.counts) {
        const std::size_t first_part = send.items.size();
        const std::size_t first_piece = sent_pieces_.items.size();
        for (const std::size_t end = next + count; next < end; ++next) {
            const std::uint32_t box = wanted.items[next];
            for (std::size_t part = tree.parts_begin(box); part < tree.parts_end(box); ++part) {
                send.items.push_back({box, given.parts[part]});
                PartLine& line = send.items.back().line;
                sent_pieces_.items.push_back(line.piece);
                line.piece = given.piece_numbers[line.piece];
            }
        }
        send.counts.push_back(send.items.size() - first_part);
        // Each piece once. The receiver finds the same order by their numbers.
        const auto pieces = sent_pieces_.items.begin() + static_cast<std::ptrdiff_t>(first_piece);
        std::sort(pieces, sent_pieces_.items.end());
        sent_pieces_.items.erase(std::unique(pieces, sent_pieces_.items.end()), sent_pieces_.items.end());
        sent_pieces_.counts.push_back(sent_pieces_.items.size() - first_piece);
    }
    ByMember<MovedPart> received = exchange(*group_, send);
    send = {};
    next = 0;
    for (const std::size_t count : received.counts) {
        const std::span<MovedPart> parts = std::span(received.items).subspan(next, count);
        next += count;
        const auto first = static_cast<std::ptrdiff_t>(piece_numbers_.size());
        for (const MovedPart& part : parts) piece_numbers_.push_back(part.line.piece);
        std::sort(piece_numbers_.begin() + first, piece_numbers_.end());
        piece_numbers_.erase(std::unique(piece_numbers_.begin() + first, piece_numbers_.end()), piece_numbers_.end());
        received_pieces_.push_back(piece_numbers_.size() - static_cast<std::size_t>(first));
    }
    // Images follow all pieces. The parts of a piece in a leaf come from one member, in their order.
    const std::vector<std::uint32_t> order = stable_order<MovedPart>(received.items, [](const MovedPart& part) {
        return std::tuple(part.box, part.line.is_image, part.line.piece);
    });
    number_pieces();
    begin = begins_of_boxes<MovedPart>(received.items, tree.boxes().size());
    parts_.reserve(order.size());
    for (const std::uint32_t i : order) {
        parts_.push_back(received.items[i].line);
        const auto found = std::ranges::lower_bound(piece_numbers_, parts_.back().piece);
        parts_.back().piece = static_cast<std::uint32_t>(found - piece_numbers_.begin());
    }
}

void Exchanges::number_pieces() {
    const std::vector<std::uint32_t> by_member = std::move(piece_numbers_);
    piece_numbers_ = by_member;
    std::ranges::sort(piece_numbers_);
    received_places_.reserve(by_member.size());
    for (const std::uint32_t number : by_member) {
        const auto found = std::ranges::lower_bound(piece_numbers_, number);
        received_places_.push_back(static_cast<std::uint32_t>(found - piece_numbers_.begin()));
    }
}

void Exchanges::move_targets(Tree& tree, const LeafShares& shares, const GivenParts& given,
                             std::vector<std::uint64_t>& begin) {
    const std::span<const Box> boxes = tree.boxes();
    std::vector<std::vector<std::uint32_t>> leaves(group_->size());
    for (std::uint32_t box = 0; box < boxes.size(); ++box) {
        if (tree.targets_begin(box) < tree.targets_end(box)) leaves[shares.owner(box)].push_back(box);
    }
    ByMember<MovedTarget> send;
    for (const std::vector<std::uint32_t>& of_member : leaves) {
        const std::size_t first = send.items.size();
        for (const std::uint32_t box : of_member) {
            for (std::size_t i = tree.targets_begin(box); i < tree.targets_end(box); ++i) {
                const std::uint32_t index = tree.targets()[i];
                send.items.push_back({box, given.target_numbers[index], given.targets[index]});
                sent_targets_.items.push_back(index);
            }
        }
        send.counts.push_back(send.items.size() - first);
    }
    sent_targets_.counts = send.counts;
    const ByMember<MovedTarget> received = exchange(*group_, send);
    received_targets_ = received.counts;
    return_places_ = stable_order<MovedTarget>(
        received.items, [](const MovedTarget& target) { return std::pair(target.box, target.number); });
    for (const std::uint32_t i : return_places_) {
        targets_.push_back(received.items[i].place);
        target_numbers_.push_back(received.items[i].number);
    }
    begin = begins_of_boxes<MovedTarget>(received.items, boxes.size());
}

namespace {

std::vector<std::size_t> bytes_of(std::span<const std::size_t> counts, std::size_t of_item) {
    std::vector<std::size_t> bytes(counts.size());
    std::ranges::transform(counts, bytes.begin(), [&](std::size_t count) { return count * of_item; });
    return bytes;
}

}  // namespace

std::span<const double> Exchanges::spread(std::span<const double> strengths, std::size_t samples) {
    send_buffer_.clear();
    for (const std::uint32_t piece : sent_pieces_.items) {
        const double* const row = strengths.data() + piece * samples;
        send_buffer_.insert(send_buffer_.end(), row, row + samples);
    }
    receive_buffer_.resize(received_places_.size() * samples);
    const std::size_t bytes = samples * sizeof(double);
    group_->exchange(std::as_bytes(std::span(send_buffer_)), sent_pieces_.bytes(bytes),
                     std::as_writable_bytes(std::span(receive_buffer_)), bytes_of(received_pieces_, bytes));
    strengths_.resize(receive_buffer_.size());
    for (std::size_t i = 0; i < received_places_.size(); ++i) {
        std::copy_n(receive_buffer_.begin() + static_cast<std::ptrdiff_t>(i * samples), samples,
                    strengths_.begin() + static_cast<std::ptrdiff_t>(received_places_[i] * samples));
    }
    return strengths_;
}

void Exchanges::give_back(std::span<const double> values, std::size_t count, std::span<double> given) {
    // Strengths are no longer needed.
    send_buffer_.resize(sent_targets_.items.size() * count);
    const std::size_t bytes = count * sizeof(double);
    group_->exchange(std::as_bytes(values), bytes_of(received_targets_, bytes),
                     std::as_writable_bytes(std::span(send_buffer_)), sent_targets_.bytes(bytes));
    if (given.empty()) return;
    for (std::size_t i = 0; i < sent_targets_.items.size(); ++i) {
        std::copy_n(send_buffer_.begin() + static_cast<std::ptrdiff_t>(i * count), count,
                    given.begin() + static_cast<std::ptrdiff_t>(sent_targets_.items[i] * count));
    }
}

void Exchanges::request_boxes(const Tree& tree, const LeafShares& shares, std::span<const char> is_needed) {
    std::vector<std::vector<std::uint32_t>> boxes(group_->size());
    for (std::uint32_t box = 0; box < tree.boxes().size(); ++box) {
        if (is_needed[box] != 0 && !shares.is_own(box) && !shares.is_shared(box)) {
            boxes[shares.owner(box)].push_back(box);
        }
    }
    for (const std::vector<std::uint32_t>& of_member : boxes) {
        received_boxes_.items.insert(received_boxes_.items.end(), of_member.begin(), of_member.end());
        received_boxes_.counts.push_back(of_member.size());
    }
    sent_boxes_ = exchange(*group_, received_boxes_);
}

std::size_t Exchanges::bytes() const {
    const std::size_t indices = piece_numbers_.size() + received_places_.size() + target_numbers_.size() +
                                return_places_.size() + sent_pieces_.items.size() + sent_targets_.items.size() +
                                received_boxes_.items.size() + sent_boxes_.items.size();
    return indices * sizeof(std::uint32_t) + targets_.size() * sizeof(Point);
}

std::size_t Exchanges::sample_bytes() const {
    return (std::max(sent_pieces_.items.size(), sent_targets_.items.size()) + 2 * piece_numbers_.size()) *
           sizeof(double);
}

}  // namespace ranvier::fmm
