// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the headers that link compiled networks into the firmware: one per network, which contains
// the vendor's text, and the table in which the runtime finds networks.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/axon/formats/compiled_header.h"
#include "engines/axon/formats/program.h"

namespace thimble::engine::axon {

/// Returns a lower-case C identifier: "my-model.v2" becomes "my_model_v2".
[[nodiscard]] std::string identifier_of(std::string_view model);

/// Returns the network's name without its hash; it is equal for all versions of a model.
[[nodiscard]] std::string identifier_without_hash(std::string_view name);

/// Returns "axon_subgraph_NAME.h".
[[nodiscard]] std::string subgraph_file_name(std::string_view name);
inline constexpr char kTableFileName[] = "axon_subgraphs_table.h";

/// `model` is the model's name as given on the command line. The header contains it, so that two
/// models with the same identifier are detected as a collision.
[[nodiscard]] Result<std::string> subgraph_header(const formats::axon::CompiledHeader& network,
                                                  const formats::axon::ProgramInterface& interface,
                                                  std::string_view vendor_text,
                                                  std::string_view model);

/// Names that a generated header states in its first lines.
struct SubgraphNote {
  std::string name;   // of the network
  std::string model;  // as given on the command line
};
/// Returns an empty list if the text is not a generated header.
[[nodiscard]] std::vector<SubgraphNote> read_subgraph_note(std::string_view text);

/// Returns the table of networks, sorted by name; the header of each is in the same folder.
[[nodiscard]] std::string subgraph_table(const std::vector<std::string>& names);

}  // namespace thimble::engine::axon
