#include "ranvier/parallel/pinning.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::parallel {

namespace {

constexpr std::array<std::pair<std::string_view, PinningPolicy>, 5> names{{
    {"equal", PinningPolicy::equal},
    {"compact", PinningPolicy::compact},
    {"none", PinningPolicy::none},
    {"auto", PinningPolicy::automatic},
    {"list", PinningPolicy::list},
}};

// The order in which the units of a node are used: one of each core, then the second of each, and so on.
std::vector<int> units_in_turn(const NumaNode& node) {
    std::size_t most = 0;
    for (const Core& core : node.cores) most = std::max(most, core.processors.size());
    std::vector<int> units;
    for (std::size_t hardware_thread = 0; hardware_thread < most; ++hardware_thread) {
        for (const Core& core : node.cores) {
            if (hardware_thread < core.processors.size()) units.push_back(core.processors[hardware_thread]);
        }
    }
    return units;
}

/// Threads on each node by algorithm 2.
std::vector<std::uint32_t> deal_equally(std::size_t nodes, std::uint32_t threads) {
    const auto count = static_cast<std::uint32_t>(nodes);
    std::vector<std::uint32_t> threads_of(nodes, threads / count);
    for (std::uint32_t node = 0; node < threads % count; ++node) ++threads_of[node];
    return threads_of;
}

/// Threads on each node by algorithm 3, for fewer threads than cores.
std::vector<std::uint32_t> fill_in_turn(std::span<const NumaNode> nodes, std::uint32_t threads) {
    std::vector<std::uint32_t> threads_of;
    for (const NumaNode& node : nodes) {
        threads_of.push_back(std::min(threads, static_cast<std::uint32_t>(node.cores.size())));
        threads -= threads_of.back();
    }
    return threads_of;
}

std::vector<Place> place_on_list(const Topology& topology, std::uint32_t threads, const std::vector<int>& processors) {
    if (processors.size() != threads) {
        throw ShapeError({.object = "list of processors to pin to",
                          .value = counted(processors.size(), "processor"),
                          .bound = there_are(threads, "thread"),
                          .remedy = "give one processor for each thread; the same one may be given twice"});
    }
    std::vector<Place> places;
    for (const int processor : processors) {
        const ProcessingUnit* const unit = topology.find(processor);
        if (unit == nullptr) {
            throw ValueOutOfBoundsError({.object = "processor to pin to",
                                         .value = std::to_string(processor),
                                         .bound = processor < 0
                                                      ? "processors are numbered from 0"
                                                      : "this process may not use it, or the machine does not have it",
                                         .remedy = "`ranvier info` lists the processors"});
        }
        places.push_back({.processor = processor, .node = unit->node});
    }
    return places;
}

std::vector<Place> place_where_all_fit(const Topology& topology, std::uint32_t threads) {
    std::vector<Place> places;
    if (threads == topology.units().size()) {
        for (const ProcessingUnit& unit : topology.units()) {
            places.push_back({.processor = unit.processor, .node = unit.node});
        }
    } else if (threads == topology.core_count()) {
        const std::span<const NumaNode> nodes = topology.nodes_with_cores();
        for (std::uint32_t node = 0; node < nodes.size(); ++node) {
            for (const Core& core : nodes[node].cores) {
                places.push_back({.processor = core.processors.front(), .node = node});
            }
        }
    } else {
        places.resize(threads);
    }
    return places;
}

[[noreturn]] void refuse_list(std::string_view part, const char* bound) {
    throw ValueOutOfBoundsError({.object = "list of processors to pin to",
                                 .value = "'" + std::string(part) + "'",
                                 .bound = bound,
                                 .remedy = "write numbers and ranges, such as 0,2,4-7"});
}

int parse_processor(std::string_view text, std::string_view part) {
    constexpr int most = 1 << 20;
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range || (error == std::errc{} && number > most)) {
        refuse_list(part, "no machine has so many processors");
    }
    if (error != std::errc{} || end != text.data() + text.size())
        refuse_list(part, "it is neither a number nor a range");
    if (number < 0) refuse_list(part, "processors are numbered from 0");
    return number;
}

std::vector<int> parse_list(std::string_view text) {
    std::vector<int> processors;
    for (;;) {
        const std::size_t comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        // A leading minus is a sign, not a range.
        const std::size_t dash = part.find('-', 1);
        const int first = parse_processor(part.substr(0, dash), part);
        const int last = dash == std::string_view::npos ? first : parse_processor(part.substr(dash + 1), part);
        if (last < first) refuse_list(part, "the range descends");
        for (int processor = first; processor <= last; ++processor) processors.push_back(processor);
        if (comma == std::string_view::npos) return processors;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace

std::string_view to_string(PinningPolicy policy) {
    for (const auto& [name, value] : names) {
        if (value == policy) return name;
    }
    throw InternalError("a pinning policy has no name");
}

Pinning parse_pinning(std::string_view text) {
    for (const auto& [name, policy] : names) {
        if (name == text && policy != PinningPolicy::list) return {.policy = policy};
    }
    if (text.find_first_not_of("0123456789,- ") == std::string_view::npos && !text.empty()) {
        return {.policy = PinningPolicy::list, .processors = parse_list(text)};
    }
    constexpr std::array<std::string_view, 5> known{"equal", "compact", "none", "auto",
                                                    "a list of processors such as 0,2,4-7"};
    throw unknown_name("pinning policy", text, known);
}

std::vector<Place> place_threads(const Topology& topology, std::uint32_t threads, const Pinning& pinning) {
    if (pinning.policy == PinningPolicy::none) return std::vector<Place>(threads);
    if (pinning.policy == PinningPolicy::automatic) return place_where_all_fit(topology, threads);
    if (pinning.policy == PinningPolicy::list) return place_on_list(topology, threads, pinning.processors);
    const std::span<const NumaNode> nodes = topology.nodes_with_cores();
    const bool compact = pinning.policy == PinningPolicy::compact && threads < topology.core_count();
    const std::vector<std::uint32_t> threads_of =
        compact ? fill_in_turn(nodes, threads) : deal_equally(nodes.size(), threads);
    std::vector<Place> places;
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
        const std::vector<int> units = units_in_turn(nodes[node]);
        for (std::uint32_t i = 0; i < threads_of[node]; ++i) {
            places.push_back({.processor = units[i % units.size()], .node = node});
        }
    }
    return places;
}

Occupancy occupancy(const Topology& topology, std::span<const Place> places) {
    std::map<int, std::uint32_t> on_unit;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> on_core;
    Occupancy found;
    for (const Place& place : places) {
        const ProcessingUnit* const unit = topology.find(place.processor);
        if (unit == nullptr) continue;
        found.most_on_unit = std::max(found.most_on_unit, ++on_unit[unit->processor]);
        found.most_on_core = std::max(found.most_on_core, ++on_core[{unit->node, unit->core}]);
    }
    // The best distribution that the scheduler can achieve.
    const auto least_on = [&](std::size_t places_there) {
        return static_cast<std::uint32_t>((places.size() + places_there - 1) / places_there);
    };
    found.most_on_unit = std::max(found.most_on_unit, least_on(topology.units().size()));
    found.most_on_core = std::max(found.most_on_core, least_on(topology.core_count()));
    return found;
}

}  // namespace ranvier::parallel
