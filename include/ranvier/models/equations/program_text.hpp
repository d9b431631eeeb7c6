#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "ranvier/models/equations/program_description.hpp"

/// Neuron models of equations as text: `ranvier compile` writes it, and programs in C++ read it. docs/design/programs.md
/// describes the format.
namespace ranvier::models {

inline constexpr int program_text_version = 1;
inline constexpr std::size_t longest_program_text = std::size_t{1} << 26;  ///< bytes

/// @pre the description has been checked
std::string program_text(const ProgramDescription& description);

/// The description that a text holds. A ProgramModel of it has the fingerprint of the model that was written.
/// @param source what the text is, for errors, such as "file aeif_cond_exp.program"
/// @throws FileError for a text of another version, one that is not whole, and one that was changed after it was written;
///         the errors of check(description)
ProgramDescription parse_program(std::string_view text, std::string_view source);

/// The description in a file. @throws FileError also if the file cannot be read; as parse_program()
ProgramDescription read_program_file(const std::filesystem::path& path);

}  // namespace ranvier::models
