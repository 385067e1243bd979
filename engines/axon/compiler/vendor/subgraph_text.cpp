// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/vendor/subgraph_text.h"

#include <algorithm>
#include <cctype>

#include "engines/axon/container/marker.h"

namespace thimble::engine::axon {
namespace {

using formats::axon::Address;
using formats::axon::AddressSpace;
using formats::axon::CompiledHeader;
using formats::axon::ProgramTensor;

constexpr std::string_view kNote = "/* thimble axon subgraph ";

/// Extensions (operations that run on the core): the vendor's name and Thimble's. The names differ
/// so that both can be linked and no vendor header declares Thimble's.
struct Renamed {
  std::string_view from, to;
};
constexpr Renamed kExtensions[] = {
    {"nrf_axon_nn_op_extension_sigmoid_v2", "thimble_axon_ext_sigmoid"},
    {"nrf_axon_nn_op_extension_softmax", "thimble_axon_ext_softmax"},
    {"nrf_axon_nn_op_extension_tanh_v2", "thimble_axon_ext_tanh"},
};

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Replaces whole identifiers only: `..._tanh_v2` does not match in `..._tanh_v2_wide`.
std::string rename(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (!is_name(text[at])) {
      result += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    std::string_view word = text.substr(at, end - at);
    for (const Renamed& row : kExtensions) {
      if (word == row.from) word = row.to;
    }
    result += word;
    at = end;
  }
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

Result<std::string> address_text(const CompiledHeader& network, const Address& address) {
  switch (address.space) {
    case AddressSpace::kInterlayer:
      return fmt::format("(uint8_t *)nrf_axon_interlayer_buffer + {}", address.offset);
    case AddressSpace::kVariables:
      return fmt::format("(uint8_t *)axon_model_{}_persistent_vars + {}", network.name,
                         address.offset);
    default:
      return unsupported("{}: an input or output outside of the network's memory", network.name);
  }
}

Result<std::string> tensor_rows(const CompiledHeader& network,
                                const formats::axon::ProgramInterface& interface) {
  std::string rows;
  for (const auto* const list : {&interface.inputs, &interface.outputs}) {
    for (const ProgramTensor& tensor : *list) {
      THIMBLE_TRY(const std::string address, address_text(network, tensor.address));
      rows += fmt::format("    {{{}, {}, {}, {}, {}, {}, {}}},\n", address, tensor.row_stride,
                          tensor.n, tensor.c, tensor.h, tensor.w, tensor.element_bytes);
    }
  }
  return rows;
}

}  // namespace

std::string identifier_of(std::string_view model) {
  std::string name;
  for (const char c : model) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? lower : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "m" + name;
  constexpr size_t kLengthMax = 40;
  return name.substr(0, kLengthMax);
}

std::string identifier_without_hash(std::string_view name) {
  constexpr size_t kTail = abi::axon::kMarkerHashDigits + 1;
  return std::string(name.size() > kTail ? name.substr(0, name.size() - kTail) : name);
}

std::string subgraph_file_name(std::string_view name) {
  return fmt::format("axon_subgraph_{}.h", name);
}

Result<std::string> subgraph_header(const CompiledHeader& network,
                                    const formats::axon::ProgramInterface& interface,
                                    std::string_view vendor_text, std::string_view model) {
  THIMBLE_TRY(const std::string rows, tensor_rows(network, interface));
  const std::string guard = "THIMBLE_AXON_SUBGRAPH_" + upper(network.name) + "_H";
  return fmt::format(
      "{note}{name} of {model} */\n"
      "/* Written by `thimble compile`, with the output of the vendor's compiler.\n"
      " * Include {table}, which includes this. */\n"
      "#ifndef {guard}\n"
      "#define {guard}\n\n"
      "{text}\n\n"
      "static const thimble_axon_tensor thimble_axon_{name}_tensors[] = {{\n{rows}}};\n"
      "#define THIMBLE_AXON_ROW_{name} \\\n"
      "  {{\"{name}\", cmd_buffer_{name}, {words}, {driver:#x}, {cycles}, {interlayer}, {sums}, "
      "\\\n"
      "   thimble_axon_{name}_tensors, {inputs}, {outputs}}}\n\n"
      "#endif\n",
      fmt::arg("note", kNote), fmt::arg("name", network.name), fmt::arg("model", model),
      fmt::arg("table", kTableFileName), fmt::arg("guard", guard),
      fmt::arg("text", rename(vendor_text)), fmt::arg("rows", rows),
      fmt::arg("words", network.words.size()), fmt::arg("driver", network.driver_version),
      fmt::arg("cycles", interface.cycles), fmt::arg("interlayer", network.interlayer_bytes),
      fmt::arg("sums", network.partial_sum_bytes), fmt::arg("inputs", interface.inputs.size()),
      fmt::arg("outputs", interface.outputs.size()));
}

std::vector<SubgraphNote> read_subgraph_note(std::string_view text) {
  constexpr std::string_view kOf = " of ", kEnd = " */";
  if (!text.starts_with(kNote)) return {};
  const std::string_view line = text.substr(kNote.size(), text.find('\n') - kNote.size());
  const size_t of = line.find(kOf);
  const size_t end = line.rfind(kEnd);
  if (of == std::string_view::npos || end == std::string_view::npos || end < of + kOf.size()) {
    return {};
  }
  return {{std::string(line.substr(0, of)),
           std::string(line.substr(of + kOf.size(), end - of - kOf.size()))}};
}

std::string subgraph_table(const std::vector<std::string>& names) {
  std::string includes, rows;
  for (const std::string& name : names) {
    includes += fmt::format("#include \"{}\"\n", subgraph_file_name(name));
    rows += fmt::format("    THIMBLE_AXON_ROW_{},\n", name);
  }
  return fmt::format(
      "/* Written by `thimble compile`: the networks of this folder, for one C file of the "
      "firmware,\n"
      " * which has the vendor's headers on its path:\n"
      " *\n"
      " *   #include \"{}\"\n"
      " *   const thimble_axon_silicon thimble_axon_chip = {{THIMBLE_AXON_SUBGRAPHS}};\n"
      " */\n"
      "#ifndef THIMBLE_AXON_SUBGRAPHS_TABLE_H\n"
      "#define THIMBLE_AXON_SUBGRAPHS_TABLE_H\n\n"
      "#include <assert.h>\n"
      "#include <stdbool.h>\n"
      "#include <stddef.h>\n"
      "#include <stdint.h>\n\n"
      "#include \"axon/nrf_axon_platform.h\"\n"
      "#include \"drivers/axon/nrf_axon_nn_infer.h\"\n"
      "#include \"thimble_axon_vendor.h\"\n\n"
      "{}\n"
      "static const thimble_axon_subgraph thimble_axon_subgraphs[] = {{\n{}}};\n\n"
      "#ifndef NRF_AXON_PSUM_BUFFER_SIZE\n"
      "#define NRF_AXON_PSUM_BUFFER_SIZE 0\n"
      "#endif\n"
      "/* The first fields of a thimble_axon_silicon. */\n"
      "#define THIMBLE_AXON_SUBGRAPHS \\\n"
      "  .subgraphs = thimble_axon_subgraphs, .subgraph_count = {}, \\\n"
      "  .interlayer_bytes = NRF_AXON_INTERLAYER_BUFFER_SIZE, \\\n"
      "  .partial_sum_bytes = NRF_AXON_PSUM_BUFFER_SIZE, .driver_version = NRF_AXON_VERSION\n\n"
      "#endif\n",
      kTableFileName, includes, rows, names.size());
}

}  // namespace thimble::engine::axon
