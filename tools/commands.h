// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verbs of the command line. Each function adds its subcommand, which sets `exit_code` when it
// has run: 0 success; 1 the model cannot run on this target; 2 bad input or usage.

#include "tools/command_line.h"

namespace thimble::tools {

void add_annotate(CommandLine& line, int* exit_code);
void add_boards(CommandLine& line, int* exit_code);
void add_compile(CommandLine& line, int* exit_code);
void add_export_sources(CommandLine& line, int* exit_code);
void add_run(CommandLine& line, int* exit_code);
void add_compare(CommandLine& line, int* exit_code);
void add_diff(CommandLine& line, int* exit_code);
void add_inspect(CommandLine& line, int* exit_code);
void add_fit(CommandLine& line, int* exit_code);
void add_opt(CommandLine& line, int* exit_code);
void add_targets(CommandLine& line, int* exit_code);

}  // namespace thimble::tools
