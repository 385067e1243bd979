// SPDX-License-Identifier: Apache-2.0
// Packed forms for the DSP extension (abi/matmul_dsp.h).

#include <algorithm>

#include "abi/matmul_dsp.h"
#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/packed.h"
#include "engines/cortex_m/compiler/packed_filters.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;

/// Order in which SXTB16 splits four int8 values.
constexpr size_t kOrder[4] = {0, 2, 1, 3};

/// Half words hold 256 * b + a. Returns true if the sum of the second channel b fits 24 bits.
bool fits_second(const Filter& a, const Filter& b) {
  if (128 * b.magnitude() >= 1 << 23) return false;
  for (size_t k = 0; k < b.weights.size(); ++k) {
    if (b.weights[k] == -128 && a.weights[k] < 0) return false;
  }
  return true;
}

bool fit_pairs(const std::vector<Filter>& filters) {
  if (!std::all_of(filters.begin(), filters.end(), fits_dsp)) return false;
  for (size_t o = 0; o + 1 < filters.size(); o += 2) {
    if (!fits_second(filters[o], filters[o + 1])) return false;
  }
  return true;
}

int code_at(const Filter& filter, size_t k) {
  return k < filter.weights.size() ? int{filter.weights[k]} : 0;
}
int16_t half(const Filter& a, const Filter& b, size_t k) {
  return static_cast<int16_t>(256 * code_at(b, k) + code_at(a, k));
}

void put_halves(const Filter& a, const Filter& b, PackedWriter* writer) {
  for (size_t k = 0; k < a.weights.size(); k += 4) {
    for (const size_t i : kOrder) writer->put(half(a, b, k + i));
  }
}

void put_pair(const Filter& a, const Filter& b, PackedWriter* writer) {
  writer->put(static_cast<int32_t>(a.bias));
  put_halves(a, b, writer);
  put_dsp_scales(a, b, writer);
}

/// The words of two pairs of channels alternate; the words of missing channels are not used.
Constant pack_alternating_pairs(std::vector<Filter> filters) {
  filters.resize((filters.size() + 3) / 4 * 4,
                 Filter{std::vector<int8_t>(filters[0].weights.size())});
  PackedWriter writer;
  for (size_t first = 0; first < filters.size(); first += 4) {
    PackedWriter pairs[2];
    for (size_t i = 0; i < 2; ++i) {
      put_pair(filters[first + 2 * i], filters[first + 2 * i + 1], &pairs[i]);
    }
    const Constant words[2] = {pairs[0].take(), pairs[1].take()};
    for (size_t at = 0; at < words[0].bytes->size(); at += sizeof(int32_t)) {
      for (const Constant& pair : words) writer.put(load_le<uint32_t>(*pair.bytes, at));
    }
  }
  return writer.take();
}

Constant pack_depthwise(const std::vector<Filter>& filters, const abi::WindowGeometry& g) {
  PackedWriter writer;
  const auto taps = static_cast<size_t>(abi::dsp_depthwise_taps(g));
  for (size_t first = 0; first < filters.size(); first += 4) {
    const Filter* const four = &filters[first];
    for (size_t i = 0; i < 4; ++i) writer.put(static_cast<int32_t>(2 * four[i].bias));
    for (size_t k = 0; k < taps; ++k) {
      for (const size_t i : kOrder) {
        writer.put(static_cast<int16_t>(2 * code_at(four[i], k)));
      }
    }
    for (size_t i = 0; i < 4; ++i) writer.put(four[i].mult);
    for (size_t i = 0; i < 4; ++i) writer.put(dsp_scale(four[i]));
  }
  return writer.take();
}

Constant pack_linear_pairs(std::vector<Filter> filters) {
  if (filters.size() % 4 == 3) filters.emplace_back();
  const size_t depth = filters[0].weights.size();
  PackedWriter writer;
  size_t first = 0;
  for (; first + 4 <= filters.size(); first += 4) {
    const Filter* const four = &filters[first];
    writer.put(static_cast<int32_t>(four[0].bias));
    writer.put(static_cast<int32_t>(four[2].bias));
    for (size_t k = 0; k < depth; k += 4) {
      for (const size_t odd : {size_t{0}, size_t{1}}) {
        for (const size_t pair : {size_t{0}, size_t{2}}) {
          for (const size_t high : {size_t{0}, size_t{2}}) {
            writer.put(half(four[pair], four[pair + 1], k + odd + high));
          }
        }
      }
    }
    put_dsp_scales(four[0], four[1], &writer);
    put_dsp_scales(four[2], four[3], &writer);
  }
  if (first < filters.size()) {
    filters.resize(first + 2);
    put_pair(filters[first], filters[first + 1], &writer);
  }
  return writer.take();
}

std::optional<KernelCall> depthwise(const ir::Graph& graph, const ir::Op& op,
                                    const abi::WindowGeometry& geometry) {
  if (op.get(ir::attr::groups) != geometry.in_c || geometry.in_c != geometry.out_c) return {};
  if (geometry.in_c % 4 != 0) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!std::all_of(all.begin(), all.end(), fits_dsp)) return {};
  KernelCall call;
  call.op = PteOp::thimble_depthwise_dsp;
  call.arguments = {
      ValueRef{op.inputs[0]}, packed_constant<abi::op_info::thimble_depthwise_dsp>(geometry),
      pack_depthwise(all, geometry), Scratch{abi::dsp_depthwise_scratch_bytes(geometry)}};
  return call;
}

}  // namespace

std::optional<KernelCall> dsp_conv2d(const ir::Graph& graph, const ir::Op& op) {
  const std::optional<abi::WindowGeometry> geometry = window_geometry(graph, op);
  if (!geometry) return {};
  if (op.get(ir::attr::groups) != 1) return depthwise(graph, op, *geometry);
  const std::vector<Filter> all = filters(graph, op);
  if (!fit_pairs(all)) return {};
  KernelCall call;
  call.op = PteOp::thimble_conv2d_dsp;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_conv2d_dsp>(*geometry),
                    pack_alternating_pairs(all), Scratch{abi::dsp_conv_scratch_bytes(*geometry)}};
  return call;
}

std::optional<KernelCall> dsp_linear(const ir::Graph& graph, const ir::Op& op) {
  const std::optional<abi::LinearGeometry> geometry = linear_geometry(graph, op);
  if (!geometry || geometry->in_features % 4 != 0) return {};
  const std::vector<Filter> all = filters(graph, op);
  if (!fit_pairs(all)) return {};
  KernelCall call;
  call.op = PteOp::thimble_linear_dsp;
  call.arguments = {ValueRef{op.inputs[0]},
                    packed_constant<abi::op_info::thimble_linear_dsp>(*geometry),
                    pack_linear_pairs(all)};
  return call;
}

}  // namespace thimble::engine::cortex_m
