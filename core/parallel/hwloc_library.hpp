#pragma once

// hwloc is located at run time, not at build time. A package built with hwloc's header works without the library, and
// does not load a second copy into a process in which MPI has already loaded one.
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

/// Library names of hwloc 2, in search order.
std::span<const std::string> hwloc_names();

#if RANVIER_HAS_HWLOC_HEADER

/// The functions of hwloc that are used. Inline functions are excluded: some of them call functions that would be
/// linked.
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

/// hwloc, or the reason why it is missing.
struct Hwloc {
    std::optional<HwlocFunctions> functions{};
    std::string problem{};  ///< why they are missing
    std::shared_ptr<void> library{};  ///< keeps the functions loaded; unloads them with its last owner
};

/// Loads the first library found that is hwloc 2. A library of that name already loaded by the process is used;
/// otherwise it is unloaded afterwards, so that an MPI library loaded later gets the one that it bundles.
Hwloc load_hwloc(std::span<const std::string> names);

#endif

}  // namespace ranvier::parallel
