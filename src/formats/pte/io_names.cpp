// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/io_names.h"

#include <cassert>

#include "base/control_characters.h"

namespace thimble::formats::pte {

NamedData names_entry(const IoNames& names) {
  std::string text;
  const auto add = [&](const std::string& name) {
    assert(!name.empty() && !base::has_control_character(name));
    text += name + "\n";
  };
  for (const std::string& name : names.inputs) add(name);
  text += "\n";
  for (const std::string& name : names.outputs) add(name);
  NamedData data;
  data.key = kNamesKey;
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  data.bytes.assign(bytes, bytes + text.size());
  return data;
}

Result<std::optional<IoNames>> read_names(const Program& program, const ExecutionPlan& plan) {
  const NamedData* const data = find_named_data(program, kNamesKey);
  if (data == nullptr) return std::optional<IoNames>();
  IoNames names;
  std::vector<std::string>* list = &names.inputs;
  std::string_view text(reinterpret_cast<const char*>(data->bytes.data()), data->bytes.size());
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return bad_input("named data {}: its last line has no end", kNamesKey);
    }
    if (end == 0 && list == &names.outputs) {
      return bad_input("named data {}: a second empty line", kNamesKey);
    }
    if (end == 0) {
      list = &names.outputs;
    } else if (base::has_control_character(text.substr(0, end))) {
      return bad_input("named data {}: a control character in a name", kNamesKey);
    } else {
      list->emplace_back(text.substr(0, end));
    }
    text.remove_prefix(end + 1);
  }
  if (names.inputs.size() != plan.inputs.size() || names.outputs.size() != plan.outputs.size()) {
    return bad_input("named data {}: {} inputs and {} outputs, the program has {} and {}",
                     kNamesKey, names.inputs.size(), names.outputs.size(), plan.inputs.size(),
                     plan.outputs.size());
  }
  return std::optional(std::move(names));
}

}  // namespace thimble::formats::pte
