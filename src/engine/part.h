// SPDX-License-Identifier: Apache-2.0
#pragma once
// A part: a CPU, an ordered list of NPUs, and memories. A part is data: a TOML file of targets/, or
// a file given by path. docs/adding-a-part.md describes the format.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/recipe.h"

namespace thimble::engine {

/// Kinds of content that the linker places.
enum class MemoryContents : uint8_t { kArena, kConstants };
inline constexpr MemoryContents kMemoryContents[] = {MemoryContents::kArena,
                                                     MemoryContents::kConstants};

/// Returns "arena" or "constants", as in the file of a part.
[[nodiscard]] std::string_view contents_name(MemoryContents contents);

/// A memory as the part's file describes it. If the file gives the cost of an access, the compiler
/// decides which objects are placed in which memory (driver/object_placement.h).
struct PartMemory : Memory {
  bool kept = false;                  // non-volatile: flash, MRAM
  bool external = false;              // outside of the chip, such as DRAM
  double cycles_per_word = 0;         // core cycles per 32-bit access; 0: the file does not say
  std::vector<MemoryContents> holds;  // what may be stored in it
  // Timing of an access by the core at Part::clock_mhz.
  std::optional<double>
      wait_states;         // extra core cycles of a non-sequential access; empty: unknown
  int64_t line_bytes = 0;  // bytes that one access delivers; 0: unknown
  std::optional<int64_t> cache_bytes;  // cache of data before it; 0: none; empty: unknown
  std::optional<int64_t> instruction_cache_bytes;  // the same for instructions
  bool prefetch = false;  // the next line of instructions is read while the core uses this one
  std::string source;     // document of the figures

  /// The names of `holds`.
  [[nodiscard]] std::vector<std::string_view> holds_names() const;
  [[nodiscard]] bool can_hold(MemoryContents contents) const {
    return std::ranges::find(holds, contents) != holds.end();
  }
};

struct Part {
  std::string name;     // "corstone-300"
  std::string summary;  // one line
  const Core* cpu = nullptr;
  std::vector<PartNpu> engines;        // an operator runs on the first engine that supports it
  std::vector<PartMemory> memories;    // sizes of the part; 0 or absent: an option gives the size
  std::optional<PartMemory> code_ram;  // RAM for instructions only, such as an ITCM
  double clock_mhz = 0;                // highest rated clock of the CPU; 0: unknown
  std::optional<double> ua_per_mhz;    // supply current in run mode at that clock
  std::optional<double> supply_volts;  // supply for which ua_per_mhz holds
  std::string ua_per_mhz_source;       // data sheet and table of ua_per_mhz
  std::string source;                  // documents of the other figures
  Recipe recipe;

  /// Returns true if the file gives the access cost of its memories (of all or of none).
  [[nodiscard]] bool has_memory_speeds() const {
    return !memories.empty() && memories[0].cycles_per_word > 0;
  }
};

/// Returns the RAM to which the startup code copies the kernels' code, as the recipe says; null:
/// the code runs in the memory that stores the program.
[[nodiscard]] const PartMemory* kernel_code_memory(const Part& part);

/// Returns an error if `name` is no memory of the part that can hold the code of kernels.
[[nodiscard]] Status check_kernel_code(const Part& part, std::string_view name);

/// Returns the names of all parts: files of targets/, cores, and engine configurations.
[[nodiscard]] std::vector<std::string> part_names();

/// Returns the names of the parts that have a file of their own in targets/: chips and boards.
[[nodiscard]] std::vector<std::string> chip_names();

/// Returns the `names` that the filter selects. A filter with `*` is a pattern for the whole name;
/// any other one is a part of the name. Case is ignored.
[[nodiscard]] std::vector<std::string> filter_names(std::span<const std::string> names,
                                                    std::string_view filter);

/// Finds a part by name: a core ("cortex-m4", with or without ExecuTorch's suffix `+int8`), an
/// engine configuration (combined with the core that its family file names), or a file of targets/.
/// A name that ends in `.toml` is a path. An unknown name is an error that suggests similar names.
[[nodiscard]] Result<Part> find_part(std::string_view name);

/// Parses a part from its text and merges its `base` files; messages refer to the text as `name`.
[[nodiscard]] Result<Part> parse_part(std::string_view text, std::string_view name);

}  // namespace thimble::engine
