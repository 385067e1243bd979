// SPDX-License-Identifier: Apache-2.0
// thimble opt: runs passes on the text of a graph: selected passes, or all but some.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/nearest.h"
#include "ir/dce.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

struct OptArguments {
  std::filesystem::path graph;
  std::vector<std::string> only;
  std::vector<std::string> skip;
  std::filesystem::path output;
  bool list = false;
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Status check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (passes::find_pass(name) != nullptr) continue;
    return bad_input("pass {}: unknown{}; `thimble opt --list` lists the passes", name,
                     suggestions(name, passes::pass_names()));
  }
  return ok();
}

Status optimize(const OptArguments& arguments) {
  THIMBLE_CHECK(check_names(arguments.only));
  THIMBLE_CHECK(check_names(arguments.skip));
  THIMBLE_TRY(const Bytes bytes, read_file(arguments.graph));
  THIMBLE_TRY(ir::Graph graph, ir::parse(as_text(bytes), arguments.graph.filename().string()));
  graph = ir::remove_unused(graph);
  // --only runs the named passes in the given order. Otherwise the pipeline runs without --skip.
  if (!arguments.only.empty()) {
    for (const std::string& name : arguments.only) {
      THIMBLE_TRY(graph, passes::run_pass(*passes::find_pass(name), graph));
    }
  } else {
    for (const auto passes : {passes::float_passes(), passes::integer_passes()}) {
      for (const passes::Pass& pass : passes) {
        if (contains(arguments.skip, pass.name)) continue;
        THIMBLE_TRY(graph, passes::run_pass(pass, graph));
      }
    }
  }
  const std::string text = ir::print(graph);
  if (arguments.output.empty()) {
    std::fputs(text.c_str(), stdout);
    return ok();
  }
  OutputFiles files;
  files.protect(arguments.graph);
  THIMBLE_CHECK(files.add(arguments.output, text));
  return files.commit();
}

int opt(const OptArguments& arguments) {
  if (arguments.list) {
    for (const auto passes : {passes::float_passes(), passes::integer_passes()}) {
      for (const passes::Pass& pass : passes) {
        std::printf("%.*s\n", static_cast<int>(pass.name.size()), pass.name.data());
      }
    }
    return 0;
  }
  if (arguments.graph.empty()) return fail(bad_input("opt: a .ir file expected"), false);
  const Status done = optimize(arguments);
  return done.ok() ? 0 : fail(done.error(), false);
}

}  // namespace

void add_opt(CommandLine& line, int* exit_code) {
  Verb verb(line, "opt", "Run passes on the text of a graph");
  auto arguments = std::make_shared<OptArguments>();
  OptArguments& a = *arguments;
  verb.option("graph", a.graph, "An .ir file, as written by --save-stages and --emit ir");
  const Option only = verb.option(
      "--pass", a.only, "Run this pass; repeat the option for more passes, in this order");
  verb.option("--skip", a.skip, "Run the pipeline without this pass").excludes(only);
  verb.option("-o,--output", a.output, "Output file; default: standard output");
  verb.flag("--list", a.list, "Print the pipeline, one pass per line");
  verb.callback([arguments, exit_code] { *exit_code = opt(*arguments); });
}

}  // namespace thimble::tools
