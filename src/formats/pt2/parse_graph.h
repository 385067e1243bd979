// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parses model.json and the two payload configs.

#include <string>
#include <vector>

#include "formats/pt2/json.h"
#include "formats/pt2/program.h"
#include "formats/pt2/weights.h"

namespace thimble::formats::pt2 {

/// The supported schema. A minor version adds fields; a major version changes them.
inline constexpr int64_t kSchemaMajor = 8;

struct Model {
  std::string torch_version;
  int64_t schema_minor = 0;
  Graph graph;
  std::vector<InputSpec> input_specs;
  std::vector<OutputSpec> output_specs;
  NameMap<RangeConstraint> range_constraints;
};

/// Checks all invariants of Graph here, where messages can still name the location.
[[nodiscard]] Result<Model> parse_model(const json::Document& document);

/// Parses the specs of `graph_module.signature` and checks them against the inputs and outputs of
/// `model.graph`.
[[nodiscard]] Status parse_signature(const json::Value& signature, Model& model);

/// Adds the rows of `{"config": {fqn: {...}}}`; `folder` is "data/weights/" or "data/constants/".
[[nodiscard]] Status parse_payloads(const json::Document& document, std::string_view folder,
                                    NameMap<Payload>& payloads);

}  // namespace thimble::formats::pt2
