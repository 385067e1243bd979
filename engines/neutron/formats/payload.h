#pragma once
// The payload of a Neutron delegate call as a struct. Its bytes and the checked reader that the
// runtime has: engines/neutron/container/payload.h, docs/neutron.md "Payload".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/neutron/container/payload.h"
#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::neutron {

enum class Format : uint8_t { kAsDimensions = 0, kChannelsLast = 1 };

struct Payload {
  std::vector<Format> input_formats;  // one per input of the program
  std::vector<Format> output_formats;
  std::vector<uint8_t> input_map;   // of input i: which argument of the call it is
  std::vector<uint8_t> output_map;  // of output i: argument arg_count + output_map[i]
  uint8_t arg_count = 0;            // input arguments of the call; the program may ignore some
  uint8_t version = 1;
  Bytes program;  // microcode or a list of kernels: its words say how large what follows is
  Bytes weights;
  Bytes kernels;  // read back with their padding: their size stands nowhere
  bool operator==(const Payload&) const = default;
};

/// Refuses what read_payload() would.
[[nodiscard]] Result<Bytes> write_payload(const Payload& payload);
/// All that the runtime asks of the bytes; messages say at which byte what is wrong. `bytes` may
/// lie at any address.
[[nodiscard]] Result<Payload> read_payload(ByteView bytes);
/// And what only writers have to keep: paddings are zeros, a list of kernels brings no kernels of
/// the vendor's, and nothing follows the last block.
[[nodiscard]] Status verify_payload(ByteView bytes);

/// What ExecuTorch's NXP backend was asked for, as the file keeps it beside the payload. No runtime
/// reads it; its partitioner takes the fifth by position.
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
/// Refuses keys, an order or a truth value that ExecuTorch does not write.
[[nodiscard]] Result<CompileOptions> read_compile_specs(const std::vector<pte::CompileSpec>& specs);

}  // namespace thimble::formats::neutron
