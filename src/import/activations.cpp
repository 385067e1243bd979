// SPDX-License-Identifier: Apache-2.0
// Activations, as formulas of IR operators. Except glu and prelu, they are functions of one value,
// so the integer form of a whole formula is one lookup table. The number of operators in the
// formula therefore does not matter.

#include <algorithm>
#include <cmath>

#include "import/formula.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

/// Returns max(x, 0) + negative, where `negative` is 0 for x >= 0.
Term with_positive_part(Formula& f, Term x, Term negative) {
  return f.positive_part(x) + negative;
}

/// Returns scale * x for x > 0, and scale * alpha * (e^(x * rate) - 1) otherwise.
Term exponential_unit(Formula& f, double alpha, double scale, double rate) {
  const Term x = f.tensor("self");
  const Term exponential = f.apply(OpKind::exp, {f.negative_part(x) * rate});
  return with_positive_part(f, x, (exponential + -1.0) * alpha) * scale;
}

/// Returns log(1 + e^x) without overflow.
Term softplus_of(Formula& f, Term x) {
  const Term distance = f.apply(OpKind::abs, {x});
  return f.positive_part(x) + f.apply(OpKind::log, {f.apply(OpKind::exp, {distance * -1.0}) + 1.0});
}

Term relu6_of_x_plus_3(Formula& f, Term x) {
  return f.clamp(x + 3.0, 0, 6) * (1.0 / 6.0);
}

}  // namespace

namespace handlers {

/// The first half along `dim`, multiplied by the sigmoid of the second half.
Status glu(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  const ir::Shape shape = call.shape(x);
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", shape.size(), -1));
  if (shape.empty() || shape[static_cast<size_t>(dim)] % 2 != 0) {
    return bad_input("self is {}, expected an even size of dimension {}", ir::list_text(shape),
                     dim);
  }
  const int64_t size = shape[static_cast<size_t>(dim)];
  Formula f(call);
  const auto part = [&](int64_t start, int64_t end) {
    return f.apply(OpKind::slice, {f.value(x)},
                   {{ir::attr::dim, dim}, {ir::attr::start, start}, {ir::attr::end, end}});
  };
  return f.result(part(0, size / 2) * f.apply(OpKind::sigmoid, {part(size / 2, size)}));
}

Status celu(Call& call) {
  Formula f(call);
  const double alpha = f.number("alpha", 1);
  return f.result(exponential_unit(f, alpha, 1, 1 / alpha));
}

Status elu(Call& call) {
  Formula f(call);
  const double alpha = f.number("alpha", 1);
  const double scale = f.number("scale", 1);
  return f.result(exponential_unit(f, alpha, scale, f.number("input_scale", 1)));
}

Status selu(Call& call) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  Formula f(call);
  return f.result(exponential_unit(f, kAlpha, kScale, 1));
}

Status gelu(Call& call) {
  THIMBLE_TRY(const std::string form, call.text("approximate", "none"));
  Formula f(call);
  const Term x = f.tensor("self");
  if (form == "none") {
    return f.result(x * (f.apply(OpKind::erf, {x * std::sqrt(0.5)}) + 1.0) * 0.5);
  }
  if (form != "tanh") return bad_input("approximate is {}, expected none or tanh", form);
  constexpr double kCubic = 0.044715;
  const Term inner = (x + x * x * x * kCubic) * std::sqrt(2 / 3.14159265358979323846);
  return f.result(x * (f.apply(OpKind::tanh, {inner}) + 1.0) * 0.5);
}

Status hardsigmoid(Call& call) {
  Formula f(call);
  return f.result(relu6_of_x_plus_3(f, f.tensor("self")));
}
Status hardswish(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(x * relu6_of_x_plus_3(f, x));
}

/// x, or 0 where |x| <= lambda.
Status hardshrink(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  const Term outside = f.greater(f.apply(OpKind::abs, {x}), f.number("lambd", 0.5));
  return f.result(f.where(outside, x, f.constant(0)));
}
Status softshrink(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  const double width = f.number("lambd", 0.5);
  return f.result(x - f.clamp(x, -width, width));
}
Status threshold(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  const Term above = f.greater(x, f.number("threshold"));
  return f.result(f.where(above, x, f.constant(f.number("value"))));
}

Status leaky_relu(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(with_positive_part(f, x, f.negative_part(x) * f.number("negative_slope", 0.01)));
}

Status log_sigmoid(Call& call) {
  Formula f(call);
  return f.result(softplus_of(f, f.tensor("self") * -1.0) * -1.0);
}

Status mish(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(x * f.apply(OpKind::tanh, {softplus_of(f, x)}));
}

/// The weight is one slope, or one slope for each index of dimension 1.
Status prelu(Call& call) {
  THIMBLE_TRY(const ValueId w, call.tensor("weight"));
  Formula f(call);
  const Term x = f.tensor("self");
  const int64_t slopes = ir::element_count(call.shape(w));
  const ir::Tensor* constant = call.builder().constant_of(w);
  if (slopes == 1 && constant != nullptr) {
    const double slope = static_cast<double>(constant->data<float>()[0]);
    return f.result(with_positive_part(f, x, f.negative_part(x) * slope));
  }
  const size_t rank = x.id == ir::kNoValue ? 1 : call.shape(x.id).size();
  ir::Shape shape(rank, 1);
  if (rank > 0) shape[std::min<size_t>(1, rank - 1)] = slopes;
  return f.result(f.apply(OpKind::prelu, {x, f.value(call.reshape(w, shape))}));
}

/// In inference, the slope is the mean of its bounds.
Status rrelu(Call& call) {
  THIMBLE_TRY(const bool training, call.boolean("training", false));
  if (training) return unsupported("random slopes; call model.eval() before the export");
  Formula f(call);
  const Term x = f.tensor("self");
  const double slope = (f.number("lower", 0.125) + f.number("upper", 1.0 / 3)) / 2;
  return f.result(with_positive_part(f, x, f.negative_part(x) * slope));
}

Status silu(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(x * f.apply(OpKind::sigmoid, {x}));
}

/// log(1 + e^(beta * x)) / beta, or x where beta * x exceeds the threshold.
Status softplus(Call& call) {
  constexpr double kLinearFrom = 17;  // for x >= 17, log(1 + e^x) equals x in float32
  Formula f(call);
  const Term x = f.tensor("self");
  const double beta = f.number("beta", 1);
  const double limit = f.number("threshold", 20);
  const Term scaled = x * beta;
  const Term smooth = softplus_of(f, scaled) * (1 / beta);
  return f.result(limit >= kLinearFrom ? smooth : f.where(f.greater(scaled, limit), x, smooth));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
