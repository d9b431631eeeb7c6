# The extension module ranvier._core, of bindings/*.cpp.

# Wheels for Python 3.12 and later use its stable interface, so that one serves all of them (pyproject.toml: wheel.py-api).
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
find_package(nanobind CONFIG REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/*.cpp")

# No link-time optimisation: the loops that count lie in the layers, each in one translation unit.
# The bindings and nanobind convert arguments, once for each call from Python: -O1 is fast enough for that, and with the
# optimisation level of nanobind (-Os) the bindings could not use the precompiled headers of the core.
nanobind_add_module(_core STABLE_ABI NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${sources})
get_target_property(libraries _core LINK_LIBRARIES)
list(FILTER libraries INCLUDE REGEX "^nanobind")
foreach(target _core ${libraries})
  target_compile_options(${target} PRIVATE ${RANVIER_SETUP_OPTIONS})
endforeach()
if(RANVIER_UNITED_FILES)
  # Its files are made to be compiled together, too.
  set_target_properties(${libraries} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endif()
target_include_directories(_core PRIVATE "${PROJECT_SOURCE_DIR}/bindings")
target_link_libraries(_core PRIVATE ranvier_engine ranvier_cable ranvier_fmm ranvier_build_info ranvier_flags ranvier_assertions)
ranvier_unite(_core)
ranvier_precompile(_core REUSE_FROM ranvier_base)

install(TARGETS _core LIBRARY DESTINATION ranvier COMPONENT python)

# The target `ranvier_programs`: the neuron models of equations that come with Ranvier, as programs for simulations in C++.
# Python, with NumPy and SymPy, makes them of the files of the models.
set(programs "${PROJECT_BINARY_DIR}/programs")
file(GLOB neurons CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/ranvier/equations/neurons/*.toml")
file(GLOB compiler CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/ranvier/equations/*.py")
add_custom_command(
  OUTPUT "${programs}/written"
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${programs}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${programs}"
  COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/write_programs.py" "$<TARGET_FILE:_core>" "${programs}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${programs}/written"
  DEPENDS _core "${PROJECT_SOURCE_DIR}/tools/write_programs.py" ${neurons} ${compiler}
  COMMENT "Compiling the neuron models of equations"
  VERBATIM)
add_custom_target(ranvier_programs DEPENDS "${programs}/written")
# The package for Python has the files of the models instead.
if(NOT DEFINED SKBUILD)
  include(GNUInstallDirs)
  install(DIRECTORY "${programs}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/ranvier/programs" COMPONENT programs
          OPTIONAL FILES_MATCHING PATTERN "*.program")
endif()

# A module for Python 3.11 uses all of Python's C interface, so it compiles although one for later versions would not.
# ranvier_check_stable_interface() makes the target check_stable_interface, which checks the bindings against the stable interface, too, with the headers of a later Python,
# if this machine has one. The check compiles all files at once and makes no code: a third of the time of a compilation.
function(ranvier_check_stable_interface)
  if(NOT Python_VERSION VERSION_LESS 3.12)
    add_custom_target(check_stable_interface) # The module itself is compiled for it.
    return()
  endif()
  execute_process(
    COMMAND "${PROJECT_SOURCE_DIR}/tools/find_python" --newest 3.12 OUTPUT_VARIABLE newer OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed ERROR_VARIABLE tried)
  if(failed)
    message(WARNING "The bindings are not checked against the stable interface of Python. ${tried}")
    add_custom_target(check_stable_interface)
    return()
  endif()
  execute_process(COMMAND "${newer}" -c "import sysconfig; print(sysconfig.get_path('include'), end='')"
                  OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "([^;]+);?" "#include \"\\1\"\n" all "${sources}")
  set(folder "${PROJECT_BINARY_DIR}/stable_interface")
  file(CONFIGURE OUTPUT "${folder}/bindings.cpp" CONTENT "${all}" @ONLY)
  set(includes "$<TARGET_PROPERTY:_core,INCLUDE_DIRECTORIES>")
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  add_custom_command(
    OUTPUT "${folder}/checked"
    COMMAND "${CMAKE_CXX_COMPILER}" ${flags} -std=c++20 -fsyntax-only -w -DPy_LIMITED_API=0x030C0000 "-I${headers}"
            "$<$<BOOL:${includes}>:-I$<JOIN:$<REMOVE_DUPLICATES:${includes}>,;-I>>" -MMD -MF "${folder}/depends" -MT
            stable_interface/checked "${folder}/bindings.cpp"
    COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/checked"
    DEPENDS "${folder}/bindings.cpp"
    DEPFILE "${folder}/depends"
    COMMENT "Checking the bindings against the stable interface, with the headers of ${newer}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(check_stable_interface DEPENDS "${folder}/checked")
  add_dependencies(check_stable_interface ranvier_build_info)
endfunction()
