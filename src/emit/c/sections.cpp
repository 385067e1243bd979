// SPDX-License-Identifier: Apache-2.0
#include "emit/c/sections.h"

#include <fmt/format.h>

namespace thimble::emit::c {
namespace {

/// Sections of the linker file. Not used in a portable build, nor if NAME_WEIGHTS_SECTION is set.
constexpr std::string_view kPlacedSectionMacros =
    "#if defined({0}_WEIGHTS_SECTION)\n"
    "#define {0}_IN(array) {0}_WEIGHTS_SECTION\n"
    "#elif defined(THIMBLE_PORTABLE)\n"
    "#define {0}_IN(array)\n"
    "#else\n"
    "/* {1}_sections.ld places these sections. */\n"
    "#define {0}_IN(array) __attribute__((section(\".{1}.\" array)))\n"
    "{2}"
    "#endif\n"
    "#if !defined({0}_ARENA_SECTION) && !defined(THIMBLE_PORTABLE)\n"
    "#define {0}_ARENA_SECTION __attribute__((section(\".bss.{1}.arena\")))\n"
    "#elif !defined({0}_ARENA_SECTION)\n"
    "#define {0}_ARENA_SECTION\n"
    "#endif\n";

constexpr std::string_view kSectionMacros =
    "#ifndef {0}_WEIGHTS_SECTION\n"
    "#define {0}_WEIGHTS_SECTION\n"
    "#endif\n"
    "#ifndef {0}_ARENA_SECTION\n"
    "#define {0}_ARENA_SECTION\n"
    "#endif\n";

}  // namespace

std::string section_macros(const CProgram& program) {
  if (!program.options->placed) return fmt::format(kSectionMacros, program.upper);
  const std::string loads =
      program.options->loaded.empty() ? "" : fmt::format("#define {}_LOADS\n", program.upper);
  return fmt::format(kPlacedSectionMacros, program.upper, program.name, loads);
}

std::string constant_section(const CProgram& program, std::string_view array) {
  return program.options->placed ? fmt::format("{}_IN(\"{}\")", program.upper, array)
                                 : program.upper + "_WEIGHTS_SECTION";
}

std::string load_function(const CProgram& program) {
  if (program.options->loaded.empty()) return "";
  std::string symbols, copies;
  for (const std::string& memory : program.options->loaded) {
    const std::string begin = fmt::format("{}_{}", program.name, memory);
    symbols += fmt::format(
        "extern const uint8_t {0}_image[];\n"
        "extern uint8_t {0}_start[], {0}_end[];\n",
        begin);
    copies += fmt::format(
        "  (void)memcpy({0}_start, {0}_image, (size_t)((uintptr_t){0}_end - "
        "(uintptr_t){0}_start));\n",
        begin);
  }
  return fmt::format(
      "\n#if defined({0}_LOADS)\n"
      "/* Symbols of {1}_sections.ld: constants that are copied to a faster memory before the "
      "first run. */\n"
      "{2}static void load_constants(void) {{\n{3}}}\n"
      "#endif\n",
      program.upper, program.name, symbols, copies);
}

std::string load_call(const CProgram& program) {
  if (program.options->loaded.empty()) return "";
  return fmt::format("#if defined({}_LOADS)\n  load_constants();\n#endif\n", program.upper);
}

}  // namespace thimble::emit::c
