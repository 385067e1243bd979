// Batch normalization with fixed statistics: y = x * scale[c] + shift[c]. A pass folds it into the
// convolution or linear before it.

#include <cmath>

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::Tensor;

/// One number per channel; `otherwise` if the argument is left out.
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

}  // namespace

namespace handlers {

Status batch_norm(Call& call) {
  THIMBLE_TRY(const bool training, call.boolean("training", false));
  if (training || !call.has("running_mean") || !call.has("running_var")) {
    return unsupported("it uses the statistics of the batch; call model.eval() before the export");
  }
  THIMBLE_TRY(const ir::ValueId x, call.tensor("input"));
  if (call.shape(x).size() < 2) {
    return bad_input("input has shape {}, expected rank 2 or more", ir::list_text(call.shape(x)));
  }
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
  const ir::ValueId scale_id = call.constant_value("scale", std::move(scale));
  const ir::ValueId shift_id = call.constant_value("shift", std::move(shift));
  THIMBLE_TRY(const ir::ValueId y, call.add(ir::OpKind::batch_norm, {x, scale_id, shift_id}));
  return call.result(y);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
