// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "formats/ptd/ptd.h"

namespace thimble::formats::ptd {
namespace {

bool is_external(const pte::Tensor& tensor) {
  return tensor.extra && tensor.extra->location == pte::TensorLocation::kExternal;
}

Status check_entry(const std::string& key, const Entry& entry, const pte::Tensor& tensor,
                   std::string_view label) {
  const bool same = !entry.layout || (entry.layout->scalar_type == tensor.scalar_type &&
                                      entry.layout->sizes == tensor.sizes &&
                                      entry.layout->dim_order == tensor.dim_order);
  if (!same) {
    return bad_input("{}: {}: another type, shape or memory order than in the program", label, key);
  }
  const std::optional<uint64_t> expected = pte::data_bytes(tensor);
  if (!expected) return bad_input("{}: {}: the program states an invalid size", label, key);
  if (entry.bytes.size() >= *expected) return ok();
  return bad_input("{}: {}: {} bytes, the program expects {}", label, key, entry.bytes.size(),
                   *expected);
}

}  // namespace

bool has_external(const pte::Program& program) {
  for (const pte::ExecutionPlan& plan : program.plans) {
    for (const pte::EValue& value : plan.values) {
      const auto* tensor = std::get_if<pte::Tensor>(&value);
      if (tensor != nullptr && is_external(*tensor)) return true;
    }
  }
  return false;
}

Status merge(const DataFile& data, std::string_view data_label, pte::Program* program) {
  std::map<std::string, uint32_t> constant_of;
  for (pte::ExecutionPlan& plan : program->plans) {
    for (pte::EValue& value : plan.values) {
      auto* tensor = std::get_if<pte::Tensor>(&value);
      if (tensor == nullptr || !is_external(*tensor)) continue;
      if (tensor->allocation) {
        return unsupported("{}: the initial value of a planned tensor is in a data file",
                           data_label);
      }
      const std::string key = tensor->extra->fully_qualified_name.value_or("");
      const auto found = data.find(key);
      if (found == data.end()) {
        return bad_input("{}: no entry {}, which the program needs", data_label, key);
      }
      THIMBLE_CHECK(check_entry(key, found->second, *tensor, data_label));
      const auto next = static_cast<uint32_t>(program->constants.size());
      const auto [index, is_new] = constant_of.emplace(key, next);
      const ByteView bytes = found->second.bytes;
      if (is_new) program->constants.emplace_back(bytes.begin(), bytes.end());
      tensor->data_buffer_idx = index->second;
      tensor->extra->location = pte::TensorLocation::kSegment;
      tensor->extra->fully_qualified_name.reset();
    }
  }
  for (const auto& [key, entry] : data) {
    if (entry.layout || constant_of.contains(key)) continue;
    if (pte::find_named_data(*program, key) != nullptr) continue;
    program->named_data.push_back({key, 16, Bytes(entry.bytes.begin(), entry.bytes.end())});
  }
  return ok();
}

}  // namespace thimble::formats::ptd
