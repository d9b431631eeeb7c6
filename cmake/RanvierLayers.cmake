# ranvier_add_layer(<layer> [USES <layer>...]): the library ranvier_<layer> of core/<layer>/*.cpp and of the folders in
# it, except core/comm/mpi, which is a plugin (RanvierMpi.cmake), and core/parallel/tasks, which is the library
# ranvier_tasks: no layer above uses it, and programs that do link it.
#
# Includes are relative to core/, so the compiler alone would let any layer include any other; that the includes follow
# the arrows is a test (tests/python/repository/test_layers.py).

function(ranvier_add_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "USES")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/${layer}/*.cpp"
       "${PROJECT_SOURCE_DIR}/core/${layer}/*/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/core/(comm/mpi|parallel/tasks)/")
  if(sources)
    set(scope PUBLIC)
    add_library(ranvier_${layer} STATIC ${sources})
    target_link_libraries(ranvier_${layer} PRIVATE ranvier_flags ranvier_assertions)
    if(layer STREQUAL "base")
      ranvier_precompile(ranvier_base ${RANVIER_STANDARD_HEADERS})
    else()
      ranvier_precompile(ranvier_${layer} REUSE_FROM ranvier_base)
    endif()
  else()
    set(scope INTERFACE)
    add_library(ranvier_${layer} INTERFACE)
  endif()
  list(TRANSFORM layer_USES PREPEND ranvier_)
  target_include_directories(ranvier_${layer} ${scope} "${PROJECT_SOURCE_DIR}/core")
  target_link_libraries(ranvier_${layer} ${scope} ${layer_USES} Threads::Threads)
endfunction()
