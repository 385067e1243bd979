// thimble: compile, run, compare and inspect models for microcontrollers. One file per verb.

#include <cstdio>
#include <exception>

#include "tools/commands.h"

int main(int argc, char** argv) {
  thimble::tools::CommandLine line(
      "Compiles PyTorch models for Cortex-M, and runs the compiled models.", "thimble");
  int exit_code = 0;
  thimble::tools::add_compile(line, &exit_code);
  thimble::tools::add_export_sources(line, &exit_code);
  thimble::tools::add_run(line, &exit_code);
  thimble::tools::add_compare(line, &exit_code);
  thimble::tools::add_diff(line, &exit_code);
  thimble::tools::add_inspect(line, &exit_code);
  thimble::tools::add_fit(line, &exit_code);
  thimble::tools::add_opt(line, &exit_code);
  thimble::tools::add_targets(line, &exit_code);
  thimble::tools::add_boards(line, &exit_code);
  thimble::tools::add_annotate(line, &exit_code);
  try {
    line.parse(argc, argv, &exit_code);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thimble: %s\n", error.what());
    return 2;
  }
  return exit_code;
}
