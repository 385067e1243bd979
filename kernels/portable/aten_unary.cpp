// SPDX-License-Identifier: Apache-2.0
// Unary functions that ExecuTorch files keep in float32, such as aten::exp, including those with
// additional numbers. clamp, hardtanh and relu also support int8. x and y may have any dim_order.
//
// Operands: x, the numbers, y. In place: y may be x.

#include "abi/ops/aten.h"
#include "kernels/args/float_elementwise.h"
#include "kernels/define_kernel.h"
#include "numerics/float_math.h"

namespace thimble::kernels {
namespace {

constexpr uint32_t out_index(const abi::PteOpInfo& info) {
  return length_of(info.arguments) - 1;
}
double number(const Call& call, uint32_t i) {
  return call.args[i].number;
}

Status check_float(const Call& call, uint32_t out) {
  // A NaN represents None, which only z arguments allow; operators with z have other checks.
  for (uint32_t i = 1; i < out; ++i) {
    if (numerics::is_nan(number(call, i))) return Status::kBadParameter;
  }
  return check_floats(tensor(call, 0), tensor(call, out));
}

/// Sets y[i] = f(x[i]) for elements of one type.
/// `f` has a parameter of type Value.
template <class Element, class Value, class Function>
void map(const Tensor& x, const Tensor& y, Function f) {
  StrideIterator iterator = broadcast_pair(y, x, x);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const Element* from = static_cast<const Element*>(x.data) + iterator.offset[1];
    Element* to = static_cast<Element*>(y.data) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      to[i * row.step[0]] = static_cast<Element>(f(static_cast<Value>(from[i * row.step[1]])));
    }
  } while (iterator.next());
}

// --- Without numbers -----------------------------------------------------------------------------

Status check_plain(const Call& call) {
  return check_float(call, 1);
}
template <double (*f)(double)>
void run_plain(const Call& call) {
  map<float, double>(tensor(call, 0), tensor(call, 1), f);
}

constexpr double negative(double x) {
  return -x;
}
constexpr double cosine(double x) {
  return numerics::sine(x, 1);
}
constexpr double sine(double x) {
  return numerics::sine(x, 0);
}
/// Rounds to float32 twice, as ExecuTorch and PyTorch do.
constexpr double reciprocal_sqrt(double x) {
  return static_cast<double>(1.0F / static_cast<float>(numerics::sqrt(x)));
}
constexpr double reciprocal(double x) {
  return static_cast<double>(1.0F / static_cast<float>(x));
}

// --- With numbers --------------------------------------------------------------------------------

Status check_pow(const Call& call) {
  return check_float(call, 2);
}
void run_pow(const Call& call) {
  const double exponent = number(call, 1);
  map<float, double>(tensor(call, 0), tensor(call, 2),
                     [exponent](double x) { return numerics::pow(x, exponent); });
}

void run_leaky_relu(const Call& call) {
  const auto slope = static_cast<float>(number(call, 1));
  map<float, float>(tensor(call, 0), tensor(call, 2),
                    [slope](float x) { return x > 0 ? x : x * slope; });
}

/// Numbers: alpha, scale, input_scale.
Status check_elu(const Call& call) {
  return check_float(call, 4);
}
void run_elu(const Call& call) {
  const double alpha = number(call, 1);
  const double scale = number(call, 2);
  const double input_scale = number(call, 3);
  map<float, double>(tensor(call, 0), tensor(call, 4), [=](double x) {
    return x <= 0 ? (numerics::exp(x * input_scale) - 1) * alpha * scale : x * scale;
  });
}

bool is_tanh_form(const Text& text) {
  return text.bytes == 4 && memcmp(text.data, "tanh", 4) == 0;
}
bool is_exact_form(const Text& text) {
  return text.bytes == 4 && memcmp(text.data, "none", 4) == 0;
}
Status check_gelu(const Call& call) {
  const Text& form = call.args[1].text;
  if (!is_tanh_form(form) && !is_exact_form(form)) return Status::kBadParameter;
  return check_floats(tensor(call, 0), tensor(call, 2));
}
void run_gelu(const Call& call) {
  constexpr double kSqrtHalf = 0.7071067811865476;
  constexpr double kSqrtTwoOverPi = 0.7978845608028654;
  const bool tanh_form = is_tanh_form(call.args[1].text);
  map<float, double>(tensor(call, 0), tensor(call, 2), [=](double x) {
    return 0.5 * x *
           (1 + (tanh_form ? numerics::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x))
                           : numerics::erf(x * kSqrtHalf)));
  });
}

// --- Limits --------------------------------------------------------------------------------------

void limit(const Tensor& x, const Tensor& y, Limits limits) {
  if (x.dtype == DType::kI8) {
    limit_codes(x, y, limits);
    return;
  }
  // A NaN bound has no effect. A NaN input gives NaN.
  const auto min = static_cast<float>(limits.min);
  const auto max = static_cast<float>(limits.max);
  map<float, float>(x, y, [=](float value) {
    value = value < min ? min : value;
    return value > max ? max : value;
  });
}

Status check_hardtanh(const Call& call) {
  const bool both = !numerics::is_nan(number(call, 1)) && !numerics::is_nan(number(call, 2));
  return both ? check_clamp(call) : Status::kBadParameter;
}
void run_clamp(const Call& call) {
  limit(tensor(call, 0), tensor(call, 3), clamp_limits(call));
}
Status check_relu(const Call& call) {
  return check_limits(tensor(call, 0), tensor(call, 1), {0, numerics::kNan});
}
void run_relu(const Call& call) {
  limit(tensor(call, 0), tensor(call, 1), {0, numerics::kNan});
}

static_assert(out_index(abi::op_info::aten_elu) == 4 && out_index(abi::op_info::aten_clamp) == 3);

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_abs, check_plain, run_plain<numerics::magnitude>);
THIMBLE_DEFINE_KERNEL(portable, aten_asinh, check_plain, run_plain<numerics::asinh>);
THIMBLE_DEFINE_KERNEL(portable, aten_atan, check_plain, run_plain<numerics::atan>);
THIMBLE_DEFINE_KERNEL(portable, aten_ceil, check_plain, run_plain<numerics::ceil>);
THIMBLE_DEFINE_KERNEL(portable, aten_clamp, check_clamp, run_clamp);
THIMBLE_DEFINE_KERNEL(portable, aten_cos, check_plain, run_plain<cosine>);
THIMBLE_DEFINE_KERNEL(portable, aten_elu, check_elu, run_elu);
THIMBLE_DEFINE_KERNEL(portable, aten_erf, check_plain, run_plain<numerics::erf>);
THIMBLE_DEFINE_KERNEL(portable, aten_exp, check_plain, run_plain<numerics::exp>);
THIMBLE_DEFINE_KERNEL(portable, aten_floor, check_plain, run_plain<numerics::floor>);
THIMBLE_DEFINE_KERNEL(portable, aten_gelu, check_gelu, run_gelu);
THIMBLE_DEFINE_KERNEL(portable, aten_hardtanh, check_hardtanh, run_clamp);
THIMBLE_DEFINE_KERNEL(portable, aten_leaky_relu, check_pow, run_leaky_relu);
THIMBLE_DEFINE_KERNEL(portable, aten_log, check_plain, run_plain<numerics::log>);
THIMBLE_DEFINE_KERNEL(portable, aten_neg, check_plain, run_plain<negative>);
THIMBLE_DEFINE_KERNEL(portable, aten_pow_scalar, check_pow, run_pow);
THIMBLE_DEFINE_KERNEL(portable, aten_reciprocal, check_plain, run_plain<reciprocal>);
THIMBLE_DEFINE_KERNEL(portable, aten_relu, check_relu, run_relu);
THIMBLE_DEFINE_KERNEL(portable, aten_rsqrt, check_plain, run_plain<reciprocal_sqrt>);
THIMBLE_DEFINE_KERNEL(portable, aten_sigmoid, check_plain, run_plain<numerics::sigmoid>);
THIMBLE_DEFINE_KERNEL(portable, aten_sin, check_plain, run_plain<sine>);
THIMBLE_DEFINE_KERNEL(portable, aten_sqrt, check_plain, run_plain<numerics::sqrt>);
THIMBLE_DEFINE_KERNEL(portable, aten_tanh, check_plain, run_plain<numerics::tanh>);

}  // namespace thimble::kernels
