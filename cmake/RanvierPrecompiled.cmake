# Precompiled headers (RANVIER_PRECOMPILED_HEADERS), for builds without a compiler cache. They take 80 MB in the build
# folder, and as much again with the C++ tests.
#
# Most of the time of a file is spent on the headers of the standard library. No header of a layer that changes is
# precompiled: a change of it must not compile what does not include it. Each file still includes all that it needs, which
# `make tidy` and builds without this option check.
#
# A cache of compilations does not keep what uses a precompiled header, unless it is told to be less strict, so the
# option is ignored where there is one.

set(ranvier_precompiles_headers OFF)
if(RANVIER_PRECOMPILED_HEADERS)
  file(REAL_PATH "${CMAKE_CXX_COMPILER}" compiler)
  cmake_path(GET compiler STEM compiler)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT compiler MATCHES "^s?ccache$")
    set(ranvier_precompiles_headers ON)
  endif()
endif()

set(RANVIER_STANDARD_HEADERS
    <algorithm>
    <array>
    <atomic>
    <bit>
    <chrono>
    <cmath>
    <condition_variable>
    <cstddef>
    <cstdint>
    <cstring>
    <deque>
    <exception>
    <functional>
    <limits>
    <map>
    <memory>
    <memory_resource>
    <mutex>
    <numeric>
    <optional>
    <set>
    <span>
    <sstream>
    <stdexcept>
    <string>
    <string_view>
    <thread>
    <tuple>
    <type_traits>
    <unordered_map>
    <utility>
    <variant>
    <vector>
    # The header of the intrinsic functions sets options for parts of itself. Included after precompiled headers, it makes
    # GCC return to their options, so that code for set-up (RanvierUnited.cmake) is compiled with -O3. Precompiled, it does
    # not.
    "${PROJECT_SOURCE_DIR}/core/base/x86_intrinsics.hpp")

# ranvier_precompile(<target> <header>...) compiles these headers once for all files of the target, and
# ranvier_precompile(<target> REUSE_FROM <other>) takes those of another one, which must be compiled with the same flags.
function(ranvier_precompile target)
  if(NOT ranvier_precompiles_headers)
    return()
  endif()
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# ranvier_use_intrinsics(<file>...): these files use intrinsic functions that leave registers undefined on purpose. The
# header that turns off the warnings about them has no effect on what is precompiled.
function(ranvier_use_intrinsics)
  if(ranvier_precompiles_headers AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-Wno-uninitialized;-Wno-maybe-uninitialized")
  endif()
endfunction()
