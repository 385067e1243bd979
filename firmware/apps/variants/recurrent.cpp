// SPDX-License-Identifier: Apache-2.0
// Cases of gru and lstm: int8 and int16, with a scale per row or per gate; int8 with weights of 4
// bits.

#include "abi/params/recurrent.h"

#include <cstring>

#include "abi/int4.h"
#include "firmware/apps/variants/case.h"
#include "kernels/args/recurrent.h"

namespace thimble::firmware {
namespace {

using kernels::DType;

struct Layer {
  int32_t steps, batch, inputs, hidden, gates;
  bool wide, int4;

  int32_t rows() const { return gates * hidden; }
  DType dtype() const { return wide ? DType::kI16 : DType::kI8; }
};

Layer layer_of(Case& c, uint32_t index, int32_t gates, bool int4) {
  return {c.uniform(1, 3),
          c.uniform(1, 2),
          c.uniform(1, 40),
          c.uniform(1, 40),
          gates,
          index % 8 == 0 && !int4,
          int4};
}

void add_activations(Case& c, const Layer& layer, int32_t a, int32_t b, int32_t last) {
  layer.wide ? (void)c.input<int16_t>(a * b * last) : (void)c.input<int8_t>(a * b * last);
  const int32_t sizes[] = {a, b, last};
  c.shape(layer.dtype(), sizes, 3);
}

void add_weights(Case& c, const Layer& layer, int32_t columns) {
  const int32_t rows =
      layer.int4 ? static_cast<int32_t>(abi::int4_row_pairs(layer.rows())) : layer.rows();
  c.input<int8_t>(rows * columns);
  const int32_t sizes[] = {rows, columns};
  c.shape(layer.int4 ? DType::kU8 : DType::kI8, sizes, 2);
}

/// Biases, scales and the table of tanh.
void add_constants(Case& c, const Layer& layer, int32_t biases) {
  const int32_t rows = layer.rows();
  for (int32_t i = 0; i < biases; ++i) {
    auto* const bias = c.input<int32_t>(rows);
    for (int32_t k = 0; k < rows; ++k) bias[k] = c.uniform(-20000, 20000);
    c.shape(DType::kI32, &rows, 1);
  }
  const int32_t sizes[] = {2, c.uniform(0, 2) == 0 ? layer.gates : rows};
  const int32_t entries = 2 * sizes[1];
  auto* const mult = c.input<int32_t>(entries);
  for (int32_t k = 0; k < entries; ++k) mult[k] = c.uniform(1 << 30, INT32_MAX);
  c.shape(DType::kI32, sizes, 2);
  c.constant();
  const int32_t least = layer.wide ? -14 : -6, most = layer.wide ? -6 : 2;
  if (layer.int4) {
    auto* const shift = c.input<int8_t>(entries);
    for (int32_t k = 0; k < entries; ++k) shift[k] = static_cast<int8_t>(c.uniform(least, most));
  } else {
    auto* const shift = c.input<int32_t>(entries);
    for (int32_t k = 0; k < entries; ++k) shift[k] = c.uniform(least, most);
  }
  c.shape(layer.int4 ? DType::kI8 : DType::kI32, sizes, 2);
  c.constant();
  const int32_t table = numerics::kTanhEntries;
  auto* const tanh = c.input<int16_t>(table);
  for (int32_t k = 0; k < table; ++k) {
    const int32_t x = (k - 256) * 500;
    tanh[k] = static_cast<int16_t>(x < -32767 ? -32767 : x > 32767 ? 32767 : x);
  }
  c.shape(DType::kI16, &table, 1);
}

template <class Params>
Params common(Case& c, const Layer& layer) {
  Params p = {};
  p.reverse = c.uniform(0, 1);
  p.x_zp = layer.wide ? 0 : c.uniform(-128, 127);
  p.h_zp = layer.wide ? 0 : c.uniform(-128, 127);
  p.h_mult = c.uniform(1 << 30, INT32_MAX);
  return p;
}

template <class Params>
void add_rest(Case& c, const Layer& layer, const Params& p, int64_t lanes) {
  std::memcpy(c.input<Params>(1), &p, sizeof p);
  const int32_t size = sizeof p;
  c.shape(DType::kU8, &size, 1);
  const auto bytes =
      static_cast<int32_t>(abi::recurrent_scratch_bytes(lanes, layer.hidden, layer.wide ? 2 : 1));
  c.scratch(bytes);
  c.shape(DType::kI8, &bytes, 1);
  c.output(layer.steps * layer.batch * layer.hidden * (layer.wide ? 2 : 1));
  const int32_t sizes[] = {layer.steps, layer.batch, layer.hidden};
  c.shape(layer.dtype(), sizes, 3);
  c.text() << layer.steps << " steps, batch " << layer.batch << ", " << layer.inputs << " to "
           << layer.hidden << (layer.wide ? ", 16 bits" : "");
}

void make_gru_case(uint32_t index, Case& c, bool int4) {
  const Layer layer = layer_of(c, index, 3, int4);
  add_activations(c, layer, layer.steps, layer.batch, layer.inputs);
  add_activations(c, layer, 1, layer.batch, layer.hidden);
  add_weights(c, layer, layer.inputs);
  add_weights(c, layer, layer.hidden);
  add_constants(c, layer, 2);
  auto p = common<abi::GruParams>(c, layer);
  p.h_shift = -c.uniform(0, 9);
  p.h_bits = c.uniform(0, 15);
  p.h0_mult = c.uniform(1 << 30, INT32_MAX);
  p.h0_shift = c.uniform(-2, 8);
  add_rest(c, layer, p, abi::kGruLanes);
}

void make_lstm_case(uint32_t index, Case& c, bool int4) {
  const Layer layer = layer_of(c, index, 4, int4);
  add_activations(c, layer, layer.steps, layer.batch, layer.inputs);
  add_activations(c, layer, 1, layer.batch, layer.hidden);
  add_activations(c, layer, 1, layer.batch, layer.hidden);
  add_weights(c, layer, layer.inputs);
  add_weights(c, layer, layer.hidden);
  add_constants(c, layer, 1);
  auto p = common<abi::LstmParams>(c, layer);
  p.h_shift = -c.uniform(20, 26);
  p.cell = c.uniform(0, 1);
  p.c_bits = c.uniform(0, 15);
  p.c0_mult = c.uniform(1 << 30, INT32_MAX);
  p.c0_shift = c.uniform(-2, 8);
  p.y_zp = layer.wide ? 0 : c.uniform(-128, 127);
  p.y_mult = c.uniform(1 << 30, INT32_MAX);
  p.y_shift = -c.uniform(0, 9);
  add_rest(c, layer, p, abi::kLstmLanes);
}

}  // namespace

void make_gru(uint32_t index, Case& c) {
  make_gru_case(index, c, false);
}
void make_gru_int4(uint32_t index, Case& c) {
  make_gru_case(index, c, true);
}
void make_lstm(uint32_t index, Case& c) {
  make_lstm_case(index, c, false);
}
void make_lstm_int4(uint32_t index, Case& c) {
  make_lstm_case(index, c, true);
}

}  // namespace thimble::firmware
