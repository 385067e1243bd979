// SPDX-License-Identifier: Apache-2.0
// thimble targets: lists the parts and what they support.

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/part.h"
#include "hostrun/qemu.h"
#include "import/core_aten.h"
#include "import/import.h"
#include "tools/commands.h"
#include "tools/facts.h"
#include "tools/output.h"
#include "tools/supported.h"

namespace thimble::tools {
namespace {

struct TargetsArguments {
  std::string name;
  bool ops = false;
  bool core_aten = false;
  bool json = false;
};

std::string_view isa_text(abi::Isa isa) {
  switch (isa) {
    case abi::Isa::kThumb1:
      return "thumb1";
    case abi::Isa::kThumb2:
      return "thumb2";
    case abi::Isa::kDsp:
      return "dsp";
    case abi::Isa::kMve:
      return "mve";
  }
  return "unknown";
}

std::string board_of(const engine::Part& part) {
  const Result<std::string> board = hostrun::qemu_board(part.cpu->name);
  return board ? *board : "none";
}

/// The first engine is where operators go first; the CPU takes what is left.
std::vector<std::string> engines_of(const engine::Part& part) {
  std::vector<std::string> engines;
  for (const engine::PartNpu& use : part.engines) engines.push_back(use.name);
  engines.emplace_back(part.cpu->engine);
  return engines;
}

/// Returns the settings of the part's file. Others have their default or the command line's value.
Json recipe_json(const engine::Recipe& recipe) {
  Json json = Json::object();
  const auto add = [&](const char* key, const auto& value) {
    if (value) json[key] = *value;
  };
  add("activations", recipe.activations);
  add("observer", recipe.observer);
  add("equalize", recipe.equalize);
  add("tune", recipe.tune);
  add("preferences", recipe.preferences);
  add("keep_small", recipe.keep_small);
  add("minimum_steps", recipe.minimum_steps);
  add("kernels", recipe.kernels);
  add("kernel_code", recipe.kernel_code);
  if (!recipe.engine_off.empty()) json["engine_off"] = recipe.engine_off;
  return json;
}

/// Figures that the part's file does not state are absent.
Json to_json(const engine::PartMemory& memory) {
  Json json = {{"name", memory.name}, {"bytes", memory.bytes}};
  if (memory.wait_states) json["wait_states"] = *memory.wait_states;
  if (memory.line_bytes > 0) json["line_bytes"] = memory.line_bytes;
  if (memory.cache_bytes) json["cache_bytes"] = *memory.cache_bytes;
  if (const auto bytes = memory.instruction_cache_bytes) json["instruction_cache_bytes"] = *bytes;
  if (memory.prefetch) json["prefetch"] = true;
  if (memory.external) json["external"] = true;
  if (!memory.source.empty()) json["source"] = memory.source;
  return json;
}

Json to_json(const engine::Part& part) {
  Json json = {{"name", part.name},           {"engine", engines_of(part).front()},
               {"engines", engines_of(part)}, {"cpu", part.cpu->name},
               {"summary", part.summary},     {"isa", isa_text(part.cpu->isa)},
               {"qemu_board", board_of(part)}};
  if (part.clock_mhz > 0) json["clock_mhz"] = part.clock_mhz;
  if (part.ua_per_mhz) json["ua_per_mhz"] = *part.ua_per_mhz;
  if (part.supply_volts) json["supply_volts"] = *part.supply_volts;
  if (!part.source.empty()) json["source"] = part.source;
  json["memories"] = Json::array();
  for (const engine::PartMemory& memory : part.memories) {
    json["memories"].push_back(to_json(memory));
    if (!part.has_memory_speeds()) continue;
    json["memories"].back().update({{"kept", memory.kept},
                                    {"cycles_per_word", memory.cycles_per_word},
                                    {"holds", memory.holds_names()}});
  }
  if (part.code_ram) json["code_ram"] = to_json(*part.code_ram);
  json["npus"] = Json::array();
  for (const engine::PartNpu& use : part.engines) {
    Json npu = {{"name", use.name}, {"system", use.system}, {"memory_mode", use.memory_mode}};
    npu["settings"] = use.settings;
    npu["supported"] = Json::array();
    for (const engine::OpSupport& row : supported_by(use)) {
      npu["supported"].push_back(
          {{"op", row.op}, {"pytorch", pytorch_names(row.op)}, {"limits", row.limits}});
    }
    json["npus"].push_back(std::move(npu));
  }
  json["recipe"] = recipe_json(part.recipe);
  return json;
}

std::string memory_text(const engine::Part& part, std::string_view name) {
  const auto memory = std::ranges::find(part.memories, name, &engine::PartMemory::name);
  if (memory == part.memories.end() || memory->bytes == 0) return "-";
  constexpr int64_t kKiB = 1024;
  return memory->bytes % kKiB == 0 ? fmt::format("{} KiB", memory->bytes / kKiB)
                                   : fmt::format("{} B", memory->bytes);
}

std::string clock_text(const engine::Part& part) {
  return part.clock_mhz > 0 ? fmt::format("{} MHz", part.clock_mhz) : "-";
}

constexpr const char* kRow = "%-23s %-15s %9s %-14s %9s %9s  %-7s %-12s %s\n";

void print_row(const engine::Part& part) {
  std::string engines;
  for (const engine::PartNpu& use : part.engines) {
    engines += (engines.empty() ? "" : ", ") + use.name;
  }
  std::printf(kRow, part.name.c_str(), std::string(part.cpu->name).c_str(),
              clock_text(part).c_str(), engines.empty() ? "-" : engines.c_str(),
              memory_text(part, "sram").c_str(), memory_text(part, "flash").c_str(),
              std::string(isa_text(part.cpu->isa)).c_str(), board_of(part).c_str(),
              part.summary.c_str());
}

/// Prints text in lines of at most kWidth characters, each after `indent`.
void print_wrapped(const std::string& text, const std::string& indent) {
  constexpr size_t kWidth = 96;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.size(), at + kWidth);
    const size_t space = text.rfind(' ', end);
    if (end < text.size() && space != std::string::npos && space > at) end = space;
    std::printf("%s%s\n", indent.c_str(), text.substr(at, end - at).c_str());
    at = text.find_first_not_of(' ', end);
  }
}

void print_supported(const engine::PartNpu& use) {
  const std::vector<engine::OpSupport> rows = supported_by(use);
  if (rows.empty()) return;
  std::printf(
      "\n  %s supports these operators of the integer graph (PyTorch names on the right):\n",
      use.name.c_str());
  for (const engine::OpSupport& row : rows) {
    const std::vector<std::string> names = pytorch_names(row.op);
    std::printf("    %-22s %s\n", row.op.c_str(),
                fmt::format("{}", fmt::join(names, ", ")).c_str());
    print_wrapped(row.limits, "        ");
  }
}

std::string timing_text(const engine::PartMemory& memory) {
  std::string text;
  if (memory.wait_states) text += fmt::format(", {} wait states", *memory.wait_states);
  if (memory.line_bytes > 0) text += fmt::format(", {} B per access", memory.line_bytes);
  if (memory.cache_bytes.value_or(0) > 0) {
    text += fmt::format(", cache of {} B", *memory.cache_bytes);
  }
  if (memory.instruction_cache_bytes.value_or(0) > 0) {
    text += fmt::format(", cache of {} B for instructions", *memory.instruction_cache_bytes);
  }
  if (memory.prefetch) text += ", prefetch";
  if (memory.external) text += ", outside of the chip";
  return text;
}

/// Prints the current per MHz and the documents of the figures.
void print_sources(const engine::Part& part) {
  if (part.ua_per_mhz) {
    std::printf("  supply  %g uA/MHz%s: %s\n", *part.ua_per_mhz,
                part.supply_volts ? fmt::format(" at {} V", *part.supply_volts).c_str() : "",
                part.ua_per_mhz_source.c_str());
  }
  if (!part.source.empty()) {
    std::printf("  source\n");
    print_wrapped(part.source, "    ");
  }
  std::vector<engine::PartMemory> memories = part.memories;
  if (part.code_ram) memories.push_back(*part.code_ram);
  for (const engine::PartMemory& memory : memories) {
    if (memory.source.empty()) continue;
    std::printf("  source of %s\n", memory.name.c_str());
    print_wrapped(memory.source, "    ");
  }
}

void print_details(const engine::Part& part) {
  std::printf("%s: %s\n", part.name.c_str(), part.summary.c_str());
  for (const engine::PartNpu& use : part.engines) {
    std::string about;
    for (const std::string& word : {use.memory_mode, use.system}) {
      if (!word.empty()) about += (about.empty() ? "" : ", ") + word;
    }
    for (const auto& [name, value] : use.settings) {
      about += fmt::format("{}{} = {}", about.empty() ? "" : ", ", name, value);
    }
    std::printf("  npu     %-16s %s\n", use.name.c_str(), about.c_str());
  }
  std::printf("  cpu     %-16s %s%skernels: %s, QEMU: %s\n", std::string(part.cpu->name).c_str(),
              part.clock_mhz > 0 ? clock_text(part).c_str() : "", part.clock_mhz > 0 ? ", " : "",
              std::string(isa_text(part.cpu->isa)).c_str(), board_of(part).c_str());
  for (const engine::PartMemory& memory : part.memories) {
    const std::string speed =
        part.has_memory_speeds()
            ? fmt::format(", {} cycles per word, for {}", memory.cycles_per_word,
                          fmt::join(memory.holds_names(), ", "))
            : "";
    std::printf("  memory  %-16s %lld B%s%s\n", memory.name.c_str(),
                static_cast<long long>(memory.bytes), speed.c_str(), timing_text(memory).c_str());
  }
  if (part.code_ram) {
    std::printf("  memory  %-16s %lld B, for instructions%s\n", part.code_ram->name.c_str(),
                static_cast<long long>(part.code_ram->bytes), timing_text(*part.code_ram).c_str());
  }
  const Json recipe = recipe_json(part.recipe);
  for (const auto& [key, value] : recipe.items()) {
    std::printf("  recipe  %-16s %s\n", key.c_str(), value.dump().c_str());
  }
  print_sources(part);
  for (const engine::PartNpu& use : part.engines) print_supported(use);
  std::printf("\n  %s supports all operators that `thimble targets --ops` lists\n",
              std::string(part.cpu->name).c_str());
}

/// Prints the operators of each engine of the parts. Engines with the same operators share a line.
void print_engines(const std::vector<engine::Part>& parts) {
  std::map<std::string, std::vector<std::string>> engines_of;  // by the list of their operators
  for (const engine::Part& part : parts) {
    for (const engine::PartNpu& use : part.engines) {
      std::string ops;
      for (const engine::OpSupport& row : supported_by(use)) {
        if (!row.op.starts_with('(')) ops += (ops.empty() ? "" : ", ") + row.op;
      }
      std::vector<std::string>& engines = engines_of[ops];
      const bool known = std::ranges::find(engines, use.name) != engines.end();
      if (!known && !ops.empty()) engines.push_back(use.name);
    }
  }
  for (auto& [ops, engines] : engines_of) {
    if (engines.empty()) continue;
    std::ranges::sort(engines);
    std::printf("\n");
    print_wrapped(
        fmt::format("{} supports these operators of the integer graph:", fmt::join(engines, ", ")),
        "");
    print_wrapped(ops, "  ");
  }
  std::printf(
      "\nthe CPUs support the operators that `thimble targets --ops` lists; limits: `thimble "
      "targets NAME`\n");
}

/// Returns the parts that the filter selects; all for an empty one. A filter that selects nothing
/// is a misspelt name: returns `none`.
Result<std::vector<engine::Part>> find_parts(const std::string& filter, const Error& none) {
  std::vector<engine::Part> parts;
  const std::vector<std::string> names = engine::part_names();
  for (const std::string& name : engine::filter_names(names, filter)) {
    THIMBLE_TRY(engine::Part part, engine::find_part(name));
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return none;
  return parts;
}

/// Lists the rows of the importer's table. Every target supports the operators that they become.
int list_ops(bool json) {
  const std::vector<std::string_view>& ops = import_pt2::supported_targets();
  if (json) {
    print_json({{"ops", ops}});
    return 0;
  }
  for (const std::string_view op : ops) std::printf("%s\n", std::string(op).c_str());
  return 0;
}

std::string_view support_text(import_pt2::CoreSupport support) {
  switch (support) {
    case import_pt2::CoreSupport::kOperator:
      return "supported";
    case import_pt2::CoreSupport::kNumber:
      return "a number at import";
    case import_pt2::CoreSupport::kExport:
      return "not in an export";
    case import_pt2::CoreSupport::kRefused:
      return "refused";
  }
  return "";
}

/// Lists the core ATen operators of PyTorch, with what the importer does with each.
int list_core_aten(bool json) {
  const auto& rows = import_pt2::core_operators();
  Json list = Json::array();
  for (const import_pt2::CoreOperator& row : rows) {
    list.push_back(
        {{"op", row.target}, {"support", support_text(row.support)}, {"note", row.note}});
  }
  if (json) {
    print_json({{"core_aten", list}});
    return 0;
  }
  size_t refused = 0;
  for (const import_pt2::CoreOperator& row : rows) {
    refused += row.support == import_pt2::CoreSupport::kRefused ? 1 : 0;
    const std::string note = row.note.empty() ? "" : fmt::format(": {}", row.note);
    fmt::print("{:<50} {}{}\n", row.target, support_text(row.support), note);
  }
  fmt::print("{} of {} operators are supported ({:.1f} %)\n", rows.size() - refused, rows.size(),
             100.0 * static_cast<double>(rows.size() - refused) / static_cast<double>(rows.size()));
  return 0;
}

int targets(const TargetsArguments& arguments) {
  if (arguments.core_aten) return list_core_aten(arguments.json);
  if (arguments.ops) return list_ops(arguments.json);
  if (arguments.json) {
    const Result<Json> json = targets_json(arguments.name);
    if (!json) return fail(json.error(), true);
    print_json(*json);
    return 0;
  }
  const Result<engine::Part> part = engine::find_part(arguments.name);
  if (part) {
    print_details(*part);
    return 0;
  }
  const Result<std::vector<engine::Part>> parts = find_parts(arguments.name, part.error());
  if (!parts) return fail(parts.error(), false);
  std::printf(kRow, "target", "cpu", "clock", "engines", "sram", "flash", "kernels", "QEMU's board",
              "description");
  for (const engine::Part& each : *parts) print_row(each);
  if (arguments.name.empty()) print_engines(*parts);
  return 0;
}

}  // namespace

Result<Json> targets_json(const std::string& name) {
  const Result<engine::Part> part = engine::find_part(name);
  if (part) return to_json(*part);
  THIMBLE_TRY(const std::vector<engine::Part> parts, find_parts(name, part.error()));
  Json json;
  json["targets"] = Json::array();
  for (const engine::Part& each : parts) json["targets"].push_back(to_json(each));
  return json;
}

void add_targets(CommandLine& line, int* exit_code) {
  Verb verb(line, "targets", "List the parts for which models can be compiled");
  auto arguments = std::make_shared<TargetsArguments>();
  verb.option("name", arguments->name,
              "A part: its details; a part of a name or a pattern with *: a list");
  verb.flag("--ops", arguments->ops, "List the ATen operators that can be imported");
  verb.flag("--core-aten", arguments->core_aten,
            "List PyTorch's core ATen operators: supported, or why not");
  verb.flag("--json", arguments->json, "Print one JSON object");
  verb.callback([arguments, exit_code] { *exit_code = targets(*arguments); });
}

}  // namespace thimble::tools
