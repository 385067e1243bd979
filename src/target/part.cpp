#include "target/part.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <toml.hpp>

#include "base/nearest.h"
#include "target/parts_text.h"

namespace thimble::target {
namespace {

/// In the file of a family of engines: the configuration's name.
constexpr std::string_view kNameMark = "${NAME}";

using Table = toml::basic_value<toml::discard_comments>;

/// One file: every entry is looked up once, and what nobody looked up is an error.
class Reader {
 public:
  Reader(const Table& table, std::string where) : table_(table), where_(std::move(where)) {}

  Result<std::string> text(const char* key) {
    const Table* entry = find(key);
    if (entry == nullptr) return std::string();
    if (!entry->is_string()) return bad_input("{}: {} is not a string", where_, key);
    return std::string(entry->as_string().str);
  }
  Result<int64_t> bytes(const char* key) {
    const Table* entry = find(key);
    if (entry == nullptr) return int64_t{0};
    if (!entry->is_integer() || entry->as_integer() < 0) {
      return bad_input("{}: {} is not a number of bytes", where_, key);
    }
    return int64_t{entry->as_integer()};
  }
  /// A list of tables, as [[key]] writes them; empty if there is none.
  Result<std::vector<Table>> tables(const char* key) {
    const Table* entry = find(key);
    if (entry == nullptr) return std::vector<Table>();
    const bool good = entry->is_array() && std::ranges::all_of(entry->as_array(), [](auto& item) {
                        return item.is_table();
                      });
    if (!good) return bad_input("{}: {} is not a list of tables, [[{}]]", where_, key, key);
    return std::vector<Table>(entry->as_array().begin(), entry->as_array().end());
  }
  const Table* find(const char* key) {
    asked_.push_back(key);
    const auto& entries = table_.as_table();
    const auto found = entries.find(key);
    return found == entries.end() ? nullptr : &found->second;
  }
  Status done() const {
    for (const auto& [key, value] : table_.as_table()) {
      if (std::ranges::find(asked_, key) != asked_.end()) continue;
      return bad_input("{}: {} means nothing here; known are {}", where_, key,
                       fmt::join(asked_, ", "));
    }
    return ok();
  }

 private:
  const Table& table_;
  std::string where_;
  std::vector<std::string> asked_;
};

/// Numbers of a table, nested ones by dotted names.
Status add_settings(const Table& table, const std::string& prefix, std::string_view where,
                    Settings* settings) {
  for (const auto& [key, value] : table.as_table()) {
    const std::string name = prefix + key;
    if (value.is_table()) {
      THIMBLE_CHECK(add_settings(value, name + ".", where, settings));
    } else if (value.is_integer()) {
      (*settings)[name] = static_cast<double>(value.as_integer());
    } else if (value.is_floating()) {
      (*settings)[name] = value.as_floating();
    } else if (key != "source") {
      return bad_input("{}: {} is not a number", where, name);
    }
  }
  return ok();
}

Result<Table> parse_toml(std::string_view text, std::string_view where) {
  std::istringstream stream{std::string(text)};
  try {
    return toml::parse(stream, std::string(where));
  } catch (const std::exception& error) {
    std::string message = error.what();
    std::ranges::replace(message, '\n', ' ');
    return bad_input("{}: {}", where, message);
  }
}

Result<EngineUse> parse_engine(const Table& table, std::string_view part) {
  Reader reader(table, fmt::format("{}: engine", part));
  EngineUse use;
  THIMBLE_TRY(use.name, reader.text("name"));
  THIMBLE_TRY(use.memory_mode, reader.text("memory_mode"));
  THIMBLE_TRY(use.system, reader.text("system"));
  const auto engine = find_engine(use.name);
  if (!engine) return bad_input("{}: {}", part, engine.error().message);
  use.engine = *engine;
  if (const Table* own = reader.find("settings")) {
    if (!own->is_table()) return bad_input("{}: settings is not a table", part);
    THIMBLE_CHECK(add_settings(*own, "", part, &use.settings));
  }
  THIMBLE_CHECK(reader.done());
  if (use.engine->check != nullptr) {
    const Status fits = use.engine->check(use);
    if (!fits) return Error{fits.error().kind, fmt::format("{}: {}", part, fits.error().message)};
  }
  return use;
}

Result<Memory> parse_memory(const Table& table, std::string_view part) {
  Reader reader(table, fmt::format("{}: memory", part));
  Memory memory;
  THIMBLE_TRY(memory.name, reader.text("name"));
  THIMBLE_TRY(memory.bytes, reader.bytes("bytes"));
  THIMBLE_TRY(const std::string source, reader.text("source"));
  THIMBLE_CHECK(reader.done());
  if (memory.name != "sram" && memory.name != "flash") {
    return bad_input("{}: memory {}: sram or flash was expected", part, memory.name);
  }
  return memory;
}

const PartText* find_text(std::string_view name) {
  for (const PartText& part : parts_text()) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

/// The file that says what an engine alone means as a target: of "neutron-n3-64" that of
/// "neutron-n3", or of "neutron". Null: it means nothing, only parts have the engine.
const PartText* family_of(std::string_view engine) {
  for (size_t end = engine.size(); end != 0 && end != engine.npos;
       end = engine.rfind('-', end - 1)) {
    const PartText* const file = find_text(engine.substr(0, end));
    if (file != nullptr && file->text.find(kNameMark) != engine.npos) return file;
  }
  return nullptr;
}

/// An engine without a part around it: what the file of its family puts beside it.
Result<Part> engine_alone(const EngineName& engine, const PartText& family) {
  std::string text(family.text);
  text.replace(text.find(kNameMark), kNameMark.size(), engine.name);
  return parse_part(text, engine.name);
}

}  // namespace

Result<Part> parse_part(std::string_view text, std::string_view name) {
  THIMBLE_TRY(const Table table, parse_toml(text, name));
  Reader reader(table, std::string(name));
  Part part;
  part.name = std::string(name);
  THIMBLE_TRY(part.summary, reader.text("summary"));
  THIMBLE_TRY(const std::string cpu, reader.text("cpu"));
  if (cpu.empty()) return bad_input("{}: has no cpu, such as \"cortex-m55\"", name);
  const auto core = find_target(cpu);
  if (!core) return bad_input("{}: cpu: {}", name, core.error().message);
  part.cpu = *core;
  THIMBLE_TRY(const std::vector<Table> engines, reader.tables("engine"));
  for (const Table& engine : engines) {
    THIMBLE_TRY(EngineUse use, parse_engine(engine, name));
    part.engines.push_back(std::move(use));
  }
  THIMBLE_TRY(const std::vector<Table> memories, reader.tables("memory"));
  for (const Table& memory : memories) {
    THIMBLE_TRY(Memory read, parse_memory(memory, name));
    part.memories.push_back(std::move(read));
  }
  THIMBLE_TRY(const std::string source, reader.text("source"));
  THIMBLE_CHECK(reader.done());
  return part;
}

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const Target& target : all_targets()) names.emplace_back(target.name);
  for (const EngineName& engine : all_engines()) {
    if (family_of(engine.name) != nullptr) names.push_back(engine.name);
  }
  for (const PartText& part : parts_text()) {
    const bool family = part.text.find(kNameMark) != std::string_view::npos;
    if (!family) names.emplace_back(part.name);
  }
  std::ranges::sort(names);
  return names;
}

Result<Part> find_part(std::string_view name) {
  if (name.ends_with(".toml")) {
    std::ifstream file{std::filesystem::path(name)};
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return bad_input("{}: cannot be read", name);
    return parse_part(text.str(), std::filesystem::path(name).stem().string());
  }
  for (const EngineName& engine : all_engines()) {
    const PartText* const family = engine.name == name ? family_of(name) : nullptr;
    if (family != nullptr) return engine_alone(engine, *family);
  }
  const std::vector<std::string> names = part_names();
  if (const PartText* text = find_text(name);
      text != nullptr && std::ranges::find(names, name) != names.end()) {
    return parse_part(text->text, name);
  }
  if (const auto target = find_target(name); target.ok()) {
    Part part;
    part.name = std::string((*target)->name);
    part.summary = std::string((*target)->summary);
    part.cpu = *target;
    return part;
  }
  return bad_input("target {}: not known{}; one of {} was expected, or a .toml file", name,
                   close_to_it(name, names), fmt::join(names, ", "));
}

}  // namespace thimble::target
