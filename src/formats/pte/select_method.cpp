// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/select_method.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "abi/named_data.h"
#include "formats/pte/records.h"

namespace thimble::formats::pte {
namespace {

/// The entries of a file with several methods become those of a file with this one.
void keep_entries(size_t plan, Program* program) {
  for (const char* const key : {abi::kProgramEntryKey, abi::kIoKey}) {
    if (plan == 0) continue;
    std::erase_if(program->named_data, [&](const NamedData& data) { return data.key == key; });
    const auto own = std::ranges::find(
        program->named_data, method_key(key, plan, program->plans[plan].name), &NamedData::key);
    if (own != program->named_data.end()) own->key = key;
  }
  std::vector<std::string> others = {abi::kMethodsKey};
  for (size_t i = 1; i < program->plans.size(); ++i) {
    for (const char* const key : {abi::kProgramEntryKey, abi::kIoKey}) {
      others.push_back(method_key(key, i, program->plans[i].name));
    }
  }
  std::erase_if(program->named_data, [&](const NamedData& data) {
    return std::ranges::find(others, data.key) != others.end();
  });
}

}  // namespace

Status select_method(std::string_view method, std::string_view label, Program* program) {
  const auto plan = std::ranges::find(program->plans, method, &ExecutionPlan::name);
  if (plan == program->plans.end()) {
    std::vector<std::string> names;
    for (const ExecutionPlan& each : program->plans) names.push_back(each.name);
    return bad_input("{}: no method {}; it has {}", label, method, fmt::join(names, ", "));
  }
  const bool records = has_records(*program);
  if (records) THIMBLE_CHECK(check_records(*program, label));
  if (find_named_data(*program, abi::kMethodsKey) != nullptr) {
    keep_entries(static_cast<size_t>(plan - program->plans.begin()), program);
  }
  ExecutionPlan kept = std::move(*plan);
  program->plans = {std::move(kept)};
  if (!records) return ok();
  NamedData& entry =
      *std::ranges::find(program->named_data, abi::kProgramEntryKey, &NamedData::key);
  set_method_count(entry, 0);
  return add_records(*program);
}

}  // namespace thimble::formats::pte
