// SPDX-License-Identifier: Apache-2.0
#include "quant/fast_float.h"

#include <algorithm>
#include <array>
#include <span>

#include "eval/spectrum.h"
#include "quant/element.h"
#include "quant/fast/broadcast.h"
#include "quant/fast/convolution.h"
#include "quant/fast/matmul.h"
#include "quant/fast/movement.h"
#include "quant/fast/recurrent.h"
#include "quant/fast/stable_math.h"
#include "quant/fast/transposed.h"

namespace thimble::quant {
namespace {

using eval::Call;

void run_add(const Call& call, Scratch&) {
  broadcast<float>(call, [](float a, float b) { return a + b; });
}
void run_sub(const Call& call, Scratch&) {
  broadcast<float>(call, [](float a, float b) { return a - b; });
}
void run_mul(const Call& call, Scratch&) {
  broadcast<float>(call, [](float a, float b) { return a * b; });
}

template <typename F>
void unary(const Call& call, F f) {
  const float* x = call.input<float>(0).data();
  float* y = call.result<float>().data();
  const size_t count = call.result<float>().size();
  for (size_t i = 0; i < count; ++i) y[i] = f(x[i]);
}

void run_clamp(const Call& call, Scratch&) {
  const float low = static_cast<float>(call.op.get(ir::attr::float_min));
  const float high = static_cast<float>(call.op.get(ir::attr::float_max));
  // Comparisons with NaN are false, so NaN is passed through.
  unary(call, [=](float x) {
    x = x < low ? low : x;
    return x > high ? high : x;
  });
}

/// Runs any unary function.
void run_function(const Call& call, Scratch&) {
  unary(call, [&](float x) {
    return static_cast<float>(element_value(call.op, static_cast<double>(x)));
  });
}

void run_div(const Call& call, Scratch&) {
  broadcast<float>(call, [](float a, float b) { return a / b; });
}
/// Positions and masks are i32 or i64. Returns false for other types.
template <typename F>
bool broadcast_integers(const Call& call, F f) {
  if (call.inputs[0]->dtype == ir::DType::kI32) {
    broadcast<int32_t>(call, f);
    return true;
  }
  if (call.inputs[0]->dtype != ir::DType::kI64) return false;
  broadcast<int64_t>(call, f);
  return true;
}
void run_maximum(const Call& call, Scratch&) {
  if (broadcast_integers(call, [](auto a, auto b) { return a > b ? a : b; })) return;
  broadcast<float>(call, [](float a, float b) { return a != a || a > b ? a : b; });
}
void run_minimum(const Call& call, Scratch&) {
  if (broadcast_integers(call, [](auto a, auto b) { return a < b ? a : b; })) return;
  broadcast<float>(call, [](float a, float b) { return a != a || a < b ? a : b; });
}
void run_prelu(const Call& call, Scratch&) {
  broadcast<float>(call, [](float x, float w) { return x < 0 ? x * w : x; });
}

/// Runs a unary function of arrays.
template <void (*function)(std::span<double>)>
void run_array_function(const Call& call, Scratch&) {
  const auto x = call.input<float>(0);
  const auto y = call.result<float>();
  std::array<double, 64> block{};
  for (size_t first = 0; first < x.size(); first += block.size()) {
    const size_t count = std::min(block.size(), x.size() - first);
    for (size_t i = 0; i < count; ++i) block[i] = static_cast<double>(x[first + i]);
    function({block.data(), count});
    for (size_t i = 0; i < count; ++i) y[first + i] = static_cast<float>(block[i]);
  }
}

void run_batch_norm(const Call& call, Scratch&) {
  const ir::Shape& shape = call.shape(0);
  const int64_t plane = ir::element_count(shape) / shape[0] / shape[1];
  const float* x = call.input<float>(0).data();
  float* y = call.result<float>().data();
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i, x += plane, y += plane) {
    const float scale = call.input<float>(1)[static_cast<size_t>(i % shape[1])];
    const float shift = call.input<float>(2)[static_cast<size_t>(i % shape[1])];
    for (int64_t k = 0; k < plane; ++k) y[k] = x[k] * scale + shift;
  }
}

void run_conv2d(const Call& call, Scratch& scratch) {
  convolve(convolution_of(call), call.input<float>(0).data(), call.input<float>(1).data(),
           call.has(2) ? call.input<float>(2).data() : nullptr, call.result<float>().data(),
           scratch);
}

void run_conv_transpose2d(const Call& call, Scratch& scratch) {
  convolve_transposed(call, call.input<float>(0).data(), call.input<float>(1).data(),
                      call.has(2) ? call.input<float>(2).data() : nullptr,
                      call.result<float>().data(), scratch);
}

void run_linear(const Call& call, Scratch&) {
  const int64_t out = call.shape(1)[0];
  const int64_t in = call.shape(1)[1];
  const int64_t rows = static_cast<int64_t>(call.input<float>(0).size()) / in;
  float* y = call.result<float>().data();
  multiply_transposed(call.input<float>(0).data(), call.input<float>(1).data(), y, rows, in, out);
  if (!call.has(2)) return;
  const float* bias = call.input<float>(2).data();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t o = 0; o < out; ++o) y[row * out + o] += bias[o];
  }
}

void run_avg_pool2d(const Call& call, Scratch&) {
  const float* x = call.input<float>(0).data();
  float* y = call.result<float>().data();
  for_each_window(pool_window_of(call), [=](int64_t index, int64_t first, int64_t rows,
                                            int64_t row_step, int64_t columns, int64_t step) {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        sum += static_cast<double>(x[first + r * row_step + c * step]);
      }
    }
    y[index] = static_cast<float>(sum / static_cast<double>(rows * columns));
  });
}

/// Computes each element of a row: finish(x - maximum, its exponential, sum of exponentials).
template <typename Finish>
void by_row(const Call& call, Scratch& scratch, Finish finish) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  const size_t length = static_cast<size_t>(call.shape(0)[dim]);
  const float* x = call.input<float>(0).data();
  float* y = call.result<float>().data();
  double* row = scratch.get<double>(0, 2 * length);
  double* exponentials = row + length;
  eval::for_each_row(call.shape(0), dim, [&](size_t first, size_t step) {
    double maximum = static_cast<double>(x[first]);
    for (size_t i = 0; i < length; ++i) {
      row[i] = static_cast<double>(x[first + i * step]);
      maximum = row[i] > maximum ? row[i] : maximum;
    }
    double sum = 0;
    for (size_t i = 0; i < length; ++i) {
      row[i] -= maximum;
      exponentials[i] = row[i];
    }
    stable_exp({exponentials, length});
    for (size_t i = 0; i < length; ++i) sum += exponentials[i];
    for (size_t i = 0; i < length; ++i) {
      y[first + i * step] = static_cast<float>(finish(row[i], exponentials[i], sum));
    }
  });
}

void run_softmax(const Call& call, Scratch& scratch) {
  by_row(call, scratch, [](double, double exponential, double sum) { return exponential / sum; });
}
void run_log_softmax(const Call& call, Scratch& scratch) {
  by_row(call, scratch, [](double x, double, double sum) { return x - stable_log(sum); });
}

void run_log_mel(const Call& call, Scratch&) {
  eval::log_mel(call, {stable_cos, stable_sin, stable_log});
}

}  // namespace

const KernelTable& float_kernels() {
  fix_block_sizes();
  // The last row of an operator counts: some functions have faster kernels.
  static const KernelTable kTable = with_shared_kernels({
#define THIMBLE_FUNCTION(name, exact, stable) {ir::OpKind::name, run_function},
#include "ir/functions.def"
#undef THIMBLE_FUNCTION
      {ir::OpKind::add, run_add},
      {ir::OpKind::avg_pool2d, run_avg_pool2d},
      {ir::OpKind::batch_norm, run_batch_norm},
      {ir::OpKind::clamp, run_clamp},
      {ir::OpKind::conv2d, run_conv2d},
      {ir::OpKind::conv_transpose2d, run_conv_transpose2d},
      {ir::OpKind::div, run_div},
      {ir::OpKind::erf, run_array_function<stable_erf>},
      {ir::OpKind::exp, run_array_function<stable_exp>},
      {ir::OpKind::gru, run_gru},
      {ir::OpKind::linear, run_linear},
      {ir::OpKind::log_mel, run_log_mel},
      {ir::OpKind::log_softmax, run_log_softmax},
      {ir::OpKind::lstm, run_lstm},
      {ir::OpKind::matmul, run_matmul},
      {ir::OpKind::maximum, run_maximum},
      {ir::OpKind::minimum, run_minimum},
      {ir::OpKind::mul, run_mul},
      {ir::OpKind::pow, run_function},
      {ir::OpKind::prelu, run_prelu},
      {ir::OpKind::rnn, run_rnn},
      {ir::OpKind::sigmoid, run_array_function<stable_sigmoid>},
      {ir::OpKind::softmax, run_softmax},
      {ir::OpKind::sub, run_sub},
      {ir::OpKind::tanh, run_array_function<stable_tanh>},
  });
  return kTable;
}

}  // namespace thimble::quant
