// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention: softmax(scale * q k' + mask) v.

#include <cmath>
#include <limits>

#include "import/constants.h"
#include "import/handlers.h"
#include "import/matmul.h"

namespace thimble::import_pt2 {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

constexpr double kMasked = -std::numeric_limits<double>::infinity();

struct Attention {
  ValueId q, k, v;
  double scale;
  int64_t groups = 1;  // number of heads of q per head of k and v
};

/// Converts a bool mask to an additive mask: 0 where `seen` is true, -inf otherwise.
ir::Tensor additive(const ir::Tensor& seen) {
  ir::Tensor mask = ir::zeros(DType::kF32, seen.shape);
  const auto count = static_cast<size_t>(ir::element_count(seen.shape));
  for (size_t i = 0; i < count; ++i) set_element(mask, i, element(seen, i) != 0 ? 0 : kMasked);
  return mask;
}

/// Returns an additive mask in which position i attends to positions 0 to i.
Result<ir::Tensor> causal_mask(Call& call, int64_t rows, int64_t columns) {
  THIMBLE_TRY(ir::Tensor mask, call.new_constant(DType::kF32, {rows, columns}));
  for (int64_t i = 0; i < rows * columns; ++i) {
    if (i % columns > i / columns) set_element(mask, static_cast<size_t>(i), kMasked);
  }
  return mask;
}

Result<Attention> read(Call& call) {
  Attention result{};
  THIMBLE_TRY(result.q, call.tensor("query"));
  THIMBLE_TRY(result.k, call.tensor("key"));
  THIMBLE_TRY(result.v, call.tensor("value"));
  for (const ValueId id : {result.q, result.k, result.v}) {
    if (call.shape(id).size() < 2) return bad_input("an operand has rank below 2");
  }
  THIMBLE_TRY(const double dropout, call.number("dropout_p", 0));
  if (dropout != 0) {
    return unsupported("dropout_p is {}; call model.eval() before the export", dropout);
  }
  const double width = static_cast<double>(call.shape(result.q).back());
  THIMBLE_TRY(result.scale, call.number("scale", 1 / std::sqrt(width)));
  return result;
}

/// Reshapes [..., heads, rows, width] to [..., heads / size, size, rows, width].
Result<ValueId> grouped(Call& call, ValueId x, int64_t size) {
  ir::Shape shape = call.shape(x);
  const auto head = shape.end() - 3;
  *head /= size;
  shape.insert(head + 1, size);
  return call.reshape(x, shape);
}

/// Grouped-query attention: several heads of q share one head of k and v. Adds a dimension along
/// which k and v broadcast.
Status share_heads(Call& call, Attention& attention) {
  THIMBLE_TRY(const bool enabled, call.boolean("enable_gqa", false));
  const ir::Shape q = call.shape(attention.q);
  const ir::Shape k = call.shape(attention.k);
  if (!enabled || q.size() < 3 || k.size() < 3) return ok();
  const int64_t heads = q[q.size() - 3];
  const int64_t shared = k[k.size() - 3];
  if (heads == shared) return ok();
  if (heads % shared != 0) return bad_input("{} heads of the query, {} of the key", heads, shared);
  const ir::Shape v = call.shape(attention.v);
  if (v.size() < 3 || v[v.size() - 3] != shared)
    return unsupported(
        "key and value have different numbers of heads: apply torch.repeat_interleave to the "
        "smaller one");
  attention.groups = heads / shared;
  THIMBLE_TRY(attention.q, grouped(call, attention.q, attention.groups));
  THIMBLE_TRY(attention.k, grouped(call, attention.k, 1));
  THIMBLE_TRY(attention.v, grouped(call, attention.v, 1));
  return ok();
}

/// Returns the mask with its heads grouped like those of q. A mask broadcasts to ungrouped scores.
Result<ValueId> mask_for(Call& call, const Attention& attention) {
  THIMBLE_TRY(const ValueId mask, call.any_tensor("attn_mask"));
  const ir::Shape shape = call.shape(mask);
  if (attention.groups == 1 || shape.size() < 3) return mask;
  return grouped(call, mask, shape[shape.size() - 3] == 1 ? 1 : attention.groups);
}

Result<ValueId> masked(Call& call, const Attention& attention, ValueId scores) {
  THIMBLE_TRY(const ValueId mask, mask_for(call, attention));
  const DType dtype = call.builder().graph.type(mask).dtype;
  if (dtype == DType::kF32) return call.add(OpKind::add, {scores, mask});
  if (dtype != DType::kBool) {
    return unsupported("attn_mask is {}, expected bool or float32", ir::dtype_name(dtype));
  }
  if (const ir::Tensor* seen = call.builder().constant_of(mask)) {
    const ValueId sum = call.constant_value("mask", additive(*seen));
    return call.add(OpKind::add, {scores, sum});
  }
  return call.add(OpKind::where, {mask, scores, call.scalar(kMasked)});
}

}  // namespace

namespace handlers {

Status scaled_dot_product_attention(Call& call) {
  THIMBLE_TRY(Attention attention, read(call));
  THIMBLE_CHECK(share_heads(call, attention));
  THIMBLE_TRY(ValueId scores,
              multiplied_transposed(call, attention.q, attention.k, attention.scale));
  THIMBLE_TRY(const bool is_causal, call.boolean("is_causal", false));
  const ir::Shape shape = call.shape(scores);
  if (is_causal) {
    THIMBLE_TRY(ir::Tensor causal,
                causal_mask(call, shape[shape.size() - 2], shape[shape.size() - 1]));
    const ValueId mask = call.constant_value("causal", std::move(causal));
    THIMBLE_TRY(scores, call.add(OpKind::add, {scores, mask}));
  }
  if (call.has("attn_mask")) {
    THIMBLE_TRY(scores, masked(call, attention, scores));
  }
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  THIMBLE_TRY(const ValueId weights, call.add(OpKind::softmax, {scores}, {{ir::attr::dim, last}}));
  THIMBLE_TRY(ValueId y, multiplied(call, weights, attention.v));
  if (attention.groups != 1) {
    ir::Shape joined = call.shape(y);
    const auto head = joined.end() - 4;
    *head *= attention.groups;
    joined.erase(head + 1);
    THIMBLE_TRY(y, call.reshape(y, joined));
  }
  return call.result(y);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
