# Several source files in one compilation (RANVIER_UNITED_FILES).
#
# Most of the compile time of a file goes into headers and templates that its neighbours need as well, so the files of a
# target are compiled in groups: in a third of the time, and for a change of one file in the time of its group. Names in
# unnamed namespaces must differ within a target then. Performance-critical loops and folders whose files define the same
# names by design (neurons, mechanisms, rules) are compiled file by file; `make tidy` compiles all files that way, which
# checks that each includes all that it needs.

# With groups of 24 files no target has more than two, each of which reads all headers again (4 s in the engine).
set(RANVIER_UNITED_AT_ONCE 24)

# ranvier_unite(<target> [FOLDERS <folder>...] [EXCEPT <file>...]): all files of the target, or those in the folders of
# these names, but for the files of these names.
function(ranvier_unite target)
  if(NOT RANVIER_UNITED_FILES)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 unite "" "" "FOLDERS;EXCEPT")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${RANVIER_UNITED_AT_ONCE})
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    if(name IN_LIST unite_EXCEPT OR (unite_FOLDERS AND NOT folder IN_LIST unite_FOLDERS))
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
