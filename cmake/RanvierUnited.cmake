# Several source files in one compilation (RANVIER_UNITED_FILES).
#
# Most of the compile time of a file goes into headers and templates that its neighbours need as well, so the files of a
# target are compiled in groups: in a third of the time, and for a change of one file in the time of its group. Names in
# unnamed namespaces must differ within a target then. Files that define the same names by design (stimulators, neurons,
# mechanisms, rules) have a named namespace inside the unnamed one. A file is compiled alone where the compiler would inline
# less of its performance-critical loops in a group. `make tidy` compiles all files that way, which checks that each
# includes all that it needs.

# Each group reads all headers again (4 s in the engine). With groups of 24 files no call makes more than two.
set(RANVIER_UNITED_AT_ONCE 24)

# ranvier_unite(<target> [FOLDERS <folder>...] [EXCEPT <file>...] [AT_ONCE <number>]): all files of the target, or those
# in the folders of these names, but for the files of these names. Files of two calls are in different groups.
function(ranvier_unite target)
  if(NOT RANVIER_UNITED_FILES)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 unite "" "AT_ONCE" "FOLDERS;EXCEPT")
  if(NOT unite_AT_ONCE)
    set(unite_AT_ONCE ${RANVIER_UNITED_AT_ONCE})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(group "")
  if(unite_FOLDERS)
    list(GET unite_FOLDERS 0 group)
    string(APPEND group "_")
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^\\$<")
  set(count 0)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    if(name IN_LIST unite_EXCEPT OR (unite_FOLDERS AND NOT folder IN_LIST unite_FOLDERS))
      continue()
    endif()
    math(EXPR number "${count} / ${unite_AT_ONCE}")
    math(EXPR count "${count} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${group}${number}")
  endforeach()
endfunction()

# Code that runs once for a network, a simulation or a call from Python, and not once for a step, a spike or a synapse, is
# compiled with -O1, which takes two thirds of the time of -O3. Both levels can use the same precompiled headers.
set(RANVIER_SETUP_OPTIONS "$<$<CONFIG:Release,RelWithDebInfo>:-O1>")

# ranvier_compile_setup(<layer> [<folder or file>...]): the files of these names and those in the folders of these names
# are such code, in an object library of their own that becomes part of the layer's library; without names, the whole
# layer is. Call it when the target of the layer is complete, and before ranvier_unite.
function(ranvier_compile_setup layer)
  set(target ranvier_${layer})
  if(NOT ARGN)
    target_compile_options(${target} PRIVATE ${RANVIER_SETUP_OPTIONS})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(setup "")
  set(rest "")
  set(unknown ${ARGN})
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    if(name IN_LIST ARGN OR folder IN_LIST ARGN)
      list(APPEND setup ${source})
      list(REMOVE_ITEM unknown ${name} ${folder})
    else()
      list(APPEND rest ${source})
    endif()
  endforeach()
  if(unknown)
    message(FATAL_ERROR "ranvier_compile_setup: the layer ${layer} has no file or folder ${unknown}.")
  endif()
  add_library(${target}_setup OBJECT ${setup})
  target_include_directories(${target}_setup PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  target_link_libraries(${target}_setup PRIVATE ${libraries})
  target_compile_options(${target}_setup PRIVATE ${RANVIER_SETUP_OPTIONS})
  ranvier_precompile(${target}_setup REUSE_FROM ranvier_base)
  ranvier_unite(${target}_setup)
  set_property(TARGET ${target} PROPERTY SOURCES ${rest} $<TARGET_OBJECTS:${target}_setup>)
endfunction()
