#include "parallel/topology_reading.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel/hwloc_library.hpp"
#include "parallel/processors.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::parallel {

namespace {

std::uint64_t physical_memory() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page_bytes = ::sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page_bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) : 0;
}

Topology flat_machine(const std::string& note) {
    return Topology::flat(available_processors(), physical_memory(), note);
}

#if RANVIER_HAS_HWLOC_HEADER

/// More than any shared-memory machine has. hwloc takes minutes, or all memory, for millions.
constexpr std::uint64_t most_synthetic_processors = 4096;

/// The number of processing units of a description in hwloc's syntax, the product of the arities of its levels, or a
/// number above the limit if there are more.
std::uint64_t synthetic_processors(std::string_view description) {
    std::uint64_t product = 1;
    std::uint64_t arity = 0;
    int nesting = 0;  // attributes and attached memory multiply nothing
    char before = ' ';
    for (const char character : description) {
        if (character == '(' || character == '[') ++nesting;
        if (character == ')' || character == ']') --nesting;
        const bool is_digit = character >= '0' && character <= '9';
        if (nesting == 0 && is_digit && (arity > 0 || before == ':' || before == ' ')) {
            arity = std::min(arity * 10 + static_cast<std::uint64_t>(character - '0'), most_synthetic_processors + 1);
        } else if (arity > 0) {
            product = std::min(product * arity, most_synthetic_processors + 1);
            arity = 0;
        }
        before = character;
    }
    return arity > 0 ? std::min(product * arity, most_synthetic_processors + 1) : product;
}

/// RAII wrapper of an hwloc topology.
class HwlocTopology {
   public:
    explicit HwlocTopology(const HwlocFunctions& functions) : hwloc(functions) {
        if (hwloc.topology_init(&topology_) != 0) topology_ = nullptr;
    }
    ~HwlocTopology() {
        if (topology_ != nullptr) hwloc.topology_destroy(topology_);
    }
    HwlocTopology(const HwlocTopology&) = delete;
    HwlocTopology& operator=(const HwlocTopology&) = delete;

    bool load_this_machine() {
        if (topology_ == nullptr) return false;
#if HWLOC_API_VERSION >= 0x00020500
        // Otherwise hwloc moves to each processor in turn to query details that are not used here.
        if (hwloc.get_api_version() >= 0x00020500) {
            hwloc.topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
        }
#endif
        return hwloc.topology_load(topology_) == 0;
    }
    bool load_synthetic(const std::string& description) {
        return topology_ != nullptr && hwloc.topology_set_synthetic(topology_, description.c_str()) == 0 &&
               hwloc.topology_load(topology_) == 0;
    }
    bool is_this_machine() const { return hwloc.topology_is_thissystem(topology_) != 0; }

    /// All objects of a type, in logical order.
    std::vector<hwloc_obj_t> objects(hwloc_obj_type_t type) const {
        std::vector<hwloc_obj_t> found;
        const int depth = hwloc.get_type_depth(topology_, type);
        if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) return found;
        const unsigned count = hwloc.get_nbobjs_by_depth(topology_, depth);
        for (unsigned i = 0; i < count; ++i) found.push_back(hwloc.get_obj_by_depth(topology_, depth, i));
        return found;
    }

    const HwlocFunctions& hwloc;  ///< must outlive this
    hwloc_topology_t topology() const { return topology_; }

   private:
    hwloc_topology_t topology_ = nullptr;
};

hwloc_obj_t ancestor(hwloc_obj_t object, hwloc_obj_type_t type) {
    while (object != nullptr && object->type != type) object = object->parent;
    return object;
}

int to_index(unsigned os_index) { return os_index == HWLOC_UNKNOWN_INDEX ? -1 : static_cast<int>(os_index); }

std::string find_information(hwloc_obj_t object, std::string_view key) {
    for (unsigned i = 0; i < object->infos_count; ++i) {
        if (object->infos[i].name == key) return object->infos[i].value;
    }
    return {};
}

/// The product's name if the firmware reports it, otherwise that of its processors.
std::string machine_name(const HwlocTopology& source) {
    std::string name;
    for (const hwloc_obj_t machine : source.objects(HWLOC_OBJ_MACHINE)) {
        if (name.empty()) name = find_information(machine, "DMIProductName");
    }
    for (const hwloc_obj_t package : source.objects(HWLOC_OBJ_PACKAGE)) {
        if (name.empty()) name = find_information(package, "CPUModel");
    }
    return name;
}

/// The number of the package around an object, or -1.
int package_of(hwloc_obj_t object) {
    const hwloc_obj_t package = ancestor(object, HWLOC_OBJ_PACKAGE);
    return package != nullptr ? static_cast<int>(package->logical_index) : -1;
}

/// A core to be added to a node: by package and physical id, where these are known.
struct FoundCore {
    unsigned package = 0;
    Core core;
};

/// The objects of the nodes, those with cores first, and the nodes.
std::pair<std::vector<hwloc_obj_t>, std::vector<NumaNode>> read_nodes(const HwlocTopology& source) {
    const std::vector<hwloc_obj_t> objects = source.objects(HWLOC_OBJ_NUMANODE);
    std::vector<std::vector<FoundCore>> cores(objects.size());
    std::map<std::pair<std::size_t, hwloc_obj_t>, std::size_t> known;
    for (const hwloc_obj_t unit : source.objects(HWLOC_OBJ_PU)) {
        // A unit may be near several kinds of memory. The first is the system's default.
        const auto node = static_cast<std::size_t>(
            std::find_if(
                objects.begin(), objects.end(),
                [&](hwloc_obj_t each) { return source.hwloc.bitmap_isset(each->cpuset, unit->os_index) != 0; }) -
            objects.begin());
        if (node == objects.size()) continue;
        const hwloc_obj_t core = ancestor(unit, HWLOC_OBJ_CORE);
        const auto [place, is_new] = known.emplace(std::pair(node, core != nullptr ? core : unit), cores[node].size());
        if (is_new) {
            const hwloc_obj_t package = ancestor(unit, HWLOC_OBJ_PACKAGE);
            cores[node].push_back(
                {.package = package != nullptr ? package->logical_index : 0,
                 .core = {.os_index = core != nullptr ? to_index(core->os_index) : -1, .processors = {}}});
        }
        cores[node][place->second].core.processors.push_back(to_index(unit->os_index));
    }
    std::vector<std::size_t> order(objects.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_partition(order.begin(), order.end(), [&](std::size_t node) { return !cores[node].empty(); });
    std::pair<std::vector<hwloc_obj_t>, std::vector<NumaNode>> result;
    for (const std::size_t i : order) {
        NumaNode node{.os_index = to_index(objects[i]->os_index),
                      .memory_bytes = objects[i]->attr->numanode.local_memory,
                      .cores = {},
                      .package = package_of(objects[i])};
        for (FoundCore& found : cores[i]) std::sort(found.core.processors.begin(), found.core.processors.end());
        std::sort(cores[i].begin(), cores[i].end(), [](const FoundCore& a, const FoundCore& b) {
            return std::tie(a.package, a.core.os_index, a.core.processors) <
                   std::tie(b.package, b.core.os_index, b.core.processors);
        });
        for (FoundCore& found : cores[i]) node.cores.push_back(std::move(found.core));
        result.first.push_back(objects[i]);
        result.second.push_back(std::move(node));
    }
    return result;
}

std::vector<Cache> read_caches(const HwlocTopology& source) {
    std::vector<Cache> caches;
    for (const hwloc_obj_type_t type :
         {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
        for (const hwloc_obj_t object : source.objects(type)) {
            Cache cache{.level = object->attr->cache.depth,
                        .bytes = object->attr->cache.size,
                        .line_bytes = object->attr->cache.linesize,
                        .processors = {}};
            for (int unit = -1; (unit = source.hwloc.bitmap_next(object->cpuset, unit)) >= 0;) {
                cache.processors.push_back(unit);
            }
            if (!cache.processors.empty()) caches.push_back(std::move(cache));
        }
    }
    std::stable_sort(caches.begin(), caches.end(), [](const Cache& a, const Cache& b) {
        return std::tie(a.level, a.processors.front()) < std::tie(b.level, b.processors.front());
    });
    return caches;
}

/// The distances between these nodes as reported by the firmware, scaled so that the nearest is 10; empty unless all
/// are known.
std::vector<std::uint32_t> read_distances(const HwlocTopology& source, const std::vector<hwloc_obj_t>& nodes) {
    unsigned count = 1;
    hwloc_distances_s* found = nullptr;
    if (source.hwloc.distances_get_by_type(source.topology(), HWLOC_OBJ_NUMANODE, &count, &found,
                                           HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        count == 0 || found == nullptr) {
        return {};
    }
    std::map<hwloc_obj_t, std::size_t> place;
    for (std::size_t i = 0; i < found->nbobjs; ++i) place[found->objs[i]] = i;
    std::vector<std::uint64_t> raw;
    for (const hwloc_obj_t from : nodes) {
        for (const hwloc_obj_t to : nodes) {
            if (place.contains(from) && place.contains(to)) {
                raw.push_back(found->values[place[from] * found->nbobjs + place[to]]);
            }
        }
    }
    source.hwloc.distances_release(source.topology(), found);
    if (raw.size() != nodes.size() * nodes.size() || raw.empty()) return {};
    const std::uint64_t least = *std::min_element(raw.begin(), raw.end());
    if (least == 0) return {};
    std::vector<std::uint32_t> distances;
    distances.reserve(raw.size());
    for (const std::uint64_t value : raw) {
        distances.push_back(static_cast<std::uint32_t>((value * 10 + least / 2) / least));
    }
    return distances;
}

TopologyParts read(const HwlocTopology& source) {
    TopologyParts parts;
    auto [objects, nodes] = read_nodes(source);
    parts.name = machine_name(source);
    parts.distances = read_distances(source, objects);
    parts.nodes = std::move(nodes);
    for (const NumaNode& node : parts.nodes) parts.memory_bytes += node.memory_bytes;
    parts.caches = read_caches(source);
    return parts;
}

/// The processors of `all` that are in the topology.
std::vector<int> common(const Topology& topology, const std::vector<int>& all) {
    std::vector<int> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](int processor) { return topology.find(processor) != nullptr; });
    return found;
}

#endif

}  // namespace

Topology detect_topology(std::span<const std::string> libraries) {
#if RANVIER_HAS_HWLOC_HEADER
    const Hwloc hwloc = load_hwloc(libraries);
    if (!hwloc.functions) return flat_machine("hwloc cannot be loaded (" + hwloc.problem + ")");
    HwlocTopology source(*hwloc.functions);
    if (!source.load_this_machine()) return flat_machine("hwloc cannot read this machine");
    // An environment variable can make hwloc describe another machine.
    if (!source.is_this_machine()) return flat_machine("hwloc is configured to describe another machine");
    const Topology machine(read(source));
    const std::vector<int> available = available_processors();
    if (common(machine, available) != available) {
        return flat_machine("hwloc does not report all processors that this process may use");
    }
    return machine.restricted(available);
#else
    static_cast<void>(libraries);
    return flat_machine("this package was built without the header of hwloc");
#endif
}

Topology synthetic_topology(std::string_view description, std::span<const std::string> libraries) {
#if RANVIER_HAS_HWLOC_HEADER
    const Hwloc hwloc = load_hwloc(libraries);
    if (!hwloc.functions) {
        throw StateError({.object = "synthetic topology",
                          .value = "'" + std::string(description) + "'",
                          .bound = "hwloc, which reads its description, cannot be loaded (" + hwloc.problem + ")",
                          .remedy = "install hwloc 2 (libhwloc15 on Debian and Ubuntu)"});
    }
    if (synthetic_processors(description) > most_synthetic_processors) {
        throw ValueOutOfBoundsError({.object = "synthetic topology",
                                     .value = "'" + std::string(description) + "'",
                                     .bound = "it has more than " + std::to_string(most_synthetic_processors) +
                                              " processing units, the product of its arities",
                                     .remedy = "describe a smaller machine"});
    }
    HwlocTopology source(*hwloc.functions);
    if (source.load_synthetic(std::string(description))) {
        TopologyParts parts = read(source);
        parts.name = description;
        parts.synthetic = true;
        return Topology(std::move(parts));
    }
    throw ValueOutOfBoundsError({.object = "synthetic topology",
                                 .value = "'" + std::string(description) + "'",
                                 .bound = "hwloc does not accept this description",
                                 .remedy = "write levels with their arities, down to the processing units, such as "
                                           "'node:2 core:12 pu:2'"});
#else
    static_cast<void>(libraries);
    throw StateError({.object = "synthetic topology",
                      .value = "'" + std::string(description) + "'",
                      .bound = "this package was built without the header of hwloc, which reads its description",
                      .remedy = "install the header (libhwloc-dev on Debian and Ubuntu), and build again"});
#endif
}

}  // namespace ranvier::parallel
