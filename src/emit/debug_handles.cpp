// SPDX-License-Identifier: Apache-2.0
#include "emit/debug_handles.h"

#include <algorithm>
#include <charconv>

#include "base/control_characters.h"
#include "base/lines.h"

namespace thimble::emit {
namespace {

using formats::pte::NamedData;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t end = line.find('\t');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

template <typename T>
bool parse_number(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Adds the fact of a line to the calls; false if the line is not one of the forms.
bool add_line(const std::vector<std::string_view>& fields, std::vector<DebugCall>* calls) {
  if (fields[0] == "call") {
    calls->emplace_back();
    return fields.size() == 1;
  }
  if (calls->empty()) return false;
  DebugCall& call = calls->back();
  if (fields[0] == "node" && fields.size() == 2) {
    auto& nodes = call.operations.empty() ? call.nodes : call.operations.back().nodes;
    nodes.emplace_back(fields[1]);
    return true;
  }
  if (fields[0] == "result" && fields.size() == 4) {
    InstructionResult& result = call.results.emplace_back();
    result.name = fields[1];
    return parse_number(fields[2], &result.scale) && parse_number(fields[3], &result.zero_point);
  }
  if (fields[0] == "operation" && fields.size() == 2) {
    return parse_number(fields[1], &call.operations.emplace_back().word);
  }
  return false;
}

}  // namespace

NamedData debug_entry(const std::vector<DebugCall>& calls) {
  std::string text;
  for (const DebugCall& call : calls) {
    text += "call\n";
    for (const std::string& node : call.nodes) text += fmt::format("node\t{}\n", node);
    for (const InstructionResult& result : call.results) {
      text += fmt::format("result\t{}\t{}\t{}\n", result.name, result.scale, result.zero_point);
    }
    for (const DebugOperation& operation : call.operations) {
      text += fmt::format("operation\t{}\n", operation.word);
      for (const std::string& node : operation.nodes) text += fmt::format("node\t{}\n", node);
    }
  }
  NamedData data;
  data.key = kDebugKey;
  const ByteView bytes = as_byte_view(text);
  data.bytes.assign(bytes.begin(), bytes.end());
  return data;
}

Result<std::vector<DebugCall>> read_debug(const formats::pte::Program& program) {
  std::vector<DebugCall> calls;
  const NamedData* data = formats::pte::find_named_data(program, kDebugKey);
  if (data == nullptr) return calls;
  size_t number = 0;
  for (const std::string_view line : base::lines_of(as_text(data->bytes))) {
    ++number;
    const std::vector<std::string_view> fields = fields_of(line);
    if (std::ranges::any_of(fields, base::has_control_character) || !add_line(fields, &calls)) {
      return bad_input("named data {}: line {} is not a call, node, result or operation", kDebugKey,
                       number);
    }
  }
  const bool has_chain = !program.plans.empty() && !program.plans[0].chains.empty();
  const size_t instructions = has_chain ? program.plans[0].chains[0].instructions.size() : 0;
  if (calls.size() != instructions) {
    return bad_input("named data {}: {} calls, the program has {} instructions", kDebugKey,
                     calls.size(), instructions);
  }
  return calls;
}

std::string operation_id(uint32_t word) {
  return fmt::format("{:06}", word);
}

}  // namespace thimble::emit
