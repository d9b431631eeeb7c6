# The headers of the kernels as text in the layer `device` (core/device/cuda/kernel_texts.hpp), which NVRTC compiles when
# a simulation runs on a GPU: the kernels, what they take from other layers, and small headers in place of the standard
# library's, which NVRTC does not have. An item is a file, or the name by which it is included and a file.

set(kernel_texts
    core/device/kernel/machine.hpp
    core/device/kernel/plastic.hpp
    core/device/kernel/modulation.hpp
    core/device/kernel/cells.hpp
    core/device/kernel/random.hpp
    core/device/kernel/draws.hpp
    core/device/kernel/poisson.hpp
    core/device/kernel/noise.hpp
    core/device/kernel/signals.hpp
    core/device/kernel/rows.hpp
    core/device/kernel/network.hpp
    core/device/kernel/block.hpp
    core/device/kernel/construction.hpp
    core/device/cuda/kernel_entry.cuh
    core/device/cuda/construction_entry.cuh
    core/models/synapses/learning_rules.hpp
    core/models/synapses/release_rules.hpp
    core/program/operations.hpp
    core/base/math.hpp
    core/base/binomial.hpp
    core/connect/plasticity/binomial_draws.hpp
    include/ranvier/program/operation.hpp
    include/ranvier/base/open_unit.hpp
    core/device/cuda/standard/bit
    core/device/cuda/standard/cmath
    core/device/cuda/standard/cstddef
    core/device/cuda/standard/cstdint
    core/device/cuda/standard/limits
    ranvier/base/instruction_set.hpp=core/device/cuda/standard/instruction_set)
set(kernel_texts_file "${PROJECT_BINARY_DIR}/generated/device/kernel_texts.cpp")
list(TRANSFORM kernel_texts REPLACE "^.+=" "" OUTPUT_VARIABLE kernel_text_files)
list(TRANSFORM kernel_text_files PREPEND "${PROJECT_SOURCE_DIR}/")
add_custom_command(
  OUTPUT "${kernel_texts_file}"
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE_FOLDER=${PROJECT_SOURCE_DIR}" "-DTEXTS=${kernel_texts}"
          "-DOUTPUT=${kernel_texts_file}" -P "${PROJECT_SOURCE_DIR}/cmake/write_kernel_texts.cmake"
  DEPENDS ${kernel_text_files} "${PROJECT_SOURCE_DIR}/cmake/write_kernel_texts.cmake"
  COMMENT "Writing the texts of kernels"
  VERBATIM)
target_sources(ranvier_device PRIVATE "${kernel_texts_file}")
