// SPDX-License-Identifier: Apache-2.0
// Operators on float32: sums in the order of the portable kernel, so that all bits are the same.

#include "abi/params/recurrent.h"
#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

using kernels::DType;

uint32_t size(int32_t value) {
  return static_cast<uint32_t>(value);
}

/// A number of magnitude below 4, or 0.
float number(Case& c) {
  return c.uniform(0, 15) == 0 ? 0.0F : static_cast<float>(c.uniform(-4000000, 4000000)) * 1e-6F;
}
int32_t count_of(const int32_t* sizes, uint32_t rank) {
  int32_t count = 1;
  for (uint32_t d = 0; d < rank; ++d) count *= sizes[d];
  return count;
}
void input(Case& c, const int32_t* sizes, uint32_t rank) {
  const int32_t count = count_of(sizes, rank);
  float* const values = c.input<float>(count);
  for (int32_t i = 0; i < count; ++i) values[i] = number(c);
  c.shape(DType::kF32, sizes, rank);
}
void output(Case& c, const int32_t* sizes, uint32_t rank) {
  c.output(4 * count_of(sizes, rank));
  c.shape(DType::kF32, sizes, rank);
}
void maybe_bias(Case& c, int32_t channels) {
  if (c.uniform(0, 3) == 0) {
    c.null();
  } else {
    input(c, &channels, 1);
  }
}

struct Axis {
  int32_t in, kernel, stride, before, after, dilation, out;
};
Axis make_axis(Case& c, int32_t kernel, int32_t stride, int32_t most) {
  Axis axis = {};
  axis.kernel = kernel;
  axis.stride = stride;
  axis.dilation = c.uniform(0, 5) == 0 ? c.uniform(1, 3) : 1;
  const int32_t reach = (kernel - 1) * axis.dilation + 1;
  axis.before = c.uniform(0, 2) == 0 ? 0 : c.uniform(0, kernel);
  axis.after = c.uniform(0, 2) == 0 ? axis.before : c.uniform(0, kernel);
  const int32_t padding = axis.before + axis.after;
  axis.in = c.uniform(reach > padding ? reach - padding : 1, reach + most);
  axis.out = (axis.in + padding - reach) / stride + 1;
  return axis;
}

/// A shape that broadcasts to y: dimensions of size 1, or without the first dimensions.
void broadcast(Case& c, const int32_t* y, uint32_t rank, bool whole) {
  int32_t sizes[4] = {};
  const uint32_t missing =
      whole ? 0 : static_cast<uint32_t>(c.uniform(0, static_cast<int32_t>(rank)));
  for (uint32_t d = missing; d < rank; ++d) {
    sizes[d - missing] = whole || c.uniform(0, 2) != 0 ? y[d] : 1;
  }
  input(c, sizes, rank - missing);
}

void binary(uint32_t index, Case& c, bool alpha) {
  const auto rank = static_cast<uint32_t>(c.uniform(1, 4));
  int32_t y[4] = {};
  for (uint32_t d = 0; d < rank; ++d) y[d] = c.uniform(1, d + 1 == rank ? 21 : 4);
  const bool images = rank == 4 && c.uniform(0, 2) == 0;
  // One operand has the shape of y, unless a dimension of the other one is 1 too.
  const uint32_t whole = index % 3;
  for (uint32_t i = 0; i < 2; ++i) {
    broadcast(c, y, rank, whole == i || whole == 2);
    if (images && (whole == i || whole == 2) && c.uniform(0, 1) == 0) c.channels_last();
  }
  if (alpha) c.real(c.uniform(0, 1) == 0 ? 1.0 : 0.375);
  output(c, y, rank);
  if (images) c.channels_last();
  c.text() << rank << " dimensions, the last " << size(y[rank - 1]);
}

/// A recurrent layer with `gates` gates; an LSTM has four.
void recurrent(Case& c, int32_t gates, int32_t lanes) {
  const int32_t steps = c.uniform(1, 3), batch = c.uniform(1, 2);
  const int32_t inputs = c.uniform(1, 11), hidden = c.uniform(1, 11), rows = gates * hidden;
  const int32_t x[] = {steps, batch, inputs}, y[] = {steps, batch, hidden};
  const int32_t state[] = {1, batch, hidden};
  const int32_t w_ih[] = {rows, inputs}, w_hh[] = {rows, hidden};
  input(c, x, 3);
  input(c, state, 3);
  if (gates == 4) input(c, state, 3);
  input(c, w_ih, 2);
  input(c, w_hh, 2);
  maybe_bias(c, rows);
  maybe_bias(c, rows);
  if (gates != 3) c.number(c.uniform(0, 1));  // cell or relu
  c.number(c.uniform(0, 1));
  const auto scratch = static_cast<int32_t>(abi::float_recurrent_scratch_bytes(lanes, hidden));
  c.scratch(scratch);
  c.shape(DType::kU8, &scratch, 1);
  output(c, y, 3);
  c.text() << size(steps) << " steps, " << size(inputs) << " inputs, " << size(hidden)
           << " results";
}

}  // namespace

void make_float_add(uint32_t index, Case& c) {
  binary(index, c, true);
}
void make_float_mul(uint32_t index, Case& c) {
  binary(index, c, false);
}

void make_float_clamp(uint32_t index, Case& c) {
  const int32_t sizes[] = {c.uniform(1, 3), c.uniform(1, 3), c.uniform(1, 4), c.uniform(1, 21)};
  const bool codes = index % 4 == 3;
  if (codes) {
    c.input<int8_t>(count_of(sizes, 4));
    c.shape(DType::kI8, sizes, 4);
  } else {
    input(c, sizes, 4);
  }
  const bool transposed = c.uniform(0, 3) == 0;
  if (transposed) c.channels_last();
  const double none = __builtin_nan("");
  c.real(index % 5 == 0 ? none : c.uniform(0, 1) == 0 ? 0 : -1);
  c.real(index % 5 == 1 || c.uniform(0, 1) == 0 ? none : codes ? 60 : 3.25);
  if (codes) {
    c.output(count_of(sizes, 4));
    c.shape(DType::kI8, sizes, 4);
  } else {
    output(c, sizes, 4);
  }
  if (transposed && c.uniform(0, 1) == 0) c.channels_last();
  c.text() << (codes ? "int8, " : "float32, ") << size(sizes[3]) << " columns";
}

void make_float_linear(uint32_t index, Case& c) {
  const int32_t rows = index % 3 == 0 ? 1 : c.uniform(1, 9);
  const int32_t in = c.uniform(1, 40), out = c.uniform(1, 40);
  const int32_t x[] = {rows, in}, w[] = {out, in}, y[] = {rows, out};
  input(c, x, 2);
  input(c, w, 2);
  maybe_bias(c, out);
  output(c, y, 2);
  c.text() << size(rows) << " rows, " << size(in) << " inputs, " << size(out) << " outputs";
}

void make_float_bmm(uint32_t index, Case& c) {
  const int32_t batch = c.uniform(1, 3);
  const int32_t m = index % 4 == 0 ? 1 : c.uniform(1, 11), k = c.uniform(1, 20);
  const int32_t n = index % 4 == 1 ? c.uniform(1, 3) : c.uniform(1, 40);
  const int32_t a[] = {batch, m, k}, b[] = {batch, k, n}, y[] = {batch, m, n};
  input(c, a, 3);
  if (c.uniform(0, 2) == 0) c.transposed();
  input(c, b, 3);
  if (c.uniform(0, 1) == 0) c.transposed();
  output(c, y, 3);
  if (c.uniform(0, 3) == 0) c.transposed();
  c.text() << size(m) << " x " << size(k) << " x " << size(n);
}

void make_float_lstm(uint32_t /*index*/, Case& c) {
  recurrent(c, 4, abi::kFloatLstmLanes);
}
void make_float_gru(uint32_t /*index*/, Case& c) {
  recurrent(c, 3, abi::kFloatGruLanes);
}
void make_float_rnn(uint32_t /*index*/, Case& c) {
  recurrent(c, 1, abi::kFloatRnnLanes);
}

void make_float_conv2d(uint32_t index, Case& c) {
  const bool depthwise = index % 3 == 0;
  const int32_t groups = depthwise ? c.uniform(1, 5) : c.uniform(0, 4) == 0 ? 2 : 1;
  const int32_t group_in = depthwise ? 1 : c.uniform(1, 5);
  const int32_t group_out = depthwise ? c.uniform(1, 2) : c.uniform(1, 9);
  const bool points = c.uniform(0, 2) == 0;
  const int32_t stride = c.one_of({1, 1, 1, 2, 3});
  Axis down = make_axis(c, points ? 1 : c.uniform(1, 4), c.uniform(0, 3) == 0 ? 2 : stride, 6);
  Axis across = make_axis(c, points ? 1 : c.one_of({1, 2, 3, 3, 5, 9}), stride, 21);
  if (c.uniform(0, 6) == 0) down = {1, 1, 1, 0, 0, 1, 1};
  if (c.uniform(0, 6) == 0) across = {1, 1, 1, 0, 0, 1, 1};
  const int32_t batch = c.uniform(0, 5) == 0 ? 2 : 1;
  const int32_t x[] = {batch, groups * group_in, down.in, across.in};
  const int32_t w[] = {groups * group_out, group_in, down.kernel, across.kernel};
  const int32_t y[] = {batch, groups * group_out, down.out, across.out};
  input(c, x, 4);
  input(c, w, 4);
  maybe_bias(c, w[0]);
  c.list(down.stride, across.stride);
  static int32_t padding[4];  // a case ends before the next one is made
  padding[0] = down.before, padding[1] = across.before;
  padding[2] = down.after, padding[3] = across.after;
  c.list_of(padding, 4);
  c.list(down.dilation, across.dilation);
  c.number(groups);
  output(c, y, 4);
  c.text() << size(groups) << " groups of " << size(group_in) << " x " << size(group_out)
           << " channels, window " << size(down.kernel) << "x" << size(across.kernel) << ", image "
           << size(down.in) << "x" << size(across.in);
}

}  // namespace thimble::firmware
