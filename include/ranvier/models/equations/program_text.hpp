#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "ranvier/models/equations/program_description.hpp"

/// User-defined neuron models as text: `ranvier compile` writes it, and C++ programs read it. docs/design/programs.md
/// describes the format.
namespace ranvier::models {

inline constexpr int program_text_version = 1;
inline constexpr std::size_t longest_program_text = std::size_t{1} << 26;  ///< bytes

/// @pre the description has been checked
std::string program_text(const ProgramDescription& description);

/// The description in a text. A ProgramModel of it has the fingerprint of the model that was written.
/// @param source name of the text in errors, such as "file aeif_cond_exp.program"
/// @throws FileError for a text of another version, a truncated one, and one that was changed after it was written;
///         the errors of check(description)
ProgramDescription parse_program(std::string_view text, std::string_view source);

/// The description in a file.
/// @throws FileError also if the file cannot be read; as parse_program()
ProgramDescription read_program_file(const std::filesystem::path& path);

}  // namespace ranvier::models
