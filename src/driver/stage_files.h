// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of --save-stages: the text of each stage in a numbered file. They are written during
// the compilation, so that those of a compilation that fails exist; each file is the old one or
// complete.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::driver {

class StageFiles {
 public:
  /// Without a folder nothing is saved. A stage does not overwrite one of `inputs`: save() fails.
  explicit StageFiles(std::filesystem::path folder, std::vector<std::filesystem::path> inputs = {})
      : folder_(std::move(folder)), inputs_(std::move(inputs)) {}

  /// Returns true if a stage can have this file name: two digits or more, and a minus sign.
  [[nodiscard]] static bool is_stage_name(std::string_view name);

  /// A graph is printed only if files are saved.
  [[nodiscard]] Status save(std::string_view name, const ir::Graph& graph);
  [[nodiscard]] Status save(std::string_view name, ByteView bytes);
  [[nodiscard]] bool wanted() const { return !folder_.empty(); }

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> inputs_;
  int count_ = 0;
};

}  // namespace thimble::driver
