// Sums numbers up a binary tree: a program that is no simulator, on the parallel layer alone.
//
// Its task graph is the upward half of Figure 1 in Morgenstern et al. (2020): the particles of each lowest box are gathered
// into one moment, and the moments of the two children of a box into that of the box. Each level of the tree is
// partitioned equally among the NUMA nodes. Every box adds its children in the same order, so the sum is the same, bit for
// bit, wherever and whenever the boxes are done; the program checks that against a sum without threads.
//
//     tree_reduction [--threads N] [--levels N] [--topology TEXT] [--pinning POLICY] [--stealing POLICY]
//
// A topology is a made-up machine in hwloc's syntax, "node:2 core:4 pu:1" for instance; its threads are not bound.

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/stealing.hpp"
#include "ranvier/parallel/tasks/tasks.hpp"
#include "ranvier/parallel/team.hpp"
#include "ranvier/parallel/topology.hpp"

namespace {

using namespace ranvier::parallel;

// ---- the algorithm: it knows boxes and numbers, and neither threads nor processors ------------------------------------

constexpr std::size_t numbers_in_box = 1000;

/// A box of the tree: the top one is 0, and the children of box i are 2 i + 1 and 2 i + 2.
using Box = std::uint32_t;

struct Tree {
    explicit Tree(std::uint32_t levels)
        : boxes((Box{1} << levels) - 1),
          inner_boxes(boxes / 2),
          sums(boxes, 0.0),
          // Not set to anything yet, so that the memory of a box is on the node whose task uses it first.
          numbers(new double[(boxes - inner_boxes) * numbers_in_box]) {}

    bool is_lowest(Box box) const { return box >= inner_boxes; }

    /// Makes up the numbers of a lowest box, and sums them.
    void gather(Box box) {
        double* const own = &numbers[(box - inner_boxes) * numbers_in_box];
        for (std::size_t i = 0; i < numbers_in_box; ++i) {
            own[i] = 1.0 / static_cast<double>(box * numbers_in_box + i + 1);
        }
        for (std::size_t i = 0; i < numbers_in_box; ++i) sums[box] += own[i];
    }
    void add_children(Box box) { sums[box] = sums[2 * box + 1] + sums[2 * box + 2]; }

    Box boxes;
    Box inner_boxes;
    std::vector<double> sums;
    std::unique_ptr<double[]> numbers;
};

double sum_without_threads(std::uint32_t levels) {
    Tree tree(levels);
    for (Box box = tree.boxes; box-- > 0;) {
        if (tree.is_lowest(box)) {
            tree.gather(box);
        } else {
            tree.add_children(box);
        }
    }
    return tree.sums[0];
}

// ---- the task graph: what waits for what, and where it belongs ---------------------------------------------------------

/// The part of the data that each NUMA node has: equal parts of each level, in order.
std::uint32_t node_of(Box box, const std::vector<std::uint32_t>& nodes) {
    const std::uint64_t boxes_on_level = std::bit_floor(box + 1);
    const std::uint64_t place_on_level = box + 1 - boxes_on_level;
    return nodes[place_on_level * nodes.size() / boxes_on_level];
}

double sum_with_tasks(Tasks& tasks, Tree& tree, const std::vector<std::uint32_t>& nodes) {
    struct BoxTask {
        Box box;
    };
    std::vector<Event*> children_done;
    const auto tell_parent = [&](TaskContext& context, Box box) {
        if (box > 0) context.signal(*children_done[(box - 1) / 2]);
    };
    const auto gather = tasks.add_type<BoxTask>("gather", [&](TaskContext& context, const BoxTask& task) {
        tree.gather(task.box);
        tell_parent(context, task.box);
    });
    const auto add_children = tasks.add_type<BoxTask>("add children", [&](TaskContext& context, const BoxTask& task) {
        tree.add_children(task.box);
        tell_parent(context, task.box);
    });

    for (Box box = 0; box < tree.inner_boxes; ++box) {
        children_done.push_back(&tasks.make_event(2));
        tasks.create_after(*children_done[box], add_children, {box}, Home::node(node_of(box, nodes)));
    }
    for (Box box = tree.inner_boxes; box < tree.boxes; ++box) {
        tasks.create(gather, {box}, Home::node(node_of(box, nodes)));
    }
    tasks.run();
    return tree.sums[0];
}

// ---- the machine: chosen here, and nowhere above -------------------------------------------------------------------------

struct Options {
    std::uint32_t threads = 0;  ///< 0: one for each core
    std::uint32_t levels = 12;
    std::string topology;  ///< empty: that of this machine
    std::string pinning = "equal";
    std::string stealing = "prefer_local";
};

std::uint32_t parse_number(std::string_view name, std::string_view text, std::uint32_t most) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && number >= 1 && number <= most) return number;
    throw ranvier::ValueOutOfBoundsError({.object = std::string(name),
                                          .value = "'" + std::string(text) + "'",
                                          .bound = "it must be a number from 1 to " + std::to_string(most),
                                          .remedy = ""});
}

Options parse(int count, char** texts) {
    Options options;
    const std::map<std::string_view, std::string*> strings{
        {"--topology", &options.topology}, {"--pinning", &options.pinning}, {"--stealing", &options.stealing}};
    for (int i = 1; i < count; i += 2) {
        const std::string_view name = texts[i];
        const std::string_view value = i + 1 < count ? texts[i + 1] : "";
        if (name == "--threads") {
            options.threads = parse_number(name, value, 1024);
        } else if (name == "--levels") {
            options.levels = parse_number(name, value, 20);
        } else if (const auto found = strings.find(name); found != strings.end()) {
            *found->second = value;
        } else {
            constexpr std::string_view names[] = {"--threads", "--levels", "--topology", "--pinning", "--stealing"};
            throw ranvier::unknown_name("option", name, names);
        }
    }
    return options;
}

Team make_team(const Options& options) {
    const bool made_up = !options.topology.empty();
    const Topology topology = made_up ? Topology::synthetic(options.topology) : Topology::detect();
    const std::uint32_t threads =
        options.threads > 0 ? options.threads : static_cast<std::uint32_t>(topology.core_count());
    std::vector<Place> places = place_threads(topology, threads, parse_pinning(options.pinning));
    if (made_up) {
        for (Place& place : places) place.processor = -1;
    }
    return Team(std::move(places), {.stealing = ranvier::parse_choice<StealingPolicy>(options.stealing),
                                    .distances = topology.distances()});
}

int run(const Options& options) {
    Team team = make_team(options);
    std::vector<std::uint32_t> nodes;
    for (const Place& place : team.places()) nodes.push_back(place.node);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());

    Tasks tasks(team);
    Tree tree(options.levels);
    const double sum = sum_with_tasks(tasks, tree, nodes);
    const double expected = sum_without_threads(options.levels);

    std::printf("worker  node  processor  tasks  stolen locally  remotely\n");
    for (std::uint32_t worker = 0; worker < team.size(); ++worker) {
        const TaskCounts& counts = tasks.counts(worker);
        std::printf("%6u  %4u  %9d  %5llu  %14llu  %8llu\n", worker, team.node_of(worker),
                    team.places()[worker].processor, static_cast<unsigned long long>(counts.executed),
                    static_cast<unsigned long long>(counts.stolen_locally),
                    static_cast<unsigned long long>(counts.stolen_remotely));
    }
    std::printf("sum with tasks       %.17g\nsum without threads  %.17g\n", sum, expected);
    const bool same = std::bit_cast<std::uint64_t>(sum) == std::bit_cast<std::uint64_t>(expected);
    std::printf(same ? "They are the same, bit for bit.\n" : "They differ.\n");
    return same ? 0 : 1;
}

}  // namespace

int main(int count, char** texts) {
    try {
        return run(parse(count, texts));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tree_reduction: %s\n", error.what());
        return 2;
    }
}
