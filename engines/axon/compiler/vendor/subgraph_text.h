#pragma once
// The headers of the form that is linked into the firmware: one per network, with the vendor's text
// in it, and the table that the runtime looks networks up in.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/axon/formats/compiled_header.h"
#include "engines/axon/formats/program.h"

namespace thimble::engine::axon {

/// "my-model.v2" as a C identifier in lower case: "my_model_v2".
[[nodiscard]] std::string identifier_of(std::string_view model);

/// A network's name without its hash: one for all versions of it.
[[nodiscard]] std::string identifier_in(std::string_view name);

/// "axon_subgraph_NAME.h".
[[nodiscard]] std::string subgraph_file_name(std::string_view name);
inline constexpr char kTableFileName[] = "axon_subgraphs_table.h";

/// `model` is what the user calls it: a header says so, and another model of the same identifier is
/// a collision.
[[nodiscard]] Result<std::string> subgraph_header(const formats::axon::CompiledHeader& network,
                                                  const formats::axon::ProgramInterface& interface,
                                                  std::string_view vendor_text,
                                                  std::string_view model);

/// What a generated header says of itself in its first lines.
struct SubgraphNote {
  std::string name;   // of the network
  std::string model;  // as the user calls it
};
/// Nothing if the text is no such header.
[[nodiscard]] std::vector<SubgraphNote> read_subgraph_note(std::string_view text);

/// The table of networks, by name; each has its header beside the table.
[[nodiscard]] std::string subgraph_table(const std::vector<std::string>& names);

}  // namespace thimble::engine::axon
