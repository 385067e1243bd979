#pragma once
// The files of targets/, which the build puts into the program.

#include <span>
#include <string_view>

namespace thimble::engine {

struct PartText {
  std::string_view name;  // of the file, without its ending
  std::string_view text;
};
/// Sorted by name.
[[nodiscard]] std::span<const PartText> parts_text();

}  // namespace thimble::engine
