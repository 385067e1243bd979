#pragma once
// The verbs of the command line: each adds its subcommand, and sets `exit_code` when it has run.
// 0 done; 1 the model cannot run on this target; 2 bad input or usage.

#include <CLI/CLI.hpp>

namespace thimble::tools {

void add_compile(CLI::App& app, int* exit_code);
void add_run(CLI::App& app, int* exit_code);
void add_compare(CLI::App& app, int* exit_code);
void add_inspect(CLI::App& app, int* exit_code);
void add_opt(CLI::App& app, int* exit_code);
void add_targets(CLI::App& app, int* exit_code);

}  // namespace thimble::tools
