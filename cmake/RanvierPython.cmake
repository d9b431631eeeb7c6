# The extension module ranvier._core, of bindings/*.cpp.

# Wheels for Python 3.12 and later use its stable interface, so that one serves all of them (pyproject.toml: wheel.py-api).
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
find_package(nanobind CONFIG REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/*.cpp")

# No link-time optimisation: the loops that count lie in the layers, each in one translation unit.
nanobind_add_module(_core STABLE_ABI NB_STATIC NB_SUPPRESS_WARNINGS ${sources})
if(RANVIER_UNITED_FILES)
  # Its files are made to be compiled together, too.
  get_target_property(libraries _core LINK_LIBRARIES)
  list(FILTER libraries INCLUDE REGEX "^nanobind")
  set_target_properties(${libraries} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endif()
target_include_directories(_core PRIVATE "${PROJECT_SOURCE_DIR}/bindings")
target_link_libraries(_core PRIVATE ranvier_engine ranvier_cable ranvier_build_info ranvier_flags)
# All files but one include it.
ranvier_unite(_core)
ranvier_precompile(_core "${PROJECT_SOURCE_DIR}/bindings/bindings.hpp")

install(TARGETS _core LIBRARY DESTINATION ranvier)
