# Writes a C++ file with the texts of files: see RanvierKernelTexts.cmake. Names are those by which they are included.

set(items "")
foreach(item IN LISTS TEXTS)
  string(REGEX REPLACE "^.+=" "" path "${item}")
  file(READ "${SOURCE_FOLDER}/${path}" text)
  string(REGEX REPLACE "=.+$|^(core/device/cuda/standard|core|include)/" "" name "${item}")
  string(APPEND items "    KernelText{\"${name}\", R\"ranvier(${text})ranvier\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by cmake/write_kernel_texts.cmake.
#include \"device/cuda/kernel_texts.hpp\"

#include <array>
#include <span>

namespace ranvier::device {

namespace {

constexpr std::array texts{
${items}};

}  // namespace

std::span<const KernelText> kernel_texts() { return texts; }

}  // namespace ranvier::device
")
