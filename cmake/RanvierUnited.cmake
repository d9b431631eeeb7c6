# Several source files in one compilation (RANVIER_UNITED_FILES), for development.
#
# Most of the time of a file goes into headers and into templates that its neighbours read and make as well. So the
# compiler gets files of a target in groups, which takes a third of the time. Names of unnamed namespaces must differ
# within a target then. Files that have the same names by design (models, mechanisms, rules) and loops of which the speed
# matters are compiled one by one, as all are for users; so are all of them in wheels, and for `make tidy`, which sees
# whether each file includes what it needs.

set(RANVIER_UNITED_AT_ONCE 6)

# ranvier_unite(<target> [EXCEPT <regex>] [ONLY <regex>]): all files of the target but those whose paths match, or only
# those.
function(ranvier_unite target)
  if(NOT RANVIER_UNITED_FILES)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 unite "" "EXCEPT;ONLY" "")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${RANVIER_UNITED_AT_ONCE})
  get_target_property(sources ${target} SOURCES)
  if(unite_EXCEPT)
    list(FILTER sources INCLUDE REGEX "${unite_EXCEPT}")
  elseif(unite_ONLY)
    list(LENGTH sources all)
    list(FILTER sources EXCLUDE REGEX "${unite_ONLY}")
    list(LENGTH sources others)
    if(others EQUAL all)
      set(sources "")
    endif()
  else()
    return()
  endif()
  if(NOT sources)
    message(FATAL_ERROR "No file of ${target} matches ${unite_EXCEPT}${unite_ONLY}.")
  endif()
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
