#include "parallel/hwloc_library.hpp"

#include <array>

#if RANVIER_HAS_HWLOC_HEADER
#include <dlfcn.h>
#endif

namespace ranvier::parallel {

std::span<const std::string> hwloc_names() {
    // The second name exists only with the development files.
    static const std::array<std::string, 2> names{"libhwloc.so.15", "libhwloc.so"};
    return names;
}

#if RANVIER_HAS_HWLOC_HEADER

static_assert(HWLOC_API_VERSION >= 0x00020000, "hwloc 2 is needed; without any hwloc.h, topologies are flat");

namespace {

/// The functions of an open library, or the names of the missing ones.
Hwloc find_functions(const std::shared_ptr<void>& library) {
    HwlocFunctions functions{};
    std::string missing;
    const auto find = [&]<class Function>(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(library.get(), name));
        if (function == nullptr) missing += std::string(missing.empty() ? "" : ", ") + name;
    };
    find(functions.get_api_version, "hwloc_get_api_version");
    find(functions.topology_init, "hwloc_topology_init");
    find(functions.topology_destroy, "hwloc_topology_destroy");
    find(functions.topology_set_flags, "hwloc_topology_set_flags");
    find(functions.topology_set_synthetic, "hwloc_topology_set_synthetic");
    find(functions.topology_load, "hwloc_topology_load");
    find(functions.topology_is_thissystem, "hwloc_topology_is_thissystem");
    find(functions.get_type_depth, "hwloc_get_type_depth");
    find(functions.get_nbobjs_by_depth, "hwloc_get_nbobjs_by_depth");
    find(functions.get_obj_by_depth, "hwloc_get_obj_by_depth");
    find(functions.bitmap_isset, "hwloc_bitmap_isset");
    find(functions.bitmap_next, "hwloc_bitmap_next");
    find(functions.distances_get_by_type, "hwloc_distances_get_by_type");
    find(functions.distances_release, "hwloc_distances_release");
    if (!missing.empty()) return {.problem = "it lacks " + missing};
    // Other major versions have a different object layout.
    const unsigned major = functions.get_api_version() >> 16;
    if (major != 2) return {.problem = "it is version " + std::to_string(major) + " of hwloc, not 2"};
    return {.functions = functions, .library = library};
}

}  // namespace

Hwloc load_hwloc(std::span<const std::string> names) {
    std::string problems;
    for (const std::string& name : names) {
        std::string problem;
        if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
            Hwloc found = find_functions({handle, [](void* each) { ::dlclose(each); }});
            if (found.functions) return found;
            problem = name + ": " + found.problem;
        } else {
            const char* const message = ::dlerror();
            problem = message != nullptr ? message : name + ": cannot be loaded";
        }
        problems += (problems.empty() ? "" : "; ") + problem;
    }
    return {.problem = problems};
}

#endif

}  // namespace ranvier::parallel
