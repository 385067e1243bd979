// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "engines/abacus/container/program.h"

namespace thimble::abacus {
namespace {

bool factor_is_sound(const Factor& factor) {
  return factor.mult >= 0 && factor.shift >= -31 && factor.shift <= 30;
}

/// Returns true if no product of the model exceeds 32 bits with these zero points.
bool zeros_are_sound(const Command& command) {
  const int32_t most = command.code == Code::kMul ? 32767 : 128;
  const int32_t zeros[] = {command.a_zero, command.b_zero, command.y_zero};
  for (const int32_t zero : zeros) {
    if (zero < -most || zero > most) return false;
  }
  return true;
}

bool operand_is_sound(const Header& header, const Operand& operand, uint64_t bytes, bool written) {
  if (operand.where == Where::kScratch) {
    return operand.at <= header.scratch_bytes && bytes <= header.scratch_bytes - operand.at;
  }
  if (operand.where == Where::kOutput) {
    return operand.at < header.output_count && header.output_bytes[operand.at] == bytes;
  }
  return operand.where == Where::kInput && !written && operand.at < header.input_count &&
         header.input_bytes[operand.at] == bytes;
}

/// Returns true if `bytes` at offset `at` are inside the constants and `at` is aligned to `align`.
bool constants_are_sound(const Header& header, uint32_t at, uint64_t bytes, uint32_t align) {
  const uint32_t size = header.bytes - header.constants;
  return at % align == 0 && at <= size && bytes <= size - at;
}

bool conv_is_sound(const uint8_t* program, const Header& header, const Command& command) {
  const uint64_t out = command.channels_out;
  if (!constants_are_sound(header, command.weights, out * command.channels_in, 1) ||
      !constants_are_sound(header, command.bias, out * sizeof(int32_t), 4) ||
      !constants_are_sound(header, command.factors, out * sizeof(Factor), 4)) {
    return false;
  }
  for (uint32_t o = 0; o < command.channels_out; ++o) {
    Factor factor;
    std::memcpy(&factor, program + header.constants + command.factors + o * sizeof factor,
                sizeof factor);
    if (!factor_is_sound(factor)) return false;
  }
  return true;
}

bool command_is_sound(const uint8_t* program, const Header& header, const Command& command) {
  constexpr uint32_t kMost = 1U << 14;  // products of three sizes and one byte fit in 64 bits
  if (command.code >= Code::kCount || command.channels_in > kMost || command.channels_out > kMost ||
      command.images > kMost || command.count > kMaxScratchBytes) {
    return false;
  }
  const bool conv = command.code == Code::kConv;
  if (!conv && (command.images != 1 || command.channels_in != 1 || command.channels_out != 1)) {
    return false;
  }
  return zeros_are_sound(command) &&
         operand_is_sound(header, command.a, bytes_in(command), false) &&
         (conv || operand_is_sound(header, command.b, bytes_in(command), false)) &&
         operand_is_sound(header, command.y, bytes_out(command), true) &&
         factor_is_sound(command.a_factor) && factor_is_sound(command.b_factor) &&
         factor_is_sound(command.y_factor) && command.low >= -128 && command.high <= 127 &&
         command.low <= command.high && (!conv || conv_is_sound(program, header, command));
}

}  // namespace

bool is_valid(const uint8_t* program, size_t bytes) {
  Header header;
  if (bytes < sizeof header) return false;
  std::memcpy(&header, program, sizeof header);
  if (header.magic != kMagic || header.version != kVersion || header.bytes != bytes ||
      header.input_count > kMaxPorts || header.output_count > kMaxPorts ||
      header.scratch_bytes > kMaxScratchBytes || header.constants > bytes ||
      header.constants % 4 != 0 ||
      (header.constants - sizeof header) / sizeof(Command) != header.command_count ||
      (header.constants - sizeof header) % sizeof(Command) != 0) {
    return false;
  }
  for (uint32_t i = 0; i < header.command_count; ++i) {
    Command command;
    std::memcpy(&command, program + sizeof header + i * sizeof command, sizeof command);
    if (!command_is_sound(program, header, command)) return false;
  }
  return true;
}

}  // namespace thimble::abacus
