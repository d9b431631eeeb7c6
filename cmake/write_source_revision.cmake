# Writes HEADER with the git revision of SOURCE_FOLDER, and leaves the file alone when nothing changed.

# A source distribution does not know it; who builds wheels from one tells (tools/build_wheels).
set(revision "unknown")
if(DEFINED ENV{RANVIER_SOURCE_REVISION})
  set(revision "$ENV{RANVIER_SOURCE_REVISION}")
endif()
if(GIT)
  # A source tree that was unpacked inside a foreign git repository must not report that repository's revision.
  execute_process(
    COMMAND "${GIT}" rev-parse --show-cdup
    WORKING_DIRECTORY "${SOURCE_FOLDER}"
    OUTPUT_VARIABLE way_to_top
    ERROR_QUIET
    RESULT_VARIABLE not_in_git
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(not_in_git EQUAL 0 AND way_to_top STREQUAL "")
    execute_process(
      COMMAND "${GIT}" describe --tags --always --dirty
      WORKING_DIRECTORY "${SOURCE_FOLDER}"
      OUTPUT_VARIABLE description
      ERROR_QUIET
      RESULT_VARIABLE not_described
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(not_described EQUAL 0)
      set(revision "${description}")
    endif()
  endif()
endif()

set(content
    "#pragma once\n\nnamespace ranvier::build_info {\ninline constexpr const char* source_revision = \"${revision}\";\n}\n")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" previous)
endif()
if(NOT content STREQUAL "${previous}")
  file(WRITE "${HEADER}" "${content}")
endif()
