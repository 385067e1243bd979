// thimble: compile, run, compare and inspect models for microcontrollers. One file per verb.

#include <cstdio>
#include <exception>

#include "tools/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Compiles PyTorch models for Cortex-M, and runs what it compiled.", "thimble");
  app.require_subcommand(1);
  int exit_code = 0;
  thimble::tools::add_compile(app, &exit_code);
  thimble::tools::add_run(app, &exit_code);
  thimble::tools::add_compare(app, &exit_code);
  thimble::tools::add_inspect(app, &exit_code);
  thimble::tools::add_opt(app, &exit_code);
  thimble::tools::add_targets(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thimble: %s\n", error.what());
    return 2;
  }
  return exit_code;
}
