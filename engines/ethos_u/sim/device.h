// SPDX-License-Identifier: Apache-2.0
#pragma once
// The simulator with the registers that a driver uses: the device at the NPU's base address. A
// driver writes addresses, and the device finds the connected memories that contain them, as a bus
// would. A stream runs to its end during the write that starts it, or during the first status read
// after it (set_start_late), so that read returns the final status.
//
//   Device device(*find_config("ethos-u55-128"), workspace, workspace_bytes);
//   device.connect({arena, arena_bytes});
//   ... device.write(reg::kQueueBase, ...)
//
// Faults are reported in the hardware's status bits. A bus fault: an address without memory, or a
// write to read-only memory. A weight fault (U85: a parse fault): weights that do not decode. A
// parse fault: any other error of the stream. A stream that never stops keeps the device running.

#include "engines/ethos_u/isa/registers.h"
#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::sim {

class Device {
 public:
  /// `workspace_bytes`: result of workspace_bytes() for the streams that will run.
  Device(const Config& config, uint8_t* workspace, size_t workspace_bytes);

  static constexpr uint32_t kMemories = 8;
  /// Returns false if kMemories memories are connected already.
  bool connect(const ByteRegion& memory);

  [[nodiscard]] uint32_t read(uint32_t offset);
  void write(uint32_t offset, uint32_t value);

  [[nodiscard]] const Config& config() const { return config_; }
  /// Returns the fault of the last stream; kNone if it ended without a fault.
  [[nodiscard]] const Fault& fault() const { return fault_; }
  [[nodiscard]] uint32_t runs() const { return runs_; }
  /// Sets Job::max_cost. A stream that exceeds it never ends.
  void set_max_cost(uint64_t work) { max_work_ = work; }
  /// True: streams run when the status is read, after everything that the core does in between.
  /// Results are the same, unless the core writes what the NPU reads.
  void set_start_late(bool late) { start_late_ = late; }

 private:
  static constexpr uint32_t kWords = 0xC0 / 4;

  [[nodiscard]] uint32_t word(uint32_t offset) const { return words_[offset / 4]; }
  [[nodiscard]] uint64_t address(uint32_t offset) const {
    return word(offset) | uint64_t{word(offset + 4)} << 32;
  }
  [[nodiscard]] ByteRegion memory_at(uint64_t address) const;
  void reset(uint32_t level);
  void command(uint32_t value);
  void start();
  void finish();
  [[nodiscard]] Fault run_stream();

  const Config& config_;
  uint8_t* workspace_;
  size_t workspace_bytes_;
  ByteRegion memories_[kMemories];
  uint32_t memory_count_ = 0;
  uint32_t words_[kWords] = {};
  uint64_t max_work_ = Job().max_cost;
  bool start_late_ = false;
  bool pending_ = false;  // started, and not run yet
  Fault fault_;
  uint32_t runs_ = 0;
};

}  // namespace thimble::ethos_u::sim
