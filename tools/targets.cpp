// thimble targets: what can be compiled for.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hostrun/qemu.h"
#include "import/import.h"
#include "target/target.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

struct Arguments {
  std::string name;
  bool ops = false;
  bool json = false;
};

std::string_view isa_text(abi::Isa isa) {
  switch (isa) {
    case abi::Isa::kScalar:
      return "scalar";
    case abi::Isa::kDsp:
      return "dsp";
    case abi::Isa::kMve:
      return "mve";
  }
  return "unknown";
}

std::string board_of(const target::Target& target) {
  const Result<std::string> board = hostrun::qemu_board(target.name);
  return board ? *board : "none";
}

Json to_json(const target::Target& target) {
  return {{"name", target.name},
          {"engine", target.engine},
          {"summary", target.summary},
          {"isa", isa_text(target.isa)},
          {"qemu_board", board_of(target)}};
}

void print(const target::Target& target) {
  std::printf("%-16s %-28s %-8s %s\n", std::string(target.name).c_str(),
              std::string(target.summary).c_str(), std::string(isa_text(target.isa)).c_str(),
              board_of(target).c_str());
}

/// The rows of the importer's table: every target takes what they become.
int list_ops(bool json) {
  const std::vector<std::string_view>& ops = import_pt2::supported_targets();
  if (json) {
    print_json({{"ops", ops}});
    return 0;
  }
  for (const std::string_view op : ops) std::printf("%s\n", std::string(op).c_str());
  return 0;
}

int targets(const Arguments& arguments) {
  if (arguments.ops) return list_ops(arguments.json);
  if (!arguments.name.empty()) {
    const Result<const target::Target*> target = target::find_target(arguments.name);
    if (!target) return fail(target.error(), arguments.json);
    if (arguments.json) {
      print_json(to_json(**target));
    } else {
      print(**target);
    }
    return 0;
  }
  if (arguments.json) {
    Json json;
    json["targets"] = Json::array();
    for (const target::Target& target : target::all_targets()) {
      json["targets"].push_back(to_json(target));
    }
    print_json(json);
    return 0;
  }
  std::printf("%-16s %-28s %-8s %s\n", "target", "architecture", "kernels", "runs on QEMU's");
  for (const target::Target& target : target::all_targets()) print(target);
  return 0;
}

}  // namespace

void add_targets(CLI::App& app, int* exit_code) {
  CLI::App* verb = app.add_subcommand("targets", "List what can be compiled for");
  auto arguments = std::make_shared<Arguments>();
  verb->add_option("name", arguments->name, "Only this one");
  verb->add_flag("--ops", arguments->ops, "List the ATen operators that can be imported");
  verb->add_flag("--json", arguments->json, "As one JSON object");
  verb->callback([arguments, exit_code] { *exit_code = targets(*arguments); });
}

}  // namespace thimble::tools
