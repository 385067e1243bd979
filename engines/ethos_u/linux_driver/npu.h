// SPDX-License-Identifier: Apache-2.0
#pragma once
// An Ethos-U that the Linux kernel drives (drivers/accel/ethosu: Ethos-U65 and U85). The kernel
// owns the registers, the interrupt and the buffers. Thimble's delegate is used unchanged: this
// class implements the registers that delegate/driver.cpp reads and writes, and the write that
// starts the NPU submits a job.
//
// The NPU accesses only buffers of the kernel. For each delegate of a loaded model there are the
// command stream, which the kernel copies and checks, the constants, and scratch, each from the
// first byte of a buffer. The delegate's scratch is moved from the arena to its buffer, so that the
// delegate copies inputs and outputs between the arena and the buffer, and nothing else is copied.
//
// Not visible from here: the kernel resets an NPU whose job failed, and signals the job's end.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engines/ethos_u/delegate/backend.h"
#include "engines/ethos_u/linux_driver/uapi.h"

namespace thimble::linux_npu {

class Npu {
 public:
  /// Opens the device, or the first one of /dev/accel that has an Ethos-U if `device` is empty.
  /// Returns null and sets `error` to a sentence if there is none.
  static std::unique_ptr<Npu> open(const std::string& device, std::string* error);
  Npu(const Npu&) = delete;
  Npu& operator=(const Npu&) = delete;
  ~Npu();

  /// The row points to this object.
  [[nodiscard]] runtime::DelegateBackend row() const;
  /// "/dev/accel/accel0 (ethos-u65-256)".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Reason of the last failure of a load or a run, as a sentence; empty: none.
  [[nodiscard]] const std::string& error() const { return error_; }
  void set_timeout_ms(int64_t milliseconds) { timeout_ms_ = milliseconds; }

 private:
  /// A buffer of the kernel; `data` is null if it is not mapped.
  struct Buffer {
    uint32_t handle = 0;
    uint8_t* data = nullptr;
    size_t bytes = 0;
  };
  /// The buffers of a delegate of a loaded model.
  struct Prepared {
    const uint8_t* stream = nullptr;   // in the file
    const uint8_t* arena = nullptr;    // scratch of the delegate in the model's memory
    uint8_t* scratch = nullptr;        // in its buffer
    const uint8_t* weights = nullptr;  // constants in the file
    uint8_t* constants = nullptr;      // in their buffer; null: none
    std::vector<uint8_t> content;      // of the stream, of which the kernel has a copy
    uint32_t scratch_bytes = 0, constants_bytes = 0, fast_bytes = 0;
    JobDescription job = {};
    std::vector<Buffer> buffers;
  };

  Npu() = default;
  bool query(const std::string& device);
  bool request(unsigned long number, void* arguments, const char* what);
  bool create(size_t bytes, Buffer* buffer);
  bool fill(const runtime::ethos_u::Job& job, Prepared* prepared);
  void release(Prepared& prepared) const;
  /// Returns true if the buffers have the content of the job.
  static bool is_same(const Prepared& prepared, const runtime::ethos_u::Job& job);
  abi::Status prepare(runtime::ethos_u::Job& job, const uint8_t* arena);
  uint32_t start(const Prepared& prepared);
  [[nodiscard]] uint32_t read(uint32_t offset) const;
  void write(uint32_t offset, uint32_t value);

  static abi::Status check(runtime::DelegateSlot& slot, const runtime::DelegateMemory& memory,
                           const runtime::DelegateArgs& args);

  int file_ = -1;
  NpuInfo info_ = {};
  std::string name_, error_;
  int64_t timeout_ms_ = 10000;
  std::vector<Prepared> prepared_;
  thimble_ethos_u registers_ = {};
  uint32_t protection_ = 0, status_ = 0;
  uint64_t scratch_base_ = 0;  // register BASEP1
};

}  // namespace thimble::linux_npu
