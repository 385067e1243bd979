// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a `.pte` on an emulated Cortex-M: the firmware image of the target's board
// (firmware/apps/runner) under qemu-system-arm, where a plugin counts instructions, or in an FVP
// (fvp.h). Inputs and outputs are files in a temporary folder, which is always removed. The images
// are in `firmware/` next to the program.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "hostrun/device.h"
#include "hostrun/interface.h"
#include "ir/tensor.h"

namespace thimble::hostrun {

struct QemuOptions {
  std::string target;       // "cortex-m55"
  std::string_view timing;  // of the core: engine::Core::timing
  bool count_instructions = true;
  bool profile = false;  // also count per operator, in a separate boot
  std::chrono::seconds time_limit{300};
  std::filesystem::path fvp;          // FVP program, used instead of QEMU; it counts nothing
  std::string image = "runner";       // result of image_of() for the file
  std::optional<FirmwareDevice> npu;  // result of firmware_device_of() for the file
};

struct OpInstructions {
  std::string op;                 // "cortex_m::quantized_add.out"
  int64_t instructions = 0;       // sum of all calls
  std::optional<int64_t> cycles;  // modelled (cycles/counted_blocks.h), without wait states
};

struct QemuFacts {
  int64_t arena_bytes = 0;
  int64_t state_bytes = 0;
  int64_t stack_bytes = 0;          // high-water mark of the whole firmware
  int64_t instructions = 0;         // inside thimble_run, all calls; 0 if not counted
  int64_t instructions_init = 0;    // inside thimble_init
  int64_t instructions_total = 0;   // from reset to exit
  std::optional<int64_t> cycles;    // inside thimble_run, modelled, without wait states
  std::vector<OpInstructions> ops;  // with `profile`: in execution order
  /// With `profile`: runtime instructions of one call outside of kernels; nullopt with delegates.
  std::optional<int64_t> instructions_overhead;
};

struct QemuRun {
  std::vector<std::vector<ir::Tensor>> outputs;  // [call][output]
  QemuFacts facts;
};

/// Returns the name of the emulated board for the target: "mps3-an547".
[[nodiscard]] Result<std::string> qemu_board(std::string_view target);

/// Runs the model once per call, in one boot of the board.
[[nodiscard]] Result<QemuRun> run_on_qemu(ByteView pte, std::string_view label,
                                          const Interface& interface,
                                          std::span<const std::vector<ir::Tensor>> calls,
                                          const QemuOptions& options);

}  // namespace thimble::hostrun
