// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads archives that `torch.export.save` of PyTorch 2.9 or later writes (schema major 8).
// docs/formats/pt2.md describes the format.
//
//   THIMBLE_TRY(auto program, pt2::read("model.pt2"));
//   for (const pt2::Node& node : program.graph.nodes) ...
//   THIMBLE_TRY(auto weight, program.weights.gather("features.0.weight"));

#include <filesystem>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pt2/program.h"
#include "formats/pt2/weights.h"

namespace thimble::formats::pt2 {

struct ExportedProgram {
  std::string archive_name;   // name of the archive in messages
  std::string torch_version;  // "2.13.0+cpu"
  int64_t schema_minor = 0;
  Graph graph;
  std::vector<InputSpec> input_specs;
  std::vector<OutputSpec> output_specs;
  NameMap<RangeConstraint> range_constraints;  // key: symbol
  Weights weights;
  int64_t archive_bytes = 0;  // sum of the members, uncompressed
};

[[nodiscard]] Result<ExportedProgram> read(const std::filesystem::path& path);
[[nodiscard]] Result<ExportedProgram> read(Bytes bytes, std::string name);

}  // namespace thimble::formats::pt2
