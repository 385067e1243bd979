// SPDX-License-Identifier: Apache-2.0
// Decompiles convolutions, linear and recurrent layers with weights of 4 bits (abi/int4.h).

#include <bit>

#include "abi/int4.h"
#include "abi/int4_group.h"
#include "abi/matmul_dsp.h"
#include "abi/matmul_mve.h"
#include "abi/matmul_scalar.h"
#include "abi/params/window.h"
#include "emit/decompile_packed.h"
#include "engine/direct.h"
#include "ir/weight_bits.h"

namespace thimble::emit {
namespace {

using ir::ValueId;

uint8_t byte_at(const Bytes& bytes, size_t at) {
  return static_cast<uint8_t>(bytes[at]);
}

Result<UnpackedFilters> read_mve(const Bytes& bytes, int64_t count, int64_t depth) {
  const auto channels = static_cast<uint32_t>(count);
  const auto depth32 = static_cast<uint32_t>(depth);
  const auto size = static_cast<int64_t>(bytes.size());
  if (count < 1 || depth < 1 || depth > size || count > size ||
      size < abi::matmul_int4_bytes(channels, depth32)) {
    return bad_input("its weights end too early");
  }
  const size_t header = abi::matmul_header_bytes(abi::matmul_quads(channels));
  UnpackedFilters filters;
  filters.weight_bits = 4;
  for (uint32_t channel = 0; channel < channels; ++channel) {
    abi::MatmulQuad quad;
    std::memcpy(&quad, bytes.data() + channel / 4 * sizeof quad, sizeof quad);
    filters.bias.push_back(quad.bias[channel % 4]);
    filters.mult.push_back(quad.mult[channel % 4]);
    filters.shift.push_back(quad.shift[channel % 4]);
    for (uint32_t k = 0; k < depth32; ++k) {
      const uint8_t pair = byte_at(bytes, header + abi::matmul_int4_offset(channel, k, depth32));
      filters.weights.push_back(
          static_cast<int8_t>(channel % 4 < 2 ? abi::int4_low(pair) : abi::int4_high(pair)));
    }
  }
  return filters;
}

/// Appends two filters of `depth` weights. `ends`: as at the end of a pair of conv2d_dsp.
void append_dsp_pair(int32_t bias, const std::vector<uint8_t>& pairs, const int32_t* ends,
                     int64_t depth, UnpackedFilters* filters) {
  filters->bias.push_back(bias);
  filters->bias.push_back(ends[0] / 2);
  for (const int which : {0, 1}) {
    for (size_t k = 0; k < static_cast<size_t>(depth); ++k) {
      filters->weights.push_back(static_cast<int8_t>(which == 0 ? abi::int4_offset_low(pairs[k])
                                                                : abi::int4_high(pairs[k])));
    }
    filters->mult.push_back(ends[1 + 2 * which]);
    const int bits = std::countr_zero(static_cast<uint32_t>(ends[2 + 2 * which]));
    filters->shift.push_back(std::clamp(bits, 1, 30) - 32);
  }
}

Status read_dsp_pairs(PackedReader* packed, int64_t count, int64_t depth,
                      UnpackedFilters* filters) {
  while (static_cast<int64_t>(filters->bias.size()) < count) {
    THIMBLE_TRY(const std::vector<int32_t> bias, packed->array<int32_t>(1));
    THIMBLE_TRY(const std::vector<uint8_t> pairs, packed->array<uint8_t>((depth + 3) / 4 * 4));
    THIMBLE_TRY(const std::vector<int32_t> ends, packed->array<int32_t>(5));
    append_dsp_pair(bias[0], pairs, ends.data(), depth, filters);
  }
  return ok();
}

Result<UnpackedFilters> read_dsp_conv(const Bytes& bytes, int64_t count, int64_t depth) {
  PackedReader packed(bytes);
  UnpackedFilters filters;
  filters.weight_bits = 4;
  THIMBLE_CHECK(read_dsp_pairs(&packed, count, depth, &filters));
  return filters;
}

Result<UnpackedFilters> read_dsp_linear(const Bytes& bytes, int64_t count, int64_t depth) {
  if (depth % 4 != 0) return bad_input("its row length is not a multiple of 4");
  PackedReader packed(bytes);
  UnpackedFilters filters;
  filters.weight_bits = 4;
  while (static_cast<int64_t>(filters.bias.size()) + 3 <= count) {
    THIMBLE_TRY(const std::vector<int32_t> bias, packed.array<int32_t>(2));
    THIMBLE_TRY(const std::vector<uint8_t> pairs, packed.array<uint8_t>(2 * depth));
    THIMBLE_TRY(const std::vector<int32_t> ends, packed.array<int32_t>(10));
    for (size_t pair = 0; pair < 2; ++pair) {
      std::vector<uint8_t> own;  // the words of the two pairs alternate
      for (size_t k = 4 * pair; k < pairs.size(); k += 8) {
        own.insert(own.end(), pairs.begin() + static_cast<std::ptrdiff_t>(k),
                   pairs.begin() + static_cast<std::ptrdiff_t>(k) + 4);
      }
      append_dsp_pair(bias[pair], own, &ends[5 * pair], depth, &filters);
    }
  }
  THIMBLE_CHECK(read_dsp_pairs(&packed, count, depth, &filters));
  return filters;
}

Result<UnpackedFilters> read_scalar(const Bytes& bytes, int64_t count, int64_t depth) {
  PackedReader packed(bytes);
  UnpackedFilters filters;
  filters.weight_bits = 4;
  THIMBLE_TRY(const std::vector<abi::ScalarChannel> channels,
              packed.array<abi::ScalarChannel>(count));
  const int64_t row = abi::scalar_row(depth);
  THIMBLE_TRY(const std::vector<uint8_t> pairs, packed.array<uint8_t>((count + 1) / 2 * row));
  for (size_t o = 0; o < channels.size(); ++o) {
    filters.bias.push_back(channels[o].bias);
    filters.mult.push_back(channels[o].mult);
    filters.shift.push_back(-std::clamp(channels[o].shift, 1, abi::kScalarShiftMax));
    for (size_t k = 0; k < static_cast<size_t>(depth); ++k) {
      const uint8_t pair = pairs[o / 2 * static_cast<size_t>(row) + k];
      filters.weights.push_back(
          static_cast<int8_t>(o % 2 == 0 ? abi::int4_low(pair) : abi::int4_high(pair)));
    }
  }
  return filters;
}

/// Reads weights with a factor for each group (abi/int4_group.h).
Result<UnpackedFilters> read_groups(const Bytes& bytes, int64_t count, int64_t depth) {
  if (depth % 4 != 0) return bad_input("its row length is not a multiple of 4");
  PackedReader packed(bytes);
  UnpackedFilters filters;
  filters.weight_bits = 4;
  filters.weight_group = abi::kInt4Group;
  while (static_cast<int64_t>(filters.bias.size()) < count) {
    THIMBLE_TRY(const std::vector<abi::Int4Quad> quad, packed.array<abi::Int4Quad>(1));
    std::vector<int8_t> rows[4];
    for (int64_t first = 0; first < depth; first += abi::kInt4Group) {
      const int64_t n = std::min<int64_t>(abi::kInt4Group, depth - first);
      THIMBLE_TRY(const std::vector<uint8_t> factors, packed.array<uint8_t>(4));
      THIMBLE_TRY(const std::vector<uint8_t> pairs, packed.array<uint8_t>(2 * n));
      for (size_t c = 0; c < 4; ++c) {
        if (factors[c] > abi::kInt4FactorMax) {
          return bad_input("a factor of its weights is {}, expected up to {}", factors[c],
                           abi::kInt4FactorMax);
        }
        for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
          const uint8_t pair = pairs[c / 2 * static_cast<size_t>(n) + k];
          const int32_t weight = c % 2 == 0 ? abi::int4_offset_low(pair) : abi::int4_high(pair);
          rows[c].push_back(static_cast<int8_t>(weight * factors[c]));
        }
      }
    }
    for (size_t c = 0; c < 4; ++c) {
      filters.weights.insert(filters.weights.end(), rows[c].begin(), rows[c].end());
      filters.bias.push_back(quad[0].bias[c]);
      filters.mult.push_back(quad[0].mult[c]);
      filters.shift.push_back(quad[0].shift[c]);
    }
  }
  return filters;
}

/// Returns int8 weights [rows, n] of a recurrent layer.
Result<ValueId> unpack_rows(DecompilerCall* call, size_t argument, int64_t rows) {
  THIMBLE_TRY(const Bytes* bytes, call->constant(argument));
  THIMBLE_TRY(const ir::Type type, call->type(argument));
  if (type.shape.size() != 2 || type.shape[0] != abi::int4_row_pairs(rows) ||
      type.elements() != static_cast<int64_t>(bytes->size())) {
    return bad_input("its weights are {}, expected u8[{}, n]",
                     ir::type_text(type.dtype, type.shape), abi::int4_row_pairs(rows));
  }
  const auto terms = static_cast<size_t>(type.shape[1]);
  ir::Tensor weights = ir::zeros(ir::DType::kI8, {rows, type.shape[1]});
  const auto codes = weights.data<int8_t>();
  for (size_t i = 0; i < codes.size(); ++i) {
    const size_t row = i / terms;
    const uint8_t pair = byte_at(*bytes, row / 2 * terms + i % terms);
    codes[i] =
        static_cast<int8_t>(row % 2 == 0 ? abi::int4_offset_low(pair) : abi::int4_high(pair));
  }
  return call->add_constant("weights", std::move(weights));
}

/// Returns the shifts as int32.
Result<ValueId> widen_shifts(DecompilerCall* call, size_t argument) {
  THIMBLE_TRY(const Bytes* bytes, call->constant(argument));
  THIMBLE_TRY(const ir::Type type, call->type(argument));
  ir::Tensor shifts = ir::zeros(ir::DType::kI32, type.shape);
  const auto words = shifts.data<int32_t>();
  if (words.size() != bytes->size()) return bad_input("its shifts have {} bytes", bytes->size());
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<int8_t>(byte_at(*bytes, i));
  return call->add_constant("shift", std::move(shifts));
}

template <ir::OpKind kKind>
Result<ValueId> decompile_recurrent(DecompilerCall* call) {
  constexpr int64_t kGates = kKind == ir::OpKind::qlstm ? 4 : 3;
  const size_t count = ir::op_info(kKind).operands.size();
  const auto weights = ir::weight_operands(kKind);
  THIMBLE_TRY(const ir::Type out, call->out_type());
  if (out.shape.empty()) return bad_input("its result has no dimension");
  std::vector<ValueId> operands;
  for (size_t i = 0; i < count; ++i) {
    Result<ValueId> operand = std::ranges::count(weights, i) != 0
                                  ? unpack_rows(call, i, kGates * out.shape.back())
                              : i == count - 2 ? widen_shifts(call, i)
                                               : call->tensor(i);
    if (!operand) return operand.error();
    operands.push_back(*operand);
  }
  THIMBLE_TRY(const Bytes* bytes, call->constant(count));
  THIMBLE_TRY(ir::Attrs attrs, engine::attrs_from_params(*engine::direct_op(kKind), *bytes));
  attrs.set(ir::attr::weight_bits, int64_t{4});
  return call->graph().add(kKind, std::move(operands), std::move(attrs));
}

}  // namespace

DecompileFn* find_int4_op(abi::PteOp op) {
  switch (op) {
    case abi::PteOp::thimble_gru_int4:
      return decompile_recurrent<ir::OpKind::qgru>;
    case abi::PteOp::thimble_lstm_int4:
      return decompile_recurrent<ir::OpKind::qlstm>;
    case abi::PteOp::thimble_conv2d_dsp_int4:
      return +[](DecompilerCall* call) { return decompile_packed_conv(call, read_dsp_conv); };
    case abi::PteOp::thimble_conv2d_mve_int4:
      return +[](DecompilerCall* call) { return decompile_packed_conv(call, read_mve); };
    case abi::PteOp::thimble_conv2d_scalar_int4:
      return +[](DecompilerCall* call) { return decompile_packed_conv(call, read_scalar); };
    case abi::PteOp::thimble_conv2d_int4_group:
      return +[](DecompilerCall* call) { return decompile_packed_conv(call, read_groups); };
    case abi::PteOp::thimble_linear_int4_group:
      return +[](DecompilerCall* call) { return decompile_packed_linear(call, read_groups); };
    case abi::PteOp::thimble_linear_dsp_int4:
      return +[](DecompilerCall* call) { return decompile_packed_linear(call, read_dsp_linear); };
    case abi::PteOp::thimble_linear_mve_int4:
      return +[](DecompilerCall* call) { return decompile_packed_linear(call, read_mve); };
    case abi::PteOp::thimble_linear_scalar_int4:
      return +[](DecompilerCall* call) { return decompile_packed_linear(call, read_scalar); };
    default:
      return nullptr;
  }
}

}  // namespace thimble::emit
