// SPDX-License-Identifier: Apache-2.0
// Products that ExecuTorch files keep in float32: mm, bmm, addmm, linear and every convolution of
// one or two dimensions, including transposed ones. Any dim_order. Sums are in float32, with the
// innermost index fastest.

#include "abi/ops/aten.h"
#include "kernels/args/float_products.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

// --- Matrices ------------------------------------------------------------------------------------

FloatMatrix transposed(FloatMatrix m) {
  return {m.data, m.column, m.row, m.batch};
}

float dot(const FloatMatrix& a, const FloatMatrix& b, int32_t i, int32_t j, int32_t inner) {
  const float* from_a = a.data + i * a.row;
  const float* from_b = b.data + j * b.column;
  float sum = 0;
  for (int32_t k = 0; k < inner; ++k) sum += from_a[k * a.column] * from_b[k * b.row];
  return sum;
}

template <size_t kCount>
Status check_rank(const Call& call, const uint32_t (&operands)[kCount], uint32_t rank) {
  for (const uint32_t i : operands) {
    const Tensor& t = tensor(call, i);
    THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kF32));
    if (t.rank != rank) return Status::kBadShape;
  }
  return Status::kOk;
}
/// Operands of mm (rank 2) and bmm (rank 3): a, b, y.
template <uint32_t kRank>
Status check_product(const Call& call) {
  return check_float_product(tensor(call, 0), tensor(call, 1), tensor(call, 2), kRank);
}
void run_product(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  FloatMatrix of[3];
  for (uint32_t i = 0; i < 3; ++i) of[i] = float_matrix(tensor(call, i));
  const int32_t inner = a.sizes[a.rank - 1];
  for (int32_t n = 0; n < (a.rank == 3 ? a.sizes[0] : 1); ++n) {
    for (int32_t i = 0; i < y.sizes[y.rank - 2]; ++i) {
      for (int32_t j = 0; j < y.sizes[y.rank - 1]; ++j) {
        of[2].data[i * of[2].row + j * of[2].column] = dot(of[0], of[1], i, j, inner);
      }
    }
    for (FloatMatrix& matrix : of) matrix.data += matrix.batch;
  }
}

/// addmm: y = beta * bias + alpha * a b; operands bias, a, b, beta, alpha, y.
Status check_addmm(const Call& call) {
  const Tensor& bias = tensor(call, 0);
  const Tensor& y = tensor(call, 5);
  THIMBLE_RETURN_IF_ERROR(check_float_product(tensor(call, 1), tensor(call, 2), y, 2));
  THIMBLE_RETURN_IF_ERROR(check_tensor(bias, DType::kF32));
  constexpr uint32_t kFactors[] = {3, 4};
  for (const uint32_t i : kFactors) {
    if (!(call.args[i].number == call.args[i].number)) return Status::kBadParameter;
  }
  return check_broadcast_pair(bias, y, y);
}
void run_addmm(const Call& call) {
  const Tensor& bias = tensor(call, 0);
  const FloatMatrix a = float_matrix(tensor(call, 1));
  const FloatMatrix b = float_matrix(tensor(call, 2));
  const FloatMatrix y = float_matrix(tensor(call, 5));
  const auto beta = static_cast<float>(call.args[3].number);
  const auto alpha = static_cast<float>(call.args[4].number);
  int32_t steps[abi::kMaxRank];
  strides(bias, steps);
  const auto along = [&](uint32_t from_end) {
    const bool there = bias.rank >= from_end && bias.sizes[bias.rank - from_end] != 1;
    return there ? steps[bias.rank - from_end] : 0;
  };
  const int32_t row = along(2), column = along(1);
  for (int32_t i = 0; i < tensor(call, 5).sizes[0]; ++i) {
    for (int32_t j = 0; j < tensor(call, 5).sizes[1]; ++j) {
      const float product = dot(a, b, i, j, tensor(call, 1).sizes[1]);
      const float added = floats(bias)[i * row + j * column];
      y.data[i * y.row + j * y.column] = beta * added + alpha * product;
    }
  }
}

/// linear: x [..., in], w [out, in], bias [out]?, y; x and y contiguous.
Status check_linear(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& bias = tensor(call, 2);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_rank(call, {1}, 2));
  if (x.rank < 1 || x.rank != y.rank) return Status::kBadShape;
  for (uint32_t d = 0; d + 1 < x.rank; ++d) {
    if (x.sizes[d] != y.sizes[d]) return Status::kBadShape;
  }
  if (x.sizes[x.rank - 1] != w.sizes[1] || y.sizes[y.rank - 1] != w.sizes[0]) {
    return Status::kBadShape;
  }
  if (!is_contiguous(x) || !is_contiguous(y)) return Status::kBadDimOrder;
  if (bias.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(bias, DType::kF32));
  return bias.rank == 1 && bias.sizes[0] == w.sizes[0] ? Status::kOk : Status::kBadShape;
}
void run_linear(const Call& call) {
  const Tensor& w = tensor(call, 1);
  const Tensor& bias = tensor(call, 2);
  const int32_t in = w.sizes[1];
  const int32_t out = w.sizes[0];
  const FloatMatrix x = {mutable_floats(tensor(call, 0)), in, 1, 0};
  float* const y = mutable_floats(tensor(call, 3));
  for (int32_t i = 0, rows = elements(tensor(call, 0)) / in; i < rows; ++i) {
    for (int32_t j = 0; j < out; ++j) {
      const float product = dot(x, transposed(float_matrix(w)), i, j, in);
      y[i * out + j] = product + (bias.is_null ? 0 : floats(bias)[j]);
    }
  }
}

// --- Convolutions --------------------------------------------------------------------------------

/// Operands: x, w, bias?, stride, padding, dilation, transposed, output_padding, groups, y. A
/// one-dimensional image is handled as an image of height 1.
struct Axis {
  int32_t kernel, stride, pad, dilation, in, out;
  int32_t x_step, w_step, y_step;
};
struct Convolution {
  Axis axis[2];
  int32_t batch, in_c, out_c, groups;
  int32_t x_n, x_c, y_n, y_c, w_first, w_second;
  bool transposed;
};

int32_t item(const IntList& list, uint32_t i) {
  return list.items[list.count == 1 ? 0 : i];
}

Convolution bind_convolution(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, 9);
  int32_t sx[abi::kMaxRank], sw[abi::kMaxRank], sy[abi::kMaxRank];
  strides(x, sx);
  strides(w, sw);
  strides(y, sy);
  Convolution c = {};
  const uint32_t missing = 4U - x.rank;
  c.axis[0] = {1, 1, 0, 1, 1, 1, 0, 0, 0};
  for (uint32_t a = missing; a < 2; ++a) {
    const uint32_t d = 2 + a - missing;
    c.axis[a] = {w.sizes[d],
                 item(ints(call, 3), a - missing),
                 item(ints(call, 4), a - missing),
                 item(ints(call, 5), a - missing),
                 x.sizes[d],
                 y.sizes[d],
                 sx[d],
                 sw[d],
                 sy[d]};
  }
  c.batch = x.sizes[0];
  c.in_c = x.sizes[1];
  c.out_c = y.sizes[1];
  c.groups = static_cast<int32_t>(call.args[8].integer);
  c.x_n = sx[0], c.x_c = sx[1], c.y_n = sy[0], c.y_c = sy[1];
  c.w_first = sw[0], c.w_second = sw[1];
  c.transposed = call.args[6].integer != 0;
  return c;
}

bool is_small(int32_t value, int32_t low) {
  return value >= low && value <= 32767;
}

/// Returns true if the output has the extent that torch.nn.functional defines.
bool fits(const Axis& axis, bool transposed, int32_t output_padding) {
  if (!is_small(axis.stride, 1) || !is_small(axis.dilation, 1) || !is_small(axis.pad, 0) ||
      axis.kernel > 32767 || axis.in > (1 << 24) || axis.out > (1 << 24)) {
    return false;
  }
  const int64_t reach = int64_t{axis.kernel - 1} * axis.dilation + 1;
  if (transposed) {
    if (output_padding < 0 ||
        output_padding >= (axis.stride > axis.dilation ? axis.stride : axis.dilation)) {
      return false;
    }
    return int64_t{axis.in - 1} * axis.stride - 2 * axis.pad + reach + output_padding == axis.out;
  }
  const int64_t room = int64_t{axis.in} + 2 * axis.pad - reach;
  return room >= 0 && room / axis.stride + 1 == axis.out;
}

Status check_convolution(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& bias = tensor(call, 2);
  const Tensor& y = tensor(call, 9);
  if (x.rank != 3 && x.rank != 4) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(check_rank(call, {0, 1, 9}, x.rank));
  const uint32_t axes = x.rank - 2U;
  constexpr uint32_t kLists[] = {3, 4, 5};
  for (const uint32_t list : kLists) {
    const uint32_t count = ints(call, list).count;
    if (count != 1 && count != axes) return Status::kBadParameter;
  }
  const int64_t groups = call.args[8].integer;
  if (groups < 1 || groups > x.sizes[1]) return Status::kBadParameter;
  const Convolution c = bind_convolution(call);
  const IntList& extra = ints(call, 7);
  if (c.transposed && extra.count != 1 && extra.count != axes) return Status::kBadParameter;
  for (uint32_t a = 2 - axes; a < 2; ++a) {
    const int32_t after = c.transposed ? item(extra, a + axes - 2) : 0;
    if (!fits(c.axis[a], c.transposed, after)) return Status::kBadShape;
  }
  if (c.in_c % c.groups != 0 || c.out_c % c.groups != 0) return Status::kBadShape;
  const int32_t first = c.transposed ? c.in_c : c.out_c;
  const int32_t second = (c.transposed ? c.out_c : c.in_c) / c.groups;
  const bool weights_fit = w.sizes[0] == first && w.sizes[1] == second;
  if (!weights_fit || x.sizes[0] != y.sizes[0]) return Status::kBadShape;
  if (bias.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(bias, DType::kF32));
  return bias.rank == 1 && bias.sizes[0] == c.out_c ? Status::kOk : Status::kBadShape;
}

/// The taps of one output position that read an element of the image: `count` taps from `first`,
/// `step` apart. The first one reads position `at`, the next ones positions `at_step` apart.
struct TapRun {
  int32_t first, step, count, at, at_step;
};
TapRun taps_inside(const Axis& axis, bool transposed, int32_t o) {
  if (!transposed) {
    const int32_t start = o * axis.stride - axis.pad;
    const WindowAxis window = {axis.kernel, axis.stride, axis.dilation,
                               axis.pad,    axis.in,     axis.out};
    const Taps taps = window.inside(start);
    return {taps.first, 1, taps.last - taps.first, start + taps.first * axis.dilation,
            axis.dilation};
  }
  // Tap k reads position (o + pad - k * dilation) / stride, if that is a whole number.
  const int32_t place = o + axis.pad;
  TapRun run = {0, 1, 0, 0, 0};
  while (run.step * axis.dilation % axis.stride != 0) ++run.step;
  while (run.first < run.step && (place - run.first * axis.dilation) % axis.stride != 0) {
    ++run.first;
  }
  if (run.first == run.step) return run;
  run.at = (place - run.first * axis.dilation) / axis.stride;
  run.at_step = -run.step * axis.dilation / axis.stride;
  while (run.first < axis.kernel && run.at >= axis.in) {
    run.first += run.step;
    run.at += run.at_step;
  }
  for (int32_t k = run.first, at = run.at; k < axis.kernel && at >= 0; k += run.step) {
    ++run.count;
    at += run.at_step;
  }
  return run;
}

/// The sum of the products of one result, channel by channel, row by row of the window.
float pixel(const Convolution& c, const float* x, const float* w, int32_t o, const TapRun& down,
            const TapRun& across) {
  const Axis &rows = c.axis[0], &columns = c.axis[1];
  const int32_t group_in = c.in_c / c.groups;
  const int32_t group_out = c.out_c / c.groups;
  const int32_t first = o / group_out * group_in;
  const int32_t x_step = across.at_step * columns.x_step, w_step = across.step * columns.w_step;
  float sum = 0;
  if (down.count == 0 || across.count == 0) return sum;
  for (int32_t i = 0; i < group_in; ++i) {
    const float* line =
        x + (first + i) * c.x_c + down.at * rows.x_step + across.at * columns.x_step;
    const float* taps = w + (c.transposed ? (first + i) * c.w_first + o % group_out * c.w_second
                                          : o * c.w_first + i * c.w_second);
    taps += down.first * rows.w_step + across.first * columns.w_step;
    for (int32_t ky = 0; ky < down.count; ++ky) {
      const float* from = line;
      const float* tap = taps;
      for (int32_t kx = 0; kx < across.count; ++kx) {
        sum += *from * *tap;
        from += x_step;
        tap += w_step;
      }
      line += down.at_step * rows.x_step;
      taps += down.step * rows.w_step;
    }
  }
  return sum;
}

void run_convolution(const Call& call) {
  const Convolution c = bind_convolution(call);
  const Tensor& bias = tensor(call, 2);
  const float* const w = floats(tensor(call, 1));
  for (int32_t n = 0; n < c.batch; ++n) {
    const float* const x = floats(tensor(call, 0)) + n * c.x_n;
    for (int32_t o = 0; o < c.out_c; ++o) {
      float* const y = mutable_floats(tensor(call, 9)) + n * c.y_n + o * c.y_c;
      const float start = bias.is_null ? 0 : floats(bias)[o];
      for (int32_t oy = 0; oy < c.axis[0].out; ++oy) {
        const TapRun down = taps_inside(c.axis[0], c.transposed, oy);
        for (int32_t ox = 0; ox < c.axis[1].out; ++ox) {
          const TapRun across = taps_inside(c.axis[1], c.transposed, ox);
          y[oy * c.axis[0].y_step + ox * c.axis[1].y_step] =
              pixel(c, x, w, o, down, across) + start;
        }
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_addmm, check_addmm, run_addmm);
THIMBLE_DEFINE_KERNEL(portable, aten_bmm, check_product<3>, run_product);
THIMBLE_DEFINE_KERNEL(portable, aten_convolution, check_convolution, run_convolution);
THIMBLE_DEFINE_KERNEL(portable, aten_linear, check_linear, run_linear);
THIMBLE_DEFINE_KERNEL(portable, aten_mm, check_product<2>, run_product);

}  // namespace thimble::kernels
