// SPDX-License-Identifier: Apache-2.0
#include "import/result_check.h"

#include "import/dynamic_quantization.h"
#include "import/node_tensors.h"
#include "import/spectrum.h"

namespace thimble::import_pt2 {

namespace pt2 = formats::pt2;

namespace {

/// Returns true if `exported` is `shape` with one more dimension of 1.
bool has_one_more_dimension(ir::Shape exported, ir::Shape shape) {
  if (exported.size() != shape.size() + 1) return false;
  std::erase(exported, 1);
  std::erase(shape, 1);
  return exported == shape;
}

}  // namespace

Error unsupported_type(std::string_view what, pt2::ScalarType type) {
  switch (type) {
    case pt2::ScalarType::kFloat16:
    case pt2::ScalarType::kBfloat16:
    case pt2::ScalarType::kFloat64:
      return unsupported(
          "{} is {}, only float32 graphs are supported: export model.float() with "
          "float32 example inputs",
          what, pt2::name(type));
    default:
      return unsupported("{} is {}, computed at run time: compute it in float32 or int32", what,
                         pt2::name(type));
  }
}

Status ResultCheck::check(const pt2::Node& node) {
  Status status = ok();
  for_each_result(node, [&](const std::string& name) {
    if (!status.ok() || !context_.tensors.is_bound(name)) return;
    status = check_result(name, node.target.find("aten.lstm.") != std::string::npos);
  });
  return status;
}

Status ResultCheck::check_result(const std::string& name, bool is_lstm) {
  const pt2::TensorMeta* meta = context_.meta(name);
  THIMBLE_TRY(const ir::ValueId id, context_.tensors.read(name, {}));
  const ir::Value& value = context_.builder.graph.value(id);
  const ir::Shape& shape = value.type.shape;
  const auto sizes = context_.symbols.values(meta->sizes);
  if (sizes.ok() && *sizes != shape) {
    // PyTorch 2.9 exports the final states of an LSTM, and what it computes of them, with one more
    // dimension of 1 than the operator returns.
    const bool one_more = has_one_more_dimension(*sizes, shape);
    lstm_ranks_ = lstm_ranks_ || (is_lstm && one_more);
    if (!one_more || !lstm_ranks_) {
      return bad_input("{} has shape {}, expected {} as in the archive", name, ir::list_text(shape),
                       ir::list_text(*sizes));
    }
  }
  if (value.constant != nullptr || ir_dtype(meta->dtype) == value.type.dtype) return ok();
  const bool is_real = value.type.dtype == ir::DType::kF32;
  const bool is_power = is_real && is_complex(meta->dtype);
  const bool is_code =
      meta->dtype == pt2::ScalarType::kInt8 || meta->dtype == pt2::ScalarType::kInt32;
  if (is_power || (is_real && is_code && context_.dynamic_results.contains(name))) return ok();
  return unsupported_type(name, meta->dtype);
}

}  // namespace thimble::import_pt2
