# Compiles the layer `parallel` again when hwloc's header has come or gone since it was last compiled.
#
# The sources ask the compiler whether the header is there (__has_include), so that they can be taken without CMake. But
# no build tool can know of a file that was not there, so CMake asks as well and puts the answer into the commands.

include(CheckIncludeFileCXX)

unset(RANVIER_FINDS_HWLOC CACHE)
set(CMAKE_REQUIRED_QUIET ON)
check_include_file_cxx(hwloc.h RANVIER_FINDS_HWLOC)
unset(CMAKE_REQUIRED_QUIET)
target_compile_definitions(ranvier_parallel PRIVATE RANVIER_FINDS_HWLOC=$<BOOL:${RANVIER_FINDS_HWLOC}>)
