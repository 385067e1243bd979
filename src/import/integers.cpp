// SPDX-License-Identifier: Apache-2.0
#include "import/integers.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "import/constants.h"
#include "import/integer_array.h"

namespace thimble::import_pt2 {
namespace integers {
namespace {

namespace pt2 = formats::pt2;

// Limit of the elements of a table of one row per position, which is stored on the device.
constexpr size_t kTableElementsMax = size_t{1} << 14;
// The computation of one row takes about as long as that of this many elements.
constexpr int64_t kElementsPerRow = 128;

/// Returns null for operators that are not computed at import.
Fold fold_of(std::string_view target) {
  static const std::map<std::string_view, Fold> folds = [] {
    std::map<std::string_view, Fold> all;
    for (const auto rows : {arithmetic_folds(), indexing_folds(), reduction_folds()}) {
      for (const FoldRow& row : rows) all.emplace(row.target, row.fold);
    }
    return all;
  }();
  const auto found = folds.find(target);
  return found == folds.end() ? nullptr : found->second;
}

/// Returns true if a tensor is known integers of at most Builder::known_elements_max().
bool is_known(Call& call, ir::ValueId id) {
  const ir::Tensor* held = call.builder().constant_of(id);
  if (held == nullptr || !is_whole(held->dtype)) return false;
  const int64_t count = ir::element_count(held->shape);
  return count <= call.builder().known_elements_max() &&
         held->bytes.size() == static_cast<size_t>(count) * ir::dtype_bytes(held->dtype);
}

/// The tensor operands of a node.
struct Operands {
  bool found = false;  // there is one
  bool known = true;   // is_known() is true for all that are not in `computed`
  int64_t known_elements = 0;
  std::vector<ir::ValueId> computed;
};

Operands operands_of(Call& call) {
  Operands operands;
  const auto visit = [&](ir::ValueId id, bool listed) {
    if (id == ir::kNoValue) return;
    if (is_known(call, id)) {
      operands.known_elements += ir::element_count(call.shape(id));
      return;
    }
    if (listed || call.builder().constant_of(id) != nullptr) operands.known = false;
    operands.computed.push_back(id);
  };
  for (const pt2::NamedArgument& input : call.node().inputs) {
    const bool list =
        std::holds_alternative<std::vector<pt2::TensorName>>(input.value) ||
        std::holds_alternative<std::vector<std::optional<pt2::TensorName>>>(input.value);
    if (list) {
      const auto ids = call.optional_tensors(input.name);
      if (!ids.ok()) return {true, false, 0, {}};
      for (const ir::ValueId id : *ids) visit(id, true);
    } else if (call.is_tensor(input.name)) {
      const auto id = call.any_tensor(input.name);
      if (!id.ok()) return {true, false, 0, {}};
      visit(*id, false);
      operands.found = true;
    }
  }
  return operands;
}

ir::Tensor to_tensor(DType dtype, const Array& array) {
  ir::Tensor result = ir::zeros(dtype, array.shape);
  for (size_t i = 0; i < array.values.size(); ++i) {
    const int64_t value = array.values[i];
    switch (dtype) {
      case DType::kI64:
        result.data<int64_t>()[i] = value;
        break;
      case DType::kI32:
        result.data<int32_t>()[i] = static_cast<int32_t>(value);
        break;
      case DType::kI16:
        result.data<int16_t>()[i] = static_cast<int16_t>(value);
        break;
      case DType::kI8:
        result.data<int8_t>()[i] = static_cast<int8_t>(value);
        break;
      case DType::kU8:
        result.data<uint8_t>()[i] = static_cast<uint8_t>(value);
        break;
      case DType::kBool:
        result.data<uint8_t>()[i] = value != 0 ? 1 : 0;
        break;
      case DType::kF32:
        assert(false && "the result of integer arithmetic");
        break;
    }
  }
  return result;
}

struct Row {
  Fold fold;
  DType dtype;  // of the result
};

std::optional<Row> row_of(Call& call, std::string_view target) {
  const Fold fold = fold_of(target);
  const auto* meta = call.result_meta();
  const auto dtype = meta == nullptr ? std::nullopt : ir_dtype(meta->dtype);
  if (fold == nullptr || !dtype || !is_whole(*dtype)) return std::nullopt;
  return Row{fold, *dtype};
}

}  // namespace
}  // namespace integers

Result<std::optional<ir::Tensor>> fold_integers(Call& call, std::string_view target) {
  const auto row = integers::row_of(call, target);
  if (!row) return std::optional<ir::Tensor>();
  const integers::Operands operands = integers::operands_of(call);
  if (!operands.found || !operands.known || !operands.computed.empty()) {
    return std::optional<ir::Tensor>();
  }
  THIMBLE_CHECK(call.builder().count_computed(operands.known_elements));
  THIMBLE_TRY(const std::optional<integers::Array> array, row->fold(integers::Reader(call)));
  if (!array) return std::optional<ir::Tensor>();
  return std::optional(integers::to_tensor(row->dtype, *array));
}

Result<ir::ValueId> tabulate_integers(Call& call, std::string_view target) {
  const auto row = integers::row_of(call, target);
  if (!row) return ir::kNoValue;
  const integers::Operands operands = integers::operands_of(call);
  if (!operands.known || operands.computed.empty()) return ir::kNoValue;
  integers::Tables tables;
  const PositionTable* first = nullptr;
  int64_t elements = 0;
  for (const ir::ValueId id : operands.computed) {
    auto table = call.position_table(id);
    if (!table || (first != nullptr && table->position != first->position)) return ir::kNoValue;
    elements += ir::element_count(table->values.shape);
    first = &tables.insert_or_assign(id, *std::move(table)).first->second;
  }
  THIMBLE_CHECK(call.builder().count_computed(
      elements + first->rows * (integers::kElementsPerRow + operands.known_elements)));
  integers::Array all;
  for (int64_t at = 0; at < first->rows; ++at) {
    THIMBLE_TRY(const std::optional<integers::Array> one,
                row->fold(integers::Reader(call, tables, at)));
    if (!one || all.values.size() + one->values.size() > integers::kTableElementsMax) {
      return ir::kNoValue;
    }
    all.shape = one->shape;
    all.values.insert(all.values.end(), one->values.begin(), one->values.end());
  }
  const ir::Shape shape = all.shape;
  all.shape.insert(all.shape.begin(), first->rows);
  return call.table_row({first->position, first->rows, integers::to_tensor(row->dtype, all)},
                        shape);
}

}  // namespace thimble::import_pt2
