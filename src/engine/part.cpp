// SPDX-License-Identifier: Apache-2.0
#include "engine/part.h"

#include <algorithm>

#include "base/glob.h"
#include "base/nearest.h"
#include "base/read_file.h"
#include "engine/part_table.h"
#include "engine/parts_text.h"

namespace thimble::engine {
namespace {

/// Placeholder for the configuration's name in the file of an engine family.
constexpr std::string_view kNameMark = "${NAME}";

/// Adds the numbers of a TOML table to `settings`. Nested keys become dotted names.
Status add_settings(const TomlValue& table, const std::string& prefix, Settings* settings) {
  for (const auto& [key, value] : *table.as<TomlValue::Table>()) {
    const std::string name = prefix + key;
    if (value.as<TomlValue::Table>() != nullptr) {
      THIMBLE_CHECK(add_settings(value, name + ".", settings));
    } else if (const std::optional<double> number = number_of(value)) {
      (*settings)[name] = *number;
    } else if (key != "source") {
      return bad_input("{}: {} is not a number", value.location, name);
    }
  }
  return ok();
}

Result<PartNpu> parse_engine(const TomlValue& table) {
  Reader reader(table, "engine");
  PartNpu use;
  THIMBLE_TRY(use.name, reader.text("name"));
  THIMBLE_TRY(use.memory_mode, reader.text("memory_mode"));
  THIMBLE_TRY(use.system, reader.text("system"));
  const auto engine = find_npu(use.name);
  if (!engine) return prefixed(table.location, engine.error());
  use.engine = *engine;
  THIMBLE_TRY(const TomlValue* const own, reader.table("settings"));
  if (own != nullptr) THIMBLE_CHECK(add_settings(*own, "", &use.settings));
  THIMBLE_CHECK(reader.done());
  const Status fits = use.engine->check == nullptr ? ok() : use.engine->check(use);
  if (!fits) return prefixed(table.location, fits.error());
  return use;
}

bool is_word(std::string_view name) {
  const auto letter = [](char c) { return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9'); };
  return !name.empty() && 'a' <= name[0] && name[0] <= 'z' &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || c == '_'; });
}

/// Returns the memory's name. If the part gives access speeds, the name is any lower-case word;
/// otherwise it is "sram", "flash" or "dram".
Result<std::string> memory_name(const TomlValue& table, Reader* reader, bool is_fast_known) {
  if (!is_fast_known) {
    THIMBLE_TRY(const auto name, reader->word("name", {"sram", "flash", "dram"}));
    if (!name) return bad_input("{}: memory has no name: sram, flash or dram", table.location);
    return *name;
  }
  THIMBLE_TRY(std::string name, reader->text("name"));
  if (is_word(name)) return name;
  return bad_input("{}: memory: a name of small letters, digits and _ expected, such as dtcm",
                   table.location);
}

Status parse_contents(const TomlValue& table, Reader* reader, PartMemory* memory) {
  THIMBLE_TRY(const auto holds, reader->strings("holds"));
  for (const std::string& what : holds.value_or(std::vector<std::string>())) {
    const auto* const found = std::ranges::find(kMemoryContents, what, contents_name);
    if (found == std::end(kMemoryContents)) {
      return bad_input("{}: memory: holds {}: not known; arena, constants were expected",
                       table.find("holds")->location, what);
    }
    if (memory->kept && *found != MemoryContents::kConstants) {
      return bad_input("{}: memory: holds {}: {} is kept without power, nothing is written to it",
                       table.find("holds")->location, what, memory->name);
    }
    memory->holds.push_back(*found);
  }
  if (holds) return ok();
  if (!memory->kept) memory->holds.push_back(MemoryContents::kArena);
  memory->holds.push_back(MemoryContents::kConstants);
  return ok();
}

Status parse_timing(Reader* reader, PartMemory* memory) {
  // The slowest memories that hold programs, serial flash at some MHz, take hundreds of cycles.
  constexpr double kWaitStatesMax = 1000;
  THIMBLE_TRY(memory->wait_states, reader->number("wait_states", "core cycles", kWaitStatesMax));
  THIMBLE_TRY(const auto line, reader->size("line_bytes"));
  THIMBLE_TRY(const auto cache, reader->size("cache_bytes"));
  THIMBLE_TRY(memory->instruction_cache_bytes, reader->size("instruction_cache_bytes"));
  THIMBLE_TRY(const auto prefetch, reader->boolean("prefetch"));
  memory->line_bytes = line.value_or(0);
  memory->cache_bytes = cache;
  memory->prefetch = prefetch.value_or(false);
  return ok();
}

Result<PartMemory> parse_memory(const TomlValue& table) {
  Reader reader(table, "memory");
  PartMemory memory;
  THIMBLE_TRY(const auto cycles, reader.positive_number("cycles_per_word", "cycles"));
  THIMBLE_TRY(memory.name, memory_name(table, &reader, cycles.has_value()));
  THIMBLE_TRY(const auto bytes, reader.size("bytes"));
  memory.bytes = bytes.value_or(0);
  memory.kept = memory.name == "flash";
  THIMBLE_TRY(const auto external, reader.boolean("external"));
  memory.external = external.value_or(memory.name == "dram");
  if (cycles) {
    memory.cycles_per_word = *cycles;
    THIMBLE_TRY(const auto kept, reader.boolean("kept"));
    memory.kept = kept.value_or(memory.kept);
    THIMBLE_CHECK(parse_contents(table, &reader, &memory));
    if (memory.bytes == 0) {
      return bad_input("{}: memory {} has cycles_per_word but no bytes", table.location,
                       memory.name);
    }
  }
  THIMBLE_CHECK(parse_timing(&reader, &memory));
  THIMBLE_TRY(memory.source, reader.text("source"));
  THIMBLE_CHECK(reader.done());
  return memory;
}

/// [code_ram]: its memory has no wait states unless the file states them.
Result<PartMemory> parse_code_ram(const TomlValue& table) {
  Reader reader(table, "code_ram");
  PartMemory memory;
  THIMBLE_TRY(memory.name, reader.text("name"));
  THIMBLE_TRY(const auto bytes, reader.size("bytes"));
  if (!is_word(memory.name) || bytes.value_or(0) == 0) {
    return bad_input("{}: code_ram: a name such as \"itcm\" and its bytes were expected",
                     table.location);
  }
  memory.bytes = *bytes;
  THIMBLE_CHECK(parse_timing(&reader, &memory));
  if (!memory.wait_states) memory.wait_states = 0;
  THIMBLE_TRY(memory.source, reader.text("source"));
  THIMBLE_CHECK(reader.done());
  return memory;
}

/// Checks that either all memories or none have `cycles_per_word`. Memories with `cycles_per_word`
/// must include a non-volatile and a volatile one, and require a part without NPUs.
Status check_memories(const std::vector<TomlValue>& tables, const Part& part) {
  if (!part.has_memory_speeds()) {
    for (size_t i = 0; i < tables.size(); ++i) {
      if (part.memories[i].cycles_per_word == 0) continue;
      return bad_input("{}: memory {} has cycles_per_word, but {} does not", tables[i].location,
                       part.memories[i].name, part.memories[0].name);
    }
    return ok();
  }
  bool has_kept = false, has_ram = false;
  for (size_t i = 0; i < tables.size(); ++i) {
    const PartMemory& memory = part.memories[i];
    (memory.kept ? has_kept : has_ram) = true;
    if (memory.cycles_per_word == 0) {
      return bad_input("{}: memory {} has no cycles_per_word, but {} does", tables[i].location,
                       memory.name, part.memories[0].name);
    }
  }
  if (!has_kept || !has_ram) {
    return bad_input(
        "{}: memories with cycles_per_word: expected at least one that is kept without power and "
        "one that is not",
        tables[0].location);
  }
  if (part.engines.empty()) return ok();
  return bad_input(
      "{}: cycles_per_word is not supported for a part with an engine, whose accesses are not "
      "counted",
      tables[0].location);
}

template <typename Row>
bool has_name(const std::vector<Row>& rows, std::string_view name) {
  return std::ranges::find(rows, name, &Row::name) != rows.end();
}

/// Reads the clock and the supply current of the part.
Status parse_clock(Reader* reader, const TomlValue& table, Part* part) {
  THIMBLE_TRY(const auto clock, reader->positive_number("clock_mhz", "MHz"));
  part->clock_mhz = clock.value_or(0);
  THIMBLE_TRY(part->ua_per_mhz, reader->positive_number("ua_per_mhz", "uA/MHz"));
  THIMBLE_TRY(part->ua_per_mhz_source, reader->text("ua_per_mhz_source"));
  THIMBLE_TRY(part->supply_volts, reader->positive_number("supply_volts", "V"));
  if (part->ua_per_mhz && part->ua_per_mhz_source.empty()) {
    return bad_input("{}: ua_per_mhz without ua_per_mhz_source, the document of the figure",
                     table.find("ua_per_mhz")->location);
  }
  return ok();
}

Status parse_quantization(const TomlValue& table, Recipe* recipe) {
  Reader reader(table, "quantization");
  const auto observers = recipe_observers();
  THIMBLE_TRY(recipe->activations, reader.word("activations", {"int8", "int16"}));
  THIMBLE_TRY(recipe->observer, reader.word("observer", {observers.begin(), observers.end()}));
  THIMBLE_TRY(recipe->equalize, reader.boolean("equalize"));
  THIMBLE_TRY(recipe->tune, reader.boolean("tune"));
  THIMBLE_TRY(recipe->preferences, reader.boolean("preferences"));
  return reader.done();
}

Status parse_partition(const TomlValue& table, Recipe* recipe) {
  Reader reader(table, "partition");
  THIMBLE_TRY(recipe->keep_small, reader.boolean("keep_small"));
  THIMBLE_TRY(recipe->minimum_steps, reader.count("minimum_steps", "steps"));
  THIMBLE_TRY(auto off, reader.strings("engine_off"));
  if (off) recipe->engine_off = std::move(*off);
  return reader.done();
}

Status parse_recipe(Reader* reader, Recipe* recipe) {
  THIMBLE_TRY(const TomlValue* const quantization, reader->table("quantization"));
  if (quantization != nullptr) THIMBLE_CHECK(parse_quantization(*quantization, recipe));
  THIMBLE_TRY(const TomlValue* const partition, reader->table("partition"));
  if (partition != nullptr) THIMBLE_CHECK(parse_partition(*partition, recipe));
  THIMBLE_TRY(recipe->kernels, reader->word("kernels", {"native", "executorch"}));
  return ok();
}

/// Keeps only the engines named in `order`, in that order.
Status choose_engines(const TomlValue& table, const std::vector<std::string>& order, Part* part) {
  std::vector<PartNpu> chosen;
  for (const std::string& name : order) {
    const auto found = std::ranges::find(part->engines, name, &PartNpu::name);
    if (found == part->engines.end()) {
      std::vector<std::string> known;
      for (const PartNpu& use : part->engines) known.push_back(use.name);
      return bad_input("{}: engines: {} is not an engine of this part{}; its engines are {}",
                       table.find("engines")->location, name, suggestions(name, known),
                       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    chosen.push_back(*found);
  }
  part->engines = std::move(chosen);
  return ok();
}

const PartText* find_text(std::string_view name) {
  for (const PartText& part : parts_text()) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

/// Returns the family file that makes a part from an engine's name: "npu-a1-64" uses the file
/// "npu-a1", or else "npu". Returns null if the engine can only be part of another part.
const PartText* family_of(std::string_view engine) {
  for (size_t end = engine.size(); end != 0 && end != engine.npos;
       end = engine.rfind('-', end - 1)) {
    const PartText* const file = find_text(engine.substr(0, end));
    if (file != nullptr && file->text.find(kNameMark) != engine.npos) return file;
  }
  return nullptr;
}

/// Returns the family's file text with the engine's name filled in.
std::string text_for(std::string_view engine, const PartText& family) {
  std::string text(family.text);
  return text.replace(text.find(kNameMark), kNameMark.size(), engine);
}

/// The text of a part's file and the name that messages use for it.
struct Source {
  std::string text;
  std::string where;
  std::filesystem::path folder;  // folder that relative file names in the text refer to
};

std::optional<Source> named_source(std::string_view name) {
  for (const NpuName& engine : all_npus()) {
    const PartText* const family = engine.name == name ? family_of(name) : nullptr;
    if (family != nullptr) {
      return Source{text_for(name, *family), std::string(family->name) + ".toml", {}};
    }
  }
  const PartText* const file = find_text(name);
  if (file != nullptr && file->text.find(kNameMark) == name.npos) {
    return Source{std::string(file->text), std::string(name) + ".toml", {}};
  }
  const auto core = find_core(name);
  if (!core) return std::nullopt;
  return Source{fmt::format("cpu = \"{}\"\nsummary = \"{}\"\n", (*core)->name, (*core)->summary),
                std::string(name),
                {}};
}

/// Returns the core of a microcontroller family that has no Cortex-M; empty for all other names.
std::string_view other_core(std::string_view name) {
  struct Family {
    std::string_view prefix, core;
  };
  static constexpr Family kFamilies[] = {
      {"atmega", "AVR"},     {"ch32v", "RISC-V"}, {"esp32", "Xtensa or RISC-V"},
      {"esp8266", "Xtensa"}, {"gap9", "RISC-V"},  {"gd32vf", "RISC-V"},
      {"k210", "RISC-V"},
  };
  for (const Family& family : kFamilies) {
    if (name.starts_with(family.prefix)) return family.core;
  }
  return {};
}

/// Returns what to write instead of a target of ExecuTorch's Arm flow; empty for all other names.
std::string_view replacement(std::string_view name) {
  struct Name {
    std::string_view theirs, ours;
  };
  static constexpr Name kNames[] = {
      {"cortex-m",
       "name the core, because the kernels depend on it; code for cortex-m0 runs on every "
       "Cortex-M"},
      {"TOSA-1.0+INT", "name the core or part and write the integer graph with --emit tosa"},
      {"TOSA-1.0+INT+int16",
       "name the core or part and write the integer graph with --emit tosa --activations int16"},
      {"TOSA-1.0+FP", "name the core or part and write the float graph with --emit tosa-fp"},
      {"vgf", "Thimble has no engine for Vulkan"},
  };
  for (const Name& each : kNames) {
    if (name == each.theirs) return each.ours;
  }
  return {};
}

Result<Source> source_of(std::string_view name, const std::filesystem::path& folder) {
  if (name.ends_with(".toml")) {
    const std::filesystem::path path = folder / name;
    THIMBLE_TRY(const Bytes text, base::read_file(path));
    return Source{std::string(as_text(text)), path.lexically_normal().string(), path.parent_path()};
  }
  if (std::optional<Source> source = named_source(name)) return std::move(*source);
  if (const std::string_view core = other_core(name); !core.empty()) {
    return unsupported("target {}: its core is {}; only parts with an Arm Cortex-M are supported",
                       name, core);
  }
  if (const std::string_view instead = replacement(name); !instead.empty()) {
    return bad_input("target {}: a name of ExecuTorch's Arm flow: {}", name, instead);
  }
  const std::vector<std::string> names = part_names();
  return bad_input(
      "target {}: not known{}; `thimble targets` lists the targets, a .toml file describes another",
      name, suggestions(name, names));
}

/// Returns the file merged with the chain of its `base` files. `above` holds the names of the files
/// that are based on this one; it detects cycles.
Result<TomlValue> table_of(const Source& source, std::vector<std::string> above) {
  THIMBLE_TRY(const TomlValue own, parse_toml(source.text, source.where));
  const TomlValue* const name = own.find("base");
  if (name == nullptr) return own;
  const auto* const text = name->as<std::string>();
  if (text == nullptr) return bad_input("{}: base is not a string", name->location);
  const auto base = source_of(*text, source.folder);
  if (!base) return prefixed(name->location, base.error());
  constexpr size_t kFilesMax = 16;
  above.push_back(source.where);
  if (above.size() == kFilesMax) {
    return bad_input("{}: more than {} files are based on each other", name->location, kFilesMax);
  }
  if (std::ranges::find(above, base->where) != above.end()) {
    return bad_input("{}: base {} is based on this file (cycle)", name->location, base->where);
  }
  THIMBLE_TRY(const TomlValue below, table_of(*base, std::move(above)));
  return merged(below, own);
}

Result<Part> part_of(const Source& source, std::string name) {
  THIMBLE_TRY(const TomlValue table, table_of(source, {}));
  Reader reader(table, "");
  Part part;
  part.name = std::move(name);
  THIMBLE_TRY(const std::string base, reader.text("base"));
  THIMBLE_TRY(part.summary, reader.text("summary"));
  THIMBLE_TRY(const std::string cpu, reader.text("cpu"));
  if (cpu.empty()) return bad_input("{}: has no cpu, such as \"cortex-m55\"", source.where);
  const auto core = find_core(cpu);
  if (!core) return prefixed(table.find("cpu")->location, core.error());
  part.cpu = *core;
  THIMBLE_TRY(const std::vector<TomlValue> engines, reader.tables("engine"));
  for (const TomlValue& engine : engines) {
    THIMBLE_TRY(PartNpu use, parse_engine(engine));
    if (has_name(part.engines, use.name)) {
      return bad_input("{}: engine {} is defined twice", engine.location, use.name);
    }
    part.engines.push_back(std::move(use));
  }
  THIMBLE_TRY(const auto order, reader.strings("engines"));
  if (order) THIMBLE_CHECK(choose_engines(table, *order, &part));
  THIMBLE_TRY(const std::vector<TomlValue> memories, reader.tables("memory"));
  for (const TomlValue& memory : memories) {
    THIMBLE_TRY(PartMemory read, parse_memory(memory));
    if (has_name(part.memories, read.name)) {
      return bad_input("{}: memory {} is defined twice", memory.location, read.name);
    }
    part.memories.push_back(std::move(read));
  }
  THIMBLE_CHECK(check_memories(memories, part));
  THIMBLE_TRY(const TomlValue* const code_ram, reader.table("code_ram"));
  if (code_ram != nullptr) {
    THIMBLE_TRY(part.code_ram, parse_code_ram(*code_ram));
    if (has_name(part.memories, part.code_ram->name)) {
      return bad_input("{}: memory {} is defined twice", code_ram->location, part.code_ram->name);
    }
  }
  THIMBLE_CHECK(parse_recipe(&reader, &part.recipe));
  THIMBLE_TRY(const std::string kernel_code, reader.text("kernel_code"));
  if (!kernel_code.empty()) {
    const Status known = check_kernel_code(part, kernel_code);
    if (!known) return prefixed(table.find("kernel_code")->location, known.error());
    part.recipe.kernel_code = kernel_code;
  }
  THIMBLE_CHECK(parse_clock(&reader, table, &part));
  THIMBLE_TRY(part.source, reader.text("source"));
  THIMBLE_CHECK(reader.done());
  return part;
}

}  // namespace

std::string_view contents_name(MemoryContents contents) {
  return contents == MemoryContents::kArena ? "arena" : "constants";
}

const PartMemory* kernel_code_memory(const Part& part) {
  const std::string name = part.recipe.kernel_code.value_or("");
  if (part.code_ram && part.code_ram->name == name) return &*part.code_ram;
  const auto found = std::ranges::find(part.memories, name, &PartMemory::name);
  return found == part.memories.end() || found->kept ? nullptr : &*found;
}

Status check_kernel_code(const Part& part, std::string_view name) {
  // If the compiler assigns objects to memories, only a memory of its own is left to code.
  std::vector<std::string> names;
  if (part.code_ram) names.push_back(part.code_ram->name);
  for (const PartMemory& memory : part.memories) {
    if (memory.kept || (!memory.external && !part.has_memory_speeds())) {
      names.push_back(memory.name);
    }
  }
  if (std::ranges::find(names, name) != names.end()) return ok();
  if (part.memories.empty()) {
    return bad_input(
        "kernel code in {}: {} is a core, which has no memories: expected a part as the target, "
        "such as stm32f446",
        name, part.name);
  }
  if (names.empty()) {
    return bad_input("kernel code in {}: no memory of {} can hold it", name, part.name);
  }
  return bad_input("kernel code in {}: expected {} of {}{}", name, fmt::join(names, " or "),
                   part.name, suggestions(name, names));
}

std::span<const std::string_view> recipe_observers() {
  static constexpr std::string_view kNames[] = {"min-max", "percentile", "mse", "extrapolate"};
  return kNames;
}

std::vector<std::string_view> PartMemory::holds_names() const {
  std::vector<std::string_view> names;
  for (const MemoryContents contents : holds) names.push_back(contents_name(contents));
  return names;
}

Result<Part> parse_part(std::string_view text, std::string_view name) {
  return part_of({std::string(text), std::string(name) + ".toml", {}}, std::string(name));
}

std::vector<std::string> chip_names() {
  std::vector<std::string> names;
  for (const PartText& part : parts_text()) {
    const bool family = part.text.find(kNameMark) != std::string_view::npos;
    if (!family) names.emplace_back(part.name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> part_names() {
  std::vector<std::string> names = chip_names();
  for (const Core& target : all_cores()) names.emplace_back(target.name);
  for (const NpuName& engine : all_npus()) {
    if (family_of(engine.name) != nullptr) names.push_back(engine.name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> filter_names(std::span<const std::string> names, std::string_view filter) {
  std::string pattern(filter);
  std::ranges::transform(pattern, pattern.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (pattern.find('*') == std::string::npos) pattern = "*" + pattern + "*";
  std::vector<std::string> chosen;
  for (const std::string& name : names) {
    if (glob_matches(pattern, name)) chosen.push_back(name);
  }
  return chosen;
}

Result<Part> find_part(std::string_view name) {
  THIMBLE_TRY(const Source source, source_of(name, {}));
  std::string own(name);
  if (name.ends_with(".toml")) {
    own = std::filesystem::path(name).stem().string();
  } else if (const auto core = find_core(name)) {
    own = (*core)->name;  // without ExecuTorch's suffix
  }
  return part_of(source, std::move(own));
}

}  // namespace thimble::engine
