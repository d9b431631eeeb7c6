#pragma once

// hwloc is found when the program runs, not when it is built. A package that is built where hwloc's header is works where
// the library is not, and the library brings no second copy of itself into a process in which MPI has one already.
#if __has_include(<hwloc.h>)
#define RANVIER_HAS_HWLOC_HEADER 1
#include <hwloc.h>
#else
#define RANVIER_HAS_HWLOC_HEADER 0
#endif

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ranvier::parallel {

/// Names under which hwloc 2 is looked for, in this order.
std::span<const std::string> hwloc_names();

#if RANVIER_HAS_HWLOC_HEADER

/// The functions of hwloc that are used. Its inline functions are not: some of them call others that would be linked.
struct HwlocFunctions {
    decltype(&hwloc_get_api_version) get_api_version;
    decltype(&hwloc_topology_init) topology_init;
    decltype(&hwloc_topology_destroy) topology_destroy;
    decltype(&hwloc_topology_set_flags) topology_set_flags;
    decltype(&hwloc_topology_set_synthetic) topology_set_synthetic;
    decltype(&hwloc_topology_load) topology_load;
    decltype(&hwloc_topology_is_thissystem) topology_is_thissystem;
    decltype(&hwloc_get_type_depth) get_type_depth;
    decltype(&hwloc_get_nbobjs_by_depth) get_nbobjs_by_depth;
    decltype(&hwloc_get_obj_by_depth) get_obj_by_depth;
    decltype(&hwloc_bitmap_isset) bitmap_isset;
    decltype(&hwloc_bitmap_next) bitmap_next;
    decltype(&hwloc_distances_get_by_type) distances_get_by_type;
    decltype(&hwloc_distances_release) distances_release;
};

/// hwloc, or why it is not there.
struct Hwloc {
    std::optional<HwlocFunctions> functions{};
    std::string problem{};            ///< why there are none
    std::shared_ptr<void> library{};  ///< keeps the functions alive; unloads them with its last owner
};

/// Loads the first of the libraries that is there and is hwloc 2. If the process has one of that name already, that is
/// taken; if not, none is left behind, so that an MPI library that is loaded later gets the one that it brings.
Hwloc load_hwloc(std::span<const std::string> names);

#endif

}  // namespace ranvier::parallel
