// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/formats/payload.h"

#include <algorithm>
#include <limits>

#include "base/aligned_bytes.h"
#include "engines/neutron/container/program.h"

namespace thimble::formats::neutron {
namespace {

namespace abi = thimble::abi::neutron;
using abi::PayloadFault;

constexpr size_t kCountMax = 255;  // one byte

std::string problem_text(const abi::PayloadProblem& problem, const abi::PayloadView& view) {
  const uint32_t found = problem.found;
  const uint32_t expected = problem.expected;
  const uint32_t at = problem.at - abi::kFirstFormat;  // index of a header field
  const uint32_t inputs = view.input_count;
  const uint32_t outputs = view.output_count;
  switch (problem.fault) {
    case PayloadFault::kNone:
    case PayloadFault::kMisaligned:
      break;
    case PayloadFault::kTruncated:
      return fmt::format("ends here, expected at least {} bytes", expected);
    case PayloadFault::kVersion:
      return expected == 1 ? fmt::format("version {}, expected 1 for a kernel list", found)
                           : fmt::format("version {}, expected 0 or 1", found);
    case PayloadFault::kInputFormat:
      return fmt::format("format {} of input {}, expected 0 or 1", found, at);
    case PayloadFault::kOutputFormat:
      return fmt::format("format {} of output {}, expected 0 or 1", found, at - inputs);
    case PayloadFault::kInputMap:
      return fmt::format("input {} is argument {}, expected one of {} input arguments",
                         at - inputs - outputs, found, expected);
    case PayloadFault::kOutputMap:
      return fmt::format("output {} is output argument {}, expected one of {}",
                         at - 2 * inputs - outputs, found, expected);
    case PayloadFault::kOutputTwice:
      return fmt::format("output {} has output argument {}, which another output already has",
                         at - 2 * inputs - outputs, found);
    case PayloadFault::kMagic:
      return fmt::format(
          "magic {:#010x}, expected {:#010x} (microcode) or {:#010x} (a kernel list)", found,
          abi::kMicrocodeMagic, abi::kKernelListMagic);
    case PayloadFault::kProgramBytes:
      return fmt::format("a program of {} bytes, expected {} to {}", found,
                         4 * abi::program_words(view.version), abi::kBlockMax);
    case PayloadFault::kWeightBytes:
      return fmt::format("weights of {} bytes, expected at most {}", found, expected);
    case PayloadFault::kMemory:
      return fmt::format(
          "scratch, profile, debug or prefetch size of {} bytes, expected at most {}", found,
          expected);
    case PayloadFault::kInputCount:
      return fmt::format("a program of {} inputs, the header has {}", found, expected);
    case PayloadFault::kOutputCount:
      return fmt::format("a program of {} outputs, the header has {}", found, expected);
  }
  return "the payload's address is not a multiple of 16";
}

Status parse_view(const AlignedBytes& copy, abi::PayloadView& view) {
  const size_t bytes = copy.size();
  abi::PayloadProblem problem;
  if (bytes > std::numeric_limits<int32_t>::max()) {
    return bad_input("Neutron payload: {} bytes, at most 2 GiB", bytes);
  }
  if (abi::read_payload(copy.data(), static_cast<uint32_t>(bytes), view, problem)) return ok();
  return bad_input("Neutron payload, byte {}: {}", problem.at, problem_text(problem, view));
}

Bytes bytes_of(const uint8_t* data, uint32_t bytes) {
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  return {first, first + bytes};
}

std::vector<MemoryOrder> formats_of(const uint8_t* data, uint32_t count) {
  std::vector<MemoryOrder> formats;
  for (uint32_t i = 0; i < count; ++i) formats.push_back(static_cast<MemoryOrder>(data[i]));
  return formats;
}

Payload payload_of(const abi::PayloadView& view) {
  Payload payload;
  payload.input_formats = formats_of(view.input_formats, view.input_count);
  payload.output_formats = formats_of(view.output_formats, view.output_count);
  payload.input_map.assign(view.input_map, view.input_map + view.input_count);
  payload.output_map.assign(view.output_map, view.output_map + view.output_count);
  payload.arg_count = static_cast<uint8_t>(view.arg_count);
  payload.version = static_cast<uint8_t>(view.version);
  payload.program = bytes_of(view.program, view.program_bytes);
  payload.weights = bytes_of(view.weights, view.weight_bytes);
  payload.kernels = bytes_of(view.kernels, view.kernel_bytes);
  return payload;
}

void pad(Bytes& bytes) {
  bytes.resize((bytes.size() + abi::kPayloadAlignment - 1) / abi::kPayloadAlignment *
               abi::kPayloadAlignment);
}

void append_block(Bytes& bytes, const Bytes& block) {
  append(bytes, block);
  pad(bytes);
}

template <typename Value>
void append_each(Bytes& bytes, const std::vector<Value>& values) {
  for (const Value value : values) bytes.push_back(static_cast<std::byte>(value));
}

/// Returns the header without its padding.
Result<Bytes> header_of(const Payload& payload) {
  const size_t inputs = payload.input_formats.size();
  const size_t outputs = payload.output_formats.size();
  if (inputs > kCountMax || outputs > kCountMax) {
    return unsupported("Neutron payload: {} inputs and {} outputs, at most {} of each", inputs,
                       outputs, kCountMax);
  }
  if (payload.input_map.size() != inputs || payload.output_map.size() != outputs) {
    return bad_input("Neutron payload: maps of {} inputs and {} outputs, formats of {} and {}",
                     payload.input_map.size(), payload.output_map.size(), inputs, outputs);
  }
  Bytes header = {static_cast<std::byte>(inputs), static_cast<std::byte>(outputs),
                  static_cast<std::byte>(payload.arg_count)};
  append_each(header, payload.input_formats);
  append_each(header, payload.output_formats);
  append_each(header, payload.input_map);
  append_each(header, payload.output_map);
  header.push_back(static_cast<std::byte>(payload.version));
  return header;
}

Status check_zeros(ByteView bytes, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    if (bytes[i] == std::byte{0}) continue;
    return bad_input("Neutron payload, byte {}: {} in the padding, expected 0", i,
                     std::to_integer<int>(bytes[i]));
  }
  return ok();
}

constexpr std::string_view kTrue = "True";
constexpr std::string_view kFalse = "False";

// In the order in which ExecuTorch writes the keys.
constexpr std::string_view kKeys[] = {
    "output_format",
    "compile_flags",
    "target",
    "intermediates_dir",
    "operators_not_to_delegate",
    "use_neutron_for_format_conversion",
    "fetch_constants_to_sram",
    "dump_kernel_selection_code",
    "use_profiling",
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    words.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

Result<bool> parse_bool(const pte::CompileSpec& spec) {
  const std::string_view text = as_text(spec.value);
  if (text == kTrue || text == kFalse) return text == kTrue;
  return bad_input("NeutronBackend, compile spec {}: '{}', expected True or False", spec.key, text);
}

}  // namespace

Result<Bytes> write_payload(const Payload& payload) {
  THIMBLE_TRY(Bytes bytes, header_of(payload));
  pad(bytes);
  append_block(bytes, payload.program);
  append_block(bytes, payload.weights);
  append_block(bytes, payload.kernels);
  THIMBLE_TRY(const Payload back, read_payload(bytes));
  if (back.program.size() != payload.program.size() ||
      back.weights.size() != payload.weights.size()) {
    return bad_input(
        "Neutron payload: a program of {} bytes and weights of {}, expected {} and {} as in its "
        "words",
        payload.program.size(), payload.weights.size(), back.program.size(), back.weights.size());
  }
  return bytes;
}

Result<Payload> read_payload(ByteView bytes) {
  const AlignedBytes copy(bytes);
  abi::PayloadView view;
  THIMBLE_CHECK(parse_view(copy, view));
  return payload_of(view);
}

Status verify_payload(ByteView bytes) {
  const AlignedBytes copy(bytes);
  abi::PayloadView view;
  THIMBLE_CHECK(parse_view(copy, view));
  const auto offset = [&](const uint8_t* at) { return static_cast<size_t>(at - copy.data()); };
  const size_t header_end = offset(view.output_map + view.output_count) + 1;
  THIMBLE_CHECK(check_zeros(bytes, header_end, offset(view.program)));
  THIMBLE_CHECK(
      check_zeros(bytes, offset(view.program) + view.program_bytes, offset(view.weights)));
  THIMBLE_CHECK(check_zeros(bytes, offset(view.weights) + view.weight_bytes, offset(view.kernels)));
  if (bytes.size() % abi::kPayloadAlignment != 0) {
    return bad_input("Neutron payload, byte {}: ends here, expected a multiple of {}", bytes.size(),
                     abi::kPayloadAlignment);
  }
  if (view.magic == abi::kKernelListMagic && view.kernel_bytes != 0) {
    return bad_input(
        "Neutron payload, byte {}: a kernel list must not be followed by a kernels block, found {} "
        "bytes",
        offset(view.kernels), view.kernel_bytes);
  }
  return ok();
}

std::string kernel_list_fault(ByteView program, ByteView weights) {
  namespace container = thimble::neutron;
  const AlignedBytes program_copy(program), weights_copy(weights);
  uint32_t kernel = 0;
  const container::Status status =
      container::check(program_copy.data(), static_cast<uint32_t>(program.size()),
                       weights_copy.data(), static_cast<uint32_t>(weights.size()), kernel);
  if (status == container::Status::kOk) return "";
  const std::string where = kernel == container::kAbsent ? "" : fmt::format("kernel {}: ", kernel);
  return where + container::status_text(status);
}

std::vector<pte::CompileSpec> compile_specs(const CompileOptions& options) {
  const auto truth = [](bool value) { return std::string(value ? kTrue : kFalse); };
  const std::string values[] = {
      options.output_format,
      options.compile_flags,
      options.target,
      options.intermediates_dir,
      joined(options.operators_not_to_delegate),
      truth(options.use_neutron_for_format_conversion),
      truth(options.fetch_constants_to_sram),
      truth(options.dump_kernel_selection_code),
      truth(options.use_profiling),
  };
  std::vector<pte::CompileSpec> specs;
  for (size_t i = 0; i < std::size(kKeys); ++i) {
    const ByteView value = as_byte_view(values[i]);
    specs.push_back({std::string(kKeys[i]), Bytes(value.begin(), value.end())});
  }
  return specs;
}

Result<CompileOptions> read_compile_specs(const std::vector<pte::CompileSpec>& specs) {
  if (specs.size() != std::size(kKeys)) {
    return bad_input("NeutronBackend: {} compile specs, expected {}", specs.size(),
                     std::size(kKeys));
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].key == kKeys[i]) continue;
    return bad_input("NeutronBackend, compile spec {}: '{}', expected '{}'", i, specs[i].key,
                     kKeys[i]);
  }
  const auto text = [&](size_t i) { return std::string(as_text(specs[i].value)); };
  CompileOptions options;
  options.output_format = text(0);
  options.compile_flags = text(1);
  options.target = text(2);
  options.intermediates_dir = text(3);
  options.operators_not_to_delegate = split(text(4));
  THIMBLE_TRY(options.use_neutron_for_format_conversion, parse_bool(specs[5]));
  THIMBLE_TRY(options.fetch_constants_to_sram, parse_bool(specs[6]));
  THIMBLE_TRY(options.dump_kernel_selection_code, parse_bool(specs[7]));
  THIMBLE_TRY(options.use_profiling, parse_bool(specs[8]));
  return options;
}

}  // namespace thimble::formats::neutron
