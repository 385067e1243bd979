// SPDX-License-Identifier: Apache-2.0
#pragma once
// The payload of a Neutron delegate call as a struct. Its bytes and the checked reader that the
// runtime has: engines/neutron/container/payload.h, docs/neutron.md "Payload".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engines/neutron/container/payload.h"
#include "formats/pte/program.h"

namespace thimble::formats::neutron {

enum class MemoryOrder : uint8_t { kRowMajor = 0, kChannelsLast = 1 };

struct Payload {
  std::vector<MemoryOrder> input_formats;  // one per input of the program
  std::vector<MemoryOrder> output_formats;
  std::vector<uint8_t> input_map;   // argument index of input i: input_map[i]
  std::vector<uint8_t> output_map;  // argument index of output i: arg_count + output_map[i]
  uint8_t arg_count = 0;            // input arguments of the call; the program may ignore some
  uint8_t version = 1;
  Bytes program;  // microcode or a kernel list; its words 6 and 7 are the sizes of program and
                  // weights
  Bytes weights;
  Bytes kernels;  // includes the padding when read: the format does not store its size
  bool operator==(const Payload&) const = default;
};

/// Returns an error for payloads that read_payload() would reject.
[[nodiscard]] Result<Bytes> write_payload(const Payload& payload);
/// Performs all checks of the runtime; messages name the byte offset of the error. `bytes` may be
/// unaligned.
[[nodiscard]] Result<Payload> read_payload(ByteView bytes);
/// Performs the checks of read_payload() and those that only apply to writers: padding is zero, a
/// kernel list has no kernels block, and the size is a multiple of 16.
[[nodiscard]] Status verify_payload(ByteView bytes);

/// Checks a kernel list as the runtime does. Returns what is wrong ("kernel 3: ..."), or empty. The
/// bytes may be unaligned.
[[nodiscard]] std::string kernel_list_fault(ByteView program, ByteView weights);

/// Compile options of ExecuTorch's NXP backend, stored in the file next to the payload. No runtime
/// reads them; ExecuTorch's partitioner reads operators_not_to_delegate by position (the fifth).
struct CompileOptions {
  std::string output_format = "tflite";
  std::string compile_flags;
  std::string target = "imxrt700";
  std::string intermediates_dir = "None";
  std::vector<std::string> operators_not_to_delegate;
  bool use_neutron_for_format_conversion = true;
  bool fetch_constants_to_sram = false;
  bool dump_kernel_selection_code = false;
  bool use_profiling = false;
  bool operator==(const CompileOptions&) const = default;
};

[[nodiscard]] std::vector<pte::CompileSpec> compile_specs(const CompileOptions& options);
/// Returns an error for keys, an order or a boolean that ExecuTorch does not write.
[[nodiscard]] Result<CompileOptions> read_compile_specs(const std::vector<pte::CompileSpec>& specs);

}  // namespace thimble::formats::neutron
