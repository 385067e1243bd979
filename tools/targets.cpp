// thimble targets: what can be compiled for.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hostrun/qemu.h"
#include "import/import.h"
#include "target/part.h"
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

std::string board_of(const target::Part& part) {
  const Result<std::string> board = hostrun::qemu_board(part.cpu->name);
  return board ? *board : "none";
}

/// The first engine is where operators go first; the CPU takes what is left.
std::vector<std::string> engines_of(const target::Part& part) {
  std::vector<std::string> engines;
  for (const target::EngineUse& use : part.engines) engines.push_back(use.name);
  engines.emplace_back(part.cpu->engine);
  return engines;
}

Json to_json(const target::Part& part) {
  Json json = {{"name", part.name},           {"engine", engines_of(part).front()},
               {"engines", engines_of(part)}, {"cpu", part.cpu->name},
               {"summary", part.summary},     {"isa", isa_text(part.cpu->isa)},
               {"qemu_board", board_of(part)}};
  json["memories"] = Json::array();
  for (const target::Memory& memory : part.memories) {
    json["memories"].push_back({{"name", memory.name}, {"bytes", memory.bytes}});
  }
  json["npus"] = Json::array();
  for (const target::EngineUse& use : part.engines) {
    json["npus"].push_back(
        {{"name", use.name}, {"system", use.system}, {"memory_mode", use.memory_mode}});
  }
  return json;
}

void print_row(const target::Part& part) {
  std::printf("%-16s %-52s %-8s %s\n", part.name.c_str(), part.summary.c_str(),
              std::string(isa_text(part.cpu->isa)).c_str(), board_of(part).c_str());
}

void print_details(const target::Part& part) {
  print_row(part);
  for (const target::EngineUse& use : part.engines) {
    std::printf("  npu     %-16s %s, %s\n", use.name.c_str(), use.memory_mode.c_str(),
                use.system.c_str());
  }
  if (!part.engines.empty()) std::printf("  cpu     %s\n", std::string(part.cpu->name).c_str());
  for (const target::Memory& memory : part.memories) {
    std::printf("  memory  %-16s %lld B\n", memory.name.c_str(),
                static_cast<long long>(memory.bytes));
  }
}

Result<std::vector<target::Part>> all_parts() {
  std::vector<target::Part> parts;
  for (const std::string& name : target::part_names()) {
    THIMBLE_TRY(target::Part part, target::find_part(name));
    parts.push_back(std::move(part));
  }
  return parts;
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
    const Result<target::Part> part = target::find_part(arguments.name);
    if (!part) return fail(part.error(), arguments.json);
    if (arguments.json) {
      print_json(to_json(*part));
    } else {
      print_details(*part);
    }
    return 0;
  }
  const Result<std::vector<target::Part>> parts = all_parts();
  if (!parts) return fail(parts.error(), arguments.json);
  if (arguments.json) {
    Json json;
    json["targets"] = Json::array();
    for (const target::Part& part : *parts) json["targets"].push_back(to_json(part));
    print_json(json);
    return 0;
  }
  std::printf("%-16s %-52s %-8s %s\n", "target", "what it is", "kernels", "runs on QEMU's");
  for (const target::Part& part : *parts) print_row(part);
  return 0;
}

}  // namespace

void add_targets(CommandLine& line, int* exit_code) {
  Verb verb(line, "targets", "List what can be compiled for");
  auto arguments = std::make_shared<Arguments>();
  verb.option("name", arguments->name, "Only this one");
  verb.flag("--ops", arguments->ops, "List the ATen operators that can be imported");
  verb.flag("--json", arguments->json, "As one JSON object");
  verb.callback([arguments, exit_code] { *exit_code = targets(*arguments); });
}

}  // namespace thimble::tools
