#include "ranvier/cable/cell/compartments.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

constexpr std::uint64_t most_compartments = std::uint64_t{1} << 26;

std::vector<std::uint32_t> first_of_sections(const Morphology& morphology, std::span<const std::uint32_t> counts) {
    if (counts.size() != 1 && counts.size() != morphology.size()) {
        throw ShapeError({.object = "numbers of compartments",
                          .value = counted(counts.size(), "number"),
                          .bound = "the morphology has " + counted(morphology.size(), "section"),
                          .remedy = "give one number for all, or one for each section"});
    }
    std::vector<std::uint32_t> first{0};
    for (std::size_t section = 0; section < morphology.size(); ++section) {
        const std::uint32_t count = counts[counts.size() == 1 ? 0 : section];
        const std::uint64_t all = std::uint64_t{first.back()} + count;
        if (count == 0 || all > most_compartments) {
            throw ValueOutOfBoundsError(
                {.object = "compartments of section " + std::to_string(section),
                 .value = std::to_string(count),
                 .bound = "a section has at least one, a cell at most " + std::to_string(most_compartments),
                 .remedy = "give longer or shorter compartments"});
        }
        first.push_back(static_cast<std::uint32_t>(all));
    }
    return first;
}

/// The ends of sections that are nodes: those at which another section starts.
struct Points {
    std::vector<bool> begin;
    std::vector<bool> end;

    explicit Points(const Morphology& morphology) : begin(morphology.size(), false), end(morphology.size(), false) {
        for (const Section& section : morphology.sections()) {
            if (section.parent < 0) continue;
            const auto parent = static_cast<std::size_t>(section.parent);
            if (section.parent_position == 0.0) begin[parent] = true;
            if (section.parent_position == 1.0) end[parent] = true;
        }
    }
};

}  // namespace

Compartments::Compartments(Morphology morphology, std::span<const std::uint32_t> counts)
    : morphology_(std::move(morphology)), first_(first_of_sections(morphology_, counts)) {
    const Points points(morphology_);
    std::vector<std::int32_t> begin_node(morphology_.size(), -1);
    std::vector<std::int32_t> end_node(morphology_.size(), -1);
    const auto add = [&](std::int32_t parent, double integral, std::int32_t compartment) {
        nodes_.push_back({parent, compartment, parent < 0 ? 0.0 : integral});
        return static_cast<std::int32_t>(nodes_.size() - 1);
    };
    for (std::uint32_t index = 0; index < morphology_.size(); ++index) {
        const Section& section = morphology_.section(index);
        std::int32_t before = -1;  // the node at which the section starts
        if (section.parent >= 0) {
            const auto parent = static_cast<std::uint32_t>(section.parent);
            const double at = section.parent_position;
            if (at == 0.0) {
                before = begin_node[parent];
            } else if (at == 1.0) {
                before = end_node[parent];
            } else {
                before = static_cast<std::int32_t>(compartments_[this->at({parent, at}, "a section")].node);
            }
        }
        const std::uint32_t count = first_[index + 1] - first_[index];
        // A non-root section starts at its parent; the start of the root is a separate point.
        begin_node[index] = before;
        const bool has_begin_node = points.begin[index] && section.parent < 0;
        double reached = 0.0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const double begin = static_cast<double>(i) / count;
            const double end = static_cast<double>(i + 1) / count;
            const double middle = (i + 0.5) / count;
            const std::int32_t node = add(before, morphology_.resistance_integral(index, reached, middle),
                                          static_cast<std::int32_t>(compartments_.size()));
            compartments_.push_back({index, begin, end, morphology_.area(index, begin, end),
                                     morphology_.distance(Place{index, middle}), static_cast<std::uint32_t>(node)});
            if (i == 0 && has_begin_node)
                begin_node[0] = add(node, morphology_.resistance_integral(index, 0.0, middle), -1);
            before = node;
            reached = middle;
        }
        if (points.end[index]) end_node[index] = add(before, morphology_.resistance_integral(index, reached, 1.0), -1);
    }
}

std::vector<std::uint32_t> Compartments::heights() const {
    std::vector<std::uint32_t> heights(nodes_.size(), 0);
    for (std::size_t i = nodes_.size(); --i > 0;) {
        std::uint32_t& of_parent = heights[static_cast<std::size_t>(nodes_[i].parent)];
        of_parent = std::max(of_parent, heights[i] + 1);
    }
    return heights;
}

std::uint32_t Compartments::at(Place place, std::string_view object) const {
    morphology_.check(place, object);
    const auto [first, last] = of_section(place.section);
    const auto count = last - first;
    return first + std::min(static_cast<std::uint32_t>(place.position * count), count - 1);
}

}  // namespace ranvier::cable
