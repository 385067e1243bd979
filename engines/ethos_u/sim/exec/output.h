// SPDX-License-Identifier: Apache-2.0
#pragma once
// The output stage of every kernel: scale, zero point, clamp, LUT, memory.

#include "engines/ethos_u/sim/exec/arithmetic.h"
#include "engines/ethos_u/sim/exec/maps.h"
#include "engines/ethos_u/sim/weights.h"

namespace thimble::ethos_u::sim {

class Output {
 public:
  Output(const Config& config, const KernelOperation& operation, Memory& memory);

  /// Returns false if the LUT of the activation is not loaded; memory.fault() has the reason.
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] Rounding rounding() const { return rounding_; }

  /// Writes accumulators to the OFM with one scale for the whole operation.
  bool global_row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values);
  /// Writes accumulators with one record per channel; `records` begins at channel c.
  bool record_row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values,
                  const ScaleRecord* records);
  /// Writes values that are already scaled.
  bool row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values);

 private:
  enum class Function : uint8_t {
    kNone,
    k8To8,
    k8To16,
    k8To32,
    k16To16,
    k16To32,
    kTanh,  // with the curve in the LUT memory
    kSigmoid,
    kTanhBuiltIn,  // with the curve built into the hardware
    kSigmoidBuiltIn,
  };
  void choose556();
  void choose85();
  void load(Function function, uint32_t address, uint32_t bytes);
  [[nodiscard]] int64_t activate(int64_t value) const;
  [[nodiscard]] int64_t curve(int64_t value) const;

  const KernelOperation& operation_;
  Memory& memory_;
  Writer writer_;
  Rounding rounding_;
  Function function_ = Function::kNone;
  const uint8_t* table_ = nullptr;
  int64_t minimum_ = INT64_MIN, maximum_ = INT64_MAX;
  bool signed_index_ = true;
  bool ready_ = true;
};

}  // namespace thimble::ethos_u::sim
