#pragma once
// The simulator behind the registers that a driver sees: what stands at the NPU's base address. A
// driver gives addresses; the device knows which memories there are and finds them there, as a bus
// would. A stream runs to its end while its start is written, so the first status after it is the
// last.
//
//   Device device(*find_config("ethos-u55-128"), workspace, workspace_bytes);
//   device.connect({arena, arena_bytes});
//   ... device.write(reg::kQueueBase, ...)
//
// Faults come as the hardware's bits: an address where no memory is, or that may not be written, is
// a bus fault; weights that do not decode a weight fault (U85: a parse fault); anything else that
// is wrong in a stream a parse fault. A stream that never stops keeps the device running.

#include "engines/ethos_u/isa/registers.h"
#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::sim {

class Device {
 public:
  /// The workspace is what workspace_bytes() asks for the streams that will run.
  Device(const Config& config, uint8_t* workspace, size_t workspace_bytes);

  static constexpr uint32_t kMemories = 8;
  /// False if there are kMemories already.
  bool connect(const Region& memory);

  [[nodiscard]] uint32_t read(uint32_t offset) const;
  void write(uint32_t offset, uint32_t value);

  [[nodiscard]] const Config& config() const { return config_; }
  /// Of the last stream; its kind is kNone if that ended well.
  [[nodiscard]] const Fault& fault() const { return fault_; }
  [[nodiscard]] uint32_t runs() const { return runs_; }
  void set_observer(const Observer* observer) { observer_ = observer; }
  /// See Job::max_work: a stream that does more never ends.
  void set_max_work(uint64_t work) { max_work_ = work; }

 private:
  static constexpr uint32_t kWords = 0xC0 / 4;

  [[nodiscard]] uint32_t word(uint32_t offset) const { return words_[offset / 4]; }
  [[nodiscard]] uint64_t address(uint32_t offset) const {
    return word(offset) | uint64_t{word(offset + 4)} << 32;
  }
  [[nodiscard]] Region memory_at(uint64_t address) const;
  void reset(uint32_t level);
  void command(uint32_t value);
  void start();
  [[nodiscard]] Fault run_stream();

  const Config& config_;
  uint8_t* workspace_;
  size_t workspace_bytes_;
  Region memories_[kMemories];
  uint32_t memory_count_ = 0;
  uint32_t words_[kWords] = {};
  const Observer* observer_ = nullptr;
  uint64_t max_work_ = Job().max_work;
  Fault fault_;
  uint32_t runs_ = 0;
};

}  // namespace thimble::ethos_u::sim
