# ranvier_add_layer(<layer> [USES <layer>...]): the library ranvier_<layer> of core/<layer>/*.cpp and of the folders in
# it, except core/comm/mpi, which is a plugin (RanvierMpi.cmake), and core/parallel/tasks, which is the library
# ranvier_tasks: of the layers, fmm alone uses it, and programs that do link it.
#
# Public headers are in include/ranvier/<layer> and are included as "ranvier/<layer>/...": only these are installed, and
# the prefix keeps them apart from headers of other programs. Private headers are in core/<layer>; their includes are
# relative to core/. The compiler would let any layer include any other; tests/python/repository/test_layers.py checks
# that the includes follow the arrows and that public headers include no private ones.

include(GNUInstallDirs)

function(ranvier_add_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "USES")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/${layer}/*.cpp"
       "${PROJECT_SOURCE_DIR}/core/${layer}/*/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/core/(comm/mpi|parallel/tasks)/")
  add_library(ranvier_${layer} STATIC ${sources})
  target_link_libraries(ranvier_${layer} PRIVATE $<BUILD_INTERFACE:ranvier_flags> $<BUILD_INTERFACE:ranvier_assertions>)
  if(layer STREQUAL "base")
    ranvier_precompile(ranvier_base ${RANVIER_STANDARD_HEADERS})
  else()
    ranvier_precompile(ranvier_${layer} REUSE_FROM ranvier_base)
  endif()
  list(TRANSFORM layer_USES PREPEND ranvier_)
  target_include_directories(
    ranvier_${layer} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                            "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(ranvier_${layer} PUBLIC cxx_std_20)
  target_link_libraries(ranvier_${layer} PUBLIC ${layer_USES} Threads::Threads)
endfunction()
