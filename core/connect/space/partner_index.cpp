#include "connect/space/partner_index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace ranvier::connect {

namespace {
namespace partner_index_parts {

/// A leaf has at most this number of neurons, unless they are at the same place.
constexpr std::uint64_t most_in_leaf = 32;
/// Mean number of neurons of the cells in which they are counted: between this and its half, over the whole box.
constexpr std::uint64_t mean_in_cell = 16;
/// A counted cell with more neurons is divided further.
constexpr std::uint64_t most_in_cell = 64;
/// Bits of a code, and of a coordinate: where neurons cannot be told apart, they stay in one leaf.
constexpr unsigned most_bits = 60;
constexpr unsigned most_bits_of_axis = 30;

void include(SpaceBox& box, const Point& point) {
    for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
        box.low[axis] = std::min(box.low[axis], point[axis]);
        box.high[axis] = std::max(box.high[axis], point[axis]);
    }
}

void include_all(SpaceBox& box, const Positions& positions, std::uint64_t size, RandomKey key) {
    if (const auto* const random = std::get_if<Positions::Random>(&positions.form)) {
        Point upper = random->lower;
        for (std::size_t axis = 0; axis < positions.dimensions; ++axis) upper[axis] += random->extent[axis];
        include(box, random->lower);
        include(box, upper);
    } else if (std::holds_alternative<Positions::Grid>(positions.form)) {
        include(box, positions.at(0, key));
        include(box, positions.at(size - 1, key));
    } else {
        for (std::uint64_t i = 0; i < size; ++i) include(box, positions.at(i, key));
    }
}

bool are_equal(const IdSequence& a, const IdSequence& b) {
    if (a.size() != b.size()) return false;
    if (a.is_progression() && b.is_progression()) {
        return a.size() == 0 || (a[0] == b[0] && (a.size() == 1 || a.stride() == b.stride()));
    }
    for (std::uint64_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

}  // namespace partner_index_parts
}  // namespace

using namespace partner_index_parts;

SpaceBox bounds_of(const Space& space, const IdSequence& neurons) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    SpaceBox box{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
    for (const Space::Part& part : space.parts()) {
        if (neurons.within(part.first, part.size).empty()) continue;
        include_all(box, *part.positions, part.size, part.key);
    }
    return box;
}

/// What is needed only while an index is built.
struct PartnerIndex::Builder {
    PartnerIndex& index;
    const Needed& needed;
    std::vector<std::uint32_t> first;  ///< number of neurons in the cells before each counted one
    /// Of each counted cell: the place of its next neuron; `nowhere` if it is not held.
    std::vector<std::uint32_t> next = {};
    std::uint32_t passed = 0;  ///< neurons before the next node, held or not
    std::vector<std::uint32_t> crowded = {};  ///< leaves to divide further

    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t base_level() const {
        const auto at = std::ranges::find(index.levels_, index.base_bits_, &Level::bits);
        return static_cast<std::uint32_t>(at - index.levels_.begin());
    }

    std::array<std::uint32_t, most_dimensions> cell_of(std::uint64_t code, unsigned bits) const {
        std::array<std::uint32_t, most_dimensions> cell{};
        for (unsigned bit = 0; bit < bits; ++bit) {
            const std::size_t axis = index.splits_[bit].axis;
            cell[axis] = 2 * cell[axis] + static_cast<std::uint32_t>((code >> (bits - 1 - bit)) & 1);
        }
        return cell;
    }

    /// Appends the children of a node. `counts(code of child, bits)` are their numbers of neurons.
    template <class Count>
    void add_children(std::size_t node, std::uint64_t code, const Count& count,
                      std::vector<std::pair<std::size_t, std::uint64_t>>& waiting) {
        const std::uint8_t level = index.nodes_[node].level;
        const unsigned bits = index.levels_[level + 1].bits;
        const unsigned added = bits - index.levels_[level].bits;
        const auto first_child = static_cast<std::uint32_t>(index.nodes_.size());
        std::uint32_t begin = index.nodes_[node].begin;
        for (std::uint64_t child = code << added; child < (code + 1) << added; ++child) {
            const std::uint32_t inside = count(child, bits);
            if (inside == 0) continue;
            waiting.emplace_back(index.nodes_.size(), child);
            index.nodes_.push_back({.cell = cell_of(child, bits),
                                    .begin = begin,
                                    .count = inside,
                                    .level = static_cast<std::uint8_t>(level + 1)});
            begin += inside;
        }
        index.nodes_[node].first_child = first_child;
        index.nodes_[node].children = static_cast<std::uint8_t>(index.nodes_.size() - first_child);
    }

    /// Divides the counted cells: depth first, so that neurons of a node follow each other.
    void divide_counted(std::uint32_t node, std::uint64_t code) {
        const std::uint32_t base = base_level();
        const unsigned below = index.base_bits_ - index.levels_[index.nodes_[node].level].bits;
        index.nodes_[node].begin = passed;
        const bool hold = needed == nullptr || needed(index.box(index.nodes_[node]));
        if (hold && index.nodes_[node].count > most_in_leaf && index.nodes_[node].level < base) {
            std::vector<std::pair<std::size_t, std::uint64_t>> children;
            add_children(
                node, code,
                [&](std::uint64_t child, unsigned bits) {
                    const unsigned rest = index.base_bits_ - bits;
                    return first[(child + 1) << rest] - first[child << rest];
                },
                children);
            for (const auto& [child, code_of_child] : children) {
                divide_counted(static_cast<std::uint32_t>(child), code_of_child);
            }
            return;
        }
        for (std::uint64_t cell = code << below; cell < (code + 1) << below; ++cell) {
            next[cell] = hold ? index.held_ + (first[cell] - first[code << below]) : nowhere;
        }
        const std::uint32_t count = index.nodes_[node].count;
        if (hold) {
            hold_next(count);
            if (count > most_in_cell) crowded.push_back(node);
        }
        passed += count;
    }

    void hold_next(std::uint32_t count) {
        std::vector<Run>& runs = index.runs_;
        if (!runs.empty() && runs.back().first + runs.back().count == passed) {
            runs.back().count += count;
        } else {
            runs.push_back({passed, index.held_, count});
        }
        index.held_ += count;
    }

    /// Numbers among all neurons become places among those that are held, where a node is held as a whole.
    void place_nodes() {
        for (Node& node : index.nodes_) {
            const auto after = std::ranges::upper_bound(index.runs_, node.begin, {}, &Run::first);
            const bool is_held = after != index.runs_.begin() &&
                                 node.begin + node.count <= std::prev(after)->first + std::prev(after)->count;
            node.begin =
                is_held ? node.begin - std::prev(after)->first + std::prev(after)->place : node.begin + index.held_;
        }
    }

    /// Divides leaves with many neurons: positions that are far from uniform.
    void divide_crowded() {
        for (const std::uint32_t leaf : crowded) {
            const Node node = index.nodes_[leaf];
            std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted(node.count);
            const auto all_bits = static_cast<unsigned>(index.splits_.size());
            for (std::uint32_t i = 0; i < node.count; ++i) {
                sorted[i] = {index.code(index.position(node.begin + i), all_bits), node.begin + i};
            }
            std::ranges::sort(sorted);
            reorder(node.begin, sorted);
            // The code of the leaf is that of all its neurons.
            const std::uint64_t code =
                all_bits == 0 ? 0 : sorted.front().first >> (all_bits - index.levels_[node.level].bits);
            std::vector<std::pair<std::size_t, std::uint64_t>> waiting{{leaf, code}};
            const std::uint32_t offset = node.begin;
            while (!waiting.empty()) {
                const auto [at, code_at] = waiting.back();
                waiting.pop_back();
                if (index.nodes_[at].count <= most_in_leaf) continue;
                if (index.nodes_[at].level + std::size_t{1} >= index.levels_.size()) continue;
                auto from = sorted.begin() + (index.nodes_[at].begin - offset);
                add_children(
                    at, code_at,
                    [&](std::uint64_t child, unsigned bits) {
                        const std::uint64_t end = (child + 1) << (all_bits - bits);
                        const auto to = std::ranges::lower_bound(from, sorted.end(), end, {},
                                                                 &std::pair<std::uint64_t, std::uint32_t>::first);
                        const auto count = static_cast<std::uint32_t>(to - from);
                        from = to;
                        return count;
                    },
                    waiting);
            }
        }
    }

    void reorder(std::uint32_t begin, const std::vector<std::pair<std::uint64_t, std::uint32_t>>& order) {
        const auto permute = [&](auto& array) {
            std::vector<std::decay_t<decltype(array[0])>> moved(order.size());
            for (std::size_t i = 0; i < order.size(); ++i) moved[i] = array[order[i].second];
            std::ranges::copy(moved, array.begin() + begin);
        };
        permute(index.neurons_);
        for (std::size_t axis = 0; axis < index.dimensions_; ++axis) permute(index.coordinates_[axis]);
    }
};

PartnerIndex::PartnerIndex(const Space& space, const IdSequence& neurons, unsigned dimensions, const Needed& needed)
    : dimensions_(dimensions), size_(neurons.size()) {
    if (size_ == 0) return;
    divide(bounds_of(space, neurons));
    Builder builder{*this, needed, std::vector<std::uint32_t>((std::size_t{1} << base_bits_) + 1)};
    for_each_position(space, neurons,
                      [&](std::uint64_t, const Point& position) { ++builder.first[code(position, base_bits_) + 1]; });
    std::partial_sum(builder.first.begin(), builder.first.end(), builder.first.begin());
    builder.next.resize(std::size_t{1} << base_bits_);
    nodes_.push_back({.count = static_cast<std::uint32_t>(size_)});
    builder.divide_counted(0, 0);
    builder.place_nodes();
    // A sampler may read the first neuron, also if none is held.
    neurons_.resize(std::max(held_, 1U));
    for (std::size_t axis = 0; axis < dimensions_; ++axis) coordinates_[axis].resize(neurons_.size());
    for_each_position(space, neurons, [&](std::uint64_t neuron, const Point& position) {
        std::uint32_t& next = builder.next[code(position, base_bits_)];
        if (next == Builder::nowhere) return;
        neurons_[next] = static_cast<std::uint32_t>(neuron);
        for (std::size_t axis = 0; axis < dimensions_; ++axis) coordinates_[axis][next] = position[axis];
        ++next;
    });
    builder.divide_crowded();
    nodes_.shrink_to_fit();
}

std::uint32_t PartnerIndex::held_place(std::uint32_t place) const {
    if (place < held_) return place;
    const std::uint32_t among_all = place - held_;
    const auto after = std::ranges::upper_bound(runs_, among_all, {}, &Run::first);
    if (after == runs_.begin()) return not_held;
    const Run& run = *std::prev(after);
    return among_all - run.first < run.count ? run.place + (among_all - run.first) : not_held;
}

PartnerIndex::PartnerIndex(const SpaceBox& box, std::uint64_t count, unsigned dimensions)
    : dimensions_(dimensions), size_(count) {
    divide(box);
}

PartnerIndex::PartnerIndex(std::uint64_t count) : dimensions_(1), size_(count) {
    if (size_ == 0) return;
    divide({Point{}, {static_cast<double>(count - 1), 0.0, 0.0}});
    const Needed all = nullptr;
    Builder builder{*this, all, std::vector<std::uint32_t>((std::size_t{1} << base_bits_) + 1)};
    const auto code_of = [&](std::uint64_t neuron) {
        return code({static_cast<double>(neuron), 0.0, 0.0}, base_bits_);
    };
    for (std::uint64_t i = 0; i < count; ++i) ++builder.first[code_of(i) + 1];
    std::partial_sum(builder.first.begin(), builder.first.end(), builder.first.begin());
    builder.next.resize(std::size_t{1} << base_bits_);
    nodes_.push_back({.count = static_cast<std::uint32_t>(size_)});
    builder.divide_counted(0, 0);
    builder.place_nodes();
    neurons_.resize(count);
    std::iota(neurons_.begin(), neurons_.end(), std::uint32_t{0});
    coordinates_[0].resize(count);
    for (std::uint64_t i = 0; i < count; ++i) coordinates_[0][i] = static_cast<double>(i);
}

void PartnerIndex::divide(const SpaceBox& box) {
    lower_ = box.low;
    Point extent{};
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        extent[axis] = box.high[axis] - box.low[axis];
        padding_[axis] = 1e-12 * (std::abs(box.low[axis]) + std::abs(box.high[axis]));
    }
    Point size = extent;
    std::array<unsigned, most_dimensions> bits{};
    while (splits_.size() < most_bits) {
        const std::size_t axis = static_cast<std::size_t>(std::ranges::max_element(size) - size.begin());
        // Without an extent, or where halves could not be told apart.
        if (size[axis] <= 4.0 * padding_[axis] || bits[axis] == most_bits_of_axis) break;
        splits_.push_back({axis, bits[axis]++});
        size[axis] *= 0.5;
    }
    for (Split& split : splits_) split.bit = bits[split.axis] - 1 - split.bit;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        last_[axis] = (std::uint64_t{1} << bits[axis]) - 1;
        scale_[axis] = extent[axis] > 0.0 ? std::ldexp(1.0, static_cast<int>(bits[axis])) / extent[axis] : 0.0;
    }
    const std::uint64_t cells = std::max<std::uint64_t>(size_ / mean_in_cell, 1);
    base_bits_ = std::min(static_cast<unsigned>(std::bit_width(cells) - 1), static_cast<unsigned>(splits_.size()));
    // A level divides each axis at most once.
    levels_.push_back({.bits = 0, .size = extent});
    std::array<bool, most_dimensions> divided{};
    for (unsigned bit = 0; bit < splits_.size(); ++bit) {
        const std::size_t axis = splits_[bit].axis;
        if (divided[axis] || bit == base_bits_ || bit == 0) {
            levels_.push_back(levels_.back());
            divided = {};
        }
        divided[axis] = true;
        levels_.back().bits = bit + 1;
        levels_.back().size[axis] *= 0.5;
    }
    for (const Level& level : levels_) {
        Cells& of_level = cells_.emplace_back();
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            of_level.first[axis] = lower_[axis] + 0.5 * level.size[axis];
            of_level.size[axis] = level.size[axis];
            of_level.half[axis] = 0.5 * level.size[axis] + padding_[axis];
        }
    }
}

std::uint64_t PartnerIndex::code(const Point& position, unsigned bits) const {
    std::array<std::uint64_t, most_dimensions> cell{};
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        const double place = (position[axis] - lower_[axis]) * scale_[axis];
        // The upper end of the box belongs to the last cell.
        cell[axis] = place > 0.0 ? std::min(static_cast<std::uint64_t>(place), last_[axis]) : 0;
    }
    std::uint64_t code = 0;
    for (unsigned bit = 0; bit < bits; ++bit) {
        code = code << 1 | ((cell[splits_[bit].axis] >> splits_[bit].bit) & 1);
    }
    return code;
}

std::uint64_t PartnerIndex::bytes() const {
    std::uint64_t bytes =
        nodes_.capacity() * sizeof(Node) + runs_.capacity() * sizeof(Run) + neurons_.capacity() * sizeof(std::uint32_t);
    for (const auto& coordinates : coordinates_) bytes += coordinates.capacity() * sizeof(double);
    return bytes;
}

std::uint64_t PartnerIndex::expected_bytes(std::uint64_t neurons, unsigned dimensions) {
    // Cells have 3/2 of the least mean on average, and a tree in which each node has several children a third more nodes.
    const std::uint64_t nodes = neurons / (3 * mean_in_cell / 2) * 4 / 3;
    return nodes * sizeof(Node) + neurons * (sizeof(std::uint32_t) + dimensions * sizeof(double));
}

std::uint64_t PartnerIndex::expected_bytes(const Space& space, const IdSequence& neurons, unsigned dimensions,
                                           const Needed& needed) {
    if (needed == nullptr || neurons.empty()) return expected_bytes(neurons.size(), dimensions);
    constexpr std::uint64_t most_sampled = 1 << 14;
    const PartnerIndex cells(bounds_of(space, neurons), neurons.size(), dimensions);
    const IdSequence sampled = neurons.every(0, neurons.size() / most_sampled + 1);
    // Most leaves are the cells in which neurons are counted.
    const auto at = std::ranges::find(cells.levels_, cells.base_bits_, &Level::bits);
    Node cell{.level = static_cast<std::uint8_t>(at - cells.levels_.begin())};
    std::uint64_t held = 0;
    for_each_position(space, sampled, [&](std::uint64_t, const Point& position) {
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            const double size = cells.levels_[cell.level].size[axis];
            const double place = size > 0.0 ? (position[axis] - cells.lower_[axis]) / size : 0.0;
            cell.cell[axis] = place > 0.0 ? static_cast<std::uint32_t>(place) : 0;
        }
        held += needed(cells.box(cell)) ? 1 : 0;
    });
    return expected_bytes(static_cast<std::uint64_t>(static_cast<double>(held) / static_cast<double>(sampled.size()) *
                                                     static_cast<double>(neurons.size())),
                          dimensions);
}

const PartnerIndex& SharedIndex::get(const Space* space) const {
    std::call_once(made_, [&] {
        index_ = space == nullptr ? std::make_unique<const PartnerIndex>(neurons_.size())
                                  : std::make_unique<const PartnerIndex>(*space, neurons_, dimensions_, needed());
    });
    return *index_;
}

void SharedIndex::need(MakeNeeded needed) {
    if (needed == nullptr) {
        all_ = true;
    } else {
        needs_.push_back(std::move(needed));
    }
}

PartnerIndex::Needed SharedIndex::needed() const {
    // Places of all neurons follow those of the neurons that are held.
    if (all_ || neurons_.size() >= std::uint64_t{1} << 31) return nullptr;
    std::vector<PartnerIndex::Needed> each;
    for (const MakeNeeded& make : needs_) each.push_back(make());
    return [each = std::move(each)](const SpaceBox& box) {
        return std::ranges::any_of(each, [&](const PartnerIndex::Needed& needed) { return needed(box); });
    };
}

std::uint64_t SharedIndex::bytes(const Space* space) const {
    if (index_ != nullptr) return index_->bytes();
    return space == nullptr ? PartnerIndex::expected_bytes(neurons_.size(), dimensions_)
                            : PartnerIndex::expected_bytes(*space, neurons_, dimensions_, needed());
}

std::shared_ptr<const SharedIndex> ProcessIndexes::get(const IdSequence& neurons, unsigned dimensions,
                                                       SharedIndex::MakeNeeded needed) {
    if (!neurons_) {
        auto index = shared_index(*space_, neurons, dimensions);
        if (std::ranges::find(wholes_, index) == wholes_.end()) wholes_.push_back(index);
        return index;
    }
    const auto found =
        std::ranges::find_if(parts_, [&](const auto& index) { return are_equal(index->neurons(), neurons); });
    const auto& index =
        found != parts_.end() ? *found : parts_.emplace_back(std::make_shared<SharedIndex>(neurons, dimensions, false));
    index->need(std::move(needed));
    return index;
}

std::uint64_t ProcessIndexes::bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& index : parts_) bytes += index->bytes(space_.get());
    for (const auto& index : wholes_) bytes += index->bytes(space_.get());
    return bytes;
}

/// A description binds rules one after another, often with the same neurons: the last index stays.
struct Space::Indexes {
    std::mutex mutex;
    std::vector<std::weak_ptr<const SharedIndex>> all;
    std::shared_ptr<const SharedIndex> last;
};

Space::Space(std::vector<Part> parts) : parts_(std::move(parts)), indexes_(std::make_shared<Indexes>()) {}

void Space::forget_index() const {
    const std::scoped_lock lock(indexes_->mutex);
    indexes_->last.reset();
}

std::shared_ptr<const SharedIndex> shared_index(const Space& space, const IdSequence& neurons, unsigned dimensions) {
    Space::Indexes& indexes = space.indexes();
    const std::scoped_lock lock(indexes.mutex);
    std::erase_if(indexes.all, [](const auto& index) { return index.expired(); });
    for (const auto& weak : indexes.all) {
        if (auto index = weak.lock(); index != nullptr && are_equal(index->neurons(), neurons)) {
            return indexes.last = std::move(index);
        }
    }
    indexes.last = std::make_shared<const SharedIndex>(neurons, dimensions);
    indexes.all.push_back(indexes.last);
    return indexes.last;
}

}  // namespace ranvier::connect
