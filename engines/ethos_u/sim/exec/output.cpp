// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/exec/output.h"

#include <string.h>

#include "engines/ethos_u/sim/exec/sigmoid_curve.h"

namespace thimble::ethos_u::sim {

Output::Output(const Config& config, const KernelOperation& operation, Memory& memory)
    : operation_(operation), memory_(memory), writer_(operation, memory) {
  const bool u85 = config.generation == Generation::kU85;
  rounding_ = u85 ? rounding85(operation.ofm_scale.round) : rounding556(operation.ofm_scale.round);
  if (u85) {
    choose85();
  } else {
    choose556();
  }
}

void Output::load(Function function, uint32_t address, uint32_t bytes) {
  function_ = function;
  table_ = memory_.table(address, bytes);
  ready_ = table_ != nullptr;
}

void Output::choose556() {
  const FeatureMap& ofm = operation_.ofm;
  const auto clip = static_cast<Clip556>(operation_.clip);
  const bool forced = clip != Clip556::kOfm;
  // 32-bit results are not clamped, but an index of a LUT is.
  if (ofm.bits < 32 || forced) {
    const uint32_t bits = !forced ? ofm.bits : clip == Clip556::kI16 ? 16 : 8;
    const bool is_signed = forced ? clip != Clip556::kU8 : ofm.is_signed;
    const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    minimum_ = operation_.minimum > low ? operation_.minimum : low;
    maximum_ = operation_.maximum < high ? operation_.maximum : high;
    signed_index_ = is_signed;
  }
  const uint32_t function = operation_.activation;
  if (function == 0) return;
  if (function >= static_cast<uint32_t>(Activation556::kTable0)) {
    const uint32_t slot = (function - static_cast<uint32_t>(Activation556::kTable0)) * 256;
    if (slot < kLutBytes && ofm.bits == 8) return load(Function::k8To8, slot, 256);
    if (slot < kLutBytes && ofm.bits == 16) return load(Function::k16To16, slot, 2048);
    if (slot < kLutBytes && ofm.bits == 32 && forced && clip != Clip556::kI16) {
      return load(Function::k8To32, slot, 1024);
    }
  } else if (ofm.bits == 16 && ofm.is_signed) {
    if (function == static_cast<uint32_t>(Activation556::kTanh)) {
      function_ = Function::kTanhBuiltIn;
      return;
    }
    if (function == static_cast<uint32_t>(Activation556::kSigmoid)) {
      function_ = Function::kSigmoidBuiltIn;
      return;
    }
  }
  memory_.note(
      fault_of(FaultKind::kBadRegister, "an activation that does not support this output type"));
  ready_ = false;
}

void Output::choose85() {
  if (operation_.clip == 0) minimum_ = operation_.minimum, maximum_ = operation_.maximum;
  const uint32_t table = operation_.table;
  const uint32_t bits = operation_.ofm.bits;
  const auto function = static_cast<Activation85>(operation_.activation);
  signed_index_ = function != Activation85::kU8ToU8;
  if (function == Activation85::kNone) return;
  if (function == Activation85::kU8ToU8 && bits == 8)
    return load(Function::k8To8, table * 256, 256);
  if (function == Activation85::kI8ToI8 && bits == 8)
    return load(Function::k8To8, table * 256, 256);
  if (function == Activation85::kI8ToI16 && bits == 16) {
    return load(Function::k8To16, table * 512, 512);
  }
  if (function == Activation85::kI8ToI32 && bits == 32) {
    return load(Function::k8To32, table * 1024, 1024);
  }
  if (bits == 16 && function == Activation85::kI16ToI16) {
    return load(Function::k16To16, table * 2048, 2048);
  }
  if (bits == 32 && function == Activation85::kI16ToI32) {
    return load(Function::k16To32, table * 2048, 2048);
  }
  if (bits == 16 && function == Activation85::kTanh) {
    return load(Function::kTanh, table * 2048, 2048);
  }
  if (bits == 16 && function == Activation85::kSigmoid) {
    return load(Function::kSigmoid, table * 2048, 2048);
  }
  memory_.note(
      fault_of(FaultKind::kBadRegister, "an activation that does not support this output type"));
  ready_ = false;
}

/// Returns the value of a LUT of 512 bases and slopes over the 16-bit range.
int64_t Output::curve(int64_t value) const {
  const uint32_t index = static_cast<uint32_t>((value >> 7) + 256) & 511;
  int16_t base, slope;
  memcpy(&base, table_ + size_t{4} * index, 2);
  memcpy(&slope, table_ + size_t{4} * index + 2, 2);
  const int64_t part = static_cast<int64_t>(slope) * (value & 127);
  if (function_ == Function::k16To32) return static_cast<int64_t>(base) * 128 + part;
  return base + ((part + 64) >> 7);
}

int64_t Output::activate(int64_t value) const {
  const uint32_t index = static_cast<uint32_t>(value + (signed_index_ ? 128 : 0)) & 255;
  switch (function_) {
    case Function::kNone:
      return value;
    case Function::k8To8:
      return table_[index];
    case Function::k8To16: {
      int16_t entry;
      memcpy(&entry, table_ + size_t{2} * index, 2);
      return entry;
    }
    case Function::k8To32: {
      int32_t entry;
      memcpy(&entry, table_ + size_t{4} * index, 4);
      return entry;
    }
    case Function::k16To16:
    case Function::k16To32:
      return curve(value);
    case Function::kTanh:
      return tanh_of(value, TableCurve{table_});
    case Function::kSigmoid:
      return sigmoid_of(value, TableCurve{table_});
    case Function::kTanhBuiltIn:
      return tanh_of(value, BuiltInCurve{});
    case Function::kSigmoidBuiltIn:
      return sigmoid_of(value, BuiltInCurve{});
  }
  return value;
}

bool Output::row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values) {
  int64_t done[kRow];
  const bool wide_input = function_ >= Function::kTanh;
  for (uint32_t i = 0; i < n; ++i) {
    int64_t value = values[i] + operation_.ofm.zero_point;
    if (!wide_input) {
      if (value < minimum_) value = minimum_;
      if (value > maximum_) value = maximum_;
    }
    if (function_ != Function::kNone) value = activate(value);
    if (wide_input) {
      if (value < minimum_) value = minimum_;
      if (value > maximum_) value = maximum_;
    }
    done[i] = value;
  }
  memory_.result_flag = done[n - 1] != 0;
  return writer_.row(y, x, c, n, done);
}

bool Output::global_row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values) {
  int64_t scaled[kRow];
  for (uint32_t i = 0; i < n; ++i) scaled[i] = scale_by(values[i], operation_.ofm_scale, rounding_);
  return row(y, x, c, n, scaled);
}

bool Output::record_row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values,
                        const ScaleRecord* records) {
  int64_t scaled[kRow];
  for (uint32_t i = 0; i < n; ++i) {
    scaled[i] = scale_by(values[i] + records[i].bias, records[i].multiplier, records[i].shift,
                         rounding_, operation_.ofm_scale.double_round);
  }
  return row(y, x, c, n, scaled);
}

}  // namespace thimble::ethos_u::sim
