// SPDX-License-Identifier: Apache-2.0
// Normalization. With fixed statistics, y = x * scale[c] + shift[c], which a pass folds into the
// preceding convolution or linear. With computed statistics, it is a layer, group or rms norm.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::Tensor;
using ir::ValueId;

/// Returns one number per channel; `otherwise` if the argument is omitted.
Result<std::vector<double>> channels(Call& call, std::string_view name, int64_t count,
                                     double otherwise) {
  if (!call.has(name)) return std::vector<double>(static_cast<size_t>(count), otherwise);
  THIMBLE_TRY(const Tensor* tensor, call.constant(name));
  if (tensor->shape != ir::Shape{count}) {
    return bad_input("argument {} has shape {}, expected [{}]", name, ir::list_text(tensor->shape),
                     count);
  }
  const auto values = tensor->data<float>();
  return std::vector<double>(values.begin(), values.end());
}

Status channel_rank(const ir::Shape& shape) {
  if (shape.size() >= 2) return ok();
  return bad_input("input has shape {}, expected rank 2 or more", ir::list_text(shape));
}

Result<ValueId> add_group_norm(Call& call, ValueId x, int64_t groups) {
  THIMBLE_TRY(const ValueId w, call.optional_tensor("weight"));
  THIMBLE_TRY(const ValueId b, call.optional_tensor("bias"));
  THIMBLE_TRY(const double eps, call.number("eps", 1e-5));
  return call.add(OpKind::group_norm, {x, w, b},
                  {{ir::attr::groups, groups}, {ir::attr::eps, eps}});
}

/// A batch norm without running statistics: each channel of the batch is normalized by its own
/// statistics.
Status batch_statistics(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  const ir::Shape shape = call.shape(x);
  THIMBLE_CHECK(channel_rank(shape));
  const int64_t count = shape[1];
  if (shape[0] == 1) {
    return call.result(add_group_norm(call, x, count));
  }
  Ints exchange(shape.size());
  std::iota(exchange.begin(), exchange.end(), 0);
  std::swap(exchange[0], exchange[1]);
  THIMBLE_TRY(ValueId y, call.add(OpKind::permute, {x}, {{ir::attr::dims, exchange}}));
  const ir::Shape exchanged = call.shape(y);
  THIMBLE_TRY(y, call.reshape(y, {1, count, ir::element_count(shape) / count}));
  THIMBLE_TRY(y, add_group_norm(call, y, count));
  THIMBLE_TRY(y, call.reshape(y, exchanged));
  return call.result(call.add(OpKind::permute, {y}, {{ir::attr::dims, exchange}}));
}

/// Returns the number of dimensions in `normalized_shape`, which are the last ones of the input.
Result<int64_t> normalized_dims(Call& call, ValueId x) {
  THIMBLE_TRY(const Ints wanted, call.integers("normalized_shape"));
  const ir::Shape& shape = call.shape(x);
  const bool fits = !wanted.empty() && wanted.size() <= shape.size() &&
                    std::equal(wanted.rbegin(), wanted.rend(), shape.rbegin());
  if (fits) return static_cast<int64_t>(wanted.size());
  return bad_input("normalized_shape is {} for an input of shape {}", ir::list_text(wanted),
                   ir::list_text(shape));
}

/// Returns the 2-norm of the part of v at each index of `dim`, or of all of v if `dim` is -1.
Result<ValueId> lengths_along(Call& call, ValueId v, int64_t dim) {
  Ints dims;
  for (int64_t i = 0; i < static_cast<int64_t>(call.shape(v).size()); ++i) {
    if (i != dim) dims.push_back(i);
  }
  THIMBLE_TRY(const ValueId squares, call.add(OpKind::mul, {v, v}));
  THIMBLE_TRY(
      const ValueId sum,
      call.add(OpKind::sum, {squares}, {{ir::attr::dims, dims}, {ir::attr::keepdim, int64_t{1}}}));
  return call.add(OpKind::sqrt, {sum});
}

Result<ValueId> add_layer_norm(Call& call, ValueId x) {
  THIMBLE_TRY(const int64_t dims, normalized_dims(call, x));
  THIMBLE_TRY(const ValueId w, call.optional_tensor("weight"));
  THIMBLE_TRY(const ValueId b, call.optional_tensor("bias"));
  THIMBLE_TRY(const double eps, call.number("eps", 1e-5));
  return call.add(OpKind::layer_norm, {x, w, b},
                  {{ir::attr::last_dims, dims}, {ir::attr::eps, eps}});
}

/// Mean and 1 / sqrt(variance + eps) over `dims`, which only gradients use.
struct Statistics {
  ValueId mean = ir::kNoValue, rstd = ir::kNoValue;
};
Result<Statistics> statistics(Call& call, ValueId x, const Ints& dims, double eps,
                              bool keeps_dims) {
  const ir::Attrs over = {{ir::attr::dims, dims}, {ir::attr::keepdim, int64_t{keeps_dims}}};
  ir::Attrs spread = over;
  spread.set(ir::attr::correction, 0.0);
  Statistics result;
  THIMBLE_TRY(result.mean, call.add(OpKind::mean, {x}, over));
  THIMBLE_TRY(const ValueId variance, call.add(OpKind::variance, {x}, spread));
  THIMBLE_TRY(const ValueId shifted, call.add(OpKind::add, {variance, call.scalar(eps)}));
  THIMBLE_TRY(result.rstd, call.add(OpKind::rsqrt, {shifted}));
  return result;
}

}  // namespace

namespace handlers {

/// g * v / |v|.
Status weight_norm(Call& call) {
  THIMBLE_TRY(const ValueId v, call.tensor("v"));
  THIMBLE_TRY(const ValueId g, call.tensor("g"));
  THIMBLE_TRY(const int64_t dim, call.integer("dim", 0));
  THIMBLE_TRY(const ValueId lengths, lengths_along(call, v, dim));
  THIMBLE_TRY(const ValueId factors, call.add(OpKind::div, {g, lengths}));
  THIMBLE_TRY(const ValueId w, call.add(OpKind::mul, {v, factors}));
  return call.results({w, lengths});
}

Status batch_norm(Call& call) {
  const bool keeps_statistics = call.has("running_mean") && call.has("running_var");
  if (!keeps_statistics) return batch_statistics(call);
  THIMBLE_TRY(const bool training, call.boolean("training", false));
  if (training) {
    return unsupported("it uses the statistics of the batch; call model.eval() before the export");
  }
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_CHECK(channel_rank(call.shape(x)));
  const int64_t count = call.shape(x)[1];
  THIMBLE_TRY(const auto weight, channels(call, "weight", count, 1));
  THIMBLE_TRY(const auto bias, channels(call, "bias", count, 0));
  THIMBLE_TRY(const auto mean, channels(call, "running_mean", count, 0));
  THIMBLE_TRY(const auto variance, channels(call, "running_var", count, 1));
  THIMBLE_TRY(const double eps, call.number("eps"));

  Tensor scale = ir::zeros(ir::DType::kF32, {count});
  Tensor shift = scale;
  for (size_t c = 0; c < static_cast<size_t>(count); ++c) {
    const double factor = weight[c] / std::sqrt(variance[c] + eps);
    const double offset = bias[c] - mean[c] * factor;
    if (!std::isfinite(factor)) {
      return bad_input("running_var[{}] is {}, expected a variance", c, variance[c]);
    }
    scale.data<float>()[c] = static_cast<float>(factor);
    shift.data<float>()[c] = static_cast<float>(offset);
  }
  const ValueId scale_id = call.constant_value("scale", std::move(scale));
  const ValueId shift_id = call.constant_value("shift", std::move(shift));
  return call.result(call.add(OpKind::batch_norm, {x, scale_id, shift_id}));
}

/// Normalizes each channel of each image by its own statistics, or by running statistics.
Status instance_norm(Call& call) {
  THIMBLE_TRY(const bool own, call.boolean("use_input_stats"));
  if (!own) return batch_norm(call);
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_CHECK(channel_rank(call.shape(x)));
  return call.result(add_group_norm(call, x, call.shape(x)[1]));
}

Status group_norm(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(const int64_t groups, call.integer(call.has("num_groups") ? "num_groups" : "group"));
  return call.result(add_group_norm(call, x, groups));
}

/// As group_norm(); also returns the statistics.
Status native_group_norm(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(const int64_t groups, call.integer("group"));
  THIMBLE_TRY(const double eps, call.number("eps", 1e-5));
  THIMBLE_TRY(const ValueId y, add_group_norm(call, x, groups));
  const int64_t n = call.shape(x)[0];
  THIMBLE_TRY(const ValueId grouped,
              call.reshape(x, {n, groups, ir::element_count(call.shape(x)) / n / groups}));
  THIMBLE_TRY(const Statistics found, statistics(call, grouped, {2}, eps, /*keeps_dims=*/false));
  return call.results({y, found.mean, found.rstd});
}

Status layer_norm(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  return call.result(add_layer_norm(call, x));
}

/// As layer_norm(); also returns the statistics.
Status native_layer_norm(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(const ValueId y, add_layer_norm(call, x));
  THIMBLE_TRY(const int64_t count, normalized_dims(call, x));
  THIMBLE_TRY(const double eps, call.number("eps", 1e-5));
  Ints dims(static_cast<size_t>(count));
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(call.shape(x).size()) - count);
  THIMBLE_TRY(const Statistics found, statistics(call, x, dims, eps, /*keeps_dims=*/true));
  return call.results({y, found.mean, found.rstd});
}

/// The default of `eps` is the float32 machine epsilon.
Status rms_norm(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(const int64_t dims, normalized_dims(call, x));
  THIMBLE_TRY(const ValueId w, call.optional_tensor("weight"));
  constexpr double kEps = std::numeric_limits<float>::epsilon();
  THIMBLE_TRY(const double eps, call.number("eps", kEps));
  return call.result(
      call.add(OpKind::rms_norm, {x, w}, {{ir::attr::last_dims, dims}, {ir::attr::eps, eps}}));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
