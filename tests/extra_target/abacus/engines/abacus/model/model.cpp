// SPDX-License-Identifier: Apache-2.0
#include "engines/abacus/model/model.h"

#include <cstring>

namespace thimble::abacus {
namespace {

constexpr int kSpareBits = 20;  // left shift of the operands of an addition

/// Divides by 2^bits and rounds to nearest, halves away from zero.
int64_t divided(int64_t value, int bits) {
  if (bits == 0) return value;
  const int64_t half = int64_t{1} << (bits - 1);
  return value >= 0 ? (value + half) >> bits : -((-value + half) >> bits);
}

int32_t scaled(int32_t value, const Factor& factor) {
  const int left = factor.shift > 0 ? factor.shift : 0;
  const int right = factor.shift < 0 ? -factor.shift : 0;
  const auto raised = static_cast<int32_t>(static_cast<uint32_t>(value) << left);
  const int64_t product = int64_t{raised} * factor.mult + (int64_t{1} << 30);
  return static_cast<int32_t>(divided(product >> 31, right));
}

struct Machine {
  const Job& job;
  const uint8_t* constants;

  [[nodiscard]] const int8_t* read(const Operand& operand) const {
    switch (operand.where) {
      case Where::kInput:
        return reinterpret_cast<const int8_t*>(job.inputs[operand.at]);
      case Where::kOutput:
        return reinterpret_cast<const int8_t*>(job.outputs[operand.at]);
      default:
        return reinterpret_cast<const int8_t*>(job.scratch + operand.at);
    }
  }
  [[nodiscard]] int8_t* write(const Operand& operand) const {
    return reinterpret_cast<int8_t*>(operand.where == Where::kOutput ? job.outputs[operand.at]
                                                                     : job.scratch + operand.at);
  }
};

int8_t bounded(const Command& command, int64_t value) {
  if (value < command.low) value = command.low;
  if (value > command.high) value = command.high;
  return static_cast<int8_t>(value);
}

int8_t element(const Command& command, int8_t a, int8_t b) {
  const int32_t left = a - command.a_zero, right = b - command.b_zero;
  switch (command.code) {
    case Code::kAdd: {
      const auto sum = static_cast<uint32_t>(scaled(left * (1 << kSpareBits), command.a_factor)) +
                       static_cast<uint32_t>(scaled(right * (1 << kSpareBits), command.b_factor));
      return bounded(command,
                     int64_t{scaled(static_cast<int32_t>(sum), command.y_factor)} + command.y_zero);
    }
    case Code::kMul:
      return bounded(command, int64_t{scaled(left * right, command.y_factor)} + command.y_zero);
    default:
      return a > b ? a : b;
  }
}

void convolve(const Machine& machine, const Command& command) {
  const int8_t* x = machine.read(command.a);
  int8_t* y = machine.write(command.y);
  const auto* const weights = reinterpret_cast<const int8_t*>(machine.constants + command.weights);
  for (uint32_t image = 0; image < command.images; ++image) {
    for (uint32_t o = 0; o < command.channels_out; ++o) {
      int32_t bias;
      Factor factor;
      std::memcpy(&bias, machine.constants + command.bias + o * sizeof bias, sizeof bias);
      std::memcpy(&factor, machine.constants + command.factors + o * sizeof factor, sizeof factor);
      for (uint32_t pixel = 0; pixel < command.count; ++pixel) {
        auto sum = static_cast<uint32_t>(bias);  // wraps modulo 2^32
        for (uint32_t c = 0; c < command.channels_in; ++c) {
          const int32_t value = x[c * command.count + pixel] - command.a_zero;
          sum += static_cast<uint32_t>(value * weights[o * command.channels_in + c]);
        }
        *y++ =
            bounded(command, int64_t{scaled(static_cast<int32_t>(sum), factor)} + command.y_zero);
      }
    }
    x += size_t{command.channels_in} * command.count;
  }
}

}  // namespace

void run(const Job& job) {
  Header header;
  std::memcpy(&header, job.program, sizeof header);
  const Machine machine = {job, job.program + header.constants};
  for (uint32_t i = 0; i < header.command_count; ++i) {
    Command command;
    std::memcpy(&command, job.program + sizeof header + i * sizeof command, sizeof command);
    if (command.code == Code::kConv) {
      convolve(machine, command);
      continue;
    }
    const int8_t* const a = machine.read(command.a);
    const int8_t* const b = machine.read(command.b);
    int8_t* const y = machine.write(command.y);
    for (uint32_t k = 0; k < command.count; ++k) y[k] = element(command, a[k], b[k]);
  }
}

}  // namespace thimble::abacus
