# What `ranvier info` tells of the build, as the generated header "base/build_info.hpp" in the target
# ranvier_build_info: link it where the header is included.

set(generated_folder "${PROJECT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${generated_folder}/base")

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
get_target_property(own_options ranvier_flags INTERFACE_COMPILE_OPTIONS)
list(JOIN own_options " " RANVIER_BUILD_FLAGS)
string(PREPEND RANVIER_BUILD_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ")
string(STRIP "${RANVIER_BUILD_FLAGS}" RANVIER_BUILD_FLAGS)
configure_file("${PROJECT_SOURCE_DIR}/cmake/build_info.hpp.in" "${generated_folder}/base/build_info.hpp" @ONLY)

# The revision is looked up whenever something is built, not only when CMake runs: a commit in between must not leave
# an old one behind.
find_package(Git QUIET)
add_custom_target(
  ranvier_source_revision
  COMMAND
    "${CMAKE_COMMAND}" "-DGIT=$<IF:$<BOOL:${Git_FOUND}>,${GIT_EXECUTABLE},>" "-DSOURCE_FOLDER=${PROJECT_SOURCE_DIR}"
    "-DHEADER=${generated_folder}/base/source_revision.hpp" -P "${PROJECT_SOURCE_DIR}/cmake/write_source_revision.cmake"
  BYPRODUCTS "${generated_folder}/base/source_revision.hpp"
  COMMENT "Looking up the source revision"
  VERBATIM)

add_library(ranvier_build_info INTERFACE)
target_include_directories(ranvier_build_info INTERFACE "${generated_folder}")
add_dependencies(ranvier_build_info ranvier_source_revision)
