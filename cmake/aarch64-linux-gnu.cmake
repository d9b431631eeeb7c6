# Toolchain for 64-bit ARM on a machine of another architecture, with a cross compiler of GCC:
#
#   cmake --toolchain cmake/aarch64-linux-gnu.cmake -DRANVIER_SYSROOT=FOLDER ...
#
# RANVIER_SYSROOT names a folder with packages for the target that are extracted there (tools/make_sysroot). The compiler
# brings the C and C++ libraries, the folder the headers of Python and hwloc.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

find_program(RANVIER_CROSS_COMPILER NAMES aarch64-linux-gnu-g++ aarch64-linux-gnu-g++-14 aarch64-linux-gnu-g++-13
                                          aarch64-linux-gnu-g++-12 NO_CMAKE_SYSTEM_PATH)
if(NOT RANVIER_CROSS_COMPILER)
  message(FATAL_ERROR "There is no cross compiler for 64-bit ARM: aarch64-linux-gnu-g++ is not on PATH. In Debian it is "
                      "the package g++-aarch64-linux-gnu.")
endif()
set(CMAKE_CXX_COMPILER "${RANVIER_CROSS_COMPILER}")

set(RANVIER_SYSROOT "" CACHE PATH "Folder of packages for the target")
# Checks of the compiler read this file, too.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RANVIER_SYSROOT)
# Not in CMAKE_CXX_FLAGS, which `ranvier info` shows. GCC notes what versions before 10.1 pass in other registers.
add_compile_options(-Wno-psabi)
if(RANVIER_SYSROOT)
  # After the compiler's folders: the headers of its C library belong to its libraries.
  add_compile_options("SHELL:-idirafter '${RANVIER_SYSROOT}/usr/include/aarch64-linux-gnu'"
                      "SHELL:-idirafter '${RANVIER_SYSROOT}/usr/include'")
endif()
