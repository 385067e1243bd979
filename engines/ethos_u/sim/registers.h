// SPDX-License-Identifier: Apache-2.0
#pragma once
// The register file of the stream: values by code, fields by name, and the valid bits of a
// parameter.

#include <stdint.h>

#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u::sim {

/// Position of a field in each generation.
struct Place {
  Field of[3];
};
constexpr Place place(const char* command, const char* name) {
  return {{find_field(command, name, Generation::kU55), find_field(command, name, Generation::kU65),
           find_field(command, name, Generation::kU85)}};
}

/// Returns the row of kCommands for a command word of a generation, or null.
[[nodiscard]] const CommandRow* command_of(uint32_t word, Generation generation);
/// Returns the bits of a parameter that have a meaning for the command.
[[nodiscard]] uint16_t parameter_mask(const CommandRow& row, Generation generation);

class Registers {
 public:
  explicit Registers(Generation generation) : generation_(generation) {}

  void set(const CommandRow& row, uint16_t parameter, uint32_t payload) {
    if (row.payload) {
      parameter1_[row.code & 0xFF] = parameter;
      payload1_[row.code & 0xFF] = payload;
    } else {
      reg0_[row.code & 0xFF] = parameter;
    }
  }

  [[nodiscard]] uint16_t get(Reg0 code) const { return reg0_[static_cast<uint16_t>(code) & 0xFF]; }
  [[nodiscard]] uint32_t get(Reg0 code, const Place& place) const {
    return place.of[static_cast<unsigned>(generation_)].of(get(code));
  }
  [[nodiscard]] uint32_t word(Reg1 code) const { return payload1_[static_cast<uint16_t>(code)]; }
  [[nodiscard]] uint16_t parameter(Reg1 code) const {
    return parameter1_[static_cast<uint16_t>(code)];
  }
  [[nodiscard]] uint32_t parameter(Reg1 code, const Place& place) const {
    return place.of[static_cast<unsigned>(generation_)].of(parameter(code));
  }
  [[nodiscard]] uint64_t address(Reg1 code) const {
    return uint64_t{parameter(code) & 0xFFU} << 32 | word(code);
  }
  [[nodiscard]] int64_t stride(Reg1 code) const {
    return static_cast<int64_t>(address(code) << 24) >> 24;
  }
  [[nodiscard]] Generation generation() const { return generation_; }

 private:
  Generation generation_;
  uint16_t reg0_[0x100] = {};  // index: code - 0x100
  uint16_t parameter1_[0x100] = {};
  uint32_t payload1_[0x100] = {};
};

}  // namespace thimble::ethos_u::sim
