# Compiler options of everything that is ours, as the target ranvier_flags.
#
# No option here names an instruction set: the binary must run on any machine of the architecture, and picks wider
# instructions at run time (include/ranvier/base/instruction_set.hpp).

# The same bits on every machine: no fused multiply-add where the source has two operations. The other two give up what
# nobody reads (errno, floating-point exceptions) for loops that vectorise; unlike -ffast-math they change no result.
set(RANVIER_NUMERICAL_OPTIONS -ffp-contract=off -fno-math-errno -fno-trapping-math)

add_library(ranvier_flags INTERFACE)
target_compile_options(
  ranvier_flags INTERFACE ${RANVIER_NUMERICAL_OPTIONS} -Wall -Wextra -Wpedantic -Wshadow -Wconversion)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # This version warns of overlapping copies in sums of strings that do not overlap (GCC bug 105651; with precompiled headers
  # the warning has another name), and of overflows in copies of spans whose size it does not know. Other versions warn.
  target_compile_options(ranvier_flags INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC collects garbage each time that its memory has grown by some dozen megabytes, which takes a tenth of its time.
  # Here it collects from 2 GB on.
  target_compile_options(ranvier_flags INTERFACE --param=ggc-min-heapsize=2000000)
endif()

if(RANVIER_WARNINGS_AS_ERRORS)
  target_compile_options(ranvier_flags INTERFACE -Werror)
endif()

# For the core and its tests: whether assertions stay on although they are built like a release.
add_library(ranvier_assertions INTERFACE)
if(RANVIER_ASSERTIONS)
  target_compile_options(ranvier_assertions INTERFACE -UNDEBUG)
endif()

if(RANVIER_SANITIZER)
  if(NOT RANVIER_SANITIZER MATCHES "^(address|undefined|thread)$")
    message(FATAL_ERROR "RANVIER_SANITIZER is '${RANVIER_SANITIZER}', and must be address, undefined or thread.")
  endif()
  set(sanitizer_options -fsanitize=${RANVIER_SANITIZER} -fno-sanitize-recover=all)
  target_compile_options(ranvier_flags INTERFACE ${sanitizer_options} -fno-omit-frame-pointer -g -O1)
  target_compile_definitions(ranvier_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(ranvier_flags INTERFACE ${sanitizer_options})
endif()
