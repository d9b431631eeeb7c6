# What C++ programs use of Ranvier, as the component `development` of an installation:
#
#     cmake --install <build> --prefix <prefix> --component development
#
# installs the public headers, the static libraries of the layers, the MPI plugins, and a CMake package with the targets
#
#     ranvier::parallel  threads, topology, pinning, memory of NUMA nodes: independent of neurons
#     ranvier::tasks     tasks with dependencies on top of it
#     ranvier::core      the simulator: networks, simulations, models, communicators
#
# which are also its components: find_package(ranvier COMPONENTS tasks).
#
# The Python package is the component `python` (pyproject.toml: install.components), so wheels hold none of this.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(layers base parallel tasks fmm comm connect program device models cable network engine)
list(TRANSFORM layers PREPEND ranvier_ OUTPUT_VARIABLE libraries)
foreach(layer IN LISTS layers)
  set_target_properties(ranvier_${layer} PROPERTIES EXPORT_NAME ${layer})
  add_library(ranvier::${layer} ALIAS ranvier_${layer})
endforeach()

add_library(ranvier_core INTERFACE)
target_link_libraries(ranvier_core INTERFACE ranvier_engine ranvier_cable)
set_target_properties(ranvier_core PROPERTIES EXPORT_NAME core)
add_library(ranvier::core ALIAS ranvier_core)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/ranvier")
install(
  TARGETS ${libraries} ranvier_core
  EXPORT ranvier_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/ranvier" COMPONENT development)
if(ranvier_mpi_plugins)
  install(TARGETS ${ranvier_mpi_plugins} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/ranvier" COMPONENT development)
endif()
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/ranvier"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development)
install(
  EXPORT ranvier_targets
  NAMESPACE ranvier::
  FILE ranvier-targets.cmake
  DESTINATION "${package_folder}"
  COMPONENT development)
file(
  CONFIGURE
  OUTPUT "${PROJECT_BINARY_DIR}/ranvier-config.cmake"
  CONTENT
    [[include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/ranvier-targets.cmake")
set(ranvier_parallel_FOUND ON)
set(ranvier_tasks_FOUND ON)
set(ranvier_core_FOUND ON)
foreach(component IN LISTS ranvier_FIND_COMPONENTS)
  if(ranvier_FIND_REQUIRED_${component} AND NOT ranvier_${component}_FOUND)
    set(ranvier_FOUND OFF)
    set(ranvier_NOT_FOUND_MESSAGE "Ranvier has no component '${component}': its components are core, parallel and tasks.")
  endif()
endforeach()
]]
  @ONLY)
# No promise of compatibility between versions before 1.0.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ranvier-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/ranvier-config.cmake" "${PROJECT_BINARY_DIR}/ranvier-config-version.cmake"
  DESTINATION "${package_folder}"
  COMPONENT development)
